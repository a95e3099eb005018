"""Cancellation: what a notification may name, and what follows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Head
from clausewise.judge.session.handshake import INITIALIZE
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sessions import CANCELLED, MIXED, Session
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.task_statuses import TASK_EVENTS, Tasks, follow_tasks
from clausewise.judge.wording import ABSENT, shown
from clausewise.trace.events import Event, Lifecycle
from clausewise.wire.jsonrpc import IdKey, id_key, valid_id

MAX_REMEMBERED = 1000
"""Ids of a session remembered for each purpose below."""

REQUEST_CANCELLED = -32800
"""The code that other protocols on JSON-RPC give the answer to a cancelled request."""

_NOTIFICATION = f"notification:{CANCELLED}"
_C2S = Direction.CLIENT_TO_SERVER

_CANCELLED_TEXT = re.compile(
    r"^\W*cancell?ed\b|\b(?:request|operation|task|call)\b.{0,20}\bcancell?ed\b", re.IGNORECASE
)
"""What errors say of a cancelled request; other texts may speak of what the tool cancels."""

_AS_TASK = {
    "elicitation/create": "tasks.requests.elicitation.create",
    "sampling/createMessage": "tasks.requests.sampling.createMessage",
    "tools/call": "tasks.requests.tools.call",
}
"""The receiver's capability without which it ignores the request's `task`."""


def _named(message: Message) -> Any:
    """The requestId of a notification if it is a valid id, else ABSENT."""
    request_id = message.params.get("requestId", ABSENT)
    return request_id if valid_id(request_id) else ABSENT


def _has_read_answer(request: Request, session: Session) -> bool:
    """Whether the sender of `request` showed, by now, that it had read the answer to it."""
    answered = request.answered
    if answered is None:
        return False
    handshake = session.handshake
    if request is handshake.accepted and handshake.initialized_seq is not None:
        return True
    task = session.state(Tasks).of(request)
    if task is not None and task.used_at is not None:
        return True
    ordered = session.transport is TransportKind.STDIO
    return ordered and session.side(request.direction).answered_to > answered


def _is_task_request(request: Request, session: Session) -> bool:
    """Whether `request` asks for a task, of a receiver that may make one of it."""
    if not isinstance(request.params, dict) or "task" not in request.params:
        return False
    capability = _AS_TASK.get(request.method or "")
    receiver = request.direction.opposite.sender
    if capability is None:
        return False
    declared = session.handshake.declares(receiver, capability)
    return session.state(Tasks).of(request) is not None if declared is None else declared


@dataclass(slots=True)
class _Unfound:
    """Ids that HTTP refused a request with, and cancellations of ids not seen before."""

    refused: dict[IdKey, None] = field(default_factory=dict)
    early: list[tuple[Spot, Any]] = field(default_factory=list)


@check(
    "cancellation.references-issued-request",
    on=_NOTIFICATION,
    subject="cancellation that names a request",
)
def references_issued_request(message: Message, session: Session, out: Sheet) -> None:
    """A cancellation names a request that its sender never sent, or whose answer it had read.

    Why: the receiver can do nothing with it, or stops another request with the same id.
    Fix: cancel open requests of your own only, with the id and the JSON type they were sent with.
    """
    request_id = _named(message)
    if request_id is ABSENT:
        return
    side, key = session.side(message.direction), id_key(request_id)
    request = side.open.get(key)
    if request is not None:
        _judge_open(message, session, out, request)
        return
    answered = side.answered.get(key)
    if answered is not None:
        _judge_answered(message, session, out, answered)
    elif key in side.used or side.forgetful:
        out.undecided(message, "the request was answered long ago and is forgotten")
    elif session.knows_requests and key not in session.state(_Unfound).refused:
        _judge_unknown(message, session, out, request_id)


def _judge_open(message: Message, session: Session, out: Sheet, request: Request) -> None:
    if request.cancellation is message or request.cancellation is None:
        out.held(message)
        return
    first = request.cancellation.exchange
    if session.shared:
        out.undecided(message, MIXED)
        return
    if first is not None and first.response is None:
        out.undecided(message, "HTTP may have refused the first cancellation, or lost it")
        return
    out.broke(
        message,
        "a request is cancelled a second time",
        seen=f"the request at seq {request.seq}, cancelled at seq {request.cancellation.seq}",
        expected="one cancellation",
        severity=Outcome.WARN,
    )


def _judge_answered(message: Message, session: Session, out: Sheet, request: Request) -> None:
    if session.state(Tasks).of(request) is not None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif not _has_read_answer(request, session):
        out.undecided(message, "the answer and the cancellation may have crossed")
    else:
        out.broke(
            message,
            "a request is cancelled whose answer its sender had read",
            seen=f"the request at seq {request.seq}, answered at seq {request.answered}",
            expected="the id of an open request",
        )


def _judge_unknown(message: Message, session: Session, out: Sheet, request_id: Any) -> None:
    if session.shared:
        out.undecided(message, MIXED)
    elif session.transport is TransportKind.STDIO:
        _never_sent(message, request_id, session, out)
    else:
        early = session.state(_Unfound).early
        if len(early) < MAX_REMEMBERED:
            early.append((Spot(message.seq, message.direction), request_id))


@references_issued_request.on("odd http-response")
def _refused(head: Head, session: Session, out: Sheet) -> None:
    withdrawn = head.exchange.withdrawn if head.exchange is not None else None
    if withdrawn is not None:
        refused = session.state(_Unfound).refused
        if len(refused) < MAX_REMEMBERED:
            refused[withdrawn.key] = None


@references_issued_request.on("session-end")
def _early_at_end(end: Spot, session: Session, out: Sheet) -> None:
    for spot, request_id in session.state(_Unfound).early:
        if session.shared:
            out.undecided(spot, MIXED)
        elif id_key(request_id) in session.side(spot.direction).used:
            out.undecided(spot, "the request is recorded later, on another exchange")
        else:
            _never_sent(spot, request_id, session, out)


def _never_sent(at: Located, request_id: Any, session: Session, out: Sheet) -> None:
    other = session.side(at.direction.opposite)
    by_other = id_key(request_id) in other.used
    out.broke(
        at,
        "a cancellation names a request that its sender never sent",
        seen=f"requestId {shown(request_id)}"
        + (", the id of a request of the other side" if by_other else ""),
        expected="the id of an open request of the sender, with its JSON type",
    )


# Once for all checks of this page.
references_issued_request.on(*TASK_EVENTS)(follow_tasks)


@dataclass(slots=True)
class _Initialized:
    """Ids of the client's initialize requests."""

    keys: set[IdKey] = field(default_factory=set)


