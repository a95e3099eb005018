"""Prompts: the capability, the content of prompt messages, the arguments."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.content import embedded_resource, objects, prompt_blocks
from clausewise.judge.subjects.declarations import judge_declaration
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.formats import base64_fault, media_type_class, uri_fault
from clausewise.judge.subjects.listings import Fault, Listing, Standing, Unsettled
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.codes import ErrorCode

_GET = "result:prompts/get"


@check(
    "prompts.capability-declared",
    on=(
        "result:prompts/list",
        "result:prompts/get",
        "notification:notifications/prompts/list_changed",
    ),
    subject="sign of prompt support",
)
def capability_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server offers prompts without having declared the prompts capability.

    Why: clients look for prompts only where the capability is declared, so they never find these.
    Fix: declare `"prompts": {}` in the initialize result.
    """
    judge_declaration(message, session, out, "prompts")


def _blocks(message: Message, session: Session, kind: str) -> list[dict[str, Any]]:
    """The blocks of one type in a prompt from a server that declared prompts."""
    if message.direction is not Direction.SERVER_TO_CLIENT:
        return []
    found = [block for block in prompt_blocks(message.result) if block.get("type") == kind]
    return found if found and session.handshake.declares(Party.SERVER, "prompts") else []


@check("prompts.image-content-encoding", on=_GET, subject="image in a prompt")
def image_content_encoding(message: Message, session: Session, out: Sheet) -> None:
    """An image in a prompt is not base64, or does not say which type of image it is.

    Why: the client cannot decode or show it, and a model's interface refuses the whole message.
    Fix: encode the bytes as base64 with padding and give the type, such as image/png.
    """
    for block in _blocks(message, session, "image"):
        _judge_media(message, out, block, "image")


@check("prompts.audio-content-encoding", on=_GET, subject="audio in a prompt")
def audio_content_encoding(message: Message, session: Session, out: Sheet) -> None:
    """Audio in a prompt is not base64, or does not say which type of audio it is.

    Why: the client cannot decode or play it, and a model's interface refuses the whole message.
    Fix: encode the bytes as base64 with padding and give the type, such as audio/wav.
    """
    for block in _blocks(message, session, "audio"):
        _judge_media(message, out, block, "audio")


def _judge_media(message: Message, out: Sheet, block: dict[str, Any], kind: str) -> None:
    media_type = block.get("mimeType", ABSENT)
    named = media_type_class(media_type) if isinstance(media_type, str) else None
    if _judge_base64(message, out, block.get("data", ABSENT), f"data of the {kind}"):
        return
    if named is None:
        out.broke(
            message,
            f"the {kind} has no valid media type",
            seen=f"mimeType {shown(media_type)}",
            expected=f"a media type such as {kind}/…",
        )
    elif named != kind:
        out.broke(
            message,
            f"the media type of the {kind} is of another kind",
            seen=f"mimeType {shown(media_type)}",
            expected=f"a media type such as {kind}/…",
            severity=Outcome.WARN,
        )
    else:
        out.held(message)


def _judge_base64(message: Message, out: Sheet, data: Any, what: str) -> bool:
    """Book a fault of base64 data, if it has one; says whether."""
    fault = base64_fault(data) if isinstance(data, str) else None
    if isinstance(data, str) and fault is None:
        return False
    out.broke(
        message,
        f"the {what} is not base64",
        seen=fault.seen if fault is not None else shown(data),
        expected="base64 with padding (RFC 4648, section 4)",
        severity=None if fault is None or fault.grave else Outcome.WARN,
    )
    return True


@check("prompts.embedded-resource-shape", on=_GET, subject="embedded resource in a prompt")
def embedded_resource_shape(message: Message, session: Session, out: Sheet) -> None:
    """An embedded resource in a prompt lacks a URI, a media type or its content.

    Why: the client cannot tell what it is looking at, or finds nothing to look at.
    Fix: give the resource `uri`, `mimeType`, and either `text` or a base64 `blob`.
    """
    for block in _blocks(message, session, "resource"):
        faults = _resource_faults(embedded_resource(block))
        if faults:
            out.broke(
                message,
                "an embedded resource of a prompt is incomplete",
                seen="; ".join(faults),
                expected="a URI, a media type, and text or base64 data",
            )
            continue
        resource = block["resource"]
        if resource.get("text") is not None and resource.get("blob") is not None:
            out.broke(
                message,
                "an embedded resource of a prompt has both text and blob",
                seen="text and blob",
                expected="one of them",
                severity=Outcome.WARN,
            )
        else:
            out.held(message)


