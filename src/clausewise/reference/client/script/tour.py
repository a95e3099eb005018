"""Without a script: use what the server offers, once each, and change nothing there."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Era
from clausewise.reference.client.script.grammar import LogLevel, What
from clausewise.reference.client.script.stage import Stage
from clausewise.reference.client.script.step import Do, Expectation, Step
from clausewise.reference.messages import JsonObject
from clausewise.wire.samples import sample_arguments

_AT_MOST = 10
"""How many entries of one list are used."""

_VARIABLE = re.compile(r"\{[+#./;?&]?([A-Za-z0-9_]+)")
_ANSWERED = Expectation(any_error=True)
_SUBSCRIPTION = "subscription"


@dataclass(frozen=True, slots=True)
class Named:
    """Tools that the user names: they may be called though nothing says they are harmless.

    `arguments` goes with each of them; None makes up what their schemas ask for.
    """

    tools: tuple[str, ...] = ()
    arguments: JsonObject | None = None


NOTHING_NAMED = Named()


@dataclass(slots=True)
class _Seen:
    lists: dict[What, list[Any]] = field(default_factory=dict)

    def of(self, what: What) -> list[Mapping[str, Any]]:
        entries = self.lists.get(what, [])
        return [entry for entry in entries if isinstance(entry, dict)]


async def tour(stage: Stage, named: Named) -> AsyncIterator[Step]:
    """The steps, made as the lists of earlier ones become known (`stage.last`)."""
    session, seen = stage.session, _Seen()
    for what in (What.TOOLS, What.PROMPTS, What.RESOURCES, What.TEMPLATES):
        if session.offers("resources" if what is What.TEMPLATES else what.value):
            yield Step(Do.LIST, {"what": what})
            result = stage.last.get("result")
            seen.lists[what] = result.get(what.member, []) if isinstance(result, dict) else []
    if session.era is Era.LEGACY:
        yield Step(Do.PING)
        if session.offers("logging"):
            yield Step(Do.SET_LEVEL, {"level": LogLevel.DEBUG})
    for step in _uses(stage, seen, named):
        yield step
    for step in _subscriptions(stage, seen):
        yield step


def _uses(stage: Stage, seen: _Seen, named: Named) -> Iterator[Step]:
    for resource in seen.of(What.RESOURCES)[:_AT_MOST]:
        yield Step(Do.READ, {"uri": str(resource.get("uri"))}, expect=_ANSWERED)
    prompts = seen.of(What.PROMPTS)
    for prompt in [one for one in prompts if not _wanted(one)][:_AT_MOST]:
        yield Step(Do.GET, {"prompt": str(prompt.get("name"))}, expect=_ANSWERED)
    if stage.session.offers("completions"):
        yield from _completions(prompts, seen.of(What.TEMPLATES))
    yield from _calls(stage, seen.of(What.TOOLS), named)


def _wanted(prompt: Mapping[str, Any]) -> list[Any]:
    """The arguments without which a prompt cannot be had."""
    arguments = prompt.get("arguments")
    listed = arguments if isinstance(arguments, list) else []
    return [one for one in listed if isinstance(one, dict) and one.get("required")]


def _completions(
    prompts: list[Mapping[str, Any]], templates: list[Mapping[str, Any]]
) -> Iterator[Step]:
    for prompt in prompts:
        arguments = prompt.get("arguments")
        if isinstance(arguments, list) and arguments and isinstance(arguments[0], dict):
            name = str(arguments[0].get("name"))
            values = {"prompt": str(prompt.get("name")), "argument": name, "value": ""}
            yield Step(Do.COMPLETE, values, expect=_ANSWERED)
            break
    for template in templates:
        uri = str(template.get("uriTemplate"))
        variable = _VARIABLE.search(uri)
        if variable is not None:
            values = {"template": uri, "argument": variable[1], "value": ""}
            yield Step(Do.COMPLETE, values, expect=_ANSWERED)
            break


def _calls(stage: Stage, tools: list[Mapping[str, Any]], named: Named) -> Iterator[Step]:
    harmless = [
        tool for tool in tools if _is_read_only(tool) and tool.get("name") not in named.tools
    ]
    for tool in harmless[:_AT_MOST]:
        arguments = sample_arguments(tool.get("inputSchema"))
        if arguments is not None:
            yield _call(stage, tool, arguments)
    by_name = {tool.get("name"): tool for tool in tools}
    for name in named.tools:
        tool = by_name.get(name, {"name": name})
        arguments = named.arguments
        if arguments is None:
            arguments = sample_arguments(tool.get("inputSchema")) or {}
        yield _call(stage, tool, arguments)


def _call(stage: Stage, tool: Mapping[str, Any], arguments: Mapping[str, Any]) -> Step:
    values: JsonObject = {"tool": str(tool.get("name")), "arguments": dict(arguments)}
    execution = tool.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, dict) else None
    if support == "required" and stage.session.offers("tasks.requests.tools.call"):
        values["task"] = {}
    return Step(Do.CALL, {**values, "progress": True}, expect=_ANSWERED)


def _is_read_only(tool: Mapping[str, Any]) -> bool:
    annotations = tool.get("annotations")
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True


def _subscriptions(stage: Stage, seen: _Seen) -> Iterator[Step]:
    uris = [str(one.get("uri")) for one in seen.of(What.RESOURCES)[:1]]
    can_subscribe = stage.session.offers("resources.subscribe") and uris
    if stage.session.era is Era.LEGACY:
        if can_subscribe:
            yield Step(Do.SUBSCRIBE, {"uri": uris[0]})
            yield Step(Do.UNSUBSCRIBE, {"uri": uris[0]})
        return
    wanted: JsonObject = {
        name: True
        for name in ("tools", "prompts", "resources")
        if stage.session.offers(f"{name}.listChanged")
    }
    if can_subscribe:
        wanted["uris"] = uris
    if wanted:
        yield Step(Do.LISTEN, wanted, _SUBSCRIPTION)
        yield Step(Do.STOP, {"of": _SUBSCRIPTION})
