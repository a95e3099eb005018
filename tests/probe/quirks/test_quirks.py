"""No right server is accused, however unlike ours; no liar gets away."""

from __future__ import annotations

import pytest

from clausewise.core.errors import TargetError
from tests.defects.reference_runs import broken
from tests.probe.quirks.framing import BUSY, every_nth, redirecting
from tests.probe.quirks.liars import LIARS, Liar
from tests.probe.quirks.serving import Quirk, check_quirk
from tests.probe.quirks.table import QUIRKS, found, surprises


@pytest.mark.parametrize("name", QUIRKS)
def test_a_right_server_of_another_kind_gives_no_finding_and_nothing_is_left_open(
    name: str,
) -> None:
    assert surprises(QUIRKS[name]) == {}


@pytest.mark.parametrize("liar", LIARS, ids=[liar.name for liar in LIARS])
def test_a_violation_in_one_corner_gets_the_findings_of_its_rules_and_no_others(
    liar: Liar,
) -> None:
    assert found(liar).keys() == liar.rules


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_is_no_finding_but_the_user_is_told_where_the_server_is(status: int) -> None:
    quirk = Quirk("redirects to a slash", front=lambda: redirecting(status, "/mcp/"))
    with pytest.raises(BaseExceptionGroup) as raised:
        check_quirk(quirk)
    told = raised.value.subgroup(TargetError)
    assert told is not None
    assert f"redirects to /mcp/ (HTTP {status})" in str(told.exceptions[0])


def test_a_server_that_is_out_of_service_in_between_gives_no_finding() -> None:
    """What was asked at such a moment and cannot be asked again may stay open."""
    quirk = Quirk("is out of service in between", front=lambda: every_nth(97, BUSY))
    assert broken(check_quirk(quirk)) == {}
