"""A session of revision 2025-11-25: `initialize` first, `DELETE` or the end of stdin last.

Source: 2025-11-25, basic/lifecycle, basic/transports.
"""

from __future__ import annotations

from typing import Any

import anyio

from clausewise.core.errors import BarredError, TargetError
from clausewise.core.vocabulary import Era, Revision
from clausewise.reference.client.answers import Action
from clausewise.reference.client.call import Call, Reply
from clausewise.reference.client.channel import Channel, Receipt
from clausewise.reference.client.inbox import Pending
from clausewise.reference.client.outgoing import JSON_HEADERS, STREAM_HEADERS, Headers, Outgoing
from clausewise.reference.client.session import CLIENT_INFO, Session, Setup, merged_meta
from clausewise.reference.messages import (
    JsonObject,
    RequestId,
    RpcError,
    error_response,
    notification,
    request,
    result_response,
)
from clausewise.transport.answers import Ending
from clausewise.wire.codes import ErrorCode
from clausewise.wire.headers import VERSION_HEADER
from clausewise.wire.jsonrpc import valid_id
from clausewise.wire.meta import META_RELATED_TASK

SUPPORTED_VERSIONS = (Revision.LEGACY.value, "2025-06-18")
ELICITATION_COMPLETE = "notifications/elicitation/complete"
SESSION_HEADER = "MCP-Session-Id"

BARRED = frozenset({401, 403, 407, 429})
"""The HTTP statuses of a server, or a gateway before it, that lets nobody in."""

_STREAM_S = 24 * 3600.0
_LISTEN_S = 2.0
_RECONNECT_S = 1.0
"""How long to wait before a stream is opened again when the server names no time."""
_MAX_RECONNECTS = 5
_LAST_ANSWERS_S = 1.0
"""How long the end of a session waits for answers that are on their way."""
_GONE = 404


def barred(status: int) -> BarredError:
    """What to say of a server that lets nobody in."""
    return BarredError(f"HTTP {status}: the server lets nobody in", "Try --bearer, -H or --oauth.")


