"""The client with the reference server, where a script has to say more than the workout does."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.client.run import ClientOptions
from clausewise.reference.client.script.reading import parse_script
from clausewise.trace.events import EventKind
from tests.reference_client.playing import Played, play

SLOW = """
[[step]]
do = "call"
name = "slow"
tool = "count_slowly"
arguments = { steps = 20, delayMs = 30 }
progress = true
background = true

[[step]]
do = "wait"
notification = "notifications/progress"
count = 2
"""
RESUMED = """
[[step]]
do = "resume"
of = "slow"
expect = { "/cut" = true }

[[step]]
do = "await"
of = "slow"
expect = { "/result/content/0/text" = "Counted to 20." }
"""
LISTED = '[[step]]\ndo = "list"\nwhat = "tools"\n'
REPORT = """
[[step]]
do = "call"
name = "report"
tool = "compile_report"
arguments = { chapters = 5 }
task = { ttl = 60000 }
expect = { "/result/task/status" = "working" }
"""
FORM = '[answers.form]\naction = "accept"\ncontent = { title = "T" }\n'


def played(source: str, era: Era, transport: TransportKind) -> Played:
    found = play(ClientOptions(era, parse_script(source)), transport)
    assert found.complaints == []
    assert found.findings() == {}
    return found


def last_event_ids(found: Played) -> list[str]:
    heads = (event for event in found.tape.events if event.kind is EventKind.HTTP)
    return [value for head in heads if (value := head.header("last-event-id")) is not None]


def test_a_broken_stream_is_resumed_and_nothing_is_lost_or_doubled() -> None:
    found = played(SLOW + RESUMED, Era.LEGACY, TransportKind.HTTP)
    assert len(last_event_ids(found)) == 1
    values = [
        event.payload["params"]["progress"]
        for event in found.tape.events
        if event.kind is EventKind.MESSAGE
        and event.payload.get("method") == "notifications/progress"
    ]
    assert values == list(range(1, 21))


@pytest.mark.parametrize(
    ("era", "transport"),
    [
        (Era.LEGACY, TransportKind.STDIO),
        (Era.MODERN, TransportKind.STDIO),
        (Era.MODERN, TransportKind.HTTP),
    ],
)
def test_elsewhere_there_is_no_stream_to_resume(era: Era, transport: TransportKind) -> None:
    script = SLOW + '[[step]]\ndo = "resume"\nof = "slow"\n[[step]]\ndo = "await"\nof = "slow"\n'
    results = play(ClientOptions(era, parse_script(script)), transport).results
    cut = results[2].outcome
    assert cut == ({"cut": False} if era is Era.LEGACY else {"fault": cut["fault"]})
    assert results[3].complaints == ()


@pytest.mark.parametrize("transport", list(TransportKind))
def test_a_task_is_polled_asked_its_question_and_its_result_fetched(
    transport: TransportKind,
) -> None:
    script = FORM + LISTED + REPORT + '[[step]]\ndo = "await"\nof = "report"\n'
    found = played(script, Era.LEGACY, transport)
    methods = [
        event.payload["method"]
        for event in found.tape.events
        if event.kind is EventKind.MESSAGE and "method" in event.payload
    ]
    assert "tasks/get" in methods
    assert "tasks/result" in methods
    assert found.results[-1].outcome["result"]["content"]


@pytest.mark.parametrize("transport", list(TransportKind))
def test_a_task_can_be_looked_at_and_cancelled(transport: TransportKind) -> None:
    script = (
        LISTED
        + REPORT
        + """
[[step]]
do = "task-get"
of = "report"
present = ["/result/taskId"]

[[step]]
do = "list"
what = "tasks"
present = ["/result/tasks/0/taskId"]

[[step]]
do = "task-cancel"
of = "report"
expect = { "/result/status" = "cancelled" }

[[step]]
do = "task-cancel"
of = "report"
expect = { "/error/code" = -32602 }
"""
    )
    played(script, Era.LEGACY, transport)


@pytest.mark.parametrize("transport", list(TransportKind))
@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
def test_the_level_of_log_messages_is_kept(era: Era, transport: TransportKind) -> None:
    script = """
[[step]]
do = "set-level"
level = "error"

[[step]]
do = "call"
tool = "log_every_level"
"""
    options = ClientOptions(era, parse_script(script))
    results = play(options, transport).results
    if era is Era.MODERN:
        assert results[0].outcome == {"fault": "the server does not declare logging"}
        return
    said = [one["params"]["level"] for one in results[1].outcome["notifications"]]
    assert said == ["error", "critical", "alert", "emergency"]


@pytest.mark.parametrize("transport", list(TransportKind))
@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
def test_what_the_server_asked_is_in_the_outcome(era: Era, transport: TransportKind) -> None:
    script = '[answers.form]\naction = "decline"\n[[step]]\ndo = "call"\ntool = "greet_user"\n'
    (result,) = played(script, era, transport).results
    (asked,) = result.outcome["asked"]
    assert asked["method"] == "elicitation/create"
    assert asked["result"] == {"action": "decline"}


@pytest.mark.parametrize("transport", list(TransportKind))
def test_a_request_of_any_kind_can_be_sent(transport: TransportKind) -> None:
    script = """
[[step]]
do = "request"
method = "no/such/method"
params = { a = 1 }
expect = { "/error/code" = -32601 }
"""
    played(script, Era.MODERN, transport)


@pytest.mark.parametrize("transport", list(TransportKind))
def test_two_subscriptions_are_told_apart(transport: TransportKind) -> None:
    script = """
[[step]]
do = "listen"
name = "tools"
tools = true

[[step]]
do = "listen"
name = "counter"
uris = ["reference://counter"]

[[step]]
do = "stop"
of = "tools"
expect = { "/cancelled" = true }

[[step]]
do = "call"
tool = "touch_counter"

[[step]]
do = "wait"
notification = "notifications/resources/updated"

[[step]]
do = "stop"
of = "counter"
expect = { "/cancelled" = true }

[[step]]
do = "stop"
of = "counter"
expect = { "/cancelled" = false }
"""
    played(script, Era.MODERN, transport)
