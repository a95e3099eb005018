"""Defects against what a client offers in 2025-11-25: elicitation, sampling, roots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from clausewise.reference.client.defects.changing import (
    Apply,
    dropped,
    is_method,
    legacy_defect,
)
from clausewise.reference.client.wiring import ClientWiring
from clausewise.reference.input_requests import ELICIT, LIST_ROOTS, SAMPLE
from clausewise.reference.messages import JsonObject


def _answering(method: str, change: Callable[[JsonObject, JsonObject], JsonObject]) -> Apply:
    """Changes the results for one method: (request, result)."""

    def apply(wiring: ClientWiring) -> ClientWiring:
        def respond(asked: JsonObject, response: JsonObject) -> JsonObject:
            response = wiring.respond(asked, response)
            if asked.get("method") != method or "result" not in response:
                return response
            return {**response, "result": change(asked, response["result"])}

        return replace(wiring, respond=respond)

    return apply


def _unfit(_asked: JsonObject, result: JsonObject) -> JsonObject:
    """An accepted form whose content misses what the schema asks for."""
    return {**result, "content": {}} if result.get("content") else result


def _as_tool_use(asked: JsonObject, result: JsonObject) -> JsonObject:
    if not asked.get("params", {}).get("tools"):
        return result
    use = {"type": "tool_use", "id": "use-again", "name": "add", "input": {"a": 1, "b": 1}}
    return {**result, "content": use, "stopReason": "toolUse"}


def _over_http(_asked: JsonObject, result: JsonObject) -> JsonObject:
    return {**result, "roots": [{"uri": "https://example.com/project"}]}


DEFECTS = (
    legacy_defect(
        "form-content-unfit",
        "Accepted forms are empty, whatever they must hold.",
        _answering(ELICIT, _unfit),
        "ELIC-049",
    ),
    legacy_defect(
        "forbidden-tool-used",
        "The model uses a tool again and again, even where the server allows none.",
        _answering(SAMPLE, _as_tool_use),
        "SAMP-011",
    ),
    legacy_defect(
        "roots-change-not-announced",
        "Changed roots are not announced.",
        dropped(is_method("notifications/roots/list_changed")),
        "ROOT-002",
    ),
    legacy_defect(
        "root-of-another-scheme",
        "The root is an https URI.",
        _answering(LIST_ROOTS, _over_http),
        "ROOT-003",
    ),
)