@check(
    "cancellation.initialize-not-cancelled",
    on=_NOTIFICATION,
    subject="cancellation by the client",
)
def initialize_not_cancelled(message: Message, session: Session, out: Sheet) -> None:
    """The client cancels its initialize request.

    Why: without the handshake there is no session in which a notification means anything.
    Fix: close the connection instead.
    """
    request_id = _named(message)
    if message.direction is not _C2S or request_id is ABSENT:
        return
    key = id_key(request_id)
    current = session.client.open.get(key)
    is_other = current is not None and current.method != INITIALIZE
    if key not in session.state(_Initialized).keys or is_other:
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    else:
        out.broke(
            message,
            "the client cancels its initialize request",
            seen=f"requestId {shown(request_id)}",
            expected="no cancellation of initialize",
        )


@initialize_not_cancelled.on(f"request:{INITIALIZE}")
def _initializes(message: Message, session: Session, out: Sheet) -> None:
    keys = session.state(_Initialized).keys
    if message.direction is _C2S and len(keys) < MAX_REMEMBERED:
        keys.add(message.key)


@check(
    "cancellation.task-cancelled-by-request",
    on=_NOTIFICATION,
    subject="cancellation of a task-augmented request",
)
def task_cancelled_by_request(message: Message, session: Session, out: Sheet) -> None:
    """A task is cancelled by notification instead of by tasks/cancel.

    Why: the request is answered already, so the notification is ignored and the task runs on.
    Fix: send tasks/cancel with the taskId of the CreateTaskResult.
    """
    side, key = session.side(message.direction), id_key(_named(message))
    request = side.open.get(key) or side.answered.get(key)
    if request is None or not _is_task_request(request, session):
        return
    task = session.state(Tasks).of(request)
    if request.answered is not None and task is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
        return
    knows_task = task is not None and _has_read_answer(request, session)
    out.broke(
        message,
        "a task-augmented request is cancelled by notification",
        seen=f"the request at seq {request.seq}, "
        + (f"whose task was made at seq {task.created}" if task else "not yet answered"),
        expected="tasks/cancel with the id of the task",
        # Without the task's id there is nothing else that the sender could do.
        severity=None if knows_task else Outcome.WARN,
    )


