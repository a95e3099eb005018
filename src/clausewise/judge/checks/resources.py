"""Resources: the capability, URIs and binary data, wherever a server sends them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.content import embedded_resource, objects, prompt_blocks
from clausewise.judge.subjects.declarations import judge_declaration
from clausewise.judge.subjects.formats import base64_fault, scheme_of, uri_fault, uri_template_fault
from clausewise.judge.subjects.tasks import fulfilled_request
from clausewise.judge.wording import ABSENT, shown

MAX_URIS = 10_000
"""URIs of a session that are remembered, to judge each once."""

_STANDARD = frozenset({"file", "git", "http", "https"})
"""Schemes that are no custom ones: those the page names, and http."""

_READ = "resources/read"
_CALL = "tools/call"
_NONE: list[dict[str, Any]] = []
_OUTCOMES = (
    "result:resources/read",
    "result:tools/call",
    "result:tasks/result",
    "result:prompts/get",
)

_S2C = Direction.SERVER_TO_CLIENT


@check(
    "resources.capability-declared",
    on=(
        "result:resources/list",
        "result:resources/read",
        "result:resources/templates/list",
        "result:resources/subscribe",
        "result:resources/unsubscribe",
        "notification:notifications/resources/list_changed",
        "notification:notifications/resources/updated",
    ),
    subject="sign of resource support",
)
def capability_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server offers resources without having declared the resources capability.

    Why: clients look for resources only where the capability is declared, so they never find
    these.
    Fix: declare `"resources": {}` in the initialize result.
    """
    judge_declaration(message, session, out, "resources")


@dataclass(slots=True)
class _Uris:
    """URIs judged in the session, and faulty ones that the client sent first."""

    judged: dict[tuple[str, bool], None] = field(default_factory=dict)
    by_client: dict[str, None] = field(default_factory=dict)


@check(
    "resources.uri-scheme-rfc3986",
    on=(
        *_OUTCOMES,
        "result:resources/list",
        "result:resources/templates/list",
        "notification:notifications/resources/updated",
    ),
    subject="URI that the server made",
)
def uri_scheme_rfc3986(message: Message, session: Session, out: Sheet) -> None:
    """A resource's URI breaks the syntax of RFC 3986.

    Why: URI parsers refuse it or change it, so that the client asks for another resource, or
    for none.
    Fix: begin with a scheme of letters, digits, `+`, `-` and `.`, and percent-encode spaces,
    non-ASCII and other reserved characters.
    """
    if message.direction is not _S2C:
        return
    method = message.request.method if message.request is not None else None
    if message.method is not None:
        holders: Iterable[dict[str, Any]] = (message.params,)
    elif method == "resources/list":
        holders = objects(message.result.get("resources"))
    else:
        holders = _holders(message, session)
    for holder in holders:
        uri = holder.get("uri")
        if isinstance(uri, str):
            _judge_uri(message, session, out, uri, is_template=False)
    if method == "resources/templates/list":
        for template in objects(message.result.get("resourceTemplates")):
            uri = template.get("uriTemplate")
            if isinstance(uri, str):
                _judge_uri(message, session, out, uri, is_template=True)


@uri_scheme_rfc3986.on(
    "request:resources/read", "request:resources/subscribe", "request:resources/unsubscribe"
)
def _asked_for(message: Message, session: Session, out: Sheet) -> None:
    uri = message.params.get("uri")
    if isinstance(uri, str) and uri_fault(uri) is not None:
        by_client = session.state(_Uris).by_client
        if len(by_client) >= MAX_URIS:
            forget_older_half(by_client)
        by_client[uri] = None


