"""Rules about `Mcp-Param-*`, the headers that mirror annotated parameters (HDR-008 and 009)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.judge.subjects.annotations import Annotation
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
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.mirrored_calls import MirroredCall, mirrored_calls
from clausewise.probe.subjects.mismatch import EXPECTED, acceptance, is_refused, refusal
from clausewise.wire import sentinel
from clausewise.wire.samples import IMPOSSIBLE

MAX_PARAMETERS = 4
"""How many annotated parameters of a tool are tried."""

FREE_TEXT = "Hello, 世界"
"""A value that no header can carry plain."""

UNSENDABLE: tuple[tuple[str, bytes], ...] = (
    ("us\x01west", b"us\x01west"),
    ("us\x7fwest", b"us\x7fwest"),
    ("usé", "usé".encode()),
)
"""Values, and the bytes of headers that carry them plain against the rules.

CR, LF and NUL are left out: they would end or split the header on the way.
"""

_RESTRICTIONS = ("enum", "const", "pattern", "format", "maxLength", "$ref", "not", "allOf")

Judged = tuple[Hashable, Observation]


@probe("MCP-HDR-008", transports=HTTP_ONLY, impact="calls")
async def parameter_header_must_match_body(peer: Peer) -> Observation:
    """A call whose `Mcp-Param-*` headers are not its arguments is not refused with -32020.

    Why: a gateway routes and allows by the header and the tool runs on the argument; when
    they differ, what was allowed is not what runs.

    Fix: for each annotated parameter with a value, require the header and compare it,
    decoded, with the argument (integers as numbers); expect none for a parameter that is
    absent or null; answer a difference with 400 and HeaderMismatch.
    """
    calls = await mirrored_calls(peer)
    if isinstance(calls, Observation):
        return calls
    judged: list[Judged] = []
    for call in calls:
        control = await call.send(peer, call.arguments)
        judged.append(("control", _control(control)))
        if control.message is None:
            continue
        for parameter in call.parameters[:MAX_PARAMETERS]:
            judged += [seen async for seen in _departures(peer, call, parameter, control)]
    return once_each(judged)


def _control(reply: Reply) -> Observation:
    """What the headers of a conforming call get; an error of the tool's own decides nothing."""
    seen = acceptance(reply, "a call with matching headers is refused", "no error -32020")
    if seen.outcome is Outcome.PASS and not _ran(reply):
        return inconclusive(f"the call with matching headers got {reply.shown}")
    return seen


def _ran(reply: Reply) -> bool:
    """Whether the tool ran without an error."""
    return reply.succeeded and reply.fields.get("isError") is not True


async def _departures(
    peer: Peer, call: MirroredCall, parameter: Annotation, control: Reply
) -> AsyncIterator[Judged]:
    value = parameter.value_in(call.arguments)
    for wrong in _other_values(value):
        reply = await call.send(peer, call.arguments, {parameter.header: wrong}, rule="MCP-HDR-008")
        message = f"a call is not refused though {parameter.header} is not the argument"
        yield "mismatch", _refused(reply, message, control)
    reply = await call.send(peer, call.arguments, {parameter.header: None}, rule="MCP-HDR-008")
    message = f"a call is not refused though {parameter.header} is missing"
    yield "missing", _refused(reply, message, control)
    async for seen in _valueless(peer, call, parameter):
        yield "valueless", seen
    async for kind, seen in _equivalents(peer, call, parameter):
        yield kind, seen


def _other_values(value: Any) -> tuple[str, ...]:
    """Header values that a header of this argument must not have."""
    if isinstance(value, bool):
        return ("false" if value else "true", "True" if value else "False")
    return (str(value + 1),) if isinstance(value, int) else (f"clausewise-{len(value)}",)


def _refused(reply: Reply, message: str, control: Reply) -> Observation:
    """As `refusal`; but where the right call fails, too, another fault may have come first."""
    seen = refusal(reply, message)
    if seen.faults and not _ran(control):
        return inconclusive(f"the call got {reply.shown}, as with matching headers")
    return seen


async def _valueless(
    peer: Peer, call: MirroredCall, parameter: Annotation
) -> AsyncIterator[Observation]:
    """Without a value there is no header to expect: absent where that fits, and null."""
    values = (IMPOSSIBLE, None) if call.is_optional(parameter) else (None,)
    for value in values:
        what = "absent" if value is IMPOSSIBLE else "null"
        yield acceptance(
            await call.send(peer, call.changed(parameter, value)),
            f"a call is refused for want of {parameter.header} though the parameter is {what}",
            "no error -32020: without a value there is no header",
        )


