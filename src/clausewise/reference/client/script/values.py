"""What the members of a script may be."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any
from urllib.parse import unquote

from clausewise.core.suggestion import did_you_mean
from clausewise.wire.jsontext import JsonTextError, decode

_LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_EXTENSION = re.compile(rf"{_LABEL}(?:\.{_LABEL})*/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")

Check = Callable[[Any], Any]
"""Gives the value as it is used; raises ValueError with what it must be."""


def text(value: Any) -> str:
    """Text."""
    _demand(isinstance(value, str), "text")
    return str(value)


def flag(value: Any) -> bool:
    """A truth value."""
    _demand(isinstance(value, bool), "true or false")
    return bool(value)


def count(value: Any) -> int:
    """A whole number from 0 on."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    _demand(is_count, "a whole number from 0 on")
    return int(value)


def seconds(value: Any) -> float:
    """A time above 0."""
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    _demand(is_time, "a number of seconds above 0")
    return float(value)


def an_object(value: Any) -> dict[str, Any]:
    """A table, or JSON text of an object, which can hold null."""
    if isinstance(value, str):
        try:
            value = decode(value.encode("utf-8"))
        except JsonTextError as error:
            raise ValueError(f"a table or the JSON text of an object ({error})") from None
    _demand(isinstance(value, dict), "a table or the JSON text of an object")
    return dict(value)


def texts(value: Any) -> tuple[str, ...]:
    """Several texts."""
    is_array = isinstance(value, list) and all(isinstance(one, str) for one in value)
    _demand(is_array, "an array of texts")
    return tuple(value)


def some_texts(value: Any) -> tuple[str, ...]:
    """At least one text."""
    _demand(bool(value), "an array of at least one text")
    return texts(value)


def texts_by_name(value: Any) -> dict[str, str]:
    """A table whose values are texts."""
    members = an_object(value)
    _demand(all(isinstance(one, str) for one in members.values()), "a table of texts")
    return members


def one_of(choices: type[StrEnum]) -> Check:
    """A check that takes one of the words of a closed set."""

    def check(value: Any) -> StrEnum:
        if value in list(choices):
            return choices(value)
        near = did_you_mean(value, choices) if isinstance(value, str) else ""
        raise ValueError(f"one of {', '.join(choices)}. {near}".strip())

    return check


def pointers(value: Any) -> tuple[str, ...]:
    """JSON Pointers (RFC 6901)."""
    found = texts(value)
    for one in found:
        _demand_pointer(one)
    return found


def by_pointer(value: Any) -> dict[str, Any]:
    """A table whose names are JSON Pointers."""
    members = an_object(value)
    for one in members:
        _demand_pointer(one)
    return members


def file_uri(value: Any) -> str:
    """A URI of the only scheme that a root may have, of this machine and without detours."""
    is_local = isinstance(value, str) and value.startswith("file:///")
    _demand(is_local, "a file:/// URI")
    segments = unquote(value).split("/")
    _demand(not {".", ".."} & set(segments), "a file:/// URI without . and .. segments")
    return str(value)


def extensions(value: Any) -> dict[str, Any]:
    """A table of extensions, each with the table of its settings."""
    members = an_object(value)
    for name, settings in members.items():
        is_identifier = _EXTENSION.fullmatch(name) and isinstance(settings, dict)
        _demand(bool(is_identifier), "a table of tables, each named like com.example/extension")
    return members


def array(value: Any, of: str) -> list[Any]:
    """An array of what `of` says, in words."""
    _demand(isinstance(value, list), f"an array of {of}")
    return list(value)


def _demand_pointer(value: str) -> None:
    is_pointer = not value or value.startswith("/")
    _demand(is_pointer, f"JSON Pointers such as /result/content/0/text; {value!r} is none")


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
