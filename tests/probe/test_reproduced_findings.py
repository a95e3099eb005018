"""The command of a finding shows the fault by itself: it prints what a sound server does not.

One defect for each rule and clause; its findings' commands are run as a user would run them,
by a shell, against the server with the defect and against one without.
"""

from __future__ import annotations

import re
import shlex
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
from clausewise.registry import clauses, rules
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

BOUND_S = 30
AT_A_TIME = 8
TOGETHER = 5
"""How many defects a server has at a time; one that another hides is tried alone."""
ATTEMPTS = 3
SHOWN = 2
"""How many commands of one rule are run."""
CREDENTIALS = "of-somebody"
EITHER_WAY = re.compile(
    r"(?im)^(date|content-length):.*$"
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
def served(era: Era, defects: Sequence[Defect], protected: bool) -> Iterator[Served]:
    names = tuple(defect.name for defect in defects)
    options = ServerOptions(era=era, defects=names, protected=protected)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_runtime(options)) as (url, runtime),
    ):
        tokens = sample_tokens(runtime.wiring.protection) if protected else None
        yield Served(url.rpartition("/")[0], url, tokens)


def first_defects(transport: TransportKind) -> dict[str, Defect]:
    """For each rule and clause the defect that breaks it over `transport`, and least else."""
    found: dict[str, Defect] = {}
    for defect in sorted(list_defects(), key=lambda d: len(d.rules) + len(d.clauses)):
        if transport in defect.transports:
            for name in (*defect.rules, *defect.clauses):
                found.setdefault(name, defect)
    return found


FIRST = first_defects(TransportKind.HTTP)


def first_era(defect: Defect) -> Era:
    return next(era for era in (Era.DUAL, Era.MODERN, Era.LEGACY) if era in defect.eras)


def kind(name: str, defect: Defect) -> tuple[object, ...]:
    """What must be alike for two defects to be tried on one server."""
    is_rule = name in rules()
    passive = is_rule and not isinstance(probes().get(name), Probe)
    return is_rule, passive, first_era(defect).value, defect.protected, defect.credentials


def batches() -> list[tuple[str, ...]]:
    """The rules and clauses in batches whose defects are tried together.

    A batch has rules of several areas, whose defects seldom hide each other.
    """
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, defect in FIRST.items():
        if not is_like_another(name):
            alike.setdefault(kind(name, defect), []).append(name)
    return [
        tuple(names[start :: -(-len(names) // TOGETHER)])
        for names in alike.values()
        for start in range(-(-len(names) // TOGETHER))
    ]


def is_like_another(name: str) -> bool:
    """Whether a clause is judged on the recording alone, and another of its area is tried.

    All these commands are made in one place, from the exchange in which the fault was seen.
    """
    clause = clauses(Revision.LEGACY).get(name)
    if clause is None or clause.probes:
        return False
    first = next(n for n in FIRST if n.rpartition("-")[0] == name.rpartition("-")[0])
    return name != first


def findings_of(
    at: Served, names: Sequence[str], defects: Sequence[Defect]
) -> list[tuple[str, Finding]]:
    """The findings of a check of these rules and clauses, some of each, with their ids."""
    tokens = at.tokens
    supplied = Supplied()
    named = frozenset().union(*(defect.call_tools for defect in defects))
    headers: tuple[tuple[str, str], ...] = ()
    if tokens is not None:
        supplied = Supplied(foreign_token=tokens.foreign, low_scope_token=tokens.low_scope)
        headers = (("Authorization", f"Bearer {tokens.full}"),)
        named = named | {"touch_counter"}
    elif any(defect.credentials for defect in defects):
        headers = (("Authorization", f"Bearer {CREDENTIALS}"),)
    options = check.CheckOptions(
        Selection.of(names, revision=Revision.MODERN if names[0] in rules() else Revision.LEGACY),
        supplied=supplied,
        call_tools=named,
    )
    result = check.run(HttpTarget(at.url, headers), options)
    return [(v.id, finding) for v in result.verdicts for finding in v.findings[:SHOWN]]


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
    status = re.match(r"HTTP (\d{3}),", finding.seen)
    if status is not None and f"HTTP/1.1 {status[1]}" not in broken:
        return f"no status {status[1]}"
    code = re.search(r"error (-\d+)", finding.seen)
    if code is not None and code[1] not in broken:
        return f"no code {code[1]}"
    if EITHER_WAY.sub("", broken) == EITHER_WAY.sub("", sound):
        return "as of a sound server"
    return None


STDIO_COMMAND = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")
ON_STDIO = (
    "MCP-CAC-001",
    "MCP-ERR-001",
    "MCP-ERR-006",
    "MCP-STL-004",
    "CW-RES-001",
    "CW-STD-002",
    "CW-STD-003",
    "BASE-003",
    "BASE-006",
    "PAGE-003",
)
"""A rule of each kind: by its probe, on all traffic, of stdio itself; clauses likewise."""


def unshown(names: Sequence[str]) -> dict[str, str]:
    """What is wrong with the commands of each rule and clause, its defects tried together."""
    defects = list(dict.fromkeys(FIRST[name] for name in names))
    era, protected = first_era(defects[0]), defects[0].protected
    with served(era, defects, protected) as broken, served(era, (), protected) as sound:
        found = findings_of(broken, names, defects)
        wrong = {name: "no finding" for name in names if name not in dict(found)}

        def tried(one: tuple[str, Finding]) -> tuple[str, str | None]:
            name, finding = one
            command = finding.reproduce
            if command is None:
                return name, "no command"
            ours = command.replace(broken.origin, sound.origin)
            outputs = shell(command, broken.tokens), shell(ours, sound.tokens)
            why = shows(finding, *outputs)
            return name, why and f"{why}: {finding.message}\n{command}\n{outputs[0]}"

        with ThreadPoolExecutor(AT_A_TIME) as pool:
            outcomes = list(pool.map(tried, found))
    return wrong | {name: why for name, why in outcomes if why is not None}


def still_unshown(name: str) -> str | None:
    """What is wrong with the commands of a rule or clause, each time it is tried by itself.

    A tool that is slow enough on an idle machine may not be on a busy one.
    """
    why = None
    for _ in range(ATTEMPTS):
        why = unshown([name]).get(name)
        if why is None:
            return None
    return why


@pytest.mark.parametrize("names", batches(), ids=lambda names: names[0])
def test_the_command_of_a_finding_shows_it_over_http(names: tuple[str, ...]) -> None:
    alone = {name: still_unshown(name) for name in unshown(names)}
    unexpected = [f"{name}: {why}" for name, why in alone.items() if why is not None]
    assert not unexpected, "\n\n".join(unexpected)


@pytest.mark.parametrize("name", ON_STDIO)
def test_the_command_of_a_finding_shows_it_on_stdio(name: str) -> None:
    defect = first_defects(TransportKind.STDIO)[name]
    sound = (*STDIO_COMMAND, "--era", first_era(defect).value)
    broken = (*sound, "--defect", defect.name)
    revision = Revision.MODERN if name in rules() else Revision.LEGACY
    options = check.CheckOptions(Selection.of([name], revision=revision))
    result = check.run(StdioTarget(broken, cwd=str(ROOT)), options)
    finding = next(finding for verdict in result.verdicts for finding in verdict.findings)
    command = finding.reproduce
    assert command is not None
    ours = command.replace(" ".join(map(shlex.quote, broken)), " ".join(map(shlex.quote, sound)))
    assert ours != command
    output = shell(command, None)
    assert shows(finding, output, shell(ours, None)) is None, f"{command}\n{output}"
