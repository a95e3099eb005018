"""`python -m bench`: time the commands; generate recordings, judge them, print what it costs.

BENCH_FULL=1 adds recordings of a million events; BENCH_ROUNDS sets the rounds (default 5).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.live import MOST_S, compare_with_official
from bench.measure import STAGES, everything, measure, peak_megabytes
from bench.recording import Http, Stdio, mixed_sessions
from bench.relaying import over_http, over_stdio
from bench.startup import check_over_http, check_over_stdio, help_ratio
from bench.suspects import SUSPECTS
from clausewise.core.vocabulary import TransportKind

_QUICK = (10_000, 100_000)
_FULL = (*_QUICK, 1_000_000)
_SUSPECT_SIZE = 20_000
_GROWTH = 4
"""How much longer the second trace of a suspect is: linear work takes as many times longer."""


def main() -> None:
    """Print the figures as they come."""
    full = os.environ.get("BENCH_FULL") == "1"
    rounds = int(os.environ.get("BENCH_ROUNDS", "5"))
    _commands()
    _live()
    with tempfile.TemporaryDirectory(prefix="clausewise-bench-") as folder:
        path = Path(folder, "trace.jsonl")
        _mixed(path, _FULL if full else _QUICK, rounds)
        _suspects(path)


def _commands() -> None:
    _say(f"--help                         {help_ratio():.1f} x a bare interpreter")
    _say(f"check of the reference server  {check_over_http():.1f} s over Streamable HTTP")
    _say(f"                               {check_over_stdio():.1f} s over stdio")


def _live() -> None:
    found = compare_with_official()
    suite = " + ".join(f"{seconds:.1f}" for seconds in found.official.values())
    due = f"at most {MOST_S:g} s and no slower than the suite"
    for transport, seconds in found.checks.items():
        name = "over HTTP" if transport is TransportKind.HTTP else "on stdio"
        _say(
            f"check {name:<25} {seconds:.1f} s on the server with fixtures, "
            f"{found.ratio(transport):.2f} x the suite"
        )
    _say(f"the official suite             {suite} s ({' + '.join(found.official)}) on the same")
    _say(f"                               {due}: {'met' if found.meets_target else 'missed'}")
    for name, overhead in (("Streamable HTTP", over_http()), ("stdio", over_stdio())):
        _say(
            f"recorder, {name:<20} {overhead.a_message:.2f} ms more a message, p50 "
            f"(round trip {overhead.direct:.2f} ms, recorded {overhead.recorded:.2f} ms)"
        )
    _say("")


def _mixed(path: Path, sizes: tuple[int, ...], rounds: int) -> None:
    stages = "  ".join(f"{name:>9}" for name in STAGES)
    _say("times the floor (orjson.loads on each line), CPU time, median of the rounds")
    _say(f"{'transport':<15}  {'events':>9}  {'B/line':>6}  {stages}  {'events/s':>8}  {'MB':>5}")
    for recorder in (Stdio, Http):
        for size in sizes:
            transport = recorder.transport.value
            _write(path, mixed_sessions(recorder(), size))
            found = measure(path, size, rounds if size < _FULL[-1] else 1)
            ratios = "  ".join(f"{found.ratios[name]:>9.2f}" for name in STAGES)
            _say(
                f"{transport:<15}  {size:>9,}  {found.bytes // size:>6}  {ratios}  "
                f"{found.events_per_second:>8,.0f}  {peak_megabytes(path):>5.0f}"
            )


def _suspects(path: Path) -> None:
    _say(f"\ntime for {_GROWTH} times the events, by the time for {_SUSPECT_SIZE:,}")
    _say(f"{'suspect':<24}  {'growth':>6}  {'us/event':>8}  {'MB':>5}")
    for name, suspect in SUSPECTS.items():
        _write(path, suspect(_SUSPECT_SIZE, 1))
        everything(path)
        short = _seconds(path)
        _write(path, suspect(_SUSPECT_SIZE * _GROWTH, 1))
        long = _seconds(path)
        each = long / (_SUSPECT_SIZE * _GROWTH) * 1e6
        _say(f"{name:<24}  {long / short:>6.1f}  {each:>8.1f}  {peak_megabytes(path):>5.0f}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _write(path: Path, lines: Iterator[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(lines)


def _seconds(path: Path) -> float:
    begun = time.process_time()
    everything(path)
    return time.process_time() - begun


if __name__ == "__main__":
    main()
