"""The closed sets: outcomes, levels, parties, directions, transports, revisions, eras."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of one clause or rule in one run."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    INFO = "info"
    NOT_OBSERVED = "not-observed"
    NOT_APPLICABLE = "not-applicable"
    INCONCLUSIVE = "inconclusive"
    EXCLUDED = "excluded"
    CRASHED = "crashed"

    @property
    def is_judgement(self) -> bool:
        """Whether this outcome rests on at least one decided occasion."""
        return self in _JUDGEMENTS


_JUDGEMENTS = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.WARN, Outcome.INFO})

SEVERITY_ORDER: tuple[Outcome, ...] = (
    Outcome.FAIL,
    Outcome.CRASHED,
    Outcome.WARN,
    Outcome.INCONCLUSIVE,
    Outcome.INFO,
    Outcome.PASS,
    Outcome.NOT_OBSERVED,
    Outcome.NOT_APPLICABLE,
    Outcome.EXCLUDED,
)
"""Worst first: how reports sort and how outcomes of the same subject merge."""


class Level(StrEnum):
    """The RFC 2119 keyword of a clause or rule, as the specification writes it."""

    MUST = "MUST"
    MUST_NOT = "MUST NOT"
    SHOULD = "SHOULD"
    SHOULD_NOT = "SHOULD NOT"
    MAY = "MAY"

    @property
    def severity(self) -> Outcome:
        """The outcome of a broken occasion: MUST is a fail, SHOULD a warn, MAY an info."""
        if self in (Level.MUST, Level.MUST_NOT):
            return Outcome.FAIL
        return Outcome.INFO if self is Level.MAY else Outcome.WARN


class Party(StrEnum):
    """The side of a conversation that owes a duty."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def direction(self) -> Direction:
        """Which way its messages travel."""
        if self is Party.CLIENT:
            return Direction.CLIENT_TO_SERVER
        return Direction.SERVER_TO_CLIENT


class OtherParty(StrEnum):
    """A party beside the conversation: it owes duties that no recording of it can show."""

    AUTHORIZATION_SERVER = "authorization-server"
    INTERMEDIARY = "intermediary"


class Direction(StrEnum):
    """Which way an event travelled."""

    CLIENT_TO_SERVER = "client-to-server"
    SERVER_TO_CLIENT = "server-to-client"

    @property
    def sender(self) -> Party:
        return Party.CLIENT if self is Direction.CLIENT_TO_SERVER else Party.SERVER

    @property
    def opposite(self) -> Direction:
        if self is Direction.CLIENT_TO_SERVER:
            return Direction.SERVER_TO_CLIENT
        return Direction.CLIENT_TO_SERVER


class TransportKind(StrEnum):
    """The two standard transports."""

    STDIO = "stdio"
    HTTP = "streamable-http"


class Revision(StrEnum):
    """A revision of the specification that Clausewise judges."""

    LEGACY = "2025-11-25"
    MODERN = "2026-07-28"


class Era(StrEnum):
    """How a server speaks: with `initialize` (legacy), statelessly (modern), or both (dual)."""

    LEGACY = "legacy"
    MODERN = "modern"
    DUAL = "dual"

    @property
    def has_modern(self) -> bool:
        return self is not Era.LEGACY

    @property
    def has_legacy(self) -> bool:
        return self is not Era.MODERN


PUBLISHED_REVISIONS: tuple[str, ...] = (
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
)
"""Every published revision, oldest first."""

LEGACY_REVISIONS = frozenset(PUBLISHED_REVISIONS[:-1])
"""The published revisions whose sessions begin with `initialize`."""


class FailOn(StrEnum):
    """From which severity on a run exits with 1."""

    MUST = "must"
    SHOULD = "should"
    INCONCLUSIVE = "inconclusive"
    NEVER = "never"
