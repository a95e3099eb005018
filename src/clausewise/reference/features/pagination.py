"""Pages of a list behind opaque, stateless cursors."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError

PAGE_SIZE = 5


def page(
    items: Sequence[JsonObject], key: str, method: str, params: Mapping[str, Any]
) -> JsonObject:
    """The page of `items` that `params.cursor` names, as `{key: […], nextCursor?}`.

    Raises:
        RpcError: the cursor is none that this list gave out (invalid params).
    """
    start = 0
    if params.get("cursor") is not None:
        start = _offset(params["cursor"], method, len(items))
    result: JsonObject = {key: list(items[start : start + PAGE_SIZE])}
    if start + PAGE_SIZE < len(items):
        result["nextCursor"] = _cursor(method, start + PAGE_SIZE)
    return result


def _cursor(method: str, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{method}@{offset}".encode()).decode("ascii")


def _offset(cursor: Any, method: str, size: int) -> int:
    invalid = RpcError(INVALID_PARAMS, "params.cursor is no cursor of this list")
    if not isinstance(cursor, str):
        raise invalid
    try:
        text = base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise invalid from None
    for offset in range(PAGE_SIZE, size, PAGE_SIZE):
        if text == f"{method}@{offset}":
            return offset
    raise invalid
