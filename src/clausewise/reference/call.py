"""One request as the features see it, whichever era it came in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from clausewise.reference.input_requests import InputRequest
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RequestId, RpcError

LOG_LEVELS = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Lowest first."""


class Outlet(Protocol):
    """Where the messages of one request go."""

    async def send(self, message: JsonObject) -> None:
        """Send a message ahead of the response; on HTTP this opens the response stream."""

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        """Send the response and end the stream; `status` counts only if none is open yet."""

    async def hang_up(self, retry_ms: int) -> None:
        """Close the connection but not the stream, if the client can come back for the rest.

        `retry_ms` is how long the client is told to wait before it does.
        """


class Call(ABC):
    """A request in progress: its parameters, and how to reach the client while it runs.

    `log_threshold` is the lowest level of log messages that the client wants, or None.
    """

    def __init__(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.log_threshold: str | None = None

    @property
    def meta(self) -> JsonObject:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @abstractmethod
    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification that belongs to this request."""

    @property
    @abstractmethod
    def has_credentials(self) -> bool:
        """Whether the caller said who it is, by a token."""

    @property
    @abstractmethod
    def client_capabilities(self) -> JsonObject:
        """What the client declared."""

    @abstractmethod
    async def ask(self, *requests: InputRequest, sealed: bool = True) -> dict[str, JsonObject]:
        """The client's answer to each request by its key, however the era gets them.

        Args:
            requests: asked at a time.
            sealed: whether answers count only in a retry of this very call; if not, a client
                that knows what will be asked may answer at once. No matter in the legacy era.

        Raises:
            RpcError: the client cannot take a request, or what it sent is no answer.
        """

    @abstractmethod
    async def end_visit(self, asked: InputRequest) -> None:
        """Tell the client that the page it was asked to visit has served its purpose."""

    @abstractmethod
    async def require_visit(self, asked: InputRequest) -> None:
        """Go on only once the user has done what the page of `asked` is for.

        Raises:
            RpcError: not yet, or the client cannot send its user to a page.
        """

    @abstractmethod
    async def hang_up(self, retry_ms: int) -> None:
        """Let the client go on with other things and come back for the answer, where it can."""

    async def progress(self, value: float, total: float, message: str) -> None:
        """Report progress if the request asked for it; `value` must grow from call to call."""
        token = self.meta.get("progressToken")
        if isinstance(token, (str, int)) and not isinstance(token, bool):
            await self.notify(
                "notifications/progress",
                {"progressToken": token, "progress": value, "total": total, "message": message},
            )

    async def log(self, level: str, data: Any) -> None:
        """Send a log message if the client wants messages of this level."""
        if self.log_threshold is None:
            return
        if LOG_LEVELS.index(level) >= LOG_LEVELS.index(self.log_threshold):
            await self.notify(
                "notifications/message",
                {"level": level, "logger": "clausewise.reference", "data": data},
            )


def text_param(params: Mapping[str, Any], name: str) -> str:
    """The string parameter `name`.

    Raises:
        RpcError: it is absent or no string (invalid params).
    """
    value = params.get(name)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"params.{name} must be a string")
    return value
