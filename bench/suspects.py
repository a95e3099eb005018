"""Traces that would show a cost beyond linear: one thing of a session in great number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count
from random import Random
from types import MappingProxyType

from bench.conversation import Turn, Voice, answered, by_server, handshake, notice
from bench.features import call_tool
from bench.recording import Http, Record, Stdio, conversation, lines

Turns = Callable[[Voice], Iterator[Turn]]


def _one_session(later: Turns, number: int, seed: int) -> Iterator[bytes]:
    """A trace of one stdio session that goes on with `later`."""
    recorder = Stdio()
    voice = Voice(Random(seed))  # noqa: S311 - the same trace each time, nothing secret
    turns = chain(handshake(voice), later(voice))
    return lines(recorder.record(turns, 0), recorder.transport, number)


def _unanswered(voice: Voice) -> Iterator[Turn]:
    while True:
        yield Turn(voice.request("tools/call", name="read_file_1", arguments={"path": "/a"}))


def _pages(voice: Voice) -> Iterator[Turn]:
    yield voice.call("resources/list", {"resources": [], "nextCursor": "p0"})
    for page in count(1):
        entries = [{"uri": f"note://page/{page}", "name": voice.text(200)}]
        following = {"resources": entries, "nextCursor": f"p{page}"}
        yield voice.call("resources/list", following, cursor=f"p{page - 1}")


def _errors(voice: Voice) -> Iterator[Turn]:
    while True:
        yield voice.refused("tools/call", -32602, name="no_such_tool", arguments={})


def _open_tokens(voice: Voice) -> Iterator[Turn]:
    for token in count():
        meta = {"progressToken": token}
        asked = voice.request("tools/call", name="read_file_1", arguments={}, _meta=meta)
        done = notice("notifications/progress", progressToken=token, progress=1)
        yield Turn(asked, (by_server(done),))


def _one_token(voice: Voice) -> Iterator[Turn]:
    """One request with ever more progress."""
    asked = voice.request("tools/call", name="read_file_1", _meta={"progressToken": "t"})
    yield Turn(asked)
    for step in count(1):
        done = notice("notifications/progress", progressToken="t", progress=step)
        yield Turn(None, (by_server(done),))


def _tools_anew(voice: Voice) -> Iterator[Turn]:
    """Tools whose names and schemas are new in each listing."""
    for number in count():
        schema = {"type": "object", "properties": {f"p{number}": {"type": "string"}}}
        tool = {"name": f"tool_{number}", "inputSchema": schema}
        yield voice.call("tools/list", {"tools": [tool]})


def _tasks(voice: Voice) -> Iterator[Turn]:
    for number in count():
        times = {"createdAt": "2026-01-05T10:30:00Z", "lastUpdatedAt": "2026-01-05T10:30:00Z"}
        task = {"taskId": f"t{number}", "status": "working", **times, "ttl": None}
        yield voice.call("tools/call", {"task": task}, name="read_file_1", task={"ttl": 60000})


def _long(voice: Voice) -> Iterator[Turn]:
    while True:
        yield from call_tool(voice)


def _string_ids(voice: Voice) -> Iterator[Turn]:
    while True:
        asked = {**voice.request("ping"), "id": f"{voice.random.getrandbits(120):030x}"}
        yield Turn(asked, (), answered(asked, {}))


def _many_sessions(number: int, seed: int) -> Iterator[bytes]:
    """Short sessions one after another, over HTTP, none of them closed."""
    recorder = Http()
    random = Random(seed)  # noqa: S311 - as above
    sessions = (recorder.record(conversation(random, 2), n) for n in count())
    left_open = (record for session in sessions for record in _without_end(session))
    return lines(left_open, recorder.transport, number)


def _without_end(session: Iterator[Record]) -> Iterator[Record]:
    return (record for record in session if record.get("method") != "DELETE")


Suspect = Callable[[int, int], Iterator[bytes]]


def _of(later: Turns) -> Suspect:
    return lambda number, seed: _one_session(later, number, seed)


SUSPECTS: Mapping[str, Suspect] = MappingProxyType(
    {
        "requests without answer": _of(_unanswered),
        "one long pagination": _of(_pages),
        "errors": _of(_errors),
        "open progress tokens": _of(_open_tokens),
        "progress on one token": _of(_one_token),
        "new tools all the time": _of(_tools_anew),
        "tasks that never end": _of(_tasks),
        "one long session": _of(_long),
        "random ids": _of(_string_ids),
        "many open sessions": _many_sessions,
    }
)
"""Each takes the number of events and a seed, and gives the lines of a trace."""
