"""Probes side by side, at a bounded rate, against servers that refuse or hang."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Direction, Era, Outcome, Revision
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.probe.options import ProbeOptions
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http as serve_reference
from clausewise.trace.events import Event, EventKind
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT
from tests.probe.fake_server import SSE_TYPE, Fault, Reply, Request, serve_http
from tests.probe.legacy_replies import dual
from tests.probe.running import LIMITS, Recorded, probe_target, process

OPTIONS = ProbeOptions(limits=LIMITS)
DEFECTS = (
    "prompts-list-without-ttl",
    "tools-list-without-server-info",
    "unknown-method-ok-status",
    "legacy-range-code",
    "ping-answered",
    "name-header-optional",
)
REFERENCE = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")
GROUPS = ("MCP-CAC", "MCP-DSC", "MCP-ERR", "MCP-DEP-00")


def on_reference(options: ProbeOptions, *defects: str) -> Recorded:
    async def run() -> Recorded:
        async with serve_reference(ServerOptions(era=Era.DUAL, defects=defects)) as url:
            return await probe_target(HttpTarget(url), options)

    return anyio.run(run)


def on_fake(options: ProbeOptions, fault: Fault) -> Recorded:
    async def run() -> Recorded:
        async with serve_http(fault) as url:
            return await probe_target(HttpTarget(url), options)

    return anyio.run(run)


def substance(verdicts: Sequence[Verdict]) -> list[object]:
    """Verdicts without what numbers events and requests."""
    return [
        (
            verdict.id,
            verdict.outcome,
            verdict.reason,
            [(f.severity, f.message, f.seen, f.expected) for f in verdict.findings],
        )
        for verdict in verdicts
    ]


def sent_at(events: Sequence[Event]) -> list[float]:
    """When each HTTP request, or each line on stdio, went out."""
    wanted = (EventKind.HTTP, EventKind.MESSAGE, EventKind.RAW)
    return [
        float(event.ts or 0)
        for event in events
        if event.direction is Direction.CLIENT_TO_SERVER
        and event.kind in wanted
        and (event.exchange is None or event.kind is EventKind.HTTP)
    ]


@pytest.mark.parametrize("defects", [(), DEFECTS], ids=["sound", "defective"])
def test_verdicts_do_not_depend_on_how_many_probes_run_at_a_time(
    defects: tuple[str, ...],
) -> None:
    alone = on_reference(replace(OPTIONS, concurrency=1), *defects)
    together = on_reference(replace(OPTIONS, concurrency=16), *defects)
    assert substance(alone.run.verdicts) == substance(together.run.verdicts)
    assert alone.run.notes == together.run.notes
    assert any(verdict.findings for verdict in alone.run.verdicts) == bool(defects)


def test_nor_on_stdio_where_each_probe_has_its_process() -> None:
    target = StdioTarget((*REFERENCE, "--defect", DEFECTS[0]), cwd=str(ROOT))
    options = replace(OPTIONS, select=GROUPS)
    alone = anyio.run(probe_target, target, options)
    together = anyio.run(probe_target, target, replace(options, concurrency=3))
    assert substance(alone.run.verdicts) == substance(together.run.verdicts)
    assert processes(together) > processes(alone)


def processes(done: Recorded) -> int:
    return sum(event.fields.get("event") == "transport-open" for event in done.tape.events)


def test_side_by_side_the_recording_keeps_each_exchange_together() -> None:
    events = on_reference(replace(OPTIONS, concurrency=16), *DEFECTS).tape.events
    assert [event.seq for event in events] == list(range(len(events)))
    heads = Counter(
        (event.exchange, event.direction) for event in events if event.kind is EventKind.HTTP
    )
    assert len(heads) > 100
    assert set(heads.values()) == {1}
    asked: dict[str | int | None, object] = {}
    for event in events:
        if event.kind is not EventKind.MESSAGE or not isinstance(event.payload, dict):
            continue
        if event.direction is Direction.CLIENT_TO_SERVER:
            asked.setdefault(event.exchange, event.payload.get("id"))
        elif "result" in event.payload:
            answered = event.payload["id"]
            assert asked.get(event.exchange, answered) == answered  # a GET asks for nothing


RATE = 100


def most_in_half_a_second(times: Sequence[float]) -> int:
    return max(sum(start <= time < start + 0.5 for time in times) for start in times)


def test_no_more_requests_go_out_over_http_than_the_rate_allows() -> None:
    options = replace(OPTIONS, rate=RATE, select=("MCP-HDR", "MCP-AUT", "MCP-DEP"), concurrency=8)
    done = on_reference(options)
    times = sent_at(done.tape.events)
    assert len(times) > RATE
    assert most_in_half_a_second(times) <= RATE / 2 + 2  # a connection may take its time to open
    assert done["MCP-HDR-001"].outcome is Outcome.PASS


def test_nor_on_stdio() -> None:
    target = StdioTarget(REFERENCE, cwd=str(ROOT))
    options = replace(OPTIONS, rate=RATE / 2, select=("MCP-STL-00",), revision=Revision.MODERN)
    times = sent_at(anyio.run(probe_target, target, options).tape.events)
    assert len(times) > 20
    assert most_in_half_a_second(times) <= RATE / 4 + 2


def test_a_slow_rate_cuts_no_probe_off() -> None:
    """Each probe has less time than its requests wait for their turns."""
    options = replace(OPTIONS, rate=20, probe_s=0.15, select=("MCP-CAC-001",))
    done = on_reference(replace(options, revision=Revision.MODERN))
    assert done["MCP-CAC-001"].outcome is Outcome.PASS


def test_what_the_rate_leaves_no_time_for_is_inconclusive() -> None:
    options = replace(OPTIONS, rate=10, total_s=1.0, revision=Revision.MODERN)
    done = on_reference(options)
    left = [v for v in done.run.verdicts if v.outcome is Outcome.INCONCLUSIVE]
    assert len(left) > 20
    assert {verdict.reason for verdict in left} == {"the run's 1 seconds were used up"}


class Bucket:
    """Lets `burst` requests through, then one for each `gap_s`; others get 429."""

    def __init__(self, burst: int, gap_s: float) -> None:
        self._tokens = float(burst)
        self._gap_s = gap_s
        self._at = 0.0
        self.refused = 0

    def __call__(self, _request: Request, right: Reply) -> Reply:
        now = anyio.current_time()
        if self._at:
            self._tokens = min(self._tokens + (now - self._at) / self._gap_s, 50.0)
        self._at = now
        if self._tokens < 1:
            self.refused += 1
            return Reply(status=429, headers=(("retry-after", "0"),))
        self._tokens -= 1
        return right


def test_a_server_with_a_rate_limit_is_judged_all_the_same() -> None:
    limit = Bucket(burst=15, gap_s=0.02)
    done = on_fake(replace(OPTIONS, select=("MCP-STL-00", "MCP-HDR-001")), limit)
    free = on_fake(replace(OPTIONS, select=("MCP-STL-00", "MCP-HDR-001")), unbroken)
    assert limit.refused > 0
    assert substance(done.run.verdicts) == substance(free.run.verdicts)


def unbroken(_request: Request, right: Reply) -> Reply:
    return right


def test_a_first_refusal_by_rate_does_not_end_the_run() -> None:
    """Neither server/discover nor initialize is taken for what it is not."""

    refused: set[str | None] = set()

    def first_refused(request: Request, right: Reply) -> Reply:
        first = request.method in {"server/discover", "initialize"} - refused
        refused.add(request.method)
        return Reply(status=429, headers=()) if first else dual(request, right)

    done = on_fake(replace(OPTIONS, select=("MCP-DSC-001",)), first_refused)
    assert (done.run.era, done["MCP-DSC-001"].outcome) == (Era.DUAL, Outcome.PASS)
    slips = judge(done.tape.events, trace="t", options=JudgeOptions(as_probe=True)).slips
    assert not slips


def test_a_server_that_refuses_for_an_hour_is_left_alone() -> None:
    asked: list[str] = []

    def tired(request: Request, right: Reply) -> Reply:
        asked.append(request.method)
        shown = request.method in ("server/discover", "initialize") and request.nth == 0
        return right if shown else Reply(status=429, headers=(("retry-after", "3600"),))

    done = on_fake(replace(OPTIONS, concurrency=1), tired)
    open_ends = {v.id: v.reason for v in done.run.verdicts if v.outcome is Outcome.INCONCLUSIVE}
    assert len(open_ends) > 30
    assert not [v for v in done.run.verdicts if v.outcome is Outcome.FAIL]
    assert any("Retry-After: 3600" in (reason or "") for reason in open_ends.values())
    assert len(asked) < 15


@pytest.mark.parametrize("era_shows", [("server/discover", "initialize"), ("server/discover",)])
def test_probes_of_a_server_that_hangs_are_cut_off(era_shows: tuple[str, ...]) -> None:
    """It tells who it is and then answers nothing more, for as long as one waits."""

    def hangs(request: Request, right: Reply) -> Reply | None:
        return right if request.method in era_shows and request.nth == 0 else None

    options = replace(OPTIONS, probe_s=0.2, limits=replace(LIMITS, answer_s=2.0))
    names = ("MCP-STL-002", "MCP-STL-003", "MCP-HDR-001", "MCP-ERR-002")
    done = on_fake(replace(options, select=names), hangs)
    assert {done[name].outcome for name in names} == {Outcome.INCONCLUSIVE}
    assert {done[name].reason for name in names} == {"cut off after 0.2 seconds"}


def test_a_stream_that_never_ends_is_cut_off_too() -> None:
    def drips(request: Request, right: Reply) -> Reply:
        shown = request.method in ("server/discover", "initialize")
        return right if shown else Reply((), headers=SSE_TYPE, stays_open=True)

    options = replace(OPTIONS, probe_s=0.2, select=("MCP-STL-003",))
    verdict = on_fake(options, drips)["MCP-STL-003"]
    assert (verdict.outcome, verdict.reason) == (
        Outcome.INCONCLUSIVE,
        "cut off after 0.2 seconds",
    )


def test_a_process_that_hangs_is_cut_off_and_gone() -> None:
    options = replace(OPTIONS, probe_s=0.2, select=("MCP-ERR-002", "MCP-DEP-001"), concurrency=2)
    done = anyio.run(probe_target, process("stalling"), options)
    assert {verdict.reason for verdict in done.run.verdicts} == {"cut off after 0.2 seconds"}
    exited = [e for e in done.tape.events if e.fields.get("event") == "process-exit"]
    assert len(exited) == processes(done)
