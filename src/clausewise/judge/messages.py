"""A recorded message as the checks see it: class, id, method, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clausewise.core.vocabulary import Direction
from clausewise.judge.wording import ABSENT
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import IdKey, MessageClass, classify, id_key

if TYPE_CHECKING:
    from clausewise.judge.exchanges import Exchange

_RESPONSES = frozenset({MessageClass.RESULT, MessageClass.ERROR, MessageClass.MALFORMED})
_ASK_FOR_NOTHING = frozenset(
    {None, MessageClass.NOTIFICATION, MessageClass.RESULT, MessageClass.ERROR}
)


@dataclass(slots=True, eq=False)
class Request:
    """A request that was sent: what is remembered of it.

    Attributes:
        earlier: seq at which its sender had used the id before, or None.
        older: the still unanswered request with the same id that this one hides.
        cancellation: the notification by which its sender cancelled it while it was open.
        answered: seq of its answer, or None.
        answered_on: the HTTP exchange that carried its answer, as far as known.
    """

    seq: int
    direction: Direction
    key: IdKey
    method: str | None
    params: Any
    injected: bool
    earlier: int | None = None
    older: Request | None = None
    cancellation: Message | None = None
    answered: int | None = None
    answered_on: Exchange | None = None


@dataclass(slots=True, eq=False)
class Message:
    """One message event.

    Attributes:
        kind: its class, by the members it has.
        id: the value of its `id` member, ABSENT if it has none.
        method: the `method` member if that is a string, else None.
        request: for a request itself, for a response the request it answers (None: no open
            request has its id).
        exchange: the HTTP exchange that carried it, as far as labels or order show it.
        status: the HTTP status of the response that carried it, or None.
        provoked: it answers a fault that a test driver made on purpose.
    """

    event: Event
    payload: Any
    kind: MessageClass
    id: Any
    method: str | None
    exchange: Exchange | None
    status: int | None
    seq: int
    direction: Direction
    request: Request | None = None
    provoked: bool = False

    @property
    def key(self) -> IdKey:
        """The id's identity; undefined for a message without id."""
        return id_key(self.id)

    @property
    def proven_exchange(self) -> Exchange | None:
        """The exchange that carried it, if the recording leaves no doubt."""
        exchange = self.exchange
        return exchange if exchange is not None and exchange.is_proven else None

    @property
    def is_response(self) -> bool:
        return self.kind in _RESPONSES

    def member(self, name: str) -> Any:
        """A member of the message, ABSENT if it is not there or the message is no object."""
        payload = self.payload
        return payload.get(name, ABSENT) if type(payload) is dict else ABSENT

    @property
    def params(self) -> dict[str, Any]:
        """The `params` member; empty if it is no object."""
        params = self.member("params")
        return params if isinstance(params, dict) else {}

    @property
    def result(self) -> dict[str, Any]:
        """The `result` member; empty if it is no object."""
        result = self.member("result")
        return result if isinstance(result, dict) else {}


def read_message(event: Event, exchange: Exchange | None, status: int | None) -> Message:
    """The message of a `message` event that travelled in `exchange`."""
    payload = event.payload
    kind = classify(payload)
    if type(payload) is not dict:
        return Message(
            event, payload, kind, ABSENT, None, exchange, status, event.seq, event.direction
        )
    method = payload.get("method")
    return Message(
        event,
        payload,
        kind,
        payload.get("id", ABSENT),
        method if type(method) is str else None,
        exchange,
        status,
        event.seq,
        event.direction,
    )


def is_foreign(message: Message, endpoint: str | None) -> bool:
    """Whether this JSON body on HTTP has nothing to do with JSON-RPC.

    So are the bodies of HTTP's own refusals (`{"error": "invalid_token"}` and the like), of
    answers to a GET or to what asks for none, and all that travels to another path than the
    MCP `endpoint`.
    """
    payload = message.payload
    parts = payload if isinstance(payload, list) else [payload]
    if any(isinstance(part, dict) and "jsonrpc" in part for part in parts[:1]):
        return False
    if message.status is not None and message.status >= 300:
        return True
    exchange = message.proven_exchange
    if exchange is None:
        return False
    if exchange.path is not None and exchange.path != endpoint:
        return True
    if exchange.streams or message.status is None:
        return False
    return exchange.posted in _ASK_FOR_NOTHING
