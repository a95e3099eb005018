"""What the server sends, told apart: responses, requests of its own, notifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from clausewise.reference.messages import JsonObject, RequestId
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import IdKey, MessageClass, classify, id_key

MAX_NOTICES = 10_000


class Pending:
    """A request that waits for its response; `sent` is set once it is on its way."""

    def __init__(self, request_id: RequestId) -> None:
        self.id = request_id
        self.sent = anyio.Event()
        self.response: JsonObject | None = None

    def settle(self, response: JsonObject) -> None:
        """Take the response; only the first one counts."""
        if self.response is None:
            self.response = response


class Inbox:
    """Takes every message of the server.

    A response without a readable id settles the request of its own HTTP exchange; on stdio
    it settles nothing. Responses that nobody waits for (any more) are ignored.
    """

    def __init__(self, on_request: Callable[[JsonObject], None]) -> None:
        self._on_request = on_request
        self._pending: dict[IdKey, Pending] = {}
        self.notices: list[JsonObject] = []
        self.on_notice: Callable[[JsonObject], None] = lambda _notice: None
        self._changed = anyio.Event()

    def expect(self, request_id: RequestId) -> Pending:
        """Wait for the response with this id from now on."""
        pending = self._pending[id_key(request_id)] = Pending(request_id)
        return pending

    def forget(self, pending: Pending) -> None:
        """Nobody waits for it any more."""
        self._pending.pop(id_key(pending.id), None)

    def take(self, event: Event, asked: Pending | None = None) -> None:
        """Deal with a message event; `asked` is the request whose exchange carries it."""
        payload = event.payload
        kind = classify(payload)
        if kind in (MessageClass.RESULT, MessageClass.ERROR):
            self._settle(payload, asked)
        elif kind is MessageClass.REQUEST:
            self._on_request(payload)
        elif kind is MessageClass.NOTIFICATION and len(self.notices) < MAX_NOTICES:
            self.notices.append(payload)
            self.on_notice(payload)
            self.wake()

    def _settle(self, payload: JsonObject, asked: Pending | None) -> None:
        given: Any = payload.get("id")
        pending = asked if given is None else self._pending.get(id_key(given))
        if pending is not None:
            pending.settle(payload)
            self.wake()

    def wake(self) -> None:
        """Let those who wait for a change look again."""
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds` is true; asked anew whenever something came."""
        while not holds():
            await self._changed.wait()
