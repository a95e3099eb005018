"""Read a script: TOML text, checked member by member."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from clausewise.core.errors import UsageError
from clausewise.reference.client.answers import Answers, FormAnswer, SamplingAnswer
from clausewise.reference.client.script.grammar import (
    ANSWERS,
    COMMON,
    STEPS,
    Member,
    checked,
)
from clausewise.reference.client.script.step import Do, Expectation, Script, Step

_MAX_STEPS = 10_000
_NAMED = frozenset({Do.CALL, Do.READ, Do.GET, Do.LISTEN, Do.REQUEST})
"""What a later step can refer to."""


def parse_script(source: str, name: str = "the script") -> Script:
    """The script that TOML text holds.

    Raises:
        UsageError: it is no TOML, or holds what no script may hold; the message says where.
    """
    try:
        document = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no TOML: {error}", "See docs/reference-client.md.") from None
    top = checked(document, _TOP, name)
    steps = tuple(
        _step(table, f"step {number}") for number, table in enumerate(top.get("step", ()), 1)
    )
    _check_references(steps)
    given = top.get("answers", {})
    changes = [step.values for step in steps if step.do is Do.ANSWER]
    answers = answers_of(given, Answers())
    return Script(steps, answers, _declared(answers, changes))


def answers_of(given: Mapping[str, Any], before: Answers) -> Answers:
    """`before` with the answers that a checked table gives."""
    changed: dict[str, Any] = {}
    if "form" in given:
        changed["form"] = FormAnswer(**given["form"])
    if "sampling" in given:
        changed["sampling"] = SamplingAnswer(**given["sampling"])
    for name in ("url", "roots", "extensions"):
        if name in given:
            changed[name] = given[name]
    return replace(before, **changed)


def _declared(answers: Answers, changes: Iterable[Mapping[str, Any]]) -> Answers:
    """Everything that is answered at one time or another; sampling with tools wins."""
    declared = answers
    for given in changes:
        later = answers_of(given, declared)
        if declared.sampling is not None and declared.sampling.tool is not None:
            later = replace(later, sampling=declared.sampling)
        declared = later
    return declared


def _tables(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MAX_STEPS:
        raise ValueError(f"at most {_MAX_STEPS} tables, each begun by [[step]]")
    return value


_TOP = {
    "answers": Member(lambda value: checked(value, ANSWERS, "answers")),
    "step": Member(_tables, required=True),
}


def _step(table: Any, where: str) -> Step:
    doing = table.get("do") if isinstance(table, dict) else None
    if not isinstance(doing, str) or doing not in list(Do):
        checked({"do": doing} if doing is not None else {}, COMMON, where)
        raise UsageError(f"{where} is no table", "Begin each step by [[step]].")
    do = Do(doing)
    own = ANSWERS if do is Do.ANSWER else STEPS[do]
    values = checked(table, {**COMMON, **own}, f"{where} ({do})")
    expect = Expectation(
        values.get("expect", {}), values.get("present", ()), values.get("absent", ())
    )
    if do is Do.COMPLETE and ("prompt" in values) == ("template" in values):
        raise UsageError(f"{where} (complete) needs either 'prompt' or 'template'")
    return Step(
        do,
        {key: value for key, value in values.items() if key not in COMMON},
        values.get("name", ""),
        expect,
        values.get("within"),
    )


def _check_references(steps: Iterable[Step]) -> None:
    """Each `of` names an earlier step that can be referred to, and no name is given twice."""
    known: set[str] = set()
    for number, step in enumerate(steps, 1):
        of = step.values.get("of")
        if of is not None and of not in known:
            raise UsageError(
                f"step {number} ({step.do}) is of {of!r}, which no earlier step is called",
                f"Name one of {', '.join(sorted(known))}." if known else "Give a step a name.",
            )
        if step.name in known:
            raise UsageError(f"step {number} is called {step.name!r}, as an earlier one is")
        if step.name:
            if step.do not in _NAMED:
                raise UsageError(f"step {number} ({step.do}) cannot be referred to by a name")
            known.add(step.name)
