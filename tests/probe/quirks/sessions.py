"""Quirks of the legacy era: servers of that era alone, without session ids, with one stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.core.vocabulary import Era
from clausewise.reference.defects.legacy_rewiring import legacy
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import Wiring
from tests.probe.quirks.features import (
    ODD_TOOLS,
    in_turn,
    with_capabilities,
    with_tools,
    without,
)
from tests.probe.quirks.framing import Chunked, CloseDelimited, Wordy, post_only
from tests.probe.quirks.serving import Front, Quirk

_LEGACY = ServerOptions(era=Era.LEGACY)
_SESSION = b"mcp-session-id"


class Sessionless(HttpExchange):
    """Keeps to itself which session is meant."""

    latest: dict[int, bytes]

    def _head_bytes(self, head: HttpHead, framing: tuple[str, str]) -> bytes:
        for name, value in head.headers:
            if name.lower().encode() == _SESSION:
                self.latest[0] = value.encode()
        kept = tuple(h for h in head.headers if h[0].lower().encode() != _SESSION)
        return super()._head_bytes(replace(head, headers=kept), framing)


def sessionless() -> Front:
    """Every request belongs to the latest session; only POST is served."""
    latest: dict[int, bytes] = {}
    only_post = post_only()

    async def front(exchange: HttpExchange) -> bool:
        if not await only_post(exchange):
            return False
        assert isinstance(exchange, Sessionless)
        exchange.latest = latest
        headers = tuple(h for h in exchange.request.headers if h[0] != _SESSION)
        if latest and b'"initialize"' not in exchange.request.body:
            headers += ((_SESSION, latest[0]),)
        exchange.request = replace(exchange.request, headers=headers)
        return True

    return front


def _quiet(_name: str, settings: Any) -> Any:
    return {k: v for k, v in settings.items() if k not in ("listChanged", "subscribe")}


def _more_versions(wiring: Wiring) -> Wiring:
    return legacy(wiring, versions=(*wiring.legacy.versions, "2025-06-18", "2025-03-26"))


_PLAIN = in_turn(
    without("logging", "tasks", "completions", "prompts", "resources"),
    with_tools(*ODD_TOOLS),
    with_capabilities(_quiet),
)

QUIRKS = (
    Quirk("is of the legacy era alone", options=_LEGACY),
    Quirk("is legacy and speaks older revisions, too", _more_versions, options=_LEGACY),
    Quirk("is legacy and has no session ids", _PLAIN, Sessionless, sessionless, _LEGACY),
    Quirk("is legacy and offers POST alone", front=post_only, options=_LEGACY),
    Quirk("is legacy and sends tiny chunks", exchange=Chunked, options=_LEGACY),
    Quirk(
        "is legacy and ends answers with the connection", exchange=CloseDelimited, options=_LEGACY
    ),
    Quirk("is legacy and streams with everything", exchange=Wordy, options=_LEGACY),
)
