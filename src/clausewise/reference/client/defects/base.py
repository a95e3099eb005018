"""Defects against the base protocol of 2025-11-25: ids, envelopes, errors, `_meta` keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.reference.client.defects.changing import (
    Apply,
    Change,
    Extra,
    changed,
    is_error,
    is_method,
    is_result,
    legacy_defect,
    message_like,
    notice,
    ping,
    preceded,
)
from clausewise.reference.client.outgoing import Outgoing

_LIST = is_method("tools/list")


def _pings(*ids: Any) -> Extra:
    return lambda like: tuple(one for each in ids for one in ping(each)(like))


def _with(**members: Any) -> Change:
    return lambda outgoing: outgoing.with_message(**members)


def _altered(**members: Any) -> Extra:
    """The message once more, with other members."""
    return lambda outgoing: (outgoing.with_message(**members),)


def _error_with(**members: Any) -> Change:
    return lambda outgoing: outgoing.with_message(
        error={
            name: value
            for name, value in {**(outgoing.message or {})["error"], **members}.items()
            if value is not None
        }
    )


def _meta(key: str) -> Apply:
    return changed(_LIST, lambda outgoing: outgoing.with_params(_meta={key: 1}))


def _old_version(like: Outgoing) -> tuple[Outgoing, ...]:
    message = {"jsonrpc": "1.0", "id": "old", "method": "ping"}
    return (message_like(like, message),)


def _numbered(like: Outgoing) -> tuple[Outgoing, ...]:
    (plain,) = notice("notifications/roots/list_changed")(like)
    return (replace(plain, message={**(plain.message or {}), "id": "numbered"}),)


DEFECTS = (
    legacy_defect(
        "fractional-request-id",
        "A ping with the id 1.5 goes ahead of tools/list.",
        preceded(_LIST, ping(1.5)),
        "BASE-001",
    ),
    legacy_defect(
        "null-request-id",
        "A ping with the id null goes ahead of tools/list.",
        preceded(_LIST, ping(None)),
        "BASE-002",
    ),
    legacy_defect(
        "request-id-reused",
        "Two pings with one id go ahead of tools/list.",
        preceded(_LIST, _pings("again", "again")),
        "BASE-003",
    ),
    legacy_defect(
        "result-id-altered",
        "A result for a request that never came goes ahead of the right one.",
        preceded(is_result, _altered(id="no-such-request")),
        "BASE-004",
    ),
    legacy_defect(
        "notification-with-id",
        "A notification of changed roots has an id.",
        preceded(_LIST, _numbered),
        "BASE-005",
    ),
    legacy_defect(
        "error-without-message",
        "Errors have no message.",
        changed(is_error, _error_with(message=None)),
        "BASE-006",
    ),
    legacy_defect(
        "error-code-text",
        "Error codes are strings.",
        changed(is_error, _error_with(code="-1")),
        "BASE-007",
    ),
    legacy_defect(
        "jsonrpc-version-one",
        'A ping ahead of tools/list says jsonrpc "1.0".',
        preceded(_LIST, _old_version),
        "BASE-008",
    ),
    legacy_defect(
        "error-id-altered",
        "An error for a request that never came goes ahead of the right one.",
        preceded(is_error, _altered(id="no-such-request")),
        "BASE-009",
    ),
    legacy_defect(
        "result-null",
        "Results are null.",
        changed(is_result, _with(result=None)),
        "BASE-010",
    ),
    legacy_defect(
        "meta-prefix-malformed",
        "The _meta of tools/list has a key whose prefix begins with a hyphen.",
        _meta("-example.com/note"),
        "BASE-019",
    ),
    legacy_defect(
        "meta-name-malformed",
        "The _meta of tools/list has a key whose name begins with a hyphen.",
        _meta("com.example/-note"),
        "BASE-020",
    ),
)