def _resource_faults(resource: Any) -> list[str]:
    if not isinstance(resource, dict):
        return [f"resource {shown(resource)}"]
    faults = []
    uri, media_type = resource.get("uri", ABSENT), resource.get("mimeType", ABSENT)
    if not isinstance(uri, str) or uri_fault(uri) is not None:
        faults.append(f"uri {shown(uri)}")
    if not isinstance(media_type, str) or media_type_class(media_type) is None:
        faults.append(f"mimeType {shown(media_type)}")
    return faults + _content_faults(resource.get("text", ABSENT), resource.get("blob", ABSENT))


def _content_faults(text: Any, blob: Any) -> list[str]:
    if text is ABSENT and blob is ABSENT:
        return ["neither text nor blob"]
    # Beside the one, null for the other says that it is not there.
    has_text = text is not ABSENT and not (text is None and isinstance(blob, str))
    has_blob = blob is not ABSENT and not (blob is None and isinstance(text, str))
    faults = [f"text {shown(text)}"] if has_text and not isinstance(text, str) else []
    if not has_blob:
        return faults
    fault = base64_fault(blob) if isinstance(blob, str) else None
    if not isinstance(blob, str):
        faults.append(f"blob {shown(blob)}")
    elif fault is not None and fault.grave:
        faults.append(f"a blob that is not base64: {fault.seen}")
    return faults


class _RequiredArguments(Listing):
    """The names of the required arguments of each listed prompt."""


class _Gaps(Unsettled):
    """Prompts that were returned without a required argument."""


@check(
    "prompts.arguments-validated",
    on=_GET,
    subject="prompts/get without a required argument of a listed prompt",
)
def arguments_validated(message: Message, session: Session, out: Sheet) -> None:
    """A prompt is returned although an argument that its listing requires is missing.

    Why: the text comes out with a gap, and the user is not told what to add.
    Fix: answer with error -32602 that names the argument, or list it as optional.
    """
    _judge_arguments(message, session, out)


@arguments_validated.on("error:prompts/get")
def _refused(message: Message, session: Session, out: Sheet) -> None:
    refused_by_http = message.status is not None and message.status >= 400
    if refused_by_http and error_code(message) != ErrorCode.INVALID_PARAMS:
        return
    _judge_arguments(message, session, out)


def _judge_arguments(message: Message, session: Session, out: Sheet) -> None:
    request = message.request
    required = session.state(_RequiredArguments)
    params = request.params if request is not None else None
    if request is None or not required.entries or not isinstance(params, dict):
        return
    session.state(_Gaps).settle(request, out)
    name, given = params.get("name"), params.get("arguments", {})
    entry = required.entries.get(name) if isinstance(name, str) else None
    if entry is None or not isinstance(given, dict):
        return
    missing = [argument for argument in entry.part if argument not in given]
    if not missing or not session.handshake.declares(Party.SERVER, "prompts"):
        return
    if entry.since > request.seq or required.standing(str(name), request.seq) is Standing.CHANGED:
        out.undecided(message, "the prompts were listed or changed after the request")
    elif session.shared:
        out.undecided(message, MIXED)
    elif message.member("error") is not ABSENT:
        out.held(message)
    else:
        fault = Fault(
            f"prompt {shown(name)} is returned without a required argument",
            seen=f"no argument {shown(missing[0])}",
            expected="an error that says which argument is missing",
        )
        session.state(_Gaps).book(message, session, out, fault)


@arguments_validated.on("result:prompts/list")
def _listed(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is not Direction.SERVER_TO_CLIENT:
        return
    session.state(_Gaps).settle(message.request, out)
    listing = session.state(_RequiredArguments)
    for prompt in objects(message.result.get("prompts")):
        name = prompt.get("name")
        if isinstance(name, str):
            arguments = [
                argument["name"]
                for argument in objects(prompt.get("arguments"))
                if argument.get("required") is True and isinstance(argument.get("name"), str)
            ]
            listing.list(name, arguments, message.seq)


@arguments_validated.on("notification:notifications/prompts/list_changed")
def _changed(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is Direction.SERVER_TO_CLIENT:
        session.state(_RequiredArguments).changed = message.seq
        session.state(_Gaps).excuse(message, out)


@arguments_validated.on("session-end")
def _settle_all(_end: Spot, session: Session, out: Sheet) -> None:
    session.state(_Gaps).settle_all(out)
