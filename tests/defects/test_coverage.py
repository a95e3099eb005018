"""The right server gives no finding, and nearly everything there is to judge is judged on it."""

from __future__ import annotations

import pytest

from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Outcome
from tests.defects.coverage import LEGS, Leg, Share, subjects, table, undecided
from tests.defects.reference_runs import broken

LISTED = "dual with a server.json"
WITHOUT_SERVER_JSON = {"MCP-REG-001", "MCP-REG-002", "MCP-REG-003", "MCP-REG-004"}
WITHOUT_TOKENS = {"MCP-AUT-007", "MCP-AUT-008"}
BEYOND_LOOPBACK = {
    "MCP-REG-002": "only a registry, or a name server, shows whose a namespace is",
    "MCP-SEC-002": "a server on loopback needs no certificate",
}
"""The rules that no check of a local server decides."""

DECIDING = ("modern with --auth", LISTED)
"""The runs that together decide every rule but those."""


def leg(name: str) -> Leg:
    return next(leg for leg in LEGS if leg.name == name)


def expected_open(name: str, transport_is_http: bool) -> set[str]:
    """The rules that apply to a run and cannot be decided in it, for want of what it was given."""
    if name == LISTED:
        return WITHOUT_TOKENS | {"MCP-REG-002"}
    if "--auth" in name:
        return WITHOUT_SERVER_JSON
    return WITHOUT_SERVER_JSON | WITHOUT_TOKENS if transport_is_http else WITHOUT_SERVER_JSON


@pytest.mark.parametrize("name", [leg.name for leg in LEGS])
def test_the_right_server_gives_no_finding_and_every_rule_that_it_can_be_asked_for_is_decided(
    name: str,
) -> None:
    result = leg(name).run()
    assert broken(result) == {}
    era = name.split()[0]
    assert (result.era is not None, str(result.era)) == (True, era)
    open_ = {
        verdict.id: verdict.reason
        for verdict in subjects(SubjectKind.RULE, result)
        if verdict.outcome in (Outcome.NOT_OBSERVED, Outcome.INCONCLUSIVE)
        and verdict.id.startswith("MCP-")
    }
    if era == "legacy":
        assert open_ == {}
        return
    over_http = "stdio" not in name
    assert open_.keys() - expected_open(name, over_http) == set(), open_


def test_together_the_checks_decide_every_rule_but_those_about_the_world_outside() -> None:
    missing = undecided([leg(name).run() for name in DECIDING])
    rules = {subject: reason for subject, reason in missing.items() if subject.startswith("MCP-")}
    assert rules.keys() == BEYOND_LOOPBACK.keys(), rules


def test_the_table_tells_the_share_that_was_decided_of_what_applies() -> None:
    name = "legacy over stdio"
    result = leg(name).run()
    share = Share.of(subjects(SubjectKind.CLAUSE, result))
    assert (share.decided > 50, share.findings) == (True, 0)
    lines = list(table({name: result}))
    assert len(lines) == 2
    assert f"{share.decided} of  {share.decided + share.open}" in lines[1]