def _judge_uri(
    message: Message, session: Session, out: Sheet, uri: str, *, is_template: bool
) -> None:
    state = session.state(_Uris)
    if (uri, is_template) in state.judged:
        return
    if not session.handshake.declares(Party.SERVER, "resources"):
        return
    fault = uri_template_fault(uri) if is_template else uri_fault(uri)
    if fault is not None and _echoes(message, uri, state):
        return
    if len(state.judged) >= MAX_URIS:
        forget_older_half(state.judged)
    state.judged[uri, is_template] = None
    is_custom = scheme_of(uri) not in _STANDARD
    if fault is not None:
        out.broke(
            message,
            _what_is_wrong(is_custom=is_custom, is_template=is_template),
            seen=f"{fault} in {shown(uri)}",
            expected="a URI by RFC 3986: scheme, colon, and only the characters it allows",
            severity=None if is_custom else Outcome.INFO,
        )
    elif is_custom:
        out.held(message)


def _what_is_wrong(*, is_custom: bool, is_template: bool) -> str:
    if is_template:
        return "a URI template does not begin as a URI does"
    return "a resource's URI is no URI" if is_custom else "a URI of a standard scheme is malformed"


def _echoes(message: Message, uri: str, state: _Uris) -> bool:
    """Whether the server only repeats a URI that the client sent."""
    if message.method is None and not _answers(message, _READ):
        return False
    params = message.request.params if message.request is not None else None
    asked = params.get("uri") if isinstance(params, dict) else None
    return uri == asked or uri in state.by_client


def _answers(message: Message, method: str) -> bool:
    return message.request is not None and message.request.method == method


@dataclass(slots=True)
class _Held:
    """The resources in the result that was looked at last, for the checks that share it."""

    seq: int = -1
    resources: list[dict[str, Any]] = field(default_factory=list)


def _holders(message: Message, session: Session) -> list[dict[str, Any]]:
    """What resources/read returns, and what tools and prompts link or embed."""
    if _has_none(message):
        return _NONE
    held = session.recording.state(_Held)
    if held.seq != message.seq:
        held.seq, held.resources = message.seq, _resources(message, session)
    return held.resources


def _has_none(message: Message) -> bool:
    """Whether the result of a tool call, nearly always, has neither links nor resources."""
    request, content = message.request, message.result.get("content")
    if request is None or request.method != _CALL or "task" in message.result:
        return False
    if type(content) is list:
        for block in content:
            if type(block) is dict and block.get("type") != "text":
                return False
    return True


def _resources(message: Message, session: Session) -> list[dict[str, Any]]:
    request = fulfilled_request(message, session)
    method = request.method if request is not None else None
    result = message.result
    if method == _READ:
        return list(objects(result.get("contents")))
    if method == _CALL:
        blocks = objects(result.get("content"))
    elif method == "prompts/get":
        blocks = prompt_blocks(result)
    else:
        return []
    found = []
    for block in blocks:
        resource = block if block.get("type") == "resource_link" else embedded_resource(block)
        if type(resource) is dict:
            found.append(resource)
    return found


@check("resources.blob-base64", on=_OUTCOMES, subject="blob of a resource")
def blob_base64(message: Message, session: Session, out: Sheet) -> None:
    """The blob of a resource is not base64.

    Why: strict decoders refuse it and lenient ones yield other bytes.
    Fix: encode the bytes with the standard alphabet and padding (RFC 4648, section 4), on one
    line, without a data: prefix.
    """
    if message.direction is not _S2C:
        return
    for holder in _holders(message, session):
        blob = holder.get("blob", ABSENT)
        if blob is None and isinstance(holder.get("text"), str):
            # A text, and an optional member written as null.
            continue
        if blob is ABSENT or not session.handshake.declares(Party.SERVER, "resources"):
            continue
        fault = base64_fault(blob) if isinstance(blob, str) else None
        if isinstance(blob, str) and fault is None:
            out.held(message)
            continue
        out.broke(
            message,
            f"the blob of resource {shown(holder.get('uri'))} is not base64",
            seen=fault.seen if fault is not None else f"blob {shown(blob)}",
            expected="base64 with padding (RFC 4648, section 4), without line breaks",
            severity=None if fault is None or fault.grave else Outcome.WARN,
        )
