"""What a defect is: a named change of the wiring, and the rules and clauses it must break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.wiring import Wiring

BOTH_TRANSPORTS = frozenset(TransportKind)
HTTP_ONLY = frozenset({TransportKind.HTTP})


@dataclass(frozen=True, slots=True)
class Defect:
    """A deliberate fault.

    Attributes:
        rules: the rules it must trip, and no others.
        clauses: the clauses of 2025-11-25 it must trip, and no others.
        eras: the kinds of server on which it shows.
        transports: the transports on which it shows.
        protected: whether it shows only on a protected server.
        credentials: whether it shows only to a client that sends an Authorization header.
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
