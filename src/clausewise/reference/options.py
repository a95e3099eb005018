"""What a reference server is started with."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import Era


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds on what a client may send and hold open.

    Attributes:
        max_body_bytes: of a request body, or a line on stdio.
        max_head_bytes: of an HTTP request head.
        max_connections: HTTP connections open at a time; more are answered 503.
        max_requests: requests in progress at a time on stdio.
        max_sessions: legacy sessions alive at a time; the oldest one ends for a new one.
        read_s: how long a request may take to arrive in whole.
        idle_s: how long a kept-alive connection may stay silent.
        half_close_s: how long an answer may still take after the client stopped sending.
        shutdown_s: how long open streams get to end properly when the server stops.
        ask_s: how long a legacy client may take to answer a request of the server.
    """

    max_body_bytes: int = 4 * 1024 * 1024
    max_head_bytes: int = 64 * 1024
    max_connections: int = 256
    max_requests: int = 256
    max_sessions: int = 1000
    read_s: float = 10.0
    idle_s: float = 30.0
    half_close_s: float = 0.5
    shutdown_s: float = 1.0
    ask_s: float = 30.0


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How the reference server behaves.

    Attributes:
        era: which requests it serves: modern, legacy, or both on one endpoint.
        defects: names of the deliberate faults (`defects.list_defects`).
        host: the address to bind; only loopback unless `allow_remote`.
        port: 0 takes a free one.
        logging: whether the modern era offers the (deprecated) logging feature.
        fixtures: whether it offers what the official conformance suite expects of a server.
        protected: whether requests need a token of the bundled authorization server (HTTP).
    """

    era: Era = Era.DUAL
    defects: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 0
    allow_remote: bool = False
    logging: bool = False
    fixtures: bool = False
    protected: bool = False
    limits: ServerLimits = ServerLimits()
