"""Read members of foreign JSON that may be of any type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from clausewise.core.errors import TraceError
from clausewise.wire.jsontext import JsonTextError, decode

_BOM = b"\xef\xbb\xbf"
_FARTHEST_MS = 1e15


def decoded(document: bytes, name: str) -> Any:
    """The JSON value of a whole document, with or without a byte order mark.

    Raises:
        TraceError: it is no JSON.
    """
    try:
        return decode(document.removeprefix(_BOM))
    except JsonTextError as error:
        raise TraceError(f"{name}: no JSON: {error}") from None


def mapping(record: Any, key: str) -> Mapping[str, Any]:
    """The object under `key`; empty where there is none."""
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, dict) else {}


def objects(record: Any, key: str) -> list[dict[str, Any]]:
    """The objects in the array under `key`."""
    value = record.get(key) if isinstance(record, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(record: Mapping[str, Any], key: str) -> str | None:
    """The string under `key`, or None; it may have lone surrogates."""
    value = record.get(key)
    return value if isinstance(value, str) else None


def word(record: Mapping[str, Any], key: str) -> str:
    """The string under `key` with lone surrogates escaped; empty where there is none."""
    return (text(record, key) or "").encode("utf-8", "backslashreplace").decode("utf-8")


def status(record: Mapping[str, Any], key: str) -> int | None:
    """The HTTP status under `key`; None where there is none (0 stands for that, too)."""
    value = record.get(key)
    is_status = isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 999
    return value if is_status else None


def milliseconds(record: Mapping[str, Any], key: str) -> float:
    """The duration under `key`; 0 where there is none or it is no sensible number."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(value) if 0 <= value < _FARTHEST_MS and math.isfinite(value) else 0.0


def moment(record: Mapping[str, Any], key: str) -> float | None:
    """The point in time under `key` (ISO 8601) in milliseconds since 1970, or None."""
    value = text(record, key)
    if value is None:
        return None
    try:
        when = datetime.fromisoformat(value)
        return None if when.tzinfo is None else when.timestamp() * 1000
    except (ValueError, OverflowError):
        return None


def encoded(value: str) -> bytes | None:
    """`value` in UTF-8; None if it has lone surrogates, which stand for bytes that are lost."""
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        return None
