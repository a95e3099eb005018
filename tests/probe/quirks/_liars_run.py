import sys
from concurrent.futures import ProcessPoolExecutor
from clausewise.core.vocabulary import Era, Outcome
from tests.defects.reference_runs import broken
from tests.probe.quirks.liars import LIARS
from tests.probe.quirks.serving import Quirk, check_quirk


def one(n):
    l = LIARS[n]
    try:
        r = check_quirk(Quirk(l.name, l.rewire, options=l.options), Era.MODERN)
    except Exception as e:
        return l.name, sorted(l.rules), {"raised": repr(e)}, {}
    return (
        l.name,
        sorted(l.rules),
        broken(r),
        {v.id: v.reason for v in r.verdicts if v.outcome is Outcome.INCONCLUSIVE},
    )


if __name__ == "__main__":
    jobs = [
        n
        for n, l in enumerate(LIARS)
        if len(sys.argv) < 2 or any(w in l.name for w in sys.argv[1:])
    ]
    with ProcessPoolExecutor(3) as p:
        for name, rules, found, und in p.map(one, jobs):
            ok = set(found) == set(rules)
            print("  " if ok else "! ", name, rules, "" if ok else found, und or "", flush=True)
