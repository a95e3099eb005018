"""The registered probes: each names a rule of the catalogue and explains itself."""

from __future__ import annotations

import pytest

from clausewise.probe import registration
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.gates import MODERN_ONLY
from clausewise.probe.observation import Observation, held
from clausewise.probe.registration import Passive, Probe, documentation_of, passive, probe, probes
from clausewise.registry import rules

CAPABILITIES = {"tools", "prompts", "resources", "completions", "logging"}


def test_every_probe_decides_a_rule_of_the_catalogue() -> None:
    assert probes().keys() <= rules().keys()
    assert all(rule == entry.rule for rule, entry in probes().items())


@pytest.mark.parametrize("group", ["DSC", "STL", "DEP", "AUT", "SEC", "REG"])
def test_the_groups_are_whole(group: str) -> None:
    wanted = {rule for rule in rules() if rule.startswith(f"MCP-{group}-")}
    assert wanted <= probes().keys()


@pytest.mark.parametrize("entry", probes().values(), ids=lambda entry: str(entry.rule))
def test_every_docstring_says_what_why_and_how_to_mend(entry: Probe | Passive) -> None:
    parts = entry.documentation
    assert parts.summary.endswith(".")
    assert parts.why.endswith(".")
    assert parts.fix.endswith((".", "`"))


@pytest.mark.parametrize("entry", probes().values(), ids=lambda entry: str(entry.rule))
def test_every_need_is_known(entry: Probe | Passive) -> None:
    needs = entry.needs if isinstance(entry, Probe) else ()
    names = {name for need in needs for name in need.split("|")}
    assert names <= CAPABILITIES | {MODERN_ONLY}


def test_a_rule_has_one_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "_probes", {})

    async def one(_peer: object) -> Observation:
        return held()

    def other(_traffic: Traffic) -> Observation:
        return held()

    probe("MCP-XXX-001")(one)
    with pytest.raises(ValueError, match="two probes"):
        passive("MCP-XXX-001")(other)


def test_a_docstring_without_a_part_is_refused() -> None:
    def undocumented() -> None:
        """It breaks.

        Why: because.
        """

    with pytest.raises(ValueError, match="undocumented"):
        documentation_of(undocumented)


def test_why_and_fix_may_share_a_paragraph() -> None:
    def documented() -> None:
        """It breaks
        in two lines.

        Why: because
        of that.
        Fix: mend it.
        """

    parts = documentation_of(documented)
    assert parts.summary == "It breaks in two lines."
    assert (parts.why, parts.fix) == ("because of that.", "mend it.")
