"""The prompts that a server has listed in full, for requests that name one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction
from clausewise.judge.ledger import Sheet
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.content import objects

MAX_PROMPTS = 10_000
"""Prompts of a list that are remembered; a longer list counts as never complete."""

PAGES = "result:prompts/list"
CHANGES = "notification:notifications/prompts/list_changed"

_S2C = Direction.SERVER_TO_CLIENT


@dataclass(slots=True)
class PromptNames:
    """The list of prompts as it stood when its last page came.

    Attributes:
        required: the required arguments of each prompt of a complete list; None while the
            list is not complete.
        since: seq of the last page of that list.
        pages: what the pages so far list, while a walk through them goes on.
        cursor: the cursor with which the walk goes on; None while there is none.
    """

    required: dict[str, list[str]] | None = None
    since: int = -1
    pages: dict[str, list[str]] = field(default_factory=dict)
    cursor: str | None = None

    def is_unknown(self, name: Any, request_seq: int) -> bool:
        """Whether a request at that seq names a prompt which the complete list lacks."""
        required = self.required
        return (
            required is not None
            and self.since < request_seq
            and isinstance(name, str)
            and name not in required
        )

    def missing(self, name: Any, arguments: Any, request_seq: int) -> str | None:
        """A required argument of the prompt that the request leaves out, or None."""
        if self.required is None or self.since > request_seq or not isinstance(name, str):
            return None
        if not isinstance(arguments, dict):
            return None
        required = self.required.get(name, ())
        return next((argument for argument in required if argument not in arguments), None)

    def forget(self) -> None:
        """The list has changed."""
        self.required, self.cursor = None, None


def note_page(message: Message, session: Session, out: Sheet) -> None:  # noqa: ARG001
    """Handler for `PAGES`: walks through the list, page by page."""
    request = message.request
    if message.direction is not _S2C or request is None or session.shared:
        return
    names = session.state(PromptNames)
    params = request.params if isinstance(request.params, dict) else {}
    asked = params.get("cursor")
    if asked is None:
        names.pages = {}
    elif not isinstance(asked, str) or asked != names.cursor:
        names.cursor = None
        return
    for prompt in objects(message.result.get("prompts")):
        if isinstance(prompt.get("name"), str):
            names.pages[prompt["name"]] = _required_arguments(prompt)
    following = message.result.get("nextCursor")
    names.cursor = following if isinstance(following, str) else None
    if len(names.pages) > MAX_PROMPTS:
        names.forget()
    elif following is None:
        names.required, names.since = names.pages, message.seq


def note_change(message: Message, session: Session, out: Sheet) -> None:  # noqa: ARG001
    """Handler for `CHANGES`: what was listed holds no longer."""
    if message.direction is _S2C:
        session.state(PromptNames).forget()


def _required_arguments(prompt: dict[str, Any]) -> list[str]:
    return [
        argument["name"]
        for argument in objects(prompt.get("arguments"))
        if argument.get("required") is True and isinstance(argument.get("name"), str)
    ]
