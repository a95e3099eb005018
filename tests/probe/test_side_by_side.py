"""The eras of a server are probed beside each other; what that may disturb is tried again alone."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import anyio
import pytest

from clausewise.core.errors import InternalError
from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Direction, Era, Outcome, Revision
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.probe import clause_experiments
from clausewise.probe import run as run_module
from clausewise.probe.clause_registration import ClauseProbe
from clausewise.probe.conversation.legacy_peer import LegacyAcquaintance, LegacyPeer
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.options import ProbeOptions
from clausewise.probe.registration import BOTH, Probe, Turn
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http as serve_reference
from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT
from tests.probe.running import LIMITS, Recorded, probe_target, process

RULE, CLAUSE, PROBE = "MCP-STL-003", "PING-001", "ping.prompt-while-busy"
RuleProbe = Callable[[Peer], Awaitable[Observation]]
ProbeOfClause = Callable[[LegacyPeer], Awaitable[Observation]]
OPTIONS = ProbeOptions(limits=LIMITS, select=(RULE, CLAUSE))
MEETS_WITHIN_S = 10.0
_COMMAND = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")
ON_STDIO = StdioTarget(_COMMAND, cwd=str(ROOT))
_DOCUMENTED = "It is broken.\n\nWhy: it is.\n\nFix: mend it.\n"


class Company:
    """Who is at work, and what each attempt found; a probe stays until the others have come."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._at_work = 0
        self._complete = anyio.Event()
        self.met: list[tuple[str, int]] = []

    async def keep(self, name: str) -> int:
        """Stay for a while; how many were at work at once, oneself included, at most."""
        self._at_work += 1
        if self._at_work == self._expected:
            self._complete.set()
        with anyio.move_on_after(MEETS_WITHIN_S if self._expected > 1 else 0):
            await self._complete.wait()
        most = self._at_work
        await anyio.lowlevel.checkpoint()
        self._at_work -= 1
        self._expected = 1  # They meet once.
        self.met.append((name, most))
        return most

    def rule(self, seen: Callable[[int], Observation] = held) -> RuleProbe:
        """A probe of the rule, which judges by the most that were at work."""

        async def rule(_: Peer) -> Observation:
            return seen(await self.keep(RULE))

        return rule

    def clause(self, seen: Callable[[int], Observation] = held) -> ProbeOfClause:
        """A probe of the clause, likewise."""

        async def clause(_: LegacyPeer) -> Observation:
            return seen(await self.keep(PROBE))

        return clause


def judged(most: int) -> Observation:
    """A fault that others make."""
    if most == 1:
        return held()
    return broke("it was disturbed", seen="others", expected="nobody")


def unless_busy(most: int) -> Observation:
    """What only shows while nothing else is at work."""
    return held() if most == 1 else not_observed("too busy")


def probed(
    monkeypatch: pytest.MonkeyPatch,
    rule: RuleProbe,
    clause: ProbeOfClause,
    options: ProbeOptions = OPTIONS,
    turn: Turn = Turn.TOGETHER,
    target: StdioTarget | None = None,
    **traits: bool,
) -> Recorded:
    """A run on a server of both eras with one probe of each."""
    rule.__doc__ = clause.__doc__ = _DOCUMENTED
    entry = Probe(RULE, rule, BOTH, turn=turn)
    probe = ClauseProbe(PROBE, clause, **traits)  # type: ignore[arg-type]
    monkeypatch.setattr(run_module, "probes", lambda: {RULE: entry})
    monkeypatch.setattr(clause_experiments, "clause_probes", lambda: {PROBE: probe})

    async def whole() -> Recorded:
        if target is not None:
            return await probe_target(target, options)
        async with serve_reference(ServerOptions(era=Era.DUAL)) as url:
            return await probe_target(HttpTarget(url), options)

    return anyio.run(whole)


def outcomes(done: Recorded) -> Mapping[str, Outcome]:
    """By what decided: the rule's id, the probe's name."""
    return {RULE: done[RULE].outcome} | {c.probe: c.verdict.outcome for c in done.run.clauses}


def test_the_probes_of_both_eras_are_at_work_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    company = Company(2)
    probed(monkeypatch, company.rule(), company.clause())
    assert dict(company.met) == {RULE: 2, PROBE: 2}


def test_one_probe_at_a_time_is_one_of_either_era(monkeypatch: pytest.MonkeyPatch) -> None:
    company = Company(1)
    probed(monkeypatch, company.rule(), company.clause(), replace(OPTIONS, concurrency=1))
    assert company.met == [(PROBE, 1), (RULE, 1)]


@pytest.mark.parametrize(("passes_alone", "outcome"), [(True, Outcome.PASS), (False, Outcome.FAIL)])
def test_a_probe_of_clauses_that_others_disturb_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, passes_alone: bool, outcome: Outcome
) -> None:
    company = Company(2)
    done = probed(
        monkeypatch,
        company.rule(),
        company.clause(lambda most: judged(most if passes_alone else 2)),
        again_alone=True,
    )
    assert outcomes(done)[PROBE] is outcome
    assert sorted(company.met) == [(RULE, 2), (PROBE, 1), (PROBE, 2)]


