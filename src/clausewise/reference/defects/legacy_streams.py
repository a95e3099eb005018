"""Defects against event streams of 2025-11-25: how they begin and end, what they carry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from clausewise.core.vocabulary import Era
from clausewise.reference.call import Outlet
from clausewise.reference.defects.legacy_rewiring import (
    after_legacy_response,
    legacy,
    legacy_http_defect,
)
from clausewise.reference.defects.rewiring import Rewire, with_route
from clausewise.reference.http_layer import HttpExchange
from clausewise.reference.http_outlet import HttpOutlet
from clausewise.reference.legacy import http as legacy_http
from clausewise.reference.legacy.service import relay_changes
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import (
    JsonObject,
    notification,
)
from clausewise.reference.wiring import ENDPOINT, Answered, Runtime, Wiring

_MOST_STREAMS = 100

_NOTE = notification("notifications/message", {"level": "info", "data": "one more thing"})

Finish = Callable[[HttpOutlet, JsonObject], Awaitable[None]]
Carry = Callable[[HttpOutlet, LegacySession, Runtime], Awaitable[None]]


def _finishing(finish: Finish) -> Rewire:
    """Answer the calls of `echo` in a way of one's own."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.deliver

        async def deliver(
            message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
        ) -> None:
            params = message.get("params", {})
            if params.get("name") == "echo" and isinstance(outlet, HttpOutlet):
                await finish(outlet, response)
            else:
                await right(message, outlet, session, response)

        return legacy(wiring, deliver=deliver)

    return rewire


async def _without_ids(outlet: HttpOutlet, response: JsonObject) -> None:
    outlet.resumable = None
    await outlet.open_stream()
    await outlet.finish(response)


async def _with_one_id(outlet: HttpOutlet, response: JsonObject) -> None:
    await outlet.send(_NOTE)
    await outlet.replay(b"", "1-1")
    await outlet.finish(response)


async def _without_response(outlet: HttpOutlet, _response: JsonObject) -> None:
    """Without ids, for with them the response could come on a resumed stream."""
    outlet.resumable = None
    await outlet.abandon()


def _on_get(carry: Carry, *, resuming: bool = False) -> Rewire:
    """Serve GET, or the GET that resumes a stream, in a way of one's own."""

    async def get(exchange: HttpExchange, runtime: Runtime) -> None:
        request = exchange.request
        session = runtime.sessions.find(request.value(legacy_http.SESSION_HEADER) or "")
        accepts = "event-stream" in (request.value("accept") or "")
        resumes = request.value("last-event-id") is not None
        if session is None or not accepts or (resuming and not resumes):
            await legacy_http.get(exchange, runtime)
            return
        answered = Answered(request, Era.LEGACY)
        outlet = HttpOutlet(exchange, answered, runtime.wiring.http.head)
        outlet.resumable = session.history.open()
        await outlet.open_stream()
        await carry(outlet, session, runtime)

    return with_route("GET", ENDPOINT, get)


def _answering_elsewhere(wiring: Wiring) -> Wiring:
    """Answer the calls of `echo` on the stream of a GET, if there is one."""
    right = wiring.legacy.deliver

    async def deliver(
        message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
    ) -> None:
        is_echo = message.get("params", {}).get("name") == "echo"
        if is_echo and session.send is not None and isinstance(outlet, HttpOutlet):
            await session.post(response)
            await outlet.abandon()
        else:
            await right(message, outlet, session, response)

    return legacy(wiring, deliver=deliver)


async def _beside_others(outlet: HttpOutlet, session: LegacySession, runtime: Runtime) -> None:
    """Every stream gets every change: the session remembers one sender alone."""
    with runtime.wiring.legacy.content.feed.listen() as changes:
        async for change in changes:
            if session.initialized and change.uri is None:
                await outlet.send(notification(f"notifications/{change.notification}"))


async def _replaying_all(outlet: HttpOutlet, session: LegacySession, runtime: Runtime) -> None:
    """A client that comes back gets the events of every stream."""
    for number in range(1, _MOST_STREAMS):
        found = session.history.find(f"{number}-0")
        for event in found[0].after(0) if found is not None else ():
            await outlet.replay(event.data, event.id)
    await relay_changes(session, runtime.wiring.legacy, outlet.send)


DEFECTS = (
    legacy_http_defect(
        "stream-without-ids",
        "The stream of a request begins with a message and gives its events no ids.",
        _finishing(_without_ids),
        "TRAN-031",
    ),
    legacy_http_defect(
        "stream-without-response",
        "The stream of a request ends without the response.",
        _finishing(_without_response),
        "TRAN-034",
    ),
    legacy_http_defect(
        "stream-after-response",
        "A log notification follows the response on the stream of a request.",
        after_legacy_response("prompts/list", lambda _session, _message: (_NOTE,)),
        "TRAN-036",
    ),
    legacy_http_defect(
        "response-on-get-stream",
        "A response stands on the stream that a GET has opened.",
        _answering_elsewhere,
        "TRAN-042",
    ),
    legacy_http_defect(
        "event-id-repeated",
        "Two events of a session have one id.",
        _finishing(_with_one_id),
        "TRAN-044",
    ),
    legacy_http_defect(
        "resumed-stream-replays-all",
        "A client that resumes a stream gets the events of every stream.",
        _on_get(_replaying_all, resuming=True),
        "TRAN-047",
    ),
    replace(
        legacy_http_defect(
            "changes-on-every-stream",
            "A change is announced on every stream that a GET has opened.",
            _on_get(_beside_others),
            "TRAN-043",
        ),
        call_tools=frozenset({"announce_lists"}),
    ),
)
