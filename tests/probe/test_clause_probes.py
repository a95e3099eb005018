"""Probes of clauses of 2025-11-25: what each says of servers that keep and break them."""

from __future__ import annotations

import pytest

from clausewise import registry
from clausewise.core.vocabulary import Era, Outcome, Party, Revision
from clausewise.judge.registration import checks
from clausewise.probe.clause_registration import clause_probes
from clausewise.probe.options import ProbeOptions
from clausewise.probe.registration import probes
from clausewise.probe.subjects.slow_tools import NO_SLOW_TOOL
from clausewise.reference.options import ServerLimits, ServerOptions
from tests.probe.clause_probing import on_fake, on_reference, on_stdio, verdicts
from tests.probe.fake_server import JSON_TYPE, SSE_TYPE, Fault, Reply, Request
from tests.probe.legacy_replies import legacy, result, stateless_legacy

CLAUSES = registry.clauses(Revision.LEGACY)
NAMES = tuple(clause_probes())
OVER_HTTP_ONLY = {name for name, one in clause_probes().items() if len(one.transports) == 1}
OF_PROTECTED_SERVERS = {name for name in NAMES if name.startswith("auth.")}
LEFT_TO_CHECKS = {
    "base.text-id",
    "base.failures-keep-the-id",
    "completion.unknown-prompt",
    "elicitation.complete-to-one-client",
    "elicitation.of-a-declining-user",
    "lifecycle.undeclared-feature",
    "logging.unknown-level",
    "pagination.unknown-cursor",
    "prompts.missing-argument",
    "cancellation.takes-effect",
    "transport.resumed-stream",
    "transport.unsupported-version",
}
ANNOUNCING = frozenset({"announce_lists"})
PASS, FAIL = Outcome.PASS, Outcome.FAIL
UNSEEN, BESIDE = Outcome.NOT_OBSERVED, Outcome.NOT_APPLICABLE


def simple(request: Request, _right: Reply) -> Reply:
    return legacy(request)


def test_the_registry_names_each_probe_of_a_clause_and_no_other() -> None:
    named = {name for clause in CLAUSES.values() for name in clause.probes}
    assert named == set(NAMES)
    assert named.isdisjoint(checks())


def test_a_probe_decides_clauses_that_bind_servers() -> None:
    for clause in CLAUSES.values():
        assert not clause.probes or Party.SERVER in clause.binds, clause.id


def test_each_probe_says_what_is_wrong_why_it_matters_and_how_to_fix_it() -> None:
    for probe in clause_probes().values():
        parts = probe.documentation
        assert parts.summary.endswith("."), probe.name
        assert (len(parts.why) > 20, len(parts.fix) > 20) == (True, True), probe.name


def test_a_probe_that_gives_way_to_a_rule_names_one_that_has_a_probe() -> None:
    rules = {probe.same_as for probe in clause_probes().values()} - {None}
    assert rules
    assert rules <= set(probes())


def test_the_right_server_keeps_every_clause_over_http() -> None:
    seen = on_reference(*NAMES, call_tools=ANNOUNCING)
    outcomes = {name: one.outcome for name, one in seen.items()}
    left = LEFT_TO_CHECKS | {"base.notification-unanswered"}
    kept = set(NAMES) - left - OF_PROTECTED_SERVERS - {"lifecycle.cancelled-when-given-up"}
    assert {name for name, outcome in outcomes.items() if outcome is PASS} == kept
    assert {outcomes[name] for name in OF_PROTECTED_SERVERS} == {BESIDE}
    unseen = {name: seen[name].reason for name in NAMES if outcomes[name] is UNSEEN}
    assert {name for name, reason in unseen.items() if reason is None} == left
    assert "--call-tool" in (unseen["lifecycle.cancelled-when-given-up"] or "")


def test_the_right_server_keeps_every_clause_on_stdio() -> None:
    names = [name for name in NAMES if name not in OVER_HTTP_ONLY]
    seen = on_stdio(*names)
    kept = set(names) - LEFT_TO_CHECKS - {"lifecycle.cancelled-when-given-up"}
    assert {name for name, one in seen.items() if one.outcome is PASS} == kept
    assert not [name for name, one in seen.items() if one.faults]


