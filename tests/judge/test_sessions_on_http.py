"""Telling sessions and exchanges apart in an HTTP recording."""

from __future__ import annotations

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Outcome, TransportKind
from clausewise.judge.engine import Judge, JudgeResult, judge
from clausewise.judge.session.http_sessions import MAX_LIVE_SESSIONS, HttpSessions
from clausewise.judge.session.memory import Memory
from clausewise.judge.session.sessions import Session
from tests.judge.notation import events_of

PARAMS = (
    '{"protocolVersion": "2025-11-25", "capabilities": {}, '
    '"clientInfo": {"name": "n", "version": "1"}}'
)
RESULT = (
    '{"protocolVersion": "2025-11-25", "capabilities": {}, '
    '"serverInfo": {"name": "n", "version": "1"}}'
)
NAMED = '"mcp-protocol-version": "2025-11-25"'


def judged(lines: str) -> JudgeResult:
    return judge(events_of(lines, http=True), trace="t")


def verdict(result: JudgeResult, clause: str) -> Verdict:
    return next(v for v in result.verdicts if v.id == clause)


def test_an_accepted_delete_ends_the_session() -> None:
    judging = Judge("t")
    lines = f"""
handshake
client@1 http DELETE /mcp {{"mcp-session-id": "s1", {NAMED}}}
server@1 http 200 {{}}
"""
    for event in events_of(lines, http=True):
        judging.feed(event)
    assert judging.live_sessions == 0


def test_a_refused_delete_leaves_the_session_alive() -> None:
    judging = Judge("t")
    lines = f"""
handshake
client@1 http DELETE /mcp {{"mcp-session-id": "s1", {NAMED}}}
server@1 http 405 {{}}
"""
    for event in events_of(lines, http=True):
        judging.feed(event)
    assert judging.live_sessions == 1


def test_the_recorders_label_tells_sessions_apart_where_no_ids_do() -> None:
    lines = "\n".join(
        f"""
client@{tag}1#{tag} http POST /mcp {{}}
client@{tag}1#{tag}: {{"id": 0, "method": "initialize", "params": {PARAMS}}}
server@{tag}1#{tag} http 200 {{"content-type": "application/json"}}
server@{tag}1#{tag}: {{"id": 0, "result": {RESULT}}}
client@{tag}2#{tag} http POST /mcp {{{NAMED}}}
client@{tag}2#{tag}: {{"id": 1, "method": "ping"}}
server@{tag}2#{tag} http 200 {{"content-type": "application/json"}}
server@{tag}2#{tag}: {{"id": 1, "result": {{}}}}
"""
        for tag in ("a", "b")
    )
    result = judged(lines)
    assert verdict(result, "BASE-003").outcome is Outcome.PASS
    assert verdict(result, "BASE-004").occasions == 4


def test_messages_of_no_known_session_are_not_judged_but_told() -> None:
    lines = f"""
handshake
client@2 http POST /mcp {{"mcp-session-id": "other", {NAMED}}}
client@2: {{"id": 1, "method": "ping"}}
server: {{"id": 77, "result": {{}}}}
"""
    result = judged(lines)
    assert verdict(result, "BASE-004").outcome is Outcome.PASS
    (note,) = result.notes
    assert note.startswith("not judged: 1 message from servers")


def test_an_unknown_session_id_begins_a_session_in_its_middle() -> None:
    lines = f"""
client@1 http POST /mcp {{"mcp-session-id": "old", {NAMED}}}
client@1: {{"id": 8, "method": "ping"}}
server@1 http 200 {{"content-type": "text/event-stream"}}
server@1: {{"id": 7, "result": {{}}}}
server@1: {{"id": 8, "result": {{}}}}
"""
    found = verdict(judged(lines), "BASE-004")
    assert (found.outcome, found.occasions) == (Outcome.PASS, 1)


def test_an_initialize_request_refused_by_http_leaves_the_next_one_alone() -> None:
    lines = f"""
client@1 http POST /mcp {{}}
client@1: {{"id": 0, "method": "initialize", "params": {PARAMS}}}
server@1 http 503 {{}}
client@2 http POST /mcp {{}}
client@2: {{"id": 0, "method": "initialize", "params": {PARAMS}}}
server@2 http 200 {{"content-type": "application/json"}}
server@2: {{"id": 0, "result": {RESULT}}}
client@3 http POST /mcp {{{NAMED}}}
client@3: {{"id": 0, "method": "ping"}}
"""
    # Only one session was opened, so the reuse of 0 in it is certain.
    assert verdict(judged(lines), "BASE-003").outcome is Outcome.FAIL


def test_a_body_recorded_after_other_events_still_finds_its_exchange() -> None:
    lines = f"""
client@1 http POST /mcp {{}}
client@2 http OPTIONS /mcp {{}}
client@1: {{"id": 0, "method": "initialize", "params": {PARAMS}}}
server@1 http 200 {{"content-type": "application/json", "mcp-session-id": "s"}}
server@1: {{"id": 0, "result": {RESULT}}}
client@3 http POST /mcp {{"mcp-session-id": "s", {NAMED}}}
client@3: {{"method": "notifications/initialized"}}
"""
    result = judged(lines)
    assert verdict(result, "LIFE-001").outcome is Outcome.PASS
    assert verdict(result, "LIFE-003").outcome is Outcome.PASS
    assert verdict(result, "LIFE-018").outcome is Outcome.PASS


def test_traffic_of_the_modern_era_keeps_out_of_legacy_sessions() -> None:
    meta = '{"io.modelcontextprotocol/protocolVersion": "2026-07-28"}'
    lines = f"""
client@1 http POST /mcp {{}}
client@1: {{"id": 0, "method": "initialize", "params": {PARAMS}}}
server@1 http 200 {{"content-type": "application/json"}}
server@1: {{"id": 0, "result": {RESULT}}}
client@2 http POST /mcp {{"mcp-protocol-version": "2026-07-28", "mcp-method": "ping"}}
client@2: {{"id": 0, "method": "ping", "params": {{"_meta": {meta}}}}}
server@2 http 200 {{"content-type": "application/json"}}
server@2: {{"id": 0, "result": {{}}}}
"""
    result = judged(lines)
    assert [v.id for v in result.verdicts if v.findings] == []
    assert [r.value for r in result.revisions] == ["2025-11-25", "2026-07-28"]


def test_sessions_beyond_the_bound_are_ended() -> None:
    memory = Memory()
    ended: list[Session] = []

    def make(transport: TransportKind, *, begun: bool) -> Session:
        return Session(0, transport, memory, begun=begun)

    sessions = HttpSessions(make, ended.append)
    first = sessions.with_id("0")
    for number in range(1, MAX_LIVE_SESSIONS + 1):
        sessions.with_id(str(number))
    assert len(ended) == MAX_LIVE_SESSIONS // 2
    assert ended[0] is first
    assert sessions.with_id("0") is not first
