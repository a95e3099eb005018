"""Pages of a list behind opaque, stateless cursors."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

from clausewise.reference.call import Call
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError

_NUMBER = re.compile(r"[1-9][0-9]{0,14}")


def page(items: Sequence[JsonObject], key: str, call: Call, size: int) -> JsonObject:
    """The page of at most `size` items that `params.cursor` names: `{key: […], nextCursor?}`.

    Raises:
        RpcError: the cursor is none that this list gave out (invalid params).
    """
    start = 0
    if call.params.get("cursor") is not None:
        start = position(call.params["cursor"], call.method)
        if start not in range(size, len(items), size):
            raise invalid_cursor()
    result: JsonObject = {key: list(items[start : start + size])}
    if start + size < len(items):
        result["nextCursor"] = cursor_at(call.method, start + size)
    return result


def cursor_at(method: str, number: int) -> str:
    """The cursor of the list `method` for a position in it."""
    return base64.urlsafe_b64encode(f"{method}@{number}".encode()).decode("ascii")


def position(cursor: Any, method: str) -> int:
    """The position that a cursor of the list `method` was made for.

    Raises:
        RpcError: it is no such cursor (invalid params).
    """
    if not isinstance(cursor, str):
        raise invalid_cursor()
    try:
        text = base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise invalid_cursor() from None
    listed, _, number = text.rpartition("@")
    if listed != method or not _NUMBER.fullmatch(number):
        raise invalid_cursor()
    return int(number)


def invalid_cursor() -> RpcError:
    """The error for a cursor that the list did not give out."""
    return RpcError(INVALID_PARAMS, "params.cursor is no cursor of this list")
