"""Make HTTP archives in the form that browsers and proxies export."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

URL = "http://127.0.0.1:3001/mcp"
JSON = "application/json"
STREAM = "text/event-stream"
_START = datetime(2026, 3, 1, 12, tzinfo=UTC)
INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"sampling": {}},
        "clientInfo": {"name": "client", "version": "1"},
    },
}
INITIALIZED = {"method": "notifications/initialized"}
INITIALIZE_RESULT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "server", "version": "1"},
}


def message(members: dict[str, Any]) -> str:
    """JSON-RPC text of a message."""
    return json.dumps({"jsonrpc": "2.0", **members})


def events(*messages: dict[str, Any]) -> str:
    """The text of a stream with these messages, after the event that lets it be resumed."""
    return "id: 1\ndata:\n\n" + "".join(f"data: {message(m)}\n\n" for m in messages)


def headers(**values: str) -> list[dict[str, str]]:
    """Headers as HAR writes them; `_` in names stands for `-`."""
    return [{"name": name.replace("_", "-"), "value": value} for name, value in values.items()]


def entry(
    at_ms: float,
    body: dict[str, Any] | str | None = None,
    *,
    method: str = "POST",
    url: str = URL,
    session: str | None = "s1",
    status: int = 200,
    kind: str | None = JSON,
    answer: dict[str, Any] | str | None = None,
    wait_ms: float = 1.0,
    time_ms: float = 2.0,
    new_session: str | None = None,
) -> dict[str, Any]:
    """One exchange, sent `at_ms` after the start; its body came between the last two times."""
    text = message(body) if isinstance(body, dict) else body
    answered = message(answer) if isinstance(answer, dict) else answer
    sent = headers(accept=f"{JSON}, {STREAM}" if method == "POST" else STREAM)
    if text is not None:
        sent += headers(content_type=JSON)
    if session is not None:
        sent += headers(Mcp_Session_Id=session, MCP_Protocol_Version="2025-11-25")
    got = headers(content_type=kind) if kind is not None else headers(server="a")
    if new_session is not None:
        got += headers(mcp_session_id=new_session)
    started = _START + timedelta(milliseconds=at_ms)
    return {
        "startedDateTime": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "time": time_ms,
        "request": {
            "method": method,
            "url": url,
            "httpVersion": "HTTP/1.1",
            "headers": sent,
            "queryString": [],
            "cookies": [],
            "headersSize": -1,
            "bodySize": 0 if text is None else len(text.encode()),
            **({} if text is None else {"postData": {"mimeType": JSON, "text": text}}),
        },
        "response": {
            "status": status,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "headers": got,
            "cookies": [],
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
            "content": {
                "size": len((answered or "").encode()),
                "mimeType": kind or "x-unknown",
                **({} if answered is None else {"text": answered}),
            },
        },
        "cache": {},
        "timings": {"blocked": 0, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": wait_ms},
    }


def har(*entries: dict[str, Any]) -> bytes:
    """An archive of these entries."""
    creator = {"name": "test", "version": "1"}
    return json.dumps(
        {"log": {"version": "1.2", "creator": creator, "entries": list(entries)}}, indent=1
    ).encode()


def handshake(begin_ms: float = 0.0, session: str = "s1") -> list[dict[str, Any]]:
    """The two exchanges that open a session."""
    result = {"id": 0, "result": INITIALIZE_RESULT}
    return [
        entry(begin_ms, INITIALIZE, session=None, answer=result, new_session=session),
        entry(begin_ms + 5, INITIALIZED, session=session, status=202, kind=None),
    ]
