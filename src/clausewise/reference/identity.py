"""What the reference server says of itself, in both eras."""

from __future__ import annotations

from clausewise import __version__
from clausewise.reference.features.resources import PIXEL_PNG
from clausewise.reference.messages import JsonObject

ICON: JsonObject = {
    "src": f"data:image/png;base64,{PIXEL_PNG}",
    "mimeType": "image/png",
    "sizes": ["1x1"],
}

SERVER_INFO: JsonObject = {
    "name": "clausewise-reference",
    "title": "Clausewise reference server",
    "version": __version__,
    "icons": [ICON],
}

INSTRUCTIONS = "Every tool but touch_counter and announce_lists is read-only and safe to call."
