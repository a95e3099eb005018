"""Completion of prompt arguments and template variables."""

from __future__ import annotations

from typing import Any

from clausewise.reference.call import text_param
from clausewise.reference.features.prompts import Prompt, find_prompt
from clausewise.reference.features.resources import TEMPLATE, TOPICS
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError

_MAX_VALUES = 100


def complete(params: JsonObject, prompts: tuple[Prompt, ...]) -> JsonObject:
    """The result of `completion/complete`: values that begin with what was typed.

    Raises:
        RpcError: the reference or the argument is unknown or ill-typed (invalid params).
    """
    argument = params.get("argument")
    if not isinstance(argument, dict):
        raise RpcError(INVALID_PARAMS, "params.argument must be an object")
    name, typed = text_param(argument, "name"), text_param(argument, "value")
    matches = [v for v in _candidates(params.get("ref"), name, prompts) if v.startswith(typed)]
    values = matches[:_MAX_VALUES]
    return {
        "completion": {
            "values": values,
            "total": len(matches),
            "hasMore": len(matches) > len(values),
        }
    }


def _candidates(ref: Any, name: str, prompts: tuple[Prompt, ...]) -> tuple[str, ...]:
    if not isinstance(ref, dict):
        raise RpcError(INVALID_PARAMS, "params.ref must be an object")
    if ref.get("type") == "ref/prompt":
        for argument in find_prompt(text_param(ref, "name"), prompts).arguments:
            if argument.name == name:
                return argument.values
    elif ref.get("type") == "ref/resource":
        if text_param(ref, "uri") == TEMPLATE and name == "topic":
            return TOPICS
    else:
        raise RpcError(INVALID_PARAMS, "params.ref.type must be ref/prompt or ref/resource")
    raise RpcError(INVALID_PARAMS, f"nothing to complete for the argument {name!r}")
