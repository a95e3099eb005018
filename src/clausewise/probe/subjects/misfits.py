"""Arguments that do not fit a tool's input schema."""

from __future__ import annotations

from typing import Any

_UNLIKELY: dict[str, Any] = {"clausewise": [{"misfit": None}]}


def misfitting_arguments(schema: Any) -> dict[str, Any]:
    """An odd object for each property, whatever it should be, and one property too many."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = properties if isinstance(properties, dict) else {}
    return {**{name: dict(_UNLIKELY) for name in names}, **_UNLIKELY}
