"""Defects against what a client offers in 2025-11-25: elicitation, sampling, roots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from clausewise.reference.client.defects.changing import (
    Apply,
    both,
    dropped,
    is_method,
    legacy_defect,
    nothing_declared,
    undeclared,
)
from clausewise.reference.client.wiring import ClientWiring
from clausewise.reference.input_requests import ELICIT, LIST_ROOTS, SAMPLE
from clausewise.reference.messages import INTERNAL_ERROR, JsonObject


def _responding(method: str, change: Callable[[JsonObject], JsonObject]) -> Apply:
    """Changes the responses to one method."""

    def apply(wiring: ClientWiring) -> ClientWiring:
        def respond(asked: JsonObject, response: JsonObject) -> JsonObject:
            response = wiring.respond(asked, response)
            return change(response) if asked.get("method") == method else response

        return replace(wiring, respond=respond)

    return apply


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


def _gladly(response: JsonObject) -> JsonObject:
    """A message of the model where the request is refused."""
    content = {"type": "text", "text": "As you like."}
    result = {"role": "assistant", "content": content, "model": "scripted"}
    return {"jsonrpc": "2.0", "id": response["id"], "result": result}


def _failing(response: JsonObject) -> JsonObject:
    error = {"code": INTERNAL_ERROR, "message": "Something went wrong"}
    return {"jsonrpc": "2.0", "id": response["id"], "error": error}


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


_SILENT_CHANGES = dropped(is_method("notifications/roots/list_changed"))

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
    legacy_defect(
        "undeclared-roots-told",
        "Roots are told by a client that declares nothing.",
        both(nothing_declared, _SILENT_CHANGES),
        "ROOT-001",
        "ROOT-004",
        occasion="roots-undeclared",
    ),
    legacy_defect(
        "roots-refused-as-failure",
        "A client that declares nothing refuses to tell roots as if it had failed.",
        both(nothing_declared, _SILENT_CHANGES, _responding(LIST_ROOTS, _failing)),
        "ROOT-004",
        occasion="roots-undeclared",
    ),
    legacy_defect(
        "undeclared-mode-answered",
        "A form is answered though only URL mode is declared.",
        undeclared("elicitation", "form"),
        "ELIC-021",
        occasion="elicitation-mode-unsupported",
    ),
    legacy_defect(
        "malformed-sampling-answered",
        "The model answers a request whose tool use has no result.",
        _responding(SAMPLE, _gladly),
        "SAMP-012",
        occasion="sampling-use-without-result",
    ),
    legacy_defect(
        "ping-answered-at-length",
        "The answer to a ping has a member.",
        _answering("ping", lambda _asked, _result: {"alive": True}),
        "PING-001",
        occasion="request-id-reused",
    ),
)
