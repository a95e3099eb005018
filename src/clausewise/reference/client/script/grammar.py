"""The members that each step and answer may have, and what each must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clausewise.core.errors import UsageError
from clausewise.core.suggestion import did_you_mean
from clausewise.reference.client.answers import Action
from clausewise.reference.client.listing import MEMBERS as LISTS
from clausewise.reference.client.script.step import Do
from clausewise.reference.client.script.values import (
    Check,
    an_object,
    array,
    by_pointer,
    count,
    extensions,
    file_uri,
    flag,
    one_of,
    pointers,
    seconds,
    some_texts,
    text,
    texts,
    texts_by_name,
)


class LogLevel(StrEnum):
    """The levels of RFC 5424."""

    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"
    ALERT = "alert"
    EMERGENCY = "emergency"


class What(StrEnum):
    """What can be listed."""

    TOOLS = "tools"
    PROMPTS = "prompts"
    RESOURCES = "resources"
    TEMPLATES = "templates"
    TASKS = "tasks"

    @property
    def method(self) -> str:
        return "resources/templates/list" if self is What.TEMPLATES else f"{self.value}/list"

    @property
    def member(self) -> str:
        """The member of the result that holds the entries."""
        return LISTS[self.method]


@dataclass(frozen=True, slots=True)
class Member:
    """One member: what it must be, and whether it must be there."""

    check: Check
    required: bool = False


Members = Mapping[str, Member]

COMMON: Members = {
    "do": Member(one_of(Do), required=True),
    "name": Member(text),
    "within": Member(seconds),
    "expect": Member(by_pointer),
    "present": Member(pointers),
    "absent": Member(pointers),
}
"""The members that every step may have."""

_OF = {"of": Member(text, required=True)}
_URI = {"uri": Member(text, required=True)}
_BESIDE = {"background": Member(flag), "progress": Member(flag)}

STEPS: Mapping[Do, Members] = {
    Do.LIST: {
        "what": Member(one_of(What), required=True),
        "fresh": Member(flag),
        "pages": Member(count),
    },
    Do.CALL: {
        "tool": Member(text, required=True),
        "arguments": Member(an_object),
        "task": Member(an_object),
        **_BESIDE,
    },
    Do.READ: {**_URI, **_BESIDE, "fresh": Member(flag)},
    Do.GET: {"prompt": Member(text, required=True), "arguments": Member(texts_by_name), **_BESIDE},
    Do.COMPLETE: {
        "prompt": Member(text),
        "template": Member(text),
        "argument": Member(text, required=True),
        "value": Member(text, required=True),
        "context": Member(texts_by_name),
    },
    Do.SUBSCRIBE: _URI,
    Do.UNSUBSCRIBE: _URI,
    Do.LISTEN: {
        "tools": Member(flag),
        "prompts": Member(flag),
        "resources": Member(flag),
        "uris": Member(texts),
    },
    Do.STOP: _OF,
    Do.PING: {},
    Do.SET_LEVEL: {"level": Member(one_of(LogLevel), required=True)},
    Do.ANSWER: {},
    Do.AWAIT: _OF,
    Do.CANCEL: {**_OF, "reason": Member(text)},
    Do.RESUME: _OF,
    Do.WAIT: {"notification": Member(text, required=True), "count": Member(count)},
    Do.TASK_GET: _OF,
    Do.TASK_RESULT: _OF,
    Do.TASK_CANCEL: _OF,
    Do.REQUEST: {"method": Member(text, required=True), "params": Member(an_object)},
}
"""The members of each step beside the common ones."""

ROOT: Members = {"uri": Member(file_uri, required=True), "name": Member(text)}
FORM: Members = {"action": Member(one_of(Action), required=True), "content": Member(an_object)}
SAMPLING: Members = {
    "refuse": Member(flag),
    "text": Member(text),
    "models": Member(some_texts),
    "tool": Member(text),
    "input": Member(an_object),
}
ANSWERS: Members = {
    "form": Member(lambda value: checked(value, FORM, "form")),
    "url": Member(one_of(Action)),
    "sampling": Member(lambda value: checked(value, SAMPLING, "sampling")),
    "extensions": Member(extensions),
    "roots": Member(
        lambda value: tuple(checked(one, ROOT, "a root") for one in array(value, "roots"))
    ),
}
"""What the client may be told to answer, at the top of a script and in a step `answer`."""


def checked(value: Any, members: Members, where: str) -> dict[str, Any]:
    """The members of a table, each as its check gives it.

    Raises:
        UsageError: no table, an unknown or a missing member, or one that is not what it must be.
    """
    if not isinstance(value, dict):
        raise UsageError(f"{where} is no table")
    for name in value:
        if name not in members:
            near = did_you_mean(name, members)
            raise UsageError(
                f"{where} has the unknown member {name!r}",
                near or f"It may have {', '.join(members)}.",
            )
    missing = [name for name, member in members.items() if member.required and name not in value]
    if missing:
        raise UsageError(f"{where} lacks {missing[0]!r}", "Add it.")
    found: dict[str, Any] = {}
    for name, given in value.items():
        try:
            found[name] = members[name].check(given)
        except ValueError as error:
            raise UsageError(f"{name!r} of {where} must be {error}") from None
    return found
