"""Stored documents named on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from clausewise.core.errors import UsageError


def read_document(name: str) -> bytes:
    """The bytes of the file `name`; `-` is standard input.

    Raises:
        UsageError: it cannot be read.
    """
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {name}: {error.strerror}", "Name a file that exists, or - for a pipe."
        ) from None
