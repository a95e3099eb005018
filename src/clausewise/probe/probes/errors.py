"""Rules about the error a server owes a certain request (ERR-001, 002, 003 and 006)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from urllib.parse import urlsplit

from clausewise.core.vocabulary import LEGACY_REVISIONS, Era, Outcome, TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import ABSENT
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.probes.resource_uris import missing_below
from clausewise.probe.probes.statelessness import listed_method
from clausewise.probe.registration import probe
from clausewise.probe.subjects.carriers import DISCOVERY, Carrier, carriers
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.probe.wording import named
from clausewise.trace.events import Event
from clausewise.wire.codes import ErrorCode
from clausewise.wire.meta import META_CAPABILITIES, META_CLIENT_INFO, META_VERSION

NO_SUCH_VERSION = "1900-01-01"
NO_SUCH_METHOD = "clausewise/does-not-exist"
NO_SUCH_TOOLS_METHOD = "tools/clausewise-does-not-exist"
"""As a server meets it that picks who answers by the first part of the method."""


def due(code: ErrorCode, status: int, transport: TransportKind) -> str:
    """The error owed, for `expected`: with its HTTP status where there is one."""
    head = f"HTTP {status}, " if transport is TransportKind.HTTP else ""
    return f"{head}error {code.value}"


def has_status(reply: Reply, status: int) -> bool:
    """Whether the answer has this HTTP status; always so on stdio."""
    return reply.transport is TransportKind.STDIO or reply.status == status


@probe("MCP-ERR-001", impact="calls")
async def unsupported_version_is_named(peer: Peer) -> Observation:
    """A request of a version the server does not have is not refused with -32022 and its versions.

    Why: a client picks a version to retry with from `data.supported`; without it the client
    can only give up.

    Fix: answer 400 with error -32022, `data.supported` (the versions the server has, at
    least one) and `data.requested` (the version that was asked for).
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged = [await _unsupported(peer, carrier) for carrier in await carriers(peer)]
    return once_each((tuple(f.message for f in one.faults), one) for one in judged)


async def _unsupported(peer: Peer, carrier: Carrier) -> Observation:
    reply = await carrier.send(peer, rule="MCP-ERR-001", version=NO_SUCH_VERSION)
    if reply.message is None and reply.blocked is not None:
        return inconclusive(reply.blocked)
    expected = due(ErrorCode.UNSUPPORTED_VERSION, 400, peer.transport)
    if reply.code != ErrorCode.UNSUPPORTED_VERSION or not has_status(reply, 400):
        return broke(
            f"a request of version {NO_SUCH_VERSION} is not refused as unsupported",
            seen=reply.shown,
            expected=f"{expected} with data.supported",
            evidence=reply if peer.transport is TransportKind.HTTP else await _later(peer, reply),
        )
    return _version_data(reply, peer.versions)


async def _later(peer: Peer, reply: Reply) -> Sighting:
    """A process may settle its version with the first requests, as ours had when it was asked."""
    first = await peer.request(listed_method(peer))
    return Sighting(reply.seq, peer.replayed(first, reply))


def _version_data(reply: Reply, versions: Sequence[str]) -> Observation:
    data = reply.error.get("data") if reply.error is not None else None
    members = data if isinstance(data, dict) else {}
    supported = _texts(members.get("supported"))
    if not supported:
        return broke(
            "error -32022 does not list the supported versions",
            seen=f"data.supported {_shown(members, 'supported')}",
            expected="a non-empty array of version strings in error.data.supported",
            evidence=reply,
        )
    if members.get("requested") != NO_SUCH_VERSION:
        return broke(
            "error -32022 does not name the version that was requested",
            seen=f"data.requested {_shown(members, 'requested')}",
            expected=f'"{NO_SUCH_VERSION}" in error.data.requested',
            evidence=reply,
        )
    if set(supported) - LEGACY_REVISIONS != set(versions) - LEGACY_REVISIONS:
        return broke(
            "error -32022 and server/discover disagree about the supported versions",
            seen=f"data.supported is {', '.join(supported)}",
            expected=f"as in server/discover: {', '.join(versions) or 'none'}",
            severity=Outcome.WARN,
            evidence=reply,
        )
    return held()


