"""Decode JSON text exactly: integers of any size, and what RFC 8259 allows, no more."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

_DIGITS_TO_ZERO = bytes(ord("0") if 0x30 <= byte <= 0x39 else byte for byte in range(256))
_LONG_NUMBER = b"0" * 19
_STEP = 4
_SAMPLED_NUMBER = b"0" * (len(_LONG_NUMBER) // _STEP)


class JsonTextError(ValueError):
    """The text is no JSON value; the message says why and where."""


def decode(text: bytes) -> Any:
    """The value of a JSON text (UTF-8).

    orjson turns integers beyond 64 bit into floats and refuses lone surrogate escapes,
    so a text with a number of 19 or more digits, or one that orjson refuses, is read
    again by the standard library, strictly.

    Raises:
        JsonTextError: not UTF-8, not JSON (RFC 8259), or nested too deeply.
    """
    if _may_hold_long_number(text):
        return _decode_slowly(text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _decode_slowly(text)


def _may_hold_long_number(text: bytes) -> bool:
    """Whether 19 digits stand in a row; nearly always told from every fourth byte alone."""
    sample = text[::_STEP].translate(_DIGITS_TO_ZERO)
    return _SAMPLED_NUMBER in sample and _LONG_NUMBER in text.translate(_DIGITS_TO_ZERO)


def _decode_slowly(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise JsonTextError(f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise JsonTextError("nested too deeply") from None
    except ValueError as error:
        raise JsonTextError(str(error)) from None


def _refuse_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is no JSON number")
