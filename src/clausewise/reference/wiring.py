"""The server's wiring: every part of the answer path that a defect may replace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clausewise.core.vocabulary import Era
from clausewise.reference.http_layer import HttpExchange, HttpHead, HttpRequest
from clausewise.reference.legacy.parts import LegacyParts
from clausewise.reference.legacy.sessions import Sessions
from clausewise.reference.modern.parts import ModernParts
from clausewise.reference.options import ServerOptions

if TYPE_CHECKING:
    from clausewise.reference.auth.parts import AuthParts

ENDPOINT = "/mcp"


@dataclass(frozen=True, slots=True)
class Answered:
    """What an HTTP answer belongs to: the HTTP request, and what was read of its message.

    `method` is the JSON-RPC method, or None before it is known and for responses.
    """

    request: HttpRequest
    era: Era | None = None
    method: str | None = None


HeadHook = Callable[[Answered, HttpHead], HttpHead]
"""Has the last word on the head of an HTTP answer."""

Route = Callable[[HttpExchange, "Runtime"], Awaitable[None]]
"""Answers the HTTP requests of one method and path."""


Guard = Callable[[HttpRequest, ServerOptions], None]
"""Raises RpcError for a request that is not to be answered, whatever it asks for."""


@dataclass(frozen=True, slots=True)
class HttpParts:
    """What answers HTTP requests: `guard`, `routes` by (method, path), `head` on the way out."""

    routes: Mapping[tuple[str, str], Route]
    head: HeadHook
    guard: Guard


@dataclass(frozen=True, slots=True)
class Wiring:
    """All replaceable parts; `auth` is None on a server that everybody may use."""

    modern: ModernParts
    legacy: LegacyParts
    http: HttpParts
    auth: AuthParts | None = None

    @property
    def protection(self) -> AuthParts:
        """`auth` of a protected server."""
        assert self.auth is not None
        return self.auth


@dataclass(frozen=True, slots=True)
class Runtime:
    """A server in operation: how it was started, how it is wired, its legacy sessions."""

    options: ServerOptions
    wiring: Wiring
    sessions: Sessions
