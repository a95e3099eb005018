"""The resources and resource templates of the reference server."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.input_requests import InputRequest, form
from clausewise.reference.messages import JsonObject, ResourceNotFoundError

PIXEL_PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4"
        "890000000d49444154789c63304898f01f0004040220e4f2a582000000004945"
        "4e44ae426082"
    )
).decode("ascii")
"""A PNG of one pixel, in base64."""

SILENCE_WAV = base64.b64encode(
    bytes.fromhex(
        "524946462c00000057415645666d74201000000001000100401f0000"
        "401f00000100080064617461080000008080808080808080"
    )
).decode("ascii")
"""A WAV of eight silent samples, in base64."""

ICON: JsonObject = {
    "src": f"data:image/png;base64,{PIXEL_PNG}",
    "mimeType": "image/png",
    "sizes": ["1x1"],
}

WELCOME = "reference://texts/welcome"
COUNTER = "reference://counter"
PIXEL = "reference://images/pixel"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: its listing and what `resources/read` gives, text or base64 blob.

    Attributes:
        more: further members of its listing.
        counts: whether its text is how often it was said to have changed.
        personal: whether its text tells of the caller.
        consent: what the user must agree to before it is read.
    """

    uri: str
    name: str
    description: str
    mime_type: str
    text: str | None = None
    blob: str | None = None
    more: JsonObject = field(default_factory=dict)
    counts: bool = False
    personal: bool = False
    consent: InputRequest | None = None

    @property
    def definition(self) -> JsonObject:
        """The entry of `resources/list`."""
        return {
            "uri": self.uri,
            "name": self.name,
            "title": self.name.replace("-", " ").capitalize(),
            "description": self.description,
            "mimeType": self.mime_type,
            **self.more,
        }

    def contents(self, feed: ChangeFeed, *, known: bool) -> JsonObject:
        """The item of `contents` in `resources/read`; `known` tells that the caller has a token."""
        text = str(feed.updates[self.uri]) if self.counts else self.text
        if self.personal:
            text = "You have credentials." if known else "You are anybody."
        body = {"text": text} if text is not None else {"blob": self.blob}
        return {"uri": self.uri, "mimeType": self.mime_type, **body}


_GREETING_TEXT = "Welcome to the reference server."
_CONSENT = form(
    "consent", "May the diary be read?", {"agreed": {"type": "boolean", "title": "Yes"}}, "agreed"
)


RESOURCES: tuple[Resource, ...] = (
    Resource(
        "reference://caller", "caller", "Whether you have a token.", "text/plain", personal=True
    ),
    Resource(
        WELCOME,
        "welcome",
        "A line of text.",
        "text/plain",
        text=_GREETING_TEXT,
        more={
            "size": len(_GREETING_TEXT),
            "icons": [ICON],
            "annotations": {
                "audience": ["user", "assistant"],
                "priority": 0.5,
                "lastModified": "2026-07-28T12:00:00Z",
            },
        },
    ),
    Resource(
        "reference://texts/numbers",
        "numbers",
        "A list of numbers as JSON.",
        "application/json",
        text="[1, 2, 3]",
    ),
    Resource(PIXEL, "pixel", "One pixel.", "image/png", blob=PIXEL_PNG),
    Resource("reference://sounds/silence", "silence", "Silence.", "audio/wav", blob=SILENCE_WAV),
    Resource(COUNTER, "counter", "How often touch_counter was called.", "text/plain", counts=True),
    Resource(
        "reference://texts/empty",
        "empty",
        "An existing resource with no text.",
        "text/plain",
        text="",
    ),
    Resource(
        "reference://texts/diary",
        "diary",
        "Read only if the user agrees.",
        "text/plain",
        text="Nothing happened today.",
        consent=_CONSENT,
    ),
)

_EXPRESSION = re.compile(r"\{(\w+)\}")


Values = Callable[[Mapping[str, str]], tuple[str, ...]]
"""The values of a variable, given those of the others."""


@dataclass(frozen=True, slots=True)
class Template:
    """A resource template whose expressions are single variables (RFC 6570, level 1).

    Attributes:
        text: what `resources/read` gives, from the values of the variables.
        values: the values a variable may have, given the other variables; one that is not
            listed may have any.
    """

    uri_template: str
    name: str
    description: str
    mime_type: str
    text: Callable[[Mapping[str, str]], str]
    values: Mapping[str, Values] = field(default_factory=dict)

    @property
    def definition(self) -> JsonObject:
        """The entry of `resources/templates/list`."""
        return {
            "uriTemplate": self.uri_template,
            "name": self.name,
            "title": self.name.capitalize(),
            "description": self.description,
            "mimeType": self.mime_type,
        }

    def read(self, uri: str) -> JsonObject | None:
        """The item of `contents` for `uri`, or None if it is no expansion of this template."""
        literals = [re.escape(part) for part in _EXPRESSION.split(self.uri_template)]
        literals[1::2] = [f"(?P<{name}>[\\w.~%-]+)" for name in literals[1::2]]
        match = re.fullmatch("".join(literals), uri, re.ASCII)
        if match is None:
            return None
        variables = match.groupdict()
        for name, values in self.values.items():
            if variables[name] not in values(variables):
                return None
        return {"uri": uri, "mimeType": self.mime_type, "text": self.text(variables)}


_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "base": ("messages", "metadata"),
    "cancellation": ("requests",),
    "lifecycle": ("initialization", "shutdown"),
    "pagination": ("cursors",),
    "progress": ("tokens",),
    "prompts": ("arguments", "messages"),
    "tools": ("arguments", "results", "tasks"),
}
"""The sections of each note."""

TEMPLATES: tuple[Template, ...] = (
    Template(
        "reference://notes/{topic}",
        "notes",
        "A note about a topic of the protocol.",
        "text/plain",
        lambda variables: f"A note about {variables['topic']}.",
        {"topic": lambda _others: tuple(_SECTIONS)},
    ),
    Template(
        "reference://notes/{topic}/{section}",
        "sections",
        "A section of a note.",
        "text/plain",
        lambda variables: f"About {variables['topic']}: {variables['section']}.",
        {
            "topic": lambda _others: tuple(_SECTIONS),
            "section": lambda others: _sections(others.get("topic")),
        },
    ),
)


def _sections(topic: str | None) -> tuple[str, ...]:
    """The sections of a topic; of every topic while it is open."""
    if topic is not None:
        return _SECTIONS.get(topic, ())
    return tuple(dict.fromkeys(section for sections in _SECTIONS.values() for section in sections))


def consent_for(uri: str, resources: tuple[Resource, ...]) -> InputRequest | None:
    """What the user must agree to before the resource `uri` is read, if anything."""
    return next((resource.consent for resource in resources if resource.uri == uri), None)


def read(
    uri: str,
    resources: tuple[Resource, ...],
    templates: tuple[Template, ...],
    feed: ChangeFeed,
    *,
    known: bool = False,
) -> JsonObject:
    """The contents of the resource `uri`: one of `resources`, or an expansion of a template.

    Raises:
        ResourceNotFoundError: there is none.
    """
    for resource in resources:
        if resource.uri == uri:
            return resource.contents(feed, known=known)
    for template in templates:
        contents = template.read(uri)
        if contents is not None:
            return contents
    raise ResourceNotFoundError(uri)
