"""The rules about tokens that are valid and yet must not be enough, on the reference server."""

from __future__ import annotations

import anyio
import pytest

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Outcome
from clausewise.probe.run import ProbeOptions
from clausewise.probe.supplied import Supplied
from clausewise.reference.auth.protect import SampleTokens, sample_tokens
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_runtime
from clausewise.transport.targets import HttpTarget
from tests.probe.running import LIMITS, Recorded, probe_target

AUDIENCE, SCOPE = "MCP-AUT-008", "MCP-AUT-007"
TOOL = "touch_counter"


def probed(
    *defects: str,
    given: str = "low_scope foreign",
    low_scope: str | None = None,
    call_tools: tuple[str, ...] = (TOOL,),
    with_token: bool = True,
) -> Recorded:
    """Both rules on the protected reference server; `given` names the tokens that it gets."""

    def supplied(tokens: SampleTokens) -> Supplied:
        low = low_scope or (tokens.low_scope if "low_scope" in given else None)
        return Supplied(tokens.foreign if "foreign" in given else None, low)

    async def run() -> Recorded:
        options = ServerOptions(defects=defects, protected=True)
        async with serve_runtime(options) as (url, runtime):
            tokens = sample_tokens(runtime.wiring.protection)
            headers = (("Authorization", f"Bearer {tokens.full}"),) if with_token else ()
            asked = ProbeOptions(
                select=("MCP-AUT",),
                limits=LIMITS,
                supplied=supplied(tokens),
                call_tools=frozenset(call_tools),
            )
            return await probe_target(HttpTarget(url, headers), asked)

    return anyio.run(run)


def only(verdict: Verdict) -> str:
    (finding,) = verdict.findings
    return f"{finding.message} | {finding.seen}"


def test_both_rules_pass_with_the_tokens_they_need() -> None:
    seen = probed()
    assert seen[SCOPE].outcome is Outcome.PASS
    assert seen[AUDIENCE].outcome is Outcome.PASS


def test_without_the_tokens_both_rules_say_how_to_give_them() -> None:
    seen = probed(given="")
    assert seen[SCOPE].outcome is Outcome.NOT_OBSERVED
    assert "--low-scope-token" in (seen[SCOPE].reason or "")
    assert seen[AUDIENCE].outcome is Outcome.NOT_OBSERVED
    assert "--foreign-token" in (seen[AUDIENCE].reason or "")


def test_a_foreign_token_that_is_served_fails_and_is_not_shown() -> None:
    verdict = probed("any-audience-accepted")[AUDIENCE]
    assert verdict.outcome is Outcome.FAIL
    assert "accepted for server/discover" in only(verdict)
    assert "$FOREIGN_TOKEN" in (verdict.findings[0].reproduce or "")
    assert "eyJ" not in (verdict.findings[0].reproduce or "")


def test_the_audience_is_judged_without_a_token_of_the_user_too() -> None:
    assert probed("any-audience-accepted", with_token=False)[AUDIENCE].outcome is Outcome.FAIL


def test_a_401_in_the_place_of_insufficient_scope_warns() -> None:
    verdict = probed("little-scope-unauthorized")[SCOPE]
    assert verdict.outcome is Outcome.WARN
    assert "tools/call of touch_counter" in only(verdict)
    assert "HTTP 401" in only(verdict)


def test_a_token_that_is_enough_for_all_that_may_be_tried_shows_nothing() -> None:
    verdict = probed(call_tools=())[SCOPE]
    assert verdict.outcome is Outcome.NOT_OBSERVED
    assert "--call-tool" in (verdict.reason or "")


def test_without_a_token_of_the_user_it_is_not_known_what_to_try() -> None:
    verdict = probed(with_token=False)[SCOPE]
    assert verdict.outcome is Outcome.NOT_OBSERVED
    assert "--bearer" in (verdict.reason or "")


def test_an_invalid_token_shows_nothing_about_scopes() -> None:
    verdict = probed(low_scope="no-token-of-this-issuer")[SCOPE]
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "refused as invalid" in (verdict.reason or "")


@pytest.mark.parametrize("rule", [SCOPE, AUDIENCE])
def test_the_requests_with_such_tokens_are_marked_as_deliberate(rule: str) -> None:
    assert rule in {event.injected for event in probed().tape.events}
