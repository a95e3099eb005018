"""The whole against itself: the reference server is right, and each defect trips what it names.

Every case is a full `check` with every probe and every check on.
"""

from __future__ import annotations

import sys

import pytest
from anyio.from_thread import start_blocking_portal

from clausewise.app import check
from clausewise.core.results import RunResult
from clausewise.core.vocabulary import Era, Outcome, TransportKind
from clausewise.reference.defects import Defect, list_defects
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.transport.targets import HttpTarget, StdioTarget

BROKEN = (Outcome.FAIL, Outcome.WARN, Outcome.INFO, Outcome.CRASHED)
OPTIONS = check.CheckOptions()
CREDENTIALS = (("Authorization", "Bearer of-somebody"),)

CASES = [
    pytest.param(defect, era, transport, id=f"{defect.name}-{era}-{transport}")
    for defect in list_defects()
    for era in sorted(defect.eras)
    for transport in sorted(defect.transports)
]


def check_reference(
    era: Era,
    transport: TransportKind,
    defects: tuple[str, ...] = (),
    headers: tuple[tuple[str, str], ...] = (),
) -> RunResult:
    if transport is TransportKind.STDIO:
        command = [sys.executable, "-m", "clausewise", "reference", "server", "--stdio"]
        command += ["--era", era.value, *(f"--defect={name}" for name in defects)]
        return check.run(StdioTarget(tuple(command)), OPTIONS)
    with start_blocking_portal() as portal:
        serving = serve_http(ServerOptions(era=era, defects=defects))
        with portal.wrap_async_context_manager(serving) as url:
            return check.run(HttpTarget(url, headers), OPTIONS)


def broken(result: RunResult) -> dict[str, list[str]]:
    return {
        verdict.id: [finding.message for finding in verdict.findings] or [verdict.reason or ""]
        for verdict in result.verdicts
        if verdict.outcome in BROKEN
    }


@pytest.mark.parametrize("era", list(Era))
@pytest.mark.parametrize("transport", list(TransportKind))
def test_the_right_server_gives_no_finding(era: Era, transport: TransportKind) -> None:
    result = check_reference(era, transport)
    assert broken(result) == {}
    assert result.era is era
    inconclusive = {v.id: v.reason for v in result.verdicts if v.outcome is Outcome.INCONCLUSIVE}
    assert inconclusive == {}


@pytest.mark.parametrize(("defect", "era", "transport"), CASES)
def test_a_defect_trips_exactly_what_it_names(
    defect: Defect, era: Era, transport: TransportKind
) -> None:
    headers = CREDENTIALS if defect.credentials else ()
    found = broken(check_reference(era, transport, (defect.name,), headers))
    named = {*(defect.rules if era.has_modern else ()), *(defect.clauses if era.has_legacy else ())}
    assert found.keys() == named, found
