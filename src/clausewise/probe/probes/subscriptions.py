"""Our rules about subscriptions (CW-SUB-001 to 003, CW-CAN-001, CW-CAN-002)."""

from __future__ import annotations

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, Turn, passive, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.received import Received, received
from clausewise.probe.subjects.subscription import (
    ACKNOWLEDGED,
    CHANGES,
    LISTEN,
    Listening,
    Subscription,
    listening,
    subscription_of,
)
from clausewise.probe.wording import named
from clausewise.transport.answers import Ending
from clausewise.wire.jsonrpc import same_id

CANCELLED = "notifications/cancelled"
_NO_CHANGES = "the server declares no changes that it would announce"
_OF_SUBSCRIPTIONS = frozenset({ACKNOWLEDGED, *CHANGES.values()})


async def _held_subscriptions(peer: Peer) -> Listening | Observation:
    """The subscriptions of the run, or what to say where there are none."""
    found = await listening(peer)
    if found is None:
        return not_applicable(_NO_CHANGES)
    if found.full.is_unknown:
        return not_observed(f"{LISTEN} is not served: MCP-DEP-003's finding")
    if found.full.opening.error is not None or not found.full.opening.answer.events:
        return inconclusive(f"{LISTEN} got {found.full.opening.shown}")
    return found


@probe("CW-SUB-001", turn=Turn.LAST, beside=True, impact="calls")
async def only_wanted_changes_are_delivered(peer: Peer) -> Observation:
    """A subscription delivers notifications that it did not ask for.

    Why: clients ask for what they can use; the rest costs traffic, and a client may take it
    for a fault.

    Fix: compare each change with the filter of the subscription before sending it.
    """
    found = await _held_subscriptions(peer)
    if isinstance(found, Observation):
        return found
    return once_each(
        (one.method, _wanted(one, subscription))
        for subscription in found.subscriptions
        for one in subscription.messages
        if one.method in _OF_SUBSCRIPTIONS
    )


def _wanted(one: Received, subscription: Subscription) -> Observation:
    asked = [CHANGES[member] for member in subscription.wanted]
    if one.method == ACKNOWLEDGED or one.method in asked:
        return held()
    return broke(
        f"a subscription delivers {one.method}, which it did not ask for",
        seen=f"{one.method} on the subscription {named(subscription.id)}",
        expected=", ".join(asked) or "nothing but the acknowledgement",
        evidence=one.sighting,
    )


@probe("CW-SUB-002", turn=Turn.LAST, beside=True, impact="calls")
async def subscription_is_acknowledged_first(peer: Peer) -> Observation:
    """A subscription does not begin with its acknowledgement.

    Why: until then the client does not know what the server will deliver; what comes
    earlier is lost on it.

    Fix: send `notifications/subscriptions/acknowledged` with the subscription's id before
    anything else of the subscription.
    """
    found = await _held_subscriptions(peer)
    if isinstance(found, Observation):
        return found
    return once_each((LISTEN, _acknowledged(subscription)) for subscription in found.subscriptions)


def _acknowledged(subscription: Subscription) -> Observation:
    opening = subscription.opening
    first = next(iter(subscription.messages), None)
    if first is not None and first.method == ACKNOWLEDGED:
        return held()
    if first is not None:
        return broke(
            "a subscription begins with something else than its acknowledgement",
            seen=f"{first.method} first",
            expected=ACKNOWLEDGED,
            evidence=first.sighting,
        )
    if opening.succeeded:
        return broke(
            "a subscription is answered with a result and not acknowledged",
            seen=opening.shown,
            expected=ACKNOWLEDGED,
            evidence=opening,
        )
    if not subscription.wanted:
        return not_observed("a subscription to nothing was watched only for a moment")
    if not opening.streamed or opening.error is not None or opening.blocked is None:
        return inconclusive(opening.blocked or f"{LISTEN} got {opening.shown}")
    return broke(
        "a subscription is opened and not acknowledged",
        seen=f"a stream without a message ({opening.blocked})",
        expected=ACKNOWLEDGED,
        evidence=opening,
    )


@probe("CW-SUB-003", turn=Turn.LAST, beside=True, impact="calls")
async def notifications_carry_their_subscription(peer: Peer) -> Observation:
    """A notification of a subscription does not carry the subscription's id.

    Why: with several subscriptions on one channel the client cannot tell whose it is.

    Fix: put the id of the `subscriptions/listen` request, as it came, into
    `_meta["io.modelcontextprotocol/subscriptionId"]` of each notification.
    """
    found = await _held_subscriptions(peer)
    if isinstance(found, Observation):
        return found
    return once_each(
        (one.method, _carries(one, subscription))
        for subscription in found.subscriptions
        for one in subscription.messages
        if one.method in _OF_SUBSCRIPTIONS
    )


def _carries(one: Received, subscription: Subscription) -> Observation:
    carried = subscription_of(one)
    if carried is not None and same_id(carried, subscription.id):
        return held()
    return broke(
        f"{one.method} does not carry the id of its subscription",
        seen="no subscriptionId" if carried is None else f"subscriptionId {named(carried)}",
        expected=f"subscriptionId {named(subscription.id)}",
        evidence=one.sighting,
    )


@passive("CW-CAN-001")
def server_cancels_subscriptions_only(traffic: Traffic) -> Observation:
    """The server sends `notifications/cancelled` about something else than a subscription.

    Why: clients do not expect it; a request that the server gives up is to be answered with
    an error.

    Fix: answer requests that cannot be completed with an error; cancel subscriptions alone.
    """
    opened = [r.request.id for r in traffic.replies if r.request.method == LISTEN]
    parts: list[tuple[str, Observation]] = []
    for one in received(traffic):
        if one.method == CANCELLED:
            parts.append((CANCELLED, _cancels(one, opened)))
        elif one.method is not None:
            parts.append(("", held()))
    return once_each(parts) if parts else not_observed("no notification from the server was seen")


def _cancels(one: Received, opened: list[object]) -> Observation:
    about = one.params.get("requestId")
    asking = one.reply.request
    if one.reply.transport is TransportKind.HTTP:
        opened = [asking.id] if asking.method == LISTEN else []
    if any(same_id(about, id_) for id_ in opened):
        return held()
    return broke(
        "the server cancels what is no subscription",
        seen=f"{CANCELLED} for request {named(about)} in the answer to {asking.method}",
        expected="no cancellation, or one of an open subscription",
        evidence=one.sighting,
    )


@probe("CW-CAN-002", transports=HTTP_ONLY, turn=Turn.LAST, impact="calls")
async def end_of_a_subscription_is_told(peer: Peer) -> Observation:
    """The server ends a subscription without a word.

    Why: the client cannot tell that from a broken connection, and subscribes again.

    Fix: send `notifications/cancelled` with the subscription's id, and the result of
    `subscriptions/listen`, before closing the stream.
    """
    found = await _held_subscriptions(peer)
    if isinstance(found, Observation):
        return found
    ended = [
        subscription
        for subscription in found.subscriptions
        if subscription.opening.streamed and subscription.opening.answer.ending is Ending.COMPLETE
    ]
    if not ended:
        return not_observed("the server ended no subscription while it was watched")
    return merged(_told(subscription) for subscription in ended)


def _told(subscription: Subscription) -> Observation:
    opening = subscription.opening
    cancelled = any(one.method == CANCELLED for one in subscription.messages)
    if cancelled or opening.message is not None:
        return held()
    return broke(
        "the server ends a subscription without a word",
        seen="the end of the stream, without a result or a cancellation",
        expected=f"{CANCELLED}, or the result of {LISTEN}",
        evidence=opening,
    )
