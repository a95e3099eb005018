"""Recorded stdio sessions sent again: coined values are rebound, answers compared."""

from __future__ import annotations

import pytest

from clausewise.core.errors import NothingJudgedError, TargetError
from clausewise.core.vocabulary import Direction
from clausewise.replay.run import ReplayOptions
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioTarget, open_process
from tests.replay.sessions import HELLO, coined_session, coining, is_response, line, replayed

pytestmark = pytest.mark.anyio


async def test_a_session_replayed_on_its_server_is_answered_as_recorded() -> None:
    recorded = await coined_session()
    result, events = await replayed(recorded, coining())
    assert [(a.title, a.differences) for a in result.answers] == [
        ("initialize", ()), ("tools/list", ()), ("tools/list", ()), ("tools/call", ()),
        ("tasks/get", ()),
    ]  # fmt: skip
    assert result.notes == ()
    sent = [e for e in events if e.direction is Direction.CLIENT_TO_SERVER and e.payload]
    assert [event.payload.get("method") for event in sent] == [
        "initialize", "notifications/initialized", "tools/list", "tools/list", "tools/call", None,
        "tasks/get",
    ]  # fmt: skip


async def test_request_ids_stay_and_what_needs_no_rebinding_goes_out_byte_for_byte() -> None:
    recorded = await coined_session()
    _, events = await replayed(recorded, coining())

    def texts(trace: tuple[Event, ...]) -> list[bytes | None]:
        return [
            event.text
            for event in trace
            if event.kind is EventKind.MESSAGE and event.direction is Direction.CLIENT_TO_SERVER
        ]

    assert texts(events)[:3] == texts(recorded)[:3]


async def test_an_answer_that_differs_tells_where() -> None:
    result, _ = await replayed(await coined_session(), coining("--renamed"))
    differing = [answer for answer in result.answers if answer.differences]
    assert [(answer.title, answer.differences) for answer in differing] == [
        ("tools/list", ('/result/tools/0/name: "tool" → "other"',))
    ]


async def test_a_server_that_does_not_ask_again_gets_no_answer_to_it() -> None:
    result, events = await replayed(await coined_session(), coining("--asks-not"))
    assert result.notes == ("the server did not ask again what the client answers here",)
    differing = [answer for answer in result.answers if answer.differences]
    assert [answer.title for answer in differing] == ["tools/call"]
    assert not any(
        is_response(event) and event.direction is Direction.CLIENT_TO_SERVER for event in events
    )


async def test_a_request_that_the_recording_lacks_is_answered_by_an_error_and_told() -> None:
    result, events = await replayed(await coined_session(), coining("--asks-more"))
    assert result.notes == (
        "the server asked sampling/createMessage, which it did not in the recording",
    )
    answers = [e for e in events if e.direction is Direction.CLIENT_TO_SERVER and is_response(e)]
    assert sorted("error" in answer.payload for answer in answers) == [False, True]


async def test_a_server_that_falls_silent_is_not_waited_for_at_each_step() -> None:
    silent = StdioTarget(("cat", "/dev/null"))
    result, _ = await replayed(await coined_session(), silent)
    assert {answer.differences for answer in result.answers} == {("no answer came",)}


async def test_a_replay_ends_in_its_time() -> None:
    tape = Tape()
    async with open_process(coining(), tape) as process:
        await process.send(line(id=1, method="initialize", params=HELLO), until=is_response)
    hanging = StdioTarget(("sleep", "60"))
    options = ReplayOptions(Limits(answer_s=30, exit_s=0.1), total_s=0.2)
    result, _ = await replayed(tape.events, hanging, options)
    assert result.notes == ("the replay was cut off after 0.2 s",)
    assert [answer.differences for answer in result.answers] == [("no answer came",)]


async def test_a_command_that_does_not_exist_is_told() -> None:
    with pytest.raises(TargetError, match="clausewise-no-such-command"):
        await replayed(await coined_session(), StdioTarget(("clausewise-no-such-command",)))


async def test_a_recording_without_a_client_cannot_be_replayed() -> None:
    recorded = await coined_session()
    answers = tuple(e for e in recorded if e.direction is Direction.SERVER_TO_CLIENT)
    with pytest.raises(NothingJudgedError, match="no message of a client"):
        await replayed(answers, coining())
