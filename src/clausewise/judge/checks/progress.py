"""Progress: tokens of requests, and the notifications that report on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.ordering import Sent, sent, surely_later
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.progress_tokens import Series, Tokens, is_open, token_of
from clausewise.judge.subjects.task_statuses import TASK_EVENTS, Task, Tasks, follow_tasks
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.jsonrpc import id_key, same_id, valid_id
from clausewise.wire.meta import META_RELATED_TASK

IN_PROGRESS = "PROG-013"
TASK_STOPS = "PROG-016"
STOPS = "PROG-019"
MAX_DOUBTS = 1000
"""Reused tokens of a session that wait for word of the task that had them first."""

_PROGRESS = "notification:notifications/progress"
_AMBIGUOUS = "two active requests offered the same token"
_UNORDERED = "nothing shows which of the two was sent first: they came on different streams"


@check(
    "progress.token-string-or-integer",
    on=("meta request", _PROGRESS),
    subject="progress token",
)
def token_string_or_integer(message: Message, session: Session, out: Sheet) -> None:
    """A progress token is neither a string nor an integer.

    Why: the other side cannot match progress with the request, and may refuse the request.
    Fix: use a string or an integer, such as the id of the request.
    """
    if message.request is not None:
        token = token_of(message.request.params)
        if token is ABSENT:
            return
    else:
        token = message.params.get("progressToken", ABSENT)
    if valid_id(token):
        out.held(message)
    else:
        out.broke(
            message,
            "a progress token is neither a string nor an integer",
            seen=f"progressToken {shown(token)}",
            expected="a string or an integer",
        )


@dataclass(slots=True)
class _Reuses:
    """Tokens reused while a task may still have them: where, and the task."""

    doubts: list[tuple[Spot, Task]] = field(default_factory=list)


@check(
    "progress.token-unique-among-active-requests",
    on="meta request",
    subject="second progress token of a sender",
)
def token_unique_among_active_requests(message: Message, session: Session, out: Sheet) -> None:
    """A progress token is offered again while another request of the sender still has it.

    Why: the sender cannot tell which of the two requests makes progress.
    Fix: take a new token for each request, such as its id.
    """
    request = message.request
    if request is None:
        return
    token = token_of(request.params)
    if token is ABSENT or not valid_id(token):
        return
    tokens = session.state(Tokens)
    former = tokens.offer(request, token, message.exchange)
    if former is None:
        if tokens.offered[request.direction] > 1:
            out.held(message)
    elif former.request.key != request.key:
        if _is_maybe_active(former.request, session):
            tokens.share(request, token, former.request)
        _judge_reuse(message, session, out, former.request)


def _is_maybe_active(request: Request, session: Session) -> bool:
    """Whether progress may still come for `request`, or be on its way, cancelled or not."""
    task = session.state(Tasks).of(request)
    return is_open(request, session) if task is None else task.ended is None


def _judge_reuse(message: Message, session: Session, out: Sheet, former: Request) -> None:
    task = session.state(Tasks).of(former)
    if former.cancellation is None and is_open(former, session):
        if session.shared:
            out.undecided(message, MIXED)
        else:
            _reused(message, f"the request at seq {former.seq} is still unanswered", out)
    elif task is None or task.ended is not None:
        out.held(message)
    else:
        doubts = session.state(_Reuses).doubts
        if len(doubts) < MAX_DOUBTS:
            doubts.append((Spot(message.seq, message.direction), task))


@token_unique_among_active_requests.on("batch")
def _offered_in_batch(message: Message, session: Session, out: Sheet) -> None:
    # The array is a fault of its own; its tokens only must not seem unknown later.
    opened = session.side(message.direction).open
    for element in message.payload:
        if isinstance(element, dict) and "id" in element:
            request = opened.get(id_key(element["id"]))
            token = token_of(request.params) if request is not None else ABSENT
            if request is not None and valid_id(token):
                session.state(Tokens).offer(request, token)


@token_unique_among_active_requests.on("session-end")
def _reuses_at_end(end: Spot, session: Session, out: Sheet) -> None:
    for spot, task in session.state(_Reuses).doubts:
        if task.alive_at > spot.seq and not session.shared:
            _reused(spot, f"the task of the request at seq {task.request.seq} is not over", out)
        else:
            out.undecided(spot, "nothing shows whether the task with this token is over")


def _reused(at: Message | Spot, why: str, out: Sheet) -> None:
    out.broke(
        at,
        "a progress token is offered again while it is in use",
        seen=f"the same token: {why}",
        expected="a token that no active request of this sender has",
    )


@check(
    "progress.value-strictly-increases",
    on=_PROGRESS,
    subject="second progress notification for a token",
)
def value_strictly_increases(message: Message, session: Session, out: Sheet) -> None:
    """A progress value does not increase.

    Why: a progress bar stands still or jumps back, and a client that takes rising values for a
    sign of life may end the request.
    Fix: report each value once, each greater than the one before; do not repeat the last one.
    """
    value = message.params.get("progress", ABSENT)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        out.broke(
            message,
            "a progress value is no number",
            seen=f"progress {shown(value)}",
            expected="a number greater than the one before",
        )
        return
    series = session.state(Tokens).of(message)
    if series is None:
        return
    before, at = series.value, series.at
    series.value, series.at = value, sent(message)
    if before is None or at is None:
        return
    if not surely_later(message, at):
        out.undecided(message, _UNORDERED)
    elif value > before:
        out.held(message)
    elif session.shared or series.rival is not None:
        out.undecided(message, MIXED if session.shared else _AMBIGUOUS)
    else:
        out.broke(
            message,
            "a progress value does not increase",
            seen=f"progress {shown(value)} after {shown(before)} at seq {at.seq}",
            expected=f"more than {shown(before)}",
        )


@check("progress.token-issued-in-session", on=_PROGRESS, subject="progress notification")
def token_issued_in_session(message: Message, session: Session, out: Sheet) -> None:
    """Progress is reported on a token that no request of the other side offered.

    Why: the receiver has nothing to attach it to, and some end the connection.
    Fix: copy the progressToken of the request, with its JSON type; report nothing without one.
    """
    tokens = session.state(Tokens)
    if tokens.of(message) is not None:
        out.held(message)
        return
    token = message.params.get("progressToken")
    if not valid_id(token):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif tokens.forgetful:
        out.undecided(message, "so many tokens were offered that the oldest are forgotten")
    elif session.side(message.direction.opposite).has_injected:
        out.undecided(message, "a deliberate fault of the test driver may have offered the token")
    elif session.knows_requests:
        out.broke(
            message,
            "progress is reported on a token that was never offered",
            seen=f"progressToken {shown(token)}",
            expected="the progressToken of an earlier request, with its JSON type",
        )


@check(
    "progress.stops-after-completion",
    on=_PROGRESS,
    subject="progress notification for a request or task, before or after its completion",
)
def stops_after_completion(message: Message, session: Session, out: Sheet) -> None:
    """Progress is reported after the request was answered or its task ended.

    Why: the receiver has dropped the token, or gives it to another request by now.
    Fix: stop the reporter before the answer is sent.
    """
    series = session.state(Tokens).of(message)
    if series is None:
        return
    request = series.request
    task = session.state(Tasks).of(request)
    if task is not None:
        completed = task.ended
    elif request.answered is not None:
        at_home = request.answered_at_home
        completed = Sent(request.answered, series.exchange if at_home else request.answered_on)
    else:
        completed = None
        if request.cancellation is not None:
            reason = "nothing shows whether the cancelled request still runs"
            out.undecided(message, reason, clause=IN_PROGRESS)
            return
        if not is_open(request, session):
            return
    if completed is None:
        series.reported = True
        out.held(message, clause=IN_PROGRESS)
    else:
        _judge_late(message, session, out, series, completed)


def _judge_late(
    message: Message, session: Session, out: Sheet, series: Series, completed: Sent
) -> None:
    series.late = True
    task = session.state(Tasks).of(series.request)
    clauses = (IN_PROGRESS, STOPS) if task is None else (IN_PROGRESS, TASK_STOPS, STOPS)
    doubt = None
    if session.shared:
        doubt = MIXED
    elif series.rival is not None:
        doubt = _AMBIGUOUS
    elif not surely_later(message, completed):
        doubt = _UNORDERED
    for clause in clauses:
        if doubt is not None:
            out.undecided(message, doubt, clause=clause)
            continue
        out.broke(
            message,
            "progress is reported after completion",
            seen=f"a notification after seq {completed.seq}, which "
            + ("answers the request" if task is None else "shows that the task is over"),
            expected="no progress from then on",
            clause=clause,
        )


@stops_after_completion.on("session-end")
def _stopped(end: Spot, session: Session, out: Sheet) -> None:
    tokens, tasks = session.state(Tokens), session.state(Tasks)
    for series in (*tokens.replaced, *tokens.latest.values()):
        request = series.request
        if not series.reported or series.late:
            continue
        task = tasks.of(request)
        reporter = Spot(end.seq, request.direction.opposite)
        if task is None and request.answered is not None:
            out.held(reporter, clause=STOPS)
        elif task is not None and task.ended is not None:
            out.held(reporter, clause=TASK_STOPS)
            out.held(reporter, clause=STOPS)


# Once for all checks of this page.
stops_after_completion.on(*TASK_EVENTS)(follow_tasks)


@check(
    "progress.task-token-unchanged",
    on=f"meta {_PROGRESS}",
    subject="progress of a task whose request offered a token",
)
def task_token_unchanged(message: Message, session: Session, out: Sheet) -> None:
    """Progress of a task is reported on another token than that of the request which made it.

    Why: the requestor follows the task by the first token, and takes the progress for that of
    another request.
    Fix: keep the progressToken of the task-augmented request with the task, and use it until
    the task ends, also while tasks/result waits.
    """
    task = _related_task(message, session)
    token = message.params.get("progressToken")
    original = token_of(task.request.params) if task is not None else ABSENT
    if task is None or not valid_id(original) or not valid_id(token):
        return
    if same_id(token, original):
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    else:
        out.broke(
            message,
            "progress of a task is reported on another token",
            seen=f"progressToken {shown(token)}",
            expected=f"{shown(original)}, from the request at seq {task.request.seq}",
        )


def _related_task(message: Message, session: Session) -> Task | None:
    """The task of the other side's request that a notification names in its `_meta`."""
    meta = message.params.get("_meta")
    related: Any = meta.get(META_RELATED_TASK) if isinstance(meta, dict) else None
    task_id = related.get("taskId") if isinstance(related, dict) else None
    if not isinstance(task_id, str):
        return None
    return session.state(Tasks).by_key.get((message.direction.opposite, task_id))
