"""What a trace keeps of bytes that are no message: so much, and with the right claim."""

from __future__ import annotations

RAW_CLIP_BYTES = 16 * 1024
"""How much of something that is no message a trace keeps."""

CUT_SHORT = "cut short: "
"""How the `why` of a raw event begins when its bytes are not all: they prove no fault."""


def clipped(data: bytes, why: str) -> tuple[bytes, str]:
    """At most RAW_CLIP_BYTES of `data`, and `why` with the cut told if there was one."""
    if len(data) <= RAW_CLIP_BYTES:
        return data, why
    kept = data[:RAW_CLIP_BYTES]
    kept = kept[: len(kept) - _cut_character(kept)]
    return kept, f"{why}; the first {len(kept)} of {len(data)} bytes"


def _cut_character(data: bytes) -> int:
    """How many bytes at the end of `data` begin a UTF-8 character that is not whole."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            width = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return back if width > back else 0
    return 0