def test_what_was_not_observed_among_others_is_tried_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    company = Company(2)
    done = probed(monkeypatch, company.rule(), company.clause(unless_busy), again_alone=True)
    assert outcomes(done)[PROBE] is Outcome.PASS


def test_a_pass_among_others_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    company = Company(2)
    done = probed(monkeypatch, company.rule(), company.clause(), again_alone=True)
    assert outcomes(done) == {RULE: Outcome.PASS, PROBE: Outcome.PASS}
    assert len(company.met) == 2


def test_a_probe_of_clauses_that_must_be_alone_begins_after_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    company = Company(1)
    probed(monkeypatch, company.rule(), company.clause(), alone=True)
    assert company.met == [(RULE, 1), (PROBE, 1)]


def test_a_rule_that_compares_connections_waits_until_nothing_else_is_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    company = Company(1)
    done = probed(monkeypatch, company.rule(judged), company.clause(), turn=Turn.ALONE)
    assert outcomes(done)[RULE] is Outcome.PASS
    assert company.met == [(PROBE, 1), (RULE, 1)]


def test_one_that_compares_processes_is_tried_again_unless_it_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    company = Company(2)
    done = probed(
        monkeypatch, company.rule(judged), company.clause(), turn=Turn.ALONE, target=ON_STDIO
    )
    assert outcomes(done)[RULE] is Outcome.PASS
    assert sorted(company.met) == [(RULE, 1), (RULE, 2), (PROBE, 2)]


def test_a_rule_that_compares_is_tried_once_where_nothing_disturbed_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[str] = []

    async def rule(_: Peer) -> Observation:
        tries.append(RULE)
        return broke("it varies", seen="this", expected="that")

    async def clause(_: LegacyPeer) -> Observation:
        return held()

    modern = replace(OPTIONS, revision=Revision.MODERN)
    done = probed(monkeypatch, rule, clause, modern, turn=Turn.ALONE)
    assert (done[RULE].outcome, tries) == (Outcome.FAIL, [RULE])


def test_a_probe_that_looks_at_the_calls_of_the_walk_waits_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    async def rule(_: Peer) -> Observation:
        return held()

    async def clause(peer: LegacyPeer) -> Observation:
        seen.extend(one.call.name for one in peer.calls)
        return held()

    probed(monkeypatch, rule, clause, walked=True)
    assert len(seen) > 3


def test_the_calls_of_the_walk_cannot_be_seen_half() -> None:
    async def look() -> None:
        async with Links(HttpTarget("http://127.0.0.1:9/mcp"), Tape(), LIMITS) as links:
            known = LegacyAcquaintance()
            with pytest.raises(InternalError):
                _ = LegacyPeer(links, known).calls
            known.called.set()
            assert LegacyPeer(links, known).calls == ()

    anyio.run(look)


def test_no_two_requests_of_a_run_have_the_same_id() -> None:
    """But for those that give the same id in two sessions on purpose, which is a text."""

    async def whole() -> Recorded:
        async with serve_reference(ServerOptions(era=Era.DUAL)) as url:
            return await probe_target(HttpTarget(url), ProbeOptions(limits=LIMITS))

    ids = [
        event.payload["id"]
        for event in anyio.run(whole).tape.events
        if event.direction is Direction.CLIENT_TO_SERVER
        and event.kind is EventKind.MESSAGE
        and event.injected is None
        and isinstance(event.payload, dict)
        and "method" in event.payload
        and isinstance(event.payload.get("id"), int)
        and event.payload["method"] != "subscriptions/listen"
    ]
    assert len(ids) > 200
    assert len(set(ids)) == len(ids)


def test_processes_start_ahead_one_after_the_other() -> None:
    tape = Tape()

    def opened() -> int:
        return sum(event.fields.get("event") == "transport-open" for event in tape.events)

    async def open_two() -> None:
        async with Links(process("dual"), tape, LIMITS) as links:
            await links.open_ahead(2)
            assert opened() == 1
            first = await links.open()
            with anyio.fail_after(MEETS_WITHIN_S):
                while opened() == 1:
                    await anyio.lowlevel.checkpoint()
            second = await links.open()
            await anyio.lowlevel.checkpoint()
            assert (first is second, opened()) == (False, 2)

    anyio.run(open_two)


def recorded_verdict(done: Recorded, clause: str) -> Verdict:
    result = judge(done.tape.events, trace="t", options=JudgeOptions(as_probe=True))
    return next(verdict for verdict in result.verdicts if verdict.id == clause)


def test_a_process_may_tell_a_little_later_that_a_demanded_visit_was_made() -> None:
    target = StdioTarget((*_COMMAND, "--era", "legacy"), cwd=str(ROOT))
    options = ProbeOptions(limits=LIMITS, select=("ELIC-013",))
    done = anyio.run(probe_target, target, options)
    assert recorded_verdict(done, "ELIC-013").outcome is Outcome.PASS


def test_a_state_is_tried_on_the_process_that_gave_it() -> None:
    target = StdioTarget((*_COMMAND, "--era", "modern"), cwd=str(ROOT))
    options = ProbeOptions(limits=LIMITS, select=("CW-MRT", "CW-ELI", "CW-SMP"), concurrency=6)
    assert anyio.run(probe_target, target, options)["CW-MRT-006"].outcome is Outcome.PASS