@pytest.mark.parametrize(
    ("defect", "name", "outcome"),
    [
        ("responses-by-id-alone", "base.answers-of-own-session", FAIL),
        ("ping-behind-tools", "ping.prompt-while-busy", FAIL),
        ("cancellation-ignored", "cancellation.takes-effect", FAIL),
        ("legacy-foreign-origin-served", "transport.foreign-origin-refused", FAIL),
        ("legacy-foreign-origin-served", "transport.foreign-origin-forbidden", UNSEEN),
        ("legacy-foreign-origin-400", "transport.foreign-origin-refused", PASS),
        ("legacy-foreign-origin-400", "transport.foreign-origin-forbidden", FAIL),
        ("legacy-foreign-host-served", "transport.foreign-host-refused", FAIL),
        ("bound-to-all-interfaces", "transport.bound-to-loopback", FAIL),
    ],
)
def test_the_faults_of_an_audit_are_found(defect: str, name: str, outcome: Outcome) -> None:
    assert on_reference(name, defects=(defect,))[name].outcome is outcome


def test_an_id_that_two_sessions_share_is_told_with_what_came_instead() -> None:
    name = "base.answers-of-own-session"
    (fault,) = on_reference(name, defects=("responses-by-id-alone",))[name].faults
    assert "another session's request" in fault.message
    assert fault.seen == "the result of tools/call for a ping"


def test_a_host_that_is_foreign_is_told_for_information() -> None:
    name = "transport.foreign-host-refused"
    (fault,) = on_reference(name, defects=("legacy-foreign-host-served",))[name].faults
    assert fault.severity is Outcome.INFO


def test_a_server_that_cancels_what_it_gives_up_keeps_the_clause() -> None:
    name = "lifecycle.cancelled-when-given-up"
    impatient = ServerLimits(ask_s=0.2)
    assert on_reference(name, limits=impatient)[name].outcome is PASS
    silent = on_reference(name, defects=("given-up-without-cancelling",))[name]
    assert silent.outcome is FAIL
    assert "neither answered nor cancelled" in silent.faults[0].seen


def test_without_a_slow_tool_the_hint_says_how_to_name_one() -> None:
    for name in ("ping.prompt-while-busy", "cancellation.takes-effect"):
        one = on_fake(simple, name)[name]
        assert (one.outcome, one.reason) == (UNSEEN, NO_SLOW_TOOL)
    assert "--call-tool" in NO_SLOW_TOOL


def test_without_a_slow_tool_two_sessions_are_compared_by_lists() -> None:
    name = "base.answers-of-own-session"
    one = on_fake(simple, name)[name]
    assert one.outcome in (PASS, UNSEEN)
    assert not one.faults


def test_a_message_that_reaches_nobody_shows_nothing_of_streams() -> None:
    name = "transport.one-stream-for-each-message"
    one = on_reference(name)[name]
    assert one.outcome is UNSEEN
    assert "--call-tool" in (one.reason or "")


def test_a_server_with_one_stream_a_session_is_not_asked_for_two() -> None:
    name = "transport.one-stream-for-each-message"
    one = on_fake(simple, name)[name]
    assert one.reason == "the server has one stream at a time for a session, or none"


def test_a_server_without_sessions_has_no_session_to_require_or_end() -> None:
    names = ("transport.session-id-required", "transport.ended-session-gone")
    seen = on_fake(stateless_legacy, *names)
    assert {one.outcome for one in seen.values()} == {BESIDE}


def test_a_server_that_serves_requests_without_the_id_does_not_require_it() -> None:
    def lenient(request: Request, right: Reply) -> Reply:
        reply = legacy(request)
        return stateless_legacy(request, right) if reply.status == 400 else reply

    name = "transport.session-id-required"
    one = on_fake(lenient, name)[name]
    assert (one.outcome, one.reason) == (BESIDE, "the server does not require the session's id")


