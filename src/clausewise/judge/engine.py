"""Judge recorded events in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clausewise.core.results import Finding, Implementation, Verdict
from clausewise.core.vocabulary import Direction, Party, Revision, TransportKind
from clausewise.judge.dispatch import Plan, call
from clausewise.judge.exchanges import Head, Raw
from clausewise.judge.gate import MAX_WAITING, Gate, Mode
from clausewise.judge.http_sessions import HttpSessions
from clausewise.judge.ledger import Ledger, Scope, Seen, Spot
from clausewise.judge.messages import is_foreign, read_message
from clausewise.judge.registration import On, checks
from clausewise.judge.remarks import Remarks
from clausewise.judge.routing import HttpRouter, Routed, StdioRouter
from clausewise.judge.sessions import Memory, Session
from clausewise.registry import clauses
from clausewise.trace.events import Event, EventKind, Lifecycle

_C2S = Direction.CLIENT_TO_SERVER
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

    `waiting` holds its events until the gate knows its revision, then is None.
    """

    session: Session
    gate: Gate
    waiting: list[Routed] | None
    mode: Mode = Mode.NONE
    judged_messages: int = 0
    last_seq: int = 0


class Judge:
    """Judges events as they come: `feed` each, then `finish` once.

    Args:
        trace: the recording's name, for findings.
        options: how to judge.
    """

    def __init__(self, trace: str, options: JudgeOptions = JudgeOptions()) -> None:
        self._options = options
        ours = Party.CLIENT if options.as_probe else None
        party = Party.SERVER if options.as_probe else options.party
        registry = clauses(Revision.LEGACY)
        self._conditions = {c.condition for c in registry.values() if c.condition is not None}
        self._ledger = Ledger(registry, checks(), Scope(trace, party, ours))
        self._plans = self._make_plans()
        self._memory = Memory()
        self._dockets: dict[Session, _Docket] = {}
        self._sessions_made = 0
        self._stdio = StdioRouter(self._make_session, self._end_session)
        self._http_sessions = HttpSessions(self._make_session, self._end_session)
        self._http = HttpRouter(self._http_sessions)
        self._seen = Seen()
        self._remarks = Remarks()

    @property
    def live_sessions(self) -> int:
        """How many sessions are still followed."""
        return len(self._dockets)

    def feed(self, event: Event) -> None:
        """Judge one more event; never raises, whatever the event holds."""
        if event.transport is TransportKind.STDIO:
            session = self._stdio.route(event)
            self._take(Routed(session, event, None, None))
            return
        for routed in self._http.route(event):
            self._take(routed)

    def finish(self) -> JudgeResult:
        """End every session and draw the verdicts."""
        for routed in self._http.flush():
            self._take(routed)
        self._http_sessions.finish()
        self._stdio.finish()
        return JudgeResult(
            verdicts=self._ledger.verdicts(self._seen),
            revisions=self._remarks.revisions,
            notes=self._remarks.notes(self._http.lost),
            slips=self._ledger.slips(),
            server=self._remarks.server,
        )

    def _make_plans(self) -> dict[tuple[TransportKind, bool, bool], Plan]:
        return {
            (transport, handshake, provoked): Plan(
                self._ledger.sheets,
                transport,
                handshake_only=handshake,
                any_input_only=provoked,
            )
            for transport in TransportKind
            for handshake in (False, True)
            for provoked in (False, True)
        }

    def _make_session(self, transport: TransportKind, *, begun: bool) -> Session:
        self._sessions_made += 1
        session = Session(self._sessions_made, transport, self._memory, begun=begun)
        self._dockets[session] = _Docket(session, Gate(self._options.revision), [])
        return session

    def _take(self, routed: Routed) -> None:
        docket = self._dockets.get(routed.session)
        if docket is None:
            return
        if docket.waiting is None:
            if docket.gate.is_concerned(routed.event):
                self._reconsider(docket, routed)
            if docket.waiting is None:
                self._run(docket, routed)
                return
        docket.waiting.append(routed)
        settled = docket.gate.watch(routed.event, routed.exchange)
        if settled or len(docket.waiting) >= MAX_WAITING:
            self._let_through(docket)

    @staticmethod
    def _reconsider(docket: _Docket, routed: Routed) -> None:
        """A handshake in a session that was already decided about may change its revision."""
        if docket.mode is Mode.NONE and routed.event.direction is _C2S:
            docket.waiting = []
            return
        docket.gate.watch(routed.event, routed.exchange)
        docket.mode = docket.gate.mode

    def _let_through(self, docket: _Docket) -> None:
        docket.mode = docket.gate.mode
        waiting, docket.waiting = docket.waiting or [], None
        for routed in waiting:
            self._run(docket, routed)

    def _run(self, docket: _Docket, routed: Routed) -> None:
        session, event, exchange, _ = routed
        docket.last_seq = event.seq
        kind = event.kind
        if kind is EventKind.MESSAGE:
            self._run_message(docket, routed)
            return
        subject: Event | Head | Raw = event
        on = kind.value
        if kind is EventKind.HTTP:
            subject = Head(event, exchange)
            on = On.HTTP_REQUEST if event.direction is _C2S else On.HTTP_RESPONSE
            if exchange is not None and exchange.response is event:
                session.observe_response_head(exchange)
        elif kind is EventKind.RAW:
            session.observe_raw(event)
            subject = Raw(event, exchange)
        elif kind is EventKind.SSE:
            _note_event_id(routed)
        elif kind is EventKind.LIFECYCLE:
            session.closed = _LIFECYCLES.get(str(event.fields.get("event")), session.closed)
        if docket.mode is not Mode.NONE and event.injected is None:
            call(self._plan(docket).handlers(on), subject, session)

    def _run_message(self, docket: _Docket, routed: Routed) -> None:
        session, event, exchange, status = routed
        message = read_message(event, exchange, status)
        if session.transport is TransportKind.HTTP:
            if is_foreign(message, session.endpoint):
                if docket.mode is not Mode.NONE and event.injected is None:
                    call(self._plan(docket).handlers(On.FOREIGN), message, session)
                return
            if session.is_replay(message):
                return
        session.observe(message)
        request = message.request
        if docket.mode is Mode.NONE or event.injected is not None:
            return
        docket.judged_messages += 1
        method = message.method
        if message.is_response:
            method = request.method if request is not None else None
        plan = self._plan(docket, provoked=message.provoked)
        call(plan.handlers(message.kind.value, method), message, session)

    def _plan(self, docket: _Docket, *, provoked: bool = False) -> Plan:
        handshake = docket.mode is Mode.HANDSHAKE
        return self._plans[docket.session.transport, handshake, provoked]

    def _end_session(self, session: Session) -> None:
        docket = self._dockets.pop(session)
        if docket.waiting is not None:
            self._let_through(docket)
        self._remarks.session_ended(session, docket.gate, was_heard=docket.judged_messages > 0)
        if docket.mode is Mode.NONE:
            return
        call(self._plan(docket).handlers(On.SESSION_END), Spot(docket.last_seq, _C2S), session)
        if docket.judged_messages:
            self._seen.count(session, self._conditions)


def _note_event_id(routed: Routed) -> None:
    event_id = routed.event.fields.get("id")
    if routed.exchange is not None and isinstance(event_id, str):
        routed.exchange.event_id = event_id


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
    for event in events:
        judging.feed(event)
    return judging.finish()
