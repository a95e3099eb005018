"""The progress tokens that requests offer, and which request each belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from clausewise.core.vocabulary import Direction
from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.ordering import Sent
from clausewise.judge.session.sessions import Session
from clausewise.judge.wording import ABSENT
from clausewise.wire.jsonrpc import IdKey, id_key, valid_id

_C2S = Direction.CLIENT_TO_SERVER
_S2C = Direction.SERVER_TO_CLIENT

MAX_TOKENS = 4096
"""Tokens remembered a session."""


class Series(Struct, eq=False):
    """A token as one request offered it, and the progress reported on it.

    Attributes:
        request: the request.
        exchange: the HTTP exchange that carried it, as far as known.
        reported: whether progress came while it was in progress.
        late: whether progress came after its completion.
        rival: an earlier request that may still be active and offered the same token.
        value: the last progress value, None before there is one.
        at: where that was recorded.
    """

    request: Request
    exchange: Exchange | None = None
    reported: bool = False
    late: bool = False
    rival: Request | None = None
    value: int | float | None = None
    at: Sent | None = None


@dataclass(slots=True)
class Tokens:
    """The series of a session: the latest of each requester and token, and those replaced.

    `offered` counts the tokens by the direction of the requests.
    """

    offered: dict[Direction, int] = field(default_factory=lambda: dict.fromkeys(Direction, 0))
    latest: dict[tuple[Direction, IdKey], Series] = field(default_factory=dict)
    replaced: list[Series] = field(default_factory=list)
    forgetful: bool = False
    _read: int = -1
    _found: Series | None = None

    def offer(
        self, request: Request, token: Any, exchange: Exchange | None = None
    ) -> Series | None:
        """Take in the valid token of `request`; returns the former series of it, if any."""
        key = (request.direction, id_key(token))
        self.offered[request.direction] += 1
        former = self.latest.pop(key, None)
        if former is not None and former.request is request:
            exchange = exchange or former.exchange
        self.latest[key] = Series(request, exchange)
        if former is not None and len(self.replaced) < MAX_TOKENS:
            self.replaced.append(former)
        if len(self.latest) > MAX_TOKENS:
            forget_older_half(self.latest)
            self.forgetful = True
        return former

    def share(self, request: Request, token: Any, rival: Request) -> None:
        """Note that what is reported on the token of `request` may be about `rival`."""
        series = self.latest.get((request.direction, id_key(token)))
        if series is not None:
            series.rival = rival

    def of(self, notification: Message) -> Series | None:
        """The series that a progress notification continues."""
        if self._read != notification.seq:
            token = notification.params.get("progressToken")
            offered_in = _C2S if notification.direction is _S2C else _S2C
            self._found = self.latest.get((offered_in, id_key(token))) if valid_id(token) else None
            self._read = notification.seq
        return self._found


def token_of(params: Any) -> Any:
    """The progressToken in the `_meta` of a request's params, ABSENT if there is none."""
    meta = params.get("_meta") if type(params) is dict else None
    return meta.get("progressToken", ABSENT) if type(meta) is dict else ABSENT


def is_open(request: Request, session: Session) -> bool:
    """Whether `request` is unanswered, and was not refused by HTTP."""
    if request.answered is not None:
        return False
    candidate = session.side(request.direction).open.get(request.key)
    while candidate is not None and candidate is not request:
        candidate = candidate.older
    return candidate is request
