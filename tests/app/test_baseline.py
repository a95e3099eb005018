"""Baselines: what they list, what becomes stale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clausewise.app.baseline import Entry, entry_of, match, read, write
from clausewise.core.errors import ConfigError, UsageError
from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import Outcome


def test_a_written_baseline_knows_every_finding_of_its_run(
    tmp_path: Path,
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
    run_of: Callable[..., RunResult],
) -> None:
    first, second = finding("one"), finding("surrogate \ud800")
    result = run_of(verdict("X-1", Outcome.FAIL, first, second), verdict("X-2", Outcome.PASS))
    path = tmp_path / "baseline.json"
    assert write(path, result) == 2
    compared = match(result, read(path))
    assert compared.known == {("X-1", first), ("X-1", second)}
    assert compared.stale == ()


def test_numbers_and_ids_in_a_message_may_change(
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
) -> None:
    subject = verdict("X-1", Outcome.FAIL)
    before = entry_of(subject, finding("id 17 came again at seq 4 in session ab3f-9c"))
    after = entry_of(subject, finding("id 18 came again at seq 91 in session 00ff-1a"))
    other = entry_of(subject, finding("id 18 never came at seq 91 in session 00ff-1a"))
    assert before == after != other


def test_an_entry_is_stale_only_when_its_subject_was_judged_without_it(
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
    run_of: Callable[..., RunResult],
) -> None:
    gone = [Entry(f"X-{n}", "a.check", "gone") for n in range(1, 6)]
    result = run_of(
        verdict("X-1", Outcome.PASS),
        verdict("X-2", Outcome.FAIL, finding("another")),
        verdict("X-3", Outcome.NOT_OBSERVED),
        verdict("X-4", Outcome.INCONCLUSIVE),
    )
    assert match(result, gone).stale == (gone[0], gone[1])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "is no JSON"),
        ("[]", "is no clausewise.baseline/1"),
        ('{"schema": "clausewise.baseline/1"}', "no list `findings`"),
        ('{"schema": "clausewise.baseline/1", "findings": [{"id": "X"}]}', "entry without"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        read(path)


def test_a_missing_baseline_is_named_with_the_way_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the baseline") as caught:
        read(tmp_path / "none.json")
    assert "--write-baseline" in caught.value.hint


def test_a_baseline_that_cannot_be_written_is_a_usage_error(
    tmp_path: Path, run_of: Callable[..., RunResult]
) -> None:
    with pytest.raises(UsageError, match="cannot write the baseline"):
        write(tmp_path / "no" / "b.json", run_of())
