"""Our rules about log messages (CW-LOG-001 to CW-LOG-004)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import HeaderEdit
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, Turn, passive, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.received import Received, received_in
from clausewise.probe.subjects.subscription import (
    LISTEN,
    LOG_LEVEL_KEY,
    listening,
)
from clausewise.probe.subjects.tour import ALL_CAPABILITIES, served_calls, tour

MESSAGE = "notifications/message"
_CANARY = "clausewise4canary7log"
_MAX_CALLS = 4
_NO_CALL = "no tool that may be called is known to answer"
_SILENT = "no tool that may be called sent a log message"


@dataclass(frozen=True, slots=True)
class _Logged:
    """Calls that ask for log messages; those with a `canary` carry it as a credential, too."""

    replies: tuple[Reply, ...]
    canary: bool

    @property
    def messages(self) -> Iterator[Received]:
        for reply in self.replies:
            yield from (one for one in received_in(reply) if one.method == MESSAGE)


async def _logged(peer: Peer) -> _Logged:
    """Some of the calls that may be made, with the lowest log level; made once per run."""

    async def call() -> _Logged:
        calls = served_calls(await tour(peer))[:_MAX_CALLS]
        canary = peer.transport is TransportKind.HTTP
        secrets: dict[str, HeaderEdit] = {"Cookie": f"session={_CANARY}"}
        if not peer.authorized:
            secrets["Authorization"] = f"Bearer {_CANARY}"
        replies = [
            await peer.request(
                "tools/call",
                {**request.params, "_meta": {LOG_LEVEL_KEY: "debug"}},
                capabilities=ALL_CAPABILITIES,
                headers=secrets if canary else {},
                timeout_s=peer.tool_s,
            )
            for request in calls
        ]
        return _Logged(tuple(replies), canary)

    return await peer.once("logged calls", call)


@probe("CW-LOG-001", impact="calls")
async def who_logs_declares_it(peer: Peer) -> Observation:
    """The server sends log messages and does not declare `logging`.

    Why: clients that see no such capability do not ask for log levels, nor show what comes.

    Fix: declare the capability `logging`, or log to stderr instead.
    """
    if not (await peer.discover()).succeeded:
        return not_observed("server/discover names no capabilities")
    logged = await _logged(peer)
    if not logged.replies:
        return not_observed(_NO_CALL)
    first = next(logged.messages, None)
    if first is None:
        return not_observed(_SILENT)
    if peer.offers("logging"):
        return held(sum(1 for _ in logged.messages))
    if any(one.method == MESSAGE for v in await tour(peer) for one in received_in(v.reply)):
        return not_observed("it logs though nobody asks it to: CW-LOG-002's finding")
    return broke(
        "the server sends log messages and does not declare logging",
        seen=f"{MESSAGE}, no logging capability",
        expected="capabilities.logging, or no log messages",
        evidence=first.sighting,
    )


@passive("CW-LOG-002")
def nothing_is_logged_unasked(traffic: Traffic) -> Observation:
    """A request without a log level brings forth log messages.

    Why: the client did not ask for them; they cost traffic and may hold what it must not show.

    Fix: send `notifications/message` only for requests with
    `io.modelcontextprotocol/logLevel` in `_meta`.
    """
    return once_each(
        (reply.request.method, _unasked(reply))
        for reply in traffic.replies
        if reply.request.method not in (None, LISTEN) and not _asks_for_log(reply)
        # What a request may be answered with beside its response can be told where it may
        # take its time.
        if reply.request.method == "tools/call" or _messages(reply)
        if reply.message is not None
    )


def _asks_for_log(reply: Reply) -> bool:
    meta = (reply.request.params or {}).get("_meta")
    return isinstance(meta, dict) and LOG_LEVEL_KEY in meta


def _messages(reply: Reply) -> list[Received]:
    return [one for one in received_in(reply) if one.method == MESSAGE]


def _unasked(reply: Reply) -> Observation:
    found = _messages(reply)
    if not found:
        return held()
    return broke(
        f"{reply.request.method} without a log level brings forth log messages",
        seen=f"{len(found)} of {MESSAGE}",
        expected=f"none without {LOG_LEVEL_KEY}",
        evidence=found[0].sighting,
    )


@probe("CW-LOG-003", transports=HTTP_ONLY, turn=Turn.LAST, impact="calls")
async def subscriptions_carry_no_log(peer: Peer) -> Observation:
    """Log messages of a request come on the stream of a subscription.

    Why: the client cannot tell which request they belong to, and may show them to whom they
    do not concern.

    Fix: write log messages to the response stream of the request that asked for them.
    """
    found = await listening(peer)
    if found is None or found.full.opening.error is not None:
        return not_observed("there is no subscription to watch")
    if not await tour(peer):
        return not_observed(_NO_CALL)
    strays = [
        one
        for subscription in found.subscriptions
        for one in received_in(subscription.opening)
        if one.method == MESSAGE
    ]
    if strays:
        return broke(
            "log messages come on a subscription",
            seen=f"{MESSAGE} on the stream of {LISTEN}",
            expected="log messages on the stream of their request",
            evidence=strays[0].sighting,
        )
    if next((await _logged(peer)).messages, None) is None:
        return not_observed(_SILENT)
    return held()


@probe("CW-LOG-004", impact="calls")
async def log_holds_no_credentials(peer: Peer) -> Observation:
    """A log message holds the credentials that the request came with.

    Why: logs are shown, stored and passed on; whoever reads them can act as the client.

    Fix: leave headers, tokens and cookies out of log messages.
    """
    logged = await _logged(peer)
    if not logged.replies:
        return not_observed(_NO_CALL)
    if not logged.canary:
        return not_applicable("a request on stdio carries no credentials")
    if next(logged.messages, None) is None:
        return not_observed(_SILENT)
    for one in logged.messages:
        if _CANARY.encode() in (one.event.text or b""):
            return broke(
                "a log message repeats the credentials of its request",
                seen="the token of the Authorization or Cookie header in a log message",
                expected="log messages without credentials",
                evidence=one.sighting,
            )
    return held(sum(1 for _ in logged.messages))