@task_cancelled_by_request.on("request:tasks/cancel")
def _cancelled_properly(message: Message, session: Session, out: Sheet) -> None:
    out.held(message)


@check(
    "cancellation.no-response-after-cancellation",
    on=("result", "error"),
    subject="cancelled request",
    any_input=False,
)
def no_response_after_cancellation(message: Message, session: Session, out: Sheet) -> None:
    """A request is answered after its cancellation was read.

    Why: its sender has forgotten the id, and some take the answer for a fault of the connection.
    Fix: send nothing for a cancelled request, not even an error that says so.
    """
    request = message.request
    if request is None or request.cancellation is None or not _may_stay_unanswered(request):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif not (_says_cancelled(message) or _has_read_cancellation(request, session)):
        out.undecided(message, "the answer and the cancellation may have crossed")
    else:
        out.broke(
            message,
            "a cancelled request is answered",
            seen=f"an answer to the request cancelled at seq {request.cancellation.seq}",
            expected="no answer",
        )


@no_response_after_cancellation.on("client lifecycle")
def _breaks_off(event: Event, session: Session, out: Sheet) -> None:
    if event.fields.get("event") == Lifecycle.ABORT and event.exchange is not None:
        # It may be the exchange that would have carried the answer.
        session.state(_Unseen).requests.update(r.seq for r in _cancelled_open(session))


@no_response_after_cancellation.on("session-end")
def _never_answered(end: Spot, session: Session, out: Sheet) -> None:
    unseen = session.state(_Unseen).requests
    for request in _cancelled_open(session):
        at = Spot(end.seq, request.direction.opposite)
        if request.direction is _C2S and request.seq in unseen:
            out.undecided(at, "the client left before an answer could come")
        elif _has_read_cancellation(request, session) or _was_accepted(request):
            out.held(at)
        else:
            out.undecided(at, "nothing shows that the cancellation was read")


@dataclass(slots=True)
class _Unseen:
    """Cancelled requests during which the client broke off an exchange, by their seq."""

    requests: set[int] = field(default_factory=set)


def _cancelled_open(session: Session) -> Iterator[Request]:
    for side in (session.client, session.server):
        for request in side.open.values():
            if request.cancellation is not None and _may_stay_unanswered(request):
                yield request


def _may_stay_unanswered(request: Request) -> bool:
    """Whether a cancellation is meant to end it: neither initialize nor a task."""
    is_task = isinstance(request.params, dict) and "task" in request.params
    return request.method != INITIALIZE and not is_task


def _has_read_cancellation(request: Request, session: Session) -> bool:
    """Whether the receiver answered something that came after the cancellation."""
    cancellation = request.cancellation
    if cancellation is None or session.transport is not TransportKind.STDIO:
        return False
    return session.side(request.direction.opposite).answered_to > cancellation.seq


def _was_accepted(request: Request) -> bool:
    """Whether the server took the POST with the cancellation."""
    cancellation = request.cancellation
    if cancellation is None or cancellation.direction is not _C2S or cancellation.exchange is None:
        return False
    status = cancellation.exchange.status
    return status is not None and 200 <= status < 300


def _says_cancelled(message: Message) -> bool:
    error = message.member("error")
    if not isinstance(error, dict):
        return False
    if error_code(message) == REQUEST_CANCELLED:
        return True
    text = error.get("message")
    return isinstance(text, str) and _CANCELLED_TEXT.search(text) is not None
