"""Rules about foreign origins and about secrets that come back (SEC-001, 003 and 007)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Mapping
from urllib.parse import urlsplit

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_observed,
)
from clausewise.probe.probes.errors import NO_SUCH_METHOD
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.canary import comes_back
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.probe.subjects.named_requests import UNKNOWN_CALL
from clausewise.probe.subjects.origins import FOREIGN_ORIGIN, look_alike, served_foreign_origin

TOKEN_CANARY = "clausewise-canary-token-7f2c91"
HEADER_CANARY = "clausewise-canary-header-91ab3e"
COOKIE_CANARY = "clausewise-canary-cookie-c00c5d"
VARIABLE_CANARY = "clausewise-canary-variable-3d5b70"

CANARIES: Mapping[str, str] = {
    TOKEN_CANARY: "the Authorization header",
    HEADER_CANARY: "the X-Clausewise-Canary header",
    COOKIE_CANARY: "the Cookie header",
    VARIABLE_CANARY: "an environment variable",
}
"""What each canary is the value of."""

AUTHORIZATION = {"Authorization": f"Bearer {TOKEN_CANARY}"}
HEADERS = {"X-Clausewise-Canary": HEADER_CANARY, "Cookie": f"s={COOKIE_CANARY}"}
VARIABLES = {"CLAUSEWISE_CANARY": VARIABLE_CANARY}


@probe("MCP-SEC-001", transports=HTTP_ONLY)
async def foreign_origin_is_forbidden(peer: Peer) -> Observation:
    """A request with a foreign `Origin` is not refused with HTTP 403.

    Why: a web page that the user visits can then talk to the server through the browser, to
    one on localhost by DNS rebinding.

    Fix: compare `Origin`, where there is one, with a list of your own; answer any other
    with 403 before anything else. CORS headers do not refuse a request.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    reply = await peer.request(
        "server/discover", headers={"Origin": FOREIGN_ORIGIN}, rule="MCP-SEC-001"
    )
    if reply.status == 403:
        similar = look_alike(peer.http_target)
        again = await peer.request(
            "server/discover", headers={"Origin": similar}, rule="MCP-SEC-001"
        )
        if again.succeeded:
            return await served_foreign_origin(peer.http_target, again, peer.answer_s, similar)
        return merged([held(), *[held(note=note) async for note in _refused_origins(peer)]])
    if reply.status is None or reply.barred is not None:
        return inconclusive(reply.barred or f"the foreign origin got {reply.shown}")
    if 200 <= reply.status < 300:
        return await served_foreign_origin(peer.http_target, reply, peer.answer_s)
    return broke(
        "a foreign Origin is refused with another status than 403",
        seen=reply.shown,
        expected="HTTP 403",
        evidence=reply,
    )


async def _refused_origins(peer: Peer) -> AsyncIterator[str]:
    """Remarks: which origins are valid is the server's choice."""
    url = urlsplit(peer.url)
    for origin in (f"{url.scheme}://{url.netloc}", "null"):
        reply = await peer.request("server/discover", headers={"Origin": origin})
        if origin != "null" and reply.status == 403:
            yield f"the server's own origin, {origin}, is refused, too"
        if origin == "null" and reply.succeeded:
            yield "the opaque origin null is served"


@probe("MCP-SEC-003")
async def errors_repeat_no_secret(peer: Peer) -> Observation:
    """An error repeats a request header or an environment variable.

    Why: errors are logged, shown and handed to models; a token or cookie in them leaks.

    Fix: name what was wrong with the message (the method, the tool, an `Mcp-*` value), never
    the headers or the environment it came with.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    asking = _errors_over_http if peer.transport is TransportKind.HTTP else _errors_on_stdio
    replies = [reply async for reply in asking(peer)]
    errors = [reply for reply in replies if _is_error(reply)]
    if not errors:
        return not_observed("no request that should fail got an error")
    return once_each(_kinded(_repeats(reply, "an error repeats {what}")) for reply in errors)


def _is_error(reply: Reply) -> bool:
    return reply.error is not None or (reply.status or 0) >= 400


async def _errors_over_http(peer: Peer) -> AsyncIterator[Reply]:
    """With the user's credentials the canary of a token would be a second fault."""
    first = HEADERS if peer.authorized else HEADERS | AUTHORIZATION
    yield await peer.request(NO_SUCH_METHOD, headers=first, rule="MCP-SEC-003")
    if peer.offers("tools"):
        method, params = UNKNOWN_CALL.method, UNKNOWN_CALL.params
        yield await peer.request(method, params, headers=HEADERS, rule="MCP-SEC-003")
    yield await peer.request(
        "server/discover", headers=HEADERS, body=b"{not json", rule="MCP-SEC-003"
    )


async def _errors_on_stdio(peer: Peer) -> AsyncIterator[Reply]:
    async with peer.launched(VARIABLES) as link:
        yield await peer.request(NO_SUCH_METHOD, link=link, rule="MCP-SEC-003")
        if peer.offers("tools"):
            method, params = UNKNOWN_CALL.method, UNKNOWN_CALL.params
            yield await peer.request(method, params, link=link, rule="MCP-SEC-003")


def _kinded(seen: Observation) -> tuple[Hashable, Observation]:
    return tuple(fault.message for fault in seen.faults), seen


def _repeats(reply: Reply, message: str) -> Observation:
    back = [what for canary, what in CANARIES.items() if comes_back(canary, reply.answer)]
    if not back:
        return held()
    return broke(
        message.format(what=" and ".join(back)),
        seen=f"{reply.shown}, with its value",
        expected="an answer without it",
        evidence=Sighting(reply.seq, _with_canaries(reply.reproduce)),
    )


def _with_canaries(command: str) -> str:
    """The command with the canaries' values, which are no secrets, in place of variables."""
    for name, value in VARIABLES.items():
        command = command.replace(f'{name}="${name}"', f"{name}={value}")
    return command


@probe("MCP-SEC-007", transports=HTTP_ONLY)
async def authorization_is_not_reflected(peer: Peer) -> Observation:
    """The value of the `Authorization` header comes back in a response.

    Why: responses are cached, logged and read by models; a token in them is lost.

    Fix: never copy request headers into results, errors or response headers.
    """
    replies: list[Reply] = []
    async with peer.anonymous() as link:
        replies.append(await peer.request("server/discover", headers=AUTHORIZATION, link=link))
    async with peer.anonymous() as link:
        replies.append(
            await peer.request(NO_SUCH_METHOD, headers=AUTHORIZATION, link=link, rule="MCP-SEC-007")
        )
    return once_each(_kinded(_reflects(reply)) for reply in replies)


def _reflects(reply: Reply) -> Observation:
    """A refusal of the token (401, 403) is an occasion like any other answer."""
    refused = reply.status in (401, 403)
    if reply.message is None and reply.barred is not None and not refused:
        return inconclusive(reply.barred)
    return _repeats(reply, "{what} comes back")
