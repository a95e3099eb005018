"""Standard output: how wide it is, and text that its encoding can carry."""

from __future__ import annotations

import shutil
import sys

import click

WIDEST = 100
"""Columns beyond which lines get hard to read."""


def terminal_width() -> int:
    """Columns to use: those of the terminal or of COLUMNS, at most `WIDEST`."""
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def show(text: str, *, for_people: bool) -> None:
    """Write `text` to standard output as it is.

    Text for people is escaped where the terminal's encoding lacks a character; for
    machines it is UTF-8 whatever the terminal speaks.
    """
    encoding = (sys.stdout.encoding or "utf-8") if for_people else "utf-8"
    click.echo(text.encode(encoding, "backslashreplace"), nl=False)
