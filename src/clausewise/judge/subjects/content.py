"""Where results carry content blocks, embedded resources and links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_Object = dict[str, Any]


def objects(value: Any) -> Iterator[_Object]:
    """The objects in an array; none of any other value."""
    if type(value) is list:
        for item in value:
            if type(item) is dict:
                yield item


def prompt_blocks(result: _Object) -> Iterator[_Object]:
    """The content blocks of a GetPromptResult.

    A message has one block; an array of them is a fault of its own and is looked into.
    """
    for message in objects(result.get("messages")):
        content = message.get("content")
        if type(content) is dict:
            yield content
        else:
            yield from objects(content)


def embedded_resource(block: _Object) -> Any:
    """What a block of type `resource` embeds, whatever it is; None for other blocks."""
    return block.get("resource") if block.get("type") == "resource" else None
