"""What never reaches a trace: headers outside an allowlist, and credentials."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from clausewise.trace.credentials import CredentialFilter
from clausewise.trace.events import Event, EventKind
from clausewise.wire.jsontext import decode

RECORDED_HEADERS = frozenset(
    {
        "accept",
        "access-control-allow-origin",
        "allow",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "location",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "origin",
        "retry-after",
        "server",
        "transfer-encoding",
        "user-agent",
        "vary",
        "via",
        "www-authenticate",
        "x-accel-buffering",
    }
)
"""Lower-case names of the headers whose values are recorded; `mcp-param-*` are, too."""

REDACTED = "[redacted]"


def recorded_headers(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str | list[str]]:
    """The headers that a trace may hold, by lower-case name.

    Credential headers leave only the fact that they were sent. A name that occurs more
    than once has a list of values, in order.
    """
    kept: dict[str, list[str]] = {}
    for raw_name, raw_value in headers:
        name = raw_name.decode("latin-1").strip().lower()
        if name in ("authorization", "cookie", "set-cookie", "proxy-authorization"):
            kept.setdefault(name, []).append(REDACTED)
        elif name in RECORDED_HEADERS or name.startswith("mcp-param-"):
            kept.setdefault(name, []).append(raw_value.decode("latin-1"))
    return {name: values[0] if len(values) == 1 else values for name, values in kept.items()}


def query_names(target: str) -> list[str]:
    """The names of the query of a URL or request target, in order: all that a trace holds of it.

    A part without `=` is a value without a name, so it may be a secret and is left out.
    """
    query = target.partition("#")[0].partition("?")[2]
    pairs = (part.partition("=") for part in query.split("&"))
    return [unquote_plus(name) for name, equals, _ in pairs if equals]


_KEPT_WHOLE = frozenset({"mcp-session-id", "mcp-protocol-version", "content-length"})
_PLAIN_KINDS = frozenset({EventKind.LIFECYCLE, EventKind.TRACE})


class PayloadRedaction:
    """Takes credentials out of recorded events: out of messages, texts, paths and headers.

    The header MCP-Session-Id stays, since it tells sessions apart.
    """

    def __init__(self, credentials: CredentialFilter) -> None:
        self._credentials = credentials

    def clean(self, event: Event) -> Event:
        """The event without credentials; the same object when there are none."""
        if event.kind is EventKind.MESSAGE and event.text is not None:
            text = self._credentials.clean(event.text)
            if text is event.text:
                return event
            return event.but(text=text, payload=decode(text))
        if event.kind in _PLAIN_KINDS or not self._is_suspect(event.fields):
            return event
        fields = {name: self._value(name, value) for name, value in event.fields.items()}
        return event if fields == event.fields else event.but(fields=fields)

    def _is_suspect(self, fields: Mapping[str, Any]) -> bool:
        """Whether any text may hold a credential: one look at all is faster than one at each."""
        if "base64" in fields:
            return True
        joined = "\n".join(_texts(fields)).encode("utf-8", "replace")
        return self._credentials.clean(joined) is not joined

    def _value(self, name: str, value: Any) -> Any:
        if name in _KEPT_WHOLE:
            return value
        if isinstance(value, str):
            return self._base64(value) if name == "base64" else self._text(value, name == "path")
        if isinstance(value, list):
            return [self._value(name, item) for item in value]
        if isinstance(value, Mapping):
            return {key: self._value(key, item) for key, item in value.items()}
        return value

    def _text(self, text: str, is_path: bool) -> str:
        # Each segment of a path may be a secret; in other text a slash may be part of base64.
        data = text.encode("utf-8", "replace")
        parts = data.split(b"/") if is_path else [data]
        return b"/".join(map(self._credentials.clean, parts)).decode("utf-8")

    def _base64(self, text: str) -> str:
        data = self._credentials.clean(base64.b64decode(text))
        return base64.b64encode(data).decode("ascii")


def _texts(fields: Mapping[str, Any]) -> Iterator[str]:
    """Every text in the fields, the segments of a path on lines of their own."""
    for name, value in fields.items():
        if isinstance(value, str):
            yield value.replace("/", "\n") if name == "path" else value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))
        elif isinstance(value, Mapping):
            yield from _texts(value)
