"""The baseline: findings that are known and do not count, and entries that became stale."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clausewise.core.errors import ConfigError, UsageError
from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.threshold import KnownFindings
from clausewise.report.text import storable
from clausewise.wire.jsontext import JsonTextError, decode

SCHEMA = "clausewise.baseline/1"
_VARIES = re.compile(r"[\w.-]*\d[\w.-]*")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One known finding: the clause or rule, the check that found it, what it said.

    In `message` each word with a digit is `#`: ids, ports and counts vary between runs.
    """

    id: str
    check: str
    message: str


@dataclass(frozen=True, slots=True)
class BaselineMatch:
    """How a run compares with a baseline.

    `known` are the run's findings that the baseline lists. `stale` are the entries whose
    clause or rule was judged without that finding: they can go. An entry whose clause or
    rule was not judged is neither.
    """

    known: KnownFindings
    stale: tuple[Entry, ...]


def match(result: RunResult, entries: Iterable[Entry]) -> BaselineMatch:
    """Compare the findings of `result` with a baseline."""
    listed = frozenset(entries)
    found = [(verdict, finding) for verdict in result.verdicts for finding in verdict.findings]
    seen = {entry_of(verdict, finding) for verdict, finding in found}
    judged = {verdict.id for verdict in result.verdicts if verdict.outcome.is_judgement}
    return BaselineMatch(
        known=frozenset((v.id, f) for v, f in found if entry_of(v, f) in listed),
        stale=tuple(sorted(entry for entry in listed - seen if entry.id in judged)),
    )


def entry_of(verdict: Verdict, finding: Finding) -> Entry:
    """The baseline entry that lists `finding`."""
    return Entry(verdict.id, finding.check, storable(_VARIES.sub("#", finding.message)))


def read(path: Path) -> tuple[Entry, ...]:
    """The entries of a baseline file.

    Raises:
        ConfigError: it cannot be read or is no baseline.
    """
    try:
        record = decode(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot read the baseline {path}: {error.strerror}", _HINT) from None
    except JsonTextError as error:
        raise ConfigError(f"the baseline {path} is no JSON: {error}", _HINT) from None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ConfigError(f"{path} is no {SCHEMA}", _HINT)
    findings = record.get("findings")
    if not isinstance(findings, list):
        raise ConfigError(f"the baseline {path} has no list `findings`", _HINT)
    return tuple(_entry(item, path) for item in findings)


def write(path: Path, result: RunResult) -> int:
    """Write every finding of `result` as a baseline; returns the number of entries.

    Raises:
        UsageError: the file cannot be written.
    """
    entries = sorted({entry_of(v, f) for v in result.verdicts for f in v.findings})
    record = {
        "schema": SCHEMA,
        "findings": [{"id": e.id, "check": e.check, "message": e.message} for e in entries],
    }
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the baseline {path}: {error.strerror}") from None
    return len(entries)


_HINT = "Write one with --write-baseline FILE."


def _entry(item: Any, path: Path) -> Entry:
    members = ("id", "check", "message")
    if not isinstance(item, dict) or not all(isinstance(item.get(m), str) for m in members):
        raise ConfigError(f"the baseline {path} has an entry without {', '.join(members)}", _HINT)
    return Entry(item["id"], item["check"], item["message"])
