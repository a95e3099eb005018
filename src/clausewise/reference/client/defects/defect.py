"""What a defect of the client is: a named change of the wiring, and the clauses it must break."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.client.wiring import ClientWiring

BOTH_TRANSPORTS = frozenset(TransportKind)
HTTP_ONLY = frozenset({TransportKind.HTTP})
STDIO_ONLY = frozenset({TransportKind.STDIO})


@dataclass(frozen=True, slots=True)
class ClientDefect:
    """A deliberate fault.

    Attributes:
        apply: gives the wiring with the fault in it.
        clauses: the clauses that it must trip, and no others, by the era of the session; an
            era that is not named does not show it.
        transports: the transports on which it shows.
        protected: whether it shows only to a server that wants a token.
        occasion: the defect of the reference server that gives the occasion; empty where the
            right server does.
    """

    name: str
    summary: str
    apply: Callable[[ClientWiring], ClientWiring]
    clauses: Mapping[Era, tuple[str, ...]] = field(default_factory=dict)
    transports: frozenset[TransportKind] = BOTH_TRANSPORTS
    protected: bool = False
    occasion: str = ""
