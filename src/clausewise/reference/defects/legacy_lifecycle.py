"""Defects against the lifecycle of 2025-11-25: initialize, negotiation, what comes too early."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from clausewise.reference.call import Outlet
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.legacy_rewiring import (
    LEGACY_ERAS,
    around_legacy_method,
    before_legacy_response,
    legacy,
    legacy_defect,
    on_legacy_result,
)
from clausewise.reference.defects.outlets import DroppingOutlet
from clausewise.reference.legacy.parts import Handle, LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import JsonObject, notification, request
from clausewise.reference.wiring import Wiring

_OLDER = "2025-06-18"
_SHORT_S = 0.2

_SAMPLING = request(
    "early-1",
    "sampling/createMessage",
    {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
        "maxTokens": 10,
    },
)
"""Before the initialize result nothing is negotiated, so this breaks one clause only."""


def _answers_older_version(wiring: Wiring) -> Wiring:
    """Every second session is told an older version than the one that it could have."""
    sessions = count()

    def around(right: Handle) -> Handle:
        async def handle(
            message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
        ) -> JsonObject:
            result = await right(message, outlet, session, parts)
            wanted = message["params"]["protocolVersion"]
            if result["protocolVersion"] != wanted or next(sessions) % 2 == 0:
                return result
            return {**result, "protocolVersion": _OLDER}

        return handle

    spoken = legacy(wiring, versions=(*wiring.legacy.versions, _OLDER))
    return around_legacy_method("initialize", around)(spoken)


def _offers_older_version(wiring: Wiring) -> Wiring:
    return legacy(wiring, versions=(_OLDER, *wiring.legacy.versions))


def _gives_up_silently(right: Handle) -> Handle:
    async def handle(
        message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
    ) -> JsonObject:
        deaf = DroppingOutlet(outlet, "notifications/cancelled")
        return await right(message, deaf, session, replace(parts, ask_s=_SHORT_S))

    return handle


def _announces_undeclared(wiring: Wiring) -> Wiring:
    announced = before_legacy_response(
        "tools/list", lambda _session: (notification("notifications/tools/list_changed"),)
    )
    capabilities = {**wiring.legacy.capabilities, "tools": {}}
    return announced(legacy(wiring, capabilities=capabilities))


def _server_without_version(result: JsonObject) -> JsonObject:
    server = {key: value for key, value in result["serverInfo"].items() if key != "version"}
    return {**result, "serverInfo": server}


DEFECTS = (
    legacy_defect(
        "request-before-initialized",
        "The server asks for a sampling ahead of the initialize result.",
        before_legacy_response("initialize", lambda _session: (_SAMPLING,)),
        "LIFE-005",
    ),
    Defect(
        "initialize-version-unsteady",
        "Every second initialize is answered with an older version than the one requested.",
        _answers_older_version,
        clauses=("LIFE-006",),
        eras=LEGACY_ERAS,
        transports=HTTP_ONLY,
    ),
    legacy_defect(
        "list-changed-undeclared",
        "The server announces a change of its tools without the listChanged capability.",
        _announces_undeclared,
        "LIFE-009",
    ),
    legacy_defect(
        "initialize-without-server-version",
        "The initialize result does not give the server's version.",
        on_legacy_result("initialize", _server_without_version),
        "LIFE-010",
    ),
    legacy_defect(
        "older-version-offered",
        "A version that the server does not know is answered with an older one than it speaks.",
        _offers_older_version,
        "LIFE-012",
    ),
    legacy_defect(
        "given-up-without-cancelling",
        "The server soon gives up waiting for its client, and does not say so.",
        around_legacy_method("tools/call", _gives_up_silently),
        "LIFE-016",
    ),
)
