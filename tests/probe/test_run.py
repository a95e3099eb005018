"""The engine: selection, gates, control, crashes, cut-offs, severities, progress."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import anyio
import pytest

from clausewise.core.vocabulary import Era, Outcome, Party, Revision, TransportKind
from clausewise.probe import run as run_module
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held
from clausewise.probe.registration import BOTH, Passive, Probe, Turn
from clausewise.probe.run import ProbeOptions, Progress
from clausewise.registry import rules
from clausewise.trace.events import EventKind
from clausewise.transport.targets import HttpTarget
from tests.probe.fake_server import Fault, Reply, Request, serve_http
from tests.probe.legacy_replies import dual, legacy
from tests.probe.running import LIMITS, Recorded, probe_fake, probe_target, process

RULE = "MCP-STL-003"
OPTIONS = ProbeOptions(limits=LIMITS)


def entry(
    run: Callable[[Peer], Awaitable[Observation]], rule: str = RULE, needs: tuple[str, ...] = ()
) -> Probe:
    return Probe(rule, run, BOTH, needs, "none")


async def keeps(peer: Peer) -> Observation:
    """A rule is kept.

    Why: it is.

    Fix: nothing.
    """
    await peer.discover()
    return held()


async def breaks(peer: Peer) -> Observation:
    """A rule is broken.

    Why: it is.

    Fix: mend it.
    """
    reply = await peer.request("tools/list")
    return broke("it broke", seen="this", expected="that", evidence=reply)


def run(
    monkeypatch: pytest.MonkeyPatch,
    entries: Mapping[str, Probe | Passive],
    options: ProbeOptions = OPTIONS,
    fault: Fault | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Recorded:
    """A run with these probes in place of the project's own."""
    monkeypatch.setattr(run_module, "probes", lambda: entries)

    async def whole() -> Recorded:
        async with serve_http(fault) as url:
            return await probe_target(HttpTarget(url), options, progress)

    return anyio.run(whole)


def test_each_rule_gets_one_verdict_in_the_order_of_the_catalogue() -> None:
    done = probe_fake(None)
    assert [verdict.id for verdict in done.run.verdicts] == list(rules())


def test_a_rule_without_a_probe_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = run(monkeypatch, {}, replace(OPTIONS, select=(RULE,)))[RULE]
    assert verdict.outcome is Outcome.NOT_OBSERVED
    assert verdict.reason is not None
    assert verdict.reason.startswith("planned")


def test_select_and_ignore_take_ids_and_prefixes(monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(OPTIONS, select=("MCP-DSC", "MCP-STL-003"), ignore=("MCP-DSC-00",))
    done = run(monkeypatch, {RULE: entry(keeps)}, options)
    assert [verdict.id for verdict in done.run.verdicts] == [RULE]


def test_a_kept_rule_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = run(monkeypatch, {RULE: entry(keeps)})[RULE]
    assert (verdict.outcome, verdict.occasions, verdict.findings) == (Outcome.PASS, 1, ())


def test_a_finding_says_where_what_and_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, {RULE: entry(breaks)}, replace(OPTIONS, trace="a.jsonl"))
    verdict = done[RULE]
    (finding,) = verdict.findings
    assert verdict.outcome is rules()[RULE].effective_severity
    assert (finding.party, finding.check, finding.fix) == (Party.SERVER, "breaks", "mend it.")
    assert (finding.seen, finding.expected, finding.url) == ("this", "that", rules()[RULE].url)
    assert finding.at is not None
    assert finding.at.trace == "a.jsonl"
    assert done.tape.events[finding.at.seq].payload["result"]["tools"]
    assert finding.reproduce is not None
    assert finding.reproduce.startswith("curl ")


def test_the_listed_severity_counts_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = next(r for r in rules().values() if r.severity is not r.effective_severity)
    entries = {rule.id: entry(breaks, rule.id)}
    assert run(monkeypatch, entries)[rule.id].outcome is rule.effective_severity
    verdict = run(monkeypatch, entries, replace(OPTIONS, as_listed=True))[rule.id]
    assert (verdict.outcome, verdict.level) == (rule.severity, rule.level)


