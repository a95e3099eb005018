"""Server processes of a few lines each, and what of them was recorded."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioTarget

LIMITS = Limits(answer_s=8, quiet_s=0.05, exit_s=5)


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


OUT = Direction.CLIENT_TO_SERVER


IN = Direction.SERVER_TO_CLIENT


ECHO = """
    for line in sys.stdin.buffer:
        out(b'{"jsonrpc":"2.0","id":%d,"result":{}}\\n' % json.loads(line)["id"])
"""


FOREVER = """
    while True:
        signal.pause()
"""


def server(script: str, **target: Any) -> StdioTarget:
    preamble = """
        import json, os, signal, subprocess, sys
        def out(data):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    """
    code = textwrap.dedent(preamble) + textwrap.dedent(script)
    return StdioTarget((sys.executable, "-c", code), **target)


def any_message(event: Event) -> bool:
    return True


def of_kind(tape: Tape, kind: EventKind, direction: Direction = IN) -> list[Event]:
    return [e for e in tape.events if e.kind is kind and e.direction is direction]


def lifecycle(tape: Tape) -> list[tuple[Direction, str, int | None]]:
    return [
        (e.direction, e.fields["event"], e.fields.get("code"))
        for e in tape.events
        if e.kind is EventKind.LIFECYCLE
    ]
