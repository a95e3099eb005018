"""The notes that the server of this example offers: its tools and resources."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

NOTES = {"notes://welcome": "Welcome!", "notes://todo": "Buy milk."}

_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class ToolError(Exception):
    """A tool could not do what it was asked for, and the model should know why."""


def tools() -> list[dict[str, Any]]:
    """The tools as `tools/list` gives them."""
    read_only = {"readOnlyHint": True}
    return [
        {
            "name": name,
            "description": (call.__doc__ or "").strip(),
            "inputSchema": _TEXT if name == "echo" else _NO_ARGUMENTS,
            "annotations": read_only,
        }
        for name, call in CALLS.items()
    ]


def echo(arguments: dict[str, Any], cancelled: Event) -> str:  # noqa: ARG001
    """Give back the text."""
    return str(arguments.get("text", ""))


def index(arguments: dict[str, Any], cancelled: Event) -> str:  # noqa: ARG001
    """Index all notes; this takes a while."""
    cancelled.wait(timeout=1.2)
    return "indexed"


def publish(arguments: dict[str, Any], cancelled: Event) -> str:  # noqa: ARG001
    """Publish the notes, which nobody has set up."""
    raise ToolError("no site to publish to: set one up first")


def divide(arguments: dict[str, Any], cancelled: Event) -> str:  # noqa: ARG001
    """Divide the number of notes by the number of trashed notes."""
    return str(len(NOTES) // (len(NOTES) - len(NOTES)))


CALLS: dict[str, Callable[[dict[str, Any], Event], str]] = {
    "echo": echo,
    "index": index,
    "publish": publish,
    "divide": divide,
}


def resources() -> list[dict[str, Any]]:
    """The notes as `resources/list` gives them."""
    return [{"uri": uri, "name": uri.partition("//")[2], "mimeType": "text/plain"} for uri in NOTES]
