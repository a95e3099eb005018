"""What a defect is: a named change of the wiring, and the rules and clauses it must break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.wiring import Wiring

BOTH_TRANSPORTS = frozenset(TransportKind)
HTTP_ONLY = frozenset({TransportKind.HTTP})
STDIO_ONLY = frozenset({TransportKind.STDIO})


@dataclass(frozen=True, slots=True)
class Defect:
    """A deliberate fault.

    Attributes:
        rules: the rules it must trip, and no others.
        clauses: the clauses of 2025-11-25 it must trip, and no others.
        eras: the kinds of server on which it shows.
        transports: the transports on which it shows.
        alike: whether it shows in the same way in each era and on each transport, so that
            one of them is proof enough.
        protected: whether it shows only on a protected server.
        credentials: whether it shows only to a client that sends an Authorization header.
        call_tools: the tools that must be called for it to show, beside the read-only ones.
        bind: the address at which the server listens with it, instead of the one wanted.
        apply: gives the wiring with the fault in it.
    """

    name: str
    summary: str
    apply: Callable[[Wiring], Wiring]
    rules: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    eras: frozenset[Era] = frozenset({Era.DUAL, Era.MODERN})
    transports: frozenset[TransportKind] = BOTH_TRANSPORTS
    credentials: bool = False
    protected: bool = False
    alike: bool = False
    call_tools: frozenset[str] = frozenset()
    bind: str | None = None
