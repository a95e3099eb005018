"""The whole against itself: each defect of the reference server trips what it names.

Every case is a full `check` with every probe and every check on.
"""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Era, Outcome, TransportKind
from clausewise.reference.defects import Defect, list_defects
from tests.defects.reference_runs import broken, check_defect, check_protected
from tests.defects.table import combinations, named_by

CASES = [
    pytest.param(defect, era, transport, id=f"{defect.name}-{era}-{transport}")
    for defect, era, transport in combinations()
]


PROTECTED = [one for one in list_defects() if one.protected and Era.DUAL in one.eras]


@pytest.mark.parametrize("era", list(Era))
def test_without_a_token_a_protected_server_is_judged_by_its_refusal_alone(era: Era) -> None:
    result = check_protected(era, with_token=False)
    assert broken(result) == {}
    assert result.era is None
    passed = {v.id for v in result.verdicts if v.outcome is Outcome.PASS}
    listed = {f"MCP-AUT-{number:03}" for number in range(1, 12)} - {"MCP-AUT-007"}
    assert passed == listed | {"CW-AUT-001", "CW-AUT-003"}
    others = {v.reason for v in result.verdicts if v.outcome is Outcome.INCONCLUSIVE}
    assert len(others) == 1
    assert "--bearer" in (others.pop() or "")


@pytest.mark.parametrize("defect", PROTECTED, ids=lambda defect: defect.name)
def test_a_defect_of_a_protected_server_shows_to_who_has_no_token_too(defect: Defect) -> None:
    """All but too little scope, which shows on a tool that only the right token lists."""
    found = broken(check_protected(Era.DUAL, (defect.name,), with_token=False))
    assert found.keys() == {*defect.rules} - {"MCP-AUT-007"}, found


@pytest.mark.parametrize(("defect", "era", "transport"), CASES)
def test_a_defect_trips_exactly_what_it_names(
    defect: Defect, era: Era, transport: TransportKind
) -> None:
    found = broken(check_defect(defect, era, transport))
    named = named_by(defect, era)
    assert found.keys() == named, found
