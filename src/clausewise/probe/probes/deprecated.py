"""Rules about removed and deprecated features (DEP-001 to DEP-007)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio
import orjson

from clausewise.core.vocabulary import LEGACY_REVISIONS, Era, Outcome, Revision
from clausewise.probe.conversation.http_sse import begins_with_endpoint, get_stream
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
)
from clausewise.probe.registration import HTTP_ONLY, Turn, passive, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.subscription import ACKNOWLEDGED, listening
from clausewise.wire.codes import ErrorCode

_NO_RESOURCE = "clausewise-nonexistent://resource"
_OUR_FAULTS = frozenset(
    {ErrorCode.INVALID_PARAMS, ErrorCode.HEADER_MISMATCH, ErrorCode.UNSUPPORTED_VERSION}
)
_DEPRECATED_REQUESTS = frozenset({"sampling/createMessage", "roots/list"})


@probe("MCP-DEP-001")
async def ping_is_gone(peer: Peer) -> Observation:
    """The server still serves `ping`.

    Why: the method is no part of this revision; a client that relies on it fails with
    every other server.

    Fix: answer `ping` in the modern era like any unknown method: error -32601, over HTTP
    with status 404.
    """
    return await _is_gone(peer, "ping", {})


@probe("MCP-DEP-002")
async def set_level_is_gone(peer: Peer) -> Observation:
    """The server still serves `logging/setLevel`.

    Why: a log level kept between requests is state that this revision does not have; the
    level comes with each request.

    Fix: answer `logging/setLevel` in the modern era like any unknown method: error
    -32601, over HTTP with status 404.
    """
    return await _is_gone(peer, "logging/setLevel", {"level": "info"})


@probe("MCP-DEP-003", turn=Turn.LAST, beside=True, impact="calls")
async def subscribe_is_replaced(peer: Peer) -> Observation:
    """The old subscription methods are served, or `subscriptions/listen` is not.

    Why: subscriptions kept beside a request are state that this revision does not have;
    a client that is promised changes has only `subscriptions/listen` to hear of them.

    Fix: answer `resources/subscribe` and `resources/unsubscribe` with error -32601, and
    serve `subscriptions/listen` where `subscribe` or `listChanged` is declared.
    """
    uri = await peer.readable_uri() or _NO_RESOURCE
    seen = [
        await _is_gone(peer, "resources/subscribe", {"uri": uri}),
        await _is_gone(peer, "resources/unsubscribe", {"uri": uri}),
    ]
    held_open = await listening(peer)
    if held_open is not None:
        seen.append(_listens(held_open.full.opening))
    return merged(seen)


async def _is_gone(peer: Peer, method: str, params: Mapping[str, Any]) -> Observation:
    reply = await peer.request(method, params)
    if reply.code == ErrorCode.HEADER_MISMATCH and "uri" in params:
        # Nothing says that such a request has the header, nor that it may not have it.
        reply = await peer.request(method, params, headers={"Mcp-Name": str(params["uri"])})
    if reply.succeeded:
        return broke(
            f"{method} is still served",
            seen="a result",
            expected=f"error {ErrorCode.METHOD_NOT_FOUND.value}: the method was removed",
            evidence=reply,
        )
    if reply.error is None:
        return inconclusive(reply.blocked or f"{method} got {reply.shown}")
    if reply.code in _OUR_FAULTS:
        return inconclusive(f"{method} got {reply.shown}: refused for another reason")
    # Any other refusal shows that the method is gone; its form is MCP-ERR-002's question.
    return held()


def _listens(reply: Reply) -> Observation:
    if reply.code == ErrorCode.METHOD_NOT_FOUND:
        return broke(
            "the server declares changes but does not serve subscriptions/listen",
            seen=reply.shown,
            expected=f"a stream that begins with {ACKNOWLEDGED}",
            evidence=reply,
        )
    first = reply.answer.messages[0].payload if reply.answer.messages else None
    if isinstance(first, dict) and first.get("method") == ACKNOWLEDGED:
        return held()
    return inconclusive(f"subscriptions/listen got {reply.shown}")


@probe("MCP-DEP-004", transports=HTTP_ONLY)
async def http_sse_is_gone(peer: Peer) -> Observation:
    """The server offers the HTTP+SSE transport of 2024-11-05.

    Why: that transport is deprecated and may be removed; only old clients need it.

    Fix: serve Streamable HTTP alone, unless clients of 2024-11-05 have to be supported.
    """
    path = urlsplit(peer.url).path
    paths = dict.fromkeys((None, "/sse", f"{path.rstrip('/')}/sse"))
    found: dict[str | None, Observation] = {}

    async def look(place: str | None) -> None:
        found[place] = await _no_http_sse(peer, place)

    async with anyio.create_task_group() as group:
        for place in paths:
            group.start_soon(look, place)
    return merged(found[place] for place in paths)


async def _no_http_sse(peer: Peer, path: str | None) -> Observation:
    async with peer.fresh() as link:
        reply = await get_stream(peer, path, link)
    where = path or "the endpoint"
    if begins_with_endpoint(reply):
        return broke(
            f"a GET of {where} opens an HTTP+SSE stream",
            seen="a stream whose first event is `endpoint`",
            expected="no such stream",
            evidence=reply,
        )
    if reply.streamed and not reply.answer.messages:
        if path is None and peer.era is Era.DUAL:
            return held(note="the GET stream at the endpoint is that of an earlier revision")
        return inconclusive(f"the stream at {where} sends nothing that tells what it is")
    if reply.status is None or reply.barred is not None:
        return inconclusive(reply.barred or f"a GET of {where} got {reply.shown}")
    return held()


@passive("MCP-DEP-005")
def deprecated_capabilities_are_not_used(traffic: Traffic) -> Observation:
    """The server uses a deprecated feature: logging, sampling or roots.

    Why: the features work for now, but may be removed; new servers should not begin
    with them.

    Fix: leave `logging` out of the capabilities (log to stderr or OpenTelemetry), and do
    without `sampling/createMessage` and `roots/list` input requests.
    """
    return once_each(_deprecated_use(reply) for reply in traffic.results)


def _deprecated_use(reply: Reply) -> tuple[str, Observation]:
    """The deprecated feature that a result uses, or an empty name, and what came of it."""
    capabilities = reply.fields.get("capabilities")
    if reply.request.method == "server/discover" and isinstance(capabilities, dict):
        if "logging" not in capabilities:
            return "", held()
        return "logging", broke(
            "the deprecated logging capability is advertised",
            seen="capabilities.logging",
            expected="no logging capability",
            evidence=reply,
        )
    asked = reply.fields.get("inputRequests")
    for request in asked.values() if isinstance(asked, dict) else ():
        method = request.get("method") if isinstance(request, dict) else None
        if method in _DEPRECATED_REQUESTS:
            return method, broke(
                f"a deprecated {method} is asked of the client",
                seen=f"an input request {method} in a result of {reply.request.method}",
                expected="input without sampling or roots",
                evidence=reply,
            )
    return "", held()


@probe("MCP-DEP-006")
async def dual_era_support_is_real(peer: Peer) -> Observation:
    """The server lists a legacy version but does not accept `initialize`.

    Why: a client that picks the legacy version from the list gets nowhere.

    Fix: serve `initialize` for the legacy versions in `supportedVersions`, or take them
    off the list. Supporting one era alone is fine.
    """
    reply = await peer.initialize()
    legacy = [version for version in peer.versions if version in LEGACY_REVISIONS]
    version = reply.fields.get("protocolVersion")
    if reply.succeeded and isinstance(version, str):
        return held(note=f"initialize is accepted and negotiates {version}: a dual-era server")
    if _says_nothing(reply):
        return inconclusive(reply.barred or f"initialize got {reply.shown}")
    if not legacy:
        return not_applicable("the server supports modern versions only, as it may")
    return broke(
        f"{', '.join(legacy)} is listed, but initialize is not accepted",
        seen=reply.shown,
        expected="an InitializeResult, or no legacy version in supportedVersions",
        severity=Outcome.INFO,
        evidence=reply,
    )


@probe("MCP-DEP-007", needs=("modern-only",))
async def refused_initialize_names_versions(peer: Peer) -> Observation:
    """The error for a legacy client's `initialize` names no supported version.

    Why: legacy clients cannot move on to another version by themselves; the error text is
    all that their users get to see.

    Fix: name the supported versions in the message or the data of any error to
    `initialize`, also where it is refused for missing headers or `_meta`.
    """
    reply = await peer.initialize()
    if _says_nothing(reply):
        return inconclusive(reply.barred or f"initialize got {reply.shown}")
    text = orjson.dumps(reply.error) if reply.error is not None else reply.answer.body
    # The run itself shows that this version is served, whatever the list says.
    versions = dict.fromkeys((Revision.MODERN.value, *peer.versions))
    if any(version.encode("utf-8") in text for version in versions):
        return held()
    return broke(
        "a refused initialize does not say which versions are supported",
        seen=reply.shown,
        expected=f"one of {', '.join(versions)} in the error's message or data",
        evidence=reply,
    )


def _says_nothing(reply: Reply) -> bool:
    """Whether `initialize` was neither accepted nor refused."""
    return reply.message is None and (reply.status is None or reply.barred is not None)
