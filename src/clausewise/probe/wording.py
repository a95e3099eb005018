"""Name JSON values in findings: short, in JSON's own spelling, whatever a server sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_LONGEST = 60


def named(value: Any) -> str:
    """`value` in a few words: scalars as JSON text, cut when long; else the kind of value."""
    if isinstance(value, dict):
        return "an empty object" if not value else "an object"
    if isinstance(value, list):
        return "an empty array" if not value else "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def named_member(members: Mapping[str, Any], key: str) -> str:
    """A member with its value in a few words, or that it is missing: `no key`."""
    return f"{key} {named(members[key])}" if key in members else f"no {key}"
