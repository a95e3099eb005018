"""A legacy request in progress: the server may send the client requests of its own."""

from __future__ import annotations

import secrets
from functools import partial

import anyio

from clausewise.core.vocabulary import Revision
from clausewise.reference.call import Call, Outlet
from clausewise.reference.input_requests import InputRequest, check_answer
from clausewise.reference.legacy.parts import LegacyParts
from clausewise.reference.legacy.questions import put
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.legacy.visits import VISIT_S
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    JsonObject,
    RpcError,
    notification,
)

URL_ELICITATION_REQUIRED = -32042

_COMPLETE = "notifications/elicitation/complete"


class LegacyCall(Call):
    """A request of revision 2025-11-25."""

    def __init__(
        self, message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
    ) -> None:
        super().__init__(message["id"], message["method"], message.get("params", {}))
        self._outlet = outlet
        self._session = session
        self._parts = parts
        self._elicitations: dict[str, str] = {}
        self.log_threshold = session.log_level

    async def notify(self, method: str, params: JsonObject) -> None:
        await self._outlet.send(notification(method, params))

    @property
    def has_credentials(self) -> bool:
        return bool(self._session.principal)

    @property
    def client_capabilities(self) -> JsonObject:
        return self._session.client_capabilities

    async def hang_up(self, retry_ms: int) -> None:
        await self._outlet.hang_up(retry_ms)

    async def ask(self, *requests: InputRequest, sealed: bool = True) -> dict[str, JsonObject]:
        del sealed  # a request of the server has an id that only the client it went to knows
        self._require_capabilities(requests)
        return {asked.key: await self._ask(asked) for asked in requests}

    def _require_capabilities(self, requests: tuple[InputRequest, ...]) -> None:
        for asked in requests:
            if not asked.is_met_by(self.client_capabilities):
                names = ", ".join(asked.needs)
                raise RpcError(INVALID_REQUEST, f"this needs a client that declared {names}")

    async def _ask(self, asked: InputRequest) -> JsonObject:
        response = await self._put(asked, self._params(asked))
        if "result" not in response:
            raise RpcError(INTERNAL_ERROR, f"the client answered {asked.method} with an error")
        return check_answer(asked, response["result"], Revision.LEGACY)

    def _params(self, asked: InputRequest) -> JsonObject:
        """What `asked` is sent with; an elicitation by URL has an id in this revision."""
        if asked.params.get("mode") != "url":
            return asked.params
        self._elicitations[asked.key] = secrets.token_urlsafe(16)
        return asked.params | {"elicitationId": self._elicitations[asked.key]}

    async def _put(self, asked: InputRequest, params: JsonObject) -> JsonObject:
        """The client's response message."""
        return await put(asked, params, self._session, self._outlet, self._parts.ask_s)

    async def end_visit(self, asked: InputRequest) -> None:
        await self.notify(_COMPLETE, {"elicitationId": self._elicitations[asked.key]})

    async def require_visit(self, asked: InputRequest) -> None:
        """Source: client/elicitation#url-elicitation-required-error."""
        self._require_capabilities((asked,))
        if self._parts.visits.use(self._session.principal, asked.key):
            return
        params = self._params(asked)
        visiting = partial(_visit, asked.key, params["elicitationId"], self._session, self._parts)
        self._session.after(self.id, partial(self._parts.background.start, visiting))
        raise RpcError(
            URL_ELICITATION_REQUIRED, "This needs a visit to a page.", {"elicitations": [params]}
        )


async def _visit(key: str, elicitation: str, session: LegacySession, parts: LegacyParts) -> None:
    """Be the user who makes a visit, and tell the client that was asked for it."""
    await anyio.sleep(VISIT_S)
    parts.visits.make(session.principal, key)
    await session.post(notification(_COMPLETE, {"elicitationId": elicitation}))
