"""Faults of a value against a shape, in words a reader can act on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

from clausewise.wire.shapes.shape import Shape

_SEEN_LIMIT = 80
_CANDIDATES = 10
"""How many faults are looked at for each one wanted: unions and `allOf` yield some twice."""

_DISCRIMINATORS = frozenset({"type", "mode", "method"})
_FORMATS = {"uri": "URI (RFC 3986)", "uri-template": "URI template (RFC 6570)"}
_TYPE_NAMES = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a value misses a shape.

    `path` is the JSON Pointer (RFC 6901) of the faulty part, relative to the checked value;
    `keyword` the JSON Schema keyword it breaks; `seen` that part as JSON, cut to 80 characters.
    """

    path: str
    keyword: str
    message: str
    seen: str


def first_fault(shape: Shape, value: Any) -> Fault | None:
    """The first of `faults`, or None if the value has the shape."""
    return next(iter(faults(shape, value, at_most=1)), None)


def faults(shape: Shape, value: Any, *, at_most: int = 20) -> tuple[Fault, ...]:
    """The faults, each once, in the same order each time; none if the value has the shape.

    Of a union only the alternative that the value evidently means is reported: the one whose
    `type`, `mode` or `method` it carries, else the one it comes nearest to.
    """
    if shape.is_valid(value):
        return ()
    found = (fault for error in shape.errors(value) for fault in _explained(error))
    return tuple(dict.fromkeys(islice(found, _CANDIDATES * at_most)))[:at_most]


def _explained(error: ValidationError) -> Iterator[Fault]:
    if isinstance(error.kind, Kind.AnyOf):
        yield from _explained_union(error, error.kind.context)
    else:
        yield _fault(error, error.kind.name, _message(error))


def _explained_union(
    error: ValidationError, alternatives: Sequence[Sequence[ValidationError]]
) -> Iterator[Fault]:
    here = error.instance_path
    meant = [found for found in alternatives if not _by_discriminator(found, here)]
    meant = [found for found in meant if not _types(found, here)]
    if meant:
        yield from _nearest(error, meant)
        return
    telling = [fault for found in alternatives for fault in _by_discriminator(found, here)]
    if telling:
        expected = _listed(json.dumps(value) for fault in telling for value in _expected(fault))
        yield _fault(telling[0], "anyOf", f"must be {expected}")
        return
    types = [name for found in alternatives for name in _types(found, here)]
    yield _fault(error, "type", f"must be {_listed(types)}, not {_type_name(error.instance)}")


def _nearest(error: ValidationError, meant: Sequence[Sequence[ValidationError]]) -> Iterator[Fault]:
    """The faults of the alternative with the fewest; what is lacking, if that is all there is."""
    here = error.instance_path
    fewest = min(map(len, meant))
    closest = [found for found in meant if len(found) == fewest]
    unnamed = [_DISCRIMINATORS.intersection(_lacking(found, here)) for found in meant]
    if all(unnamed):
        lacking = [name for names in unnamed for name in sorted(names)]
    elif fewest == 1 and all(_lacking(found, here) for found in closest):
        lacking = [name for found in closest for name in _lacking(found, here)]
    else:
        for part in closest[0]:
            yield from _explained(part)
        return
    yield _fault(error, "required", f"lacks {_listed(map(json.dumps, lacking))}")


def _lacking(found: Sequence[ValidationError], here: Sequence[str | int]) -> list[str]:
    """The members that an alternative requires of the value itself, and which it lacks."""
    return [
        error.kind.property
        for error in found
        if isinstance(error.kind, Kind.Required) and error.instance_path == here
    ]


def _by_discriminator(
    found: Sequence[ValidationError], here: Sequence[str | int]
) -> list[ValidationError]:
    """Those of an alternative's errors that say: this value names another alternative."""
    return [
        error
        for error in found
        if isinstance(error.kind, (Kind.Constant, Kind.Enum))
        and error.instance_path[:-1] == here
        and error.instance_path[-1] in _DISCRIMINATORS
    ]


def _types(found: Sequence[ValidationError], here: Sequence[str | int]) -> list[str]:
    """The JSON types an alternative takes, if the value as a whole has none of them."""
    return [
        name
        for error in found
        if isinstance(error.kind, Kind.Type) and error.instance_path == here
        for name in error.kind.types
    ]


def _expected(error: ValidationError) -> Sequence[Any]:
    match error.kind:
        case Kind.Constant(value):
            return [value]
        case Kind.Enum(options):
            return options
    return []


def _message(error: ValidationError) -> str:
    match error.kind:
        case Kind.Type(types):
            return f"must be {_listed(types)}, not {_type_name(error.instance)}"
        case Kind.Required(name):
            return f"lacks {json.dumps(name)}"
        case Kind.Constant() | Kind.Enum():
            return f"must be {_listed(map(json.dumps, _expected(error)))}"
        case Kind.Format(name):
            return f"is no {_FORMATS.get(name, name)}"
        case Kind.Minimum(limit):
            return f"must not be below {limit}"
        case Kind.Maximum(limit):
            return f"must not be above {limit}"
        case Kind.MaxItems(limit):
            return f"has more than {limit} items"
    return f"breaks {error.kind.name}"


def _fault(error: ValidationError, keyword: str, message: str) -> Fault:
    path = "".join(f"/{_escaped(str(step))}" for step in error.instance_path)
    return Fault(path, keyword, message, _seen(error.instance))


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _seen(value: Any) -> str:
    """The start of the value's JSON; written piece by piece, so that its size costs nothing."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        text += piece
        if len(text) > _SEEN_LIMIT:
            text = f"{text[: _SEEN_LIMIT - 1]}…"
            break
    return text.encode("utf-8", "replace").decode("utf-8")


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return _TYPE_NAMES[type(value)]


def _listed(words: Iterable[str]) -> str:
    """The words, each once: `a`, `a or b`, `a, b or c`."""
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} or {last}" if first else last
