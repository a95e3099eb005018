"""Rules SEC-001, SEC-003, SEC-004 and SEC-007: origins, icons, and secrets that come back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest

from clausewise.core.vocabulary import Era, Outcome
from clausewise.probe.probes.security import (
    COOKIE_CANARY,
    HEADER_CANARY,
    TOKEN_CANARY,
)
from clausewise.probe.run import ProbeOptions
from clausewise.probe.subjects.canary import comes_back
from clausewise.probe.subjects.origins import FOREIGN_ORIGIN
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT
from tests.probe.fake_server import Fault, Reply, Request, serve_http, stdio_command
from tests.probe.fault_making import DISCOVER, PROMPT_LIST, RESOURCE_LIST, TEMPLATE_LIST, TOOL_LIST
from tests.probe.faults_of_headers import served
from tests.probe.running import LIMITS, Recorded, probe_fake, probe_reference, probe_target

FAIL, WARN, INFO, PASS = Outcome.FAIL, Outcome.WARN, Outcome.INFO, Outcome.PASS
INCONCLUSIVE, NOT_APPLICABLE = Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE


def to_foreign(change: Callable[[Reply], Reply]) -> Fault:
    def fault(request: Request, reply: Reply) -> Reply:
        return change(reply) if request.headers.get("origin") == FOREIGN_ORIGIN else reply

    return fault


def open_to(origin: str) -> Fault:
    return to_foreign(
        lambda reply: replace(
            served(reply),
            headers=(("content-type", "application/json"), ("access-control-allow-origin", origin)),
        )
    )


ORIGINS: dict[str, tuple[Fault | None, Outcome]] = {
    "forbidden": (None, PASS),
    "served": (to_foreign(served), FAIL),
    "served-and-declared-on-loopback": (open_to("*"), FAIL),
    "bad-request": (to_foreign(lambda reply: replace(reply, status=400)), FAIL),
    "not-found": (to_foreign(lambda reply: replace(reply, status=404)), FAIL),
    "unauthorized": (to_foreign(lambda reply: replace(reply, status=401)), INCONCLUSIVE),
    "failing": (to_foreign(lambda reply: replace(reply, status=503)), INCONCLUSIVE),
}


@pytest.mark.parametrize("case", ORIGINS)
def test_a_foreign_origin_must_be_forbidden(case: str) -> None:
    fault, expected = ORIGINS[case]
    assert probe_fake(fault, "MCP-SEC-001")["MCP-SEC-001"].outcome is expected


def test_other_origins_are_remarks_only() -> None:
    def fault(request: Request, reply: Reply) -> Reply:
        own = request.headers.get("origin", "").startswith("http://127")
        return Reply(status=403, headers=()) if own else reply

    run = probe_fake(fault, "MCP-SEC-001")
    assert run["MCP-SEC-001"].outcome is PASS
    assert any("own origin" in note for note in run.run.notes)


def test_an_origin_that_a_public_server_declares_valid_only_warns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def public(*_: object) -> tuple[str, ...]:
        return ("203.0.114.7",)

    monkeypatch.setattr("clausewise.probe.subjects.origins.look_up", public)
    assert probe_fake(open_to("*"), "MCP-SEC-001")["MCP-SEC-001"].outcome is WARN
    assert probe_fake(to_foreign(served), "MCP-SEC-001")["MCP-SEC-001"].outcome is FAIL


def repeating(text: Callable[[Request], str], where: str = "message") -> Fault:
    """A server whose errors say more than they should."""

    def fault(request: Request, reply: Reply) -> Reply:
        response = reply.response
        if "error" not in response:
            return reply
        response["error"][where] = text(request)
        return reply.with_response(response)

    return fault


def in_base64(text: str) -> str:
    return base64.b64encode(b"s:" + text.encode()).decode()


SECRETS: dict[str, tuple[Fault, dict[str, Outcome]]] = {
    "method-and-name": (
        repeating(lambda r: f"{r.method} {r.headers.get('mcp-name')} is unknown"),
        {},
    ),
    "cookie": (repeating(lambda r: r.headers.get("cookie", "")), {"MCP-SEC-003": WARN}),
    "every-header": (
        repeating(lambda r: json.dumps(dict(r.headers)), "data"),
        {"MCP-SEC-003": WARN, "MCP-SEC-007": WARN},
    ),
    "cookie-in-base64": (
        repeating(lambda r: in_base64(r.headers.get("cookie", ""))),
        {"MCP-SEC-003": WARN},
    ),
    "token-in-a-header": (
        lambda r, reply: (
            replace(
                reply, headers=(*reply.headers, ("x-seen", r.headers.get("authorization", "-")))
            )
            if r.method == DISCOVER and isinstance(r.message, dict)
            else reply
        ),
        {"MCP-SEC-007": WARN},
    ),
    "token-prefix": (repeating(lambda r: r.headers.get("authorization", "")[:11]), {}),
    "token-refused-and-repeated": (
        lambda r, reply: (
            Reply(status=401, raw=r.headers["authorization"].encode())
            if "authorization" in r.headers
            else reply
        ),
        {"MCP-SEC-003": WARN, "MCP-SEC-007": WARN},
    ),
    "token-refused": (
        lambda r, reply: Reply(status=401, headers=()) if "authorization" in r.headers else reply,
        {},
    ),
}


@pytest.mark.parametrize("case", SECRETS)
def test_a_secret_that_comes_back_warns(case: str) -> None:
    fault, expected = SECRETS[case]
    run = probe_fake(fault, "MCP-SEC-003", "MCP-SEC-007")
    found = {v.id: v.outcome for v in run.run.verdicts if v.outcome is not PASS}
    assert found == expected


def test_a_finding_says_which_secret_came_back_but_not_its_value() -> None:
    fault = repeating(lambda r: str(dict(r.headers)))
    finding = probe_fake(fault, "MCP-SEC-003")["MCP-SEC-003"].findings[0]
    assert "the Cookie header" in finding.message
    assert "the Authorization header" in finding.message
    assert COOKIE_CANARY in (finding.reproduce or "")


def test_the_users_own_token_goes_nowhere_but_to_the_server() -> None:
    seen: list[str] = []

    def fault(request: Request, reply: Reply) -> Reply:
        seen.append(request.headers.get("authorization", ""))
        return reply

    async def run() -> Recorded:
        async with serve_http(fault) as url:
            target = HttpTarget(url, (("Authorization", "Bearer of-the-user"),))
            options = ProbeOptions(select=("MCP-SEC-003", "MCP-SEC-007"), limits=LIMITS)
            return await probe_target(target, options)

    run_ = anyio.run(run)
    assert run_["MCP-SEC-007"].outcome is PASS
    assert set(seen) == {"Bearer of-the-user", f"Bearer {TOKEN_CANARY}"}


@pytest.mark.parametrize("before", range(5))
def test_a_canary_is_found_in_base64_at_any_offset(before: int) -> None:
    text = base64.b64encode(b"x" * before + HEADER_CANARY.encode() + b"and more")
    assert comes_back(HEADER_CANARY, _answer(text))
    assert not comes_back(COOKIE_CANARY, _answer(text))


def _answer(body: bytes) -> Answer:
    return Answer(1, 200, (), body, (), (), Ending.COMPLETE)


def test_on_stdio_the_environment_must_not_come_back() -> None:
    async def run(command: tuple[str, ...]) -> Recorded:
        target = StdioTarget(command, cwd=str(ROOT))
        options = ProbeOptions(select=("MCP-SEC",), limits=LIMITS)
        return await probe_target(target, options)

    right = anyio.run(run, stdio_command())
    assert right["MCP-SEC-003"].outcome is PASS
    assert right["MCP-SEC-001"].outcome is NOT_APPLICABLE
    wrong = anyio.run(run, stdio_command("environment-in-errors"))
    (finding,) = wrong["MCP-SEC-003"].findings
    assert "an environment variable" in finding.message
    assert "CLAUSEWISE_CANARY=clausewise-canary-variable" in (finding.reproduce or "")


def icon(src: Any, method: str = TOOL_LIST) -> Fault:
    """The first entry of a list, or the server itself, has an icon."""
    members = {
        TOOL_LIST: "tools",
        PROMPT_LIST: "prompts",
        RESOURCE_LIST: "resources",
        TEMPLATE_LIST: "resourceTemplates",
    }

    def fault(request: Request, reply: Reply) -> Reply:
        response = reply.response
        if request.method != method or "result" not in response:
            return reply
        result = response["result"]
        if method == DISCOVER:
            owner = result["_meta"]["io.modelcontextprotocol/serverInfo"]
        else:
            owner = result[members[method]][0]
        owner["icons"] = [{"src": src}]
        return reply.with_response(response)

    return fault


SVG = "data:image/svg+xml;base64," + base64.b64encode(b"<svg><script>1</script></svg>").decode()
ICONS: dict[str, tuple[Any, Outcome]] = {
    "data": ("data:image/png;base64,AAAA", PASS),
    "plain-svg": ("data:image/svg+xml,%3Csvg%2F%3E", PASS),
    "scripted-svg": (SVG, INFO),
    "another-origin": ("https://icons.example/a.png", INFO),
    "plain-http": ("http://127.0.0.1/a.png", WARN),
    "script": ("javascript:alert(1)", FAIL),
    "disguised-script": (" \tJaVa\nScRiPt:alert(1)", FAIL),
    "file": ("file:///etc/passwd", FAIL),
    "websocket": ("wss://icons.example/a", FAIL),
    "app": ("myapp:icon", FAIL),
    "relative": ("/icon.png", FAIL),
    "no-text": (7, FAIL),
}


@pytest.mark.parametrize("case", ICONS)
def test_an_icon_is_judged_by_its_scheme_and_origin(case: str) -> None:
    src, expected = ICONS[case]
    assert probe_fake(icon(src), "MCP-SEC-004")["MCP-SEC-004"].outcome is expected


@pytest.mark.parametrize("method", [DISCOVER, TOOL_LIST, PROMPT_LIST, RESOURCE_LIST, TEMPLATE_LIST])
def test_icons_are_found_wherever_they_may_be(method: str) -> None:
    run = probe_fake(icon("file:///x", method), "MCP-SEC-004")
    assert run["MCP-SEC-004"].outcome is FAIL


def test_without_icons_the_rule_does_not_apply() -> None:
    assert probe_fake(None, "MCP-SEC-004")["MCP-SEC-004"].outcome is NOT_APPLICABLE


def test_the_reference_server_is_judged_by_its_own_icon() -> None:
    assert probe_reference(Era.MODERN, "MCP-SEC-004")["MCP-SEC-004"].outcome is PASS
