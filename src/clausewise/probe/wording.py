"""Name JSON values in findings: short, in JSON's own spelling, whatever a server sends."""

from __future__ import annotations

import json
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
