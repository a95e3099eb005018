"""Text of a target made safe, and the steps that reasons suggest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.report.next_steps import next_step
from clausewise.report.text import count, shortened, storable, visible
from clausewise.transport.answers import Answer, Ending, blocked_reason


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 漢 😀", "plain ä 漢 😀"),
        ("a\nb\rc\td", "a\\nb\\rc\\td"),
        ("\x00\x1b[31m\x7f\x9b", "\\x00\\x1b[31m\\x7f\\x9b"),
        ("\u200b\u202e\u2066\ufeff\u2028", "\\u200b\\u202e\\u2066\\ufeff\\u2028"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_would_act_or_hide_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(alphabet=st.characters()))
def test_visible_text_is_one_printable_line_that_can_be_encoded(text: str) -> None:
    shown = visible(text)
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    assert visible(shown) == shown
    shown.encode("utf-8")


@given(st.text(alphabet=st.characters()))
def test_storable_text_can_be_encoded_and_changes_surrogates_only(text: str) -> None:
    stored = storable(text)
    stored.encode("utf-8")
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert stored == text


def test_long_text_is_cut_and_says_how_much_is_missing() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcdef", 3) == "abc … (3 more characters)"


def test_counts_agree_with_their_noun() -> None:
    assert [count(n, "entry", "entries") for n in (0, 1, 2)] == [
        "0 entries",
        "1 entry",
        "2 entries",
    ]


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (401, "--bearer"),
        (403, "more scope"),
        (407, "proxy"),
        (429, "--rate"),
        (307, "redirects"),
        (503, "log"),
    ],
)
def test_a_blocked_answer_suggests_the_step_that_unblocks_it(status: int, step: str) -> None:
    reason = blocked_reason(Answer(None, status, (), b"", (), (), Ending.COMPLETE))
    assert reason is not None
    assert step in (next_step(f"server/discover got no answer: {reason}") or "")


def test_an_answer_that_does_not_come_suggests_more_time() -> None:
    late = Answer(None, None, (), b"", (), (), Ending.TIMEOUT, "no answer in 10 s")
    assert "--timeout" in (next_step(blocked_reason(late) or "") or "")
    assert "--timeout" in (next_step("cut off after 20 seconds") or "")
    assert "--max-time" in (next_step("the run's 120 seconds were used up") or "")


@pytest.mark.parametrize("reason", ["the control failed", "HTTP 4011 came", "id 401", ""])
def test_a_reason_that_is_not_known_suggests_nothing(reason: str) -> None:
    assert next_step(reason) is None
