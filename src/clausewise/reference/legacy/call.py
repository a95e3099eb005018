"""A legacy request in progress: the server may send the client requests of its own."""

from __future__ import annotations

import anyio

from clausewise.reference.call import Call, Form, FormAnswer, Outlet, read_form_answer
from clausewise.reference.legacy.parts import LegacyParts
from clausewise.reference.legacy.sessions import LegacySession, Question
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    JsonObject,
    RequestId,
    RpcError,
    notification,
    request,
)
from clausewise.wire.jsonrpc import id_key


class LegacyCall(Call):
    """A request of revision 2025-11-25."""

    def __init__(
        self, message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
    ) -> None:
        super().__init__(message["id"], message["method"], message.get("params", {}))
        self._outlet = outlet
        self._session = session
        self._parts = parts
        self.log_threshold = session.log_level

    async def notify(self, method: str, params: JsonObject) -> None:
        await self._outlet.send(notification(method, params))

    async def ask(self, form: Form) -> FormAnswer:
        declared = self._session.client_capabilities.get("elicitation")
        if not isinstance(declared, dict) or (declared and "form" not in declared):
            raise RpcError(INVALID_REQUEST, "this needs a client that declared elicitation")
        params = {"mode": "form", "message": form.message, "requestedSchema": form.schema}
        response = await ask_client(
            self._session, self._outlet, "elicitation/create", params, self._parts.ask_s
        )
        if "result" not in response:
            raise RpcError(INTERNAL_ERROR, "the client answered the elicitation with an error")
        return read_form_answer(response["result"])


async def ask_client(
    session: LegacySession, outlet: Outlet, method: str, params: JsonObject, timeout_s: float
) -> JsonObject:
    """The client's response message to a request of the server.

    Raises:
        RpcError: no response within `timeout_s`; the client is told to stop.
    """
    request_id: RequestId = f"reference-{session.next_number()}"
    question = session.questions[id_key(request_id)] = Question()
    try:
        with anyio.fail_after(timeout_s):
            await outlet.send(request(request_id, method, params))
            await question.answered.wait()
    except TimeoutError:
        reason = {"requestId": request_id, "reason": "no answer in time"}
        await outlet.send(notification("notifications/cancelled", reason))
        raise RpcError(INTERNAL_ERROR, f"the client did not answer {method} in time") from None
    finally:
        session.questions.pop(id_key(request_id), None)
    return question.response
