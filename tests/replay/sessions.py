"""Sessions to replay, recorded from live servers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clausewise.replay.live import Live
from clausewise.replay.run import Replayed, ReplayOptions, replay
from clausewise.replay.script import script_of
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape
from clausewise.transport.http import HttpTarget
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioProcess, StdioTarget, open_process
from clausewise.wire.jsonrpc import MessageClass, classify

SERVER = Path(__file__).with_name("coining_server.py")
QUICK = ReplayOptions(Limits(answer_s=10.0, quiet_s=0.05), total_s=30.0)
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"sampling": {}},
    "clientInfo": {"name": "client", "version": "1"},
}


def coining(*arguments: str) -> StdioTarget:
    return StdioTarget((sys.executable, str(SERVER), *arguments))


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def is_response(event: Event) -> bool:
    return classify(event.payload) in (MessageClass.RESULT, MessageClass.ERROR)


async def coined_session() -> tuple[Event, ...]:
    """The recording of a client that pages, is asked while a tool runs, and looks at a task."""
    tape = Tape()
    async with open_process(coining(), tape) as process:
        await _session(process)
    return tape.events


async def _session(process: StdioProcess) -> None:
    async def ask(identity: Any, until: Callable[[Event], bool] = is_response, **rest: Any) -> Any:
        answer = await process.send(line(id=identity, **rest), until=until)
        return answer.messages[-1].payload

    await ask(1, method="initialize", params=HELLO)
    await process.send(line(method="notifications/initialized"), timeout_s=0)
    first = await ask("two", method="tools/list")
    await ask(3, method="tools/list", params={"cursor": first["result"]["nextCursor"]})
    asked = await ask(4, lambda _: True, method="tools/call", params={"name": "tool"})
    reply = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}
    done = await process.send(line(id=asked["id"], result=reply), until=is_response)
    task = done.messages[-1].payload["result"]["taskId"]
    await ask(5, method="tasks/get", params={"taskId": task})


async def replayed(
    events: tuple[Event, ...], target: HttpTarget | StdioTarget, options: ReplayOptions = QUICK
) -> tuple[Replayed, tuple[Event, ...]]:
    """The replay of a recording, and the new session's events."""
    script = script_of(events)
    live = Live(script)
    tape = Tape(live.take)
    return await replay(script, live, target, tape, options), tape.events
