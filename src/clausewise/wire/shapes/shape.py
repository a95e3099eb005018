"""A compiled shape: what a value must look like, with a fast yes or no."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from clausewise.core.vocabulary import Revision
from clausewise.wire.shapes.catalogue import self_contained
from clausewise.wire.shapes.notation import Schema

_DEEPEST = 200
"""Levels kept of a value too deep for the engine (254); no definition is recursive, so that none
of them looks anywhere near that far down."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value must look like in one revision; `name` says what it is the shape of.

    Formats (`uri`, `uri-template`) are asserted. Numbers compare by value: `1.0` is an integer.
    """

    name: str
    revision: Revision
    _validator: Draft202012Validator

    @property
    def fits(self) -> Callable[[Any], bool]:
        """As `is_valid`, with as little around it as can be; raises ValueError for odd values."""
        return self._validator.is_valid

    def is_valid(self, value: Any) -> bool:
        """Whether the value has this shape; about a microsecond for a usual message."""
        try:
            return self._validator.is_valid(value)
        except ValueError:  # a lone surrogate, which the engine cannot take
            return self._validator.is_valid(_tamed(value))

    def errors(self, value: Any) -> Iterator[ValidationError]:
        """The engine's errors; of a bounded copy if the value is too deep for it."""
        try:
            return iter(self._validator.iter_errors(value))
        except ValueError:
            return iter(self._validator.iter_errors(_tamed(value)))


def compile_shape(revision: Revision, name: str, schema: Schema) -> Shape:
    """The shape of `schema`, whose references name definitions of `revision`."""
    document = self_contained(revision, schema)
    return Shape(
        name, revision, Draft202012Validator(document, validate_formats=True, offline=True)
    )


def _tamed(value: Any, depth: int = 0) -> Any:
    """A copy with lone surrogates escaped, cut off below `_DEEPEST`."""
    if depth == _DEEPEST:
        return None if isinstance(value, (dict, list)) else value
    if isinstance(value, dict):
        return {_well_formed(key): _tamed(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [_tamed(part, depth + 1) for part in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _well_formed(name: str) -> str:
    """The name in Unicode, different for different names: a collision would hide a member."""
    return name.replace("\\", "\\\\").encode("utf-8", "backslashreplace").decode("utf-8")
