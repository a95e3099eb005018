"""Rules about the standard request headers (HDR-001, 002, 004, 005, 006 and 010)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable

from clausewise.core.vocabulary import Era, Outcome, Revision
from clausewise.judge.subjects.annotations import HEADER_PREFIX, parameter_headers
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.probes.errors import NO_SUCH_METHOD, NO_SUCH_VERSION
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.carriers import DISCOVERY, Carrier, carriers
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.mirrored_calls import mirrored_calls
from clausewise.probe.subjects.mismatch import EXPECTED, is_mismatch, is_refused, refusal
from clausewise.probe.subjects.named_requests import (
    NAME_IT,
    OTHER_NAME,
    UNKNOWN_CALL,
    NamedRequest,
    served_call,
    served_reads,
)
from clausewise.wire import sentinel
from clausewise.wire.codes import ErrorCode

METHOD, NAME, VERSION = "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"

HEADERLESS = "2025-03-26"
"""The last revision whose clients send no MCP-Protocol-Version."""

FIRST_WITH_HEADER = "2025-06-18"

Judged = tuple[Hashable, Observation]


@probe("MCP-HDR-001", transports=HTTP_ONLY, impact="calls")
async def missing_method_header_is_refused(peer: Peer) -> Observation:
    """A request without `Mcp-Method` is not refused with HTTP 400 and error -32020.

    Why: gateways route and limit by this header; a server that serves requests without it
    lets them around whatever is decided there.

    Fix: require `Mcp-Method` on every POST; answer its absence with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged: list[Judged] = []
    for carrier in await carriers(peer):
        reply = await carrier.send(peer, rule="MCP-HDR-001", headers={METHOD: None})
        message = "a request without Mcp-Method is not refused as it must be"
        judged.append((METHOD, refusal(reply, message)))
    return once_each(judged)


@probe("MCP-HDR-002", transports=HTTP_ONLY, needs=("tools|prompts|resources",), impact="calls")
async def missing_name_header_is_refused(peer: Peer) -> Observation:
    """A call without `Mcp-Name` is not refused with HTTP 400 and error -32020.

    Why: gateways allow and count tools by this header; a call without it gets around them.

    Fix: require `Mcp-Name` on `tools/call`, `prompts/get` and `resources/read`; answer its
    absence with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    if peer.offers("tools"):
        return await _nameless_call(peer)
    reads = await served_reads(peer)
    if not reads:
        return not_observed("no prompt or resource can be had, and there are no tools")
    note = "there are no tools: judged on " + " and ".join(read.method for read in reads)
    return merged([await _nameless(peer, read, note) for read in reads])


async def _nameless_call(peer: Peer) -> Observation:
    """The unknown tool decides only by -32020: its other faults may be told first."""
    reply = await UNKNOWN_CALL.send(peer, None, "MCP-HDR-002")
    if is_refused(reply):
        return held()
    call = await served_call(peer)
    if call is not None:
        return await _nameless(peer, call)
    return inconclusive(f"an unknown tool got {reply.shown}, maybe for its name; {NAME_IT}")


async def _nameless(peer: Peer, request: NamedRequest, note: str | None = None) -> Observation:
    reply = await request.send(peer, None, "MCP-HDR-002")
    seen = refusal(reply, f"{request.method} without Mcp-Name is not refused as it must be")
    return held(note=note) if seen.outcome is Outcome.PASS else seen


@probe("MCP-HDR-004", transports=HTTP_ONLY, impact="calls")
async def missing_version_header_is_refused(peer: Peer) -> Observation:
    """A request without `MCP-Protocol-Version` is not refused with HTTP 400 and error -32020.

    Why: what has no version may be read in any; only a server that still has clients from
    before 2025-06-18 may take it for one of theirs.

    Fix: require the header on every POST; answer its absence with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    exemption = await _exemption(peer)
    if exemption is not None:
        return not_applicable(exemption)
    # A server of both eras may take what has no header for its legacy half.
    asked = await carriers(peer) if peer.era is Era.MODERN else (DISCOVERY,)
    judged: list[Judged] = []
    for carrier in asked:
        reply = await carrier.send(peer, rule="MCP-HDR-004", headers={VERSION: None})
        message = "a request without MCP-Protocol-Version is not refused as it must be"
        judged.append((VERSION, refusal(reply, message)))
    return once_each(judged)


async def _exemption(peer: Peer) -> str | None:
    """Why the header may be missing: the server has clients that do not know it; or None.

    `supportedVersions` need not list the versions of `initialize`, so that is asked, too,
    where there is a legacy half.
    """
    oldest = min(peer.versions, default=Revision.MODERN.value)
    if peer.era is Era.DUAL and oldest >= FIRST_WITH_HEADER:
        oldest = await peer.negotiated(HEADERLESS) or oldest
    if oldest < FIRST_WITH_HEADER:
        return f"the server supports {oldest}, whose clients do not send the header"
    return None


