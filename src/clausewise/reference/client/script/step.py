"""One step of a script, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clausewise.reference.client.answers import Answers
from clausewise.reference.messages import JsonObject


class Do(StrEnum):
    """What a step may do."""

    LIST = "list"
    CALL = "call"
    READ = "read"
    GET = "get"
    COMPLETE = "complete"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    LISTEN = "listen"
    STOP = "stop"
    PING = "ping"
    SET_LEVEL = "set-level"
    ANSWER = "answer"
    AWAIT = "await"
    CANCEL = "cancel"
    RESUME = "resume"
    WAIT = "wait"
    TASK_GET = "task-get"
    TASK_RESULT = "task-result"
    TASK_CANCEL = "task-cancel"
    REQUEST = "request"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold of the outcome of a step; places are JSON Pointers (RFC 6901).

    `any_error` lets the server answer with an error.
    """

    equal: Mapping[str, Any] = field(default_factory=dict)
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    any_error: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """Every place that is expected to hold something."""
        return (*self.equal, *self.present)


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        do: what it does.
        values: its members by name, as `grammar.MEMBERS` describes them.
        name: what later steps call it; empty for none.
        expect: what must hold of its outcome.
        within: seconds it may take; None: those of the run.
    """

    do: Do
    values: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    expect: Expectation = field(default_factory=Expectation)
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A script.

    Attributes:
        steps: in order.
        answers: what the client answers from the start.
        declared: the answers it may come to give, by which it declares its capabilities.
    """

    steps: tuple[Step, ...]
    answers: Answers
    declared: Answers


@dataclass(frozen=True, slots=True)
class StepResult:
    """What came of a step.

    Attributes:
        number: counted from 1.
        outcome: `result` or `error`, `notifications`, and what else the step gives.
        complaints: how the outcome differs from what was expected; empty when all is well.
    """

    number: int
    step: Step
    outcome: JsonObject
    complaints: tuple[str, ...]
