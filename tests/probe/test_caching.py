"""Rules CAC-001 to CAC-005: each fires on its defect alone, and on nothing that is right."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Outcome
from tests.probe.fault_making import CACHEABLE
from tests.probe.observing import (
    CONFORMING,
    STDIO,
    Differences,
    changed,
    observe,
    outcomes,
    verdict,
)

FAIL, WARN = Outcome.FAIL, Outcome.WARN
INCONCLUSIVE, NOT_OBSERVED = Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED
NOT_APPLICABLE = Outcome.NOT_APPLICABLE

UNDECIDED: Differences = {"MCP-CAC-001": INCONCLUSIVE, "MCP-CAC-002": INCONCLUSIVE}

CASES: dict[str, Differences] = {
    **{f"no-ttl {method}": {"MCP-CAC-001": FAIL} for method in CACHEABLE},
    **{f"no-scope {method}": {"MCP-CAC-002": FAIL} for method in CACHEABLE},
    "no-ttl on page 2": {"MCP-CAC-001": FAIL},
    "no-scope on page 2": {"MCP-CAC-002": FAIL},
    "bad-scope on page 2": {"MCP-CAC-003": FAIL},
    "hints-in-meta": {"MCP-CAC-001": FAIL},
    "templates-not-offered": {},
    "templates-broken": UNDECIDED,
    "read-asks": UNDECIDED,
    "no-resource-listed": {},
    "scope 'Public'": {"MCP-CAC-003": FAIL},
    "scope 'shared'": {"MCP-CAC-003": FAIL},
    "scope None": {"MCP-CAC-003": FAIL},
    "scope True": {"MCP-CAC-003": FAIL},
    "ttl -1": {"MCP-CAC-004": FAIL},
    "ttl '300000'": {"MCP-CAC-004": FAIL},
    "ttl 1.5": {"MCP-CAC-004": FAIL},
    "ttl True": {"MCP-CAC-004": FAIL},
    "ttl None": {"MCP-CAC-004": FAIL},
    "ttl 0": {},
    "ttl 300000.0": {},
    f"ttl {10**30}": {},
    "no-hints": {
        "MCP-CAC-001": FAIL,
        "MCP-CAC-002": FAIL,
        "MCP-CAC-003": NOT_APPLICABLE,
        "MCP-CAC-004": NOT_APPLICABLE,
    },
}

SPELT_OVER_HTTP: dict[str, Differences] = {"ttl 1e3": {}}

ON_STDIO = ("no-ttl on page 2", "no-scope tools/list", "scope 'Public'", "ttl 1.5", "no-hints")


@pytest.mark.parametrize("fault", [*CASES, *SPELT_OVER_HTTP])
def test_over_http_a_fault_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault) == {**CASES, **SPELT_OVER_HTTP}[fault]


@pytest.mark.parametrize("fault", ON_STDIO)
def test_over_stdio_a_fault_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault, STDIO) == CASES[fault]


def test_each_operation_without_hints_is_a_finding() -> None:
    found = verdict(observe("no-hints"), "MCP-CAC-001")
    assert {finding.message for finding in found.findings} == {
        f"the result of {method} has no ttlMs" for method in CACHEABLE
    }


def test_a_fraction_is_said_to_be_no_integer() -> None:
    (finding,) = verdict(observe("ttl 1.5"), "MCP-CAC-004").findings
    assert "integer" in finding.message
    assert finding.seen == "ttlMs 1.5"


def test_a_public_result_that_depends_on_the_caller_is_warned_about() -> None:
    seen = observe("by-caller public", token="a")
    assert outcomes(seen)["MCP-CAC-005"] is WARN
    (finding,) = verdict(seen, "MCP-CAC-005").findings
    assert "tools/list" in finding.message


def test_a_private_result_may_depend_on_the_caller() -> None:
    assert outcomes(observe("by-caller private", token="a"))["MCP-CAC-005"] is Outcome.PASS


def test_a_public_result_of_an_authorized_endpoint_is_fine_when_all_get_the_same() -> None:
    seen = observe(None, token="a")
    assert outcomes(seen) == CONFORMING | {"MCP-CAC-005": NOT_OBSERVED}


def test_a_result_that_changes_by_itself_does_not_show_who_may_see_it() -> None:
    assert outcomes(observe("by-time public", token="a"))["MCP-CAC-005"] is INCONCLUSIVE


def test_where_only_the_holder_of_the_token_is_served_there_is_one_principal() -> None:
    seen = observe("token-wanted", token="a")
    assert outcomes(seen)["MCP-CAC-005"] is NOT_APPLICABLE
    assert "one principal" in str(verdict(seen, "MCP-CAC-005").reason)


def test_without_a_token_nobody_can_be_told_apart() -> None:
    assert outcomes(observe("by-caller public"))["MCP-CAC-005"] is NOT_APPLICABLE
