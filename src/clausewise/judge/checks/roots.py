"""Roots: the capability, the URIs, and what a client without roots answers."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.declarations import Use, judge_use
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.formats import uri_fault
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import MessageClass

LIST = "roots/list"
CHANGED = "notifications/roots/list_changed"

_C2S = Direction.CLIENT_TO_SERVER
_FILE = "file://"


@check(
    "roots.client-declares-capability",
    on=(f"result:{LIST}", f"notification:{CHANGED}"),
    subject="roots/list result or roots/list_changed notification of a client",
)
def client_declares_capability(message: Message, session: Session, out: Sheet) -> None:
    """A client offers roots although it never declared the capability.

    Why: servers ask only clients that declare roots, so they never learn of these.
    Fix: declare `roots` in the capabilities of initialize, with `"listChanged": true` if the
    client announces changes.
    """
    seen = CHANGED if message.kind is MessageClass.NOTIFICATION else f"a result of {LIST}"
    judge_use(message, session, out, Use("roots", "offers roots", seen))


@check("roots.uri-file-scheme", on=f"result:{LIST}", subject="root")
def uri_file_scheme(message: Message, session: Session, out: Sheet) -> None:
    """The URI of a root does not begin with file://.

    Why: servers turn root URIs into paths of the file system; others cannot be used.
    Fix: send file URIs with three slashes before an absolute path, such as
    file:///home/user/project or file:///C:/project, percent-encoded.
    """
    roots = message.result.get("roots")
    if message.direction is not _C2S or not isinstance(roots, list):
        return
    for root in roots:
        _judge_uri(root.get("uri", ABSENT) if isinstance(root, dict) else ABSENT, message, out)


def _judge_uri(uri: Any, message: Message, out: Sheet) -> None:
    if not isinstance(uri, str) or uri[: len(_FILE)].lower() != _FILE:
        out.broke(
            message,
            "the URI of a root is no file:// URI",
            seen=f"uri {shown(uri)}",
            expected="a URI that begins with file://",
        )
        return
    fault = uri_fault(uri)
    if fault is None:
        out.held(message)
    else:
        out.broke(
            message,
            "the file URI of a root is no valid URI",
            seen=f"{fault} in {shown(uri)}",
            expected="a URI of RFC 3986, other characters percent-encoded",
            severity=Outcome.WARN,
        )


@check(
    "roots.unsupported-rejected",
    on=(f"result:{LIST}", f"error:{LIST}"),
    subject="answer of a client without roots to roots/list",
)
def unsupported_rejected(message: Message, session: Session, out: Sheet) -> None:
    """A client without roots does not answer roots/list with error -32601.

    Why: the code tells the server for certain that there are no roots to ask for; an empty list
    or another error looks like a passing state.
    Fix: answer `roots/list` with error -32601, or declare `roots`.
    """
    handshake = session.handshake
    request = message.request
    if message.direction is not _C2S or request is None:
        return
    if handshake.declares(Party.CLIENT, "roots") is not False:
        return
    if handshake.initialized_seq is None or request.seq < handshake.initialized_seq:
        # A client that is not ready yet may have other reasons to refuse.
        return
    code = error_code(message)
    if session.shared:
        out.undecided(message, MIXED)
    elif code == ErrorCode.METHOD_NOT_FOUND:
        out.held(message)
    elif code is not None or message.kind is MessageClass.RESULT:
        out.broke(
            message,
            "a client without roots does not reject roots/list as unknown",
            seen="a result" if code is None else f"error {shown(code)}",
            expected="error -32601",
        )


@check("roots.capability-checked", on=f"request:{LIST}", subject="roots/list request")
def capability_checked(message: Message, session: Session, out: Sheet) -> None:
    """A server sends roots/list to a client that did not declare roots.

    Why: the client cannot answer it, so the server waits for nothing or fails.
    Fix: look for `roots` in the client's capabilities before asking. The same request also
    breaks lifecycle.negotiated-capabilities-only: one cause, one repair.
    """
    declared = session.handshake.declares(Party.CLIENT, "roots")
    if message.direction is _C2S or declared is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif declared:
        out.held(message)
    else:
        out.broke(
            message,
            "the server asks for roots without looking at the client's capabilities",
            seen="no roots in the client's capabilities",
            expected=f"no {LIST} to this client",
        )
