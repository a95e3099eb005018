"""A recorded message as the checks see it: class, id, method, and what it answers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from clausewise.core.vocabulary import Direction
from clausewise.judge.wording import ABSENT
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import (
    NOTIFICATION_PREFIX,
    IdKey,
    MessageClass,
    classify,
    id_key,
)

if TYPE_CHECKING:
    from clausewise.judge.session.exchanges import Exchange

# An attribute look-up on an enum class is too slow for what is done with every message.
_REQUEST = MessageClass.REQUEST
_NOTIFICATION = MessageClass.NOTIFICATION
_RESULT = MessageClass.RESULT
_ERROR = MessageClass.ERROR
_MALFORMED = MessageClass.MALFORMED

_EMPTY: dict[str, Any] = {}
_ASK_FOR_NOTHING = frozenset(
    {None, MessageClass.NOTIFICATION, MessageClass.RESULT, MessageClass.ERROR}
)


class Request(Struct, eq=False):
    """A request that was sent: what is remembered of it.

    Attributes:
        earlier: seq at which its sender had used the id before, or None.
        older: the still unanswered request with the same id that this one hides.
        hides: how many such requests it hides at most, with those that they hide in turn.
        cancellation: the notification by which its sender cancelled it while it was open.
        answered: seq of its answer, or None.
        answered_at_home: whether the HTTP exchange that carried it carried its answer, too. It is
            not named here: the two would keep each other in memory.
        answered_on: the other exchange that carried its answer, as far as known.
    """

    seq: int
    direction: Direction
    key: IdKey
    method: str | None
    params: Any
    injected: bool
    earlier: int | None = None
    older: Request | None = None
    hides: int = 0
    cancellation: Message | None = None
    answered: int | None = None
    answered_at_home: bool = False
    answered_on: Exchange | None = None


class Message:
    """One message event.

    Attributes:
        kind: its class, by the members it has.
        id: the value of its `id` member, ABSENT if it has none.
        method: the `method` member if that is a string, else None.
        params: the `params` member; empty if it is no object.
        result: the `result` member; empty if it is no object.
        is_response: whether it is neither a request nor a notification nor a batch.
        is_sound: whether its envelope has no fault: `jsonrpc` is "2.0", what has to be there is
            there and of the right type, what must not be is not. Faults further down remain.
        request: for a request itself, for a response the request it answers (None: no open
            request has its id).
        exchange: the HTTP exchange that carried it, as far as labels or order show it.
        status: the HTTP status of the response that carried it, or None.
        provoked: it answers a fault that a test driver made on purpose.
    """

    __slots__ = (
        "_digest",
        "direction",
        "event",
        "exchange",
        "id",
        "is_response",
        "is_sound",
        "kind",
        "method",
        "params",
        "payload",
        "provoked",
        "request",
        "result",
        "seq",
        "status",
    )

    def __init__(
        self, event: Event, exchange: Exchange | None = None, status: int | None = None
    ) -> None:
        self.event = event
        self.exchange = exchange
        self.status = status
        self.seq = event.seq
        self.direction = event.direction
        self.request: Request | None = None
        self.provoked = False
        self._digest: bytes | None = None
        self.payload: Any = event.payload
        self.method: str | None = None
        self.params: dict[str, Any] = _EMPTY
        self.result: dict[str, Any] = _EMPTY
        self.id: Any = ABSENT
        self.is_response = self.is_sound = False
        if type(self.payload) is not dict:
            self.kind = classify(self.payload)
            self.is_response = self.kind is _MALFORMED
            return
        get = self.payload.get
        self.id = given = get("id", ABSENT)
        method = get("method", ABSENT)
        if method is ABSENT:
            self._read_response(self.payload)
            return
        params = get("params", _EMPTY)
        is_clean = get("jsonrpc") == "2.0"
        if type(params) is dict:
            self.params = params
        else:
            is_clean = False
        if type(method) is not str:
            self.kind = _NOTIFICATION if given is ABSENT else _REQUEST
            return
        self.method = method
        is_notification = method.startswith(NOTIFICATION_PREFIX)
        if given is ABSENT or is_notification:
            self.kind = _NOTIFICATION
            self.is_sound = is_clean and given is ABSENT and is_notification
        else:
            self.kind = _REQUEST
            self.is_sound = is_clean and (type(given) is int or type(given) is str)

    def _read_response(self, payload: dict[str, Any]) -> None:
        """Take an object without `method` apart."""
        self.is_response = True
        get = payload.get
        result, error = get("result", ABSENT), get("error", ABSENT)
        is_clean = get("jsonrpc") == "2.0"
        if "params" in payload:
            is_clean = False
            if type(payload["params"]) is dict:
                self.params = payload["params"]
        if error is ABSENT and result is not ABSENT:
            self.kind = _RESULT
            if type(result) is dict:
                self.result = result
                self.is_sound = is_clean and self.id is not ABSENT
        elif error is not ABSENT and result is ABSENT:
            self.kind = _ERROR
            self.is_sound = (
                is_clean
                and type(error) is dict
                and type(error.get("code")) is int
                and type(error.get("message")) is str
            )
        else:
            self.kind = _MALFORMED
            if type(result) is dict:
                self.result = result

    @property
    def key(self) -> IdKey:
        """The id's identity; undefined for a message without id."""
        return id_key(self.id)

    @property
    def digest(self) -> bytes:
        """A digest that is equal for equal messages."""
        if self._digest is None:
            try:
                text = orjson.dumps(self.payload, option=orjson.OPT_SORT_KEYS)
            except TypeError:
                text = _text_of_odd(self.payload)
            self._digest = hashlib.blake2b(text, digest_size=16).digest()
        return self._digest

    @property
    def proven_exchange(self) -> Exchange | None:
        """The exchange that carried it, if the recording leaves no doubt."""
        exchange = self.exchange
        return exchange if exchange is not None and exchange.is_proven else None

    def member(self, name: str) -> Any:
        """A member of the message, ABSENT if it is not there or the message is no object."""
        payload = self.payload
        return payload.get(name, ABSENT) if type(payload) is dict else ABSENT


def _text_of_odd(payload: Any) -> bytes:
    """Text of a value that orjson cannot write: integers beyond 64 bit, deep nesting."""
    try:
        return repr(payload).encode("utf-8", "backslashreplace")
    except (RecursionError, ValueError):
        return b"nested too deeply"


def is_foreign(message: Message, endpoint: str | None) -> bool:
    """Whether this JSON body on HTTP has nothing to do with JSON-RPC.

    So are the bodies of HTTP's own refusals (`{"error": "invalid_token"}` and the like), of
    answers to a GET or to what asks for none, and all that travels to another path than the
    MCP `endpoint`.
    """
    payload = message.payload
    if type(payload) is dict and "jsonrpc" in payload:
        return False
    parts = payload if isinstance(payload, list) else [payload]
    if any(isinstance(part, dict) and "jsonrpc" in part for part in parts[:1]):
        return False
    if message.status is not None and message.status >= 300:
        return True
    if message.status is None and message.direction is Direction.SERVER_TO_CLIENT:
        # The status is not recorded, and a body without all three is rather HTTP's own.
        return type(payload) is dict and "id" not in payload and "method" not in payload
    exchange = message.proven_exchange
    if exchange is None:
        return False
    if exchange.path is not None and exchange.path != endpoint:
        return True
    if exchange.streams or message.status is None:
        return False
    return exchange.posted in _ASK_FOR_NOTHING
