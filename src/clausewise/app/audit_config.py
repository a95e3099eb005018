"""The `[audit]` table of a configuration: what is audited, the evidence, the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clausewise import registry
from clausewise.app import config
from clausewise.core.errors import ConfigError
from clausewise.core.suggestion import did_you_mean
from clausewise.core.vocabulary import Party, Revision
from clausewise.matrix.declarations import Declaration, DeclarationKind, covers_capability
from clausewise.matrix.evidence.tags import pattern_of

PAGE = "docs/CONFORMANCE.md"
"""Where the page goes unless `page` says otherwise."""

_TOP = ("title", "party", "revisions", "page", "tests", "official", "probe", "replay")
_TOP += (*DeclarationKind,)
_EVIDENCE = {
    "tests": ("sources", "reports", "pattern"),
    "official": ("results", "revision"),
    "probe": ("results",),
    "replay": ("traces", "results", "revision"),
}
_DECLARATION = ("clauses", "capabilities", "reason")


@dataclass(frozen=True, slots=True)
class Tests:
    """Test sources and the JUnit reports of their runs, as patterns of file names."""

    sources: tuple[str, ...]
    reports: tuple[str, ...]
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Official:
    """Output folders of the official suite; the revision that they were run for."""

    results: tuple[str, ...]
    revision: Revision


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recordings of real sessions, and stored results of `validate`."""

    traces: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    revision: Revision | None = None


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """What `[audit]` says. All names of files are relative to `root`, the file's folder."""

    source: Path
    title: str
    party: Party
    revisions: tuple[Revision, ...]
    page: str = PAGE
    tests: tuple[Tests, ...] = ()
    official: tuple[Official, ...] = ()
    probe: tuple[str, ...] = ()
    replay: tuple[Recorded, ...] = ()
    declarations: tuple[Declaration, ...] = field(default=())

    @property
    def root(self) -> Path:
        return self.source.parent


def load(named: Path | None, folder: Path) -> AuditConfig:
    """The audit's configuration: of the file `named`, else of the nearest upward from `folder`.

    Raises:
        ConfigError: there is none, it has no `[audit]`, or an entry of it is wrong.
    """
    found = config.read(named) if named is not None else config.find(folder)
    if found.source is None:
        raise ConfigError(
            "no configuration file found", "Write clausewise.toml with a table [audit]."
        )
    if found.audit is None:
        raise ConfigError(f"{found.source} has no table [audit]", "`audit --help` shows one.")
    return _Parser(found.source).parsed(found.audit)


