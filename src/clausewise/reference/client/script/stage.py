"""What the steps of a script share: the session, and what earlier steps began."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from clausewise.reference.client.call import Call, Reply
from clausewise.reference.client.legacy_session import LegacySession
from clausewise.reference.client.modern_session import ModernSession
from clausewise.reference.client.script.step import Step
from clausewise.reference.client.session import Session
from clausewise.reference.messages import JsonObject


class NotOfferedError(Exception):
    """A step needs what the server does not declare or its revision does not have."""


@dataclass(slots=True)
class Stage:
    """Where steps are played.

    Attributes:
        session: the session in use.
        calls: the requests of steps that have a name.
        last: the outcome of the step before.
        waited: how many notifications of a method earlier waits have used up.
    """

    session: Session
    calls: dict[str, Call] = field(default_factory=dict)
    last: JsonObject = field(default_factory=dict)
    waited: dict[str, int] = field(default_factory=dict)

    @property
    def legacy(self) -> LegacySession:
        """The session when it is a legacy one.

        Raises:
            NotOfferedError: it is not.
        """
        if not isinstance(self.session, LegacySession):
            raise NotOfferedError("revision 2026-07-28 does not have this")
        return self.session

    @property
    def modern(self) -> ModernSession:
        """The session when it is a modern one.

        Raises:
            NotOfferedError: it is not.
        """
        if not isinstance(self.session, ModernSession):
            raise NotOfferedError("revision 2025-11-25 does not have this")
        return self.session

    def need(self, capability: str) -> None:
        """Go on only if the server declares `capability`, a dotted path.

        Raises:
            NotOfferedError: it does not.
        """
        if not self.session.offers(capability):
            raise NotOfferedError(f"the server does not declare {capability}")

    async def ask(
        self, step: Step, method: str, params: JsonObject | None = None, **how: Any
    ) -> JsonObject:
        """Send the request of a step, beside what follows if it wants that; gives its outcome."""
        call = self.call(step, method, params, **how)
        if step.values.get("background"):
            self.session.start(call)
            return {}
        return outcome_of(await self.session.run(call))

    def call(self, step: Step, method: str, params: JsonObject | None = None, **how: Any) -> Call:
        """The request of a step, kept under its name."""
        call = self.session.call(method, params, **self.how(step), **how)
        if step.name:
            self.calls[step.name] = call
        return call

    def begun(self, name: str) -> Call:
        """The request of the step of that name.

        Raises:
            NotOfferedError: the step could not be played.
        """
        if name not in self.calls:
            raise NotOfferedError(f"{name!r} was never sent")
        return self.calls[name]

    def how(self, step: Step) -> dict[str, Any]:
        """The members of a `Call` that the step sets."""
        found: dict[str, Any] = {} if step.within is None else {"seconds": step.within}
        for name in ("progress", "fresh"):
            if name in step.values:
                found[name] = step.values[name]
        return found

    def seconds(self, step: Step) -> float:
        """How long the step may wait."""
        return step.within or self.session.setup.seconds


Handler = Callable[[Stage, Step], Awaitable[JsonObject]]
"""Plays one kind of step and gives its outcome."""


def outcome_of(reply: Reply) -> JsonObject:
    """The outcome of a request: `result` or `error`, and what else is known of it."""
    outcome: JsonObject = {}
    for member in ("result", "error"):
        if reply.response is not None and member in reply.response:
            outcome[member] = reply.response[member]
    if reply.fault:
        outcome["fault"] = reply.fault
    if reply.status is not None:
        outcome["status"] = reply.status
    if reply.notices:
        outcome["notifications"] = list(reply.notices)
    if reply.asked:
        outcome["asked"] = list(reply.asked)
    if reply.cached:
        outcome["cached"] = True
    if reply.rounds:
        outcome["rounds"] = reply.rounds
    return outcome
