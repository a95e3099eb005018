"""Scripts: what they may hold, and what is said of those that hold something else."""

from __future__ import annotations

import pytest

from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Era
from clausewise.reference.client.answers import Action
from clausewise.reference.client.script.expectation import complaints, same
from clausewise.reference.client.script.reading import parse_script
from clausewise.reference.client.script.step import Do, Expectation

PING = '[[step]]\ndo = "ping"\n'


def test_a_step_has_its_members_as_they_are_used() -> None:
    source = """
[[step]]
do = "call"
name = "c"
tool = "t"
arguments = '{"a": null}'
within = 2
background = true
expect = { "/result/isError" = true }
present = ["/result/content"]
absent = ["/error"]
"""
    (step,) = parse_script(source).steps
    assert (step.do, step.name, step.within) == (Do.CALL, "c", 2.0)
    assert step.values == {"tool": "t", "arguments": {"a": None}, "background": True}
    assert step.expect.places == ("/result/isError", "/result/content")
    assert step.expect.absent == ("/error",)


@pytest.mark.parametrize(
    ("source", "said", "hint"),
    [
        ("nonsense", "is no TOML", "docs/reference-client.md"),
        ("", "lacks 'step'", ""),
        ("[step]\ndo = 'ping'", "'step' of the script must be at most", ""),
        ("[[steps]]\n", "unknown member 'steps'", "Did you mean step?"),
        ("[[step]]\n", "step 1 lacks 'do'", ""),
        ('[[step]]\ndo = "cal"', "'do' of step 1 must be one of", "Did you mean call?"),
        ('[[step]]\ndo = "call"', "step 1 (call) lacks 'tool'", ""),
        ('[[step]]\ndo = "call"\ntol = "t"', "unknown member 'tol'", "Did you mean tool?"),
        ('[[step]]\ndo = "call"\ntool = 7', "'tool' of step 1 (call) must be text", ""),
        ('[[step]]\ndo = "call"\ntool = "t"\narguments = 7', "must be a table or the JSON", ""),
        ('[[step]]\ndo = "call"\ntool = "t"\narguments = "{"', "must be a table or the JSON", ""),
        ('[[step]]\ndo = "ping"\nwithin = 0', "must be a number of seconds above 0", ""),
        ('[[step]]\ndo = "ping"\nexpect = { result = 1 }', "must be JSON Pointers", ""),
        ('[[step]]\ndo = "ping"\nname = "p"', "cannot be referred to by a name", ""),
        ('[[step]]\ndo = "cancel"\nof = "c"', "which no earlier step is called", "Give a step"),
        (
            '[[step]]\ndo = "set-level"\nlevel = "warn"',
            "'level' of step 1 (set-level) must be one of",
            "Did you mean warning?",
        ),
        (
            '[[step]]\ndo = "complete"\nargument = "a"\nvalue = ""',
            "needs either 'prompt' or 'template'",
            "",
        ),
        (
            PING + '[[step]]\ndo = "call"\ntool = "t"\nname = "x"\n' * 2,
            "step 3 is called 'x', as an earlier one is",
            "",
        ),
        ('[answers]\nroots = [{ uri = "https://a" }]\n' + PING, "'uri' of a root must be", ""),
        ('[answers]\nroots = [{ uri = "file:///a/%2e%2e/b" }]\n' + PING, "without . and ..", ""),
        ('[answers.form]\naction = "acept"\n' + PING, "must be one of", "Did you mean accept?"),
        ("[answers.extensions]\nplain = {}\n" + PING, "each named like com.example", ""),
        ("[answers.sampling]\nmodels = []\n" + PING, "at least one text", ""),
    ],
)
def test_what_no_script_may_hold_is_told_with_its_place(source: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_script(source)
    told = f"{raised.value.message} {raised.value.hint}"
    assert said in told
    assert hint in told


def test_what_is_answered_at_any_time_is_declared_from_the_start() -> None:
    source = """
[answers.form]
action = "decline"
[[step]]
do = "answer"
url = "accept"
sampling = { tool = "add" }
[[step]]
do = "answer"
sampling = { text = "Only words." }
roots = []
"""
    script = parse_script(source)
    assert script.answers.url is None
    assert script.answers.form is not None
    assert script.answers.form.action is Action.DECLINE
    assert script.declared.capabilities(Era.LEGACY) == {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {"listChanged": True},
    }
    assert script.declared.capabilities(Era.MODERN)["roots"] == {}


def test_extensions_are_declared_in_the_modern_era_alone() -> None:
    source = '[answers.extensions."com.example/extra"]\nlevel = 1\n' + PING
    declared = parse_script(source).declared
    assert declared.capabilities(Era.LEGACY) == {}
    assert declared.capabilities(Era.MODERN) == {"extensions": {"com.example/extra": {"level": 1}}}


def test_a_script_without_answers_declares_nothing() -> None:
    assert parse_script(PING).declared.capabilities(Era.LEGACY) == {}


OUTCOME = {"result": {"a": [{"b/c": 1, "~": True}], "none": None}}


@pytest.mark.parametrize(
    ("expected", "count"),
    [
        (Expectation({"/result/a/0/b~1c": 1}), 0),
        (Expectation({"/result/a/0/b~1c": 1.0}), 0),
        (Expectation({"/result/a/0/b~1c": True}), 1),
        (Expectation({"/result/a/0/~0": True}), 0),
        (Expectation({"/result/none": None}), 0),
        (Expectation({"/result/a/1": None}), 1),
        (Expectation({"/result/a/-1": None}), 1),
        (Expectation({"": OUTCOME}), 0),
        (Expectation(present=("/result/none", "/result/other")), 1),
        (Expectation(absent=("/result/none", "/result/other")), 1),
        (Expectation({"/result": {"a": [], "none": None}}), 1),
    ],
)
def test_an_expectation_is_met_or_told(expected: Expectation, count: int) -> None:
    assert len(complaints(expected, OUTCOME)) == count


def test_an_error_that_nothing_was_expected_of_is_told() -> None:
    outcome = {"error": {"code": -32602}}
    assert len(complaints(Expectation(), outcome)) == 1
    assert len(complaints(Expectation({"/result": {}}), outcome)) == 2
    assert complaints(Expectation({"/error/code": -32602}), outcome) == ()
    assert complaints(Expectation(present=("/error",)), outcome) == ()
    assert complaints(Expectation(any_error=True), outcome) == ()
    assert len(complaints(Expectation(any_error=True), {"fault": "lost"})) == 1


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, True, False),
        (0, False, False),
        ([1, True], [1, True], True),
        ([1], [True], False),
        ({"a": 1}, {"a": True}, False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ("1", 1, False),
        (None, False, False),
    ],
)
def test_json_values_are_compared_by_type_and_value(
    one: object, other: object, equal: bool
) -> None:
    assert same(one, other) is equal
