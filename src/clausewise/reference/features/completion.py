"""Completion of prompt arguments and template variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.reference.call import text_param
from clausewise.reference.features.content import Content
from clausewise.reference.features.prompts import find_prompt
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError

_MAX_VALUES = 100


def complete(params: JsonObject, content: Content) -> JsonObject:
    """The result of `completion/complete`: values that begin with what was typed.

    Raises:
        RpcError: the reference or the argument is unknown or ill-typed (invalid params).
    """
    argument = params.get("argument")
    if not isinstance(argument, dict):
        raise RpcError(INVALID_PARAMS, "params.argument must be an object")
    name, typed = text_param(argument, "name"), text_param(argument, "value")
    candidates = _candidates(params.get("ref"), name, content, _context(params))
    matches = [value for value in candidates if value.startswith(typed)]
    values = matches[:_MAX_VALUES]
    return {
        "completion": {
            "values": values,
            "total": len(matches),
            "hasMore": len(matches) > len(values),
        }
    }


def _context(params: JsonObject) -> Mapping[str, str]:
    """The arguments that the client has settled already."""
    context = params.get("context", {})
    settled = context.get("arguments", {}) if isinstance(context, dict) else None
    if not isinstance(settled, dict) or not all(isinstance(v, str) for v in settled.values()):
        raise RpcError(INVALID_PARAMS, "params.context.arguments must be an object of strings")
    return settled


def _candidates(
    ref: Any, name: str, content: Content, settled: Mapping[str, str]
) -> tuple[str, ...]:
    if not isinstance(ref, dict):
        raise RpcError(INVALID_PARAMS, "params.ref must be an object")
    if ref.get("type") == "ref/prompt":
        for argument in find_prompt(text_param(ref, "name"), content.prompts).arguments:
            if argument.name == name:
                return argument.values
    elif ref.get("type") == "ref/resource":
        for template in content.templates:
            if template.uri_template == text_param(ref, "uri") and name in template.values:
                return template.values[name](settled)
    else:
        raise RpcError(INVALID_PARAMS, "params.ref.type must be ref/prompt or ref/resource")
    raise RpcError(INVALID_PARAMS, f"nothing to complete for the argument {name!r}")
