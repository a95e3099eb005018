"""Lifecycle, Shutdown: how a client ends a server on stdio."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.sessions import Session
from clausewise.trace.events import Event, Lifecycle

_C2S = Direction.CLIENT_TO_SERVER


@dataclass(slots=True)
class _Shutdown:
    """The steps of the client so far: stdin closed, terminated."""

    closed: Spot | None = None
    terminated: Spot | None = None


@check(
    "lifecycle.stdio-shutdown-order",
    on="lifecycle",
    subject="shutdown with its steps",
    transport=TransportKind.STDIO,
)
def stdio_shutdown_order(event: Event, session: Session, out: Sheet) -> None:
    """A client terminates a server before it closed the server's input.

    Why: a server that is killed at once loses what it has not yet written, and leaves its own
    children and locks behind.
    Fix: close stdin first, wait for the server to exit, then send SIGTERM, and SIGKILL only if
    that does not help either.
    """
    what, steps = event.fields.get("event"), session.state(_Shutdown)
    by_client = event.direction is _C2S
    if what == Lifecycle.CLOSE and by_client:
        steps.closed = steps.closed or Spot(event.seq, _C2S)
    elif what == Lifecycle.ABORT and by_client:
        _terminate(event, steps, out)
    elif what == Lifecycle.EXIT:
        _exit(event, steps, out)


def _terminate(event: Event, steps: _Shutdown, out: Sheet) -> None:
    if steps.terminated is not None:
        return
    steps.terminated = Spot(event.seq, _C2S)
    if steps.closed is None:
        out.broke(
            steps.terminated,
            "the client terminates the server before it closed its input",
            seen="transport-abort without transport-close before it",
            expected="stdin closed first, then SIGTERM if the server does not exit",
        )


def _exit(event: Event, steps: _Shutdown, out: Sheet) -> None:
    code = event.fields.get("code")
    by_signal = isinstance(code, int) and code < 0
    if steps.closed is None:
        if by_signal and steps.terminated is None:
            out.undecided(Spot(event.seq, _C2S), "a signal ended the server; nobody says whose")
    elif by_signal and steps.terminated is None:
        out.undecided(steps.closed, "a signal ended the server that the recording does not show")
    else:
        out.held(steps.closed)
