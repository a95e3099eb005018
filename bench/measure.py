"""Time and memory of judging a trace, beside the floor of just decoding its lines."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import MappingProxyType

import orjson

from clausewise.app.validate import ValidateOptions, run
from clausewise.core.results import RunResult
from clausewise.judge.engine import Judge
from clausewise.trace.recordings import ReadingOptions, open_recording

_VALIDATE = """
import sys
from clausewise.app.validate import ValidateOptions, run
run((sys.argv[1],), ValidateOptions())
print(open("/proc/self/status").read())
"""
_PEAK = re.compile(r"^VmHWM:\s*(\d+) kB$", re.MULTILINE)


def floor(path: Path) -> None:
    """Decode each line, no more: what nothing in Python that reads JSON Lines can beat."""
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


def reader_alone(path: Path) -> None:
    """Read the events, as `validate` does, and drop them."""
    with open_recording(str(path), ReadingOptions()) as recording:
        for _ in recording.events():
            pass


def without_checks(path: Path) -> None:
    """Read the events and follow the sessions, without any check."""
    judging = Judge(path.name, registered={})
    with open_recording(str(path), ReadingOptions()) as recording:
        for event in recording.events():
            judging.feed(event)
    judging.finish()


def everything(path: Path) -> RunResult:
    """The use case behind `clausewise validate`, all checks on."""
    return run((str(path),), ValidateOptions())


STAGES: Mapping[str, Callable[[Path], object]] = MappingProxyType(
    {"reader": reader_alone, "no checks": without_checks, "validate": everything}
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one trace costs.

    Attributes:
        events: how many events it has.
        bytes: its size.
        floor_s: CPU seconds of the floor, the median of the rounds.
        ratios: each stage's CPU time by the floor of the same round, the median of the rounds.
    """

    events: int
    bytes: int
    floor_s: float
    ratios: Mapping[str, float]

    @property
    def events_per_second(self) -> float:
        """Events that `validate` judges in a second of CPU time."""
        return self.events / (self.floor_s * self.ratios["validate"])


def measure(path: Path, events: int, rounds: int) -> Measurement:
    """Measure every stage, the floor before and after each, so that both see the same machine."""
    floors: list[float] = []
    ratios: dict[str, list[float]] = {name: [] for name in STAGES}
    everything(path)
    for _ in range(rounds):
        before = _cpu_seconds(floor, path)
        for name, stage in STAGES.items():
            spent = _cpu_seconds(stage, path)
            after = _cpu_seconds(floor, path)
            ratios[name].append(2 * spent / (before + after))
            floors.append(before)
            before = after
    return Measurement(
        events,
        path.stat().st_size,
        median(floors),
        {name: median(found) for name, found in ratios.items()},
    )


def _cpu_seconds(work: Callable[[Path], object], path: Path) -> float:
    begun = time.process_time()
    work(path)
    return time.process_time() - begun


def peak_megabytes(path: Path) -> float:
    """The peak resident memory of a process that does nothing but validate the trace (Linux).

    Not `ru_maxrss`, which a process inherits from the one that started it.
    """
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATE, str(path)], check=True, capture_output=True, text=True
    )
    found = _PEAK.search(done.stdout)
    return int(found[1]) / 1024 if found is not None else float("nan")
