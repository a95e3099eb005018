"""All modern exchanges of a run: what the passive rules are judged on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clausewise.core.vocabulary import LEGACY_REVISIONS, Era, TransportKind
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Request
from clausewise.wire.meta import META_VERSION


@dataclass(frozen=True, slots=True)
class Traffic:
    """The exchanges of a run in the modern era, in the order of their answers.

    Exchanges with another path are left out, legacy sessions, and on a dual-era server
    also what its legacy half may have answered: GET, DELETE, and requests that name no
    modern version.
    A deliberate fault shows as `reply.request.rule`.
    """

    transport: TransportKind
    era: Era
    replies: tuple[Reply, ...]

    @property
    def results(self) -> Iterator[Reply]:
        """The exchanges that gave a result."""
        return (reply for reply in self.replies if isinstance(reply.result, dict))

    @property
    def errors(self) -> Iterator[Reply]:
        """The exchanges that gave a JSON-RPC error."""
        return (reply for reply in self.replies if reply.error is not None)

    @property
    def conforming(self) -> Iterator[Reply]:
        """The exchanges whose request had no deliberate fault."""
        return (reply for reply in self.replies if not reply.request.injected)

    @property
    def extensions(self) -> frozenset[str] | None:
        """The extensions that the server advertises; None when no `DiscoverResult` was seen."""
        for reply in self.results:
            capabilities = reply.fields.get("capabilities")
            if reply.request.method == "server/discover" and isinstance(capabilities, dict):
                advertised = capabilities.get("extensions")
                return frozenset(advertised) if isinstance(advertised, dict) else frozenset()
        return None


def is_modern(request: Request, transport: TransportKind, era: Era) -> bool:
    """Whether only the modern half of a server of `era` can have answered `request`."""
    if request.path is not None:
        return False
    if era is Era.MODERN:
        return True
    if request.method is None:
        return False
    if transport is TransportKind.HTTP:
        version = _header(request, b"mcp-protocol-version")
    else:
        meta = (request.params or {}).get("_meta")
        version = meta.get(META_VERSION) if isinstance(meta, dict) else None
    return isinstance(version, str) and bool(version) and version not in LEGACY_REVISIONS


def _header(request: Request, name: bytes) -> str | None:
    for key, value in request.headers:
        if key.lower() == name:
            return value.decode("utf-8", "replace")
    return None
