"""Version strings of a server.json.

Source: docs/registry/versioning; Semantic Versioning 2.0.0.
"""

from __future__ import annotations

import re
from enum import Enum

MAX_LENGTH = 255
_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMANTIC = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)
_RANGE = re.compile(
    r"\s*(?:[\^~<>=])"  # ^1.2.3, ~1.2.3, >=1.2.3
    r"|.*\|\|"  # 1.2 || 1.3
    r"|.*\S\s+-\s+\S"  # 1 - 2
    r"|v?(?:[0-9]+\.)*[xX*](?:\.[0-9xX*]+)*\s*$"  # 1.x, 1.2.*, *
    r"|.*[0-9.]\s*,\s*[<>=~^]"  # >=1, <2
)


class Kind(Enum):
    """What a version string is."""

    SEMANTIC = "semantic"
    CONCRETE = "concrete"
    """One version by another scheme: allowed, and always taken for the latest."""
    RANGE = "range"
    """It appears to refer to several versions."""


def kind_of(version: str) -> Kind:
    """Whether `version` is a semantic version, another concrete one, or a range."""
    if _SEMANTIC.fullmatch(version):
        return Kind.SEMANTIC
    return Kind.RANGE if _RANGE.match(version) else Kind.CONCRETE
