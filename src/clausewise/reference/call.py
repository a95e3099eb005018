"""One request as the features see it, whichever era it came in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

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


@dataclass(frozen=True, slots=True)
class Form:
    """What a tool asks the user for: a message and the schema of the answer."""

    key: str
    message: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """The user's answer: `accept`, `decline` or `cancel`, with content when accepted."""

    action: str
    content: Mapping[str, Any]


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

    @abstractmethod
    async def ask(self, form: Form) -> FormAnswer:
        """The user's answer to `form`, however the era gets it.

        Raises:
            RpcError: the client cannot elicit, or what it sent is no answer.
        """

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


def read_form_answer(value: Any) -> FormAnswer:
    """An elicitation result as a `FormAnswer`.

    Raises:
        RpcError: it does not have the shape of an ElicitResult (invalid params).
    """
    if not isinstance(value, dict) or value.get("action") not in ("accept", "decline", "cancel"):
        raise RpcError(
            INVALID_PARAMS, "an elicitation result needs action accept, decline or cancel"
        )
    content = value.get("content", {})
    if not isinstance(content, dict):
        raise RpcError(INVALID_PARAMS, "the content of an elicitation result must be an object")
    return FormAnswer(value["action"], content)
