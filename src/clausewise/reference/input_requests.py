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
    """

    key: str
    method: str
    params: JsonObject
    needs: JsonObject

    def is_met_by(self, capabilities: Mapping[str, Any]) -> bool:
        """Whether a client with these capabilities takes the request.

        An `elicitation` object that names no mode means form mode.
        """
        for name in self.needs:
            declared = capabilities.get(name)
            if not isinstance(declared, dict):
                return False
            if self.method == ELICIT and declared and "form" not in declared:
                return False
        return True


def form(key: str, message: str, properties: JsonObject, *required: str) -> InputRequest:
    """Asks the user to fill in a form with these properties."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return InputRequest(key, ELICIT, params, {"elicitation": {"form": {}}})


def sampling(key: str, text: str, max_tokens: int) -> InputRequest:
    """Asks the client's model to answer `text`."""
    message = {"role": "user", "content": {"type": "text", "text": text}}
    params = {"messages": [message], "maxTokens": max_tokens}
    return InputRequest(key, SAMPLE, params, {"sampling": {}})


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
    if asked.method == ELICIT and content is not None:
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


def sampled_text(answer: JsonObject) -> str:
    """The text of the model's answer; other content gives nothing."""
    content = answer["content"]
    blocks = content if isinstance(content, list) else [content]
    return "".join(block["text"] for block in blocks if block["type"] == "text")
