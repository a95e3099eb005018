"""Era detection by the answers to `server/discover` and `initialize`, on both transports."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from clausewise.core.errors import ExitCode, TargetError
from clausewise.core.vocabulary import Era, Revision, TransportKind
from clausewise.probe import era as era_module
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.era import Detection, detect
from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget
from tests.probe.fake_server import SSE_TYPE, VERSION, Fault, Reply, Request, serve_http
from tests.probe.legacy_replies import (
    HTML,
    always,
    dual,
    error,
    initialize_result,
    legacy,
    result,
    stateless_legacy,
)
from tests.probe.running import BOUND_S, LIMITS, process


async def _detect(
    target: Target, tape: Tape, revision: Revision | None = None, limits: Limits = LIMITS
) -> Detection:
    with anyio.fail_after(BOUND_S):
        async with Links(target, tape, limits) as links:
            known = Acquaintance(links.transport, Era.MODERN)
            detection = await detect(links, known, revision)
            if detection.session is not None:
                await detection.session.end()
            return detection


def over_http(
    fault: Fault | None,
    revision: Revision | None = None,
    limits: Limits = LIMITS,
    tape: Tape | None = None,
) -> tuple[Detection, Tape]:
    tape = Tape() if tape is None else tape

    async def run() -> Detection | TargetError:
        # Caught inside: the server's task group would wrap what leaves it.
        async with serve_http(fault) as url:
            try:
                return await _detect(HttpTarget(url), tape, revision, limits)
            except TargetError as failure:
                return failure

    outcome = anyio.run(run)
    if isinstance(outcome, TargetError):
        raise outcome
    return outcome, tape


def over_stdio(mode: str, revision: Revision | None = None) -> tuple[Detection, Tape]:
    tape = Tape()
    return anyio.run(_detect, process(mode), tape, revision), tape


def refused(call: Callable[[], object]) -> TargetError:
    with pytest.raises(TargetError) as caught:
        call()
    assert caught.value.exit_code is ExitCode.NOTHING_JUDGED
    assert caught.value.hint
    return caught.value


def methods_sent(tape: Tape) -> list[str]:
    return [
        event.payload["method"]
        for event in tape.events
        if event.kind is EventKind.MESSAGE and "method" in event.payload
    ]


def with_discover(reply: Callable[[Request], Reply], otherwise: Fault | None = None) -> Fault:
    """Another answer to `server/discover` and, without `otherwise`, a refused `initialize`."""

    def fault(request: Request, right: Reply) -> Reply | None:
        if request.method == "server/discover":
            return reply(request)
        return right if otherwise is None else otherwise(request, right)

    return fault


def test_a_discover_result_and_a_refused_initialize_are_modern() -> None:
    detection, tape = over_http(None)
    assert detection == Detection(Era.MODERN)
    assert methods_sent(tape) == ["server/discover", "initialize"]


def test_both_eras_on_one_endpoint_are_dual() -> None:
    detection, tape = over_http(dual)
    assert (detection.era, detection.legacy_version) == (Era.DUAL, "2025-11-25")
    assert methods_sent(tape)[-1] == "notifications/initialized"


def test_a_legacy_session_that_is_not_wanted_is_ended() -> None:
    tape = Tape()
    with pytest.raises(TargetError):
        over_http(lambda request, _: legacy(request), Revision.MODERN, tape=tape)
    heads = [event for event in tape.events if event.fields.get("method") == "DELETE"]
    assert [head.header("mcp-session-id") for head in heads] == ["session-1"]


def test_a_400_without_a_modern_error_falls_back_to_initialize() -> None:
    detection, _ = over_http(lambda request, _: legacy(request))
    assert detection.era is Era.LEGACY


def test_a_stateless_legacy_server_is_not_modern() -> None:
    detection, tape = over_http(stateless_legacy)
    assert detection.era is Era.LEGACY
    assert "tools/list" in methods_sent(tape)


@pytest.mark.parametrize("code", [-32020, -32021])
def test_an_error_that_only_the_modern_era_has_is_modern(code: int) -> None:
    detection, _ = over_http(with_discover(lambda request: error(request, code, "no", 400)))
    assert detection.era is Era.MODERN


def test_an_error_that_both_eras_have_is_no_sign_of_the_modern_one() -> None:
    fault = with_discover(
        lambda request: error(request, -32602, "no", 400), lambda request, _: legacy(request)
    )
    assert over_http(fault)[0].era is Era.LEGACY


def test_an_unsupported_version_is_retried_when_it_is_listed() -> None:
    def once(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover" and request.nth == 0:
            return right.with_error(-32022, {"supported": [VERSION]}, status=400)
        return right

    detection, tape = over_http(once)
    assert detection.era is Era.MODERN
    assert methods_sent(tape).count("server/discover") == 2
    assert "although it lists it" in detection.notes[0]


def test_a_server_that_lists_only_legacy_versions_is_legacy() -> None:
    def old_only(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover":
            return right.with_error(-32022, {"supported": ["2025-11-25"]}, status=400)
        return legacy(request)

    assert over_http(old_only)[0].era is Era.LEGACY


def test_a_discover_result_that_lists_only_legacy_versions_is_legacy() -> None:
    def stateful(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover":
            return right.with_result(supportedVersions=["2025-11-25"])
        if request.meta("protocolVersion") == VERSION:
            return right.with_error(-32022, {"supported": ["2025-11-25"]}, status=400)
        return legacy(request)

    detection, _ = over_http(stateful)
    assert detection.era is Era.LEGACY
    assert detection.notes == ("server/discover is answered, but lists only 2025-11-25",)


def test_a_modern_server_that_forgets_its_version_in_the_list_stays_modern() -> None:
    def forgetful(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover":
            return right.with_result(supportedVersions=["2025-11-25"])
        return right

    assert over_http(forgetful)[0].era is Era.MODERN


def test_a_server_of_other_versions_only_is_named_with_them() -> None:
    def newer(request: Request, right: Reply) -> Reply:
        return right.with_error(-32022, {"supported": ["2031-01-01"]}, status=400)

    assert "2031-01-01" in refused(lambda: over_http(newer)).message


def test_a_modern_server_without_discover_is_known_by_its_lists() -> None:
    fault = with_discover(lambda request: error(request, -32601, "no", 404))
    detection, _ = over_http(fault)
    assert detection.era is Era.MODERN
    assert "server/discover is missing" in detection.notes[0]


def test_a_modern_server_with_an_unknown_discover_result_is_known_by_its_lists() -> None:
    detection, _ = over_http(with_discover(lambda request: result(request, {"hello": 1})))
    assert detection.era is Era.MODERN


def test_a_legacy_server_that_answers_anything_is_not_modern() -> None:
    def agreeable(request: Request, _right: Reply) -> Reply:
        if request.method == "initialize":
            return result(request, initialize_result())
        return result(request, {})

    assert over_http(agreeable)[0].era is Era.LEGACY


def test_an_older_legacy_version_is_reported() -> None:
    detection, tape = over_http(lambda request, _: legacy(request, "2025-06-18"))
    assert detection.legacy_version == "2025-06-18"
    assert "notifications/initialized" not in methods_sent(tape)


def test_a_made_up_legacy_version_is_no_mcp() -> None:
    refused(lambda: over_http(lambda request, _: legacy(request, "1.0")))


def test_a_protected_server_asks_for_a_token() -> None:
    failure = refused(lambda: over_http(always(Reply(status=401, headers=()))))
    assert "401" in failure.message
    assert "--bearer" in failure.hint


def test_a_wrong_path_is_named_with_a_likely_one() -> None:
    failure = refused(lambda: over_http(always(Reply(status=404, headers=()))))
    assert "404" in failure.message


def test_a_web_page_is_no_mcp() -> None:
    assert "web page" in refused(lambda: over_http(always(HTML))).message


def test_a_failing_server_is_told_from_a_wrong_path() -> None:
    broken = Reply(status=503, headers=HTML.headers, raw=b"<h1>Unavailable</h1>")
    failure = refused(lambda: over_http(lambda _request, _right: broken))
    assert "fails (HTTP 503)" in failure.message
    assert "log" in failure.hint


def test_a_redirect_is_not_followed_but_named() -> None:
    moved = Reply(status=308, headers=(("location", "https://example.com/mcp"),))
    assert "https://example.com/mcp" in refused(lambda: over_http(always(moved))).message


def test_json_that_is_no_mcp_is_shown() -> None:
    reply = Reply(raw=b'{"hello": 1}')
    assert "hello" in refused(lambda: over_http(always(reply))).message


def test_a_silent_endpoint_is_a_target_error() -> None:
    limits = Limits(answer_s=0.1, quiet_s=0.05)
    failure = refused(lambda: over_http(lambda _request, _right: None, None, limits))
    assert "no answer" in failure.message
    assert "--timeout" in failure.hint


def test_an_endpoint_of_http_sse_is_recognised() -> None:
    def old(request: Request, _right: Reply) -> Reply:
        if request.http_method == "GET":
            return Reply(headers=SSE_TYPE, raw=b"event: endpoint\ndata: /messages\n\n")
        return Reply(status=405, headers=())

    assert "HTTP+SSE" in refused(lambda: over_http(old)).message


def test_the_modern_revision_alone_is_not_found_on_a_legacy_server() -> None:
    def call() -> object:
        return over_http(lambda request, _: legacy(request), Revision.MODERN)

    assert "only the legacy era" in refused(call).message


def test_the_legacy_revision_alone_sends_no_modern_request() -> None:
    detection, tape = over_http(dual, Revision.LEGACY)
    assert detection.era is Era.LEGACY
    assert "server/discover" not in methods_sent(tape)


def test_the_legacy_revision_alone_is_not_found_on_a_modern_server() -> None:
    failure = refused(lambda: over_http(None, Revision.LEGACY))
    assert "refuses initialize" in failure.message


def test_an_initialize_result_without_a_version_is_not_legacy() -> None:
    def odd(request: Request, right: Reply) -> Reply:
        if request.method != "initialize":
            return right
        return result(request, {**initialize_result(), "protocolVersion": 7})

    assert over_http(odd)[0].era is Era.MODERN


def test_a_legacy_process_that_refuses_unknown_methods() -> None:
    detection, tape = over_stdio("refusing")
    assert detection.era is Era.LEGACY
    assert {event.transport for event in tape.events} == {TransportKind.STDIO}


def test_a_legacy_process_that_exits_on_unknown_methods_gets_a_fresh_one() -> None:
    assert over_stdio("exiting")[0].era is Era.LEGACY


def test_a_legacy_process_that_stays_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(era_module, "_SILENCE_S", 0.05)
    assert over_stdio("silent")[0].era is Era.LEGACY


def test_a_slow_start_of_a_process_is_not_taken_for_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(era_module, "_PATIENCE_S", 0.001)
    detection, tape = over_stdio("dual")
    assert detection.era is Era.DUAL
    assert methods_sent(tape).count("server/discover") == 1


def test_an_endpoint_that_is_slow_at_first_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(era_module, "_PATIENCE_S", 0.05)

    def waking(request: Request, right: Reply) -> Reply | None:
        asleep = request.method == "server/discover" and request.nth == 0
        return None if asleep else dual(request, right)

    detection, tape = over_http(waking)
    assert detection.era is Era.DUAL
    assert methods_sent(tape).count("server/discover") == 2


def test_the_processes_of_both_eras_start_side_by_side() -> None:
    _, tape = over_stdio("dual")
    kinds = [event.kind for event in tape.events[:3]]
    assert kinds == [EventKind.LIFECYCLE, EventKind.LIFECYCLE, EventKind.MESSAGE]


def test_initialize_gets_a_process_of_its_own() -> None:
    detection, tape = over_stdio("dual")
    sessions = {
        event.session: event.payload["method"]
        for event in tape.events
        if event.kind is EventKind.MESSAGE
        and event.payload.get("method") in ("initialize", "server/discover")
    }
    assert detection.era is Era.DUAL
    assert len(sessions) == 2


def test_a_process_that_cannot_start_is_named_with_its_last_words() -> None:
    failure = refused(lambda: over_stdio("gone"))
    assert "cannot start" in failure.message


def test_a_process_that_prints_text_is_no_mcp() -> None:
    def call() -> object:
        return anyio.run(_detect, process("chatty"), Tape(), None, Limits(answer_s=1.0))

    assert "hello there" in refused(call).message


def test_a_process_that_says_nothing_is_no_mcp() -> None:
    def call() -> object:
        return anyio.run(_detect, process("mute"), Tape(), None, Limits(answer_s=0.3))

    assert "neither" in refused(call).message
