"""What the server listed: every page to its end, and the tools for their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.judge.subjects.annotations import is_sound
from clausewise.reference.messages import JsonObject

MEMBERS: Mapping[str, str] = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "tasks/list": "tasks",
    "tools/list": "tools",
}
"""The member of a list's result that holds its entries, by method."""


class ToolShelf:
    """The tools listed last, by name.

    Args:
        reject_unsound: leave out tools whose `x-mcp-header` annotations break a constraint, as
            a client over HTTP must; `rejected` tells why.
    """

    def __init__(self, *, reject_unsound: bool) -> None:
        self._reject_unsound = reject_unsound
        self._tools: dict[str, Mapping[str, Any]] = {}
        self.rejected: dict[str, str] = {}
        self.complete = False

    def begin(self) -> None:
        """A list from the beginning follows."""
        self._tools.clear()
        self.rejected.clear()
        self.complete = False

    def take(self, page: Mapping[str, Any]) -> Any:
        """Take in one page; gives the cursor of the next, None after the last."""
        for tool in self.sound(page.get("tools")):
            self._tools[str(tool.get("name"))] = tool
        cursor = page.get("nextCursor")
        self.complete = cursor is None
        return cursor

    def sound(self, tools: Any) -> list[JsonObject]:
        """The tools that may be offered; the others are noted as rejected."""
        offered: list[JsonObject] = []
        for tool in tools if isinstance(tools, list) else ():
            if not isinstance(tool, dict):
                continue
            if self._reject_unsound and not is_sound(tool):
                reason = "an x-mcp-header of its input schema breaks a constraint"
                self.rejected[str(tool.get("name"))] = reason
            else:
                offered.append(tool)
        return offered

    def find(self, name: Any) -> Mapping[str, Any] | None:
        """The tool of this name, or None."""
        return self._tools.get(name) if isinstance(name, str) else None