def test_a_server_that_ends_no_sessions_is_not_asked_for_one_that_ended() -> None:
    def keeping(request: Request, _right: Reply) -> Reply:
        return Reply(status=405, headers=()) if request.http_method == "DELETE" else legacy(request)

    name = "transport.ended-session-gone"
    assert on_fake(keeping, name)[name].outcome is BESIDE


def test_a_stream_that_a_foreign_page_may_open_breaks_the_clause() -> None:
    def half(request: Request, _right: Reply) -> Reply | None:
        if request.http_method == "GET":
            return Reply((), headers=SSE_TYPE)
        if request.headers.get("origin"):
            return Reply(status=403, headers=())
        return legacy(request)

    names = ("transport.foreign-origin-refused", "transport.foreign-origin-forbidden")
    seen = on_fake(half, *names)
    assert [seen[name].outcome for name in names] == [FAIL, PASS]


@pytest.mark.parametrize("status", [401, 429])
def test_a_refusal_for_another_cause_says_nothing_about_origins(status: int) -> None:
    def gated(request: Request, _right: Reply) -> Reply:
        gate = Reply(status=status, headers=())
        return gate if request.headers.get("origin") else legacy(request)

    names = ("transport.foreign-origin-refused", "transport.foreign-origin-forbidden")
    seen = on_fake(gated, *names)
    assert {one.outcome for one in seen.values()} == {Outcome.INCONCLUSIVE}


def test_where_the_control_fails_nothing_is_decided() -> None:
    def pingless(request: Request, _right: Reply) -> Reply:
        return Reply(status=500, headers=()) if request.method == "ping" else legacy(request)

    names = (
        "transport.foreign-origin-refused",
        "transport.foreign-host-refused",
        "transport.session-id-required",
        "transport.unsupported-version",
    )
    seen = on_fake(pingless, *names)
    assert {one.outcome for one in seen.values()} == {Outcome.INCONCLUSIVE}


def offering(*versions: str) -> Fault:
    """A server that speaks these versions, and answers any other with the first."""

    def answer(request: Request, _right: Reply) -> Reply:
        if request.method != "initialize":
            return legacy(request)
        wanted = request.params["protocolVersion"]
        reply = legacy(request, wanted if wanted in versions else versions[0])
        return Reply(reply.messages, headers=(*JSON_TYPE, ("mcp-session-id", "session-1")))

    return answer


@pytest.mark.parametrize(
    ("versions", "outcome"),
    [
        (("2025-11-25", "2025-06-18"), PASS),
        (("2025-06-18", "2025-11-25"), FAIL),
        (("2024-11-05", "2025-03-26", "2025-11-25"), FAIL),
    ],
)
def test_the_version_offered_is_compared_with_every_later_one(
    versions: tuple[str, ...], outcome: Outcome
) -> None:
    name = "lifecycle.latest-version-offered"
    assert on_fake(offering(*versions), name)[name].outcome is outcome


def test_a_feature_that_is_not_declared_is_asked_for() -> None:
    asked: list[str] = []

    def bare(request: Request, _right: Reply) -> Reply:
        asked.append(request.method)
        reply = legacy(request)
        return reply.with_result(capabilities={}) if request.method == "initialize" else reply

    on_fake(bare, "lifecycle.undeclared-feature")
    for method in ("tools/list", "prompts/list", "resources/list", "completion/complete"):
        assert method in asked


