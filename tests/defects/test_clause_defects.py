"""Every clause of 2025-11-25 that a check of a server can decide has a defect, or a reason."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

from clausewise import registry
from clausewise.core.vocabulary import Party, Revision
from clausewise.reference.defects import list_defects
from tests.defects.table import Row, combinations, named_by, tried

WITHOUT = tomllib.loads((Path(__file__).parent / "without_defect.toml").read_text("utf-8"))
REASONED = [clause for group in WITHOUT["group"] for clause in group["clauses"]]
DECIDABLE = {
    clause.id
    for clause in registry.clauses(Revision.LEGACY).values()
    if Party.SERVER in clause.binds and (clause.checks or clause.probes)
}


def test_each_decidable_clause_about_servers_has_a_defect_or_a_reason() -> None:
    tripped = {clause for defect in list_defects() for clause in defect.clauses}
    assert sorted(DECIDABLE - tripped) == sorted(REASONED)
    assert tripped <= DECIDABLE
    assert all(len(group["reason"]) > 40 for group in WITHOUT["group"])


def test_no_two_defects_have_one_name() -> None:
    names = Counter(defect.name for defect in list_defects())
    assert [name for name, number in names.items() if number > 1] == []


def test_a_defect_that_is_alike_everywhere_is_tried_once_and_any_other_wherever_it_shows() -> None:
    tried_in = Counter(defect.name for defect, _, _ in combinations())
    for defect in list_defects():
        everywhere = len(defect.eras) * len(defect.transports)
        assert tried_in[defect.name] == (1 if defect.alike else everywhere)
    assert all(era in defect.eras for defect, era, _ in combinations())
    assert all(transport in defect.transports for defect, _, transport in combinations())


def test_the_table_says_what_a_defect_must_trip_and_what_it_has_tripped() -> None:
    defect, era, transport = next(
        one for one in combinations() if one[0].name == "session-id-missing-404"
    )
    row = tried((defect, era, transport))
    assert row.expected == row.tripped == tuple(sorted(named_by(defect, era))) == ("TRAN-014",)
    assert str(row).startswith("  session-id-missing-404")
    assert str(row).endswith("TRAN-014: as expected")
    wrong = Row("a-defect", "legacy stdio", ("BASE-001",), ())
    assert str(wrong).startswith("! a-defect")
    assert str(wrong).endswith("BASE-001: nothing")
