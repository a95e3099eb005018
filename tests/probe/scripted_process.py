"""A server process for tests of era detection: run with the name of one of `MODES`.

Each line of input is a request; a mode answers it with lines, or exits.
"""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.probe.fake_server import Request, conforming
from tests.probe.legacy_replies import in_session, initialize_result, result

Mode = Callable[[Request], list[Any]]

_first_era: dict[str, str] = {}
_remembered: dict[str, Any] = {}


def _initialized(request: Request) -> list[Any] | None:
    """The answer to `initialize`, else None."""
    if request.method != "initialize":
        return None
    return list(result(request, initialize_result()).messages)


def silent(request: Request) -> list[Any]:
    """A legacy server that says nothing before `initialize`."""
    return _initialized(request) or []


def refusing(request: Request) -> list[Any]:
    """A legacy server that answers an unknown method with -32602."""
    error = {"code": -32602, "message": "Invalid request parameters"}
    refusal = [{"jsonrpc": "2.0", "id": request.id, "error": error}]
    return _initialized(request) or refusal


def exiting(request: Request) -> list[Any]:
    """A legacy server that dies of an unknown method."""
    answer = _initialized(request)
    if answer is None:
        print("unexpected method", file=sys.stderr)
        sys.exit(7)
    return answer


def dual(request: Request) -> list[Any]:
    """A server of both eras."""
    return _initialized(request) or list(conforming(request, over_http=False).messages)


def locking(request: Request) -> list[Any]:
    """A server of both eras that refuses modern requests once it has seen another first."""
    era = "modern" if request.meta("protocolVersion") is not None else "legacy"
    if _first_era.setdefault("era", era) == "legacy" and era == "modern":
        error = {"code": -32600, "message": "this connection serves the handshake era"}
        return [{"jsonrpc": "2.0", "id": request.id, "error": error}]
    return dual(request)


def remembering(request: Request) -> list[Any]:
    """A modern server that fills in `_meta` from an earlier request."""
    if request.meta("protocolVersion") is not None:
        _remembered.update(request.params["_meta"])
    elif _remembered and "id" in request.message:
        request.message.setdefault("params", {})["_meta"] = dict(_remembered)
    return list(conforming(request, over_http=False).messages)


def stalling(request: Request) -> list[Any]:
    """A modern server that says who it is and nothing more."""
    if request.method != "server/discover":
        return []
    return list(conforming(request, over_http=False).messages)


def bannered(request: Request) -> list[Any]:
    """A modern server that greets before its first message."""
    greeting = (
        [] if _first_era.setdefault("greeted", str(request.id)) != str(request.id) else ["v1"]
    )
    return [*greeting, *conforming(request, over_http=False).messages]


def logging_records(request: Request) -> list[Any]:
    """A modern server whose log goes to stdout: JSON, but no message."""
    return [{"level": "info", "msg": "asked"}, *conforming(request, over_http=False).messages]


def telling_stderr(request: Request) -> list[Any]:
    """A modern server that says on stderr what looks like an error."""
    print("ERROR: all is well", file=sys.stderr, flush=True)
    return list(conforming(request, over_http=False).messages)


def late(request: Request) -> list[Any]:
    """A modern server that takes its time; were its input closed meanwhile, it would be silent."""
    ended, _, _ = select.select([sys.stdin], [], [], 0.1)
    return [] if ended else list(conforming(request, over_http=False).messages)


def _answering_cancelled(request: Request, *, crossing: bool) -> list[Any]:
    """A modern server with a slow tool, whose call is answered though it was cancelled."""
    right = list(conforming(request, over_http=False).messages)
    if request.method == "tools/call" and "cancelled" in str(request.params["_meta"]):
        _remembered.update(id=request.id, asked=0)
        return []
    if request.method == "tools/call":
        time.sleep(0.03)
    if request.method != "server/discover" or "id" not in _remembered:
        return right
    _remembered["asked"] += 1
    error = {"code": -32000, "message": "Request cancelled"}
    late = {"jsonrpc": "2.0", "id": _remembered["id"], "error": error}
    if crossing:
        return [late, *right] if _remembered["asked"] == 1 else right
    return [*right, late] if _remembered["asked"] == 2 else right


def crossing(request: Request) -> list[Any]:
    """The answer may have been on its way when the cancellation came."""
    return _answering_cancelled(request, crossing=True)


def answering_cancelled(request: Request) -> list[Any]:
    """The answer comes after that to a later request."""
    return _answering_cancelled(request, crossing=False)


def mute(_request: Request) -> list[Any]:
    """No MCP server: it reads and says nothing."""
    return []


def chatty(_request: Request) -> list[Any]:
    """No MCP server: it prints text."""
    return ["hello there"]


def pinging(request: Request) -> list[Any]:
    """A legacy server that pings before each answer, and asks for what was not declared."""
    answer = _initialized(request)
    if answer is not None:
        return answer
    if "id" not in request.message or "method" not in request.message:
        return []
    asks = [
        {"jsonrpc": "2.0", "id": f"ping-{request.id}", "method": "ping"},
        {"jsonrpc": "2.0", "id": f"roots-{request.id}", "method": "roots/list"},
    ]
    return [*asks, *in_session(request).messages]


MODES: dict[str, Mode] = {
    mode.__name__: mode
    for mode in (
        silent,
        refusing,
        exiting,
        dual,
        locking,
        remembering,
        stalling,
        bannered,
        logging_records,
        telling_stderr,
        late,
        crossing,
        answering_cancelled,
        mute,
        chatty,
        pinging,
    )
}


BEFORE = {"welcoming": "Welcome to the server!", "spaced": ""}
"""What a modern server writes to stdout before it reads, by mode."""

AFTER = {"parting": "Goodbye."}
"""What a modern server writes to stdout once its stdin has ended, by mode."""


def written(text: str | None) -> None:
    if text is not None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def main(mode: Mode) -> None:
    for line in sys.stdin.buffer:
        for message in mode(Request(json.loads(line))):
            written(message if isinstance(message, str) else json.dumps(message))


def talkative(name: str) -> None:
    """A modern server that writes what is no message."""
    written(BEFORE.get(name))
    main(lambda request: list(conforming(request, over_http=False).messages))
    written(AFTER.get(name))


if __name__ == "__main__":
    if sys.argv[1] == "gone":
        sys.exit("cannot start")
    if sys.argv[1] in MODES:
        main(MODES[sys.argv[1]])
    else:
        talkative(sys.argv[1])
