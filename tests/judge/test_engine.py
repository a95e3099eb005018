"""The engine: revisions, parties, drivers, crashes, bounds, and any input at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausewise.core.results import Implementation, Verdict
from clausewise.core.vocabulary import Direction, Outcome, Party, Revision, TransportKind
from clausewise.judge import registration
from clausewise.judge.checks import base_messages
from clausewise.judge.engine import Judge, JudgeOptions, JudgeResult, judge
from clausewise.judge.gate import MAX_WAITING
from clausewise.judge.ledger import MAX_FINDINGS, Sheet
from clausewise.judge.registration import Check, On, Subscription
from clausewise.registry import clauses
from clausewise.trace.events import FIELDS, Event, EventKind, Lifecycle

C2S = Direction.CLIENT_TO_SERVER
S2C = Direction.SERVER_TO_CLIENT


class Script:
    """Builds a stdio recording, one event a call."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def say(self, direction: Direction, payload: Any, injected: str | None = None) -> Script:
        if isinstance(payload, dict):
            payload = {"jsonrpc": "2.0", **payload}
        self.events.append(
            Event(
                len(self.events),
                direction,
                TransportKind.STDIO,
                EventKind.MESSAGE,
                payload,
                injected=injected,
            )
        )
        return self

    def lifecycle(self, what: Lifecycle) -> Script:
        self.events.append(
            Event(
                len(self.events),
                C2S,
                TransportKind.STDIO,
                EventKind.LIFECYCLE,
                fields={"event": what.value},
            )
        )
        return self

    def handshake(self, requested: str = "2025-11-25", answered: str = "2025-11-25") -> Script:
        info = {"name": "n", "version": "1"}
        params = {"protocolVersion": requested, "capabilities": {}, "clientInfo": info}
        result = {"protocolVersion": answered, "capabilities": {}, "serverInfo": info}
        self.say(C2S, {"id": "init", "method": "initialize", "params": params})
        self.say(S2C, {"id": "init", "result": result})
        return self.say(C2S, {"method": "notifications/initialized"})


def judged(events: Iterable[Event], **options: Any) -> JudgeResult:
    return judge(events, trace="t", options=JudgeOptions(**options))


def verdict(result: JudgeResult, clause: str) -> Verdict:
    return next(v for v in result.verdicts if v.id == clause)


def test_there_is_one_verdict_for_each_clause_in_the_order_of_the_registry() -> None:
    result = judged(Script().handshake().events)
    assert [v.id for v in result.verdicts] == list(clauses(Revision.LEGACY))


def test_an_excluded_clause_says_why_and_a_planned_one_that_it_is_planned() -> None:
    result = judged([])
    registry = clauses(Revision.LEGACY)
    for each in result.verdicts:
        clause = registry[each.id]
        if clause.exclusion is not None:
            assert (each.outcome, each.reason) == (Outcome.EXCLUDED, clause.exclusion.reason)
        elif not set(clause.checks) & set(registration.checks()):
            assert each.reason == "no check yet: planned"
        else:
            assert each.outcome is Outcome.NOT_OBSERVED


def test_an_empty_recording_gives_no_judgement() -> None:
    result = judged([])
    assert not any(v.outcome.is_judgement for v in result.verdicts)
    assert result.revisions == ()
    assert verdict(result, "BASE-001").reason == "no session of 2025-11-25 in the recording"


def test_the_server_introduces_itself() -> None:
    assert judged(Script().handshake().events).server == Implementation("n", "1")


def test_a_session_of_another_revision_is_named_and_not_judged() -> None:
    script = Script().handshake("2025-06-18", "2025-06-18").say(C2S, {"id": True, "method": "ping"})
    result = judged(script.events)
    assert verdict(result, "BASE-001").outcome is Outcome.NOT_OBSERVED
    assert result.notes == ('session 1 speaks "2025-06-18" and is not judged by 2025-11-25',)
    assert result.revisions == ()


def test_a_modern_session_is_recognised_by_its_meta() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    script = Script().say(C2S, {"id": None, "method": "tools/list", "params": {"_meta": meta}})
    result = judged(script.events)
    assert result.revisions == (Revision.MODERN,)
    assert verdict(result, "BASE-002").outcome is Outcome.NOT_OBSERVED


def test_a_session_that_names_no_revision_is_judged() -> None:
    script = Script().say(C2S, {"id": None, "method": "tools/list"})
    assert verdict(judged(script.events), "BASE-002").outcome is Outcome.FAIL


def test_the_revision_that_the_user_names_decides_where_the_session_names_none() -> None:
    script = Script().say(C2S, {"id": None, "method": "tools/list"})
    result = judged(script.events, revision=Revision.MODERN)
    assert verdict(result, "BASE-002").outcome is Outcome.NOT_OBSERVED


