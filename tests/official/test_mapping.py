"""Every check of a required scenario is mapped to what it says about clauses and rules."""

from __future__ import annotations

import re
from functools import cache

import pytest

from clausewise.core.vocabulary import Revision
from clausewise.matrix.evidence.suite_mapping import suite_mapping
from tests.official.suite import SOURCE, Leg, required_scenarios

_SCENARIO = re.compile(r'this\.name=["`](?P<name>[a-z0-9/_.-]+)["`]')
_CHECK = re.compile(r'\bid:["`](?P<id>[a-z][A-Za-z0-9$_-]+)["`],name:')
_NAMED = re.compile(r'["`](?P<id>sep-\d+-[A-Za-z0-9-]+)["`]')
_LOGGED = frozenset(
    {
        "incoming-request",
        "incoming-response",
        "incoming-sse-event",
        "outgoing-request",
        "outgoing-response",
        "outgoing-sse-event",
        "outgoing-stream-close",
        "stream-closed",
    }
)
"""Entries of the suite's log, which have the status INFO only."""


@cache
def regions() -> dict[str, str]:
    """The source text of each scenario, up to where the next one is named."""
    text = SOURCE.read_text(encoding="utf-8")
    starts = [(match.start(), match["name"]) for match in _SCENARIO.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return {name: text[start:end] for (start, name), end in zip(starts, ends, strict=True)}


def checks_in(text: str) -> set[str]:
    found = {match["id"] for pattern in (_CHECK, _NAMED) for match in pattern.finditer(text)}
    return {id_ for id_ in found - _LOGGED if id_ not in regions()}


def mapped(revision: Revision) -> set[str]:
    return {check for checks in suite_mapping(revision).scenarios.values() for check in checks}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("leg", ["server", "client"])
@pytest.mark.parametrize("revision", Revision)
def test_every_required_scenario_is_in_the_mapping(revision: Revision, leg: Leg) -> None:
    mapping = suite_mapping(revision)
    patterns = [name for name in mapping.scenarios if name != "*"]
    for scenario in required_scenarios(leg, revision):
        fitting = [p for p in patterns if re.fullmatch(p.replace("*", ".*"), scenario)]
        assert fitting, scenario
        assert mapping.requires(scenario), scenario


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("leg", ["server", "client"])
@pytest.mark.parametrize("revision", Revision)
def test_every_check_in_the_source_of_a_required_scenario_is_mapped(
    revision: Revision, leg: Leg
) -> None:
    known = mapped(Revision.LEGACY) | mapped(Revision.MODERN)
    found: set[str] = set()
    for scenario in required_scenarios(leg, revision):
        found |= checks_in(regions().get(scenario, ""))
    assert len(found) > 30, "the source is read"
    extension = {id_ for id_ in found if id_.startswith("sep-2640-")}
    assert found - extension <= known


@pytest.mark.usefixtures("installed")
def test_the_checks_of_the_suites_authorization_server_are_mapped() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    begin = text.index("Client requested authorization server metadata")
    shared = text[begin - 200 : text.index("this.name=`auth/basic-cimd`")]
    found = checks_in(shared)
    assert {"token-request", "pkce-code-verifier-sent", "resource-parameter-in-token"} <= found
    for revision in Revision:
        assert found <= mapped(revision)