@probe("MCP-HDR-005", transports=HTTP_ONLY, impact="calls")
async def version_header_must_match_body(peer: Peer) -> Observation:
    """A request whose header and `_meta` name different versions is not refused with -32020.

    Why: a gateway decides by the header and the server by the body; when they differ, what
    was checked is not what runs.

    Fix: compare `MCP-Protocol-Version` with `_meta`'s protocolVersion as they stand, before
    asking whether the version is supported; answer a difference with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    ours = Revision.MODERN.value
    later = [v for v in peer.versions if v > ours and v[:4].isdigit()]
    pairs = [(ours, NO_SUCH_VERSION), (NO_SUCH_VERSION, ours), *((ours, v) for v in later[:1])]
    judged = [await _differing(peer, DISCOVERY, header, body) for header, body in pairs]
    others = [one for one in await carriers(peer) if one is not DISCOVERY]
    judged += [await _differing(peer, one, ours, NO_SUCH_VERSION) for one in others]
    return once_each(judged)


async def _differing(peer: Peer, carrier: Carrier, header: str, body: str) -> Judged:
    reply = await carrier.send(peer, rule="MCP-HDR-005", version=body, headers={VERSION: header})
    if reply.code == ErrorCode.UNSUPPORTED_VERSION and NO_SUCH_VERSION in (header, body):
        return "unsupported", broke(
            "a difference between header and body is reported as an unsupported version",
            seen=reply.shown,
            expected=f"{EXPECTED}; the text gives no order of the two, so this only warns",
            severity=Outcome.WARN,
            evidence=reply,
        )
    if header == NO_SUCH_VERSION and reply.status == 400 and reply.message is None:
        # Refused, but whether for the difference or for the version it does not tell; that
        # a JSON-RPC error is missing is MCP-ERR-001's finding.
        return "untold", inconclusive(
            f"version {header} in the header: HTTP 400 without a JSON-RPC error (MCP-ERR-001)"
        )
    message = "a request whose header and body name different versions is not refused as it must be"
    return "accepted", refusal(reply, f"{message} (header {header}, body {body})")


@probe("MCP-HDR-006", transports=HTTP_ONLY, impact="calls")
async def header_names_are_read_in_any_case(peer: Peer) -> Observation:
    """A request is refused because of the case of its header names.

    Why: header names have no case; HTTP/2 and many proxies send them in lower case.

    Fix: look headers up without regard to the case of their names (values keep theirs).
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged: list[Judged] = []
    for spell in (str.lower, str.upper, str.swapcase):
        version, method = spell(VERSION), spell(METHOD)
        headers = {version: Revision.MODERN.value, method: "server/discover"}
        reply = await peer.request("server/discover", headers=headers)
        judged.append((METHOD, _as_usual(reply, f"{method} and {version}")))
    judged += [(NAME, seen) async for seen in _respelled_name(peer)]
    judged += [(HEADER_PREFIX, seen) async for seen in _respelled_parameter(peer)]
    return once_each(judged)


async def _respelled_name(peer: Peer) -> AsyncIterator[Observation]:
    for read in (await served_reads(peer))[:1]:
        value = sentinel.encode(read.name)
        for name in (NAME.lower(), NAME.upper()):
            reply = await peer.request(read.method, read.params, headers={name: value})
            yield _as_usual(reply, name)


async def _respelled_parameter(peer: Peer) -> AsyncIterator[Observation]:
    calls = await mirrored_calls(peer)
    for call in calls[:1] if isinstance(calls, tuple) else ():
        if not (await call.send(peer, call.arguments)).succeeded:
            continue
        headers = parameter_headers(call.tool, call.arguments)
        for spell in (str.lower, str.upper):
            spelled = {spell(name): value for name, value in headers.items()}
            reply = await call.send(peer, call.arguments, spelled)
            yield _as_usual(reply, " and ".join(spelled))


def _as_usual(reply: Reply, names: str) -> Observation:
    """The usual spelling is served, so this one must be."""
    if reply.succeeded:
        return held()
    if reply.barred is not None:
        return inconclusive(reply.barred)
    return broke(
        "header names are compared with regard to case",
        seen=f"{reply.shown}, for {names}",
        expected="a result, as with the usual spelling of the names",
        evidence=reply,
    )


@probe("MCP-HDR-010", transports=HTTP_ONLY, impact="calls")
async def headers_are_checked_before_dispatch(peer: Peer) -> Observation:
    """A request with a header fault and another fault is refused for the other one.

    Why: whatever runs before the headers are checked runs on a request that a gateway may
    have judged by other values. The text gives no order, so this is good practice only.

    Fix: validate the headers before looking up the method or the tool.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged: list[Judged] = []
    for value in (None, "ping"):
        headers = {METHOD: value}
        alone = await peer.request("server/discover", headers=headers, rule="MCP-HDR-010")
        if is_mismatch(alone):
            reply = await peer.request(NO_SUCH_METHOD, headers=headers, rule="MCP-HDR-010")
            judged.append((METHOD, _header_fault_first(reply, "an unknown method")))
    if peer.offers("tools") and await _checks_names(peer):
        reply = await UNKNOWN_CALL.send(peer, OTHER_NAME, "MCP-HDR-010")
        judged.append((NAME, _header_fault_first(reply, "an unknown tool")))
    if not judged:
        return inconclusive("header faults are not refused even when they are the only ones")
    return once_each(judged)


async def _checks_names(peer: Peer) -> bool:
    """Whether a wrong `Mcp-Name` is refused where it is the only fault."""
    known: NamedRequest | None = next(iter(await served_reads(peer)), None)
    known = known or await served_call(peer)
    return known is not None and is_mismatch(await known.send(peer, OTHER_NAME, "MCP-HDR-010"))


def _header_fault_first(reply: Reply, other: str) -> Observation:
    if is_mismatch(reply):
        return held()
    if reply.message is None:
        return inconclusive(reply.barred or f"{other} with a header fault got {reply.shown}")
    return broke(
        f"{other} is reported before the fault in the headers",
        seen=reply.shown,
        expected=f"{EXPECTED}, before the method or the tool is looked up",
        evidence=reply,
    )
