"""How a server treats requests without a token, and what it publishes about authorization.

Found once per run and shared by the probes of the rules about authorization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from clausewise.judge.subjects.challenges import challenges_of
from clausewise.judge.subjects.urls import is_url, is_web_address
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, inconclusive, not_applicable
from clausewise.trace.events import EventKind
from clausewise.transport.documents import Document
from clausewise.transport.guarded import origin_of
from clausewise.wire.authorization.challenges import Challenge, bearer_of
from clausewise.wire.authorization.well_known import resource_metadata_urls

UNAUTHORIZED, FORBIDDEN = 401, 403
_REFUSED = (UNAUTHORIZED, FORBIDDEN)
_CAPABILITY_OF = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}
_PATIENCE_S = 3.0
_LONGEST_SCHEME = 40
_SHOWN = 200
MAX_URL_CHARACTERS = 2048


class Reader(Protocol):
    """Whoever talks with an endpoint and can read documents that it names."""

    @property
    def url(self) -> str: ...

    async def document(self, url: str) -> Document: ...


class Place(Enum):
    """How the URL of a Protected Resource Metadata document was found."""

    CHALLENGE = "resource_metadata of the challenge"
    PATH = "the well-known URL of the endpoint"
    ROOT = "the well-known URL of the root"


@dataclass(frozen=True, slots=True)
class Located:
    """A Protected Resource Metadata document, or what stands in its place."""

    place: Place
    document: Document


class Stance(Enum):
    """What a server makes of a request without a token."""

    OPEN = "open"
    """It is served."""
    OAUTH = "oauth"
    """It is refused, with a Bearer challenge or beside a metadata document."""
    CUSTOM = "custom"
    """It is refused with challenges of other schemes alone, and there is no document."""
    UNCLEAR = "unclear"
    """Nobody can say which."""


@dataclass(frozen=True, slots=True)
class Protection:
    """The stance of a server and what shows it.

    Attributes:
        reason: the stance in words.
        refusal: the refused request without a token; None when all were served.
        challenges: those of the refusal, in order.
        located: the places where metadata was looked for, in the order of clients, up to
            the first that has it.
    """

    stance: Stance
    reason: str
    refusal: Reply | None = None
    challenges: tuple[Challenge, ...] = ()
    located: tuple[Located, ...] = ()

    @property
    def bearer(self) -> Challenge | None:
        """The Bearer challenge of a 401, or None."""
        if self.refusal is None or self.refusal.status != UNAUTHORIZED:
            return None
        return bearer_of(self.challenges)

    @property
    def metadata(self) -> Located | None:
        """The place that has a document, or None."""
        return next((one for one in self.located if one.document.value is not None), None)

    @property
    def undecided(self) -> str | None:
        """Why nobody can say that there is no document anywhere; None when one can."""
        return undecided_of(self.located)

    @property
    def outside(self) -> Observation | None:
        """What a rule about OAuth protection is where there is none, or nobody knows."""
        if self.stance is Stance.UNCLEAR:
            return inconclusive(self.reason)
        return None if self.stance is Stance.OAUTH else not_applicable(self.reason)


def undecided_of(located: tuple[Located, ...]) -> str | None:
    """The first reason why one of the places may have a document after all, or None."""
    return next((why for one in located if (why := one.document.undecided)), None)


def challenges_in(reply: Reply) -> tuple[Challenge, ...]:
    """The challenges of an answer, interim heads left out."""
    heads = [
        event
        for event in reply.answer.events
        if event.kind is EventKind.HTTP and event.status == reply.status
    ]
    return challenges_of(heads[-1]) if heads else ()


def web_address(value: Any) -> str | None:
    """`value` if it is an absolute http or https URL of bearable length, else None."""
    if not isinstance(value, str) or len(value) > MAX_URL_CHARACTERS:
        return None
    if not is_web_address(value) or not is_url(value):
        return None
    return value if origin_of(value) is not None else None


async def protection(peer: Peer) -> Protection:
    """How the server treats requests without a token; asked once per run."""
    return await peer.once("protection", lambda: _look(peer))


async def _look(peer: Peer) -> Protection:
    for method in ("server/discover", _listed(peer)):
        if method is None:
            continue
        reply = await _without_token(peer, method)
        if reply.status in _REFUSED:
            return await _refused(peer, reply)
        if reply.blocked:
            reason = f"{method} without a token: {reply.blocked}"
            return Protection(Stance.UNCLEAR, reason, reply)
        if not reply.succeeded and await _is_served_with_token(peer, method):
            return await _refused(peer, reply)
    call = await peer.callable_tool()
    if call is not None:
        reply = await _anonymous(peer, "tools/call", call.params)
        if reply.status in _REFUSED:
            return await _refused(peer, reply)
    return Protection(Stance.OPEN, "requests without a token are served: authorization is optional")


def _listed(peer: Peer) -> str | None:
    """A list method of the server, or None."""
    return next((m for m, capability in _CAPABILITY_OF.items() if peer.offers(capability)), None)


async def _without_token(peer: Peer, method: str) -> Reply:
    """The answer to a request without parameters and token; a conforming run has it already."""
    if peer.authorized:
        return await _anonymous(peer, method)
    if method == "server/discover":
        return await peer.discover()
    return (await peer.pages(method)).replies[0]


async def _anonymous(peer: Peer, method: str, params: Mapping[str, Any] | None = None) -> Reply:
    # Marked, since a client that has a token owes it with each request.
    async with peer.anonymous() as link:
        return await peer.request(
            method,
            params,
            link=link,
            timeout_s=min(_PATIENCE_S, peer.answer_s),
            rule="MCP-AUT-001",
        )


async def _is_served_with_token(peer: Peer, method: str) -> bool:
    if not peer.authorized:
        return False
    reply = await peer.request(method)
    return reply.succeeded


async def _refused(peer: Peer, refusal: Reply) -> Protection:
    challenges = challenges_in(refusal)
    located = await locate(peer, bearer_of(challenges))
    stance, reason = _stance(refusal, challenges, located)
    return Protection(stance, reason, refusal, challenges, located)


def _stance(
    refusal: Reply, challenges: tuple[Challenge, ...], located: tuple[Located, ...]
) -> tuple[Stance, str]:
    got = f"{refusal.request.method} without a token got {refusal.shown}"
    has_document = any(one.document.value is not None for one in located)
    if has_document or bearer_of(challenges) is not None:
        return Stance.OAUTH, got
    unknown = undecided_of(located)
    if unknown is not None:
        return Stance.UNCLEAR, unknown
    if challenges and refusal.status in _REFUSED:
        scheme = challenges[0].scheme[:_LONGEST_SCHEME]
        return Stance.CUSTOM, (
            f"the server asks for the scheme {scheme!r} and publishes no metadata: "
            "it may authorize in a way of its own"
        )
    return Stance.UNCLEAR, (
        f"{got}, without a Bearer challenge or a metadata document: a scheme of its own looks "
        "the same as a broken one"
    )


async def locate(peer: Reader, bearer: Challenge | None) -> tuple[Located, ...]:
    """Look for metadata where a client would, up to the first place that has it."""
    located: list[Located] = []
    named = bearer.parameters.get("resource_metadata") if bearer is not None else None
    places = list(zip((Place.PATH, Place.ROOT), resource_metadata_urls(peer.url), strict=False))
    if named is not None:
        places.insert(0, (Place.CHALLENGE, named))
    for place, url in places:
        if place is Place.CHALLENGE and web_address(url) is None:
            document = Document(url[:_SHOWN], None, "no absolute http or https URL")
        else:
            document = await peer.document(url)
        located.append(Located(place, document))
        if document.value is not None:
            break
    return tuple(located)
