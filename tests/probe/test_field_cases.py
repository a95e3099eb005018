"""Traps that public reports about 2026-07-28 servers set for a checker."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Outcome
from tests.probe.fake_server import Reply, Request
from tests.probe.running import probe_fake
from tests.probe.site import Guarded, Page
from tests.probe.test_authorization import AT_PATH, RESOURCE, RIGHT, SERVER, outcomes, probed

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
BAD = {"name": "bad", "inputSchema": None}
RULE = "MCP-SCH-006"


def empty_then_last(request: Request, reply: Reply) -> Reply:
    """The first page's cursor is the empty string; the page behind it has the fault."""
    if request.method != "tools/list":
        return reply
    if request.params.get("cursor") == "":
        return reply.with_result(tools=[BAD], nextCursor=...)
    return reply.with_result(tools=[GOOD], nextCursor="")


def empty_for_ever(request: Request, reply: Reply) -> Reply:
    if request.method != "tools/list":
        return reply
    return reply.with_result(tools=[GOOD], nextCursor="")


def test_the_page_behind_an_empty_cursor_is_read() -> None:
    (finding,) = probe_fake(empty_then_last, RULE)[RULE].findings
    assert (finding.severity, "bad" in finding.message) == (Outcome.FAIL, True)


def test_an_empty_cursor_for_ever_ends_the_walk_without_a_pass() -> None:
    assert probe_fake(empty_for_ever, RULE)[RULE].outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("place", "outcome"),
    [
        ("/.well-known/oauth-authorization-server/tenant", Outcome.PASS),
        ("/.well-known/openid-configuration/tenant", Outcome.PASS),
        ("/tenant/.well-known/openid-configuration", Outcome.PASS),
        ("/tenant/.well-known/oauth-authorization-server", Outcome.FAIL),
        ("/.well-known/oauth-authorization-server", Outcome.FAIL),
    ],
)
@pytest.mark.parametrize("issuer", ["{origin}/tenant", "{origin}/tenant/"])
def test_the_path_of_an_issuer_decides_where_its_metadata_is(
    issuer: str, place: str, outcome: Outcome
) -> None:
    resource = {**RESOURCE, "authorization_servers": [issuer]}
    pages = {AT_PATH: Page(value=resource), place: Page(value={**SERVER, "issuer": issuer})}
    assert outcomes(probed(Guarded(RIGHT.refusal, pages)))[4] is outcome
