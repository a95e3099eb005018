"""A modern request in progress: notifications on its own stream, input by asking for a retry."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Revision
from clausewise.reference.call import Call, Outlet
from clausewise.reference.input_requests import InputRequest, accepted, check_answer
from clausewise.reference.messages import (
    INVALID_PARAMS,
    JsonObject,
    RpcError,
    notification,
)
from clausewise.reference.modern import request_state
from clausewise.reference.modern.parts import MISSING_CLIENT_CAPABILITY, Incoming, ModernParts
from clausewise.wire.meta import META_CAPABILITIES, META_LOG_LEVEL


class InputRequired(Exception):  # noqa: N818 - no error: the request goes on in a retry
    """The request needs input from the client; `result` is the InputRequiredResult."""

    def __init__(self, result: JsonObject) -> None:
        super().__init__("input required")
        self.result = result


class ModernCall(Call):
    """A request of revision 2026-07-28.

    A retry runs the method from its beginning again: what was asked in earlier rounds is
    answered from `requestState`, what was asked last from `inputResponses`.
    """

    def __init__(self, incoming: Incoming, outlet: Outlet, parts: ModernParts) -> None:
        super().__init__(incoming.id, incoming.method, incoming.params)
        self._incoming = incoming
        self._outlet = outlet
        self._parts = parts
        if "logging" in parts.capabilities:
            self.log_threshold = incoming.meta.get(META_LOG_LEVEL)
        self._answers: JsonObject = {}
        if "requestState" in self.params:
            self._answers = request_state.open_sealed(
                parts.state_key,
                self.params["requestState"],
                self.method,
                self.params,
                self._principal,
            )

    @property
    def has_credentials(self) -> bool:
        return bool(self._principal)

    @property
    def client_capabilities(self) -> JsonObject:
        declared: JsonObject = self._incoming.meta[META_CAPABILITIES]
        return declared

    @property
    def _principal(self) -> str:
        """Who asks; the reference server knows callers by their Authorization header alone."""
        http = self._incoming.http
        return (http.value("authorization") or "") if http is not None else ""

    async def notify(self, method: str, params: JsonObject) -> None:
        await self._outlet.send(notification(method, params))

    async def end_visit(self, asked: InputRequest) -> None:
        """In this revision the client learns it from the answer to its retry."""

    async def require_visit(self, asked: InputRequest) -> None:
        answers = await self.ask(asked)
        if accepted(answers[asked.key]) is None:
            raise RpcError(INVALID_PARAMS, "the user did not visit the page")

    async def hang_up(self, retry_ms: int) -> None:
        """No stream of this revision can be resumed, so nothing is closed."""

    async def ask(self, *requests: InputRequest, sealed: bool = True) -> dict[str, JsonObject]:
        self._require_capabilities(requests)
        responses = self._responses(sealed=sealed)
        for asked in requests:
            if asked.key not in self._answers and asked.key in responses:
                answer = check_answer(asked, responses[asked.key], Revision.MODERN)
                self._answers[asked.key] = answer
        missing = [asked for asked in requests if asked.key not in self._answers]
        if missing:
            raise InputRequired(self._input_required(missing, sealed=sealed))
        return {asked.key: self._answers[asked.key] for asked in requests}

    def _responses(self, *, sealed: bool) -> dict[str, Any]:
        """The answers in this retry; those to sealed requests count with `requestState` only."""
        responses = self.params.get("inputResponses", {})
        if not isinstance(responses, dict):
            raise RpcError(INVALID_PARAMS, "params.inputResponses must be an object")
        return responses if "requestState" in self.params or not sealed else {}

    def _require_capabilities(self, requests: tuple[InputRequest, ...]) -> None:
        """Source: basic#_meta."""
        missing: JsonObject = {}
        for asked in requests:
            if not asked.is_met_by(self.client_capabilities):
                for name, needed in asked.needs.items():
                    missing[name] = missing.get(name, {}) | needed
        if missing:
            names = ", ".join(missing)
            raise RpcError(
                MISSING_CLIENT_CAPABILITY,
                f"Missing required client capability: {names}",
                {"requiredCapabilities": missing},
            )

    def _input_required(self, missing: list[InputRequest], *, sealed: bool) -> JsonObject:
        result: JsonObject = {
            "resultType": "input_required",
            "inputRequests": {
                asked.key: {"method": asked.method, "params": asked.params} for asked in missing
            },
        }
        if sealed or self._answers:
            result["requestState"] = request_state.seal(
                self._parts.state_key, self._answers, self.method, self.params, self._principal
            )
        return result
