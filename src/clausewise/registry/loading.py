"""Read the compiled registry, once per process and only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from clausewise.core.vocabulary import Level, OtherParty, Outcome, Party, Revision
from clausewise.registry.records import Clause, Exclusion, ExclusionType, Rule

COMPILED = Path(__file__).parent / "data" / "compiled"

_LEVELS = {level.value: level for level in Level}
_PARTIES = {party.value: party for party in (*Party, *OtherParty)}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_EXCLUSIONS = {kind.value: kind for kind in ExclusionType}


@cache
def clauses(revision: Revision) -> Mapping[str, Clause]:
    """The clauses of `revision` by id, in the order of the pages; empty where none are held."""
    rows = _compiled(f"clauses-{revision.value}.json").get("rows", ())
    return MappingProxyType({row[0]: _clause(revision, row) for row in rows})


@cache
def rules() -> Mapping[str, Rule]:
    """The rules by id, group by group in the order of the catalogue."""
    return MappingProxyType({row[0]: _rule(row) for row in _compiled("rules.json")["rows"]})


@cache
def areas(revision: Revision) -> Mapping[str, str]:
    """Titles of the areas of `revision` by id prefix: `{"BASE": "Base protocol", …}`."""
    return MappingProxyType(_compiled(f"clauses-{revision.value}.json").get("titles", {}))


@cache
def groups() -> Mapping[str, str]:
    """Titles of the groups of rules: `{"DSC": "Discovery and capabilities", …}`."""
    return MappingProxyType(_compiled("rules.json")["titles"])


@cache
def _compiled(name: str) -> dict[str, Any]:
    path = COMPILED / name
    if not path.exists():
        return {}
    content: dict[str, Any] = orjson.loads(path.read_bytes())
    return content


def _clause(revision: Revision, row: list[Any]) -> Clause:
    name, level, binds, condition, page, anchor, start, end, prefix, quote, *rest = row
    checks, exclusion, beyond, probes, rules_ = rest
    return Clause(
        name,
        revision,
        _LEVELS[level],
        tuple([_PARTIES[party] for party in binds]),
        condition,
        page,
        anchor,
        start,
        end,
        prefix,
        quote,
        tuple(checks),
        Exclusion(_EXCLUSIONS[exclusion[0]], exclusion[1]) if exclusion else None,
        beyond,
        tuple(probes),
        tuple(rules_),
    )


def _rule(row: list[Any]) -> Rule:
    name, group, title, listed, effective, note, page, anchor, start, end, prefix, *rest = row
    needs, references, spec_traced, official = rest
    return Rule(
        name,
        group,
        title,
        _LEVELS[listed[0]],
        _OUTCOMES[listed[1]],
        _LEVELS[effective[0]],
        _OUTCOMES[effective[1]],
        note,
        page,
        anchor,
        start,
        end,
        prefix,
        tuple(needs),
        tuple(references),
        spec_traced,
        official,
    )
