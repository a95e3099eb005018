"""ANSI styles of the terminal report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clausewise.core.vocabulary import Outcome

_CODES: Mapping[str, str] = {
    Outcome.FAIL: "1;31",
    Outcome.CRASHED: "1;35",
    Outcome.WARN: "1;33",
    Outcome.INCONCLUSIVE: "34",
    Outcome.INFO: "36",
    Outcome.PASS: "32",
    "heading": "1",
    "label": "2",
    "link": "4",
}


@dataclass(frozen=True, slots=True)
class Style:
    """Paints text by role (an outcome, `heading`, `label`, `link`) when `colour` is set."""

    colour: bool

    def paint(self, text: str, role: str) -> str:
        code = _CODES.get(role)
        if not self.colour or code is None or not text:
            return text
        return f"\x1b[{code}m{text}\x1b[0m"
