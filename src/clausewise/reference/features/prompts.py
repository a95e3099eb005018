"""The prompts of the reference server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clausewise.reference.features.resources import PIXEL_PNG, SILENCE_WAV, WELCOME
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a prompt, with the values that completion offers for it."""

    name: str
    description: str
    required: bool = False
    values: tuple[str, ...] = ()

    @property
    def definition(self) -> JsonObject:
        return {"name": self.name, "description": self.description, "required": self.required}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: its listing and how its messages come about from the arguments."""

    name: str
    description: str
    render: Callable[[Mapping[str, str]], list[JsonObject]]
    arguments: tuple[Argument, ...] = ()

    @property
    def definition(self) -> JsonObject:
        """The entry of `prompts/list`."""
        return {
            "name": self.name,
            "title": self.name.replace("_", " ").capitalize(),
            "description": self.description,
            "arguments": [argument.definition for argument in self.arguments],
        }


def _user(content: JsonObject) -> JsonObject:
    return {"role": "user", "content": content}


def _greet(arguments: Mapping[str, str]) -> list[JsonObject]:
    language = arguments.get("language", "english")
    return [_user({"type": "text", "text": f"Greet {arguments['name']} in {language}."})]


def _summarize(_: Mapping[str, str]) -> list[JsonObject]:
    embedded = {
        "uri": WELCOME,
        "mimeType": "text/plain",
        "text": "Welcome to the reference server.",
    }
    return [
        _user({"type": "text", "text": "Summarize this text in one sentence."}),
        _user({"type": "resource", "resource": embedded}),
        {"role": "assistant", "content": {"type": "text", "text": "It welcomes the reader."}},
    ]


def _describe(_: Mapping[str, str]) -> list[JsonObject]:
    return [
        _user({"type": "image", "data": PIXEL_PNG, "mimeType": "image/png"}),
        _user({"type": "audio", "data": SILENCE_WAV, "mimeType": "audio/wav"}),
    ]


LANGUAGES = ("english", "estonian", "french", "german", "greek", "japanese", "spanish")

PROMPTS: tuple[Prompt, ...] = (
    Prompt("summarize_welcome", "Summarizes an embedded resource.", _summarize),
    Prompt(
        "greet",
        "Greets somebody by name.",
        _greet,
        (
            Argument("name", "Whom to greet.", required=True),
            Argument("language", "The language to greet in.", values=LANGUAGES),
        ),
    ),
    Prompt("describe_media", "Asks for a description of an image and a sound.", _describe),
)


def find_prompt(name: str, prompts: tuple[Prompt, ...]) -> Prompt:
    """The prompt called `name`.

    Raises:
        RpcError: there is none (invalid params).
    """
    for prompt in prompts:
        if prompt.name == name:
            return prompt
    raise RpcError(INVALID_PARAMS, f"unknown prompt {name!r}")


def get(prompt: Prompt, arguments: object) -> JsonObject:
    """The result of `prompts/get`.

    Raises:
        RpcError: an argument is missing or no string (invalid params).
    """
    given = {} if arguments is None else arguments
    if not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
        raise RpcError(INVALID_PARAMS, "prompt arguments must be an object of strings")
    missing = [a.name for a in prompt.arguments if a.required and a.name not in given]
    if missing:
        raise RpcError(INVALID_PARAMS, f"missing prompt arguments: {', '.join(missing)}")
    return {"description": prompt.description, "messages": prompt.render(given)}
