"""Steps that use one feature of the server each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from clausewise.core.vocabulary import Era
from clausewise.reference.client.pages import MAX_PAGES, list_all
from clausewise.reference.client.script.grammar import What
from clausewise.reference.client.script.reading import answers_of
from clausewise.reference.client.script.stage import Handler, NotOfferedError, Stage, outcome_of
from clausewise.reference.client.script.step import Do, Step
from clausewise.reference.messages import JsonObject

_NEEDED = {
    What.TOOLS: "tools",
    What.PROMPTS: "prompts",
    What.RESOURCES: "resources",
    What.TEMPLATES: "resources",
    What.TASKS: "tasks.list",
}


async def _list(stage: Stage, step: Step) -> JsonObject:
    what = step.values["what"]
    stage.need(_NEEDED[what])
    pages = step.values.get("pages") or MAX_PAGES
    listing = await list_all(stage.session, what.method, pages, **stage.how(step))
    outcome = outcome_of(listing.last)
    if "result" in outcome:
        outcome["result"] = {what.member: listing.entries}
        outcome["pages"] = listing.pages
    if listing.fault:
        outcome["fault"] = listing.fault
    rejected = stage.session.tools.rejected
    if what is What.TOOLS and rejected:
        outcome["rejected"] = dict(rejected)
    return outcome


async def _call(stage: Stage, step: Step) -> JsonObject:
    stage.need("tools")
    params: JsonObject = {
        "name": step.values["tool"],
        "arguments": step.values.get("arguments", {}),
    }
    tool = stage.session.tools.find(step.values["tool"])
    if "task" in step.values:
        _may_be_task(stage, tool)
        params["task"] = step.values["task"]
    outcome = await stage.ask(step, "tools/call", params)
    complaint = _misfit(tool, outcome.get("result"))
    return outcome | ({"fault": complaint} if complaint else {})


def _may_be_task(stage: Stage, tool: Mapping[str, Any] | None) -> None:
    """Go on only if the tool may be called as a task.

    Raises:
        NotOfferedError: the server or the tool has no tasks, or the tool is not known.
    """
    _ = stage.legacy
    stage.need("tasks.requests.tools.call")
    if tool is None:
        raise NotOfferedError("the tool was not listed, so that nothing says it takes tasks")
    execution = tool.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, dict) else None
    if support not in ("optional", "required"):
        raise NotOfferedError("the tool does not support tasks")


def _misfit(tool: Mapping[str, Any] | None, result: Any) -> str:
    """What is wrong with structured content by the tool's output schema; empty for nothing."""
    schema = tool.get("outputSchema") if tool is not None else None
    if not isinstance(schema, dict) or not isinstance(result, dict) or result.get("isError"):
        return ""
    if "structuredContent" not in result:
        return ""
    try:
        validator = jsonschema_rs.validator_for(schema, offline=True)
        error = next(iter(validator.iter_errors(result["structuredContent"])), None)
    except (jsonschema_rs.ValidationError, ValueError, TypeError):
        return "the output schema cannot be used"
    return "" if error is None else f"structuredContent does not fit outputSchema: {error.message}"


async def _read(stage: Stage, step: Step) -> JsonObject:
    stage.need("resources")
    return await stage.ask(step, "resources/read", {"uri": step.values["uri"]})


async def _get(stage: Stage, step: Step) -> JsonObject:
    stage.need("prompts")
    params: JsonObject = {"name": step.values["prompt"]}
    if "arguments" in step.values:
        params["arguments"] = step.values["arguments"]
    return await stage.ask(step, "prompts/get", params)


async def _complete(stage: Stage, step: Step) -> JsonObject:
    stage.need("completions")
    values = step.values
    if "prompt" in values:
        reference = {"type": "ref/prompt", "name": values["prompt"]}
    else:
        reference = {"type": "ref/resource", "uri": values["template"]}
    argument = {"name": values["argument"], "value": values["value"]}
    params: JsonObject = {"ref": reference, "argument": argument}
    if "context" in values:
        params["context"] = {"arguments": values["context"]}
    return await stage.ask(step, "completion/complete", params)


async def _subscribe(stage: Stage, step: Step) -> JsonObject:
    _ = stage.legacy
    stage.need("resources.subscribe")
    return await stage.ask(step, f"resources/{step.do}", {"uri": step.values["uri"]})


async def _ping(stage: Stage, step: Step) -> JsonObject:
    _ = stage.legacy
    return await stage.ask(step, "ping")


async def _set_level(stage: Stage, step: Step) -> JsonObject:
    stage.need("logging")
    level = step.values["level"].value
    if stage.session.era is Era.MODERN:
        stage.modern.log_level = level
        return {}
    return await stage.ask(step, "logging/setLevel", {"level": level})


async def _answer(stage: Stage, step: Step) -> JsonObject:
    """Change what the client answers; in the legacy era new roots are announced."""
    desk = stage.session.setup.desk
    before = desk.answers.roots
    desk.answers = answers_of(step.values, desk.answers)
    if stage.session.era is Era.LEGACY and "roots" in step.values and desk.answers.roots != before:
        await stage.legacy.announce_roots()
    return {}


async def _request(stage: Stage, step: Step) -> JsonObject:
    return await stage.ask(step, step.values["method"], step.values.get("params"))


HANDLERS: Mapping[Do, Handler] = {
    Do.LIST: _list,
    Do.CALL: _call,
    Do.READ: _read,
    Do.GET: _get,
    Do.COMPLETE: _complete,
    Do.SUBSCRIBE: _subscribe,
    Do.UNSUBSCRIBE: _subscribe,
    Do.PING: _ping,
    Do.SET_LEVEL: _set_level,
    Do.ANSWER: _answer,
    Do.REQUEST: _request,
}
