"""Lifecycle, Initialization: what the initialize request and its result say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import PUBLISHED_REVISIONS, Direction, Outcome
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.handshake import is_version_token
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.wording import ABSENT, shown

MAX_SERVERS = 1000
"""Servers whose answers are compared across sessions."""

_C2S = Direction.CLIENT_TO_SERVER
_KNOWN_CAPABILITIES = (
    "completions",
    "experimental",
    "logging",
    "prompts",
    "resources",
    "tasks",
    "tools",
)


@check(
    "lifecycle.initialize-params",
    on="request:initialize",
    subject="initialize request",
    handshake=True,
)
def initialize_params(message: Message, session: Session, out: Sheet) -> None:
    """An initialize request lacks the version, the client's capabilities or the client.

    Why: the server settles version and features from these three; without them it has to
    guess or refuse.
    Fix: send protocolVersion (a string), capabilities (an object, perhaps empty) and
    clientInfo with name and version.
    """
    if message.direction is not _C2S:
        return
    params = message.member("params")
    if isinstance(params, dict):
        faults = _introduction_faults(params, "clientInfo")
        experimental = _experimental_fault(params.get("capabilities"))
        faults += [experimental] if experimental else []
    else:
        faults = [f"params {shown(params)}"]
    if not faults:
        out.held(message)
        return
    out.broke(
        message,
        "an initialize request lacks what the server needs to know",
        seen="; ".join(faults),
        expected="protocolVersion, capabilities and clientInfo with name and version",
    )


@check(
    "lifecycle.initialize-protocol-version",
    on="request:initialize",
    subject="initialize request",
    handshake=True,
)
def initialize_protocol_version(message: Message, session: Session, out: Sheet) -> None:
    """The version in an initialize request is no revision that anybody could support.

    Why: the server answers by comparing it with the revisions it knows.
    Fix: send the newest revision the client implements, such as "2025-11-25".
    """
    if message.direction is not _C2S:
        return
    version = message.params.get("protocolVersion", ABSENT)
    if is_version_token(version):
        out.held(message)
    else:
        out.broke(
            message,
            "an initialize request names no revision of the protocol",
            seen=f"protocolVersion {shown(version)}",
            expected='a revision such as "2025-11-25"',
        )


@check(
    "lifecycle.initialize-result-shape",
    on="result:initialize",
    subject="initialize result",
    handshake=True,
)
def initialize_result_shape(message: Message, session: Session, out: Sheet) -> None:
    """An initialize result lacks the version, the server's capabilities or the server.

    Why: the client decides from it which features it may use and what to show to its user.
    Fix: send protocolVersion, capabilities (an object whose known members are objects) and
    serverInfo with name and version.
    """
    result = message.member("result")
    if message.direction is _C2S or not isinstance(result, dict):
        return
    faults = _introduction_faults(result, "serverInfo")
    faults += _capability_faults(result.get("capabilities"))
    instructions = result.get("instructions", "")
    if not isinstance(instructions, str):
        faults.append(f"instructions {shown(instructions)}")
    if not faults:
        out.held(message)
        return
    out.broke(
        message,
        "an initialize result lacks what the client needs to know",
        seen="; ".join(faults),
        expected="protocolVersion, capabilities and serverInfo with name and version",
    )


def _introduction_faults(holder: dict[str, Any], who: str) -> list[str]:
    faults = []
    version = holder.get("protocolVersion", ABSENT)
    if not isinstance(version, str):
        faults.append(f"protocolVersion {shown(version)}")
    capabilities = holder.get("capabilities", ABSENT)
    if not isinstance(capabilities, dict):
        faults.append(f"capabilities {shown(capabilities)}")
    info = holder.get(who, ABSENT)
    if not isinstance(info, dict):
        return [*faults, f"{who} {shown(info)}"]
    for member in ("name", "version"):
        value = info.get(member, ABSENT)
        if not isinstance(value, str):
            faults.append(f"{who}.{member} {shown(value)}")
    return faults


def _experimental_fault(capabilities: Any) -> str | None:
    experimental = capabilities.get("experimental") if isinstance(capabilities, dict) else None
    if not isinstance(experimental, dict):
        return None
    bad = next((n for n, v in experimental.items() if not isinstance(v, dict)), None)
    return None if bad is None else f"experimental capability {shown(bad)} is no object"


def _capability_faults(capabilities: Any) -> list[str]:
    if not isinstance(capabilities, dict):
        return []
    faults = [
        f"capabilities.{name} {shown(capabilities[name])}"
        for name in _KNOWN_CAPABILITIES
        if name in capabilities and not isinstance(capabilities[name], dict)
    ]
    experimental = _experimental_fault(capabilities)
    return faults + ([experimental] if experimental else [])


@dataclass(slots=True)
class _Answers:
    """What the servers of a recording answered, by their serverInfo.

    `supports` has the versions each one answered with, `refused` where it answered a requested
    version with another.
    """

    supports: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    refused: dict[tuple[str, str], dict[str, Spot]] = field(default_factory=dict)


@dataclass(slots=True)
class _Listed:
    """The versions that errors in a session listed as supported."""

    versions: set[str] = field(default_factory=set)


@check(
    "lifecycle.initialize-result-version",
    on="result:initialize",
    subject="initialize result",
    handshake=True,
)
def initialize_result_version(message: Message, session: Session, out: Sheet) -> None:
    """The server answers no revision, or another than the requested one that it supports.

    Why: the answered version rules everything after it; a value that is no revision, or an
    older one without need, breaks or cripples the session.
    Fix: echo the requested version where the server implements it; else answer the newest it
    implements.
    """
    result = message.member("result")
    if message.direction is _C2S or not isinstance(result, dict):
        return
    version = result.get("protocolVersion", ABSENT)
    requested = _requested(message)
    if not is_version_token(version):
        out.broke(
            message,
            "an initialize result names no revision of the protocol",
            seen=f"protocolVersion {shown(version)}",
            expected='a revision such as "2025-11-25"',
        )
    elif version != requested and version[:1].isdigit() and version not in PUBLISHED_REVISIONS:
        out.broke(
            message,
            "an initialize result names a revision that was never published",
            seen=f"protocolVersion {shown(version)}",
            expected="a published revision",
            severity=Outcome.WARN,
        )
    elif requested in session.state(_Listed).versions and requested != version:
        _supported_yet_refused(message, str(requested), out)
    else:
        _compare_sessions(message, session, result, out)


@initialize_result_version.on("error:initialize")
def _note_supported(message: Message, session: Session, out: Sheet) -> None:
    error = message.member("error")
    data = error.get("data") if isinstance(error, dict) else None
    supported = data.get("supported") if isinstance(data, dict) else None
    if isinstance(supported, list):
        known = (v for v in supported if isinstance(v, str) and v in PUBLISHED_REVISIONS)
        session.state(_Listed).versions.update(known)


def _requested(message: Message) -> str | None:
    params = message.request.params if message.request is not None else None
    version = params.get("protocolVersion") if isinstance(params, dict) else None
    return version if isinstance(version, str) else None


def _compare_sessions(
    message: Message, session: Session, result: dict[str, Any], out: Sheet
) -> None:
    """Hold the answer against other sessions of a server with the same serverInfo."""
    out.held(message)
    info = result.get("serverInfo")
    answers = session.recording.state(_Answers)
    if not isinstance(info, dict) or len(answers.supports) >= MAX_SERVERS:
        return
    server = (str(info.get("name")), str(info.get("version")))
    version, requested = result["protocolVersion"], _requested(message)
    refused = answers.refused.setdefault(server, {})
    supports = answers.supports.setdefault(server, set())
    if len(supports) < MAX_SERVERS:
        supports.add(version)
    earlier = refused.pop(version, None)
    if earlier is not None:
        _supported_yet_refused(earlier, version, out)
    if requested is None or requested == version:
        return
    if requested in supports:
        _supported_yet_refused(message, requested, out)
    elif requested in PUBLISHED_REVISIONS:
        refused.setdefault(requested, Spot(message.seq, message.direction))


def _supported_yet_refused(at: Message | Spot, requested: str, out: Sheet) -> None:
    out.broke(
        at,
        "the server answers another version although it supports the requested one",
        seen=f"another version than {requested}",
        expected=f"{requested}, which the server supports elsewhere in this recording",
    )
