"""The prompts of the reference server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from clausewise.reference.call import Call
from clausewise.reference.features.resources import PIXEL, PIXEL_PNG, SILENCE_WAV, WELCOME
from clausewise.reference.input_requests import accepted, form
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError

Render = Callable[[Call, Mapping[str, str]], Awaitable[list[JsonObject]]]


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
    """A prompt: its listing and how its messages come about from the (checked) arguments."""

    name: str
    description: str
    render: Render
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


def user_message(content: JsonObject) -> JsonObject:
    """A prompt message of the user."""
    return {"role": "user", "content": content}


async def _greet(_call: Call, arguments: Mapping[str, str]) -> list[JsonObject]:
    language = arguments.get("language", "english")
    text = f"Greet {arguments['name']} in {language}."
    return [user_message({"type": "text", "text": text})]


async def _summarize(_call: Call, _arguments: Mapping[str, str]) -> list[JsonObject]:
    embedded = {
        "uri": WELCOME,
        "mimeType": "text/plain",
        "text": "Welcome to the reference server.",
    }
    return [
        user_message({"type": "text", "text": "Summarize this text in one sentence."}),
        user_message({"type": "resource", "resource": embedded}),
        {"role": "assistant", "content": {"type": "text", "text": "It welcomes the reader."}},
    ]


_PICTURE: JsonObject = {"uri": PIXEL, "mimeType": "image/png", "blob": PIXEL_PNG}


async def _describe(_call: Call, _arguments: Mapping[str, str]) -> list[JsonObject]:
    return [
        user_message({"type": "image", "data": PIXEL_PNG, "mimeType": "image/png"}),
        user_message({"type": "audio", "data": SILENCE_WAV, "mimeType": "audio/wav"}),
        user_message({"type": "resource", "resource": _PICTURE}),
    ]


_MOOD = form(
    "mood",
    "What mood shall the story have?",
    {"mood": {"type": "string", "enum": ["cheerful", "sad"]}},
    "mood",
)


async def _tell_story(call: Call, _arguments: Mapping[str, str]) -> list[JsonObject]:
    content = accepted((await call.ask(_MOOD))[_MOOD.key])
    mood = "plain" if content is None else content["mood"]
    return [
        user_message({"type": "text", "text": f"Tell a {mood} story about this."}),
        user_message(
            {"type": "resource_link", "uri": WELCOME, "name": "welcome", "mimeType": "text/plain"}
        ),
    ]


LANGUAGES = ("english", "estonian", "french", "german", "greek", "japanese", "spanish")

PROMPTS: tuple[Prompt, ...] = (
    Prompt("describe_media", "Asks for a description of pictures and a sound.", _describe),
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
    Prompt("tell_story", "Asks the user for a mood first; links a resource.", _tell_story),
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


async def get(prompt: Prompt, call: Call) -> JsonObject:
    """The result of `prompts/get`.

    Raises:
        RpcError: an argument is missing or no string (invalid params), or the prompt needs more
            of the client.
    """
    arguments = call.params.get("arguments")
    given = {} if arguments is None else arguments
    if not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
        raise RpcError(INVALID_PARAMS, "prompt arguments must be an object of strings")
    missing = [a.name for a in prompt.arguments if a.required and a.name not in given]
    if missing:
        raise RpcError(INVALID_PARAMS, f"missing prompt arguments: {', '.join(missing)}")
    return {"description": prompt.description, "messages": await prompt.render(call, given)}
