"""Requests conform by default, and each edit changes one thing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clausewise.core.vocabulary import Revision
from clausewise.probe.conversation.request import ABSENT, Edits, Request, compose, edited_headers
from clausewise.wire import sentinel
from clausewise.wire.meta import META_CAPABILITIES, META_CLIENT_INFO, META_VERSION


def made(method: str, params: Any = None, **edits: Any) -> Request:
    given: Edits = edits  # type: ignore[assignment]
    return compose(method, params, 5, given)


def headers(request: Request) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in request.headers}


def body(request: Request) -> Any:
    return json.loads(request.body)


def test_a_request_carries_everything_that_the_revision_requires() -> None:
    request = made("tools/list")
    assert headers(request) == {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": Revision.MODERN.value,
        "Mcp-Method": "tools/list",
    }
    message = body(request)
    meta = message["params"]["_meta"]
    assert (message["jsonrpc"], message["id"], message["method"]) == ("2.0", 5, "tools/list")
    assert meta[META_VERSION] == Revision.MODERN.value
    assert meta[META_CAPABILITIES] == {}
    assert meta[META_CLIENT_INFO]["name"] == "clausewise"
    assert not request.injected


@pytest.mark.parametrize(
    ("method", "member"),
    [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")],
)
@pytest.mark.parametrize("name", ["plain", "Grüße", " edge ", "=?base64?x?="])
def test_the_name_header_mirrors_the_body(method: str, member: str, name: str) -> None:
    request = made(method, {member: name})
    value = headers(request)["Mcp-Name"]
    assert value.isascii()
    assert sentinel.decode(value) == name == body(request)["params"][member]


def test_other_methods_have_no_name_header() -> None:
    assert "Mcp-Name" not in headers(made("completion/complete", {"name": "x"}))


def test_headers_are_replaced_in_place_dropped_or_added() -> None:
    given = ((b"A", b"1"), (b"B", b"2"))
    assert edited_headers(given, {"a": "x"}) == ((b"a", b"x"), (b"B", b"2"))
    assert edited_headers(given, {"B": None}) == ((b"A", b"1"),)
    assert edited_headers(given, {"C": b"\xff"}) == (*given, (b"C", b"\xff"))


def test_meta_keys_are_replaced_or_left_out() -> None:
    meta = body(made("ping", meta={META_VERSION: 7, META_CLIENT_INFO: ABSENT}))["params"]["_meta"]
    assert meta[META_VERSION] == 7
    assert META_CLIENT_INFO not in meta


def test_without_meta_and_parameters_there_are_no_params() -> None:
    assert "params" not in body(made("tools/list", without_meta=True))
    assert body(made("tools/list", {"cursor": "a"}, without_meta=True))["params"] == {"cursor": "a"}


def test_a_progress_token_stays_beside_the_required_meta() -> None:
    meta = body(made("tools/call", {"name": "a", "_meta": {"progressToken": 1}}))["params"]["_meta"]
    assert meta["progressToken"] == 1
    assert META_VERSION in meta


def test_another_version_goes_into_header_and_meta_alike() -> None:
    request = made("tools/list", version="1900-01-01")
    assert headers(request)["MCP-Protocol-Version"] == "1900-01-01"
    assert body(request)["params"]["_meta"][META_VERSION] == "1900-01-01"


@pytest.mark.parametrize("id_", ["a", 0, None, 1.5, [1]])
def test_any_id_can_be_sent(id_: Any) -> None:
    assert body(made("ping", id=id_))["id"] == id_


def test_a_notification_has_no_id() -> None:
    assert "id" not in body(made("notifications/x", id=ABSENT))


def test_a_raw_body_goes_out_as_it_is() -> None:
    assert made("ping", body=b"{").body == b"{"


def test_a_request_with_a_rule_is_injected() -> None:
    assert made("ping", rule="MCP-XXX-001").injected
