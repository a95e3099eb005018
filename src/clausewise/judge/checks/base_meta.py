"""Base protocol, `_meta`: the names of its keys, wherever the schema puts it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.wording import shown

_WITH_PARAMS = ("meta request", "meta notification", "request:sampling/createMessage")

PREFIX_CLAUSE = "BASE-019"
NAME_CLAUSE = "BASE-020"
MAX_KNOWN = 128
"""Characters of a key whose verdict is remembered."""

MAX_NESTING = 8
"""How deep content blocks are followed into each other."""

_LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_PREFIX = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)

_Object = dict[str, Any]


@check("base.meta-key-format", on=_WITH_PARAMS, subject="_meta key")
def meta_key_format(message: Message, session: Session, out: Sheet) -> None:
    """A key of `_meta` is neither a name, nor a prefix of labels, a slash and a name.

    Why: prefixes keep the keys of different vendors apart; a malformed one may be refused or
    collide with a key of the protocol.
    Fix: use keys such as `com.example/request-id`: labels of letters, digits and hyphens that
    begin with a letter and end with a letter or digit; names that begin and end with a letter
    or digit.
    """
    params = message.params
    _judge_meta(params, message, out)
    if message.method == "sampling/createMessage":
        for holder in _in_sampling_params(params):
            _judge_meta(holder, message, out)


@meta_key_format.on("result")
def _keys_of_result(message: Message, session: Session, out: Sheet) -> None:
    result = message.result
    if "_meta" in result:
        _judge_meta(result, message, out)
    request = message.request
    find = _IN_RESULT.get(request.method or "") if request is not None else None
    if find is not None:
        for holder in find(result):
            if "_meta" in holder:
                _judge_meta(holder, message, out)


def _judge_meta(holder: _Object, message: Message, out: Sheet) -> None:
    meta = holder.get("_meta")
    if type(meta) is dict:
        for key in meta:
            _judge_key(key, message, out)


def _judge_key(key: str, message: Message, out: Sheet) -> None:
    kept, broken = (_known if len(key) <= MAX_KNOWN else _duties)(key)
    for clause in kept:
        out.held(message, clause=clause)
    if broken == PREFIX_CLAUSE:
        out.broke(
            message,
            "the prefix of a _meta key is malformed",
            seen=f"key {shown(key)}",
            expected="labels separated by dots before the slash, such as com.example/",
            clause=PREFIX_CLAUSE,
        )
    elif broken == NAME_CLAUSE:
        out.broke(
            message,
            "the name of a _meta key is malformed",
            seen=f"key {shown(key)}",
            expected="letters, digits, '.', '_' and '-', with a letter or digit at both ends",
            clause=NAME_CLAUSE,
        )


def _duties(key: str) -> tuple[tuple[str, ...], str | None]:
    """The clauses that a key keeps, and the one that it breaks, if any."""
    prefix, slash, name = key.partition("/")
    if not slash:
        name = key
    elif _PREFIX.fullmatch(prefix) is None:
        return (), PREFIX_CLAUSE
    kept = (PREFIX_CLAUSE,) if slash else ()
    if name and _NAME.fullmatch(name) is None:
        return kept, NAME_CLAUSE
    return ((*kept, NAME_CLAUSE) if name or slash else kept), None


_known = lru_cache(maxsize=1024)(_duties)
"""A session has few different keys."""


def _blocks(value: Any, depth: int = 0) -> list[_Object]:
    """Content blocks, one or an array of them, with what they embed."""
    found: list[_Object] = []
    for block in value if type(value) is list else (value,):
        if type(block) is not dict:
            continue
        found.append(block)
        embedded = block.get("resource")
        if type(embedded) is dict:
            found.append(embedded)
        if block.get("type") == "tool_result" and depth < MAX_NESTING:
            found += _blocks(block.get("content"), depth + 1)
    return found


def _in_sampling_params(params: _Object) -> Iterator[_Object]:
    for message in objects(params.get("messages")):
        yield message
        yield from _blocks(message.get("content"))
    yield from objects(params.get("tools"))


def _in_prompt(result: _Object) -> Iterator[_Object]:
    for message in objects(result.get("messages")):
        yield from _blocks(message.get("content"))


def _in_content(result: _Object) -> Iterable[_Object]:
    content = result.get("content")
    return () if _is_mere_text(content) else _blocks(content)


def _is_mere_text(content: Any) -> bool:
    """Whether content is, as most, text blocks without `_meta`; told fast."""
    if type(content) is not list:
        return False
    for block in content:
        if type(block) is not dict or block.get("type") != "text" or "_meta" in block:
            return False
        if "resource" in block:
            return False
    return True


def _listed_under(member: str) -> Callable[[_Object], Iterator[_Object]]:
    return lambda result: objects(result.get(member))


_IN_RESULT: Mapping[str, Callable[[_Object], Iterable[_Object]]] = {
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
