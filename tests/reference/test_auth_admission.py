"""The protected reference server: whom it lets in, and how it refuses the others."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Era
from clausewise.reference.auth.parts import AuthParts
from clausewise.reference.auth.protect import FOREIGN_RESOURCE, SampleTokens, sample_tokens
from clausewise.reference.auth.scopes import READ, WRITE, Scopes
from clausewise.reference.auth.tokens import TokenIssuer
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import build, serve_runtime
from tests.reference.client import Answer, Client, connect, initialize_message, open_session

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Protected:
    """A protected server in operation, and one connection to it."""

    url: str
    parts: AuthParts
    client: Client

    @property
    def tokens(self) -> SampleTokens:
        return sample_tokens(self.parts)

    async def discover(self, authorization: str | None = None) -> Answer:
        headers = {"Authorization": authorization}
        return await self.client.modern("server/discover", headers=headers)


def bearer(token: str) -> Mapping[str, str | None]:
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def protected(era: Era = Era.DUAL, *defects: str) -> AsyncIterator[Protected]:
    options = ServerOptions(era=era, defects=defects, protected=True)
    async with serve_runtime(options) as (url, runtime), connect(url) as client:
        yield Protected(url, runtime.wiring.protection, client)


def challenge_of(answer: Answer) -> str:
    return answer.headers["www-authenticate"]


# clause: MCP-AUT-001, MCP-AUT-006, AUTH-014
async def test_without_a_token_the_challenge_says_where_to_get_one_and_what_for() -> None:
    async with protected() as server:
        answer = await server.discover()
        origin = server.url.removesuffix("/mcp")
    assert (answer.status, answer.body) == (401, b"")
    assert challenge_of(answer) == (
        f'Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp", '
        'scope="mcp:read"'
    )


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_every_method_of_the_endpoint_needs_a_token(method: str) -> None:
    async with protected() as server:
        answer = await server.client.exchange(method, {"Accept": "text/event-stream"})
    assert answer.status == 401


async def test_an_unreadable_body_without_a_token_is_a_matter_of_the_token() -> None:
    async with protected() as server:
        answer = await server.client.exchange("POST", {"Content-Type": "text/plain"}, b"{")
    assert answer.status == 401


async def test_a_token_for_this_server_lets_in_whatever_the_case_of_the_scheme() -> None:
    async with protected() as server:
        token = server.tokens.full
        for scheme in ("Bearer", "bearer", "BEARER"):
            assert (await server.discover(f"{scheme} {token}")).status == 200


@pytest.mark.parametrize(
    "authorization",
    ["Basic dXNlcjpwYXNz", "Bearer", "Bearer a b", "Bearer not-a-token", "Bearer a.b.c"],
)
async def test_what_is_no_token_is_invalid(authorization: str) -> None:
    async with protected() as server:
        answer = await server.discover(authorization)
    assert answer.status == 401
    assert 'error="invalid_token"' in challenge_of(answer)


# clause: MCP-AUT-008, AUTH-043, AUTH-045, AUTH-059, AUTH-083
async def test_tokens_of_others_for_others_and_of_the_past_are_invalid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with protected() as server:
        resource, issuer = server.parts.resource, server.parts.issuer
        stranger = TokenIssuer(issuer.name)
        whole = Scopes((READ, WRITE))
        with monkeypatch.context() as past:
            now = time.time()
            past.setattr(time, "time", lambda: now - 7200)
            stale = issuer.access_token(resource, whole)
        wrong = {
            "signature": stranger.access_token(resource, whole),
            "expired": stale,
            "another resource": issuer.access_token(FOREIGN_RESOURCE, whole),
            "no access token": issuer.id_token("client", "user", None),
        }
        for description, token in wrong.items():
            answer = await server.discover(f"Bearer {token}")
            assert answer.status == 401
            assert 'error="invalid_token"' in challenge_of(answer)
            assert description in challenge_of(answer)


async def test_two_authorization_headers_are_a_bad_request() -> None:
    async with protected() as server:
        token = server.tokens.full
        headers = {"Authorization": f"Bearer {token}", "authorization": f"Bearer {token}"}
        answer = await server.client.exchange("POST", headers)
    assert answer.status == 400
    assert 'error="invalid_request"' in challenge_of(answer)


# clause: MCP-AUT-007, AUTH-050, AUTH-051
async def test_a_tool_that_changes_something_needs_more_scope() -> None:
    call = {"name": "touch_counter", "arguments": {}}
    async with protected() as server:
        tokens = server.tokens
        low = await server.client.modern("tools/call", call, headers=bearer(tokens.low_scope))
        full = await server.client.modern("tools/call", call, headers=bearer(tokens.full))
        write = server.parts.issuer.access_token(server.parts.resource, Scopes((WRITE,)))
        broad = await server.client.modern("tools/list", headers=bearer(write))
        none = server.parts.issuer.access_token(server.parts.resource, Scopes(()))
        bare = await server.client.modern("tools/list", headers=bearer(none))
    assert low.status == 403
    assert 'error="insufficient_scope"' in challenge_of(low)
    assert 'scope="mcp:write"' in challenge_of(low)
    assert "resource_metadata=" in challenge_of(low)
    assert full.status == 200
    assert broad.status == 200, "the broader scope implies the narrower"
    assert (bare.status, 'scope="mcp:read"' in challenge_of(bare)) == (403, True)


async def test_a_legacy_session_needs_the_token_on_each_request() -> None:
    async with protected(Era.LEGACY) as server:
        token = {"Authorization": f"Bearer {server.tokens.full}"}
        assert (await server.client.post(initialize_message())).status == 401
        opened = await server.client.post(initialize_message(), token)
        assert opened.status == 200
        session = {"MCP-Session-Id": opened.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await server.client.post(ping, session)).status == 401
        assert (await server.client.post(ping, {**session, **token})).status == 200


async def test_an_open_server_asks_nobody() -> None:
    async with serve_runtime(ServerOptions()) as (url, runtime), connect(url) as client:
        assert runtime.wiring.auth is None
        await open_session(client)
        answer = await client.exchange("GET", {}, path="/.well-known/oauth-protected-resource")
    assert answer.status == 404


@pytest.mark.parametrize(
    "options",
    [
        ServerOptions(protected=True),
        ServerOptions(defects=("any-audience-accepted",)),
    ],
    ids=["stdio", "open"],
)
def test_what_needs_http_and_protection_says_so(options: ServerOptions) -> None:
    with pytest.raises(UsageError) as caught:
        build(options, None)
    assert "--auth" in caught.value.hint


def test_without_the_package_for_tokens_the_hint_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import builtins

    right = builtins.__import__

    def refusing(name: str, *others: object) -> object:
        if name == "clausewise.reference.auth.protect":
            raise ImportError("no joserfc", name="joserfc")
        return right(name, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(UsageError, match="needs the package joserfc") as caught:
        build(ServerOptions(protected=True), "http://127.0.0.1:1")
    assert "clausewise[auth]" in caught.value.hint


def test_a_defect_changes_the_protection_and_leaves_the_right_one_alone() -> None:
    right = build(ServerOptions(protected=True), "http://127.0.0.1:1").wiring.protection
    options = replace(ServerOptions(protected=True), defects=("any-audience-accepted",))
    wrong = build(options, "http://127.0.0.1:1").wiring.protection
    assert right.checks.keys() - wrong.checks.keys() == {"for-this-resource"}