class LegacySession(Session):
    """A session with a server that has an `initialize` handshake."""

    era = Era.LEGACY

    def __init__(self, setup: Setup, channel: Channel) -> None:
        super().__init__(setup, channel)
        self.version: str | None = None
        self.session_id: str | None = None
        self._number = 0
        self._open = anyio.Event()
        self._stream = anyio.CancelScope()
        self._renewing = anyio.Lock()
        self._answering = 0

    async def open(self) -> None:
        """Initialize, and confirm it.

        Raises:
            TargetError: the server refuses, or answers with a version that is not supported.
        """
        self._number += 1
        self.version = self.session_id = None
        self.channel.attach(self.inbox, f"legacy-{self._number}" if self.on_http else None)
        call = self.call(
            "initialize",
            {
                "protocolVersion": Revision.LEGACY.value,
                "capabilities": self.declared,
                "clientInfo": CLIENT_INFO,
            },
        )
        reply, receipt = await self._attempt(call, call.params)
        self._learn(reply, receipt)
        await self.notify("notifications/initialized")
        self._open.set()
        if self.on_http:
            self._stream = anyio.CancelScope()
            self.setup.tasks.start_soon(self._listen, self._stream)
            await self.channel.listening(min(_LISTEN_S, self.setup.seconds))

    def _learn(self, reply: Reply, receipt: Receipt) -> None:
        result = reply.result
        if result is None:
            if receipt.status in BARRED:
                raise barred(receipt.status)
            said = reply.error.get("message") if reply.error else reply.fault
            raise TargetError(
                f"the server does not initialize a session: {said}",
                "Check that it speaks MCP at this address.",
            )
        version = result.get("protocolVersion")
        if version not in SUPPORTED_VERSIONS:
            raise TargetError(
                f"the server wants the protocol version {version!r}, which is not supported",
                f"Supported are {', '.join((Revision.MODERN, *SUPPORTED_VERSIONS))}.",
            )
        self.version = version
        self.session_id = receipt.header(SESSION_HEADER)
        capabilities, info = result.get("capabilities"), result.get("serverInfo")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.server_info = info if isinstance(info, dict) else {}

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Send a notification."""
        await self.deliver(self._outgoing(notification(method, params)))

    async def announce_roots(self) -> None:
        """Tell the server that the roots have changed."""
        await self.notify("notifications/roots/list_changed")

    async def close(self) -> None:
        with anyio.move_on_after(_LAST_ANSWERS_S):
            await self.inbox.until(lambda: not self._answering)
        await self.cancel_all()
        self._stream.cancel()
        if self.on_http and self.session_id is not None:
            outgoing = Outgoing(None, self._session_headers(), "DELETE")
            await self.deliver(outgoing)

    async def _converse(self, call: Call) -> Reply:
        await self._open.wait()
        number, session_id = self._number, self.session_id
        reply, receipt = await self._attempt(call, call.params)
        lost = receipt.status == _GONE and session_id is not None
        if lost and self.setup.wiring.renews_lost_sessions:
            await self._renew(number)
            reply, receipt = await self._attempt(call, call.params)
        if reply.code == ErrorCode.URL_ELICITATION_REQUIRED and await self._visited(call, reply):
            reply, receipt = await self._attempt(call, call.params)
        return reply

    async def _visited(self, call: Call, refusal: Reply) -> bool:
        """Whether the user agrees to the URLs that a call needs, and the server saw the visits."""
        if self.setup.desk.answers.url is not Action.ACCEPT:
            return False
        data = (refusal.error or {}).get("data")
        asked = data.get("elicitations") if isinstance(data, dict) else None
        wanted = {
            one["elicitationId"]
            for one in (asked if isinstance(asked, list) else ())
            if isinstance(one, dict) and isinstance(one.get("elicitationId"), str)
        }
        with anyio.move_on_after(call.seconds):
            await self.inbox.until(lambda: wanted <= self._completed())
        return bool(wanted) and wanted <= self._completed()

    def _completed(self) -> set[Any]:
        """The ids of the elicitations that the server has told to be complete."""
        told = (
            n.get("params") for n in self.inbox.notices if n.get("method") == ELICITATION_COMPLETE
        )
        return {params.get("elicitationId") for params in told if isinstance(params, dict)}

    async def _renew(self, lost: int) -> None:
        """Session number `lost` is gone: begin another one, unless that has been done meanwhile."""
        async with self._renewing:
            if self._number == lost:
                self._stream.cancel()
                self._open = anyio.Event()
                try:
                    await self.open()
                finally:
                    self._open.set()

    def _compose(self, call: Call, request_id: RequestId, params: JsonObject | None) -> Outgoing:
        if call.progress:
            params = merged_meta(params, {"progressToken": f"progress-{request_id}"})
        message = request(request_id, call.method)
        return self._outgoing(message if params is None else {**message, "params": params})

    def _outgoing(self, message: JsonObject) -> Outgoing:
        return Outgoing(message, JSON_HEADERS + self._session_headers())

    def _session_headers(self) -> Headers:
        headers: list[tuple[str, str]] = []
        if self.version is not None:
            headers.append((VERSION_HEADER, self.version))
        if self.session_id is not None:
            headers.append((SESSION_HEADER, self.session_id))
        return tuple(headers)

    async def _recover(self, call: Call, pending: Pending, receipt: Receipt) -> Receipt:
        """Resume a broken stream after its last event, as often as it breaks again."""
        last, wait_ms = receipt.last_event_id, receipt.retry_ms
        for _ in range(_MAX_RECONNECTS):
            if last is None or receipt.ending is Ending.TIMEOUT or pending.response is not None:
                break
            await anyio.sleep(_RECONNECT_S if wait_ms is None else wait_ms / 1000)
            headers = (*STREAM_HEADERS, *self._session_headers(), ("Last-Event-ID", last))
            outgoing = Outgoing(None, headers, "GET")
            receipt = await self.deliver(outgoing, pending, call.seconds)
            if receipt.status is not None and not receipt.streamed:
                break
            last = receipt.last_event_id or last
            wait_ms = wait_ms if receipt.retry_ms is None else receipt.retry_ms
        return receipt

    async def _announce_cancellation(self, pending: Pending, reason: str | None) -> None:
        why = {} if reason is None else {"reason": reason}
        with anyio.CancelScope(shield=True):
            await self.notify("notifications/cancelled", {"requestId": pending.id, **why})

    async def _listen(self, scope: anyio.CancelScope) -> None:
        """Hold the stream for what concerns no request, if the server has one."""
        last: str | None = None
        with scope:
            for _ in range(_MAX_RECONNECTS):
                resumed = () if last is None else (("Last-Event-ID", last),)
                headers = (*STREAM_HEADERS, *self._session_headers(), *resumed)
                outgoing = Outgoing(None, headers, "GET")
                receipt = await self.deliver(outgoing, seconds=_STREAM_S)
                if not receipt.streamed:
                    return
                last = receipt.last_event_id or last
                wait_ms = receipt.retry_ms
                await anyio.sleep(_RECONNECT_S if wait_ms is None else wait_ms / 1000)

    def _asked(self, request: JsonObject) -> None:
        if valid_id(request["id"]):
            self._answering += 1
            self.setup.tasks.start_soon(self._respond, request)

    async def _respond(self, asked: JsonObject) -> None:
        response = self.setup.wiring.respond(asked, self._response(asked))
        if self.on_http:
            # Before the session's id is known an answer could not be assigned to it.
            await self._open.wait()
        await self.deliver(self._outgoing(response))
        self._answering -= 1
        self.inbox.wake()

    def _response(self, asked: JsonObject) -> JsonObject:
        request_id, params = asked["id"], asked.get("params")
        try:
            if asked["method"] == "ping":
                return result_response(request_id, {})
            result = self.setup.desk.answer(self.era, asked)
        except RpcError as error:
            return error_response(request_id, error)
        return result_response(request_id, {**result, **_related_task(params)})


def _related_task(params: object) -> JsonObject:
    """The `_meta` of an answer to what a task asks: it names the task, too."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    task = meta.get(META_RELATED_TASK) if isinstance(meta, dict) else None
    return {} if task is None else {"_meta": {META_RELATED_TASK: task}}
