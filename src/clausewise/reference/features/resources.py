"""The resources and resource templates of the reference server."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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

WELCOME = "reference://texts/welcome"
COUNTER = "reference://counter"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: its listing and what `resources/read` gives, text or base64 blob."""

    uri: str
    name: str
    description: str
    mime_type: str
    text: str | None = None
    blob: str | None = None

    @property
    def definition(self) -> JsonObject:
        """The entry of `resources/list`."""
        return {
            "uri": self.uri,
            "name": self.name,
            "title": self.name.replace("-", " ").capitalize(),
            "description": self.description,
            "mimeType": self.mime_type,
        }

    @property
    def contents(self) -> JsonObject:
        """The item of `contents` in `resources/read`."""
        body = {"text": self.text} if self.text is not None else {"blob": self.blob}
        return {"uri": self.uri, "mimeType": self.mime_type, **body}


RESOURCES: tuple[Resource, ...] = (
    Resource(
        WELCOME, "welcome", "A line of text.", "text/plain", text="Welcome to the reference server."
    ),
    Resource(
        "reference://texts/numbers",
        "numbers",
        "A list of numbers as JSON.",
        "application/json",
        text="[1, 2, 3]",
    ),
    Resource("reference://images/pixel", "pixel", "One pixel.", "image/png", blob=PIXEL_PNG),
    Resource("reference://sounds/silence", "silence", "Silence.", "audio/wav", blob=SILENCE_WAV),
    Resource(
        COUNTER, "counter", "Changes when the tool touch_counter is called.", "text/plain", text="0"
    ),
    Resource(
        "reference://texts/empty",
        "empty",
        "An existing resource with no text.",
        "text/plain",
        text="",
    ),
)

_EXPRESSION = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A resource template whose expressions are single variables (RFC 6570, level 1).

    Attributes:
        text: what `resources/read` gives, from the values of the variables.
        values: the values a variable may have; one that is not listed may have any.
    """

    uri_template: str
    name: str
    description: str
    mime_type: str
    text: Callable[[Mapping[str, str]], str]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        if any(value not in self.values.get(name, (value,)) for name, value in variables.items()):
            return None
        return {"uri": uri, "mimeType": self.mime_type, "text": self.text(variables)}


TEMPLATES: tuple[Template, ...] = (
    Template(
        "reference://notes/{topic}",
        "notes",
        "A note about a topic of the protocol.",
        "text/plain",
        lambda variables: f"A note about {variables['topic']}.",
        {
            "topic": (
                "base",
                "cancellation",
                "lifecycle",
                "pagination",
                "progress",
                "prompts",
                "tools",
            )
        },
    ),
)


def read(uri: str, resources: tuple[Resource, ...], templates: tuple[Template, ...]) -> JsonObject:
    """The contents of the resource `uri`: one of `resources`, or an expansion of a template.

    Raises:
        ResourceNotFoundError: there is none.
    """
    for resource in resources:
        if resource.uri == uri:
            return resource.contents
    for template in templates:
        contents = template.read(uri)
        if contents is not None:
            return contents
    raise ResourceNotFoundError(uri)
