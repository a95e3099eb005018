"""Whether to use colours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO


def use_colour(choice: str, stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """What `--color`, then NO_COLOR, then FORCE_COLOR, then the terminal say."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"
