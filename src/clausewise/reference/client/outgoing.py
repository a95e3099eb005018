"""One message on its way to the server, with all that HTTP needs beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from clausewise.reference.messages import JsonObject, encode

Headers = tuple[tuple[str, str], ...]

JSON_HEADERS: Headers = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
)
STREAM_HEADERS: Headers = (("Accept", "text/event-stream"),)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message, or an HTTP request without one.

    Attributes:
        message: the JSON-RPC message; None for GET and DELETE.
        headers: the headers that MCP asks for, as text; stdio has none.
        verb: the HTTP method.
        suffix: what to add to the path; the right client adds nothing.
        source: the bytes to send for `message` instead of its JSON text.
        authorized: whether the credentials go with it, as they must.
        beside: whether it is sent beside another message; the right client sends none so.
    """

    message: JsonObject | None
    headers: Headers = field(default=JSON_HEADERS)
    verb: str = "POST"
    suffix: str = ""
    source: bytes | None = None
    authorized: bool = True
    beside: bool = False

    @property
    def method(self) -> str | None:
        """The JSON-RPC method; None for responses and without a message."""
        method = self.message.get("method") if self.message is not None else None
        return method if isinstance(method, str) else None

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.message is not None and "id" in self.message

    @property
    def text(self) -> bytes:
        """What is sent as body or line."""
        if self.source is not None:
            return self.source
        return b"" if self.message is None else encode(self.message)

    def stands_for(self, other: Outgoing) -> bool:
        """Whether this is `other`, perhaps changed, and not a message beside it."""
        return not self.beside and self.method == other.method

    def with_message(self, **members: object) -> Outgoing:
        """The same with some members of the message replaced."""
        assert self.message is not None
        return replace(self, message={**self.message, **members})

    def with_params(self, **members: object) -> Outgoing:
        """The same with some members of `params` replaced."""
        assert self.message is not None
        return self.with_message(params={**self.message.get("params", {}), **members})

    def with_header(self, name: str, value: str | None) -> Outgoing:
        """The same with another value of the header `name`, or without it."""
        kept = tuple(pair for pair in self.headers if pair[0].lower() != name.lower())
        added = () if value is None else ((name, value),)
        return replace(self, headers=kept + added)
