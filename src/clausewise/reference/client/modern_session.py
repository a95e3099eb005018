"""Requests of revision 2026-07-28: each for itself, with all that the server must know.

Source: 2026-07-28, basic/index#meta, basic/transports, basic/patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from clausewise.core.vocabulary import Era, Revision
from clausewise.judge.subjects.annotations import SAFE_INTEGER, annotations_of, parameter_headers
from clausewise.reference.client.caching import ResultCache
from clausewise.reference.client.call import Call, Reply
from clausewise.reference.client.channel import Channel
from clausewise.reference.client.inbox import Pending
from clausewise.reference.client.outgoing import JSON_HEADERS, Outgoing
from clausewise.reference.client.pages import list_all
from clausewise.reference.client.session import CLIENT_INFO, Session, Setup, merged_meta
from clausewise.reference.messages import (
    JsonObject,
    RequestId,
    RpcError,
    notification,
    request,
)
from clausewise.transport.answers import Ending
from clausewise.wire import sentinel
from clausewise.wire.codes import ErrorCode
from clausewise.wire.headers import METHOD_HEADER, NAME_HEADER, NAMED_BY, VERSION_HEADER
from clausewise.wire.meta import (
    META_CAPABILITIES,
    META_CLIENT_INFO,
    META_LOG_LEVEL,
    META_SERVER_INFO,
    META_SUBSCRIPTION,
    META_VERSION,
)

DISCOVER = "server/discover"
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
MAX_ROUNDS = 10
"""How often a server may ask for input before one request is given up."""

_GONE = (Ending.RESET, Ending.REFUSED)
_INPUT_REQUIRED = "input_required"
_RESULT_TYPES = ("complete", _INPUT_REQUIRED)


class ModernSession(Session):
    """Requests to one server that has no sessions; what is kept is kept on this side."""

    era = Era.MODERN

    def __init__(self, setup: Setup, channel: Channel) -> None:
        super().__init__(setup, channel)
        self.version = Revision.MODERN.value
        self.log_level: str | None = None
        self.cache = ResultCache()
        self._restarting = anyio.Lock()
        channel.attach(self.inbox, None)
        self.inbox.on_notice = self.cache.heed

    def learn(self, discovery: Mapping[str, Any]) -> None:
        """Take in a DiscoverResult."""
        capabilities = discovery.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        about = discovery.get("_meta")
        info = about.get(META_SERVER_INFO) if isinstance(about, dict) else None
        self.server_info = info if isinstance(info, dict) else {}

    async def close(self) -> None:
        """There is nothing to end but what is in progress, subscriptions among it."""
        await self.cancel_all()

    async def _converse(self, call: Call) -> Reply:
        if call.method == "tools/call" and self.on_http:
            reason = await self._why_not_to_call(call)
            if reason:
                return Reply(fault=reason)
        if not call.fresh:
            kept = self.cache.find(call.method, call.params)
            if kept is not None:
                return Reply(kept, cached=True)
        reply = await self._with_rounds(call)
        if reply.code == ErrorCode.HEADER_MISMATCH and call.method == "tools/call":
            await self._list_tools()
            reply = await self._with_rounds(call)
        if reply.response is not None and not reply.rounds and not reply.fault:
            self.cache.keep(call.method, call.params, reply.response)
        return reply

    async def _with_rounds(self, call: Call) -> Reply:
        """Send, and as often as the server asks for input, send again with it."""
        params = call.params
        for rounds in range(MAX_ROUNDS):
            reply, receipt = await self._attempt(call, params)
            if receipt.again:
                self.cache.clear()
            if receipt.ending in _GONE and await self._restarted(call):
                reply, receipt = await self._attempt(call, params)
            reply = self._checked(reply, rounds)
            result = reply.result
            if result is None or reply.fault or result.get("resultType") != _INPUT_REQUIRED:
                return reply
            try:
                params = self._retry_params(call.params, result)
            except RpcError as error:
                return Reply(reply.response, reply.status, f"input not given: {error.message}")
        fault = f"the server asked for input {MAX_ROUNDS} times"
        return Reply(reply.response, reply.status, fault, rounds=MAX_ROUNDS)

    def _checked(self, reply: Reply, rounds: int) -> Reply:
        """A result of a type that is not known is of no use; without a type it is complete."""
        kind = reply.result.get("resultType", "complete") if reply.result else "complete"
        fault = reply.fault
        if kind not in _RESULT_TYPES and not fault:
            fault = f"the result has the unknown type {kind!r}"
        return Reply(reply.response, reply.status, fault, rounds=rounds)

    def _retry_params(self, original: JsonObject | None, asking: Mapping[str, Any]) -> JsonObject:
        """The original parameters with the input and the state, both for this retry alone.

        Raises:
            RpcError: an input cannot be given.
        """
        params = dict(original or {})
        asked = asking.get("inputRequests")
        if isinstance(asked, dict):
            params["inputResponses"] = {key: self._input(one) for key, one in asked.items()}
        if "requestState" in asking:
            params["requestState"] = asking["requestState"]
        return params

    def _input(self, asked: Any) -> JsonObject:
        members = asked if isinstance(asked, dict) else {}
        value = self.setup.desk.answer(self.era, members)
        return self.setup.wiring.input_response(members, value)

    async def _restarted(self, call: Call) -> bool:
        """Begin anew with a process that is gone; each request in progress is then sent again.

        Not for `server/discover`: that a process ends at it is an answer, too.
        """
        if call.method == DISCOVER or self.on_http:
            return False
        async with self._restarting:
            return self.channel.alive or await self.channel.restart()

    async def _why_not_to_call(self, call: Call) -> str:
        """Why a tool must not be called over HTTP, where its definition says which headers to add.

        Empty when it may be. The tools are listed first when that has not been done.
        """
        params = call.params or {}
        name = params.get("name")
        if self.tools.find(name) is None and not self.tools.complete:
            await self._list_tools()
        reason = self.tools.rejected.get(str(name))
        if reason is not None:
            return f"the tool {name!r} must not be used: {reason}"
        tool = self.tools.find(name)
        for annotation in (annotations_of(tool) if tool is not None else ()) or ():
            value = annotation.value_in(params.get("arguments"))
            if isinstance(value, int) and abs(value) > SAFE_INTEGER:
                return f"the argument {value} is mirrored in a header and no safe integer"
        return ""

    async def _list_tools(self) -> None:
        """Every page of the tools, for what their definitions say."""
        self.cache.forget("tools/list")
        await list_all(self, "tools/list")

    def _compose(self, call: Call, request_id: RequestId, params: JsonObject | None) -> Outgoing:
        added: JsonObject = {
            META_VERSION: self.version,
            META_CLIENT_INFO: CLIENT_INFO,
            META_CAPABILITIES: self.declared,
        }
        if self.log_level is not None:
            added[META_LOG_LEVEL] = self.log_level
        if call.progress:
            added["progressToken"] = f"progress-{request_id}"
        members = merged_meta(params, added)
        message = request(request_id, call.method) | {"params": members}
        return Outgoing(message, JSON_HEADERS + self._headers(call.method, members))

    def _headers(self, method: str, params: JsonObject) -> tuple[tuple[str, str], ...]:
        headers = [(VERSION_HEADER, self.version), (METHOD_HEADER, method)]
        name = params.get(NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers.append((NAME_HEADER, sentinel.encode(name)))
        tool = self.tools.find(name) if method == "tools/call" else None
        if tool is not None:
            headers += parameter_headers(tool, params.get("arguments")).items()
        return tuple(headers)

    async def _announce_cancellation(self, pending: Pending, reason: str | None) -> None:
        """On stdio by a notification; over HTTP the end of the exchange says it."""
        if self.on_http:
            return
        params: JsonObject = {"requestId": pending.id}
        if reason is not None:
            params["reason"] = reason
        outgoing = Outgoing(notification("notifications/cancelled", params))
        with anyio.CancelScope(shield=True):
            await self.deliver(outgoing)

    def _asked(self, request: JsonObject) -> None:
        """A server must not send requests in this era, and a client no responses: do nothing."""

    def acknowledged(self, call: Call) -> JsonObject | None:
        """The filter that the server agreed to for a subscription, once it has."""
        for notice in self.of_subscription(call):
            if notice.get("method") == ACKNOWLEDGED:
                found = notice["params"].get("notifications")
                return found if isinstance(found, dict) else {}
        return None

    def of_subscription(self, call: Call) -> tuple[JsonObject, ...]:
        """The notifications that name the subscription that `call` opened."""
        pending = call.pending
        return (
            ()
            if pending is None
            else tuple(notice for notice in self.inbox.notices if _names(notice, pending))
        )


def _names(notice: JsonObject, pending: Pending) -> bool:
    params = notice.get("params")
    about = params.get("_meta") if isinstance(params, dict) else None
    given = about.get(META_SUBSCRIPTION) if isinstance(about, dict) else None
    return type(given) is type(pending.id) and given == pending.id
