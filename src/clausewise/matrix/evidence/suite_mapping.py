"""Which clauses and rules each check of the official suite looks at: `data/official/*.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from clausewise.core.vocabulary import Revision


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a check of the suite says about clauses and rules.

    A success shows all `ids` kept. A failure breaks them if it `breaks`, else it may have
    other causes and shows nothing.
    """

    ids: tuple[str, ...] = ()
    breaks: bool = True


@dataclass(frozen=True, slots=True)
class SuiteMapping:
    """The mapping of one revision: by scenario, or a pattern of scenarios, and id of the check.

    `not_required` are patterns of scenarios that the suite does not demand for the revision.
    """

    revision: Revision
    scenarios: Mapping[str, Mapping[str, Meaning]]
    not_required: tuple[str, ...] = ()

    def requires(self, scenario: str) -> bool:
        """Whether the suite demands the scenario for the revision."""
        return not any(fnmatchcase(scenario, pattern) for pattern in self.not_required)

    def meaning(self, scenario: str, check: str) -> Meaning | None:
        """What the check says in that scenario; None where it is not mapped."""
        fitting = (name for name in self._patterns if fnmatchcase(scenario, name))
        for name in (scenario, *fitting):
            if check in self.scenarios.get(name, {}):
                return self.scenarios[name][check]
        return None

    @property
    def _patterns(self) -> tuple[str, ...]:
        """Scenario names with a star, the more special first."""
        return tuple(sorted((n for n in self.scenarios if _ANY in n), key=len, reverse=True))


_ANY = "*"


@cache
def suite_mapping(revision: Revision) -> SuiteMapping:
    """The mapping of `revision`."""
    file = resources.files("clausewise.matrix") / "data" / "official" / f"{revision}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    not_required = tuple(table.pop("not-required"))
    scenarios = {
        scenario: {check: _meaning(given) for check, given in checks.items()}
        for scenario, checks in table.items()
    }
    return SuiteMapping(revision, scenarios, not_required)


def _meaning(given: Any) -> Meaning:
    """From a list of ids, or a table `{shows = […]}`."""
    if isinstance(given, dict):
        return Meaning(tuple(given["shows"]), breaks=False)
    return Meaning(tuple(given))
