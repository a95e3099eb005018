"""How a client follows the pages of a list, whatever their cursors are."""

from __future__ import annotations

from tests.reference_client.driving import LEGACY, drive_scripted
from tests.reference_client.scripted import (
    Json,
    give,
    legacy_server,
    refuse,
)

LIST = '[[step]]\ndo = "list"\nwhat = "prompts"\n'


def page(entries: int, cursor: object = None) -> Json:
    prompts = [{"name": f"p{number}"} for number in range(entries)]
    return {"prompts": prompts} | ({} if cursor is None else {"nextCursor": cursor})


# clause: PAGE-001, PAGE-002, PAGE-005
def test_pages_of_any_size_are_followed_with_their_cursors_as_they_came() -> None:
    cursors = ["", " padded= ", "äö", "12"]
    pages = [page(3, ""), page(0, " padded= "), page(7, "äö"), page(1, "12"), page(2)]
    server = legacy_server(prompts__list=[give(one) for one in pages])
    (result,) = drive_scripted(server, LIST, LEGACY)
    assert result.complaints == ()
    assert len(result.outcome["result"]["prompts"]) == 13
    sent = [one.message.get("params", {}).get("cursor") for one in server.of("prompts/list")]
    assert sent == [None, *cursors]


def test_a_list_begins_anew_once_when_its_cursor_is_refused() -> None:
    acts = [give(page(1, "old")), refuse(-32602), give(page(1, "new")), give(page(1))]
    server = legacy_server(prompts__list=acts)
    (result,) = drive_scripted(server, LIST, LEGACY)
    assert result.complaints == ()
    sent = [one.message.get("params", {}).get("cursor") for one in server.of("prompts/list")]
    assert sent == [None, "old", None, "new"]


def test_a_cursor_that_leads_in_a_circle_ends_the_list() -> None:
    server = legacy_server(prompts__list=give(page(1, "again")))
    (result,) = drive_scripted(server, LIST, LEGACY)
    assert "leads nowhere new" in result.outcome["fault"]
    assert len(server.of("prompts/list")) == 2
