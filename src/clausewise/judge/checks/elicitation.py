"""Elicitation, Capabilities: what the client declares and which modes may be asked for."""

from __future__ import annotations

from clausewise.core.vocabulary import Direction, Outcome
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.declarations import Use, judge_use
from clausewise.judge.subjects.elicitations import (
    ELICIT,
    FORM,
    URL,
    is_url_required,
    listed_elicitations,
    mode_of,
    supported_modes,
)
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.tasks import creates_task, fulfilled_request
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import MessageClass

_C2S = Direction.CLIENT_TO_SERVER
_REFUSALS = ("decline", "cancel")


@check(
    "elicitation.client-declares-capability",
    on=f"result:{ELICIT}",
    subject="client result to elicitation/create",
)
def client_declares_capability(message: Message, session: Session, out: Sheet) -> None:
    """A client answers an elicitation although it never declared the capability.

    Why: servers ask only clients that declare elicitation, so the feature stays unused, and a
    server that asks anyway breaks the protocol on its side.
    Fix: declare `elicitation` in the capabilities of initialize, with `form` and `url` for the
    modes the client supports; a client without elicitation answers with error -32601.
    """
    action = "task" if creates_task(message) else message.result.get("action", ABSENT)
    if action not in ("accept", "task", *_REFUSALS):
        return
    seen = "a task" if action == "task" else f"action {shown(action)}"
    # A client may decline whatever it does not know.
    severity = Outcome.WARN if action in _REFUSALS else None
    judge_use(message, session, out, Use("elicitation", "answers an elicitation", seen, severity))


@check(
    "elicitation.mode-supported",
    on=f"request:{ELICIT}",
    subject="elicitation request after initialize",
)
def mode_supported(message: Message, session: Session, out: Sheet) -> None:
    """A server asks for an elicitation in a mode that the client does not support.

    Why: the client has no way to show it, so the user is never asked.
    Fix: look at the client's `elicitation` capability before asking: `{}` means form mode only,
    `url` must be declared by name; a request without `mode` is in form mode.
    """
    modes = supported_modes(session.handshake)
    mode = mode_of(message.member("params"))
    if message.direction is _C2S or modes is None or not isinstance(mode, str):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif mode in modes:
        out.held(message)
    else:
        out.broke(
            message,
            "an elicitation request has a mode that the client does not support",
            seen=f"mode {shown(mode)}, while the client supports {_listed(modes)}",
            expected="a mode from the client's elicitation capability",
        )


@mode_supported.on("error")
def _url_mode_required_by_error(message: Message, session: Session, out: Sheet) -> None:
    if session.shared or not is_url_required(message):
        return
    modes = supported_modes(session.handshake)
    listed = listed_elicitations(message)
    if modes is None or URL in modes or not isinstance(listed, list) or not listed:
        return
    out.broke(
        message,
        "an error requires URL mode elicitations of a client without URL mode",
        seen=f"error -32042, while the client supports {_listed(modes)}",
        expected="URL mode elicitations only for clients that declare elicitation.url",
        severity=Outcome.WARN,
    )


def _listed(modes: frozenset[str]) -> str:
    return " and ".join(mode for mode in (FORM, URL) if mode in modes) or "no elicitation"


@check(
    "elicitation.undeclared-mode-rejected",
    on=(f"result:{ELICIT}", f"error:{ELICIT}", "result:tasks/result"),
    subject="answer to an elicitation request in an undeclared mode",
)
def undeclared_mode_rejected(message: Message, session: Session, out: Sheet) -> None:
    """A client does not reject an elicitation in an undeclared mode with error -32602.

    Why: only the error tells the server that the mode is the trouble; a decline looks like the
    user's decision.
    Fix: answer an `elicitation/create` whose mode the client did not declare with error -32602.
    """
    fulfilled = fulfilled_request(message, session)
    request = fulfilled or message.request
    modes = supported_modes(session.handshake)
    if message.direction is not _C2S or request is None or modes is None:
        return
    mode = mode_of(request.params)
    if request.method != ELICIT or not isinstance(mode, str) or mode in modes:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif fulfilled is None:
        out.undecided(message, "a task answers, and its result is not in the recording")
    elif message.kind is MessageClass.RESULT:
        _not_rejected(message, mode, f"action {shown(message.result.get('action', ABSENT))}", out)
    else:
        _judge_rejection(message, mode, modes, out)


def _judge_rejection(message: Message, mode: str, modes: frozenset[str], out: Sheet) -> None:
    code = error_code(message)
    if not modes:
        out.undecided(message, "a client without elicitation may refuse with any error")
    elif code == ErrorCode.INVALID_PARAMS:
        out.held(message)
    elif code is not None:
        _not_rejected(message, mode, f"error {shown(code)}", out)


def _not_rejected(message: Message, mode: str, seen: str, out: Sheet) -> None:
    out.broke(
        message,
        f"the client did not declare mode {shown(mode)} and does not reject it as it should",
        seen=seen,
        expected="error -32602",
    )
