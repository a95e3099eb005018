"""What the media ranges of an Accept header say about a media type (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

JSON = "application/json"
ANY = "*/*"


class Listing(Enum):
    """How an Accept header deals with a media type."""

    LISTED = auto()
    REFUSED = auto()
    COVERED = auto()
    ABSENT = auto()


@lru_cache(maxsize=64)
def missing(accept: str, media_types: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `media_types` that the media ranges in `accept` do not list."""
    return tuple(t for t in media_types if listing(accept, t) is not Listing.LISTED)


@lru_cache(maxsize=64)
def listing(accept: str, media_type: str) -> Listing:
    """How the media ranges in `accept` deal with `media_type`, which is in lower case.

    REFUSED: it is listed with the weight 0. COVERED: only a wildcard range matches it.
    Parameters other than the weight are ignored.
    """
    wildcards = (ANY, media_type.partition("/")[0] + "/*")
    found = Listing.ABSENT
    for element in accept.split(","):
        name, _, parameters = element.partition(";")
        name = name.strip().lower()
        if name == media_type:
            if not _has_no_weight(parameters):
                return Listing.LISTED
            found = Listing.REFUSED
        elif name in wildcards and found is Listing.ABSENT:
            found = Listing.COVERED
    return found


def _has_no_weight(parameters: str) -> bool:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            return value.strip() in ("0", "0.", "0.0", "0.00", "0.000")
    return False