def _texts(value: Any) -> list[str]:
    """The value when it is an array of strings alone, else nothing."""
    whole = isinstance(value, list) and all(isinstance(v, str) for v in value)
    return list(value) if whole else []


def _shown(members: dict[str, Any], key: str) -> str:
    return f"is {named(members[key])}" if key in members else "is absent"


@probe("MCP-ERR-002")
async def unknown_method_is_not_found(peer: Peer) -> Observation:
    """A request of a method the server does not have is not refused with -32601 (HTTP: 404).

    Why: clients try optional methods and read this answer as "not offered"; with another
    code or status they retry or report a broken server.

    Fix: answer unknown methods with error -32601 and the request's id, over HTTP with
    status 404.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged = [await _unknown(peer, method) for method in (NO_SUCH_METHOD, NO_SUCH_TOOLS_METHOD)]
    return once_each((tuple(f.message for f in one.faults), one) for one in judged)


async def _unknown(peer: Peer, method: str) -> Observation:
    reply = await peer.request(method, rule="MCP-ERR-002")
    stray = _error_of_another_id(reply)
    if stray is not None:
        return broke(
            "the error for an unknown method does not carry the request's id",
            seen=f"id {named(stray.payload.get('id'))}",
            expected=f"id {named(reply.id)}",
            evidence=Sighting(stray.seq, reply.reproduce),
        )
    if reply.message is None and reply.blocked is not None and reply.status != 501:
        return inconclusive(reply.blocked)
    if reply.code != ErrorCode.METHOD_NOT_FOUND or not has_status(reply, 404):
        return broke(
            "a method the server does not have is not refused as unknown",
            seen=reply.shown,
            expected=due(ErrorCode.METHOD_NOT_FOUND, 404, peer.transport),
            evidence=reply,
        )
    return held()


def _error_of_another_id(reply: Reply) -> Event | None:
    """The error that came where none has the request's id, or None."""
    if reply.response_event is not None:
        return None
    messages = (e for e in reply.answer.messages if isinstance(e.payload, dict))
    return next((event for event in messages if "error" in event.payload), None)


