"""Turn the edited TOML into the compact JSON that is read at run time.

    python -m clausewise.registry.compile          write data/compiled/
    python -m clausewise.registry.compile --check  say whether it is fresh, write nothing

Exit status 1 says that a compiled file is stale, 2 that the TOML breaks its contract.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from clausewise.core.errors import ConfigError, ExitCode
from clausewise.core.vocabulary import Revision
from clausewise.registry.loading import COMPILED
from clausewise.registry.records import Clause, Rule
from clausewise.registry.source import DATA, Record, Section, read_clauses, read_rules, titles


def compiled_files(data: Path = DATA) -> dict[str, bytes]:
    """The content of every compiled file by name, made from the TOML under `data`.

    Raises:
        ConfigError: the TOML breaks the registry's contract.
    """
    files = {"rules.json": _document(read_rules(data), _rule_row)}
    for revision in Revision:
        sections = read_clauses(data, revision)
        if sections:
            files[f"clauses-{revision.value}.json"] = _document(sections, _clause_row)
    return files


def stale_files(data: Path = DATA, compiled: Path = COMPILED) -> list[str]:
    """Names of the compiled files that are missing, outdated or no longer made."""
    due = compiled_files(data)
    present = {path.name: path.read_bytes() for path in compiled.glob("*.json")}
    return sorted(name for name in due.keys() | present if due.get(name) != present.get(name))


def write_files(data: Path = DATA, compiled: Path = COMPILED) -> None:
    """Bring `compiled` up to date with `data`, removing files that are no longer made."""
    due = compiled_files(data)
    compiled.mkdir(exist_ok=True)
    for path in compiled.glob("*.json"):
        if path.name not in due:
            path.unlink()
    for name, content in due.items():
        (compiled / name).write_bytes(content)


def _document(sections: Sequence[Section[Record]], row: Callable[[Record], list[object]]) -> bytes:
    """One JSON object with one record a line, so that a changed record is a changed line."""
    lines = [orjson.dumps(row(record)) for section in sections for record in section.records]
    head = b'{"titles":' + orjson.dumps(titles(sections)) + b',"rows":[\n'
    return head + b",\n".join(lines) + b"\n]}\n"


def _clause_row(clause: Clause) -> list[object]:
    exclusion = clause.exclusion
    return [
        clause.id,
        clause.level,
        clause.binds,
        clause.condition,
        clause.page,
        clause.anchor,
        clause.start,
        clause.end,
        clause.prefix,
        clause.quote,
        clause.checks,
        None if exclusion is None else [exclusion.type, exclusion.reason],
        clause.beyond,
        clause.probes,
        clause.rules,
    ]


def _rule_row(rule: Rule) -> list[object]:
    return [
        rule.id,
        rule.group,
        rule.title,
        [rule.level, rule.severity],
        [rule.effective_level, rule.effective_severity],
        rule.note,
        rule.page,
        rule.anchor,
        rule.start,
        rule.end,
        rule.prefix,
        rule.needs,
        rule.clauses,
        rule.spec_traced,
        rule.official,
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m clausewise.registry.compile")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    try:
        stale = stale_files()
        if stale and not options.check:
            write_files()
    except ConfigError as error:
        sys.stderr.write(f"{error.message}\n")
        return ExitCode.USAGE
    for name in stale:
        sys.stdout.write(f"{name} {'is stale' if options.check else 'written'}\n")
    return ExitCode.FINDINGS if stale and options.check else ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