async def _equivalents(
    peer: Peer, call: MirroredCall, parameter: Annotation
) -> AsyncIterator[Judged]:
    """Other spellings of the value: encoded text must be accepted, 42.0 should be for 42."""
    value = parameter.value_in(call.arguments)
    if isinstance(value, str):
        for text in (value, FREE_TEXT) if _is_free_text(parameter) else (value,):
            header = sentinel.wrap(text)
            reply = await call.send(peer, call.changed(parameter, text), {parameter.header: header})
            message = f"a call is refused because {parameter.header} is encoded"
            yield "encoded", acceptance(reply, message, "no error -32020: the value is the same")
    elif isinstance(value, int) and not isinstance(value, bool):
        reply = await call.send(peer, call.arguments, {parameter.header: f"{value}.0"})
        seen = acceptance(reply, "", "")
        yield "number", _as_text(reply, parameter, value) if seen.faults else seen


def _as_text(reply: Reply, parameter: Annotation, value: int) -> Observation:
    return broke(
        f"{parameter.header} is compared with an integer argument as text",
        seen=f"{reply.shown}, for {value}.0",
        expected=f"no error -32020: {value}.0 and {value} should count as equal",
        severity=Outcome.WARN,
        evidence=reply,
    )


def _is_free_text(parameter: Annotation) -> bool:
    """Whether the parameter takes any short text."""
    return not any(keyword in parameter.schema for keyword in _RESTRICTIONS)


@probe("MCP-HDR-009", transports=HTTP_ONLY, impact="calls")
async def unsendable_parameter_header_is_refused(peer: Peer) -> Observation:
    """A call whose `Mcp-Param-*` header has characters that no header may have is served.

    Why: components on the way drop, change or misread such characters, so that each of them
    sees another value.

    Fix: refuse a value with anything but visible ASCII, space and tab with 400 and
    HeaderMismatch, and Base64 that does not decode likewise.
    """
    calls = await mirrored_calls(peer)
    if isinstance(calls, Observation):
        return calls
    found = next(
        ((call, one) for call in calls for one in call.parameters if _takes_text(call, one)), None
    )
    if found is None:
        return not_observed("no x-mcp-header parameter takes any text")
    judged = [await _unsendable(peer, *found, text, header) for text, header in UNSENDABLE]
    judged.append(await _broken_base64(peer, *found))
    return once_each(judged)


def _takes_text(call: MirroredCall, parameter: Annotation) -> bool:
    return isinstance(parameter.value_in(call.arguments), str) and _is_free_text(parameter)


async def _unsendable(
    peer: Peer, call: MirroredCall, parameter: Annotation, text: str, header: bytes
) -> Judged:
    """One value that only its encoding may carry, sent plain, after it was sent encoded."""
    arguments = call.changed(parameter, text)
    control = await call.send(peer, arguments)
    if not _ran(control):
        return "control", inconclusive(f"the value, encoded, got {control.shown}")
    reply = await call.send(peer, arguments, {parameter.header: header}, rule="MCP-HDR-009")
    if reply.status == 400 and reply.message is None:
        return "bare", held(note="the HTTP layer refuses invalid characters with a bare 400")
    kind = "control character" if text.isascii() else "byte beyond ASCII"
    message = f"a {kind} in {parameter.header} is not refused as it must be"
    return kind, refusal(reply, message)


async def _broken_base64(peer: Peer, call: MirroredCall, parameter: Annotation) -> Judged:
    """The text is silent on what does not decode, so that serving it only warns."""
    value = "Hello"
    header = "=?base64?SGVs!!!bG8=?="
    reply = await call.send(
        peer, call.changed(parameter, value), {parameter.header: header}, rule="MCP-HDR-009"
    )
    if not _ran(reply):
        return "base64", held() if is_refused(reply) else inconclusive(
            reply.barred or f"Base64 with foreign characters got {reply.shown}"
        )
    return "base64", broke(
        f"Base64 with characters outside its alphabet in {parameter.header} is accepted",
        seen=f"{reply.shown}, for {header}",
        expected=EXPECTED,
        severity=Outcome.WARN,
        evidence=reply,
    )
