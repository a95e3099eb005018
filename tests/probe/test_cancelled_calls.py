"""What a legacy server on stdio does with a call that is cancelled, and what is made of it."""

from __future__ import annotations

import sys

import anyio
import pytest

from clausewise.app import check
from clausewise.app.selection import Selection
from clausewise.core.vocabulary import Outcome, Revision
from clausewise.transport.targets import StdioTarget
from tests.probe.clause_probing import observe

NAME = "cancellation.takes-effect"
SERVER = """
import json, sys, threading

mode, calls = sys.argv[1], {}
written = threading.Lock()

def say(id_, result):
    with written:
        print(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}), flush=True)

def call(id_):
    told = calls[id_].wait(0.6) and mode in ("answering", "silent")
    if not (told and mode == "silent"):
        say(id_, {"content": [], "isError": told})

for line in sys.stdin:
    message = json.loads(line)
    id_, method, params = message.get("id"), message.get("method"), message.get("params")
    if method == "initialize":
        capabilities = {"tools": {}}
        info = {"name": "cancelled", "version": "1"}
        version = "2025-11-25"
        say(id_, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
    elif method == "tools/list":
        schema, hints = {"type": "object"}, {"readOnlyHint": True}
        say(id_, {"tools": [{"name": "slow", "inputSchema": schema, "annotations": hints}]})
    elif method == "tools/call":
        is_quick = mode == "quick" and calls
        calls[id_] = threading.Event()
        if is_quick:
            say(id_, {"content": []})
        else:
            threading.Thread(target=call, args=(id_,), daemon=True).start()
    elif method == "notifications/cancelled" and mode != "deaf":
        calls[params["requestId"]].set()
    elif method == "ping":
        say(id_, {})
    elif id_ is not None:
        error = {"code": -32601, "message": "Method not found"}
        with written:
            print(json.dumps({"jsonrpc": "2.0", "id": id_, "error": error}), flush=True)
"""


def process(mode: str) -> StdioTarget:
    """Its tool takes 0.6 s, or until it is cancelled; `quick`: none from the second call on."""
    return StdioTarget((sys.executable, "-c", SERVER, mode))


@pytest.mark.parametrize(
    ("mode", "seen"),
    [("answering", "whenever it is cancelled"), ("deaf", "after the cancellation")],
)
def test_a_cancelled_call_that_is_answered_is_told(mode: str, seen: str) -> None:
    one = anyio.run(observe, process(mode), NAME)[NAME]
    assert one.outcome is Outcome.FAIL
    assert seen in one.faults[0].seen


@pytest.mark.parametrize("mode", ["silent", "quick"])
def test_a_call_that_ends_by_itself_or_says_nothing_is_no_fault(mode: str) -> None:
    assert not anyio.run(observe, process(mode), NAME)[NAME].faults


@pytest.mark.parametrize(
    ("mode", "outcomes"),
    [
        ("answering", (Outcome.WARN,)),
        ("quick", (Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED)),
        ("silent", (Outcome.PASS,)),
    ],
)
def test_calls_of_several_tries_keep_the_specification(
    mode: str, outcomes: tuple[Outcome, ...]
) -> None:
    options = check.CheckOptions(Selection.of(["CANC-021"], revision=Revision.LEGACY))
    (verdict,) = [v for v in check.run(process(mode), options).verdicts if v.id == "CANC-021"]
    assert verdict.outcome in outcomes
