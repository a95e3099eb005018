"""The legacy walk keeps 2025-11-25 as a client, whatever the server does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Direction, Era, Party
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.probe import walk as walk_module
from clausewise.probe.conversation.legacy import legacy_session
from clausewise.probe.conversation.legacy_peer import LegacyAcquaintance
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.walk import walk
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http as serve_reference
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.probe.fake_server import SSE_TYPE, Fault, Reply, Request, serve_http
from tests.probe.legacy_replies import SESSION_ID, legacy
from tests.probe.running import BOUND_S, LIMITS, process

SECOND_SESSION = ("initialize", "notifications/initialized")
"""What shows whether the answer to `initialize` is steady."""


async def _walk(target: Target, tape: Tape, call_tools: frozenset[str] = frozenset()) -> None:
    with anyio.fail_after(BOUND_S):
        async with Links(target, tape, LIMITS) as links, legacy_session(links, "legacy") as session:
            await walk(session, links, LegacyAcquaintance(named=call_tools))


def over_http(fault: Fault, call_tools: frozenset[str] = frozenset()) -> Tape:
    tape = Tape()

    async def run() -> None:
        async with serve_http(fault) as url:
            await _walk(HttpTarget(url), tape, call_tools)

    anyio.run(run)
    return tape


def sent(tape: Tape, session: str | None = None) -> list[Any]:
    return [
        event.payload
        for event in tape.events
        if event.kind is EventKind.MESSAGE
        and event.direction is Direction.CLIENT_TO_SERVER
        and session in (None, event.session)
    ]


def methods(tape: Tape) -> list[str]:
    return [message["method"] for message in sent(tape) if "method" in message]


def request_heads(tape: Tape, session: str = "legacy") -> Sequence[Event]:
    heads = (event for event in tape.events if event.fields.get("method") is not None)
    return [head for head in heads if head.session == session]


def simple(request: Request, _right: Reply) -> Reply:
    return legacy(request)


def test_the_walk_asks_everything_that_changes_nothing() -> None:
    assert methods(over_http(simple)) == [
        "initialize",
        "notifications/initialized",
        "ping",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "tools/call",
        "resources/read",
        "resources/read",
        "prompts/get",
        "prompts/get",
        "completion/complete",
        "clausewise/unknown-method",
        *SECOND_SESSION,
    ]


def test_a_tool_is_called_only_with_consent() -> None:
    tools = [m["params"]["name"] for m in sent(over_http(simple)) if m["method"] == "tools/call"]
    assert "look" not in tools
    tape = over_http(simple, frozenset({"look"}))
    tools = [m["params"]["name"] for m in sent(tape) if m["method"] == "tools/call"]
    assert tools[0] == "look"


def test_ids_are_not_used_twice_in_a_session() -> None:
    ids = [message["id"] for message in sent(over_http(simple), "legacy") if "id" in message]
    assert len(ids) == len(set(ids)) == 13


def test_later_requests_carry_the_session_and_the_version() -> None:
    first, *rest = request_heads(over_http(simple), "legacy")
    assert first.header("mcp-session-id") is None
    assert first.header("mcp-protocol-version") is None
    assert {head.header("mcp-session-id") for head in rest} == {SESSION_ID}
    assert {head.header("mcp-protocol-version") for head in rest} == {"2025-11-25"}
    assert (rest[-1].fields["method"], len(rest)) == ("DELETE", 15)


def test_the_second_session_is_ended_too() -> None:
    heads = request_heads(over_http(simple), "legacy-again")
    assert [head.fields["method"] for head in heads] == ["POST", "POST", "DELETE"]


def test_a_request_that_is_not_answered_in_time_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walk_module, "TOOL_S", 0.05)

    def slow(request: Request, _right: Reply) -> Reply | None:
        return None if request.params.get("name") == "look" else legacy(request)

    messages = sent(over_http(slow, frozenset({"look"})))
    (cancelled,) = [m for m in messages if m["method"] == "notifications/cancelled"]
    (called,) = [m for m in messages if m.get("params", {}).get("name") == "look"]
    assert cancelled["params"]["requestId"] == called["id"]
    assert "id" not in cancelled


def test_undeclared_features_are_not_asked_for() -> None:
    def bare(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        return reply.with_result(capabilities={}) if request.method == "initialize" else reply

    assert methods(over_http(bare)) == [
        "initialize",
        "notifications/initialized",
        "ping",
        "clausewise/unknown-method",
        *SECOND_SESSION,
    ]


def test_a_refused_initialize_ends_the_walk() -> None:
    tape = over_http(lambda _, __: Reply(status=400, headers=()))
    assert methods(tape) == ["initialize"]
    assert not [head for head in request_heads(tape) if head.fields["method"] == "DELETE"]


def test_a_request_of_the_server_on_a_stream_is_answered() -> None:
    def asking(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        if request.method != "tools/list":
            return reply
        asks = (
            {"jsonrpc": "2.0", "id": "p", "method": "ping"},
            {"jsonrpc": "2.0", "id": "r", "method": "roots/list"},
        )
        return Reply((*asks, *reply.messages), headers=SSE_TYPE)

    answers = {m["id"]: m for m in sent(over_http(asking)) if "method" not in m}
    assert answers["p"]["result"] == {}
    assert answers["r"]["error"]["code"] == -32601


def test_a_request_that_comes_again_is_answered_once() -> None:
    def asking(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        asks = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        if request.method not in ("tools/list", "prompts/list"):
            return reply
        return Reply((asks, *reply.messages), headers=SSE_TYPE)

    assert len([m for m in sent(over_http(asking)) if "method" not in m]) == 1


def test_what_is_asked_before_the_initialize_result_is_answered_within_the_session() -> None:
    def asking(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        if request.method != "initialize":
            return reply
        asks = {"jsonrpc": "2.0", "id": "r", "method": "roots/list"}
        return Reply((asks, *reply.messages), headers=(*SSE_TYPE, ("mcp-session-id", SESSION_ID)))

    tape = over_http(asking)
    (answer, _) = [m for m in sent(tape) if "method" not in m]  # one in each session
    assert answer["error"]["code"] == -32601
    _, *later = (h for h in request_heads(tape) if h.fields["method"] == "POST")
    assert all(head.header("mcp-session-id") == SESSION_ID for head in later)
    assert all(head.header("mcp-protocol-version") == "2025-11-25" for head in later)


def test_a_request_with_the_id_null_is_left_unanswered() -> None:
    def asking(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        asks = {"jsonrpc": "2.0", "id": None, "method": "ping"}
        if request.method != "tools/list":
            return reply
        return Reply((asks, *reply.messages), headers=SSE_TYPE)

    tape = over_http(asking)
    assert [m for m in sent(tape) if "method" not in m] == []
    assert "clausewise/unknown-method" in methods(tape)


def test_a_request_of_the_server_on_stdio_is_answered_in_between() -> None:
    tape = Tape()
    anyio.run(_walk, process("pinging"), tape)
    answers = [message for message in sent(tape) if "method" not in message]
    pings = [m for m in answers if str(m["id"]).startswith("ping-")]
    others = [m for m in answers if str(m["id"]).startswith("roots-")]
    assert methods(tape)[-1] == "clausewise/unknown-method"
    assert len(pings) == len(others) == 12
    assert all(m["result"] == {} for m in pings)
    assert all(m["error"]["code"] == -32601 for m in others)


def test_a_server_that_dies_in_mid_walk_is_no_crash() -> None:
    tape = Tape()
    anyio.run(_walk, process("exiting"), tape)
    assert methods(tape)[0] == "initialize"


def test_a_server_that_cannot_be_started_is_a_target_error() -> None:
    with pytest.raises(TargetError):
        anyio.run(_walk, StdioTarget(("/nonexistent/server",)), Tape())


@pytest.mark.parametrize("era", [Era.LEGACY, Era.DUAL])
def test_the_walk_itself_keeps_the_specification(era: Era) -> None:
    tape = Tape()

    async def run() -> None:
        async with serve_reference(ServerOptions(era=era)) as url:
            await _walk(HttpTarget(url), tape)

    anyio.run(run)
    result = judge(tape.events, trace="walk", options=JudgeOptions(as_probe=False))
    findings = [finding for verdict in result.verdicts for finding in verdict.findings]
    assert [f.message for f in findings if f.party is Party.CLIENT] == []
    assert any(verdict.outcome.is_judgement for verdict in result.verdicts)