def test_a_session_longer_than_the_queue_is_judged_from_its_first_event() -> None:
    script = Script().say(C2S, {"id": None, "method": "ping"})
    for number in range(MAX_WAITING + 10):
        script.say(C2S, {"id": number, "method": "ping"})
    result = judged(script.events)
    assert [f.at.seq for f in verdict(result, "BASE-002").findings if f.at] == [0]
    assert verdict(result, "BASE-002").occasions == MAX_WAITING + 11


def test_a_legacy_handshake_after_much_modern_traffic_is_judged() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    script = Script()
    for number in range(MAX_WAITING + 10):
        script.say(C2S, {"id": number, "method": "ping", "params": {"_meta": meta}})
    script.handshake().say(C2S, {"id": True, "method": "ping"})
    # Answers to the traffic before it still find their requests.
    script.say(S2C, {"id": 3, "result": {}})
    result = judged(script.events)
    assert verdict(result, "BASE-001").outcome is Outcome.FAIL
    assert verdict(result, "BASE-004").outcome is Outcome.PASS


def test_a_renegotiated_older_version_ends_the_judgement() -> None:
    script = Script().handshake().say(C2S, {"id": 1, "method": "ping"})
    info = {"name": "n", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    script.say(C2S, {"id": 2, "method": "initialize", "params": params})
    script.say(S2C, {"id": 2, "result": {**params, "serverInfo": info}})
    script.say(C2S, {"id": True, "method": "ping"})
    assert verdict(judged(script.events), "BASE-001").outcome is Outcome.PASS


def test_only_the_wanted_party_is_reported() -> None:
    script = Script().handshake().say(C2S, {"id": True, "method": "ping"})
    result = judged(script.events, party=Party.SERVER)
    assert verdict(result, "BASE-001").outcome is Outcome.NOT_OBSERVED
    assert verdict(result, "LIFE-002").outcome is Outcome.NOT_APPLICABLE
    assert verdict(result, "LIFE-010").outcome is Outcome.PASS


def test_a_fault_of_our_own_probe_is_a_slip() -> None:
    script = Script().handshake().say(C2S, {"id": True, "method": "ping"})
    result = judged(script.events, as_probe=True)
    assert [(s.check, s.at and s.at.seq) for s in result.slips] == [("base.request-id-type", 3)]
    assert not any(v.findings for v in result.verdicts)


def test_a_deliberate_fault_of_our_own_probe_is_no_slip() -> None:
    script = Script().handshake().say(C2S, {"id": True, "method": "ping"}, injected="bad id")
    script.say(S2C, {"error": {"code": "x", "message": "bad id"}})
    result = judged(script.events, as_probe=True)
    assert result.slips == ()
    assert [v.id for v in result.verdicts if v.findings] == ["BASE-007"]


def test_findings_beyond_the_bound_are_counted() -> None:
    script = Script().handshake()
    for _ in range(MAX_FINDINGS + 5):
        script.say(C2S, {"id": None, "method": "ping"})
    found = verdict(judged(script.events), "BASE-002")
    assert len(found.findings) == MAX_FINDINGS
    assert found.reason == "5 more findings are not listed"
    assert found.occasions == MAX_FINDINGS + 6


def test_a_finding_names_clause_party_place_and_remedy() -> None:
    script = Script().handshake().say(S2C, {"id": 9, "result": {}})
    (finding,) = verdict(judged(script.events), "BASE-004").findings
    assert finding.party is Party.SERVER
    assert finding.at is not None
    assert (finding.at.trace, finding.at.seq) == ("t", 3)
    assert finding.url == clauses(Revision.LEGACY)["BASE-004"].url
    assert finding.fix == registration.checks()["base.result-id-matches"].fix


def test_a_check_that_raises_crashes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(event: object, session: object, out: Sheet) -> None:
        raise ValueError("boom")

    check: Check = base_messages.request_id_not_null
    broken = replace(check, subscriptions=[Subscription(On.REQUEST, None, raises)])
    monkeypatch.setattr(
        "clausewise.judge.engine.checks", lambda: {**registration.checks(), check.name: broken}
    )
    result = judged(Script().handshake().events)
    assert verdict(result, "BASE-002").outcome is Outcome.CRASHED
    assert verdict(result, "BASE-002").reason == "the check failed at seq 0: ValueError: boom"
    assert verdict(result, "BASE-001").outcome is Outcome.PASS


def test_closed_sessions_are_forgotten() -> None:
    judging = Judge("t")
    script = Script()
    for _ in range(50):
        script.lifecycle(Lifecycle.OPEN).handshake().lifecycle(Lifecycle.CLOSE)
    for event in script.events:
        judging.feed(event)
    assert judging.live_sessions == 1
    assert verdict(judging.finish(), "LIFE-001").occasions == 50


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
METHODS = st.sampled_from(
    [
        "initialize",
        "notifications/initialized",
        "ping",
        "tools/list",
        "tools/call",
        "sampling/createMessage",
        "elicitation/create",
        "notifications/message",
        "server/discover",
    ]
)
VALUES = JSON | st.sampled_from(
    [
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "n"}},
        {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}},
        {"tools": [{"name": "a", "inputSchema": {"$ref": "#/x"}, "_meta": {"/": 1}}]},
        {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "-": 1}},
    ]
)
IDS: st.SearchStrategy[Any] = st.sampled_from([0, 1, 1.0, "1", True, None, 1.5, [], {}, 2**70])
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": IDS | JSON,
        "method": METHODS | JSON,
        "params": VALUES,
        "result": VALUES,
        "error": st.just({"code": 1, "message": "m", "data": {"supported": ["2025-11-25", 1]}})
        | JSON,
    },
)
HEADERS = st.dictionaries(
    st.sampled_from(
        ["mcp-session-id", "MCP-Protocol-Version", "content-type", "last-event-id", "x"]
    ),
    st.sampled_from(["a", "b", "text/event-stream", "2025-11-25", "2026-07-28"]) | JSON,
    max_size=3,
)
FIELD_VALUES = {
    "headers": HEADERS | JSON,
    "status": st.sampled_from([200, 202, 400, 401, 404]) | JSON,
    "method": st.sampled_from(["POST", "GET", "DELETE"]) | JSON,
    "path": st.sampled_from(["/mcp", "/other"]) | JSON,
    "event": st.sampled_from([e.value for e in Lifecycle]) | JSON,
    "id": st.sampled_from(["e1", "e2"]) | JSON,
}
LABELS: st.SearchStrategy[Any] = st.none() | st.sampled_from([1, 2, "x"]) | JSON


