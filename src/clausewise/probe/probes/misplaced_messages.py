"""Our rules about what is sent in which place (CW-ERR-004 and CW-RES-008)."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import has_usual_headers
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.probes.error_codes import DEFINED, misuse
from clausewise.probe.probes.results import ASKS_FOR_INPUT, CORE_METHODS
from clausewise.probe.registration import HTTP_ONLY, passive
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.mismatch import is_mismatch
from clausewise.probe.subjects.received import received_in
from clausewise.probe.subjects.subscription import ACKNOWLEDGED, CHANGES, LISTEN
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsontext import JsonTextError, decode
from clausewise.wire.meta import META_CAPABILITIES, META_VERSION

_OF_SUBSCRIPTIONS = frozenset({ACKNOWLEDGED, *CHANGES.values()})
_MEANINGS: Mapping[int, str] = {
    ErrorCode.HEADER_MISMATCH: "the headers do not match the body",
    ErrorCode.MISSING_CLIENT_CAPABILITY: "a client capability is missing",
    ErrorCode.UNSUPPORTED_VERSION: "the version is not supported",
}


@passive("CW-ERR-004")
def defined_codes_keep_their_meaning(traffic: Traffic) -> Observation:
    """-32020, -32021 or -32022 answers a request with which it has nothing to do.

    Why: clients act on these codes: they mend headers, declare capabilities, change the
    version; none of that helps here.

    Fix: use -32602 or a code of your own for other faults.
    """
    parts = [
        (reply.code, _meant(reply))
        for reply in traffic.errors
        if _has_sound_envelope(reply) and not _is_told_already(reply, traffic)
    ]
    if not parts:
        return not_observed("no request with sound headers and metadata was refused")
    return once_each(parts)


def _has_sound_envelope(reply: Reply) -> bool:
    """Whether headers, version and capabilities of a request are those of a right one."""
    request = reply.request
    meta = (request.params or {}).get("_meta")
    try:
        sent = decode(request.body)
    except JsonTextError:
        return False
    return (
        isinstance(sent, dict)
        and "id" in sent
        and isinstance(meta, dict)
        and sent.get("method") == request.method
        and sent.get("params") == request.params
        and meta.get(META_VERSION) == Revision.MODERN.value
        and isinstance(meta.get(META_CAPABILITIES), dict)
        and has_usual_headers(request)
        and not _may_lack_a_header(reply)
    )


def _is_told_already(reply: Reply, traffic: Traffic) -> bool:
    """Whether the code is MCP-ERR-005's finding."""
    return reply.code in DEFINED and misuse(reply, traffic) is not None


def _may_lack_a_header(reply: Reply) -> bool:
    """Whether the headers may be at fault, or be read as such: MCP-HDR-007 and 008 judge that."""
    if reply.transport is TransportKind.STDIO:
        return False
    encoded = any(value.startswith(b"=?") for _, value in reply.request.headers)
    return encoded or (reply.request.method == "tools/call" and is_mismatch(reply))


def _meant(reply: Reply) -> Observation:
    code, method = reply.code, reply.request.method
    if code == ErrorCode.MISSING_CLIENT_CAPABILITY:
        # Which of the requests that may ask for input needs what is MCP-ERR-007's question.
        is_wrong = method in CORE_METHODS.keys() - ASKS_FOR_INPUT
    else:
        is_wrong = code in _MEANINGS
    if not is_wrong:
        return held()
    return broke(
        f"{method} is refused with a code that means something else",
        seen=f"{reply.shown}; {code} means that {_MEANINGS[code or 0]}",
        expected="another code: headers, version and capabilities are in order",
        evidence=reply,
    )


@passive("CW-RES-008", transports=HTTP_ONLY)
def notifications_relate_to_their_request(traffic: Traffic) -> Observation:
    """A notification about a change comes on the response stream of another request.

    Why: clients read a response stream for the request alone; who wants to hear of changes
    listens for them.

    Fix: deliver changes on `subscriptions/listen` streams only.
    """
    parts: list[tuple[str, Observation]] = []
    for reply in traffic.replies:
        for one in received_in(reply) if reply.request.method not in (None, LISTEN) else ():
            if one.method in _OF_SUBSCRIPTIONS:
                fault = broke(
                    f"{one.method} comes in the answer to {reply.request.method}",
                    seen=f"{one.method} on the response stream",
                    expected="notifications about this request only",
                    evidence=one.sighting,
                )
                parts.append((one.method or "", fault))
            elif one.method is not None:
                parts.append(("", held()))
    return once_each(parts) if parts else not_observed("no notification on a response stream")
