"""What the client answers when the server asks: said beforehand, for no user is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from clausewise.core.vocabulary import Era
from clausewise.reference.messages import JsonObject


class Action(StrEnum):
    """What a user may do with an elicitation."""

    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """The answer to a form: `content` counts when it is accepted; defaults fill what it lacks."""

    action: Action = Action.DECLINE
    content: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SamplingAnswer:
    """What the scripted model says.

    Attributes:
        refuse: the user rejects every request.
        text: what it says, cut to the length asked for.
        models: the models there are, best first; hints choose among them.
        tool: the tool it uses when it may, with `input` as its arguments; None: the client
            takes no requests with tools.
    """

    refuse: bool = False
    text: str = "Yes."
    models: tuple[str, ...] = ("scripted",)
    tool: str | None = None
    input: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers; None where the client does not declare the feature.

    Attributes:
        form: to form mode elicitations.
        url: to URL mode elicitations; the URL itself is never fetched.
        sampling: to sampling requests.
        roots: the roots exposed, each with `uri` and perhaps `name`.
        extensions: the extensions declared, each with its settings (2026-07-28).
    """

    form: FormAnswer | None = None
    url: Action | None = None
    sampling: SamplingAnswer | None = None
    roots: tuple[JsonObject, ...] | None = None
    extensions: JsonObject = field(default_factory=dict)

    def capabilities(self, era: Era) -> JsonObject:
        """The client capabilities that these answers amount to."""
        declared: JsonObject = {}
        modes: JsonObject = {}
        if self.form is not None:
            modes["form"] = {}
        if self.url is not None:
            modes["url"] = {}
        if modes:
            declared["elicitation"] = modes
        if self.sampling is not None:
            declared["sampling"] = {} if self.sampling.tool is None else {"tools": {}}
        if self.roots is not None:
            declared["roots"] = {"listChanged": True} if era is Era.LEGACY else {}
        if self.extensions and era is Era.MODERN:
            declared["extensions"] = dict(self.extensions)
        return declared


UNSCRIPTED = {
    Era.LEGACY: Answers(FormAnswer(), Action.DECLINE, SamplingAnswer(refuse=True), ()),
    Era.MODERN: Answers(FormAnswer(), Action.DECLINE),
}
"""Without a script everything is refused; 2026-07-28 deprecates sampling and roots."""
