"""Subscriptions of a run: two at a time, calls beside them, and their end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import anyio

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.link import Link
from clausewise.probe.conversation.peer import GLANCE_S, Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Edits
from clausewise.probe.subjects.cancelled_call import CancelledCall, cancelled_call
from clausewise.probe.subjects.received import Received, received_in
from clausewise.probe.subjects.tour import ALL_CAPABILITIES, served_calls, tour
from clausewise.trace.events import Event
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import same_id

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"

CHANGES: Mapping[str, str] = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
    "resourceSubscriptions": "notifications/resources/updated",
}
"""The notification that each member of a filter asks for."""

_WATCH_S = 0.6
_MAX_CALLS = 3
_NO_RESOURCE = "clausewise-nonexistent://resource"


@dataclass(frozen=True, slots=True)
class Subscription:
    """One subscription: its request, what it asked for, and what came that may belong to it.

    `other` is the id of the subscription beside it.
    """

    opening: Reply
    wanted: Mapping[str, Any]
    later: tuple[Reply, ...] = ()
    other: Any = None

    @property
    def id(self) -> Any:
        return self.opening.request.id

    @property
    def is_unknown(self) -> bool:
        """Whether the server has no such method."""
        return self.opening.code == ErrorCode.METHOD_NOT_FOUND

    @property
    def messages(self) -> Iterator[Received]:
        """The notifications of this subscription, in order.

        On stdio all subscriptions share a channel: those that carry the id of another one
        are left out, and what carries neither belongs to the one that was just opened.
        """
        for reply in (self.opening, *self.later):
            for one in received_in(reply):
                if one.method is not None and self._may_own(one):
                    yield one

    def _may_own(self, one: Received) -> bool:
        if self.opening.transport is TransportKind.HTTP:
            return True
        carried = subscription_of(one)
        if carried is not None and (same_id(carried, self.id) or same_id(carried, self.other)):
            return same_id(carried, self.id)
        return one.reply is self.opening


@dataclass(frozen=True, slots=True)
class Listening:
    """What came while two subscriptions were open.

    Attributes:
        full: the one that asks for all changes that the server declares.
        empty: the one that asks for nothing; None where the first was not opened.
        cancellations: on stdio, what ended each of them, in the order of `subscriptions`.
        cancelled: on stdio, what came after the subscriptions had been cancelled.
        call: on stdio, a call that was cancelled on the same process.
    """

    full: Subscription
    empty: Subscription | None
    cancellations: tuple[Reply, ...] = ()
    cancelled: tuple[Reply, ...] = ()
    call: CancelledCall | None = None

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return (self.full,) if self.empty is None else (self.full, self.empty)


def changes_declared(capabilities: Mapping[str, Any], uri: str) -> dict[str, Any]:
    """The subscription filter for the changes that the server declares to announce."""
    wanted: dict[str, Any] = {}
    for name in ("tools", "prompts", "resources"):
        capability = capabilities.get(name)
        if isinstance(capability, dict) and capability.get("listChanged") is True:
            wanted[f"{name}ListChanged"] = True
    resources = capabilities.get("resources")
    if isinstance(resources, dict) and resources.get("subscribe") is True:
        wanted["resourceSubscriptions"] = [uri]
    return wanted


def subscription_of(one: Received) -> Any:
    """The subscription id that a notification carries, or None."""
    meta = one.params.get("_meta")
    return meta.get(SUBSCRIPTION_KEY) if isinstance(meta, dict) else None


async def listening(peer: Peer) -> Listening | None:
    """The subscriptions of the run, held once; None where the server declares no changes."""

    async def listen() -> Listening | None:
        uri = await peer.readable_uri() or _NO_RESOURCE
        wanted = changes_declared(peer.capabilities, uri)
        if not wanted:
            return None
        if peer.transport is TransportKind.HTTP:
            return await _over_http(peer, wanted)
        return await _on_stdio(peer, wanted)

    return await peer.once("listening", listen)


async def _over_http(peer: Peer, wanted: Mapping[str, Any]) -> Listening:
    """Each subscription on a connection of its own, calls on a third."""
    found: dict[str, Reply] = {}
    opened = anyio.Event()

    def sees(_: Event) -> bool:
        opened.set()
        return False

    async def hold(name: str, filter_: Mapping[str, Any], id_: str | int) -> None:
        async with peer.fresh() as link:
            found[name] = await _open(
                peer, filter_, id=id_, link=link, until=sees, timeout_s=_WATCH_S
            )
        opened.set()

    async with anyio.create_task_group() as group:
        group.start_soon(hold, "full", wanted, "clausewise-full")
        group.start_soon(hold, "empty", {}, 900_001)
        await opened.wait()
        await _call(peer, None)
    full = found["full"]
    if not full.answer.messages and full.blocked is not None:
        async with peer.fresh() as link:
            full = await _open(peer, wanted, id="clausewise-again", link=link, until=_any)
    return Listening(Subscription(full, wanted), Subscription(found["empty"], {}))


async def _on_stdio(peer: Peer, wanted: Mapping[str, Any]) -> Listening:
    """Both subscriptions on a process that nobody uses afterwards, then the end of both."""
    async with peer.another() as link:
        full = await _open(peer, wanted, id="clausewise-full", link=link, until=_any)
        if full.error is not None:
            return Listening(Subscription(full, wanted), None)
        empty = await _open(peer, {}, id=900_001, link=link, until=_any, timeout_s=_WATCH_S)
        later = (*await _call(peer, link), await peer.request("server/discover", link=link))
        cancellations = [
            await peer.notify("notifications/cancelled", {"requestId": id_}, link=link)
            for id_ in (full.id, empty.id)
        ]
        ended = [await peer.request("server/discover", link=link) for _ in range(2)]
        call = await cancelled_call(peer, link)
    return Listening(
        Subscription(full, wanted, (empty, *later), empty.id),
        Subscription(empty, {}, later, full.id),
        tuple(cancellations),
        tuple(ended),
        call,
    )


async def _open(peer: Peer, wanted: Mapping[str, Any], **edits: Unpack[Edits]) -> Reply:
    edits["timeout_s"] = min(edits.get("timeout_s", GLANCE_S), peer.answer_s)
    return await peer.request(LISTEN, {"notifications": dict(wanted)}, **edits)


async def _call(peer: Peer, link: Link | None) -> tuple[Reply, ...]:
    """Calls that may log, report progress or change something, while others listen."""
    replies = []
    for number, request in enumerate(served_calls(await tour(peer))[:_MAX_CALLS]):
        meta = {"progressToken": f"clausewise-beside-{number}", LOG_LEVEL_KEY: "debug"}
        params = {**request.params, "_meta": meta}
        replies.append(
            await peer.request(
                "tools/call",
                params,
                capabilities=ALL_CAPABILITIES,
                timeout_s=peer.tool_s,
                link=link or await peer.own_link(),
            )
        )
    return tuple(replies)


def _any(_: Event) -> bool:
    return True
