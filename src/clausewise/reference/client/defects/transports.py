"""Defects against the transports of 2025-11-25: headers, sessions, framing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from clausewise.reference.client.defects.changing import (
    Extra,
    changed,
    dropped,
    is_method,
    is_verb,
    legacy_defect,
    ping,
    preceded,
    source,
)
from clausewise.reference.client.defects.defect import HTTP_ONLY, STDIO_ONLY
from clausewise.reference.client.legacy_session import SESSION_HEADER
from clausewise.reference.client.outgoing import Outgoing
from clausewise.reference.client.wiring import ClientWiring
from clausewise.wire.headers import VERSION_HEADER

_LIST = is_method("tools/list")
_NOT_UTF_8 = b'{"jsonrpc":"2.0","id":"\xff\xfe","method":"ping"}'
_JSON_ALONE = "application/json"


def _ping_changed(change: Callable[[Outgoing], Outgoing]) -> Extra:
    """A ping that is sent otherwise than the message it goes ahead of."""
    return lambda like: tuple(change(one) for one in ping("changed")(like))


def _without_version(outgoing: Outgoing) -> Outgoing:
    return outgoing.with_header(VERSION_HEADER, None)


def _is_within_session(outgoing: Outgoing) -> bool:
    return outgoing.method != "initialize"


def _not_renewed(wiring: ClientWiring) -> ClientWiring:
    return replace(wiring, renews_lost_sessions=False)


def _batch(like: Outgoing) -> tuple[Outgoing, ...]:
    two = (
        b'[{"jsonrpc":"2.0","id":"b1","method":"ping"},{"jsonrpc":"2.0","id":"b2","method":"ping"}]'
    )
    return source(two)(like)


DEFECTS = (
    legacy_defect(
        "no-version-header",
        "No request after initialize has MCP-Protocol-Version.",
        changed(_is_within_session, _without_version),
        "LIFE-018",
        "TRAN-017",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "version-header-not-negotiated",
        "A ping ahead of tools/list names another version than the negotiated one.",
        preceded(_LIST, _ping_changed(lambda one: one.with_header(VERSION_HEADER, "2025-06-18"))),
        "TRAN-018",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "session-id-omitted",
        "A ping ahead of tools/list has no session id.",
        preceded(_LIST, _ping_changed(lambda one: one.with_header(SESSION_HEADER, None))),
        "TRAN-013",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "lost-session-used",
        "A session that the server has lost (404) is used further.",
        _not_renewed,
        "TRAN-016",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "session-not-deleted",
        "The session is left without DELETE.",
        dropped(is_verb("DELETE")),
        "TRAN-048",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "post-accepts-json-alone",
        "A ping ahead of tools/list accepts application/json alone.",
        preceded(_LIST, _ping_changed(lambda one: one.with_header("Accept", _JSON_ALONE))),
        "TRAN-025",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "get-accepts-json-alone",
        "The GET for a stream accepts application/json alone.",
        changed(is_verb("GET"), lambda one: one.with_header("Accept", _JSON_ALONE)),
        "TRAN-039",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "message-by-put",
        "A ping ahead of tools/list is sent by PUT.",
        preceded(_LIST, _ping_changed(lambda one: replace(one, verb="PUT"))),
        "TRAN-049",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "message-to-another-path",
        "A ping ahead of tools/list is posted to another path.",
        preceded(_LIST, _ping_changed(lambda one: replace(one, suffix="/elsewhere"))),
        "TRAN-024",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "batch",
        "Two pings in an array go ahead of tools/list.",
        preceded(_LIST, _batch),
        "BASE-008",
        "TRAN-026",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "embedded-newline",
        "A ping ahead of tools/list is written in several lines.",
        preceded(_LIST, source(b'{"jsonrpc":"2.0",\n"id":"lines",\n"method":"ping"}')),
        "TRAN-001",
        transports=STDIO_ONLY,
    ),
    legacy_defect(
        "line-not-utf-8",
        "A ping ahead of tools/list holds bytes that are no UTF-8.",
        preceded(_LIST, source(_NOT_UTF_8)),
        "TRAN-003",
        "TRAN-005",
        transports=STDIO_ONLY,
    ),
    legacy_defect(
        "body-not-utf-8",
        "A ping ahead of tools/list holds bytes that are no UTF-8.",
        preceded(_LIST, source(_NOT_UTF_8)),
        "TRAN-003",
        "TRAN-026",
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "stdin-noise",
        "A line that is no message goes ahead of tools/list.",
        preceded(_LIST, source(b"hello there")),
        "TRAN-005",
        transports=STDIO_ONLY,
    ),
)
