"""How long is waited for what may never come: longer only where everything is slow."""

from __future__ import annotations

import anyio
import pytest

from clausewise.core.vocabulary import Era
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.legacy_peer import Called, LegacyAcquaintance, LegacyPeer
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.tempo import Tempo
from clausewise.probe.offered import TOOL_S, ToolCall
from clausewise.probe.subjects.slow_tools import slow_tries
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http as serve_reference
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget
from tests.probe.fake_server import Reply as FakeReply
from tests.probe.fake_server import Request, serve_http
from tests.probe.running import LIMITS


def test_a_server_that_answers_at_once_gets_the_usual_patience() -> None:
    tempo = Tempo()
    assert tempo.patience_s(1.5) == 1.5
    tempo.answered("ping", 0.01)
    assert tempo.patience_s(1.5) == 1.5


def test_one_slow_start_makes_nobody_patient() -> None:
    tempo = Tempo()
    for seconds in (1.0, 0.01, 0.01):
        tempo.answered("server/discover", seconds)
    assert (tempo.usual_s, tempo.patience_s(1.5)) == (0.01, 1.5)


def test_where_every_answer_is_slow_more_is_waited_for() -> None:
    tempo = Tempo()
    for _ in range(3):
        tempo.answered("tools/list", 0.5)
    assert tempo.patience_s(1.5) == 5.0


def test_what_was_slow_a_while_ago_is_forgotten() -> None:
    tempo = Tempo()
    for seconds in (*[1.0] * 20, *[0.01] * 9):
        tempo.answered("ping", seconds)
    assert tempo.usual_s == 0.01


def test_calls_say_nothing_of_the_tempo() -> None:
    tempo = Tempo()
    tempo.answered("tools/call", 5.0)
    assert tempo.usual_s == 0.0


@pytest.mark.parametrize("answered", [True, False])
def test_the_answers_of_a_run_set_its_tempo(answered: bool) -> None:
    """What gets no answer in time is no measure of the others."""

    def fault(_: Request, right: FakeReply) -> FakeReply | None:
        return right if answered else None

    async def usual() -> float:
        target, limits = serve_http(fault), Limits(answer_s=5.0 if answered else 0.05)
        async with target as url, Links(HttpTarget(url), Tape(), limits) as links:
            peer = Peer(links, Acquaintance(links.transport, Era.MODERN))
            await peer.request("server/discover")
            return links.tempo.usual_s

    assert (anyio.run(usual) > 0) is answered


def called(name: str, seconds: float, usual_s: float) -> Called:
    class Answered:
        succeeded = True

    return Called(ToolCall(name, {}), Answered(), seconds, usual_s)  # type: ignore[arg-type]


def test_a_call_that_took_no_longer_than_everything_else_is_not_long() -> None:
    async def tries() -> list[str]:
        async with Links(HttpTarget("http://127.0.0.1:9/mcp"), Tape(), LIMITS) as links:
            known = LegacyAcquaintance()
            known.called.set()
            known.calls += [called("quick", 0.5, 0.4), called("slow", 0.6, 0.3)]
            return [one.call.name for one in await slow_tries(LegacyPeer(links, known))]

    assert set(anyio.run(tries)) == {"slow"}


@pytest.mark.parametrize(("tool", "is_long"), [("wait", True), ("all_content", False)])
def test_what_took_long_while_everything_did_is_timed_once_more(tool: str, is_long: bool) -> None:
    async def tries() -> set[str]:
        url_of = serve_reference(ServerOptions())
        async with url_of as url, Links(HttpTarget(url), Tape(), LIMITS) as links:
            known = LegacyAcquaintance()
            known.called.set()
            known.calls.append(called(tool, 0.5, 0.4))
            found = {one.call.name for one in await slow_tries(LegacyPeer(links, known))}
            await known.end()
            return found

    assert anyio.run(tries) == ({tool} if is_long else set())


def test_no_patience_is_longer_than_that_for_an_answer() -> None:
    async def patience() -> tuple[float, float]:
        target = HttpTarget("http://127.0.0.1:9/mcp")
        async with Links(target, Tape(), Limits(answer_s=1.0)) as links:
            for _ in range(3):
                links.tempo.answered("ping", 5.0)
            modern = Peer(links, Acquaintance(links.transport, Era.MODERN))
            return modern.tool_s, LegacyPeer(links, LegacyAcquaintance()).patience_s(TOOL_S)

    assert anyio.run(patience) == (1.0, 1.0)
