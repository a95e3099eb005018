"""Results of the official suite as evidence, and the mapping from its checks to clauses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clausewise import registry
from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Party, Revision
from clausewise.matrix.assembly import Gathered
from clausewise.matrix.evidence import official
from clausewise.matrix.evidence.suite_mapping import suite_mapping

TIME = "2026-01-02T03-04-05-678Z"
LEGACY = Revision.LEGACY


def write(folder: Path, scenario: str, *checks: Any, time: str = TIME) -> None:
    place = folder / f"{scenario}-{time}"
    place.mkdir(parents=True)
    (place / "checks.json").write_text(json.dumps(list(checks)))


def check(id_: str, status: str = "SUCCESS", message: str | None = None) -> dict[str, Any]:
    entry = {"id": id_, "name": "Name", "description": "…", "status": status, "timestamp": TIME}
    return entry if message is None else {**entry, "errorMessage": message}


def gather(folder: Path, party: Party = Party.SERVER) -> Gathered:
    return official.gather(folder, "build/official", LEGACY, party)


def told(found: Gathered) -> list[tuple[str, str, str, str]]:
    return [
        (s.id, s.evidence.outcome.value, s.evidence.pointer, s.evidence.detail)
        for s in found.statements
    ]


def test_a_success_and_a_failure_speak_about_the_clauses_of_the_check(tmp_path: Path) -> None:
    write(tmp_path, "server-ping", check("ping", "FAILURE", "no answer"))
    write(tmp_path, "server-tools-list", check("tools-name-format", "WARNING", "a b"))
    write(tmp_path, "server-server-initialize", check("server-initialize"))
    found = gather(tmp_path)
    assert told(found) == [
        ("PING-001", "fail", "ping/ping", "no answer"),
        ("LIFE-010", "pass", "server-initialize/server-initialize", ""),
        ("TOOL-005", "warn", "tools-list/tools-name-format", "a b"),
        ("TOOL-006", "warn", "tools-list/tools-name-format", "a b"),
        ("TOOL-007", "warn", "tools-list/tools-name-format", "a b"),
    ]
    assert found.sources[0].counts == {"fail": 1, "pass": 1, "warn": 1}
    assert found.problems == ()


def test_a_failure_about_a_should_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "sse-retry", check("client-sse-graceful-reconnect", "FAILURE", "none"))
    (statement,) = gather(tmp_path, Party.CLIENT).statements
    assert (statement.id, statement.evidence.outcome) == ("TRAN-138", "warn")


def test_a_failure_that_may_have_other_causes_shows_nothing_and_is_told(tmp_path: Path) -> None:
    write(
        tmp_path, "server-prompts-get-with-image", check("prompts-get-with-image", "FAILURE", "x")
    )
    found = gather(tmp_path)
    assert [(s.id, s.evidence.outcome) for s in found.statements] == [("PROM-003", "not-observed")]
    (problem,) = found.problems
    assert (problem.kind, problem.message) == (
        "untied-failure",
        "prompts-get-with-image/prompts-get-with-image failed, which breaks no clause by itself: x",
    )


def test_the_worst_of_a_check_that_is_made_often_counts(tmp_path: Path) -> None:
    write(tmp_path, "server-ping", check("ping"), check("ping", "FAILURE", "late"), check("ping"))
    found = gather(tmp_path)
    assert told(found) == [("PING-001", "fail", "ping/ping", "late")]
    assert found.sources[0].counts == {"fail": 1, "pass": 2}


def test_what_is_only_logged_or_skipped_shows_nothing(tmp_path: Path) -> None:
    write(tmp_path, "server-ping", check("outgoing-request", "INFO"), check("ping", "SKIPPED"))
    found = gather(tmp_path)
    assert told(found) == [("PING-001", "not-observed", "ping/ping", "")]
    assert found.problems == ()


def test_an_unmapped_check_of_a_required_scenario_is_told(tmp_path: Path) -> None:
    write(tmp_path, "server-ping", check("ping-is-quick"))
    write(tmp_path, "server-new-scenario", check("news"))
    write(tmp_path, "server-server-sse-polling", check("not-required"))
    messages = [(p.kind, p.message) for p in gather(tmp_path).problems]
    assert messages == [
        ("unmapped-check", "the check new-scenario/news is not mapped to clauses of 2025-11-25"),
        ("unmapped-check", "the check ping/ping-is-quick is not mapped to clauses of 2025-11-25"),
    ]


def test_scenarios_that_are_not_required_show_something_but_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, "server-server-sse-polling", check("server-sse-priming-event"))
    found = gather(tmp_path)
    assert [s.id for s in found.statements] == ["TRAN-031"]
    assert found.sources[0].counts == {}


def test_the_latest_run_of_a_scenario_counts(tmp_path: Path) -> None:
    write(tmp_path, "server-ping", check("ping", "FAILURE"), time="2026-01-01T00-00-00-000Z")
    write(tmp_path, "server-ping", check("ping"), time="2026-01-02T00-00-00-000Z")
    assert [s.evidence.outcome for s in gather(tmp_path).statements] == ["pass"]


def test_a_scenario_with_a_slash_is_a_folder_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "auth/metadata-default", check("pkce-s256-method-used"))
    (statement,) = gather(tmp_path, Party.CLIENT).statements
    assert statement.evidence.pointer == "auth/metadata-default/pkce-s256-method-used"
    assert statement.id == "AUTH-067"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no JSON"),
        ("{}", "is no list of checks"),
        ("[1]", "entry 0 is no check"),
        ('[{"id": 1, "status": "SUCCESS"}]', "entry 0 is no check"),
        ('[{"id": "ping", "status": "GREAT"}]', "entry 0 is no check"),
    ],
)
def test_broken_results_are_an_error_that_names_the_file(
    tmp_path: Path, content: str, words: str
) -> None:
    write(tmp_path, "server-ping")
    (tmp_path / f"server-ping-{TIME}" / "checks.json").write_text(content)
    with pytest.raises(UsageError) as caught:
        gather(tmp_path)
    assert words in caught.value.message
    assert "checks.json" in caught.value.message


def test_huge_results_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(official, "MAX_BYTES", 10)
    write(tmp_path, "server-ping", check("ping"))
    with pytest.raises(UsageError, match="longer than 10 bytes"):
        gather(tmp_path)


def test_results_of_the_other_leg_are_none(tmp_path: Path) -> None:
    write(tmp_path, "server-ping", check("ping"))
    with pytest.raises(UsageError, match="no results of client scenarios in build/official"):
        gather(tmp_path, Party.CLIENT)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        gather(tmp_path / "absent")


@pytest.mark.parametrize("revision", Revision)
def test_the_mapping_names_clauses_and_rules_of_its_revision(revision: Revision) -> None:
    known = {*registry.clauses(revision)}
    if revision is Revision.MODERN:
        known |= set(registry.rules())
    for scenario, checks in suite_mapping(revision).scenarios.items():
        for name, meaning in checks.items():
            assert set(meaning.ids) <= known, f"{scenario}/{name}"


def test_the_more_special_scenario_comes_first() -> None:
    mapped = suite_mapping(LEGACY)
    general = mapped.meaning("auth/metadata-default", "authorization-server-metadata")
    special = mapped.meaning("auth/metadata-var3", "authorization-server-metadata")
    assert general is not None and special is not None
    assert (general.ids, special.ids) == ((), ("AUTH-013",))
    assert mapped.meaning("ping", "wire-schema-valid") is not None
    assert mapped.meaning("ping", "tools-list") is None
