"""What a recording proves about the order in which one party sent two messages."""

from __future__ import annotations

from msgspec import Struct

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.messages import Message


class Sent(Struct, frozen=True):
    """Where a message was recorded: its seq, and its exchange and stream as far as known."""

    seq: int
    exchange: Exchange | None
    stream: str | int | None = None


def sent(message: Message) -> Sent:
    """Where `message` was recorded."""
    return Sent(message.seq, message.exchange, message.event.stream)


def surely_later(message: Message, earlier: Sent) -> bool:
    """Whether the sender of `message` sent it after `earlier`, which is recorded before it.

    Both are of one sender. Messages on stdio, on one SSE stream and in one response keep their
    order. Across HTTP exchanges a server's message is later if its exchange began after the
    other message was recorded, a client's if it was posted after the other POST was answered.
    """
    if message.event.transport is TransportKind.STDIO:
        return True
    if earlier.stream is not None and message.event.stream == earlier.stream:
        return True
    exchange, other = message.proven_exchange, earlier.exchange
    if exchange is None or other is None or not other.is_proven:
        return False
    if exchange is other:
        return True
    if exchange.head is None:
        return False
    if message.direction is Direction.CLIENT_TO_SERVER:
        return other.response is not None and other.response.seq < exchange.head.seq
    return exchange.head.seq > earlier.seq
