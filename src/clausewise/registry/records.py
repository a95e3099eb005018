"""The records of the registry: a clause, why it may be excluded, and a rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clausewise.core.vocabulary import Level, OtherParty, Outcome, Party, Revision
from clausewise.registry.links import sentence_url


class ExclusionType(StrEnum):
    """Why a recorded session cannot decide a clause. Each type is described on its member."""

    UI = "ui"
    INTERNAL_STATE = "internal-state"
    OFF_WIRE = "off-wire"
    AUTHORIZATION_FLOW = "authorization-flow"
    CREDENTIALS = "credentials"
    HIDDEN_GROUND_TRUTH = "hidden-ground-truth"
    TIME = "time"
    SEMANTIC = "semantic"
    NO_THRESHOLD = "no-threshold"
    NOT_RECORDED = "not-recorded"
    DOCUMENTATION = "documentation"
    UMBRELLA = "umbrella"

    @property
    def meaning(self) -> str:
        """One sentence saying what clauses of this type have in common."""
        return _MEANINGS[self]


_MEANINGS = {
    ExclusionType.UI: "It is about what a user is shown or asked.",
    ExclusionType.INTERNAL_STATE: "It is about what a party does or keeps inside itself.",
    ExclusionType.OFF_WIRE: "It takes place on another channel than the recorded connection.",
    ExclusionType.AUTHORIZATION_FLOW: (
        "It takes place in the OAuth flow, at the authorization server or in metadata documents."
    ),
    ExclusionType.CREDENTIALS: "It depends on a credential, and no credential reaches a trace.",
    ExclusionType.HIDDEN_GROUND_TRUTH: "It depends on a fact that only one party knows.",
    ExclusionType.TIME: "It depends on durations, and no verdict reads a clock.",
    ExclusionType.SEMANTIC: "It depends on what a text means.",
    ExclusionType.NO_THRESHOLD: "It asks for a measure that the text does not give.",
    ExclusionType.NOT_RECORDED: "It depends on bytes, framing or streams that a trace may omit.",
    ExclusionType.DOCUMENTATION: "It is about documentation, settings or logs.",
    ExclusionType.UMBRELLA: "It sums up other clauses or another document.",
}


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why no check judges a clause: the type, and what this very clause lacks in a recording."""

    type: ExclusionType
    reason: str


@dataclass(frozen=True, slots=True)
class Clause:
    """One normative sentence of one revision.

    `condition` names the capability without which the clause does not apply. `page` is
    the path of the published page below the revision and `anchor` the id of the heading
    above the sentence, empty at the top of a page. `start`, `end` and `prefix` locate the
    sentence in the page's text; `end` is None where `start` is the whole sentence. At most
    one of `checks` and `exclusion` is given; without either a check is still to be written.
    `beyond` marks a clause that the published requirements exclude and a check judges all
    the same, where a recording shows enough. `probes` names the probes that decide it on a
    live server, whatever a recording shows; `rules` the rules about the same sentence.
    """

    id: str
    revision: Revision
    level: Level
    binds: tuple[Party | OtherParty, ...]
    condition: str | None
    page: str
    anchor: str
    start: str
    end: str | None
    prefix: str | None
    quote: str | None
    checks: tuple[str, ...]
    exclusion: Exclusion | None
    beyond: bool = False
    probes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def area(self) -> str:
        """The part of the id before the number, such as `BASE`."""
        return self.id.rpartition("-")[0]

    @property
    def url(self) -> str:
        """The link that lands on the sentence."""
        terms = (self.start, self.end, self.prefix)
        return sentence_url(self.revision, self.page, self.anchor, terms)

    @property
    def statement(self) -> str:
        """The sentence as readers are shown it: the quote, else its first and last words."""
        if self.quote is not None:
            return self.quote
        return self.start if self.end is None else f"{self.start} … {self.end}"


class Origin(StrEnum):
    """Where a rule comes from."""

    LIST = "list"
    """The published list of 79 rules."""
    CLAUSEWISE = "clausewise"
    """A sentence about servers that no rule of that list covers; ours."""


OWN_PREFIX = "CW-"
"""How the ids of our own rules begin."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that a probe decides on a live server of revision 2026-07-28.

    `level` and `severity` are as the catalogue lists them. `effective_level` and
    `effective_severity` are what the text supports: the worst severity a verdict may
    have. They differ from the listed ones, or narrow them, only where `note` says why.
    `needs` are the conditions for an occasion; `clauses` are `page#anchor` references, the
    first to the sentence that `start` and `end` locate. `official` names the check of the
    official conformance suite that looks at the same sentence, where there is one.
    """

    id: str
    group: str
    title: str
    level: Level
    severity: Outcome
    effective_level: Level
    effective_severity: Outcome
    note: str | None
    page: str
    anchor: str
    start: str
    end: str | None
    prefix: str | None
    needs: tuple[str, ...]
    clauses: tuple[str, ...]
    spec_traced: bool
    official: str | None = None

    @property
    def revision(self) -> Revision:
        return Revision.MODERN

    @property
    def origin(self) -> Origin:
        return Origin.CLAUSEWISE if self.id.startswith(OWN_PREFIX) else Origin.LIST

    @property
    def url(self) -> str:
        """The link that lands on the sentence the rule comes from."""
        terms = (self.start, self.end, self.prefix)
        return sentence_url(self.revision, self.page, self.anchor, terms)
