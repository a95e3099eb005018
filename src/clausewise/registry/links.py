"""Links that land on one sentence of a published page (URL text fragments)."""

from __future__ import annotations

from urllib.parse import quote

from clausewise.core.vocabulary import Revision

SITE = "https://modelcontextprotocol.io"

_KEPT_IN_DIRECTIVE = "!'()*~"
"""What `encodeURIComponent` leaves alone besides letters, digits, `.` and `_`.

The text-fragment grammar reserves `-`, `,` and `&` on top; those are always encoded
(https://wicg.github.io/scroll-to-text-fragment, section 3.3).
"""


def encode_term(text: str) -> str:
    """Percent-encode one term of a text directive: UTF-8, with `-`, `,` and `&` encoded."""
    return quote(text, safe=_KEPT_IN_DIRECTIVE).replace("-", "%2D")


def text_directive(start: str, end: str | None = None, prefix: str | None = None) -> str:
    """The `:~:text=[prefix-,]start[,end]` part of a link, encoded."""
    before = f"{encode_term(prefix)}-," if prefix else ""
    after = f",{encode_term(end)}" if end else ""
    return f":~:text={before}{encode_term(start)}{after}"


def page_url(revision: Revision, page: str, anchor: str) -> str:
    """The address of a heading; `page` is a path below the revision, or `registry/…`.

    An empty `anchor` gives the page with a bare `#`, to which a text directive can be added.
    """
    base = SITE if page.startswith("registry/") else f"{SITE}/specification/{revision.value}"
    return f"{base}/{page}#{anchor}"


def sentence_url(
    revision: Revision,
    page: str,
    anchor: str,
    terms: tuple[str, str | None, str | None],
) -> str:
    """The address of a sentence; `terms` are its start, end and prefix (see `text_directive`)."""
    return page_url(revision, page, anchor) + text_directive(*terms)
