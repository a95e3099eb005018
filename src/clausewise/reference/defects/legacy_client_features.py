"""Defects against elicitation, sampling and roots of 2025-11-25: what the server asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clausewise.reference.call import Outlet
from clausewise.reference.defects.legacy_rewiring import (
    before_legacy_response,
    legacy,
    legacy_defect,
    legacy_http_defect,
    on_legacy_error,
)
from clausewise.reference.defects.rewiring import Rewire, with_data
from clausewise.reference.legacy.call import URL_ELICITATION_REQUIRED
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import JsonObject, notification, request
from clausewise.reference.wiring import Wiring

_FORM: JsonObject = {
    "mode": "form",
    "message": "What is your name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
_VISIT: JsonObject = {
    "mode": "url",
    "message": "Please read this.",
    "url": "https://example.com/terms",
    "elicitationId": "visit-1",
}
_TOOL: JsonObject = {"name": "add", "inputSchema": {"type": "object"}}
_USE: JsonObject = {
    "role": "assistant",
    "content": {"type": "tool_use", "id": "use-1", "name": "add", "input": {}},
}
_OUTCOME: JsonObject = {"type": "tool_result", "toolUseId": "use-1", "content": []}
_TEXT: JsonObject = {"type": "text", "text": "Say hello."}


def _declares(session: LegacySession, *modes: str) -> bool:
    elicitation = session.client_capabilities.get("elicitation")
    return isinstance(elicitation, dict) and elicitation.keys() == set(modes)


def _asking(method: str, params: JsonObject, *modes: str) -> Rewire:
    """Ask something of clients with these modes of elicitation, ahead of each tool result."""

    def asides(session: LegacySession) -> tuple[JsonObject, ...]:
        if not _declares(session, *modes):
            return ()
        return (request(f"aside-{session.next_number()}", method, params),)

    return before_legacy_response("tools/call", asides)


def _eliciting(params: JsonObject, *without: str, **changes: Any) -> Rewire:
    """Elicit with faulty parameters from clients that declare both modes."""
    faulty = {key: one for key, one in params.items() if key not in without} | changes
    return _asking("elicitation/create", faulty, "form", "url")


def _sampling(*modes: str, **changes: Any) -> Rewire:
    """Sample with faulty parameters."""
    params = {"messages": [{"role": "user", "content": _TEXT}], "maxTokens": 10, **changes}
    return _asking("sampling/createMessage", params, *modes)


def _completing_without_id(session: LegacySession) -> tuple[JsonObject, ...]:
    if not _declares(session, "form", "url"):
        return ()
    number = session.next_number()
    visit = {**_VISIT, "elicitationId": f"visit-{number}"}
    return (
        request(f"aside-{number}", "elicitation/create", visit),
        notification("notifications/elicitation/complete", {}),
    )


def _completing_to_others(wiring: Wiring) -> Wiring:
    """Tell every other client of the end of a visit."""
    met: list[LegacySession] = []
    right = wiring.legacy.deliver

    async def deliver(
        message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
    ) -> None:
        if message["method"] == "initialize":
            met.append(session)
        elif message["method"] == "tools/call" and _declares(session, "url"):
            name = f"told-{session.id}-{session.next_number()}"
            visit = {**_VISIT, "elicitationId": name}
            await outlet.send(request(name, "elicitation/create", visit))
            for other in met:
                if other is not session and _declares(other, "url"):
                    complete = {"elicitationId": name}
                    await other.post(notification("notifications/elicitation/complete", complete))
        await right(message, outlet, session, response)

    return legacy(wiring, deliver=deliver)


def _on_demand(change: Callable[[Any], Any]) -> Rewire:
    """Change the data of the error that demands a visit."""
    return on_legacy_error(
        lambda _message, error: error.code == URL_ELICITATION_REQUIRED, with_data(change)
    )


def _same_token(session: LegacySession) -> tuple[JsonObject, ...]:
    """Two questions at a time for which progress is wanted under one token."""
    if not _declares(session, "form", "url"):
        return ()
    params = {**_FORM, "_meta": {"progressToken": f"both-{session.next_number()}"}}
    names = (f"aside-{session.next_number()}" for _ in range(2))
    return tuple(request(name, "elicitation/create", params) for name in names)


def _roots(session: LegacySession) -> tuple[JsonObject, ...]:
    if session.client_capabilities:
        return ()
    return (request(f"aside-{session.next_number()}", "roots/list", {}),)


DEFECTS = (
    legacy_http_defect(
        "elicitation-mode-unsupported",
        "A client that opens URLs alone is asked to show a form.",
        _asking("elicitation/create", _FORM, "url"),
        "ELIC-006",
    ),
    legacy_defect(
        "elicitation-without-message",
        "An elicitation has no message.",
        _eliciting(_FORM, "message"),
        "ELIC-007",
    ),
    legacy_defect(
        "elicitation-form-without-schema",
        "An elicitation by form has no requestedSchema.",
        _eliciting(_FORM, "requestedSchema"),
        "ELIC-009",
    ),
    legacy_defect(
        "elicitation-url-without-id",
        "An elicitation by URL has no elicitationId.",
        _eliciting(_VISIT, "elicitationId"),
        "ELIC-011",
    ),
    legacy_defect(
        "elicitation-url-malformed",
        "The url of an elicitation is no URL.",
        _eliciting(_VISIT, url="the page with the terms"),
        "ELIC-012",
    ),
    legacy_http_defect(
        "elicitation-complete-to-others",
        "The end of a visit is told to every other client, too.",
        _completing_to_others,
        "ELIC-013",
    ),
    legacy_defect(
        "elicitation-complete-without-id",
        "The end of a visit is told without its elicitationId.",
        before_legacy_response("tools/call", _completing_without_id),
        "ELIC-014",
    ),
    legacy_defect(
        "elicitation-demand-without-list",
        "The error that demands a visit does not list it.",
        _on_demand(lambda _data: {}),
        "ELIC-018",
    ),
    legacy_defect(
        "elicitation-demand-by-form",
        "The error that demands an elicitation lists one by form.",
        _on_demand(lambda data: {"elicitations": [*data["elicitations"], _FORM]}),
        "ELIC-019",
    ),
    legacy_defect(
        "elicitation-url-in-the-clear",
        "The url of an elicitation is an http URL of a public host.",
        _eliciting(_VISIT, url="http://example.com/terms"),
        "ELIC-037",
    ),
    legacy_http_defect(
        "legacy-sampling-tools-undeclared",
        "A client that declares sampling without tools is given tools.",
        _sampling("url", tools=[_TOOL]),
        "SAMP-004",
    ),
    legacy_defect(
        "sampling-includes-context",
        "A sampling request asks for the context of this server.",
        _sampling("form", "url", includeContext="thisServer"),
        "SAMP-006",
    ),
    legacy_http_defect(
        "sampling-context-undeclared",
        "A client that does not declare sampling.context is asked for it.",
        _sampling("url", includeContext="thisServer"),
        "SAMP-006",
        "SAMP-007",
    ),
    legacy_defect(
        "sampling-results-beside-text",
        "A user message of a sampling request holds a tool result and a text.",
        _sampling(
            "form",
            "url",
            tools=[_TOOL],
            messages=[_USE, {"role": "user", "content": [_OUTCOME, _TEXT]}],
        ),
        "SAMP-008",
        "SAMP-009",
        "SAMP-019",
    ),
    legacy_defect(
        "sampling-use-without-result",
        "A tool use in a sampling request is followed by a text.",
        _sampling(
            "form", "url", tools=[_TOOL], messages=[_USE, {"role": "user", "content": _TEXT}]
        ),
        "SAMP-009",
        "SAMP-019",
    ),
    legacy_defect(
        "roots-undeclared",
        "A client that does not declare roots is asked for them.",
        before_legacy_response("tools/call", _roots),
        "LIFE-009",
        "ROOT-009",
    ),
    legacy_defect(
        "progress-token-shared",
        "Two requests of the server have one progress token.",
        before_legacy_response("tools/call", _same_token),
        "PROG-010",
    ),
)
