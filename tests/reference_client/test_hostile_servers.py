"""Whatever a server sends, the client comes to an end, and says what happened."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Era
from clausewise.reference.client.run import Audience, ClientOptions, run_client
from clausewise.reference.client.script.step import StepResult
from clausewise.reference.http_layer import HttpExchange
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget
from tests.reference_client.driving import LEGACY, MODERN, drive_scripted
from tests.reference_client.scripted import (
    DISCOVERED,
    INITIALIZED,
    Act,
    Json,
    Scripted,
    give,
    serving,
    stream,
)

ALL = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True},
    "prompts": {},
    "completions": {},
    "logging": {},
    "tasks": {"list": {}, "requests": {"tools": {"call": {}}}},
}
METHODS = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "tools/call",
    "prompts/get",
    "resources/read",
    "completion/complete",
    "resources/subscribe",
    "logging/setLevel",
    "subscriptions/listen",
)
NAMES = [
    *("tools", "prompts", "resources", "resourceTemplates", "nextCursor", "name", "uri"),
    *("uriTemplate", "arguments", "inputSchema", "annotations", "readOnlyHint", "resultType"),
    *("inputRequests", "requestState", "ttlMs", "content", "properties", "type", "required"),
    *("x-mcp-header", "task", "execution", "taskSupport"),
]
WORDS = ["", "input_required", "complete", "object", "string", "required", "a://{b}"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=20,
)


def opening(era: Era) -> dict[str, Act]:
    if era is Era.LEGACY:
        return {"initialize": give({**INITIALIZED, "capabilities": ALL}), "ping": give({})}
    return {"server/discover": give({**DISCOVERED, "capabilities": ALL})}


async def toured(server: Scripted, era: Era) -> list[StepResult]:
    results: list[StepResult] = []
    async with serving(server) as url:
        with anyio.fail_after(20):
            options = ClientOptions(era, seconds=1.0)
            await run_client(HttpTarget(url), options, Tape(), Audience(results.append))
    return results


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
@given(values=st.lists(VALUES, min_size=len(METHODS), max_size=len(METHODS)))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_results_of_any_kind_are_survived(era: Era, values: list[Any]) -> None:
    acts = {method: give(value) for method, value in zip(METHODS, values, strict=True)}
    results = anyio.run(toured, Scripted({**opening(era), **acts}), era)
    assert results


CALL = '[[step]]\ndo = "call"\ntool = "t"\nwithin = 1.0\n'
DONE = {"content": [{"type": "text", "text": "done"}]}


def raw(data: bytes) -> Act:
    async def act(exchange: HttpExchange, _message: Json) -> None:
        exchange.keep_alive = False
        exchange.started = True
        await exchange.send_raw(data)

    return act


HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "act",
    [
        raw(b""),
        raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
        raw(HEAD + b"Content-Length: 5\r\n\r\n{}"),
        raw(HEAD + b'Content-Length: 7\r\n\r\n{"a": 1'),
        raw(HEAD + b"X: " + b"x" * 200_000 + b"\r\n\r\n"),
        raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        raw(HEAD + b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000),
        raw(HEAD + b"Content-Length: 3\r\n\r\n\xff\xfe\xfd"),
        raw(HEAD + b"Content-Length: 2\r\n\r\n[]"),
        stream(b"data: " + b"x" * 1000 + b"\n\n", b"event: odd\ndata: {}\n\n", b"id: \x00\n\n"),
        stream(b"retry: 99999999999999\ndata\n\n"),
        stream(*([{"jsonrpc": "2.0", "id": "other", "result": {}}] * 50)),
        stream(*([{"jsonrpc": "2.0", "method": "notifications/message"}] * 500)),
        stream([1, 2, 3]),  # type: ignore[arg-type]
        stream({"jsonrpc": "2.0", "id": "$id"}),
        stream({"jsonrpc": "2.0", "id": "$id", "error": "text"}),
        stream({"jsonrpc": "2.0", "id": "$id", "error": {"code": [], "data": {"elicitations": 7}}}),
    ],
)
@pytest.mark.parametrize("options", [LEGACY, MODERN], ids=["legacy", "modern"])
def test_an_answer_that_is_none_is_told_and_the_session_goes_on(
    options: ClientOptions, act: Act
) -> None:
    era = options.era
    tools = give({"resultType": "complete", "tools": []})
    server = Scripted({**opening(era), "tools/list": tools, "tools/call": [act, give(DONE)]})
    first, second = drive_scripted(server, CALL + CALL, options)
    assert first.complaints
    assert second.complaints == ()


@pytest.mark.parametrize(
    "act",
    [
        give(None),
        give([]),
        give({"protocolVersion": []}),
        give({"resultType": 7}),
        raw(b"nonsense\r\n\r\n"),
        raw(b""),
    ],
)
def test_an_opening_that_is_none_is_told(act: Act) -> None:
    server = Scripted({"server/discover": act, "initialize": act})
    with pytest.raises(TargetError):
        drive_scripted(server, CALL, ClientOptions(seconds=1.0))
