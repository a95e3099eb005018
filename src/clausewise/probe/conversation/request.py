"""Compose requests of revision 2026-07-28: conforming, but for the edits of one probe."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypedDict

from clausewise import __version__
from clausewise.core.vocabulary import Revision
from clausewise.trace.events import Event
from clausewise.wire import sentinel
from clausewise.wire.headers import NAMED_BY
from clausewise.wire.meta import META_CAPABILITIES, META_CLIENT_INFO, META_VERSION

if TYPE_CHECKING:
    from clausewise.probe.conversation.link import Link


CLIENT_INFO: Mapping[str, str] = {"name": "clausewise", "version": __version__}


class Marker(Enum):
    """Values that JSON does not have."""

    ABSENT = "absent"


ABSENT: Final = Marker.ABSENT
"""As an edit's value: leave this member out."""

HeaderEdit = str | bytes | None
Headers = tuple[tuple[bytes, bytes], ...]


class Edits(TypedDict, total=False):
    """How one request departs from the conforming one.

    rule: the id of the rule that the request breaks on purpose; its events are tagged
        with it. Leave it out when the request still keeps the specification.
    headers: by header name (any case): another value, or None to leave the header out.
        A name that the conforming request lacks is added. Text is sent as UTF-8.
    meta: by `_meta` key: another value, or ABSENT to leave the key out.
    without_meta: leave `_meta` out altogether.
    capabilities: the client capabilities declared (default: none).
    version: the protocol version in header and `_meta` alike.
    id: the JSON-RPC id; ABSENT leaves it out. Default: a fresh integer.
    body: these bytes instead of the composed message.
    link: the connection or process to use. Default: the peer's own.
    until: stop reading once a message satisfies it. Default: the first response.
    timeout_s: how long to wait for the answer.
    """

    rule: str
    headers: Mapping[str, HeaderEdit]
    meta: Mapping[str, Any]
    without_meta: bool
    capabilities: Mapping[str, Any]
    version: str
    id: Any
    body: bytes
    link: Link
    until: Callable[[Event], bool]
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it goes out.

    `verb` and `headers` concern HTTP alone (`headers` holds no user headers); `method` is
    None for a request that is no JSON-RPC message (GET, DELETE). `rule` is the rule broken
    on purpose, if any.
    """

    method: str | None
    params: Mapping[str, Any] | None
    id: Any
    headers: Headers
    body: bytes
    verb: str = "POST"
    path: str | None = None
    rule: str | None = None
    version: str | None = None

    @property
    def injected(self) -> bool:
        """Whether the request breaks a rule on purpose."""
        return self.rule is not None


def compose(method: str, params: Mapping[str, Any] | None, fresh_id: int, edits: Edits) -> Request:
    """A request that keeps revision 2026-07-28 but for `edits`."""
    version = edits.get("version", Revision.MODERN.value)
    request_id = edits.get("id", fresh_id)
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if request_id is not ABSENT:
        message["id"] = request_id
    message["method"] = method
    members = dict(params or {})
    if not edits.get("without_meta", False):
        members["_meta"] = _meta(members.get("_meta"), version, edits)
    if members or params is not None:
        message["params"] = members
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return Request(
        method=method,
        params=members,
        id=request_id,
        headers=edited_headers(_headers(method, members, version), edits.get("headers", {})),
        body=edits.get("body", text),
        rule=edits.get("rule"),
        version=version,
    )


def has_usual_headers(request: Request) -> bool:
    """Whether the headers are those of a composed request without edits."""
    if request.method is None or request.version is None:
        return False
    return request.headers == _headers(request.method, request.params or {}, request.version)


def edited_headers(headers: Headers, edits: Mapping[str, HeaderEdit]) -> Headers:
    """`headers` with the values in `edits`: replaced in place, left out, or added last."""
    wanted = {name.lower(): (name, value) for name, value in edits.items()}
    kept: list[tuple[bytes, bytes]] = []
    for name, value in headers:
        edit = wanted.pop(name.decode("ascii").lower(), None)
        if edit is None:
            kept.append((name, value))
        elif edit[1] is not None:
            kept.append((edit[0].encode("ascii"), _bytes(edit[1])))
    kept += [
        (name.encode("ascii"), _bytes(value))
        for name, value in wanted.values()
        if value is not None
    ]
    return tuple(kept)


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8")


def _headers(method: str, params: Mapping[str, Any], version: str) -> Headers:
    headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", version),
        ("Mcp-Method", method),
    ]
    member = NAMED_BY.get(method)
    name = params.get(member) if member is not None else None
    if isinstance(name, str):
        headers.append(("Mcp-Name", sentinel.encode(name)))
    return tuple((key.encode("ascii"), value.encode("utf-8")) for key, value in headers)


def _meta(given: Any, version: str, edits: Edits) -> dict[str, Any]:
    meta: dict[str, Any] = {
        **(given if isinstance(given, dict) else {}),
        META_VERSION: version,
        META_CLIENT_INFO: dict(CLIENT_INFO),
        META_CAPABILITIES: dict(edits.get("capabilities", {})),
    }
    meta.update(edits.get("meta", {}))
    return {key: value for key, value in meta.items() if value is not ABSENT}
