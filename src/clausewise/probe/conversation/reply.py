"""What came back for one request, read alike on both transports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.probe.conversation.request import Request
from clausewise.trace.events import Event
from clausewise.transport.answers import Answer, blocked_reason


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request; `reproduce` is a command that sends the request again."""

    transport: TransportKind
    request: Request
    answer: Answer
    reproduce: str

    @property
    def id(self) -> Any:
        """The id the request carried."""
        return self.request.id

    @property
    def status(self) -> int | None:
        """The HTTP status; None on stdio and when no response head came."""
        return self.answer.status

    @property
    def media_type(self) -> str | None:
        return self.answer.media_type

    @property
    def streamed(self) -> bool:
        """Whether the answer came as an SSE stream."""
        return self.answer.media_type == "text/event-stream"

    def header(self, name: str) -> str | None:
        """The value of a response header, any case of its name."""
        return self.answer.header(name)

    @property
    def response_event(self) -> Event | None:
        """The event of the response whose id equals the request's, by type and value."""
        return self.answer.response_to(self.request.id)

    @property
    def message(self) -> Mapping[str, Any] | None:
        """The response that belongs to this request.

        That is the one with the request's id. An error without an id or with id null
        counts, too: whether it may lack the id is another rule's question.
        """
        event = self._belonging
        return event.payload if event is not None else None

    @property
    def result(self) -> Any:
        """The `result` of the response, or None."""
        message = self.message
        return message.get("result") if message is not None else None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The result when it is an object, else an empty mapping."""
        result = self.result
        return result if isinstance(result, dict) else {}

    @property
    def error(self) -> Mapping[str, Any] | None:
        """The `error` object of the response, or None."""
        message = self.message
        error = message.get("error") if message is not None else None
        return error if isinstance(error, dict) else None

    @property
    def code(self) -> int | None:
        """The error code, or None when there is no error or its code is no integer."""
        code = self.error.get("code") if self.error is not None else None
        return code if type(code) is int else None

    @property
    def succeeded(self) -> bool:
        """Whether a result came for this request (over HTTP: with a 2xx status)."""
        message = self.message
        if message is None or "result" not in message:
            return False
        return self.status is None or 200 <= self.status < 300

    @property
    def seq(self) -> int | None:
        """Where the answer is in the trace: the response, else its head, else the request."""
        event = self._belonging
        if event is not None:
            return event.seq
        for event in self.answer.events:
            if event.direction is Direction.SERVER_TO_CLIENT:
                return event.seq
        return self.answer.events[0].seq if self.answer.events else None

    @property
    def blocked(self) -> str | None:
        """Why this answer decides nothing, or None.

        Something in front of the server or below the protocol answered: a refusal by
        authorization or rate, a failing server, a redirect, an answer that never came
        or broke off.
        """
        return blocked_reason(self.answer)

    @property
    def barred(self) -> str | None:
        """As `blocked`, at an endpoint known to be there: a bare 404 is the server's own."""
        return None if self.status == _NOT_FOUND else self.blocked

    @property
    def shown(self) -> str:
        """The answer in a few words, for `seen`: `HTTP 400, error -32602 "…"`."""
        parts = [] if self.status is None else [f"HTTP {self.status}"]
        message = self.message
        if self.error is not None:
            parts.append(f"error {self.error.get('code')!r} {_short(self.error.get('message'))}")
        elif message is not None:
            parts.append(
                "a result" if "result" in message else "a response without result or error"
            )
        elif self.answer.body:
            parts.append(f"{self.media_type or 'a body'} {_short(self.answer.body)}")
        else:
            parts.append(self.answer.detail or "no message")
        return ", ".join(parts)

    @property
    def _belonging(self) -> Event | None:
        exact = self.response_event
        if exact is not None:
            return exact
        for event in self.answer.messages:
            payload = event.payload
            if isinstance(payload, dict) and "error" in payload and payload.get("id") is None:
                return event
        return None


_NOT_FOUND = 404


def _short(value: Any, length: int = 80) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    text = " ".join(text.split())
    return repr(text if len(text) <= length else text[: length - 1] + "…")