def test_a_probe_that_raises_is_crashed_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def raises(_peer: Peer) -> Observation:
        raise KeyError("oops")

    other = "MCP-STL-004"
    done = run(monkeypatch, {RULE: entry(raises), other: entry(keeps, other)})
    assert done[RULE].outcome is Outcome.CRASHED
    assert done[RULE].reason == "raises raised KeyError: 'oops'"
    assert done[other].outcome is Outcome.PASS


def test_a_passive_judgement_that_raises_is_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(_traffic: Traffic) -> Observation:
        raise ValueError("oops")

    done = run(monkeypatch, {RULE: Passive(RULE, raises, BOTH)})
    assert done[RULE].outcome is Outcome.CRASHED


def test_a_probe_that_takes_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waits(_peer: Peer) -> Observation:
        await anyio.sleep_forever()
        return held()

    done = run(monkeypatch, {RULE: entry(waits)}, replace(OPTIONS, probe_s=0.05))
    assert done[RULE].outcome is Outcome.INCONCLUSIVE
    assert "cut off" in str(done[RULE].reason)


def test_no_probe_begins_after_the_time_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, {RULE: entry(keeps)}, replace(OPTIONS, total_s=0.0))
    assert done[RULE].outcome is Outcome.INCONCLUSIVE
    assert "used up" in str(done[RULE].reason)


def test_an_absent_capability_makes_a_rule_not_applicable(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        RULE: entry(keeps, needs=("completions",)),
        "MCP-STL-004": entry(keeps, "MCP-STL-004", ("completions|tools",)),
    }
    done = run(monkeypatch, entries)
    assert done[RULE].outcome is Outcome.NOT_APPLICABLE
    assert "completions" in str(done[RULE].reason)
    assert done["MCP-STL-004"].outcome is Outcome.PASS


