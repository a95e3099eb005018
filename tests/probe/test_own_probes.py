"""Our probes: what they leave to a rule of the list, and what they cannot decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import anyio
import pytest

from clausewise.core.vocabulary import Era, Outcome
from clausewise.probe.run import ProbeOptions
from clausewise.probe.subjects import tour as tour_module
from clausewise.transport.targets import HttpTarget
from tests.probe.fake_server import Fault, Reply, Request, serve_http
from tests.probe.running import LIMITS, meeting, probe_fake, probe_reference, probe_target, process

OPTIONS = ProbeOptions(limits=replace(LIMITS, answer_s=2.0, quiet_s=0.05))
FAIL, PASS = Outcome.FAIL, Outcome.PASS
NOT_OBSERVED, NOT_APPLICABLE = Outcome.NOT_OBSERVED, Outcome.NOT_APPLICABLE

LEFT_TO_ANOTHER: Mapping[str, tuple[str, str]] = {
    "name-header-optional": ("CW-HDR-002", "MCP-HDR-002"),
    "missing-capability-ignored": ("CW-MRT-003", "MCP-ERR-007"),
    "any-capability-will-do": ("CW-ELI-001", "CW-MRT-003"),
    "log-unasked": ("CW-LOG-001", "CW-LOG-002"),
    "output-schema-invalid": ("CW-TOL-003", "MCP-SCH-006"),
}
"""A defect, the rule of ours that it touches, and the rule that tells it."""


@pytest.mark.parametrize("defect", LEFT_TO_ANOTHER)
def test_a_fault_that_another_rule_tells_is_no_occasion(defect: str) -> None:
    rule, teller = LEFT_TO_ANOTHER[defect]
    verdict = probe_reference(Era.MODERN, rule, defects=(defect,))[rule]
    assert verdict.findings == ()
    # Where the server has other occasions of the rule, it keeps it on those.
    assert verdict.outcome is PASS or teller in (verdict.reason or "")


@pytest.mark.parametrize("rule", ["CW-TOL-001", "CW-PRM-001", "CW-RSC-001", "CW-CMP-001"])
def test_without_discovery_nobody_knows_what_is_declared(rule: str) -> None:
    verdict = probe_reference(Era.MODERN, rule, defects=("no-discover",))[rule]
    assert verdict.outcome is NOT_OBSERVED


def test_what_a_server_neither_has_nor_declares_does_not_apply() -> None:
    defects = ("tools-not-discoverable", "tools-list-refused")
    done = probe_reference(Era.MODERN, "CW-TOL", defects=defects)
    assert {verdict.outcome for verdict in done.run.verdicts} == {NOT_APPLICABLE}


def declaring(*names: str) -> Fault:
    """A server that declares these capabilities, without changes, and whose lists are empty."""

    def fault(request: Request, reply: Reply) -> Reply:
        if request.method == "server/discover":
            return reply.with_result(capabilities={name: {} for name in names})
        if request.method == "resources/list":
            return reply.with_result(resources=[])
        return reply

    return fault


def test_an_undeclared_list_that_is_empty_only_warns() -> None:
    done = probe_fake(declaring("tools"), "CW-RSC-001")
    (finding,) = done["CW-RSC-001"].findings
    assert finding.severity is Outcome.WARN


@pytest.mark.parametrize("group", ["CW-SUB", "CW-MRT", "CW-ELI", "CW-STD", "CW-PRG", "CW-LOG"])
def test_our_rules_alone_can_be_asked_for(group: str) -> None:
    done = probe_reference(Era.MODERN, group)
    outcomes = {verdict.outcome for verdict in done.run.verdicts}
    assert outcomes <= {PASS, NOT_OBSERVED, NOT_APPLICABLE}
    assert outcomes != {NOT_OBSERVED}


@pytest.mark.parametrize(
    ("mode", "seen"),
    [("welcoming", "Welcome to the server!"), ("spaced", ""), ("parting", "Goodbye.")],
)
def test_what_is_no_message_on_stdout_is_told_whenever_it_is_written(mode: str, seen: str) -> None:
    options = replace(OPTIONS, select=("CW-STD",))
    done = anyio.run(probe_target, process(mode), options)
    (finding,) = done["CW-STD-002"].findings
    assert finding.seen == repr(seen)
    assert done["CW-STD-001"].outcome is PASS


def test_json_that_is_no_message_is_none_on_stdout() -> None:
    options = replace(OPTIONS, select=("CW-STD",))
    done = anyio.run(probe_target, process("logging_records"), options)
    (finding,) = done["CW-STD-002"].findings
    assert finding.seen == repr('{"level": "info", "msg": "asked"}')


def test_a_server_that_announces_nothing_has_no_subscriptions_to_judge() -> None:
    done = probe_fake(declaring("tools", "resources"), "CW-SUB")
    assert {verdict.outcome for verdict in done.run.verdicts} == {NOT_APPLICABLE}


def test_every_probe_of_ours_gives_findings_with_a_place_and_a_command() -> None:
    for rule, defect in (
        ("CW-HDR-001", "method-header-unmatched"),
        ("CW-RES-001", "numeric-text-id-as-number"),
        ("CW-SUB-001", "unwanted-change"),
        ("CW-MRT-006", "request-state-unverified"),
    ):
        verdict = probe_reference(Era.MODERN, rule, defects=(defect,))[rule]
        assert verdict.findings, rule
        for finding in verdict.findings:
            assert finding.at is not None
            assert (finding.reproduce or "").startswith("curl ")
            assert finding.fix


def test_a_tour_of_a_slow_server_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def visits() -> tuple[int, int]:
        async with serve_http(None) as url, meeting(HttpTarget(url)) as peer:
            await peer.discover()
            all_of_them = len(await tour_module.tour(peer))
        monkeypatch.setattr(tour_module, "TOUR_S", -1.0)
        async with serve_http(None) as url, meeting(HttpTarget(url)) as peer:
            await peer.discover()
            return all_of_them, len(await tour_module.tour(peer))

    whole, cut = anyio.run(visits)
    assert (whole > 3, cut) == (True, 0)
