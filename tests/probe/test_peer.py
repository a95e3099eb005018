"""Peers and their links: what is asked once, what is fresh, what an answer means."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import pytest

from clausewise.core.errors import InternalError, TargetError
from clausewise.core.vocabulary import Era
from clausewise.probe.acquaintance import MAX_PAGES, Acquaintance
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Ending
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.probe import fake_server
from tests.probe.fake_server import TOOLS, Fault, Request, serve_http
from tests.probe.running import BOUND_S, LIMITS, meeting, process

T = TypeVar("T")


def with_peer(
    use: Callable[[Peer], Awaitable[T]], fault: Fault | None = None, limits: Limits = LIMITS
) -> T:
    async def run() -> T:
        with anyio.fail_after(BOUND_S):
            async with serve_http(fault) as url, meeting(HttpTarget(url), limits=limits) as peer:
                return await use(peer)

    return anyio.run(run)


def counted(counts: dict[str, int]) -> Fault:
    def fault(request: Request, right: fake_server.Reply) -> fake_server.Reply:
        counts[request.method] = counts.get(request.method, 0) + 1
        return right

    return fault


def test_discovery_and_lists_are_asked_once() -> None:
    counts: dict[str, int] = {}

    async def use(peer: Peer) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(peer.discover)
                group.start_soon(peer.pages, "tools/list")

    with_peer(use, counted(counts))
    assert counts == {"server/discover": 1, "tools/list": 2}


def test_all_pages_are_followed() -> None:
    pages = with_peer(lambda peer: peer.pages("tools/list"))
    assert [item["name"] for item in pages.items] == [tool["name"] for tool in TOOLS]
    assert (len(pages.replies), pages.blocked) == (2, None)


def test_pages_without_end_are_bounded() -> None:
    def endless(request: Request, right: fake_server.Reply) -> fake_server.Reply:
        return right.with_result(nextCursor=str(request.nth % 2)) if request.id else right

    def growing(request: Request, right: fake_server.Reply) -> fake_server.Reply:
        if request.method != "tools/list":
            return right
        result = {"tools": [], "nextCursor": str(1000 + request.nth)}
        return fake_server.Reply(({"jsonrpc": "2.0", "id": request.id, "result": result},))

    repeated = with_peer(lambda peer: peer.pages("tools/list"), endless)
    grown = with_peer(lambda peer: peer.pages("tools/list"), growing)
    assert "does not end" in str(repeated.blocked)
    assert len(grown.replies) == MAX_PAGES


def test_ids_are_not_used_twice() -> None:
    async def use(peer: Peer) -> list[int]:
        return [(await peer.request("tools/list")).id for _ in range(3)]

    ids = with_peer(use)
    assert len(set(ids)) == 3


def test_a_fresh_link_is_another_connection_and_stays_until_it_is_left() -> None:
    async def use(peer: Peer) -> tuple[bool, bool]:
        async with peer.fresh() as link:
            await peer.request("tools/list", link=link)
            inside = link.alive
        return inside, link.alive

    assert with_peer(use) == (True, False)


def test_the_peers_own_link_is_replaced_when_the_server_closed_it() -> None:
    def closing(_request: Request, right: fake_server.Reply) -> fake_server.Reply:
        streamed = (("content-type", "text/event-stream"),)
        return fake_server.Reply(right.messages, right.status, streamed)

    async def use(peer: Peer) -> list[bool]:
        return [(await peer.request("tools/list")).succeeded for _ in range(3)]

    assert with_peer(use, closing) == [True, True, True]


@pytest.mark.parametrize("answered", [True, False])
def test_a_connection_whose_stream_broke_off_before_the_response_is_not_used_again(
    answered: bool,
) -> None:
    """Its end may be read only when the next request is on its way."""

    def breaking_off(_request: Request, right: fake_server.Reply) -> fake_server.Reply:
        # Not a stream to the fake server, so that it keeps the connection.
        named = (("Content-Type", "text/event-stream"),)
        text = b"data: " + json.dumps(right.response).encode() + b"\n\n" if answered else b": \n\n"
        return fake_server.Reply((), 200, named, raw=text)

    async def use(peer: Peer) -> bool:
        async with peer.fresh() as link:
            await peer.request("tools/list", link=link)
            return link.alive

    assert with_peer(use, breaking_off) is answered


def test_a_dead_link_of_ones_own_choice_is_not_reopened() -> None:
    async def use(peer: Peer) -> Reply:
        async with peer.fresh() as link:
            await peer.request("subscriptions/listen", {"notifications": {}}, link=link, until=any_)
            return await peer.request("tools/list", link=link)

    reply = with_peer(use)
    assert reply.answer.ending is Ending.REFUSED
    assert reply.blocked is not None


def any_(_event: object) -> bool:
    return True


def test_an_answer_with_another_id_belongs_to_nobody() -> None:
    def other_id(request: Request, right: fake_server.Reply) -> fake_server.Reply:
        return right.with_response({**right.response, "id": str(request.id)})

    reply = with_peer(lambda peer: peer.request("tools/list"), other_id)
    assert (reply.message, reply.succeeded) == (None, False)


def test_an_error_without_an_id_still_answers_the_request() -> None:
    def no_id(_request: Request, right: fake_server.Reply) -> fake_server.Reply:
        refused = right.with_error(-32020, status=400)
        return refused.with_response({**refused.response, "id": None})

    reply = with_peer(lambda peer: peer.request("tools/list"), no_id)
    assert (reply.code, reply.succeeded) == (-32020, False)


def test_a_result_with_an_error_status_is_no_success() -> None:
    def odd(_request: Request, right: fake_server.Reply) -> fake_server.Reply:
        return fake_server.Reply(right.messages, 500)

    assert not with_peer(lambda peer: peer.request("tools/list"), odd).succeeded


def test_silence_is_blocked_within_the_time_for_an_answer() -> None:
    reply = with_peer(
        lambda peer: peer.request("tools/list"), lambda _, __: None, Limits(answer_s=0.1)
    )
    assert reply.answer.ending is Ending.TIMEOUT
    assert reply.blocked is not None


def test_the_shown_answer_is_short() -> None:
    def long(_request: Request, right: fake_server.Reply) -> fake_server.Reply:
        refused = right.with_error(-32603)
        error = {"code": -32603, "message": "x" * 10_000}
        return refused.with_response({**refused.response, "error": error})

    reply = with_peer(lambda peer: peer.request("tools/list"), long)
    assert reply.shown.startswith("HTTP 200, error -32603 'xxx")
    assert len(reply.shown) < 200


def test_a_process_that_did_not_answer_is_not_used_again() -> None:
    async def run() -> list[str | None]:
        tape = Tape()
        with anyio.fail_after(BOUND_S):
            async with Links(process("mute"), tape, Limits(answer_s=0.05)) as links:
                for _ in range(2):
                    peer = Peer(links, Acquaintance(links.transport, Era.MODERN))
                    await peer.request("tools/list")
                    await peer.close()
        return [event.session for event in tape.events if "code" in event.fields]

    assert len(set(anyio.run(run))) == 2


def test_only_http_servers_can_be_fetched_from() -> None:
    async def run() -> None:
        async with meeting(process("mute")) as peer:
            with pytest.raises(InternalError):
                await peer.fetch("GET", {})

    anyio.run(run)


@pytest.mark.parametrize(
    "target", [StdioTarget(("/nonexistent/server",)), HttpTarget("http://127.0.0.1:1/mcp")]
)
def test_a_target_that_cannot_be_opened_is_a_plain_target_error(target: Target) -> None:
    async def run() -> None:
        async with Links(target, Tape(), LIMITS) as links:
            await links.open()

    with pytest.raises(TargetError):
        anyio.run(run)


NOTHING: dict[str, bool] = {}


def test_an_unanswered_process_is_not_passed_on() -> None:
    async def run() -> list[bool]:
        async with meeting(process("dual")) as peer:
            async with peer.another() as first:
                await peer.request("tools/list", link=first)
            async with peer.another() as second:
                wanted = {"notifications": NOTHING}
                await peer.request("subscriptions/listen", wanted, link=second, until=any_)
            async with peer.another() as third:
                pass
        return [first is second, second is third]

    assert anyio.run(run) == [True, False]


def test_over_http_each_second_connection_is_new() -> None:
    async def use(peer: Peer) -> bool:
        async with peer.another() as first:
            await peer.request("tools/list", link=first)
        async with peer.another() as second:
            return first is second

    assert with_peer(use) is False


def test_links_may_be_closed_in_any_order() -> None:
    async def use(peer: Peer) -> list[bool]:
        first, second = peer.fresh(), peer.fresh()
        one = await first.__aenter__()
        two = await second.__aenter__()
        await first.__aexit__(None, None, None)
        served = (await peer.request("tools/list", link=two)).succeeded
        await second.__aexit__(None, None, None)
        return [one.alive, served, two.alive]

    assert with_peer(use) == [False, True, False]
