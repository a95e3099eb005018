"""What the clients of probes answer to requests of the server."""

from __future__ import annotations

from typing import Any

import pytest

from clausewise.probe.conversation.legacy_client import (
    BARE_CLIENT,
    BYSTANDING_CLIENT,
    CONSENTING_CLIENT,
    DECLINING_CLIENT,
    SILENT_CLIENT,
    LegacyClient,
)

FORM = {"mode": "form", "message": "m", "requestedSchema": {"type": "object"}}
URL = {"mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "1"}


def answer(client: LegacyClient, method: str, params: Any = None) -> dict[str, Any] | None:
    return client.response({"jsonrpc": "2.0", "id": "q", "method": method, "params": params})


@pytest.mark.parametrize("client", [BARE_CLIENT, CONSENTING_CLIENT, SILENT_CLIENT])
def test_every_client_answers_a_ping_with_an_empty_result(client: LegacyClient) -> None:
    assert answer(client, "ping") == {"jsonrpc": "2.0", "id": "q", "result": {}}


@pytest.mark.parametrize("method", ["elicitation/create", "roots/list", "anything/else"])
def test_a_client_that_declares_nothing_knows_no_method(method: str) -> None:
    response = answer(BARE_CLIENT, method, FORM)
    assert response is not None
    assert response["error"]["code"] == -32601


def test_a_declining_user_has_no_roots_and_agrees_to_nothing() -> None:
    results = {
        method: answer(DECLINING_CLIENT, method, FORM)
        for method in ("roots/list", "elicitation/create", "sampling/createMessage")
    }
    assert results["roots/list"] == {"jsonrpc": "2.0", "id": "q", "result": {"roots": []}}
    assert (results["elicitation/create"] or {})["result"] == {"action": "decline"}
    assert (results["sampling/createMessage"] or {})["error"]["code"] == -1


def test_a_mode_that_was_not_declared_is_refused() -> None:
    by_url = answer(CONSENTING_CLIENT, "elicitation/create", URL)
    by_form = answer(CONSENTING_CLIENT, "elicitation/create", FORM)
    assert (by_url or {})["result"] == {"action": "accept"}
    assert (by_form or {})["error"]["code"] == -32602
    assert (answer(CONSENTING_CLIENT, "elicitation/create") or {})["error"]["code"] == -32602


def test_a_silent_client_never_answers_what_it_declares() -> None:
    for method in ("elicitation/create", "sampling/createMessage", "roots/list"):
        assert answer(SILENT_CLIENT, method, FORM) is None


def test_the_bystander_is_another_client() -> None:
    assert BYSTANDING_CLIENT.name != CONSENTING_CLIENT.name
    assert BYSTANDING_CLIENT.capabilities == CONSENTING_CLIENT.capabilities
