"""The rule about where icons come from (SEC-004)."""

from __future__ import annotations

import binascii
import re
from collections.abc import AsyncIterator, Hashable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from clausewise.core.vocabulary import Outcome, TransportKind
from clausewise.judge.subjects.formats import scheme_of
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke, held, not_applicable
from clausewise.probe.probes.caching import LISTS
from clausewise.probe.registration import probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.listed import entries
from clausewise.probe.wording import named
from clausewise.wire.meta import META_SERVER_INFO

_IGNORED = re.compile(r"[\x00-\x20\x7f]+")
"""What browsers drop from a URL's beginning, and partly from within, before they read it."""

_SCRIPT = re.compile(rb"<script|javascript:|\bon[a-z]+\s*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Icon:
    """The `src` of an icon, what it is the icon of, and the answer it came in."""

    src: Any
    owner: str
    reply: Reply


@probe("MCP-SEC-004")
async def icons_come_from_safe_places(peer: Peer) -> Observation:
    """An icon's `src` is neither an https nor a data URI.

    Why: clients must refuse script, file, ftp, websocket and app schemes, and should refuse
    plain http; a client that does not runs or fetches what the server names.

    Fix: serve icons over https from the server's own host, or inline as
    `data:image/png;base64,…`.
    """
    judged = [_judged(peer, icon) async for icon in _icons(peer)]
    return once_each(judged) if judged else not_applicable("there are no icons")


async def _icons(peer: Peer) -> AsyncIterator[_Icon]:
    reply = await peer.discover()
    meta = reply.fields.get("_meta")
    info = meta.get(META_SERVER_INFO) if isinstance(meta, dict) else None
    for src in _sources(info):
        yield _Icon(src, "the server", reply)
    for capability, method in LISTS:
        if peer.offers(capability):
            for one in entries(await peer.pages(method)):
                for src in _sources(one.definition):
                    yield _Icon(src, f"{one.shown} in {method}", one.reply)


def _sources(owner: Any) -> list[Any]:
    icons = owner.get("icons") if isinstance(owner, dict) else None
    found = icons if isinstance(icons, list) else []
    return [icon.get("src") for icon in found if isinstance(icon, dict)]


def _judged(peer: Peer, icon: _Icon) -> tuple[Hashable, Observation]:
    if not isinstance(icon.src, str):
        return "no URI", _departure(icon, "is no URI", None)
    src = _IGNORED.sub("", icon.src[:4096])
    scheme = scheme_of(src)
    if scheme == "data":
        return "script", _inline(icon)
    if scheme == "http":
        return "http", _departure(icon, "is fetched over plain http", Outcome.WARN)
    if scheme != "https":
        what = f"has the unsafe scheme {scheme}:" if scheme else "is no absolute URI"
        return scheme, _departure(icon, what, None)
    if peer.transport is TransportKind.HTTP and _origin(src) != _origin(peer.url):
        return _origin(src), _departure(icon, "comes from another origin", Outcome.INFO)
    return scheme, held()


def _inline(icon: _Icon) -> Observation:
    head, _, body = str(icon.src).partition(",")
    if "svg" not in head.lower():
        return held()
    data = unquote_to_bytes(body)
    if ";base64" in head.lower():
        try:
            data = binascii.a2b_base64(data)
        except binascii.Error:
            return held()
    if _SCRIPT.search(data) is None:
        return held()
    return _departure(icon, "is an SVG with a script in it", Outcome.INFO)


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme.lower(), (parts.hostname or "").lower(), port
    except ValueError:
        return "", url, None


def _departure(icon: _Icon, what: str, severity: Outcome | None) -> Observation:
    return broke(
        f"the icon of {icon.owner} {what}",
        seen=f"src {named(icon.src)}",
        expected="an https URI of the server's own origin, or a data: URI",
        severity=severity,
        evidence=icon.reply,
    )