@st.composite
def recordings(draw: st.DrawFn) -> list[Event]:
    return list(_drawn_events(draw, draw(st.integers(0, 14))))


def _drawn_events(draw: st.DrawFn, count: int) -> Iterator[Event]:
    for seq in range(count):
        kind = draw(
            st.sampled_from([EventKind.MESSAGE] * 4 + [k for k in EventKind if k in FIELDS])
        )
        fields: dict[str, Any] = {}
        payload = None
        if kind is EventKind.MESSAGE:
            payload = draw(MESSAGES | st.lists(MESSAGES, max_size=3) | JSON)
        else:
            for name in sorted(FIELDS[kind]):
                if draw(st.booleans()):
                    fields[name] = draw(FIELD_VALUES.get(name, JSON))
        yield Event(
            seq,
            draw(st.sampled_from(Direction)),
            draw(st.sampled_from(TransportKind)),
            kind,
            payload,
            fields,
            draw(LABELS),
            draw(LABELS),
            draw(LABELS),
            None,
            draw(st.none() | st.just("on purpose")),
        )


@settings(max_examples=300, deadline=None)
@given(recordings())
def test_any_events_in_any_order_are_judged_without_a_crash(events: list[Event]) -> None:
    result = judged(events)
    crashed = [v for v in result.verdicts if v.outcome is Outcome.CRASHED]
    assert crashed == []
    assert judged(events) == result


def test_deep_nesting_is_judged_without_a_crash() -> None:
    schema: Any = {}
    content: Any = []
    for _ in range(900):
        schema = {"properties": {"a": schema}}
        content = [{"type": "tool_result", "content": content}]
    script = Script().handshake()
    script.say(C2S, {"id": 1, "method": "tools/list", "params": schema})
    script.say(S2C, {"id": 1, "result": {"tools": [{"name": "a", "inputSchema": schema}]}})
    sampling = {"messages": [{"role": "user", "content": content}]}
    script.say(S2C, {"id": 1, "method": "sampling/createMessage", "params": sampling})
    result = judged(script.events)
    assert [v.reason for v in result.verdicts if v.outcome is Outcome.CRASHED] == []


def test_text_that_is_no_unicode_is_judged_without_a_crash() -> None:
    script = Script().handshake()
    tool = {
        "name": "\ud800",
        "inputSchema": {"type": "\ud800", "\ud800": 1},
        "_meta": {"\ud800": 1},
    }
    script.say(C2S, {"id": "\ud800", "method": "tools/list"})
    script.say(S2C, {"id": "\ud800", "result": {"tools": [tool]}})
    result = judged(script.events)
    assert [v.reason for v in result.verdicts if v.outcome is Outcome.CRASHED] == []
    assert verdict(result, "BASE-020").outcome is Outcome.FAIL


def test_a_revision_that_a_server_refuses_throughout_is_not_spoken() -> None:
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    script = Script().say(C2S, {"id": 1, "method": "server/discover", "params": meta})
    script.say(S2C, {"id": 1, "error": {"code": -32601, "message": "Method not found"}})
    result = judge(script.events, trace="t")
    assert result.revisions == ()
    assert result.notes == ('session 1 asks for "2026-07-28" and gets no result',)
