"""The file of disagreements with the official suite, and how it is compared with a run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from clausewise.core.results import Finding, SubjectKind, Verdict
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from tests.official.calibration import (
    ANY,
    Disagreement,
    Whose,
    differences,
    load,
    of_run,
    our_findings,
    their_failures,
)
from tests.official.suite import Scenario

ENTRY = """
[[finding]]
leg = "client"
revision = "2025-11-25"
scenario = "ping"
clause = "BASE-001"
party = "server"
whose = "theirs"
reason = "It is so."
"""


def test_the_file_reads_and_lists_nothing_twice() -> None:
    listed = load()
    entries = [*listed.findings, *listed.failures]
    places = Counter((one.leg, one.revision, one.defect, one.place) for one in entries)
    assert [place for place, times in places.items() if times > 1] == []


def test_an_entry_is_for_its_leg_and_revision(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(ENTRY)
    calibration = load(tmp_path / "c.toml")
    assert calibration.findings[0].whose is Whose.THEIRS
    place = Disagreement("ping", "BASE-001 server")
    assert of_run(calibration.findings, "client", "2025-11-25") == (place,)
    assert of_run(calibration.findings, "server", "2025-11-25") == ()
    assert of_run(calibration.findings, "client", "2026-07-28") == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('leg = "client"', 'leg = "both"'),
        ('revision = "2025-11-25"', 'revision = "2024-11-05"'),
        ('whose = "theirs"', 'whose = "nobody"'),
        ('reason = "It is so."', 'reason = " "'),
        ('reason = "It is so."', ""),
        ('party = "server"', 'party = "server"\nmore = 1'),
    ],
)
def test_an_entry_that_is_not_as_it_must_be_is_refused(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "c.toml").write_text(ENTRY.replace(old, new))
    with pytest.raises((ValueError, KeyError)):
        load(tmp_path / "c.toml")


def finding(party: Party, severity: Outcome) -> Finding:
    return Finding("c", party, severity, "m", "s", "e", None, "u", "f")


def test_our_findings_are_the_musts_by_party() -> None:
    parties = (Party.SERVER, Party.CLIENT, Party.SERVER)
    broken = tuple(finding(party, Outcome.FAIL) for party in parties)
    warned = (finding(Party.SERVER, Outcome.WARN),)

    def verdict(name: str, outcome: Outcome, findings: tuple[Finding, ...]) -> Verdict:
        level = Level.MUST
        return Verdict(SubjectKind.CLAUSE, name, Revision.LEGACY, level, outcome, findings=findings)

    verdicts = [
        verdict("BASE-001", Outcome.FAIL, broken + warned),
        verdict("BASE-002", Outcome.WARN, warned),
        verdict("BASE-003", Outcome.PASS, ()),
    ]
    assert list(our_findings("ping", verdicts)) == [
        Disagreement("ping", "BASE-001 client"),
        Disagreement("ping", "BASE-001 server"),
    ]


def test_their_failures_are_the_checks_that_failed() -> None:
    scenarios = [
        Scenario("a", True, Counter(FAILURE=2), ("x: m", "w: m"), ("x", "y")),
        Scenario("b", True, Counter(WARNING=1), ("w: m",)),
    ]
    assert list(their_failures(scenarios)) == [Disagreement("a", "x"), Disagreement("a", "y")]


def test_what_is_not_listed_and_what_is_not_seen_differs() -> None:
    listed = [Disagreement("a", "X server"), Disagreement(ANY, "Y server"), Disagreement("d", ANY)]
    seen = [Disagreement("a", "X server"), Disagreement("b", "Y server")]
    assert differences(listed, [*seen, Disagreement("d", "anything")]) == []
    assert differences(listed, [*seen, Disagreement("c", "X server")]) == [
        f"not listed: {Disagreement('c', 'X server')}",
        f"not seen: {Disagreement('d', ANY)}",
    ]
