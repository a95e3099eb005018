"""Traps that public reports about 2026-07-28 servers set for a checker."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Outcome
from clausewise.probe.options import ProbeOptions
from clausewise.transport.targets import HttpTarget
from tests.probe import fake_server
from tests.probe.fake_server import PREFIX, SSE_TYPE, Fault, Reply, Request
from tests.probe.running import LIMITS, probe_fake, probe_target, process
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


PASS, WARN, FAIL = Outcome.PASS, Outcome.WARN, Outcome.FAIL


def ids_through(change: Callable[[Any], Any]) -> Fault:
    """A server that makes something else of each request's id."""

    def changed(request: Request, reply: Reply) -> Reply:
        if not reply.messages or "id" not in reply.response:
            return reply
        return reply.with_response(reply.response | {"id": change(request.id)})

    return changed


def numbers_in_text(id_: Any) -> Any:
    return int(id_) if isinstance(id_, str) and id_.isdigit() else id_


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        pytest.param(numbers_in_text, FAIL, id="3: the string 1 becomes a number"),
        pytest.param(lambda id_: 0 if isinstance(id_, str) else id_, FAIL, id="6: a string is 0"),
        pytest.param(lambda id_: "0" if id_ == 0 else id_, FAIL, id="5: 0 becomes a string"),
        pytest.param(
            lambda id_: float(id_) if isinstance(id_, int) else id_,
            PASS,
            id="5: 0 is written 0.0, the same number",
        ),
    ],
)
def test_an_id_comes_back_as_it_went(change: Callable[[Any], Any], outcome: Outcome) -> None:
    assert probe_fake(ids_through(change), "CW-RES-001")["CW-RES-001"].outcome is outcome


POLITE = ("MCP-HDR-00", "MCP-ERR-001", "MCP-ERR-002", "MCP-RES-004", "MCP-STL-00")


def outcomes_of(fault: Fault | None) -> dict[str, Outcome]:
    return {verdict.id: verdict.outcome for verdict in probe_fake(fault, *POLITE).run.verdicts}


def wants_both_types(request: Request, reply: Reply) -> Reply:
    accepted = request.headers.get("accept", "")
    whole = "application/json" in accepted and "text/event-stream" in accepted
    return reply if whole or request.http_method != "POST" else Reply(status=406, headers=())


def with_comments(request: Request, reply: Reply) -> Reply:
    """Each answer is a stream with comments before, between and within its events."""
    if reply.status != 200 or not reply.messages or reply.streams:
        return reply
    text = json.dumps(reply.messages[0], indent=0).split("\n")
    inside = "\n: ping\n".join(f"data: {line}" for line in text)
    raw = f": hello\n\n:\n{inside}\n\n: bye\n\n".encode()
    return Reply(reply.messages, 200, SSE_TYPE, raw)


def test_what_a_client_must_accept_may_be_asked_for_strictly() -> None:
    assert outcomes_of(wants_both_types) == outcomes_of(None)


def test_comments_in_streams_are_no_fault() -> None:
    """Each stream ends its connection, so that nothing shows about a second request on it."""
    changed = {"MCP-STL-004": Outcome.NOT_OBSERVED}
    assert outcomes_of(with_comments) == outcomes_of(None) | changed


def test_a_server_that_refuses_right_requests_is_not_judged_and_is_told_why() -> None:
    async def run() -> str:
        async with fake_server.serve_http(lambda *_: Reply(status=406, headers=())) as url:
            try:
                await probe_target(HttpTarget(url), ProbeOptions(limits=LIMITS))
            except TargetError as error:
                return error.message
        return ""

    assert "does not speak MCP: server/discover got HTTP 406" in anyio.run(run)


def listening(*messages: Any, result: bool = False) -> Fault:
    """A server whose answer to `subscriptions/listen` is these messages, then the id of it."""

    def answered(request: Request, reply: Reply) -> Reply:
        if request.method != "subscriptions/listen":
            return reply
        told = [message(request) if callable(message) else message for message in messages]
        return Reply(tuple(told), headers=SSE_TYPE, stays_open=not result)

    return answered


def acknowledged(request: Request) -> dict[str, Any]:
    wanted = request.params.get("notifications", {})
    granted = {k: v for k, v in wanted.items() if k == "toolsListChanged"}
    return told("subscriptions/acknowledged", request.id, notifications=granted)


def told(method: str, subscription: Any, **params: Any) -> dict[str, Any]:
    meta = {PREFIX + "subscriptionId": subscription}
    return {
        "jsonrpc": "2.0",
        "method": f"notifications/{method}",
        "params": {**params, "_meta": meta},
    }


def changed(request: Request) -> dict[str, Any]:
    return told("tools/list_changed", request.id)


def only_result(request: Request) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request.id, "result": {"resultType": "complete"}}


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (listening(acknowledged), PASS),
        (listening(acknowledged, changed), PASS),
        (listening(changed, acknowledged), FAIL),
        (listening(only_result, result=True), FAIL),
    ],
)
def test_a_subscription_begins_with_its_acknowledgement(fault: Fault, outcome: Outcome) -> None:
    assert probe_fake(fault, "CW-SUB-002")["CW-SUB-002"].outcome is outcome


@pytest.mark.parametrize(
    ("blob", "outcome"),
    [
        ("aGk_", FAIL),
        ("aGkh\r\naGkh", FAIL),
        ("data:text/plain;base64,aGkh", FAIL),
        ("aGk", FAIL),
        ("aGk=", PASS),
        ("", PASS),
    ],
)
def test_a_blob_is_base64_of_the_usual_alphabet_with_its_padding(
    blob: str, outcome: Outcome
) -> None:
    def holds(request: Request, reply: Reply) -> Reply:
        if request.method != "resources/read" or request.params.get("uri") != fake_server.RESOURCE:
            return reply
        return reply.with_result(contents=[{"uri": fake_server.RESOURCE, "blob": blob}])

    assert probe_fake(holds, "CW-RSC-006")["CW-RSC-006"].outcome is outcome


@pytest.mark.parametrize(
    ("mode", "outcome"), [("bannered", FAIL), ("logging_records", FAIL), ("telling_stderr", PASS)]
)
def test_only_messages_may_stand_on_stdout(mode: str, outcome: Outcome) -> None:
    options = ProbeOptions(select=("CW-STD-002",), limits=LIMITS)
    done = anyio.run(probe_target, process(mode), options)
    assert done["CW-STD-002"].outcome is outcome


def test_stdin_stays_open_until_a_late_answer_has_come() -> None:
    options = ProbeOptions(select=("MCP-ERR-002", "MCP-DSC-001"), limits=LIMITS)
    done = anyio.run(probe_target, process("late"), options)
    assert {verdict.outcome for verdict in done.run.verdicts} == {PASS}


@pytest.mark.parametrize(
    ("mode", "outcome"), [("answering_cancelled", WARN), ("crossing", Outcome.INCONCLUSIVE)]
)
def test_only_an_answer_that_cannot_have_crossed_its_cancellation_is_a_fault(
    mode: str, outcome: Outcome
) -> None:
    """A warning only, since the pages of 2026-07-28 differ about it."""
    options = ProbeOptions(select=("CW-STD-003",), limits=LIMITS)
    done = anyio.run(probe_target, process(mode), options)
    assert done["CW-STD-003"].outcome is outcome
