"""The whole against itself: the reference server is right, and each defect trips what it names.

Every case is a full `check` with every probe and every check on.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from anyio.from_thread import start_blocking_portal

from clausewise.app import check
from clausewise.core.results import RunResult
from clausewise.core.vocabulary import Era, Outcome, TransportKind
from clausewise.probe.supplied import Supplied
from clausewise.reference.auth.protect import sample_tokens
from clausewise.reference.defects import Defect, list_defects
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http, serve_runtime
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


PROTECTED = [defect for defect in list_defects() if defect.protected]


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


def check_protected(era: Era, defects: tuple[str, ...] = (), *, with_token: bool) -> RunResult:
    """A protected server, met with all that its rules need."""
    options = ServerOptions(era=era, defects=defects, protected=True)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_runtime(options)) as (url, runtime),
    ):
        tokens = sample_tokens(runtime.wiring.protection)
        headers = (("Authorization", f"Bearer {tokens.full}"),) if with_token else ()
        supplied = Supplied(foreign_token=tokens.foreign, low_scope_token=tokens.low_scope)
        asked = replace(OPTIONS, supplied=supplied, call_tools=frozenset({"touch_counter"}))
        return check.run(HttpTarget(url, headers), asked)


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


@pytest.mark.parametrize("era", list(Era))
def test_the_right_protected_server_gives_no_finding_to_who_has_a_token(era: Era) -> None:
    result = check_protected(era, with_token=True)
    assert broken(result) == {}
    assert result.era is era
    outcomes = {v.id: v.outcome for v in result.verdicts}
    assert Outcome.INCONCLUSIVE not in outcomes.values()
    if era.has_modern:
        about_tokens = {o for name, o in outcomes.items() if name.startswith("MCP-AUT-")}
        assert about_tokens == {Outcome.PASS}


@pytest.mark.parametrize("era", list(Era))
def test_without_a_token_a_protected_server_is_judged_by_its_refusal_alone(era: Era) -> None:
    result = check_protected(era, with_token=False)
    assert broken(result) == {}
    assert result.era is None
    passed = {v.id for v in result.verdicts if v.outcome is Outcome.PASS}
    assert passed == {f"MCP-AUT-{number:03}" for number in range(1, 12)} - {"MCP-AUT-007"}
    others = {v.reason for v in result.verdicts if v.outcome is Outcome.INCONCLUSIVE}
    assert len(others) == 1
    assert "--bearer" in (others.pop() or "")


@pytest.mark.parametrize("defect", PROTECTED, ids=lambda defect: defect.name)
def test_a_defect_of_a_protected_server_shows_to_who_has_no_token_too(defect: Defect) -> None:
    """All but too little scope, which shows on a tool that only the right token lists."""
    found = broken(check_protected(Era.DUAL, (defect.name,), with_token=False))
    assert found.keys() == {*defect.rules} - {"MCP-AUT-007"}, found


@pytest.mark.parametrize(("defect", "era", "transport"), CASES)
def test_a_defect_trips_exactly_what_it_names(
    defect: Defect, era: Era, transport: TransportKind
) -> None:
    if defect.protected:
        result = check_protected(era, (defect.name,), with_token=True)
    else:
        headers = CREDENTIALS if defect.credentials else ()
        result = check_reference(era, transport, (defect.name,), headers)
    found = broken(result)
    named = {*(defect.rules if era.has_modern else ()), *(defect.clauses if era.has_legacy else ())}
    assert found.keys() == named, found