@probe("MCP-ERR-003", needs=("resources",), impact="reads")
async def missing_resource_is_invalid_params(peer: Peer) -> Observation:
    """Reading a resource that does not exist is not refused with error -32602.

    Why: -32002 belongs to earlier revisions, and an empty result looks like a resource
    without content.

    Fix: answer `resources/read` of an unknown URI with error -32602 and the URI in
    `error.data.uri`.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged: list[tuple[Hashable, Observation]] = []
    for uri in await _missing_uris(peer):
        reply = await peer.request("resources/read", {"uri": uri}, rule="MCP-ERR-003")
        judged.append((reply.code, _not_found(reply, uri)))
    for uri in missing_below(await peer.pages("resources/templates/list")):
        reply = await peer.request("resources/read", {"uri": uri}, rule="MCP-ERR-003")
        if reply.code == ErrorCode.RESOURCE_NOT_FOUND:
            judged.append((reply.code, _not_found(reply, uri)))
    decided = [pair for pair in judged if pair[1].outcome is not Outcome.INCONCLUSIVE]
    return once_each(decided or judged)


async def _missing_uris(peer: Peer) -> list[str]:
    uris = ["clausewise-nonexistent://8f3a"]
    listed = await peer.readable_uri()
    if listed is not None:
        parts = urlsplit(listed)
        root = f"{parts.scheme}://{parts.netloc}" if "://" in listed else f"{parts.scheme}:"
        uris.insert(0, f"{root}/clausewise-no-such-8f3a")
    return uris


def _not_found(reply: Reply, uri: str) -> Observation:
    if reply.message is None:
        return inconclusive(reply.blocked or f"reading {uri} got {reply.shown}")
    if reply.code == ErrorCode.INVALID_PARAMS:
        return held()
    if reply.status in (401, 403):
        return inconclusive(reply.blocked or f"HTTP {reply.status}")
    contents = reply.fields.get("contents")
    if reply.fields.get("resultType") == "input_required":
        return inconclusive(f"reading {uri} asks for input")
    if isinstance(contents, list) and contents:
        return inconclusive(f"{uri} exists here: a resource template may cover it")
    seen = reply.shown
    if "result" in reply.message:
        seen = f"a result with {'an empty contents array' if contents == [] else 'no contents'}"
    return broke(
        "a resource that does not exist is not refused with -32602",
        seen=f"{seen} for {uri}",
        expected=f"error {ErrorCode.INVALID_PARAMS.value}",
        evidence=reply,
    )


@probe("MCP-ERR-006", impact="calls")
async def missing_meta_is_invalid_params(peer: Peer) -> Observation:
    """A request without a required `_meta` field is not refused with -32602 (HTTP: 400).

    Why: the fields are all a stateless server knows about its client; a server that
    guesses them answers in a version or with features the client does not have.

    Fix: refuse a request without protocolVersion or clientCapabilities in `_meta` with
    error -32602, over HTTP with status 400; serve requests without clientInfo, which is
    optional.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    optional = await peer.request("server/discover", meta={META_CLIENT_INFO: ABSENT})
    judged: list[tuple[Hashable, Observation]] = [("clientInfo", _serves_without_info(optional))]
    for carrier in await carriers(peer):
        reply = await _without(peer, carrier, META_CAPABILITIES)
        judged.append(("clientCapabilities", _refuses(reply, "clientCapabilities")))
        if peer.era is Era.DUAL and carrier is not DISCOVERY:
            continue  # what names no version may be for the legacy half, which has these, too
        version = await _without(peer, carrier, META_VERSION)
        judged.append(("protocolVersion", _ambiguous(peer, version, _VERSION)))
    for what, params in (("_meta", {}), ("params", None)):
        reply = await peer.request("server/discover", params, without_meta=True, rule="MCP-ERR-006")
        judged.append(("protocolVersion", _ambiguous(peer, reply, what)))
    return once_each(judged)


_VERSION = "_meta.protocolVersion"


async def _without(peer: Peer, carrier: Carrier, key: str) -> Reply:
    return await carrier.send(peer, rule="MCP-ERR-006", meta={key: ABSENT})


def _ambiguous(peer: Peer, reply: Reply, what: str) -> Observation:
    """Where `what` is missing, a header mismatch or the legacy era may be the answer, too."""
    may_be_legacy = True
    if what == _VERSION:
        # Without a header, the version in `_meta` may be how a dual server tells the eras.
        may_be_legacy = peer.transport is TransportKind.STDIO and reply.error is not None
    is_refused = _is_refusal(reply, ErrorCode.INVALID_PARAMS)
    if may_be_legacy and peer.era is Era.DUAL and not is_refused:
        return not_observed("the legacy half of the server may have answered")
    if reply.message is None:
        return not_observed(f"without {what}: {reply.shown}")
    if _is_refusal(reply, ErrorCode.HEADER_MISMATCH) and peer.transport is TransportKind.HTTP:
        note = f"a request without {what} got -32020: two clauses apply, either code will do"
        return held(note=note)
    return _refuses(reply, what)


def _is_refusal(reply: Reply, code: int) -> bool:
    return reply.code == code and has_status(reply, 400)


def _refuses(reply: Reply, what: str) -> Observation:
    if _is_refusal(reply, ErrorCode.INVALID_PARAMS):
        return held()
    if reply.message is None and reply.blocked is not None:
        return inconclusive(f"without {what}: {reply.blocked}")
    return broke(
        f"a request without {what} is not refused as it must be",
        seen=reply.shown,
        expected=due(ErrorCode.INVALID_PARAMS, 400, reply.transport),
        evidence=reply,
    )


def _serves_without_info(reply: Reply) -> Observation:
    if reply.succeeded:
        return held()
    if reply.blocked is not None:
        return inconclusive(f"without clientInfo: {reply.blocked}")
    return broke(
        "a request without the optional clientInfo is refused",
        seen=reply.shown,
        expected="a result: clientInfo need not be sent",
        evidence=reply,
    )