class _Parser:
    """Reads one `[audit]` table; errors name the file and the key."""

    def __init__(self, source: Path) -> None:
        self._source = source

    def parsed(self, table: Mapping[str, Any]) -> AuditConfig:
        self._known(table, _TOP, "audit")
        return AuditConfig(
            source=self._source,
            title=self._text(table, "title", "audit", self._source.absolute().parent.name),
            party=Party(self._choice(table, "party", "audit", tuple(Party), Party.SERVER)),
            revisions=tuple(self._revisions(table)),
            page=self._text(table, "page", "audit", PAGE),
            tests=tuple(self._tests(entry) for entry in self._entries(table, "tests")),
            official=tuple(self._official(entry) for entry in self._entries(table, "official")),
            probe=tuple(
                name
                for entry in self._entries(table, "probe")
                for name in self._texts(entry, "results", "audit.probe", required=True)
            ),
            replay=tuple(self._recorded(entry) for entry in self._entries(table, "replay")),
            declarations=tuple(self._declarations(table)),
        )

    def _tests(self, entry: Mapping[str, Any]) -> Tests:
        where = "audit.tests"
        pattern = self._text(entry, "pattern", where, "")
        return Tests(
            self._texts(entry, "sources", where, required=True),
            self._texts(entry, "reports", where, required=True),
            pattern_of(pattern, f"{self._source}: {where}") if pattern else None,
        )

    def _official(self, entry: Mapping[str, Any]) -> Official:
        where = "audit.official"
        revision = self._choice(entry, "revision", where, tuple(Revision), None)
        return Official(self._texts(entry, "results", where, required=True), Revision(revision))

    def _recorded(self, entry: Mapping[str, Any]) -> Recorded:
        where = "audit.replay"
        revision = self._choice(entry, "revision", where, (*Revision, ""), "")
        traces, results = (self._texts(entry, key, where) for key in ("traces", "results"))
        if not traces and not results:
            raise self._wrong(where, "has neither traces nor results")
        return Recorded(traces, results, Revision(revision) if revision else None)

    def _declarations(self, table: Mapping[str, Any]) -> Iterator[Declaration]:
        for kind in DeclarationKind:
            where = f"audit.{kind}"
            for entry in self._entries(table, kind):
                declaration = Declaration(
                    kind,
                    self._text(entry, "reason", where, None),
                    self._texts(entry, "clauses", where),
                    self._texts(entry, "capabilities", where),
                )
                self._covers_something(declaration, where)
                yield declaration

    def _covers_something(self, declaration: Declaration, where: str) -> None:
        if not declaration.ids and not declaration.capabilities:
            raise self._wrong(where, "has neither clauses nor capabilities")
        ids, conditions = _registered()
        for word in declaration.ids:
            if not any(id_ == word or id_.startswith(f"{word}-") for id_ in ids):
                wrong = f"no clause or rule is or begins with {word}"
                raise self._wrong(where, wrong, did_you_mean(word, ids))
        for name in declaration.capabilities:
            if not any(covers_capability(name, condition) for condition in conditions):
                hint = f"Conditions of clauses: {', '.join(sorted(conditions))}."
                raise self._wrong(where, f"no clause depends on the capability {name}", hint)

    def _revisions(self, table: Mapping[str, Any]) -> list[Revision]:
        given = self._texts(table, "revisions", "audit") or (Revision.LEGACY,)
        for word in given:
            if word not in list(Revision):
                raise self._wrong("audit.revisions", f"{word!r} is none", f"{', '.join(Revision)}.")
        return sorted({Revision(word) for word in given})

    def _entries(self, table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """The tables of one key, which may be a single table or several."""
        given = table.get(key, [])
        entries = [given] if isinstance(given, dict) else given
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            raise self._wrong(f"audit.{key}", "is no table", f"Begin one with [[audit.{key}]].")
        for entry in entries:
            self._known(entry, _EVIDENCE.get(key, _DECLARATION), f"audit.{key}")
        return entries

    def _known(self, table: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
        for key in table:
            if key not in keys:
                near = did_you_mean(key, keys) or f"Keys: {', '.join(keys)}."
                raise self._wrong(where, f"has an unknown key {key!r}", near)

    def _text(self, table: Mapping[str, Any], key: str, where: str, default: str | None) -> str:
        value = table.get(key, default)
        if value is None:
            raise self._wrong(where, f"has no {key}")
        if not isinstance(value, str) or (key in table and not value.strip()):
            raise self._wrong(f"{where}.{key}", f"is {value!r}", "It must be a string.")
        return value

    def _texts(
        self, table: Mapping[str, Any], key: str, where: str, *, required: bool = False
    ) -> tuple[str, ...]:
        value = table.get(key, [])
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
            raise self._wrong(f"{where}.{key}", f"is {value!r}", "It must be a list of strings.")
        if required and not values:
            raise self._wrong(where, f"has no {key}")
        return tuple(values)

    def _choice(
        self, table: Mapping[str, Any], key: str, where: str, choices: tuple[str, ...], usual: Any
    ) -> str:
        value = self._text(table, key, where, usual)
        if value not in choices:
            due = " or ".join(choice for choice in choices if choice)
            raise self._wrong(f"{where}.{key}", f"is {value!r}", f"It must be {due}.")
        return value

    def _wrong(self, where: str, what: str, hint: str = "") -> ConfigError:
        return ConfigError(f"{self._source}: {where} {what}", hint)


def _registered() -> tuple[tuple[str, ...], frozenset[str]]:
    """The ids of all clauses and rules, and the conditions of the clauses."""
    clauses = [c for revision in Revision for c in registry.clauses(revision).values()]
    conditions = frozenset(c.condition for c in clauses if c.condition is not None)
    return (*registry.rules(), *(clause.id for clause in clauses)), conditions
