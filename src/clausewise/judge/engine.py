"""Judge recorded events in one pass."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from clausewise.core.results import Finding, Implementation, Verdict
from clausewise.core.vocabulary import Direction, Party, Revision, TransportKind
from clausewise.judge.dispatch import Plan, Plans, call
from clausewise.judge.gate import MAX_WAITING, Gate, Mode
from clausewise.judge.ledger import Ledger, Scope, Seen, Spot
from clausewise.judge.registration import Check, On, checks
from clausewise.judge.remarks import Remarks
from clausewise.judge.session.exchanges import Exchange, Head, Raw
from clausewise.judge.session.handshake import INITIALIZE
from clausewise.judge.session.http_sessions import HttpSessions
from clausewise.judge.session.memory import Memory
from clausewise.judge.session.messages import Message, is_foreign
from clausewise.judge.session.routing import HttpRouter, StdioRouter
from clausewise.judge.session.sessions import Session
from clausewise.judge.shapes import ShapeFaults, may_miss, owes_data
from clausewise.registry import clauses
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.wire.jsonrpc import MessageClass

COLLECTION_THRESHOLDS = (100_000, 10, 10)
"""How many objects are made before the garbage collector looks at the young ones, and how often
it then looks at older ones. It rarely finds any: what is let go of is freed at once."""

# An attribute look-up on an enum class is too slow for what is done with every event.
_C2S = Direction.CLIENT_TO_SERVER
_STDIO = TransportKind.STDIO
_MESSAGE = EventKind.MESSAGE
_HTTP_HEAD = EventKind.HTTP
_SSE = EventKind.SSE
_ERROR = MessageClass.ERROR
_REQUEST_HEAD = On.HTTP_REQUEST
_RESPONSE_HEAD = On.HTTP_RESPONSE
_CHALLENGE_HEADER = "www-authenticate"
_JUDGES_NOTHING = Mode.NONE

_Waiting = tuple[Event, Exchange | None, int | None]
_LIFECYCLES = {what.value: what for what in Lifecycle}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How to judge.

    Attributes:
        revision: the revision of sessions that name none; None: 2025-11-25.
        party: report only what this party owes; None: both.
        as_probe: the recording is of our own probe. Only the server is reported, and a
            finding about the client on an event that is no deliberate fault is a slip of ours.
    """

    revision: Revision | None = None
    party: Party | None = None
    as_probe: bool = False


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What judging a recording yields.

    Attributes:
        verdicts: one a clause of 2025-11-25, in the order of the registry.
        revisions: the revisions that sessions of the recording speak.
        notes: remarks about the recording as a whole.
        slips: faults of our own probe (`JudgeOptions.as_probe`).
        server: what the first server to introduce itself calls itself.
    """

    verdicts: tuple[Verdict, ...]
    revisions: tuple[Revision, ...]
    notes: tuple[str, ...]
    slips: tuple[Finding, ...] = ()
    server: Implementation | None = None


@dataclass(slots=True, eq=False)
class _Docket:
    """A session under judgement.

    `waiting` holds its events until the gate knows its revision, then is None. `plans` has the
    plan for after the initialization phase, and the one during it.
    """

    session: Session
    gate: Gate
    waiting: list[_Waiting] | None
    plans: tuple[Plan, Plan]
    mode: Mode = _JUDGES_NOTHING
    judged_messages: int = 0
    last_seq: int = 0


class Judge:
    """Judges events as they come: `feed` each, then `finish` once.

    Args:
        trace: the recording's name, for findings.
        options: how to judge.
        registered: the checks to judge by; None: all there are.
        on_finding: called with a clause's id and a finding about it as soon as it is made.
    """

    def __init__(
        self,
        trace: str,
        options: JudgeOptions = JudgeOptions(),
        *,
        registered: Mapping[str, Check] | None = None,
        on_finding: Callable[[str, Finding], None] | None = None,
    ) -> None:
        self._options = options
        ours = Party.CLIENT if options.as_probe else None
        party = Party.SERVER if options.as_probe else options.party
        self._wanted = None if party is None else party.direction
        registry = clauses(Revision.LEGACY)
        self._conditions = {c.condition for c in registry.values() if c.condition is not None}
        scope = Scope(trace, party, ours, on_finding)
        self._ledger = Ledger(registry, checks() if registered is None else registered, scope)
        self._plans = Plans(self._ledger.sheets)
        self._memory = Memory()
        self._dockets: dict[Session, _Docket] = {}
        self._sessions_made = 0
        self._stdio = StdioRouter(self._make_session, self._end_session)
        self._http_sessions = HttpSessions(self._make_session, self._end_session)
        self._http = HttpRouter(self._http_sessions, self._take)
        self._seen = Seen()
        self._shape_faults = ShapeFaults()
        self._remarks = Remarks()

    @property
    def live_sessions(self) -> int:
        """How many sessions are still followed."""
        return len(self._dockets)

    def feed(self, event: Event) -> None:
        """Judge one more event; never raises, whatever the event holds."""
        if event.transport is _STDIO:
            self._take(self._stdio.route(event), event, None, None)
        else:
            self._http.route(event)

    def finish(self) -> JudgeResult:
        """End every session and draw the verdicts."""
        self._http.flush()
        self._http_sessions.finish()
        self._stdio.finish()
        self._plans.book()
        return JudgeResult(
            verdicts=self._ledger.verdicts(self._seen),
            revisions=self._remarks.revisions,
            notes=(
                *self._remarks.notes(self._http.lost, self._http.older),
                *self._shape_faults.notes,
            ),
            slips=self._ledger.slips(),
            server=self._remarks.server,
        )

    def _make_session(self, transport: TransportKind, *, begun: bool) -> Session:
        self._sessions_made += 1
        session = Session(self._sessions_made, transport, self._memory, begun=begun)
        plans = self._plans.of(transport)
        self._dockets[session] = _Docket(session, Gate(self._options.revision), [], plans)
        return session

    def _take(
        self, session: Session, event: Event, exchange: Exchange | None, status: int | None
    ) -> None:
        docket = self._dockets.get(session)
        if docket is None:
            return
        if docket.waiting is None:
            if event.kind is not _MESSAGE:
                self._run_other(docket, event, exchange)
                return
            message = Message(event, exchange, status)
            if docket.gate.pending or message.method == INITIALIZE:
                self._reconsider(docket, message)
            if docket.waiting is None:
                self._run_message(docket, message)
                return
        docket.waiting.append((event, exchange, status))
        settled = docket.gate.watch(event, exchange)
        if settled or len(docket.waiting) >= MAX_WAITING:
            self._let_through(docket)

    def _reconsider(self, docket: _Docket, message: Message) -> None:
        """A handshake in a session that was already decided about may change its revision."""
        if not docket.gate.is_concerned(message.event):
            return
        if docket.mode is _JUDGES_NOTHING and message.direction is _C2S:
            docket.waiting = []
            return
        docket.gate.watch(message.event, message.exchange)
        self._settle(docket)

    def _settle(self, docket: _Docket) -> None:
        docket.mode = docket.gate.mode
        docket.plans = self._plans_for(docket)

    def _plans_for(self, docket: _Docket, *, provoked: bool = False) -> tuple[Plan, Plan]:
        is_handshake = docket.mode is Mode.HANDSHAKE
        transport = docket.session.transport
        return self._plans.of(transport, handshake_only=is_handshake, provoked=provoked)

    def _let_through(self, docket: _Docket) -> None:
        self._settle(docket)
        waiting, docket.waiting = docket.waiting or [], None
        for event, exchange, status in waiting:
            if event.kind is _MESSAGE:
                self._run_message(docket, Message(event, exchange, status))
            else:
                self._run_other(docket, event, exchange)

    def _run_message(self, docket: _Docket, message: Message) -> None:
        session, event = docket.session, message.event
        docket.last_seq = message.seq
        is_judged = docket.mode is not _JUDGES_NOTHING and event.injected is None
        if session.transport is not _STDIO:
            if is_foreign(message, session.endpoint):
                if is_judged:
                    self._show(docket, On.FOREIGN, message)
                return
            if session.is_repeated(message):
                return
        handshake = session.handshake
        was_open = handshake.is_open
        session.observe(message)
        if not is_judged:
            return
        docket.judged_messages += 1
        method, kind = message.method, message.kind
        if message.is_response:
            method = message.request.method if message.request is not None else None
        plans = self._plans_for(docket, provoked=True) if message.provoked else docket.plans
        plan = plans[was_open or handshake.is_open]
        if message.direction is _C2S:
            side, rows = session.client, plan.by_client[kind]
        else:
            side, rows = session.server, plan.by_server[kind]
        row = rows.get(method) or plan.row(message.direction, kind, method)
        if not message.is_sound:
            side.was_odd = True
            handlers = row.handlers
        elif side.was_odd or event.text is not None:
            row.sound += 1
            side.was_odd = False
            handlers = row.for_sound
        else:
            row.sound += 1
            handlers = row.for_plain if "_meta" in message.params else row.for_bare
        call(handlers, message, session)
        if message.is_sound:
            fits = row.fits
            misses = owes_data(message) if kind is _ERROR else fits and may_miss(message, fits)
            if misses and self._wanted in (None, message.direction):
                has_finding = self._ledger.faults.last_seq == message.seq
                self._shape_faults.look(message, has_finding=has_finding)

    def _run_other(self, docket: _Docket, event: Event, exchange: Exchange | None) -> None:
        """An event that is no message."""
        docket.last_seq = event.seq
        session, kind = docket.session, event.kind
        subject: Event | Head | Raw = event
        on: str = kind
        if kind is _HTTP_HEAD:
            subject = Head(event, exchange, event.seq, event.direction, event.status)
            on = _REQUEST_HEAD if event.direction is _C2S else _RESPONSE_HEAD
            if exchange is not None and exchange.response is event:
                session.observe_response_head(exchange)
        elif kind is _SSE:
            session.observe_stream_event(event, exchange)
        elif kind is EventKind.RAW:
            session.observe_raw(event)
            subject = Raw(event, exchange)
        elif kind is EventKind.LIFECYCLE:
            session.closed = _LIFECYCLES.get(str(event.fields.get("event")), session.closed)
        if docket.mode is _JUDGES_NOTHING or event.injected is not None:
            return
        if kind is not _HTTP_HEAD or exchange is None:
            self._show(docket, on, subject)
        elif exchange.is_usual_post and exchange.path == session.endpoint:
            plan = docket.plans[session.handshake.is_open]
            call(plan.row(event.direction, on, exchange.method).for_plain, subject, session)
        else:
            self._show(docket, on, subject, exchange.method)
        if on is _RESPONSE_HEAD and event.header(_CHALLENGE_HEADER) is not None:
            self._show(docket, On.CHALLENGE, subject)

    @staticmethod
    def _show(
        docket: _Docket,
        on: str,
        subject: Event | Head | Raw | Message | Spot,
        method: str | None = None,
    ) -> None:
        plan = docket.plans[docket.session.handshake.is_open]
        handlers = plan.row(subject.direction, on, method).handlers
        if handlers:
            call(handlers, subject, docket.session)

    def _end_session(self, session: Session) -> None:
        docket = self._dockets.pop(session)
        if docket.waiting is not None:
            self._let_through(docket)
        self._remarks.session_ended(session, docket.gate, was_heard=docket.judged_messages > 0)
        if docket.mode is not _JUDGES_NOTHING:
            self._show(docket, On.SESSION_END, Spot(docket.last_seq, _C2S))
            if docket.judged_messages:
                self._seen.count(session, self._conditions)
        session.forget()


def judge(
    events: Iterable[Event], *, trace: str, options: JudgeOptions = JudgeOptions()
) -> JudgeResult:
    """Judge a whole recording by the clauses of 2025-11-25.

    Args:
        events: its events, in order.
        trace: its name, for findings.
        options: how to judge.

    The same events give the same result: no clock, network or randomness is used.
    """
    judging = Judge(trace, options)
    with _seldom_collecting():
        for event in events:
            judging.feed(event)
    return judging.finish()


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Look for cyclic garbage less often: by default that takes a fifth of the time of judging.

    Python counts the objects made, and each event makes many that live for a while.
    """
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(*COLLECTION_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
