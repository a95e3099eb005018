"""The compact notation of traces in `tests/cases`; its README describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party, TransportKind
from clausewise.trace.events import Event, EventKind, Lifecycle

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```trace(?: (stdio|http))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(
    r"(?P<actor>client|server)(?P<fault>!)?(?:@(?P<exchange>\w+))?(?:#(?P<session>\w+))?"
    r"(?: (?P<what>verbatim|line|http|raw|raw64|sse|exit|open|close|abort))?(?::)?"
    r"(?: (?P<rest>.*))?"
)
_MARK = re.compile(r"^([A-Z]+-\d+) (fail|warn|info) (client|server)$")
_OUTCOME = re.compile(r"^=> ([A-Z]+-\d+): ([a-z-]+)$")
_ARROW = " <- "

_DIRECTIONS = {
    "client": Direction.CLIENT_TO_SERVER,
    "server": Direction.SERVER_TO_CLIENT,
}
_DEFAULT_HEADERS = {
    "POST": {"accept": "application/json, text/event-stream"},
    "GET": {"accept": "text/event-stream"},
}
_LIFECYCLES = {
    "open": Lifecycle.OPEN,
    "close": Lifecycle.CLOSE,
    "abort": Lifecycle.ABORT,
    "exit": Lifecycle.EXIT,
}


@dataclass(frozen=True, order=True)
class Mark:
    """A finding that a line must give."""

    seq: int
    clause: str
    severity: Outcome
    party: Party


@dataclass
class Case:
    """One small trace with everything that judging it must find."""

    title: str
    events: list[Event] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a file, each under its `##` heading."""
    text = path.read_text(encoding="utf-8")
    parts = _HEADING.split(text)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        blocks = _BLOCK.findall(body)
        if len(blocks) != 1:
            raise ValueError(f"{path.name}: {title!r} has {len(blocks)} trace blocks, not one")
        transport, lines = blocks[0]
        kind = TransportKind.HTTP if transport == "http" else TransportKind.STDIO
        yield _Reader(Case(title.strip()), kind).read(lines)


def events_of(lines: str, *, http: bool = False) -> list[Event]:
    """The events of a trace in the notation, for tests that are no case files."""
    transport = TransportKind.HTTP if http else TransportKind.STDIO
    return _Reader(Case("events"), transport).read(lines).events


class _Reader:
    def __init__(self, case: Case, transport: TransportKind) -> None:
        self._case = case
        self._transport = transport

    def read(self, lines: str) -> Case:
        for line in lines.splitlines():
            outcome = _OUTCOME.match(line)
            if outcome is not None:
                self._case.outcomes[outcome[1]] = Outcome(outcome[2])
            elif line.strip() and not line.startswith("#"):
                self._event(line)
        return self._case

    def _event(self, line: str) -> None:
        text, _, expected = line.partition(_ARROW)
        if text.startswith("handshake"):
            self._handshake(text)
            return
        found = _LINE.fullmatch(text.rstrip())
        if found is None:
            raise ValueError(f"not in the notation: {line}")
        event = self._read(found)
        self._case.events.append(event)
        for part in filter(None, (part.strip() for part in expected.split(","))):
            mark = _MARK.match(part)
            if mark is None:
                raise ValueError(f"no expected finding: {part!r}")
            self._case.marks.append(Mark(event.seq, mark[1], Outcome(mark[2]), Party(mark[3])))

    def _read(self, found: re.Match[str]) -> Event:
        what, rest = found["what"], found["rest"] or ""
        if what in _LIFECYCLES:
            fields: dict[str, Any] = {"event": _LIFECYCLES[what].value}
            if rest:
                fields["code"] = int(rest)
            return self._make(found, EventKind.LIFECYCLE, fields)
        if what == "http":
            return self._make(found, EventKind.HTTP, _head(rest))
        if what == "raw":
            return self._make(found, EventKind.RAW, {"text": rest, "why": "no JSON"})
        if what == "raw64":
            return self._make(found, EventKind.RAW, {"base64": rest, "why": "no UTF-8"})
        if what == "sse":
            return self._make(found, EventKind.SSE, json.loads(rest))
        payload = json.loads(rest)
        if what is None and isinstance(payload, dict):
            payload = {"jsonrpc": "2.0", **payload}
        event = self._make(found, EventKind.MESSAGE, {}, payload)
        if what == "line":
            event.text = rest.encode()
        return event

    def _make(
        self, found: re.Match[str], kind: EventKind, fields: dict[str, Any], payload: Any = None
    ) -> Event:
        return Event(
            len(self._case.events),
            _DIRECTIONS[found["actor"]],
            self._transport,
            kind,
            payload,
            fields,
            found["exchange"],
            None,
            found["session"],
            None,
            "a deliberate fault" if found["fault"] else None,
        )

    def _handshake(self, text: str) -> None:
        given = dict(re.findall(r"(client|server)=(\{.*?\})(?= |$)", text))
        for line in _handshake_lines(given, http=self._transport is TransportKind.HTTP):
            self._event(line)


def _head(rest: str) -> dict[str, Any]:
    """`POST /mcp {headers}` or `200 {headers}`; without braces headers were not recorded."""
    words, brace, headers = rest.partition("{")
    parts = words.split()
    fields: dict[str, Any] = {}
    if brace:
        given = _DEFAULT_HEADERS.get("".join(parts[:1]), {}) | json.loads(brace + headers)
        fields["headers"] = {name: value for name, value in given.items() if value is not None}
    if parts and parts[0].isdigit():
        fields["status"] = int(parts[0])
    elif parts:
        fields["method"] = parts[0]
        if len(parts) > 1:
            fields["path"] = parts[1]
    return fields


def _handshake_lines(given: dict[str, str], *, http: bool) -> list[str]:
    info = '{"name": "n", "version": "1"}'
    initialize = (
        'client@h0: {"id": "init", "method": "initialize", "params": {"protocolVersion": '
        f'"2025-11-25", "capabilities": {given.get("client", "{}")}, "clientInfo": {info}}}}}'
    )
    result = (
        'server@h0: {"id": "init", "result": {"protocolVersion": "2025-11-25", '
        f'"capabilities": {given.get("server", "{}")}, "serverInfo": {info}}}}}'
    )
    initialized = 'client@h1: {"method": "notifications/initialized"}'
    if not http:
        return [line.replace("@h0", "").replace("@h1", "") for line in (initialize, result)] + [
            initialized.replace("@h1", "")
        ]
    named = '{"mcp-session-id": "s1", "mcp-protocol-version": "2025-11-25"}'
    return [
        "client@h0 http POST /mcp {}",
        initialize,
        'server@h0 http 200 {"content-type": "application/json", "mcp-session-id": "s1"}',
        result,
        f"client@h1 http POST /mcp {named}",
        initialized,
        "server@h1 http 202 {}",
    ]
