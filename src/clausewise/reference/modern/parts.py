"""The modern era's wiring: every part of its answer path that a defect may replace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from clausewise.core.vocabulary import Revision
from clausewise.reference.call import Outlet
from clausewise.reference.features.content import Content
from clausewise.reference.http_layer import HttpRequest
from clausewise.reference.messages import JsonObject, RequestId, RpcError

VERSION = Revision.MODERN.value

HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request message with the HTTP request that carried it (None on stdio).

    `connection` numbers the connections of a server; a stdio process is one connection.
    """

    message: JsonObject
    http: HttpRequest | None
    connection: int

    @property
    def id(self) -> RequestId:
        request_id: RequestId = self.message["id"]
        return request_id

    @property
    def method(self) -> str:
        method: str = self.message["method"]
        return method

    @property
    def params(self) -> JsonObject:
        params = self.message.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def meta(self) -> JsonObject:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


Check = Callable[[Incoming, "ModernParts"], None]
"""Raises RpcError if the request breaks one requirement."""

Handle = Callable[[Incoming, Outlet, "ModernParts"], Awaitable[JsonObject]]
"""Answers one request method of the modern era: its result, before `result` dresses it."""

Notice = Callable[[JsonObject], JsonObject | None]
"""What answers a notification: nothing, in a right server."""

Deliver = Callable[[Incoming, Outlet, JsonObject, int], Awaitable[None]]
"""Sends a response message with its HTTP status."""


@dataclass(frozen=True, slots=True)
class ModernParts:
    """What answers a modern request, in this order: checks, method, result or error, deliver.

    Attributes:
        versions: protocol versions that requests may name.
        capabilities: the server's, as server/discover tells them.
        checks: run in order; the first that raises decides.
        methods: the request methods that exist.
        result: adds to a bare result what every result of its method carries.
        error: has the last word on an error.
        deliver: sends the response.
        notice: answers a notification.
        state_key: signs `requestState`.
    """

    content: Content
    versions: tuple[str, ...]
    capabilities: JsonObject
    checks: Mapping[str, Check]
    methods: Mapping[str, Handle]
    result: Callable[[Incoming, JsonObject], JsonObject]
    error: Callable[[Incoming, RpcError], RpcError]
    deliver: Deliver
    notice: Notice
    state_key: bytes
