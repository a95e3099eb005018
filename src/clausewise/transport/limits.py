"""Bounds on one conversation with a target: seconds, bytes and events."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait and how much to take from a target.

    Attributes:
        connect_s: seconds for name lookup, TCP and TLS together.
        answer_s: seconds for one whole answer, from the first byte sent to the last received.
        quiet_s: seconds to wait for more once the awaited message is there.
        exit_s: seconds a process gets to exit, after its stdin closed and again after SIGTERM;
            also how long its last output is waited for.
        backoff_s: seconds that a run may pause in all because the target refuses requests
            for their rate (HTTP 429).
        max_body_bytes: bytes of one HTTP body, or of a process's output between two sends.
        max_line_bytes: bytes of one line on stdio, or of one SSE event.
        max_events: events of one answer.
        max_header_bytes: bytes of one HTTP response head.
    """

    connect_s: float = 5.0
    answer_s: float = 10.0
    quiet_s: float = 0.2
    exit_s: float = 2.0
    backoff_s: float = 15.0
    max_body_bytes: int = 16 * MEBIBYTE
    max_line_bytes: int = 16 * MEBIBYTE
    max_events: int = 10_000
    max_header_bytes: int = 64 * 1024
