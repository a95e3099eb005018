"""Which sessions this revision's clauses judge, decided from as little as need be."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from clausewise.core.vocabulary import (
    PUBLISHED_REVISIONS,
    Direction,
    Revision,
)
from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.handshake import INITIALIZE, is_version_token
from clausewise.judge.wording import ABSENT, shown
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import IdKey, id_key
from clausewise.wire.meta import META_VERSION

_C2S = Direction.CLIENT_TO_SERVER

JUDGED = Revision.LEGACY.value
VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
MAX_WAITING = 256
"""Events of a session that wait until its revision is known."""


class Mode(StrEnum):
    """How much of a session is judged."""

    FULL = "full"
    HANDSHAKE = "handshake"
    NONE = "none"


def named_version(head: Event | None, payload: Any) -> str | None:
    """The revision that a client's message names: in `_meta`, else in the header, else None.

    The Mcp-Method header came with 2026-07-28 and names it without saying so.
    """
    named = meta_version(payload)
    if named is None and head is not None:
        named = head.header(VERSION_HEADER)
        if named is None and head.header(METHOD_HEADER) is not None:
            return Revision.MODERN.value
    return named if isinstance(named, str) else None


def meta_version(payload: Any) -> Any:
    """The protocol version in the `_meta` of a request, or None."""
    params = payload.get("params") if isinstance(payload, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(META_VERSION) if isinstance(meta, dict) else None


class Gate:
    """Watches a session until its revision can be told.

    The negotiated version decides; without one the requested; without an initialize request
    what the messages name; without that the revision the user names, else 2025-11-25, which
    is the newest that a session without any name can be.

    `pending` has the initialize requests that wait for an answer.
    """

    def __init__(self, default: Revision | None) -> None:
        self._default = default
        self.pending: dict[IdKey, Any] = {}
        self._requested: Any = None
        self._saw_initialize = False
        self._negotiated: Any = None
        self._saw_result = False
        self._was_refused = False
        self._was_served = False
        self._named: str | None = None
        # What a driver's deliberate faults name counts only where nothing else does.
        self._named_in_fault: str | None = None

    def is_concerned(self, event: Event) -> bool:
        """Whether `watch` could learn from this event after the revision was settled."""
        payload = event.payload
        if type(payload) is not dict:
            return False
        if "method" in payload:
            return payload["method"] == INITIALIZE and event.direction is _C2S
        return bool(self.pending)

    def watch(self, event: Event, exchange: Exchange | None) -> bool:
        """Take in an event; says whether it settles the revision."""
        payload = event.payload
        if event.direction is _C2S:
            self._hear(event, exchange)
        if type(payload) is not dict:
            return False
        if event.direction is _C2S:
            if payload.get("method") == INITIALIZE and "id" in payload:
                self._request(payload)
            return False
        if "method" in payload:
            return False
        self._was_refused |= "error" in payload
        self._was_served |= "result" in payload
        if not self.pending or "result" not in payload:
            return False
        key = id_key(payload.get("id"))
        if key not in self.pending:
            return False
        self._requested = self.pending.pop(key)
        result = payload["result"]
        self._negotiated = result.get("protocolVersion") if isinstance(result, dict) else None
        self._saw_result = True
        return True

    def _hear(self, event: Event, exchange: Exchange | None) -> None:
        if self._named is None and event.injected is None:
            self._named = _named_by(event, exchange)
        elif self._named_in_fault is None:
            self._named_in_fault = _named_by(event, exchange)

    def _request(self, payload: dict[str, Any]) -> None:
        params = payload.get("params")
        version = params.get("protocolVersion", ABSENT) if isinstance(params, dict) else ABSENT
        if version is ABSENT and (named := meta_version(payload)) is not None:
            # A modern request of the removed method is no legacy handshake.
            version = named
        self._requested = version
        self._saw_initialize = True
        if len(self.pending) < MAX_WAITING:
            self.pending[id_key(payload["id"])] = version

    @property
    def revision(self) -> str:
        """The revision of the session as far as it is known."""
        if self._saw_result and _is_published(self._negotiated):
            return str(self._negotiated)
        if self._saw_initialize:
            requested = self._requested
            # A request that names no revision at all is wrong in every revision.
            return requested if is_version_token(requested) else self._fallback
        named = self._named or self._named_in_fault
        return named if named is not None and is_version_token(named) else self._fallback

    @property
    def _fallback(self) -> str:
        return (self._default or Revision.LEGACY).value

    @property
    def mode(self) -> Mode:
        """How much of the session is judged by 2025-11-25."""
        if self.revision == JUDGED:
            return Mode.FULL
        if self._saw_initialize and self._requested == JUDGED:
            return Mode.HANDSHAKE
        return Mode.NONE

    @property
    def is_spoken(self) -> bool:
        """Whether both sides speak the revision: a modern client may be refused throughout."""
        answered = self._was_served or not self._was_refused
        return answered or self._saw_initialize or self.revision == JUDGED

    @property
    def remark(self) -> str | None:
        """Why the session is not, or not wholly, judged; None if it is."""
        if not self.is_spoken:
            return f"asks for {shown(self.revision)} and gets no result"
        if self.mode is Mode.NONE:
            return f"speaks {shown(self.revision)} and is not judged by {JUDGED}"
        if self.mode is Mode.HANDSHAKE:
            return (
                f"asked for {JUDGED} and got {shown(self.revision)}: "
                "its handshake is judged, the rest is not"
            )
        return None


def _named_by(event: Event, exchange: Exchange | None) -> str | None:
    head = exchange.head if exchange is not None else None
    if event is head and exchange is not None and exchange.has_body:
        return None
    return named_version(head, event.payload)


def _is_published(value: Any) -> bool:
    return isinstance(value, str) and value in PUBLISHED_REVISIONS
