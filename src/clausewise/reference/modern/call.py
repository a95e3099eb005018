"""A modern request in progress: notifications on its own stream, input by asking for a retry."""

from __future__ import annotations

from clausewise.reference.call import Call, Form, FormAnswer, Outlet, read_form_answer
from clausewise.reference.messages import (
    INVALID_PARAMS,
    JsonObject,
    RpcError,
    notification,
)
from clausewise.reference.modern import request_state
from clausewise.reference.modern.parts import (
    META_CAPABILITIES,
    META_LOG_LEVEL,
    MISSING_CLIENT_CAPABILITY,
    Incoming,
    ModernParts,
)


class InputRequired(Exception):  # noqa: N818 - no error: the request goes on in a retry
    """The request needs input from the client; `result` is the InputRequiredResult."""

    def __init__(self, result: JsonObject) -> None:
        super().__init__("input required")
        self.result = result


class ModernCall(Call):
    """A request of revision 2026-07-28."""

    def __init__(self, incoming: Incoming, outlet: Outlet, parts: ModernParts) -> None:
        super().__init__(incoming.id, incoming.method, incoming.params)
        self._incoming = incoming
        self._outlet = outlet
        self._parts = parts
        if "logging" in parts.capabilities:
            self.log_threshold = incoming.meta.get(META_LOG_LEVEL)
        if "requestState" in self.params:
            request_state.verify(
                parts.state_key,
                self.params["requestState"],
                self.method,
                self.params,
                self._principal,
            )

    @property
    def _principal(self) -> str:
        """Who asks; the reference server knows callers by their Authorization header alone."""
        http = self._incoming.http
        return (http.value("authorization") or "") if http is not None else ""

    async def notify(self, method: str, params: JsonObject) -> None:
        await self._outlet.send(notification(method, params))

    async def ask(self, form: Form) -> FormAnswer:
        self._require_form_elicitation()
        responses = self.params.get("inputResponses", {})
        if not isinstance(responses, dict):
            raise RpcError(INVALID_PARAMS, "params.inputResponses must be an object")
        if "requestState" in self.params and form.key in responses:
            return read_form_answer(responses[form.key])
        raise InputRequired(self._input_required(form))

    def _require_form_elicitation(self) -> None:
        """Source: basic#_meta; an empty `elicitation` object means form mode."""
        declared = self._incoming.meta[META_CAPABILITIES].get("elicitation")
        if not isinstance(declared, dict) or (declared and "form" not in declared):
            raise RpcError(
                MISSING_CLIENT_CAPABILITY,
                "Missing required client capability: elicitation",
                {"requiredCapabilities": {"elicitation": {"form": {}}}},
            )

    def _input_required(self, form: Form) -> JsonObject:
        asked = {"mode": "form", "message": form.message, "requestedSchema": form.schema}
        return {
            "resultType": "input_required",
            "inputRequests": {form.key: {"method": "elicitation/create", "params": asked}},
            "requestState": request_state.seal(
                self._parts.state_key, self.method, self.params, self._principal
            ),
        }
