"""The audit's matrix: a row for each clause and rule, its verdict, and what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Level, Outcome, Party, Revision


class RowVerdict(StrEnum):
    """The verdict of a row: how an implementation stands to one clause or rule.

    Each member's `meaning` defines it; `clausewise.matrix.verdicts` decides it.
    """

    CONFORMANT = "conformant"
    PARTLY = "partly"
    NON_CONFORMANT = "non-conformant"
    DEVIATION = "deviation"
    NOT_IMPLEMENTED = "not-implemented"
    NOT_APPLICABLE = "not-applicable"
    UNPROVEN = "unproven"

    @property
    def meaning(self) -> str:
        """What a reader of the matrix may conclude, in one sentence."""
        return _MEANINGS[self]

    @property
    def rank(self) -> int:
        """How good it is, 0 being best: a row that gets a higher rank has fallen."""
        return _RANKS[self]


_MEANINGS = {
    RowVerdict.CONFORMANT: "Some evidence shows that it is kept, and none that it is broken.",
    RowVerdict.PARTLY: (
        "Nothing breaks it at its own level, but it is not wholly shown: evidence found something "
        "milder than its keyword forbids (a warning about a MUST, advice about a MAY), or some "
        "evidence shows that it is kept while other evidence came to no end."
    ),
    RowVerdict.NON_CONFORMANT: "Some evidence shows that it is broken, whatever else passed.",
    RowVerdict.DEVIATION: "It is broken on purpose, or not shown to be kept, for the reason given.",
    RowVerdict.NOT_IMPLEMENTED: "It belongs to a feature that is left out, for the reason given.",
    RowVerdict.NOT_APPLICABLE: "Its condition, capability or transport is absent.",
    RowVerdict.UNPROVEN: "No evidence shows anything about it.",
}

_RANKS = {
    RowVerdict.CONFORMANT: 0,
    RowVerdict.NOT_APPLICABLE: 0,
    RowVerdict.PARTLY: 1,
    RowVerdict.NOT_IMPLEMENTED: 2,
    RowVerdict.DEVIATION: 2,
    RowVerdict.UNPROVEN: 3,
    RowVerdict.NON_CONFORMANT: 4,
}


class EvidenceKind(StrEnum):
    """What a piece of evidence is."""

    TEST = "test"
    OFFICIAL = "official"
    PROBE = "probe"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one source shows about one clause or rule.

    Attributes:
        kind: test, official, probe or replay.
        outcome: a broken test or check has the severity of the clause's keyword.
        pointer: where a reader finds it: `tests/ids.py:12`, `tools-list/tools-name-format`,
            `check.json`, `session.jsonl seq 12`.
        path: the file behind the pointer, relative to the audited project's folder, with `/`.
        line: the line in that file, or None.
        detail: the name of the test, the message of the finding, the reason; may be empty.
    """

    kind: EvidenceKind
    outcome: Outcome
    pointer: str
    path: str
    line: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One clause or rule, its verdict, and the evidence, worst first.

    `condition` is the capability without which it does not apply. `reason` is that of the
    declaration that decides the verdict. `notes` say what a reader must know beside it:
    that evidence contradicts other evidence or a declaration. `excluded` says why no
    recording can show the clause, so that only a test can.
    """

    kind: SubjectKind
    id: str
    revision: Revision
    level: Level
    url: str
    verdict: RowVerdict
    condition: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    excluded: str | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def area(self) -> str:
        """The id without its number: `BASE`, `MCP-ERR`."""
        return self.id.rpartition("-")[0] or self.id

    @property
    def key(self) -> tuple[SubjectKind, Revision, str]:
        """What tells it from every other row, in this matrix and its earlier ones."""
        return self.kind, self.revision, self.id


class ProblemKind(StrEnum):
    """What is wrong with the evidence or with a declaration."""

    UNREADABLE = "unreadable"
    UNKNOWN_ID = "unknown-id"
    NOT_A_ROW = "not-a-row"
    TAG_WITHOUT_TEST = "tag-without-test"
    TAG_WITHOUT_RUN = "tag-without-run"
    AMBIGUOUS_TEST = "ambiguous-test"
    RUN_WITHOUT_TAG = "run-without-tag"
    LOST_SOURCE = "lost-source"
    UNMAPPED_CHECK = "unmapped-check"
    UNTIED_FAILURE = "untied-failure"
    STALE_DEVIATION = "stale-deviation"
    CONTRADICTED = "contradicted"
    IDLE_DECLARATION = "idle-declaration"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the audited project should put right: `where` it is and what it is."""

    kind: ProblemKind
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """One place that evidence came from, with the outcomes it gave.

    Of official results `counts` are the suite's checks, of tests the runs that a tag names,
    of probes and replays the clauses and rules.
    """

    kind: EvidenceKind
    name: str
    counts: Mapping[Outcome, int]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Clauses and rules by evidence, for one party of one project."""

    title: str
    party: Party
    revisions: tuple[Revision, ...]
    rows: tuple[Row, ...]
    sources: tuple[Source, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def shows_anything(self) -> bool:
        """Whether any evidence decided anything."""
        return any(e.outcome.is_judgement for row in self.rows for e in row.evidence)


def tally(rows: Iterable[Row]) -> Counter[RowVerdict]:
    """How many rows have each verdict."""
    return Counter(row.verdict for row in rows)


BREACHES: Mapping[Level, frozenset[Outcome]] = {
    Level.MUST: frozenset({Outcome.FAIL}),
    Level.MUST_NOT: frozenset({Outcome.FAIL}),
    Level.SHOULD: frozenset({Outcome.FAIL, Outcome.WARN}),
    Level.SHOULD_NOT: frozenset({Outcome.FAIL, Outcome.WARN}),
    Level.MAY: frozenset(),
}
"""The outcomes that break a clause of each level; what a MAY leaves open cannot be broken."""
