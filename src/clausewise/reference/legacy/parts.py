"""The legacy era's wiring: every part of its answer path that a defect may replace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from clausewise.core.vocabulary import Revision
from clausewise.reference.call import Outlet
from clausewise.reference.features.content import Content
from clausewise.reference.legacy.background import Background
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.legacy.tasks import TaskStore
from clausewise.reference.legacy.visits import Visits
from clausewise.reference.messages import JsonObject, RpcError

VERSION = Revision.LEGACY.value

Handle = Callable[[JsonObject, Outlet, LegacySession, "LegacyParts"], Awaitable[JsonObject]]
"""Answers one request message of a session: its result."""

Deliver = Callable[[JsonObject, Outlet, LegacySession, JsonObject], Awaitable[None]]
"""Sends the response (last argument) to a request (first)."""


@dataclass(frozen=True, slots=True)
class LegacyParts:
    """What answers a legacy request, in this order: method, result or error, deliver.

    Attributes:
        versions: protocol versions it can negotiate, the preferred one first.
        capabilities: the server's, as the initialize result tells them.
        methods: the request methods that exist, `initialize` included.
        result: has the last word on a result, given the request.
        error: has the last word on an error.
        deliver: sends the response.
        ask_s: how long the client may take to answer a request of the server.
        tasks: the requests that run as tasks.
        visits: the pages that users have visited.
        background: runs what outlives the request that began it.
    """

    content: Content
    versions: tuple[str, ...]
    capabilities: JsonObject
    methods: Mapping[str, Handle]
    result: Callable[[JsonObject, JsonObject], JsonObject]
    error: Callable[[JsonObject, RpcError], RpcError]
    deliver: Deliver
    ask_s: float
    tasks: TaskStore
    visits: Visits
    background: Background
