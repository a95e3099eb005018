"""Tools: what the results of calls carry, whether direct or through a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from clausewise.core.vocabulary import Direction, Party
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.declarations import judge_declaration
from clausewise.judge.subjects.listings import Fault, Listing, Standing, Unsettled
from clausewise.judge.subjects.tasks import fulfilled_request
from clausewise.judge.subjects.tool_schemas import UndecidableError, misfit
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.jsontext import JsonTextError, decode

_S2C = Direction.SERVER_TO_CLIENT
_SERVER = Party.SERVER
_dumps = orjson.dumps

CALL = "tools/call"

_RESULTS = ("result:tools/call", "result:tasks/result")


@dataclass(slots=True)
class _Looked:
    """The call whose result was looked at last, for the checks that share it."""

    seq: int = -1
    call: Request | None = None


def _call(message: Message, session: Session) -> Request | None:
    """The tools/call request whose ordinary result this is; None for anything else."""
    looked = session.recording.state(_Looked)
    if looked.seq != message.seq:
        request = fulfilled_request(message, session)
        is_call = request is not None and request.method == CALL
        from_server = message.direction is _S2C
        looked.seq, looked.call = message.seq, request if is_call and from_server else None
    return looked.call


@check(
    "tools.embedded-resource-capability",
    on=_RESULTS,
    subject="tool result with an embedded resource",
)
def embedded_resource_capability(message: Message, session: Session, out: Sheet) -> None:
    """A tool result embeds a resource although the server declares no resources capability.

    Why: a client without that capability has no way to read the resource again or to follow it.
    Fix: declare `"resources": {}` and serve the resource, or return its content as text.
    """
    content = message.result.get("content")
    if type(content) is not list:
        return
    for block in content:
        if type(block) is dict and block.get("type") == "resource":
            break
    else:
        return
    if _call(message, session) is None:
        return
    if session.handshake.declares(_SERVER, "tools"):
        judge_declaration(message, session, out, "resources")


@check(
    "tools.structured-content-text",
    on=_RESULTS,
    subject="tool result with structuredContent",
)
def structured_content_text(message: Message, session: Session, out: Sheet) -> None:
    """A tool result has structured content and no text block with the same JSON.

    Why: clients that do not know structuredContent see nothing of the result.
    Fix: add a text block that holds the JSON of structuredContent and nothing else.
    """
    structured = message.result.get("structuredContent")
    if structured is None or _call(message, session) is None:
        return
    if not session.handshake.declares(_SERVER, "tools"):
        return
    blocks = objects(message.result.get("content"))
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    try:
        repeated = any(isinstance(text, str) and _is_json_of(text, structured) for text in texts)
    except RecursionError:
        out.undecided(message, "the structured content is nested too deeply to compare")
        return
    if repeated:
        out.held(message)
    else:
        out.broke(
            message,
            "no text block of the result holds its structured content",
            seen=f"{shown(structured)} as structuredContent, {len(texts)} text blocks",
            expected="a text block whose text is the same JSON value",
        )


def _is_json_of(text: str, value: Any) -> bool:
    if isinstance(value, dict) and not text.lstrip(" \t\r\n").startswith("{"):
        return False
    if _is_written_as(text, value):
        return True
    try:
        found = decode(text.encode("utf-8", "surrogatepass"))
    except JsonTextError:
        return False
    return _same_json(found, value)


def _is_written_as(text: str, value: Any) -> bool:
    """Whether `text` is how many servers write `value`, without any space; told fast."""
    try:
        return _dumps(value) == text.encode("utf-8", "surrogatepass")
    except TypeError:
        return False


def _is_same_text(one: Any, other: Any) -> bool:
    """Whether two values are written alike, told fast; False where that cannot be told."""
    try:
        # Most servers write the members of both in the same order.
        return _dumps(one) == _dumps(other) or (
            _dumps(one, option=orjson.OPT_SORT_KEYS) == _dumps(other, option=orjson.OPT_SORT_KEYS)
        )
    except TypeError:
        return False


def _same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: `1` is `1.0`, but not `true`."""
    return _is_same_text(one, other) or _equal(one, other)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(_equal(value, other[name]) for name, value in one.items())
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


class _OutputSchemas(Listing):
    """The outputSchema of each listed tool, ABSENT if it has none."""


class _Misfits(Unsettled):
    """Results that do not fit the outputSchema."""


@check(
    "tools.output-schema-structured-result",
    on=_RESULTS,
    subject="result of a call to a tool with an outputSchema",
)
def output_schema_structured_result(message: Message, session: Session, out: Sheet) -> None:
    """A tool with an outputSchema returns no structured content, or one that does not fit.

    Why: clients validate structured content and throw away results that do not fit, although
    the tool did its work.
    Fix: return structuredContent that fits the outputSchema on every success, or correct the
    schema.
    """
    schemas, call = session.state(_OutputSchemas), _call(message, session)
    if not schemas.entries:
        return
    session.state(_Misfits).settle(message.request, out)
    if call is None or message.result.get("isError") is True:
        return
    name = call.params.get("name") if isinstance(call.params, dict) else None
    entry = schemas.entries.get(name) if isinstance(name, str) else None
    if entry is None or not session.handshake.declares(_SERVER, "tools"):
        return
    standing = schemas.standing(str(name), call.seq)
    if standing is Standing.CHANGED:
        out.undecided(message, "the tools changed between their listing and the result")
    elif entry.part is ABSENT:
        return
    elif session.shared:
        out.undecided(message, MIXED)
    else:
        _judge_structure(message, session, out, str(name), entry.part)


@output_schema_structured_result.on("result:tools/list")
def _listed(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is not _S2C:
        return
    session.state(_Misfits).settle(message.request, out)
    schemas = session.state(_OutputSchemas)
    for tool in objects(message.result.get("tools")):
        name = tool.get("name")
        if isinstance(name, str):
            schemas.list(name, tool.get("outputSchema", ABSENT), message.seq)


@output_schema_structured_result.on("notification:notifications/tools/list_changed")
def _changed(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is Direction.SERVER_TO_CLIENT:
        session.state(_OutputSchemas).changed = message.seq
        session.state(_Misfits).excuse(message, out)


@output_schema_structured_result.on("session-end")
def _settle_all(_end: Spot, session: Session, out: Sheet) -> None:
    session.state(_Misfits).settle_all(out)


def _judge_structure(
    message: Message, session: Session, out: Sheet, name: str, schema: Any
) -> None:
    structured = message.result.get("structuredContent", ABSENT)
    misfits, expected = session.state(_Misfits), "structuredContent that fits the outputSchema"
    if structured is ABSENT:
        what = f"tool {shown(name)} has an outputSchema and returns no structured content"
        misfits.book(message, session, out, Fault(what, "no structuredContent", expected))
        return
    try:
        fault = misfit(session, schema, structured)
    except UndecidableError as reason:
        out.undecided(message, str(reason))
        return
    if fault is None:
        out.held(message)
    else:
        what = f"the structured content of tool {shown(name)} does not fit its outputSchema"
        misfits.book(message, session, out, Fault(what, fault, expected))
