"""Rules about the value of `Mcp-Name`: what it must match, and how it is encoded (HDR-003, 007)."""

from __future__ import annotations

from collections.abc import Sequence

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.mismatch import (
    EXPECTED,
    acceptance,
    is_mismatch,
    is_refused,
    refusal,
)
from clausewise.probe.subjects.named_requests import (
    NAME_IT,
    OTHER_NAME,
    UNKNOWN_CALL,
    NamedRequest,
    served_call,
    served_reads,
)
from clausewise.wire import sentinel

ENCODED_NAMES = (
    "clausewise-Hello, 世界",
    "=?base64?clausewise?=",
    "clausewise~~~???>>>ÿ",
    "=?base64?=",
)
"""Names of no tool whose encodings tell decoders apart.

In order: text beyond ASCII; a value that looks encoded after one decoding; `+` and `/` of the
standard alphabet; the markers overlapping.
"""


@probe("MCP-HDR-003", transports=HTTP_ONLY, needs=("tools|prompts|resources",), impact="calls")
async def name_header_must_match_body(peer: Peer) -> Observation:
    """A request whose `Mcp-Name` is not the body's name or URI is not refused with -32020.

    Why: a gateway allows the call by the header and the server runs what the body names, so
    a forbidden tool passes under the name of an allowed one.

    Fix: decode `Mcp-Name`, compare it with `params.name` or `params.uri` with regard to
    case, and answer a difference with 400 and HeaderMismatch.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    reads = await served_reads(peer)
    parts = [await _differing(peer, read) for read in reads]
    parts += [await _padded(peer, read) for read in reads[:1]]
    if peer.offers("tools"):
        parts.append(await _differing_call(peer))
    return _decided(parts, "no tool, prompt or resource is listed that can be asked for")


def _decided(parts: Sequence[Observation], nothing: str) -> Observation:
    """The parts as one; what is open counts only where nothing else is decided."""
    decided = [part for part in parts if part.outcome is not Outcome.INCONCLUSIVE]
    if not parts:
        return not_observed(nothing)
    return once_each((tuple(f.message for f in part.faults), part) for part in decided or parts)


async def _differing(peer: Peer, request: NamedRequest) -> Observation:
    """Another name, and the same in the other case: values have a case."""
    wrong = [OTHER_NAME]
    if request.name.isascii() and request.name.swapcase() != request.name:
        wrong.append(sentinel.encode(request.name.swapcase()))
    return once_each(
        [(request.method, await _wrongly_named(peer, request, header)) for header in wrong]
    )


async def _wrongly_named(peer: Peer, request: NamedRequest, header: str) -> Observation:
    reply = await request.send(peer, header, "MCP-HDR-003")
    return refusal(reply, f"{request.method} is not refused though Mcp-Name names something else")


async def _differing_call(peer: Peer) -> Observation:
    """The unknown tool decides only by -32020: that it is unknown may be told first."""
    reply = await UNKNOWN_CALL.send(peer, OTHER_NAME, "MCP-HDR-003")
    call = await served_call(peer)
    if call is not None:
        return await _differing(peer, call)
    if is_refused(reply):
        return held()
    return inconclusive(f"an unknown tool got {reply.shown}, maybe for its name; {NAME_IT}")


async def _padded(peer: Peer, request: NamedRequest) -> Observation:
    """Whitespace around a header value is no part of it (RFC 9110, section 5.5)."""
    padded = f"  {sentinel.encode(request.name)} \t"
    return acceptance(
        await request.send(peer, padded),
        f"{request.method} is refused for whitespace around the value of Mcp-Name",
        "a result: the whitespace is no part of the value (RFC 9110, section 5.5)",
    )


@probe("MCP-HDR-007", transports=HTTP_ONLY, needs=("tools|prompts|resources",), impact="reads")
async def encoded_name_is_decoded(peer: Peer) -> Observation:
    """An `Mcp-Name` in Base64 between the markers is not decoded before it is compared.

    Why: names and URIs beyond ASCII can be sent only so; a server that compares the encoded
    text refuses every one of them.

    Fix: decode a value that begins with `=?base64?` and ends with `?=`, once, with the
    standard alphabet as UTF-8; take any other value as it stands.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    requests = [*await served_reads(peer), *((UNKNOWN_CALL,) if peer.offers("tools") else ())]
    parts = [await _decoding(peer, request) for request in requests]
    if parts and peer.offers("tools") and parts[-1].outcome is not Outcome.INCONCLUSIVE:
        parts += [await _decoded(peer, _unknown(name)) or held() for name in ENCODED_NAMES]
    return _decided(parts, "no tool, prompt or resource is listed that can be asked for")


def _unknown(name: str) -> NamedRequest:
    return NamedRequest("tools/call", {"name": name, "arguments": {}})


async def _decoding(peer: Peer, request: NamedRequest) -> Observation:
    """Compare the plain value, the encoded one, and encodings of something else.

    Whatever answers the plain value must answer the encoded one. That it is not refused
    shows decoding only where a wrong value is.
    """
    if not sentinel.needs_encoding(request.name):
        plain = await request.send(peer, request.name)
        if is_mismatch(plain) or plain.message is None:
            return inconclusive(plain.barred or f"the plain Mcp-Name got {plain.shown}")
    return await _decoded(peer, request) or await _wrong_encodings(peer, request)


async def _decoded(peer: Peer, request: NamedRequest) -> Observation | None:
    """What is wrong with the answer to the encoded value, or None."""
    encoded = sentinel.wrap(request.name)
    reply = await request.send(peer, encoded)
    if is_mismatch(reply):
        return broke(
            f"{request.method} is refused because Mcp-Name is encoded",
            seen=f"{reply.shown}, for {encoded}",
            expected="the same answer as for the plain value",
            evidence=reply,
        )
    if reply.message is None:
        return inconclusive(reply.barred or f"{request.method} got {reply.shown}")
    return None


async def _wrong_encodings(peer: Peer, request: NamedRequest) -> Observation:
    reply = await request.send(peer, sentinel.wrap(OTHER_NAME), "MCP-HDR-007")
    if not is_mismatch(reply):
        return await _uncompared(peer, request, reply)
    marker = sentinel.wrap(request.name).replace("=?base64?", "=?BASE64?", 1)
    reply = await request.send(peer, marker, "MCP-HDR-007")
    if is_mismatch(reply):
        return held()
    if reply.message is None:
        return inconclusive(reply.barred or f"{request.method} got {reply.shown}")
    return broke(
        f"{request.method} takes markers in upper case for an encoding",
        seen=f"{reply.shown}, for {marker}",
        expected=f"{EXPECTED}: the markers have a case, so the value is another one",
        evidence=reply,
    )


async def _uncompared(peer: Peer, request: NamedRequest, encoded: Reply) -> Observation:
    """A wrong name got through encoded; where a plain one does, too, it is HDR-003's finding."""
    if not encoded.succeeded or not is_mismatch(
        await request.send(peer, OTHER_NAME, "MCP-HDR-007")
    ):
        return inconclusive(f"Mcp-Name is not compared in {request.method}: {encoded.shown}")
    return broke(
        f"{request.method} is served whatever name is encoded in Mcp-Name",
        seen=f"{encoded.shown}, for {sentinel.wrap(OTHER_NAME)}",
        expected=f"{EXPECTED}: decoded, the value is another name",
        evidence=encoded,
    )
