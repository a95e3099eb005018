"""Base protocol, `_meta`: the names of its keys, wherever the schema puts it."""

# ruff: noqa: ARG001 - every handler takes (event, session, out)

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clausewise.judge.ledger import Sheet
from clausewise.judge.messages import Message
from clausewise.judge.registration import check
from clausewise.judge.sessions import Session
from clausewise.judge.wording import shown

PREFIX_CLAUSE = "BASE-019"
NAME_CLAUSE = "BASE-020"
MAX_NESTING = 8
"""How deep content blocks are followed into each other."""

_LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_PREFIX = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)

_Object = dict[str, Any]


@check("base.meta-key-format", on=("request", "notification"), subject="_meta key")
def meta_key_format(message: Message, session: Session, out: Sheet) -> None:
    """A key of `_meta` is neither a name, nor a prefix of labels, a slash and a name.

    Why: prefixes keep the keys of different vendors apart; a malformed one may be refused or
    collide with a key of the protocol.
    Fix: use keys such as `com.example/request-id`: labels of letters, digits and hyphens that
    begin with a letter and end with a letter or digit; names that begin and end with a letter
    or digit.
    """
    params = message.payload.get("params")
    if type(params) is not dict:
        return
    _judge_meta(params, message, out)
    if message.method == "sampling/createMessage":
        for holder in _in_sampling_params(params):
            _judge_meta(holder, message, out)


@meta_key_format.on("result")
def _keys_of_result(message: Message, session: Session, out: Sheet) -> None:
    result = message.payload["result"]
    if type(result) is not dict:
        return
    _judge_meta(result, message, out)
    request = message.request
    find = _IN_RESULT.get(request.method or "") if request is not None else None
    if find is not None:
        for holder in find(result):
            _judge_meta(holder, message, out)


def _judge_meta(holder: _Object, message: Message, out: Sheet) -> None:
    meta = holder.get("_meta")
    if isinstance(meta, dict):
        for key in meta:
            _judge_key(key, message, out)


def _judge_key(key: str, message: Message, out: Sheet) -> None:
    prefix, slash, name = key.partition("/")
    if not slash:
        name = key
    else:
        if _PREFIX.fullmatch(prefix) is None:
            out.broke(
                message,
                "the prefix of a _meta key is malformed",
                seen=f"key {shown(key)}",
                expected="labels separated by dots before the slash, such as com.example/",
                clause=PREFIX_CLAUSE,
            )
            return
        out.held(message, clause=PREFIX_CLAUSE)
    if name and _NAME.fullmatch(name) is None:
        out.broke(
            message,
            "the name of a _meta key is malformed",
            seen=f"key {shown(key)}",
            expected="letters, digits, '.', '_' and '-', with a letter or digit at both ends",
            clause=NAME_CLAUSE,
        )
    elif name or slash:
        out.held(message, clause=NAME_CLAUSE)


def _objects(value: Any) -> Iterator[_Object]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def _blocks(value: Any, depth: int = 0) -> Iterator[_Object]:
    """Content blocks, one or an array of them, with what they embed."""
    for block in _objects(value if isinstance(value, list) else [value]):
        yield block
        embedded = block.get("resource")
        if isinstance(embedded, dict):
            yield embedded
        if block.get("type") == "tool_result" and depth < MAX_NESTING:
            yield from _blocks(block.get("content"), depth + 1)


def _in_sampling_params(params: _Object) -> Iterator[_Object]:
    for message in _objects(params.get("messages")):
        yield message
        yield from _blocks(message.get("content"))
    yield from _objects(params.get("tools"))


def _in_prompt(result: _Object) -> Iterator[_Object]:
    for message in _objects(result.get("messages")):
        yield from _blocks(message.get("content"))


def _in_content(result: _Object) -> Iterator[_Object]:
    yield from _blocks(result.get("content"))


def _listed_under(member: str) -> Callable[[_Object], Iterator[_Object]]:
    return lambda result: _objects(result.get(member))


_IN_RESULT: Mapping[str, Callable[[_Object], Iterator[_Object]]] = {
    "tools/list": _listed_under("tools"),
    "tools/call": _in_content,
    "resources/list": _listed_under("resources"),
    "resources/templates/list": _listed_under("resourceTemplates"),
    "resources/read": _listed_under("contents"),
    "prompts/list": _listed_under("prompts"),
    "prompts/get": _in_prompt,
    "roots/list": _listed_under("roots"),
    "sampling/createMessage": _in_content,
    "tasks/result": _in_content,
}
"""Where the result of a method nests objects with `_meta`. User data is left alone: tool
arguments, structuredContent and the insides of schemas are no place of MCP's `_meta`."""