def test_unknown_capabilities_leave_a_rule_unobserved(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_discover(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover":
            return right.with_error(-32601, status=404)
        return right

    done = run(monkeypatch, {RULE: entry(keeps, needs=("tools",))}, fault=without_discover)
    assert done[RULE].outcome is Outcome.NOT_OBSERVED


def test_a_rule_about_modern_only_servers_spares_dual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {RULE: entry(keeps, needs=("modern-only",))}
    assert run(monkeypatch, entries)[RULE].outcome is Outcome.PASS
    done = run(monkeypatch, entries, fault=dual)
    assert (done.run.era, done[RULE].outcome) == (Era.DUAL, Outcome.NOT_APPLICABLE)


def test_a_rule_about_the_other_transport_is_not_applicable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probe = replace(entry(keeps), transports=frozenset({TransportKind.STDIO}))
    done = run(monkeypatch, {RULE: probe})
    assert done[RULE].outcome is Outcome.NOT_APPLICABLE


def test_a_server_that_refuses_every_request_passes_nothing() -> None:
    def refuses(_request: Request, right: Reply) -> Reply:
        return right.with_error(-32020, status=400)

    done = probe_fake(refuses)
    by_id = {verdict.id: verdict.outcome for verdict in done.run.verdicts}
    undecided = ("STL-002", "STL-003", "STL-004", "STL-007", "DEP-001", "DEP-002", "DEP-003")
    assert by_id["MCP-DSC-001"] is Outcome.FAIL
    assert {by_id[f"MCP-{rule}"] for rule in undecided} == {Outcome.INCONCLUSIVE}
    assert Outcome.CRASHED not in by_id.values()


def test_a_rate_limit_that_sets_in_makes_probes_inconclusive() -> None:
    def tired(request: Request, right: Reply) -> Reply:
        """The era shows, then nothing is served any more."""
        shown = request.method in ("server/discover", "initialize") and request.nth == 0
        return right if shown else Reply(status=429, headers=())

    rules_hit = ("MCP-STL-002", "MCP-STL-003", "MCP-STL-005", "MCP-STL-008", "MCP-DEP-004")
    done = probe_fake(tired, *rules_hit)
    assert {verdict.outcome for verdict in done.run.verdicts} == {Outcome.INCONCLUSIVE}


def test_a_legacy_server_makes_every_rule_not_applicable() -> None:
    done = probe_fake(lambda request, _: legacy(request))
    assert {verdict.outcome for verdict in done.run.verdicts} == {Outcome.NOT_APPLICABLE}
    assert done.run.revisions == (Revision.LEGACY,)
    assert done.run.server is not None
    assert done.run.server.name == "old"


def test_the_legacy_revision_alone_runs_no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(OPTIONS, revision=Revision.LEGACY)
    done = run(monkeypatch, {RULE: entry(keeps)}, options, dual)
    assert done[RULE].outcome is Outcome.NOT_APPLICABLE
    assert "2025-11-25" in str(done[RULE].reason)


def test_the_modern_revision_alone_holds_no_legacy_session(monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(OPTIONS, revision=Revision.MODERN)
    done = run(monkeypatch, {RULE: entry(keeps)}, options, dual)
    sent = [str(event.payload) for event in done.tape.events if event.session == "legacy"]
    heads = [event.fields.get("method") for event in done.tape.events if event.session == "legacy"]
    assert done.run.revisions == (Revision.MODERN,)
    assert not [text for text in sent if "ping" in text]
    assert "DELETE" in heads


def test_an_older_legacy_version_is_noted_and_not_claimed() -> None:
    done = probe_fake(lambda request, _: legacy(request, "2025-06-18"), RULE)
    assert done.run.revisions == ()
    assert "2025-06-18" in done.run.notes[0]


def test_a_passive_rule_alone_still_gets_the_traffic_of_all_probes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str | None] = []

    def judges(traffic: Traffic) -> Observation:
        seen.extend(reply.request.method for reply in traffic.replies)
        return held(len(seen))

    async def asks(peer: Peer) -> Observation:
        await peer.request("tools/list")
        return held()

    passive = "MCP-STL-001"
    entries: dict[str, Probe | Passive] = {
        RULE: entry(asks),
        passive: Passive(passive, judges, BOTH),
    }
    done = run(monkeypatch, entries, replace(OPTIONS, select=(passive,)))
    assert [verdict.id for verdict in done.run.verdicts] == [passive]
    assert "tools/list" in seen


def test_the_traffic_leaves_out_what_the_legacy_half_may_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: dict[Era, int] = {}

    async def asks(peer: Peer) -> Observation:
        await peer.request("tools/list", headers={"MCP-Protocol-Version": None}, rule=RULE)
        await peer.fetch("GET", {})
        return held()

    def judges(traffic: Traffic) -> Observation:
        counted[traffic.era] = sum(reply.request.injected for reply in traffic.replies)
        return held()

    other = "MCP-STL-001"
    entries: dict[str, Probe | Passive] = {RULE: entry(asks), other: Passive(other, judges, BOTH)}
    run(monkeypatch, entries)
    run(monkeypatch, entries, fault=dual)
    assert counted == {Era.MODERN: 1, Era.DUAL: 0}


def test_probes_that_must_be_alone_are(monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[str] = []
    most: dict[str, int] = {}

    def watched(name: str) -> Callable[[Peer], Awaitable[Observation]]:
        async def runs(peer: Peer) -> Observation:
            running.append(name)
            await peer.request("tools/list")
            most[name] = len(running)
            running.remove(name)
            return held()

        return runs

    names = ("MCP-STL-002", "MCP-STL-003", "MCP-STL-004", "MCP-STL-008")
    entries = {name: entry(watched(name), name) for name in names}
    entries["MCP-STL-003"] = replace(entries["MCP-STL-003"], turn=Turn.ALONE)
    run(monkeypatch, entries)
    assert most["MCP-STL-003"] == 1
    assert list(most)[-1] == "MCP-STL-003"


async def first_listing(peer: Peer) -> Observation:
    async with peer.fresh(passed_on=True) as link:
        await peer.request("tools/list", {"probe": "cold"}, link=link)
    return held()


async def second_listing(peer: Peer) -> Observation:
    async with peer.another() as link:
        await peer.request("tools/list", {"probe": "again"}, link=link)
    return held()


async def own_listing(peer: Peer) -> Observation:
    await peer.request("tools/list", {"probe": "own"})
    return held()


def test_a_second_process_is_opened_ahead_and_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        "MCP-RES-007": replace(entry(second_listing, "MCP-RES-007"), turn=Turn.ALONE),
        "MCP-STL-002": entry(own_listing, "MCP-STL-002"),
        "MCP-STL-003": replace(entry(first_listing), beside=True),
    }
    monkeypatch.setattr(run_module, "probes", lambda: entries)
    options = replace(OPTIONS, revision=Revision.MODERN)
    events = anyio.run(probe_target, process("dual"), options).tape.events
    processes = {
        event.payload["params"]["probe"]: event.session
        for event in events
        if event.kind is EventKind.MESSAGE and event.payload.get("method") == "tools/list"
    }
    opened = [e for e in events if e.fields.get("event") == "transport-open"]
    own = next(e.seq for e in events if "own" in str(e.payload))
    assert processes["cold"] == processes["again"] != processes["own"]
    assert len(opened) == 3  # the probes' own, a second one, and one for initialize
    assert max(event.seq for event in opened) < own


def test_what_may_spoil_its_process_runs_last(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    entries = {
        "MCP-DEP-003": replace(entry(keeps, "MCP-DEP-003"), turn=Turn.LAST),
        "MCP-RES-007": replace(entry(keeps, "MCP-RES-007"), turn=Turn.ALONE),
        "MCP-STL-003": entry(keeps),
    }
    run(monkeypatch, entries, progress=lambda step: steps.append(step.text))
    assert steps[-3:] == ["MCP-STL-003", "MCP-RES-007", "MCP-DEP-003"]


def test_a_slow_legacy_session_leaves_time_for_the_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(request: Request, right: Reply) -> Reply | None:
        return None if request.method == "ping" else dual(request, right)

    options = replace(OPTIONS, total_s=1.0)
    done = run(monkeypatch, {RULE: entry(keeps)}, options, fault=stuck)
    assert done[RULE].outcome is Outcome.PASS
    assert any("cut off" in note for note in done.run.notes)


@pytest.mark.parametrize("mode", ["dual", "locking"])
def test_no_rule_is_blocked_by_the_era_a_process_keeps_to(mode: str) -> None:
    done = anyio.run(probe_target, process(mode), OPTIONS)
    open_ends = (Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.CRASHED)
    assert done["MCP-STL-004"].outcome is Outcome.PASS
    assert not [verdict.id for verdict in done.run.verdicts if verdict.outcome in open_ends]


def test_a_process_that_remembers_meta_fails() -> None:
    options = replace(OPTIONS, select=("MCP-STL",))
    done = anyio.run(probe_target, process("remembering"), options)
    failed = [verdict.id for verdict in done.run.verdicts if verdict.findings]
    assert failed == ["MCP-STL-004"]


def test_the_progress_counts_up_to_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Progress] = []
    run(monkeypatch, {RULE: entry(keeps)}, progress=steps.append)
    assert steps[0] == Progress(0, 1, "era")
    assert steps[-1] == Progress(1, 1, RULE)


def test_remarks_of_probes_become_notes_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def remarks(_peer: Peer) -> Observation:
        return held(note="by the way")

    done = run(monkeypatch, {RULE: entry(remarks)})
    assert done.run.notes == (f"{RULE}: by the way",)


def test_processes_are_used_again_and_all_are_gone_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def asks(peer: Peer) -> Observation:
        await peer.request("tools/list")
        return held()

    names = ("MCP-STL-002", "MCP-STL-003", "MCP-STL-004")
    monkeypatch.setattr(run_module, "probes", lambda: {name: entry(asks, name) for name in names})
    options = replace(OPTIONS, concurrency=1, revision=Revision.MODERN)
    done = anyio.run(probe_target, process("dual"), options)
    opened = [e for e in done.tape.events if e.fields.get("event") == "transport-open"]
    exited = [e for e in done.tape.events if e.fields.get("event") == "process-exit"]
    assert {done[name].outcome for name in names} == {Outcome.PASS}
    assert len(opened) == len(exited) == 2  # one for the probes, one for initialize
