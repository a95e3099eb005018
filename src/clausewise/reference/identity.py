"""What the reference server says of itself, in both eras."""

from __future__ import annotations

from clausewise import __version__
from clausewise.reference.features.resources import ICON
from clausewise.reference.messages import JsonObject

SERVER_INFO: JsonObject = {
    "name": "clausewise-reference",
    "title": "Clausewise reference server",
    "version": __version__,
    "icons": [ICON],
}

INSTRUCTIONS = "Every tool but touch_counter and announce_lists is read-only and safe to call."
