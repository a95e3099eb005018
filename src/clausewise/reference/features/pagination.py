"""Pages of a list behind opaque, stateless cursors."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from clausewise.reference.call import Call
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError


def page(items: Sequence[JsonObject], key: str, call: Call, size: int) -> JsonObject:
    """The page of at most `size` items that `params.cursor` names: `{key: […], nextCursor?}`.

    Raises:
        RpcError: the cursor is none that this list gave out (invalid params).
    """
    start = 0
    if call.params.get("cursor") is not None:
        start = _offset(call.params["cursor"], call.method, range(size, len(items), size))
    result: JsonObject = {key: list(items[start : start + size])}
    if start + size < len(items):
        result["nextCursor"] = _cursor(call.method, start + size)
    return result


def _cursor(method: str, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{method}@{offset}".encode()).decode("ascii")


def _offset(cursor: Any, method: str, offsets: range) -> int:
    invalid = RpcError(INVALID_PARAMS, "params.cursor is no cursor of this list")
    if not isinstance(cursor, str):
        raise invalid
    try:
        text = base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise invalid from None
    for offset in offsets:
        if text == f"{method}@{offset}":
            return offset
    raise invalid
