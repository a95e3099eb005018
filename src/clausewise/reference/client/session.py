"""What a session of either era has in common: ids, requests in progress, one inbox."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import TaskGroup

from clausewise import __version__
from clausewise.core.errors import BarredError, ClausewiseError
from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.client.answers import Answers
from clausewise.reference.client.call import Call, Reply
from clausewise.reference.client.channel import Channel, Receipt
from clausewise.reference.client.desk import Desk
from clausewise.reference.client.inbox import Inbox, Pending
from clausewise.reference.client.listing import ToolShelf
from clausewise.reference.client.outgoing import Outgoing
from clausewise.reference.client.wiring import ClientWiring
from clausewise.reference.messages import JsonObject, RequestId
from clausewise.transport.answers import Ending

CLIENT_INFO: JsonObject = {
    "name": "clausewise-reference-client",
    "title": "Clausewise reference client",
    "version": __version__,
}
NEVER_CANCELLED = frozenset({"initialize", "server/discover"})
"""What opens a conversation: a legacy server takes no other message before it is answered."""

MAX_AUTHORIZATIONS = 3
"""How often one request is tried again with new credentials."""

_NOTHING_SENT = Receipt(ending=Ending.REFUSED, detail="nothing was sent")


@dataclass(slots=True)
class Setup:
    """What every session of a run shares.

    Attributes:
        wiring: the right one, or one with defects.
        desk: answers the server's requests.
        declared: the answers by which capabilities are declared.
        seconds: the longest wait for one answer.
        tasks: where what runs beside the script runs.
        ids: request ids, each taken once: a server may see several sessions as one.
    """

    wiring: ClientWiring
    desk: Desk
    declared: Answers
    seconds: float
    tasks: TaskGroup
    ids: Iterator[RequestId] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = self.wiring.ids()


class Session(ABC):
    """One session, or in the modern era one run of requests, with a server."""

    era: Era

    def __init__(self, setup: Setup, channel: Channel) -> None:
        self.setup = setup
        self.channel = channel
        self.inbox = Inbox(self._asked)
        self.tools = ToolShelf(reject_unsound=self.era is Era.MODERN and self.on_http)
        self.capabilities: JsonObject = {}
        self.server_info: JsonObject = {}
        self._running: list[Call] = []

    @property
    def on_http(self) -> bool:
        return self.channel.kind is TransportKind.HTTP

    @property
    def declared(self) -> JsonObject:
        """The client capabilities that are declared."""
        capabilities = self.setup.declared.capabilities(self.era)
        return self.setup.wiring.declare(self.era, capabilities)

    def offers(self, capability: str) -> bool:
        """Whether the server declared `capability`, a dotted path such as `resources.subscribe`."""
        found: Any = self.capabilities
        for name in capability.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return found is not None and found is not False

    async def request(self, method: str, params: JsonObject | None = None, **how: Any) -> Reply:
        """Send a request and wait for what comes of it; `how` are further members of `Call`."""
        return await self.run(self.call(method, params, **how))

    def call(self, method: str, params: JsonObject | None = None, **how: Any) -> Call:
        """A request that has not been sent yet."""
        return Call(method, params, **{"seconds": self.setup.seconds, **how})

    async def run(self, call: Call) -> Reply:
        """Send a request and wait; a call that is cancelled meanwhile has a reply that says so."""
        notices, asked = len(self.inbox.notices), len(self.setup.desk.asked)
        self._running.append(call)
        try:
            with call.scope:
                call.reply = await self._answered(call)
            if call.cancelled:
                call.reply = Reply(fault="cancelled by the client")
            call.reply = replace(
                call.reply,
                notices=tuple(self.inbox.notices[notices:]),
                asked=tuple(self.setup.desk.asked[asked:]),
            )
        finally:
            self._running.remove(call)
            call.begun.set()
            call.finished.set()
            self.inbox.wake()
        return call.reply

    async def _answered(self, call: Call) -> Reply:
        try:
            return await self._converse(call)
        except BarredError:
            raise
        except ClausewiseError as error:
            return Reply(fault=error.message)

    def start(self, call: Call) -> None:
        """Run a request beside what follows."""
        self.setup.tasks.start_soon(self.run, call)

    async def on_its_way(self, call: Call) -> None:
        """Wait until the request has been sent: before that there is nothing to cancel or cut."""
        with anyio.move_on_after(self.setup.seconds):
            await call.begun.wait()
            if call.pending is not None:
                await call.pending.sent.wait()

    async def cancel(self, call: Call, reason: str | None = None) -> bool:
        """Give up a request in progress; False when it is over, for then nothing is sent."""
        await self.on_its_way(call)
        pending = call.pending
        over = call.finished.is_set() or call.cancelled or call.overdue
        if over or pending is None or pending.response is not None:
            return False
        call.cancelled = True
        if not call.wants_task:
            await self._announce_cancellation(pending, reason)
        call.scope.cancel()
        return True

    async def cancel_all(self) -> None:
        """Give up every request that is still in progress."""
        for call in list(self._running):
            await self.cancel(call, "the client leaves")

    @abstractmethod
    async def close(self) -> None:
        """End the session as its era wants it."""

    @abstractmethod
    def _asked(self, request: JsonObject) -> None:
        """The server sent a request of its own."""

    @abstractmethod
    def _compose(self, call: Call, request_id: RequestId, params: JsonObject | None) -> Outgoing:
        """The request as this era sends it."""

    @abstractmethod
    async def _converse(self, call: Call) -> Reply:
        """Send the request and all that has to follow it."""

    @abstractmethod
    async def _announce_cancellation(self, pending: Pending, reason: str | None) -> None:
        """Tell the server, where the transport does not, that nobody waits any more."""

    async def _recover(self, call: Call, pending: Pending, receipt: Receipt) -> Receipt:  # noqa: ARG002
        """Get the response after all when its carrier broke; this is the legacy era's."""
        return receipt

    async def _attempt(self, call: Call, params: JsonObject | None) -> tuple[Reply, Receipt]:
        """One request, again under a fresh id after each renewal of credentials."""
        for _ in range(MAX_AUTHORIZATIONS):
            reply, receipt = await self._attempt_once(call, params)
            if not receipt.again:
                break
        return reply, receipt

    async def _attempt_once(self, call: Call, params: JsonObject | None) -> tuple[Reply, Receipt]:
        request_id = next(self.setup.ids)
        outgoing = self._compose(call, request_id, params)
        pending = call.pending = self.inbox.expect(request_id)
        call.begun.set()
        try:
            receipt = await self.deliver(outgoing, pending, call.seconds)
            if pending.response is None:
                receipt = await self._recover(call, pending, receipt)
            if pending.response is None and receipt.ending in (Ending.TIMEOUT, Ending.LIMIT):
                await self._give_up(call, pending)
        finally:
            self.inbox.forget(pending)
        return _reply(pending, receipt), receipt

    async def _give_up(self, call: Call, pending: Pending) -> None:
        call.overdue = True
        if call.method not in NEVER_CANCELLED and not call.wants_task:
            await self._announce_cancellation(pending, "no answer in time")

    async def deliver(
        self, outgoing: Outgoing, asked: Pending | None = None, seconds: float | None = None
    ) -> Receipt:
        """Hand a message to the channel; the receipt is that of the message itself.

        What is no request has no id, and is sent again as it is with renewed credentials.
        """
        wait_s = self.setup.seconds if seconds is None else seconds
        for _ in range(MAX_AUTHORIZATIONS):
            receipt = await self._deliver_once(outgoing, asked, wait_s)
            if outgoing.is_request or not receipt.again:
                break
        return receipt

    async def _deliver_once(
        self, outgoing: Outgoing, asked: Pending | None, wait_s: float
    ) -> Receipt:
        ahead, own, after = _sorted_out(self.setup.wiring.send(outgoing), outgoing)
        for one in ahead:
            await self.channel.exchange(one, None, self.setup.seconds)
        if own is None:
            return _NOTHING_SENT
        if after:
            self.setup.tasks.start_soon(self._follow, asked, after)
        return await self.channel.exchange(own, asked, wait_s)

    async def _follow(self, asked: Pending | None, after: Iterable[Outgoing]) -> None:
        """Send what goes out while the response is awaited."""
        if asked is not None:
            await asked.sent.wait()
        for one in after:
            await self.channel.exchange(one, None, self.setup.seconds)


def _sorted_out(
    sent: tuple[Outgoing, ...], wanted: Outgoing
) -> tuple[tuple[Outgoing, ...], Outgoing | None, tuple[Outgoing, ...]]:
    """What goes out ahead of the message, the message itself, and what follows it."""
    for position, one in enumerate(sent):
        if one.stands_for(wanted):
            return sent[:position], one, sent[position + 1 :]
    return sent, None, ()


def merged_meta(params: Mapping[str, Any] | None, added: JsonObject) -> JsonObject:
    """`params` with more members in their `_meta`."""
    members = dict(params or {})
    given = members.get("_meta")
    members["_meta"] = {**(given if isinstance(given, dict) else {}), **added}
    return members


def _reply(pending: Pending, receipt: Receipt) -> Reply:
    response = pending.response
    if response is None:
        return Reply(status=receipt.status, fault=_without_response(receipt))
    fault = ""
    if "result" in response and not isinstance(response["result"], dict):
        fault = "the result is no object"
    return Reply(response, receipt.status, fault)


def _without_response(receipt: Receipt) -> str:
    if receipt.ending is not Ending.COMPLETE:
        return receipt.detail or receipt.ending.value
    return f"HTTP {receipt.status} without a response" if receipt.status else "no response"
