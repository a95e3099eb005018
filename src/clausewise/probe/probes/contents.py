"""Our rules about content: media, embedded resources, blobs (CW-PRM-003 to 005, CW-RSC-006)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.judge.subjects.content import embedded_resource, objects, prompt_blocks
from clausewise.judge.subjects.formats import base64_fault, media_type_class, uri_fault
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.registration import probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.tour import results, tour
from clausewise.probe.wording import named

_Object = dict[str, Any]
_DUE = "base64 (RFC 4648, section 4) with its padding"


async def _each_block(
    peer: Peer, kind: str, judge: Callable[[Reply, _Object], Observation]
) -> Observation:
    """Judge the content blocks of one type in prompts and tool results."""
    parts: list[tuple[tuple[str, ...], Observation]] = []
    for visit in results(await tour(peer), "prompts/get", "tools/call"):
        for block in _blocks(visit.reply):
            if block.get("type") == kind:
                seen = judge(visit.reply, block)
                parts.append((tuple(fault.message for fault in seen.faults), seen))
    return once_each(parts) if parts else not_observed(f"no content of type {kind} was seen")


def _blocks(reply: Reply) -> Iterator[_Object]:
    if reply.request.method == "prompts/get":
        yield from prompt_blocks(dict(reply.fields))
    else:
        yield from objects(reply.fields.get("content"))


@probe("CW-PRM-003", needs=("prompts|tools",), impact="calls")
async def image_is_base64_with_a_media_type(peer: Peer) -> Observation:
    """An image in a prompt or a tool result is no base64, or has no media type.

    Why: the client cannot decode it, or does not know as what.

    Fix: encode `data` with the standard alphabet and padding; name the type in `mimeType`.
    """
    return await _each_block(peer, "image", lambda reply, block: _media(reply, block, "image"))


@probe("CW-PRM-004", needs=("prompts|tools",), impact="calls")
async def audio_is_base64_with_a_media_type(peer: Peer) -> Observation:
    """Audio in a prompt or a tool result is no base64, or has no media type.

    Why: the client cannot decode it, or does not know as what.

    Fix: encode `data` with the standard alphabet and padding; name the type in `mimeType`.
    """
    return await _each_block(peer, "audio", lambda reply, block: _media(reply, block, "audio"))


def _media(reply: Reply, block: _Object, kind: str) -> Observation:
    trouble = _base64_trouble(block.get("data"))
    if trouble is not None:
        return _bad_base64(reply, f"data of the {kind}", trouble)
    media_type = block.get("mimeType")
    found = media_type_class(media_type) if isinstance(media_type, str) else None
    if found == kind:
        return held()
    return broke(
        f"the {kind} has no valid media type"
        if found is None
        else f"the media type of the {kind} is of another kind",
        seen=f"mimeType {named(media_type)}",
        expected=f"a media type such as {kind}/…",
        severity=None if found is None else Outcome.WARN,
        evidence=reply,
    )


@probe("CW-PRM-005", needs=("prompts|tools",), impact="calls")
async def embedded_resource_is_complete(peer: Peer) -> Observation:
    """An embedded resource lacks a URI, a media type or its content.

    Why: the client cannot tell what it is looking at, or finds nothing to look at.

    Fix: give the resource `uri`, `mimeType`, and either `text` or a base64 `blob`.
    """
    return await _each_block(peer, "resource", _embedded)


def _embedded(reply: Reply, block: _Object) -> Observation:
    # The sentence is about prompts; the schema, which binds tools, too, asks for no media type.
    is_prompt = reply.request.method == "prompts/get"
    resource = embedded_resource(block)
    faults = _resource_faults(resource, typed=is_prompt)
    if not faults:
        return held()
    if isinstance(resource, dict) and resource.get("uri") in _given(reply):
        return not_observed("the URI is an argument that was made up")
    return broke(
        "an embedded resource is incomplete",
        seen="; ".join(faults),
        expected="a URI, a media type, and either text or a base64 blob",
        evidence=reply,
    )


def _given(reply: Reply) -> list[Any]:
    """The arguments of a call or a prompt."""
    arguments = (reply.request.params or {}).get("arguments")
    return list(arguments.values()) if isinstance(arguments, dict) else []


def _resource_faults(resource: Any, *, typed: bool) -> list[str]:
    if not isinstance(resource, dict):
        return [f"resource {named(resource)}"]
    faults = []
    uri, media_type = resource.get("uri"), resource.get("mimeType")
    if not isinstance(uri, str) or uri_fault(uri) is not None:
        faults.append(f"uri {named(uri)}")
    is_typed = isinstance(media_type, str) and media_type_class(media_type) is not None
    if not is_typed and (typed or "mimeType" in resource):
        faults.append(f"mimeType {named(media_type)}")
    has = [member for member in ("text", "blob") if member in resource]
    if len(has) != 1:
        faults.append("both text and blob" if has else "neither text nor blob")
    if "blob" in has and (trouble := _base64_trouble(resource["blob"])) is not None:
        faults.append(f"blob {trouble}")
    return faults


@probe("CW-RSC-006", needs=("resources",), impact="reads")
async def blobs_are_base64(peer: Peer) -> Observation:
    """The blob of a resource is no base64.

    Why: the client cannot decode it, or gets other bytes than the resource has.

    Fix: encode binary data with the standard Base64 alphabet and padding, in one piece.
    """
    parts = []
    for visit in results(await tour(peer), "resources/read"):
        for content in objects(visit.reply.fields.get("contents")):
            if "blob" in content:
                trouble = _base64_trouble(content["blob"])
                if trouble is None:
                    parts.append(("", held()))
                else:
                    parts.append(
                        ("blob", _bad_base64(visit.reply, "blob of the resource", trouble))
                    )
    return once_each(parts) if parts else not_observed("no resource with a blob was read")


def _base64_trouble(data: Any) -> str | None:
    """What is wrong with a value that should be base64; None where every decoder agrees."""
    if not isinstance(data, str):
        return named(data)
    fault = base64_fault(data)
    return fault.seen if fault is not None and fault.grave else None


def _bad_base64(reply: Reply, what: str, seen: str) -> Observation:
    return broke(f"the {what} is no base64", seen=seen, expected=_DUE, evidence=reply)
