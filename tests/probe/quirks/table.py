"""python -m tests.probe.quirks.table [WORD]: what a check finds on each server with a quirk."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor

from clausewise.core.vocabulary import Era, Outcome
from tests.defects.reference_runs import broken
from tests.probe.quirks.serving import check_quirk

_TABLES = ("framing", "features", "messages", "protection", "processes")


def every():  # type: ignore[no-untyped-def]
    found = []
    for name in _TABLES:
        try:
            module = importlib.import_module(f"tests.probe.quirks.{name}")
        except ModuleNotFoundError:
            continue
        found += [(name, number, quirk) for number, quirk in enumerate(module.QUIRKS)]
    return found


def one(table: str, number: int, era: str):  # type: ignore[no-untyped-def]
    quirk = importlib.import_module(f"tests.probe.quirks.{table}").QUIRKS[number]
    begin = time.monotonic()
    try:
        result = check_quirk(quirk, Era(era))
    except Exception:
        return table, quirk.name, 0.0, {"raised": [traceback.format_exc()[-1500:]]}, {}, 0
    undecided = {v.id: v.reason for v in result.verdicts if v.outcome is Outcome.INCONCLUSIVE}
    decided = sum(v.outcome in (Outcome.PASS, Outcome.FAIL) for v in result.verdicts)
    return table, quirk.name, time.monotonic() - begin, broken(result), undecided, decided


if __name__ == "__main__":
    era = sys.argv[1]
    words = sys.argv[2:]
    jobs = [
        (t, n, era) for t, n, q in every() if not words or any(w in t + " " + q.name for w in words)
    ]
    with ProcessPoolExecutor(3) as pool:
        for t, name, took, found, undecided, decided in pool.map(one, *zip(*jobs)):
            print(f"{'!' if found else ' '} {t}: {name} {took:.1f}s decided {decided}", flush=True)
            for key, messages in found.items():
                print("     ", key, messages, flush=True)
            for key, reason in undecided.items():
                print("       inconclusive", key, reason, flush=True)
