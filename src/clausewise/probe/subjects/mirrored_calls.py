"""Calls of tools some of whose parameters travel in `Mcp-Param-*` headers, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.judge.subjects.annotations import Annotation, annotations_of
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import HeaderEdit
from clausewise.probe.observation import Observation, inconclusive, not_applicable, not_observed
from clausewise.probe.offered import ToolCall
from clausewise.probe.subjects.named_requests import NAME_IT
from clausewise.wire.samples import IMPOSSIBLE, sample_value

_MAX_CALLS = 2


@dataclass(frozen=True, slots=True)
class MirroredCall:
    """A call that may be made: the tool, arguments that fit it, its annotated parameters.

    Every annotated parameter has a value for which a header can be made.
    """

    tool: Mapping[str, Any]
    arguments: Mapping[str, Any]
    parameters: tuple[Annotation, ...]

    async def send(
        self,
        peer: Peer,
        arguments: Mapping[str, Any],
        headers: Mapping[str, HeaderEdit] | None = None,
        rule: str | None = None,
    ) -> Reply:
        """Call the tool with these arguments; `headers` depart from what they ask for."""
        params = {"name": self.tool["name"], "arguments": dict(arguments)}
        seconds = peer.tool_s
        changed = headers or {}
        if rule is None:
            return await peer.request("tools/call", params, headers=changed, timeout_s=seconds)
        return await peer.request(
            "tools/call", params, headers=changed, timeout_s=seconds, rule=rule
        )

    def changed(self, parameter: Annotation, value: Any) -> Mapping[str, Any]:
        """The arguments with another value for a parameter; `IMPOSSIBLE` leaves it out."""
        return _changed(self.arguments, parameter.parameter or (), value)

    def is_optional(self, parameter: Annotation) -> bool:
        """Whether the arguments fit without the parameter."""
        *outer, name = parameter.parameter or ("",)
        schema: Any = self.tool["inputSchema"]
        for step in outer:
            schema = schema["properties"][step]
        required = schema.get("required", [])
        return isinstance(required, list) and name not in required


async def mirrored_calls(peer: Peer) -> tuple[MirroredCall, ...] | Observation:
    """The calls to try, or what to say where there is none."""
    if not peer.offers("tools"):
        return not_applicable("the server does not declare the capability tools")
    pages = await peer.pages("tools/list")
    annotated = {str(t.get("name")): t for t in pages.items if annotations_of(t)}
    if not annotated:
        if pages.blocked is not None:
            return inconclusive(pages.blocked)
        return not_applicable("no tool has an x-mcp-header annotation")
    made = (_made(annotated[c.name], c) for c in await peer.callable_tools() if c.name in annotated)
    calls = [call for call in made if call is not None]
    if not calls:
        names = ", ".join(sorted(annotated)[:3])
        return not_observed(f"no tool with x-mcp-header ({names}) may be called; {NAME_IT}")
    return tuple(calls[:_MAX_CALLS])


def _made(tool: Mapping[str, Any], call: ToolCall) -> MirroredCall | None:
    """The call with a value for each annotated parameter, or None when none can be made up."""
    arguments = call.arguments
    parameters: list[Annotation] = []
    for annotation in annotations_of(tool) or ():
        path = annotation.parameter
        value = annotation.value_in(arguments)
        if value is None:
            value = sample_value(annotation.schema)
        if path is None or not isinstance(value, str | int):
            continue
        arguments = _changed(arguments, path, value)
        parameters.append(annotation)
    return MirroredCall(tool, arguments, tuple(parameters)) if parameters else None


def _changed(arguments: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *inner = path
    changed = dict(arguments)
    if inner:
        below = changed.get(name)
        changed[name] = _changed(below if isinstance(below, dict) else {}, tuple(inner), value)
    elif value is IMPOSSIBLE:
        changed.pop(name, None)
    else:
        changed[name] = value
    return changed
