"""Traps that public reports about 2026-07-28 servers set for a checker."""

from __future__ import annotations

from clausewise.core.vocabulary import Outcome
from tests.probe.fake_server import Reply, Request
from tests.probe.running import probe_fake

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
