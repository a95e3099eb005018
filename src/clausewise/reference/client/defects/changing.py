"""Ways to change what a client sends, one message at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.client.defects.defect import BOTH_TRANSPORTS, ClientDefect
from clausewise.reference.client.outgoing import Outgoing
from clausewise.reference.client.wiring import ClientWiring
from clausewise.reference.messages import JsonObject, notification, request

Apply = Callable[[ClientWiring], ClientWiring]
Pick = Callable[[Outgoing], bool]
Change = Callable[[Outgoing], Outgoing]
Extra = Callable[[Outgoing], tuple[Outgoing, ...]]


def legacy_defect(
    name: str,
    summary: str,
    apply: Apply,
    *clauses: str,
    transports: frozenset[TransportKind] = BOTH_TRANSPORTS,
    protected: bool = False,
    occasion: str = "",
) -> ClientDefect:
    """A defect of sessions of 2025-11-25."""
    return ClientDefect(
        name, summary, apply, {Era.LEGACY: clauses}, transports, protected, occasion
    )


def is_method(*methods: str) -> Pick:
    """Picks the requests and notifications with one of these methods."""
    return lambda outgoing: outgoing.method in methods


def is_verb(verb: str) -> Pick:
    """Picks the HTTP requests with this method."""
    return lambda outgoing: outgoing.verb == verb


def is_response(outgoing: Outgoing) -> bool:
    """Picks the responses to requests of the server."""
    return outgoing.method is None and outgoing.message is not None


def is_result(outgoing: Outgoing) -> bool:
    """Picks the responses that carry a result."""
    return is_response(outgoing) and "result" in (outgoing.message or {})


def is_error(outgoing: Outgoing) -> bool:
    """Picks the responses that carry an error."""
    return is_response(outgoing) and "error" in (outgoing.message or {})


def changed(pick: Pick, change: Change) -> Apply:
    """Changes every message that is picked."""
    return _rewritten(lambda one: (change(one),) if pick(one) else (one,))


def dropped(pick: Pick) -> Apply:
    """Sends nothing instead of the messages that are picked."""
    return _rewritten(lambda one: () if pick(one) else (one,))


def preceded(pick: Pick, extra: Extra) -> Apply:
    """Sends something ahead of the first message that is picked."""
    return _once(pick, lambda one: (*map(_beside, extra(one)), one))


def followed(pick: Pick, extra: Extra) -> Apply:
    """Sends something after the first message that is picked, while its response is awaited."""
    return _once(pick, lambda one: (one, *map(_beside, extra(one))))


def undeclared(*path: str) -> Apply:
    """Declares everything but the capability at this path; what is asked for is still given."""

    def apply(wiring: ClientWiring) -> ClientWiring:
        before = wiring.declare
        return replace(wiring, declare=lambda era, found: _without(before(era, found), path))

    return apply


def nothing_declared(wiring: ClientWiring) -> ClientWiring:
    """Declares no capability; what is asked for is still given."""
    return replace(wiring, declare=lambda _era, _found: {})


def _without(found: JsonObject, path: tuple[str, ...]) -> JsonObject:
    name, *inner = path
    if not inner or name not in found:
        return {key: value for key, value in found.items() if key != name}
    return {**found, name: _without(found[name], tuple(inner))}


def both(*changes: Apply) -> Apply:
    """Several changes that make one defect together."""

    def apply(wiring: ClientWiring) -> ClientWiring:
        for change in changes:
            wiring = change(wiring)
        return wiring

    return apply


def message_like(outgoing: Outgoing, message: JsonObject) -> Outgoing:
    """Another message with the headers of `outgoing`."""
    return replace(outgoing, message=message, source=None)


def ping(request_id: Any) -> Extra:
    """A ping with this id."""
    return lambda like: (message_like(like, request(request_id, "ping")),)


def notice(method: str, params: JsonObject | None = None) -> Extra:
    """A notification."""
    return lambda like: (message_like(like, notification(method, params)),)


def source(data: bytes) -> Extra:
    """These bytes instead of a message."""
    return lambda like: (replace(like, source=data),)


def _beside(outgoing: Outgoing) -> Outgoing:
    return replace(outgoing, beside=True)


def _once(pick: Pick, rewrite: Callable[[Outgoing], tuple[Outgoing, ...]]) -> Apply:
    def apply(wiring: ClientWiring) -> ClientWiring:
        done: list[Outgoing] = []

        def send(outgoing: Outgoing) -> tuple[Outgoing, ...]:
            if done or not pick(outgoing):
                return (outgoing,)
            done.append(outgoing)
            return rewrite(outgoing)

        return _after(wiring, send)

    return apply


def _rewritten(rewrite: Callable[[Outgoing], tuple[Outgoing, ...]]) -> Apply:
    return lambda wiring: _after(wiring, rewrite)


def _after(
    wiring: ClientWiring, rewrite: Callable[[Outgoing], tuple[Outgoing, ...]]
) -> ClientWiring:
    """`wiring` whose messages are rewritten after all that it does itself."""
    before = wiring.send
    return replace(
        wiring, send=lambda outgoing: tuple(x for one in before(outgoing) for x in rewrite(one))
    )
