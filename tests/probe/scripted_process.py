"""A server process for tests of era detection: run with the name of one of `MODES`.

Each line of input is a request; a mode answers it with lines, or exits.
"""

from __future__ import annotations

import json
import sys
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
        mute,
        chatty,
        pinging,
    )
}


def main(mode: Mode) -> None:
    for line in sys.stdin.buffer:
        for message in mode(Request(json.loads(line))):
            text = message if isinstance(message, str) else json.dumps(message)
            sys.stdout.write(text + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] == "gone":
        sys.exit("cannot start")
    main(MODES[sys.argv[1]])
