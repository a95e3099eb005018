"""A legacy request in progress: the server may send the client requests of its own."""

from __future__ import annotations

import anyio

from clausewise.core.vocabulary import Revision
from clausewise.reference.call import Call, Outlet
from clausewise.reference.input_requests import InputRequest, check_answer
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

    @property
    def client_capabilities(self) -> JsonObject:
        return self._session.client_capabilities

    async def hang_up(self, retry_ms: int) -> None:
        await self._outlet.hang_up(retry_ms)

    async def ask(self, *requests: InputRequest, sealed: bool = True) -> dict[str, JsonObject]:
        del sealed  # a request of the server has an id that only the client it went to knows
        for asked in requests:
            if not asked.is_met_by(self.client_capabilities):
                names = ", ".join(asked.needs)
                raise RpcError(INVALID_REQUEST, f"this needs a client that declared {names}")
        return {asked.key: await self._ask(asked) for asked in requests}

    async def _ask(self, asked: InputRequest) -> JsonObject:
        response = await ask_client(
            self._session, self._outlet, asked.method, asked.params, self._parts.ask_s
        )
        if "result" not in response:
            raise RpcError(INTERNAL_ERROR, f"the client answered {asked.method} with an error")
        return check_answer(asked, response["result"], Revision.LEGACY)


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
