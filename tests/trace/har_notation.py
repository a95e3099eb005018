"""HTTP archives in the form that browsers and proxies export, and what an import made of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from clausewise.core.vocabulary import Direction
from clausewise.judge.engine import judge
from clausewise.trace.events import Event, EventKind
from clausewise.trace.importers import Imported

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


PING: dict[str, Any] = {"id": 1, "method": "ping"}
PONG: dict[str, Any] = {"id": 1, "result": {}}


def told(found: Imported) -> list[str]:
    """Each event in one word: method, status, what a message is about, kind."""
    return [_word(event) for event in found.events]


def _word(event: Event) -> str:
    if event.kind is EventKind.HTTP:
        return str(event.fields.get("method") or event.fields["status"])
    if event.kind is not EventKind.MESSAGE:
        return event.kind.value
    side = "c" if event.direction is Direction.CLIENT_TO_SERVER else "s"
    payload = event.payload
    return f"{side}:{payload.get('method') or 'answer'}:{payload.get('id', '-')}"


def findings(found: Imported) -> list[tuple[str, str]]:
    result = judge(found.events, trace="t.har")
    return [(v.id, f.message) for v in result.verdicts for f in v.findings]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["\ud800", "base64", "GET", "2026-01-01T00:00:00Z", URL, message(PING)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "name", "value", "method", "size"]), inner)
    ),
    max_leaves=6,
)


def spoiled(value: Any, data: st.DataObject) -> Any:
    """`value` with some members replaced by anything."""
    if data.draw(st.integers(0, 12)) == 0:
        return data.draw(JUNK)
    if isinstance(value, dict):
        return {key: spoiled(member, data) for key, member in value.items()}
    if isinstance(value, list):
        return [spoiled(item, data) for item in value]
    return value
