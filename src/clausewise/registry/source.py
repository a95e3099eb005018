"""Read the edited TOML of the registry and hold it to its contract."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

from clausewise.core.errors import ConfigError
from clausewise.core.vocabulary import Level, OtherParty, Outcome, Party, Revision
from clausewise.registry.records import Clause, Exclusion, ExclusionType, Rule

DATA = Path(__file__).parent / "data"

Record = TypeVar("Record", Clause, Rule)
Choice = TypeVar("Choice", bound=StrEnum)

_SHARED_KEYS = frozenset({"id", "level", "anchor", "start", "end", "prefix"})
_CLAUSE_KEYS = _SHARED_KEYS | {"binds", "condition", "quote"}
_CLAUSE_KEYS |= {"checks", "exclusion", "planned", "beyond", "probes", "rules"}
_RULE_KEYS = _SHARED_KEYS | {"title", "severity", "effective", "note", "page"}
_RULE_KEYS |= {"needs", "also", "spec_traced", "official"}


@dataclass(frozen=True, slots=True)
class Section(Generic[Record]):
    """The records of one file: an area of clauses or a group of rules, with its title."""

    key: str
    title: str
    records: tuple[Record, ...]


def read_clauses(data: Path, revision: Revision) -> tuple[Section[Clause], ...]:
    """The areas of `revision` in the order of their `position`.

    Raises:
        ConfigError: a file breaks the contract; the message names the clause.
    """
    sections = []
    for path, content in _files(data / revision.value):
        page = content.get("page")
        if not isinstance(page, str):
            raise ConfigError(f"{path.name} has no page; it is empty for the front page")
        entries = content.get("clause", [])
        records = tuple(_clause(entry, revision, page) for entry in entries)
        sections.append(Section(_text(content, "area", path.name), content["title"], records))
    _require_unique(record.id for section in sections for record in section.records)
    for section in sections:
        for record in section.records:
            if record.area != section.key:
                raise ConfigError(f"{record.id} stands in the file of area {section.key}")
    return tuple(sections)


def read_rules(data: Path) -> tuple[Section[Rule], ...]:
    """The groups of rules in the order of their `position`.

    Raises:
        ConfigError: a file breaks the contract; the message names the rule.
    """
    sections = []
    for path, content in _files(data / "rules"):
        group = _text(content, "group", path.name)
        records = tuple(_rule(entry, group) for entry in content.get("rule", []))
        sections.append(Section(group, content["title"], records))
    _require_unique(record.id for section in sections for record in section.records)
    return tuple(sections)


def _files(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    files = []
    for path in folder.glob("*.toml"):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{path.name}: {error}") from error
        for key in ("title", "position"):
            if key not in content:
                raise ConfigError(f"{path.name} has no {key}")
        files.append((path, content))
    return sorted(files, key=lambda file: (file[1]["position"], file[0].name))


def _clause(entry: Mapping[str, Any], revision: Revision, page: str) -> Clause:
    name = _identified(entry, _CLAUSE_KEYS)
    checks = tuple(entry.get("checks", ()))
    exclusion = _exclusion(entry, name)
    if [bool(checks), exclusion is not None, entry.get("planned") is True].count(True) != 1:
        raise ConfigError(f"{name} must have checks, an exclusion or `planned = true`")
    beyond = entry.get("beyond", False)
    if not isinstance(beyond, bool) or (beyond and not checks):
        raise ConfigError(f"{name}: beyond is a flag of clauses with checks")
    quote = entry.get("quote")
    start = entry.get("start", quote)
    if not start:
        raise ConfigError(f"{name} has neither a quote nor a start")
    binds = tuple(_party(party, name) for party in entry.get("binds", ()))
    if not binds:
        raise ConfigError(f"{name} binds nobody")
    return Clause(
        id=name,
        revision=revision,
        level=_member(Level, entry.get("level"), name),
        binds=binds,
        condition=entry.get("condition"),
        page=page,
        anchor=entry.get("anchor", ""),
        start=start,
        end=entry.get("end"),
        prefix=entry.get("prefix"),
        quote=quote,
        checks=checks,
        exclusion=exclusion,
        beyond=beyond,
        probes=tuple(entry.get("probes", ())),
        rules=tuple(entry.get("rules", ())),
    )


def _party(value: Any, owner: str) -> Party | OtherParty:
    if value in list(OtherParty):
        return OtherParty(value)
    return _member(Party, value, owner)


def _exclusion(entry: Mapping[str, Any], name: str) -> Exclusion | None:
    given = entry.get("exclusion")
    if given is None:
        return None
    kind = _member(ExclusionType, given.get("type"), name)
    return Exclusion(kind, _text(given, "reason", name))


def _rule(entry: Mapping[str, Any], group: str) -> Rule:
    name = _identified(entry, _RULE_KEYS)
    effective = entry.get("effective", {})
    if effective and "note" not in entry:
        raise ConfigError(f"{name} departs from its listed level without a note")
    page, anchor = _text(entry, "page", name), entry.get("anchor", "")
    return Rule(
        id=name,
        group=group,
        title=_text(entry, "title", name),
        level=_member(Level, entry.get("level"), name),
        severity=_member(Outcome, entry.get("severity"), name),
        effective_level=_member(Level, effective.get("level", entry.get("level")), name),
        effective_severity=_member(Outcome, effective.get("severity", entry.get("severity")), name),
        note=entry.get("note"),
        page=page,
        anchor=anchor,
        start=_text(entry, "start", name),
        end=entry.get("end"),
        prefix=entry.get("prefix"),
        needs=tuple(entry.get("needs", ())),
        clauses=(f"{page}#{anchor}", *entry.get("also", ())),
        spec_traced=entry.get("spec_traced", True),
        official=entry.get("official"),
    )


def _identified(entry: Mapping[str, Any], known: Iterable[str]) -> str:
    name = _text(entry, "id", "an entry")
    unknown = sorted(entry.keys() - set(known))
    if unknown:
        raise ConfigError(f"{name} has unknown keys: {', '.join(unknown)}")
    return name


def _text(entry: Mapping[str, Any], key: str, owner: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{owner} has no {key}")
    return value


def _member(choices: type[Choice], value: Any, owner: str) -> Choice:
    try:
        return choices(value)
    except ValueError as error:
        raise ConfigError(f"{owner}: {value!r} is no {choices.__name__}") from error


def _require_unique(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ConfigError(f"{name} is given twice")
        seen.add(name)


def titles(sections: Sequence[Section[Record]]) -> dict[str, str]:
    """The title of each section by its key."""
    return {section.key: section.title for section in sections}