def test_a_tool_that_fails_with_a_protocol_error_is_remarked_on() -> None:
    def failing(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        return reply.with_error(-32603) if request.method == "tools/call" else reply

    name = "base.failures-keep-the-id"
    (note,) = on_fake(failing, name, call_tools=frozenset({"look"}))[name].notes
    assert "the tool look fails with error -32603" in note
    assert "isError" in note


def bearing(request: Request, accepted: str) -> Reply:
    """A server that wants a token, and takes the right one or the one `accepted`."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token in ("right", accepted):
        return legacy(request)
    challenge = 'Bearer resource_metadata="/meta", error="invalid_token"'
    return Reply(status=401, headers=(("www-authenticate", challenge),))


@pytest.mark.parametrize(
    ("accepted", "outcomes"),
    [("right", [PASS, PASS]), ("clausewise-no-token-of-yours", [FAIL, UNSEEN])],
)
def test_a_token_that_nobody_issued_must_be_refused(accepted: str, outcomes: list[Outcome]) -> None:
    names = ("auth.garbage-token-refused", "auth.garbage-token-challenged")
    headers = (("Authorization", "Bearer right"),)
    seen = on_fake(lambda request, _: bearing(request, accepted), *names, headers=headers)
    assert [seen[name].outcome for name in names] == outcomes


def test_a_version_that_cannot_exist_is_echoed_and_nothing_is_decided() -> None:
    def echoing(request: Request, _right: Reply) -> Reply:
        if request.method != "initialize":
            return legacy(request)
        return legacy(request, request.params["protocolVersion"])

    one = on_fake(echoing, "lifecycle.latest-version-offered")["lifecycle.latest-version-offered"]
    assert (one.outcome, "1999-01-01" in (one.reason or "")) == (Outcome.INCONCLUSIVE, True)


def test_a_text_that_becomes_a_number_is_an_answer_for_the_checks_to_judge() -> None:
    def numeric(request: Request, _right: Reply) -> Reply:
        reply = legacy(request)
        if isinstance(request.id, str):
            return reply.with_response({**reply.response, "id": 0})
        return reply

    one = on_fake(numeric, "base.text-id")["base.text-id"]
    assert (one.outcome, one.reason) == (UNSEEN, None)


def test_a_list_of_one_page_has_no_cursor_to_refuse() -> None:
    name = "pagination.unknown-cursor"
    one = on_fake(simple, name)[name]
    assert (one.outcome, one.reason) == (UNSEEN, "no list has a second page")


def test_a_session_that_a_bad_cursor_ends_breaks_the_clause() -> None:
    dead: set[str] = set()

    def fragile(request: Request, _right: Reply) -> Reply:
        cursor = request.params.get("cursor")
        if request.method == "tools/list" and cursor == "clausewise-never-issued":
            dead.add(request.headers.get("mcp-session-id", ""))
        if dead:
            return Reply(status=404, headers=())
        if request.method == "tools/list" and cursor is None:
            return result(request, {"tools": [], "nextCursor": "2"})
        return legacy(request)

    name = "pagination.stable-cursors"
    (fault,) = on_fake(fragile, name)[name].faults
    assert fault.message == "after a cursor that was never issued the session is gone"


def test_on_a_server_of_both_eras_a_rule_tells_of_the_same_fault() -> None:
    dual = ServerOptions(era=Era.DUAL, defects=("legacy-foreign-origin-served",))
    options = ProbeOptions(select=("TRAN-002", "TRAN-007"))
    beside = verdicts(dual, options, frozenset({"MCP-SEC-001"}))
    assert beside["transport.foreign-origin-refused"].outcome is UNSEEN
    assert "MCP-SEC-001" in (beside["transport.foreign-origin-refused"].reason or "")
    alone = verdicts(dual, options, frozenset())
    assert alone["transport.foreign-origin-refused"].outcome is FAIL


def test_only_the_probes_of_the_clauses_that_are_wanted_run() -> None:
    options = ProbeOptions(select=("TRAN-0",), ignore=("TRAN-002", "TRAN-043"))
    seen = verdicts(ServerOptions(era=Era.LEGACY), options, frozenset())
    assert "transport.session-id-required" in seen
    assert "transport.foreign-host-refused" not in seen
    assert "ping.prompt-while-busy" not in seen


def test_an_origin_that_only_begins_like_the_servers_own_must_be_refused() -> None:
    name = "transport.foreign-origin-refused"
    (fault,) = on_reference(name, defects=("legacy-look-alike-origin-served",))[name].faults
    assert ".evil.example" in fault.seen
    assert "127.0.0.1" in fault.seen
