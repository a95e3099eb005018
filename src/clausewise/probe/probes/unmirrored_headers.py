"""Our rules about the standard headers: `Mcp-Method` and `Mcp-Name` (CW-HDR-001, CW-HDR-002)."""

from __future__ import annotations

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.carriers import carriers
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.mismatch import is_refused, refusal
from clausewise.probe.subjects.named_requests import UNKNOWN_CALL, served_call, served_reads

METHOD = "Mcp-Method"


@probe("CW-HDR-001", transports=HTTP_ONLY, impact="calls")
async def method_header_must_match_body(peer: Peer) -> Observation:
    """A request whose `Mcp-Method` is not the body's method is not refused with -32020.

    Why: a gateway allows and counts requests by the header; a server that runs what the body
    says lets a forbidden method pass under the name of an allowed one.

    Fix: compare `Mcp-Method` with the method of the body, with regard to case, and answer a
    difference with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged = []
    for carrier in await carriers(peer):
        other = "tools/list" if carrier.method == "prompts/list" else "prompts/list"
        values = {"another method": other, "another case": carrier.method.upper()}
        for what, value in values.items():
            reply = await carrier.send(peer, rule="CW-HDR-001", headers={METHOD: value})
            message = f"a request with {what} in Mcp-Method is not refused as it must be"
            seen = refusal(reply, message)
            judged.append((reply.code if reply.error is not None else reply.status, seen))
    return once_each(judged)


@probe("CW-HDR-002", transports=HTTP_ONLY, needs=("prompts|resources",), impact="calls")
async def missing_name_header_of_a_read_is_refused(peer: Peer) -> Observation:
    """A prompt or resource is had without `Mcp-Name`, though tools are not.

    Why: gateways allow resources and prompts by this header; a read without it gets around
    them.

    Fix: require `Mcp-Name` on `resources/read` and `prompts/get` as on `tools/call`; answer
    its absence with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    if not peer.offers("tools"):
        return not_applicable("where there are no tools, MCP-HDR-002 judges the reads")
    if await _calls_need_no_name(peer):
        return not_observed("no call needs Mcp-Name, which is MCP-HDR-002's finding")
    reads = await served_reads(peer)
    if not reads:
        return not_observed("no prompt or resource can be had")
    parts = []
    for read in reads:
        reply = await read.send(peer, None, "CW-HDR-002")
        message = f"{read.method} without Mcp-Name is not refused as it must be"
        parts.append(refusal(reply, message))
    return merged(parts)


async def _calls_need_no_name(peer: Peer) -> bool:
    """Whether a tool is known to be called without `Mcp-Name`."""
    if is_refused(await UNKNOWN_CALL.send(peer, None, "CW-HDR-002")):
        return False
    call = await served_call(peer)
    return call is not None and not is_refused(await call.send(peer, None, "CW-HDR-002"))
