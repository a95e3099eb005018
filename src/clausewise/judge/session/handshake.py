"""What the initialization phase of a session settled, and the revision that follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import PUBLISHED_REVISIONS, Direction, Party
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.wording import ABSENT
from clausewise.wire.jsonrpc import MessageClass

INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"

_SERVER = Party.SERVER
_TASKS = "tasks"
_OF_OBJECTS = frozenset({"elicitation", "sampling"})
"""Capabilities whose members are declared by objects, as the capability itself is."""
_DATE_SHAPED = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DRAFT_PREFIX = "DRAFT-"


def is_version_token(value: Any) -> bool:
    """Whether `value` names a revision at all: a date or a draft's name."""
    return isinstance(value, str) and (
        _DATE_SHAPED.fullmatch(value) is not None or value.startswith(_DRAFT_PREFIX)
    )


def _published(value: Any) -> str | None:
    return value if isinstance(value, str) and value in PUBLISHED_REVISIONS else None


@dataclass(slots=True, eq=False)
class Handshake:
    """The last initialize request of a session and the last successful answer to one.

    Attributes:
        request: the last initialize request, None before there is one.
        pending: whether that request is still unanswered.
        result_seq: seq of the last initialize result, or None.
        result: that result if it is an object, else empty.
        version: the negotiated version if it is a published one, else None.
        accepted: the request that result answered.
        initialized_seq: seq of the first initialized notification after it, or None.
        overlapping_seq: seq of an initialize request sent while another was pending, or None.
        is_open: whether the initialization phase is not over: the client has not yet said that
            it is initialized, or the handshake has begun anew.
    """

    request: Request | None = None
    pending: bool = False
    result_seq: int | None = None
    result: dict[str, Any] | None = None
    version: str | None = None
    accepted: Request | None = None
    initialized_seq: int | None = None
    overlapping_seq: int | None = None
    is_open: bool = True
    _by_client: dict[str, bool | None] = field(default_factory=dict)
    _by_server: dict[str, bool | None] = field(default_factory=dict)

    def observe(self, message: Message) -> None:
        """Take in a message whose request is already paired."""
        request = message.request
        if message.kind is MessageClass.NOTIFICATION:
            if message.method == INITIALIZED and self.result is not None:
                self._initialized(message)
        elif request is None or request.method != INITIALIZE:
            return
        elif message.kind is MessageClass.REQUEST:
            if self.pending:
                self.overlapping_seq = message.seq
            self.request = request
            self.pending = True
            self.is_open = True
        else:
            self._answered(request, message)

    def refused(self, request: Request) -> None:
        """HTTP refused `request` before it reached the peer."""
        if request is self.request:
            self.pending = False

    def _answered(self, request: Request, message: Message) -> None:
        if request is self.request:
            self.pending = False
        if message.kind is MessageClass.RESULT:
            self.result_seq = message.seq
            self.result = message.result
            self.version = _published(message.result.get("protocolVersion"))
            self.accepted = request
            self._by_client.clear()
            self._by_server.clear()
            self.initialized_seq = None
            self.is_open = True

    def _initialized(self, message: Message) -> None:
        if self.initialized_seq is None:
            self.initialized_seq = message.seq
        by_client = message.direction is Direction.CLIENT_TO_SERVER
        if by_client and not self.pending and message.event.injected is None:
            self.is_open = False

    @property
    def succeeded(self) -> bool:
        """Whether an initialize request was answered by a result."""
        return self.result is not None

    def capabilities(self, party: Party) -> dict[str, Any] | None:
        """What `party` declared; None if that was not recorded or is no object."""
        if self.accepted is None or self.result is None:
            return None
        if party is Party.SERVER:
            declared = self.result.get("capabilities")
        else:
            params = self.accepted.params
            declared = params.get("capabilities") if isinstance(params, dict) else None
        return declared if isinstance(declared, dict) else None

    def declares(self, party: Party, path: str) -> bool | None:
        """Whether `party` declared the capability at the dotted `path`.

        A capability is declared by an object, and so are the members of `elicitation` and
        `sampling`; a flag such as `tools.listChanged` by `true`; what lies below `tasks` by
        either, since the page and the schema differ there.
        None: the declarations were not recorded.
        """
        # Checks ask for the same few with every message.
        known = self._by_server if party is _SERVER else self._by_client
        if path not in known:
            known[path] = self._look_up(party, path)
        return known[path]

    def _look_up(self, party: Party, path: str) -> bool | None:
        value: Any = self.capabilities(party)
        if value is None:
            return None
        names = path.split(".")
        for name in names:
            value = value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
        if len(names) == 1 or names[0] in _OF_OBJECTS:
            return isinstance(value, dict)
        if names[0] == _TASKS:
            return value is True or isinstance(value, dict)
        return value is True
