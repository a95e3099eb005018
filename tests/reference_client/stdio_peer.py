"""A server process with odd habits; it notes each line it reads, and its end, in a log.

Usage: stdio_peer.py MODE LOG
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

MODE, LOG = sys.argv[1], Path(sys.argv[2])
MODERN = "io.modelcontextprotocol/"
INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "peer", "version": "1"},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": True}},
    "ttlMs": 0,
    "cacheScope": "private",
}


def note(text: str) -> None:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(text + "\n")


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer_discover(message: dict[str, Any]) -> None:
    if MODE.startswith("legacy-error:"):
        code = int(MODE.partition(":")[2])
        send({"id": message["id"], "error": {"code": code, "message": "what?"}})
    elif MODE == "exits-on-discover":
        sys.exit(3)
    elif MODE != "silent":
        send({"id": message["id"], "result": DISCOVERED})


def answer_listen(message: dict[str, Any]) -> None:
    about = {"_meta": {MODERN + "subscriptionId": message["id"]}}
    agreed = {**about, "notifications": message["params"]["notifications"]}
    send({"method": "notifications/subscriptions/acknowledged", "params": agreed})


def answer_call(message: dict[str, Any]) -> None:
    name = message["params"]["name"]
    if name == "crash" and not LOG.with_suffix(".crashed").exists():
        LOG.with_suffix(".crashed").touch()
        os._exit(9)
    if name != "hang":
        if name == "ask":
            send({"id": "asked", "method": "roots/list"})
        content = [{"type": "text", "text": "done"}]
        send({"id": message["id"], "result": {"resultType": "complete", "content": content}})


ANSWERS = {
    "server/discover": answer_discover,
    "initialize": lambda message: send({"id": message["id"], "result": INITIALIZED}),
    "ping": lambda message: send({"id": message["id"], "result": {}}),
    "tools/call": answer_call,
    "subscriptions/listen": answer_listen,
}


def main() -> None:
    note("start")
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, lambda *_: note("SIGTERM"))
    if MODE == "noisy":
        sys.stderr.write("ERROR: everything is fine\n" + "x" * 3_000_000)
        sys.stderr.flush()
    for line in sys.stdin:
        note(line.rstrip("\n"))
        message = json.loads(line)
        answer = ANSWERS.get(message.get("method", ""))
        if answer is not None:
            answer(message)
    note("EOF")
    while MODE == "stubborn":
        signal.pause()


if __name__ == "__main__":
    main()
