"""Outlets that let a defect get between a request's work and the client."""

from __future__ import annotations

from clausewise.reference.call import Outlet
from clausewise.reference.defects.rewiring import ChangeObject
from clausewise.reference.messages import JsonObject


class ChangingOutlet:
    """Passes messages ahead of the response on as `change` leaves them."""

    def __init__(self, outlet: Outlet, change: ChangeObject) -> None:
        self._outlet = outlet
        self._change = change

    async def send(self, message: JsonObject) -> None:
        await self._outlet.send(self._change(message))

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        await self._outlet.finish(message, status)

    async def hang_up(self, retry_ms: int) -> None:
        await self._outlet.hang_up(retry_ms)


class DroppingOutlet(ChangingOutlet):
    """Keeps back the notifications of one method."""

    def __init__(self, outlet: Outlet, method: str) -> None:
        super().__init__(outlet, lambda message: message)
        self._method = method

    async def send(self, message: JsonObject) -> None:
        if message.get("method") != self._method:
            await super().send(message)
