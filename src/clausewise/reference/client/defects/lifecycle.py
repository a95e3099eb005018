"""Defects against the lifecycle of 2025-11-25: initialization, capabilities, shutdown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.reference.client.defects.changing import (
    Change,
    changed,
    dropped,
    followed,
    is_method,
    legacy_defect,
    message_like,
    notice,
    preceded,
    undeclared,
)
from clausewise.reference.client.defects.defect import STDIO_ONLY
from clausewise.reference.client.outgoing import Outgoing
from clausewise.reference.client.wiring import ClientWiring
from clausewise.reference.messages import request

_INITIALIZE = is_method("initialize")
_INITIALIZED = is_method("notifications/initialized")


def _list_tools(like: Outgoing) -> tuple[Outgoing, ...]:
    return (message_like(like, request("early", "tools/list")),)


def _list_prompts(like: Outgoing) -> tuple[Outgoing, ...]:
    return (message_like(like, request("undeclared", "prompts/list")),)


def _params_with(**members: Any) -> Change:
    return lambda outgoing: outgoing.with_params(**members)


def _disorderly(wiring: ClientWiring) -> ClientWiring:
    return replace(wiring, closes_stdin_first=False)


def _cancellation_of_itself(like: Outgoing) -> tuple[Outgoing, ...]:
    request_id = (like.message or {})["id"]
    return notice("notifications/cancelled", {"requestId": request_id})(like)


DEFECTS = (
    legacy_defect(
        "request-before-initialize",
        "tools/list goes ahead of initialize.",
        preceded(_INITIALIZE, _list_tools),
        "LIFE-001",
    ),
    legacy_defect(
        "initialize-without-client-info",
        "initialize has no clientInfo.",
        changed(_INITIALIZE, _params_with(clientInfo={})),
        "LIFE-002",
    ),
    legacy_defect(
        "no-initialized-notification",
        "notifications/initialized is never sent.",
        dropped(_INITIALIZED),
        "LIFE-003",
    ),
    legacy_defect(
        "request-during-initialize",
        "tools/list is sent before initialize is answered.",
        followed(_INITIALIZE, _list_tools),
        "LIFE-004",
        transports=STDIO_ONLY,
    ),
    legacy_defect(
        "initialize-with-unknown-version",
        "initialize proposes a version that was never published.",
        changed(_INITIALIZE, _params_with(protocolVersion="1.0")),
        "LIFE-007",
    ),
    legacy_defect(
        "undeclared-roots-change",
        "Changed roots are announced though no roots are declared.",
        undeclared("roots"),
        "LIFE-009",
        "ROOT-001",
    ),
    legacy_defect(
        "undeclared-prompts-listed",
        "prompts/list goes ahead of tools/list though the server declares no prompts.",
        preceded(is_method("tools/list"), _list_prompts),
        "LIFE-009",
        "PROM-010",
        occasion="prompts-undeclared",
    ),
    legacy_defect(
        "terminate-before-close",
        "The server is sent SIGTERM while its input is open.",
        _disorderly,
        "LIFE-014",
        transports=STDIO_ONLY,
    ),
    legacy_defect(
        "initialize-cancelled",
        "The initialize request is cancelled.",
        followed(_INITIALIZE, _cancellation_of_itself),
        "CANC-019",
        transports=STDIO_ONLY,
    ),
)
