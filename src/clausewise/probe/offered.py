"""What of a server's lists can be used without changing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clausewise.wire.samples import sample_arguments

Items = Sequence[Mapping[str, Any]]

TOOL_S = 1.5
"""How many seconds a call may take that is made to see what comes of it; then it is given up."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that may be made: the tool's name and arguments that fit its schema."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def params(self) -> dict[str, Any]:
        return {"name": self.name, "arguments": dict(self.arguments)}


def is_read_only(tool: Mapping[str, Any]) -> bool:
    """Whether a tool declares that it changes nothing."""
    annotations = tool.get("annotations")
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True


def harmless_calls(tools: Items, named: frozenset[str]) -> tuple[ToolCall, ...]:
    """Calls of the tools in `named` (the user's consent), then of the read-only ones.

    A tool whose arguments cannot be made up is left out.
    """
    consented = [tool for tool in tools if tool.get("name") in named]
    read_only = [tool for tool in tools if tool.get("name") not in named and is_read_only(tool)]
    calls: list[ToolCall] = []
    for tool in (*consented, *read_only):
        name, arguments = tool.get("name"), sample_arguments(tool.get("inputSchema"))
        if isinstance(name, str) and arguments is not None:
            calls.append(ToolCall(name, arguments))
    return tuple(calls)


def readable_uri(resources: Items) -> str | None:
    """The URI of the first listed resource, or None."""
    return next((r["uri"] for r in resources if isinstance(r.get("uri"), str)), None)


def gettable_prompt(prompts: Items) -> str | None:
    """The name of the first listed prompt without required arguments, or None."""
    for prompt in prompts:
        required = any(argument.get("required") for argument in prompt_arguments(prompt))
        if isinstance(prompt.get("name"), str) and not required:
            return str(prompt["name"])
    return None


def completable_argument(prompts: Items) -> tuple[str, str] | None:
    """The names of the first listed prompt that has an argument, and of that argument."""
    for prompt in prompts:
        for argument in prompt_arguments(prompt):
            if isinstance(prompt.get("name"), str) and isinstance(argument.get("name"), str):
                return prompt["name"], argument["name"]
    return None


def prompt_arguments(prompt: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The arguments of a listed prompt that are objects."""
    arguments = prompt.get("arguments")
    if not isinstance(arguments, list):
        return []
    return [argument for argument in arguments if isinstance(argument, dict)]
