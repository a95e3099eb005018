"""What a server may ask of its client: a form for the user, a model's answer, the roots.

Source: 2025-11-25 client/elicitation, client/sampling, client/roots; 2026-07-28
basic/patterns/mrtr#inputrequests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft202012Validator

from clausewise.core.vocabulary import Revision
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError
from clausewise.wire import shapes

ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"
LIST_ROOTS = "roots/list"

_RESULTS = {ELICIT: "ElicitResult", SAMPLE: "CreateMessageResult", LIST_ROOTS: "ListRootsResult"}


@dataclass(frozen=True, slots=True)
class InputRequest:
    """One request to the client.

    Attributes:
        key: names it among the requests of one call.
        needs: the client capabilities without which it must not be sent.
        may_be_task: whether it may take long, so that a legacy client that runs such requests
            as tasks is asked to.
    """

    key: str
    method: str
    params: JsonObject
    needs: JsonObject
    may_be_task: bool = False

    def is_met_by(self, capabilities: Mapping[str, Any]) -> bool:
        """Whether a client with these capabilities takes the request.

        An `elicitation` object that names no mode means form mode.
        """
        for name, needed in self.needs.items():
            declared = capabilities.get(name)
            if not isinstance(declared, dict):
                return False
            if name == "elicitation" and not declared:
                declared = {"form": {}}
            if not all(isinstance(declared.get(part), dict) for part in needed):
                return False
        return True


def form(key: str, message: str, properties: JsonObject, *required: str) -> InputRequest:
    """Asks the user to fill in a form with these properties."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return InputRequest(key, ELICIT, params, {"elicitation": {"form": {}}})


def visit(key: str, message: str, url: str) -> InputRequest:
    """Asks the user to go to `url`."""
    params = {"mode": "url", "message": message, "url": url}
    return InputRequest(key, ELICIT, params, {"elicitation": {"url": {}}})


def user_text(text: str) -> JsonObject:
    """A sampling message of the user."""
    return {"role": "user", "content": {"type": "text", "text": text}}


def sampling(
    key: str, text: str, max_tokens: int, *, may_be_task: bool = False, **more: Any
) -> InputRequest:
    """Asks the client's model to answer `text`; `more` are further parameters."""
    params = {"messages": [user_text(text)], "maxTokens": max_tokens, **more}
    return InputRequest(key, SAMPLE, params, {"sampling": {}}, may_be_task)


def sampling_with_tools(
    key: str, messages: list[JsonObject], tools: list[JsonObject], *, last: bool
) -> InputRequest:
    """Asks the client's model to go on with a conversation in which it may use `tools`.

    `last` forbids it to use them once more.
    """
    params: JsonObject = {"messages": messages, "maxTokens": 500, "tools": tools}
    params["toolChoice"] = {"mode": "none" if last else "auto"}
    return InputRequest(key, SAMPLE, params, {"sampling": {"tools": {}}})


def list_roots(key: str) -> InputRequest:
    """Asks for the client's roots."""
    return InputRequest(key, LIST_ROOTS, {}, {"roots": {}})


def check_answer(asked: InputRequest, answer: Any, revision: Revision) -> JsonObject:
    """`answer`, once it is a result that `asked` may have.

    Raises:
        RpcError: it has another shape, or an accepted form's content does not fit the form
            (invalid params).
    """
    shape = shapes.validator(revision, _RESULTS[asked.method])
    fault = shapes.first_fault(shape, answer)
    if fault is not None:
        raise RpcError(INVALID_PARAMS, f"the answer to {asked.key} is ill-formed: {fault.message}")
    checked: JsonObject = answer
    content = accepted(checked)
    if asked.params.get("mode") == "form" and content is not None:
        _check_form(asked, content)
    return checked


def _check_form(asked: InputRequest, content: JsonObject) -> None:
    validator = Draft202012Validator(asked.params["requestedSchema"], offline=True)
    problem = next(validator.iter_errors(content), None)
    if problem is not None:
        raise RpcError(INVALID_PARAMS, f"the answer to {asked.key} does not fit: {problem.message}")


def accepted(answer: JsonObject) -> JsonObject | None:
    """What the user filled in, or None if the form was declined or cancelled."""
    return answer.get("content", {}) if answer.get("action") == "accept" else None


def sampled_blocks(answer: JsonObject) -> list[JsonObject]:
    """The content of the model's answer, one block or several."""
    content = answer["content"]
    return content if isinstance(content, list) else [content]


def sampled_text(answer: JsonObject) -> str:
    """The text of the model's answer; other content gives nothing."""
    return "".join(block["text"] for block in sampled_blocks(answer) if block["type"] == "text")
