"""Rules about codes that no error may have (ERR-004, ERR-005, ERR-008)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clausewise.core.vocabulary import Outcome, Revision, TransportKind
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import has_usual_headers
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.registration import passive
from clausewise.probe.subjects.grouping import once_each
from clausewise.wire.codes import LEGACY_CODES, RESERVED_CODES, ErrorCode
from clausewise.wire.methods import requests

DEFINED = frozenset(
    {
        ErrorCode.HEADER_MISMATCH,
        ErrorCode.MISSING_CLIENT_CAPABILITY,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""The codes that the specification defines in its reserved range."""

LIKELY_SOURCES: Mapping[int, str] = {
    -32000: "SDKs use it for refusals that the protocol has no code for",
    -32001: "the release candidate's HeaderMismatch, now -32020",
    -32003: "the release candidate's MissingRequiredClientCapability, now -32021",
    -32004: "the release candidate's UnsupportedProtocolVersion, now -32022",
}
_METHODS = requests(Revision.MODERN)


@passive("MCP-ERR-004")
def retired_code_is_not_used(traffic: Traffic) -> Observation:
    """An error has the code -32042 of revision 2025-11-25.

    Why: clients of this revision do not know the code, so they cannot open the URL that
    the server wants visited.

    Fix: return a result of type `input_required` with an elicitation in URL mode, or error
    -32021 when the client does not declare that capability.
    """
    return _each_error(traffic, _not_retired)


def _not_retired(reply: Reply, _: Traffic) -> Observation:
    if reply.code != ErrorCode.URL_ELICITATION_REQUIRED:
        return held()
    return broke(
        f"{reply.request.method} is refused with a retired error code",
        seen=reply.shown,
        expected="no error -32042: an InputRequiredResult, or error -32021",
        evidence=reply,
    )


@passive("MCP-ERR-005")
def reserved_codes_keep_their_meaning(traffic: Traffic) -> Observation:
    """An error has a code from -32020 to -32099 that is undefined or means something else.

    Why: these codes belong to the specification; clients act on them, so a code of the
    server's own is taken for something it is not.

    Fix: use -32020, -32021 and -32022 for what they are defined for, and codes outside
    -32768 to -32000 for errors of your own.
    """
    return _each_error(traffic, _reserved)


def _reserved(reply: Reply, traffic: Traffic) -> Observation:
    code = reply.code
    if code is None or code not in RESERVED_CODES or code == ErrorCode.URL_ELICITATION_REQUIRED:
        return held()
    meant = misuse(reply, traffic) if code in DEFINED else "a code that is not defined"
    if meant is None:
        return held()
    # Which headers a request of another method needs, the text leaves to who defines it.
    is_open = code == ErrorCode.HEADER_MISMATCH and reply.request.method not in _METHODS
    return broke(
        f"{reply.request.method} is refused with {meant}",
        seen=reply.shown,
        expected="in -32020…-32099 only -32020, -32021 and -32022, each with its meaning",
        severity=Outcome.WARN if is_open and traffic.transport is TransportKind.HTTP else None,
        evidence=reply,
    )


def misuse(reply: Reply, traffic: Traffic) -> str | None:
    """The wrong meaning of a defined code, where the exchange leaves no doubt; or None."""
    request = reply.request
    if request.injected or request.method == "tools/call":
        return None
    if reply.code == ErrorCode.HEADER_MISMATCH:
        if not has_usual_headers(request):
            return None
        headers = traffic.transport is TransportKind.HTTP
        return f"HeaderMismatch, but {'the headers match' if headers else 'stdio has no headers'}"
    serves = any(r.succeeded and r.request.version == request.version for r in traffic.conforming)
    modern = request.version == Revision.MODERN.value
    if reply.code == ErrorCode.UNSUPPORTED_VERSION and modern and serves:
        return "UnsupportedProtocolVersion, but the server serves that version"
    return None


@passive("MCP-ERR-008")
def legacy_codes_are_not_used(traffic: Traffic) -> Observation:
    """An error has a code from -32000 to -32019, the legacy sub-range.

    Why: the same number means something else in each older implementation, so a client
    may not read anything into it.

    Fix: use the code the specification defines for the case (-32020 to -32022, -32600 to
    -32603), or one of your own outside -32768 to -32000.
    """
    return _each_error(traffic, _not_legacy)


def _not_legacy(reply: Reply, _: Traffic) -> Observation:
    code = reply.code
    if code is None or code not in LEGACY_CODES or code == ErrorCode.RESOURCE_NOT_FOUND:
        return held()
    source = LIKELY_SOURCES.get(code)
    return broke(
        f"{reply.request.method or reply.request.verb} is refused with a code in the legacy "
        f"sub-range{f' ({source})' if source else ''}",
        seen=reply.shown,
        expected="a code outside -32000…-32019",
        evidence=reply,
    )


def _each_error(traffic: Traffic, judge: Callable[[Reply, Traffic], Observation]) -> Observation:
    errors = tuple(reply for reply in traffic.errors if reply.code is not None)
    if not errors:
        return not_observed("no error response was seen")
    judged = ((reply.code, judge(reply, traffic)) for reply in errors)
    return once_each(((code, _severities(part)), part) for code, part in judged)


def _severities(part: Observation) -> tuple[Outcome | None, ...]:
    return tuple(fault.severity for fault in part.faults)
