"""The command of a finding shows the fault by itself: it prints what a sound server does not.

One defect for each rule and clause; its findings' commands are run as a user would run them,
by a shell, against the server with the defect and against one without.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from anyio.from_thread import start_blocking_portal

from clausewise.app import check
from clausewise.app.selection import Selection
from clausewise.core.results import Finding
from clausewise.core.vocabulary import Era, Revision, TransportKind
from clausewise.probe.registration import Probe, probes
from clausewise.probe.supplied import Supplied
from clausewise.reference.auth.protect import SampleTokens, sample_tokens
from clausewise.reference.defects import Defect, list_defects
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_runtime
from clausewise.registry import rules
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

BOUND_S = 30
AT_A_TIME = 8
TOGETHER = 5
"""How many defects a server has at a time; one that another hides is tried alone."""
SHOWN = 2
"""How many commands of one rule are run."""
CREDENTIALS = "of-somebody"
EITHER_WAY = re.compile(
    r"(?im)^(date|mcp-session-id|content-length|last-event-id):.*$"
    r"|127\.0\.0\.1:\d+|\d{4}-\d\d-\d\dT[\d:.]+Z?|[\w+/=-]{20,}"
)
"""What differs between two runs of a sound server, too."""


@dataclass(frozen=True, slots=True)
class Served:
    """A running server, and the tokens that it would take."""

    origin: str
    url: str
    tokens: SampleTokens | None


@contextmanager
def served(era: Era, defects: Sequence[Defect]) -> Iterator[Served]:
    protected = any(defect.protected for defect in defects)
    names = tuple(defect.name for defect in defects)
    options = ServerOptions(era=era, defects=names, protected=protected)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_runtime(options)) as (url, runtime),
    ):
        protection = runtime.wiring.protection
        yield Served(
            url.rpartition("/")[0], url, sample_tokens(protection) if protected else None
        )


def first_defects(transport: TransportKind) -> dict[str, Defect]:
    """For each rule and clause the first defect that breaks it over `transport`."""
    found: dict[str, Defect] = {}
    for defect in list_defects():
        if transport in defect.transports:
            for name in (*defect.rules, *defect.clauses):
                found.setdefault(name, defect)
    return found


def kind(name: str, defect: Defect) -> tuple[object, ...]:
    """What must be alike for two defects to be tried on one server."""
    is_rule = name in rules()
    passive = is_rule and not isinstance(probes().get(name), Probe)
    era = next(e for e in (Era.DUAL, Era.MODERN, Era.LEGACY) if e in defect.eras)
    return is_rule, passive, era.value, defect.protected, defect.credentials


def batches() -> Iterator[tuple[str, ...]]:
    """The rules and clauses in batches whose defects are tried together."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, defect in first_defects(TransportKind.HTTP).items():
        alike.setdefault(kind(name, defect), []).append(name)
    for names in alike.values():
        for start in range(0, len(names), TOGETHER):
            yield tuple(names[start : start + TOGETHER])


FIRST = first_defects(TransportKind.HTTP)


def findings_of(at: Served, names: Sequence[str], defects: Sequence[Defect]) -> list[Finding]:
    """The findings of a check of these rules and clauses, some of each."""
    tokens = at.tokens
    supplied, headers = Supplied(), ()
    if tokens is not None:
        supplied = Supplied(foreign_token=tokens.foreign, low_scope_token=tokens.low_scope)
        headers = (("Authorization", f"Bearer {tokens.full}"),)
    elif any(defect.credentials for defect in defects):
        headers = (("Authorization", f"Bearer {CREDENTIALS}"),)
    options = check.CheckOptions(
        Selection.of(names, revision=Revision.MODERN if names[0] in rules() else Revision.LEGACY),
        supplied=supplied,
        call_tools=frozenset().union(*(defect.call_tools for defect in defects)),
    )
    result = check.run(HttpTarget(at.url, headers), options)
    return [finding for verdict in result.verdicts for finding in verdict.findings[:SHOWN]]


def shell(command: str, tokens: SampleTokens | None) -> str:
    """What a command prints; tokens are in the variables that it names."""
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TOKEN": CREDENTIALS}
    if tokens is not None:
        variables |= {
            "TOKEN": tokens.full,
            "FOREIGN_TOKEN": tokens.foreign,
            "LOW_SCOPE_TOKEN": tokens.low_scope,
        }
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=variables,
        timeout=BOUND_S,
        check=False,
        cwd=ROOT,
    )
    return done.stdout.decode("utf-8", "replace")


def shows(finding: Finding, broken: str, sound: str) -> str | None:
    """Why the outputs do not show the fault, or None."""
    status = re.search(r"HTTP (\d{3})", finding.seen)
    if status is not None and f"HTTP/1.1 {status[1]}" not in broken:
        return f"no status {status[1]}"
    code = re.search(r"error (-\d+)", finding.seen)
    if code is not None and code[1] not in broken:
        return f"no code {code[1]}"
    if EITHER_WAY.sub("", broken) == EITHER_WAY.sub("", sound):
        return "as of a sound server"
    return None


def failures(defects: Sequence[Defect], names: Sequence[str]) -> tuple[set[str], list[str]]:
    """The rules and clauses without a finding, and the commands that do not show theirs."""
    era = next(e for e in (Era.DUAL, Era.MODERN, Era.LEGACY) if e in defects[0].eras)
    alike = [d for d in (defects[0],) if d.protected]
    with served(era, defects) as broken, served_sound(era, protected=bool(alike)) as sound:
        found = findings_of(broken, names, defects)
