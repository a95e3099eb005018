"""What the client must not believe, and what it cannot go on from: no token is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from clausewise.core.errors import BarredError, UsageError
from clausewise.reference.client.auth.authorizer import MAX_AUTHORIZATIONS, OAuthAuthorizer
from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.reference.client.auth.options import AuthOptions, RegisteredClient
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget
from tests.probe.site import Page
from tests.reference_client.auth.world import AS_METADATA, AT_PATH, NOBODY, World, known, visiting

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Lie:
    """A world that is not to be trusted, and how far the client may go in it.

    Attributes:
        world: what is changed.
        says: what the client's error says.
        last: the last path that may be asked for.
        options: the client.
    """

    world: dict[str, Any]
    says: str
    last: str
    options: AuthOptions = field(default_factory=lambda: NOBODY)


def page(path: str, value: Any = None, status: int = 200, **headers: str) -> dict[str, Any]:
    return {"pages": {path: Page(status, tuple(headers.items()), value)}}


RESOURCE_LIES = {
    "the metadata is of another server": Lie(
        {"resource": {"resource": "https://evil.example/mcp"}}, "not of", AT_PATH
    ),
    "the metadata is of a neighbour": Lie(
        {"resource": {"resource": "{origin}/mcp2"}}, "not of", AT_PATH
    ),
    "the metadata is of something below": Lie(
        {"resource": {"resource": "{origin}/mcp/x"}}, "not of", AT_PATH
    ),
    "the resource has a fragment": Lie(
        {"resource": {"resource": "{origin}/mcp#x"}}, "not of", AT_PATH
    ),
    "the resource has a wrong port": Lie(
        {"resource": {"resource": "http://127.0.0.1:x/mcp"}}, "not of", AT_PATH
    ),
    "the metadata names no resource": Lie({"resource": {"resource": None}}, "of nothing", AT_PATH),
    "no issuer is listed": Lie(
        {"resource": {"authorization_servers": []}}, "lists no authorization server", AT_PATH
    ),
    "the list of issuers is none": Lie(
        {"resource": {"authorization_servers": {}}}, "lists no authorization server", AT_PATH
    ),
    "no metadata anywhere": Lie(
        {"resource_at": (), "challenge": "Bearer"},
        "publishes no metadata",
        "/.well-known/oauth-protected-resource",
    ),
    "no metadata where the challenge says": Lie(
        {"challenge": 'Bearer resource_metadata="{origin}/gone"'}, "publishes no metadata", "/gone"
    ),
    "the challenge leads to a private address": Lie(
        {"challenge": 'Bearer resource_metadata="http://10.1.2.3/x"'}, "private address", "/mcp"
    ),
    "the challenge leads to no URL": Lie(
        {"challenge": 'Bearer resource_metadata="gopher://x"'}, "no http or https URL", "/mcp"
    ),
}

SERVER_LIES = {
    "the issuer is another": Lie(
        {"metadata": {"issuer": "https://evil.example"}},
        "the issuer is 'https://evil.example'",
        "/as/.well-known/openid-configuration",
    ),
    "the issuer has a slash more": Lie(
        {"metadata": {"issuer": "{origin}/as/"}},
        "no metadata of its own",
        "/as/.well-known/openid-configuration",
    ),
    "there is no server metadata": Lie(
        {"metadata_at": ()}, "HTTP 404", "/as/.well-known/openid-configuration"
    ),
    "the issuer is plain http elsewhere": Lie(
        {"resource": {"authorization_servers": ["http://as.example"]}}, "must be an https", AT_PATH
    ),
    "the token endpoint is plain http elsewhere": Lie(
        {"metadata": {"token_endpoint": "http://as.example/token"}}, "token endpoint", AS_METADATA
    ),
    "there is no token endpoint": Lie(
        {"metadata": {"token_endpoint": None}}, "token endpoint of", AS_METADATA
    ),
    "the registration endpoint has a user name": Lie(
        {"metadata": {"registration_endpoint": "https://me@as.example/"}},
        "registration endpoint",
        AS_METADATA,
    ),
    "there is no authorization endpoint": Lie(
        {"metadata": {"authorization_endpoint": None}},
        "has no authorization endpoint",
        "/as/register",
    ),
    "PKCE is not supported": Lie(
        {"metadata": {"code_challenge_methods_supported": None}}, "PKCE with S256", "/as/register"
    ),
    "only plain PKCE is supported": Lie(
        {"metadata": {"code_challenge_methods_supported": ["plain"]}},
        "PKCE with S256",
        "/as/register",
    ),
}

REGISTRATION_LIES = {
    "nobody can register": Lie(
        {"metadata": {"registration_endpoint": None}}, "is unknown to", AS_METADATA
    ),
    "the registration is refused": Lie(
        page("/as/register", {"error": "invalid_redirect_uri"}, 400),
        "'invalid_redirect_uri'",
        "/as/register",
    ),
    "the registration gives no client_id": Lie(
        {"registration": {"client_id": None}}, "without a client_id", "/as/register"
    ),
    "the registration wants a method that was not asked for": Lie(
        {"registration": {"token_endpoint_auth_method": "tls_client_auth"}},
        "wants the client to use 'tls_client_auth'",
        "/as/register",
    ),
    "the registration wants a secret and gives none": Lie(
        {
            "registration": {
                "token_endpoint_auth_method": "client_secret_basic",
                "client_secret": None,
            }
        },
        "no secret",
        "/as/register",
    ),
    "only keys are taken": Lie(
        {"metadata": {"token_endpoint_auth_methods_supported": ["private_key_jwt"]}},
        "takes only private_key_jwt",
        AS_METADATA,
    ),
    "the client is known elsewhere": Lie(
        {}, "no use at another", AT_PATH, known(issuer="https://other.example")
    ),
    "the known client's secret is of no use": Lie(
        {}, "takes none of client_secret_basic", AS_METADATA, known(secret="s")
    ),
}

RESPONSE_LIES = {
    "iss is missing though promised": Lie({"response": {"iss": None}}, "no iss", "/as/authorize"),
    "iss is another's": Lie(
        {"response": {"iss": "https://evil.example"}}, "'https://evil.example'", "/as/authorize"
    ),
    "iss has a slash more": Lie({"response": {"iss": "{origin}/as/"}}, "not of", "/as/authorize"),
    "iss is another's though not promised": Lie(
        {
            "response": {"iss": "https://evil.example"},
            "metadata": {"authorization_response_iss_parameter_supported": None},
        },
        "not of",
        "/as/authorize",
    ),
    "the state is another": Lie({"response": {"state": "x"}}, "the state", "/as/authorize"),
    "the state is missing": Lie({"response": {"state": None}}, "the state", "/as/authorize"),
    "the code is missing": Lie({"response": {"code": None}}, "no code", "/as/authorize"),
    "a person is wanted": Lie(page("/as/authorize", "log in"), "HTTP 200", "/as/authorize"),
    "the redirect leads to plain http elsewhere": Lie(
        page("/as/authorize", None, 302, Location="http://evil.example/"),
        "target of a redirect",
        "/as/authorize",
    ),
    "the redirect leads to a private address": Lie(
        page("/as/authorize", None, 302, Location="https://192.168.1.1/"),
        "private address",
        "/as/authorize",
    ),
    "the redirects have no end": Lie(
        page("/as/authorize", None, 302, Location="/as/authorize"),
        "more than 10 times",
        "/as/authorize",
    ),
}

LIES = RESOURCE_LIES | SERVER_LIES | REGISTRATION_LIES | RESPONSE_LIES


@pytest.mark.parametrize("name", LIES)
async def test_a_lie_is_not_believed(name: str) -> None:
    lie = LIES[name]
    world = World(**lie.world)
    async with visiting(world, lie.options) as visitor:
        with pytest.raises(AuthorizationError, match=".") as caught:
            await visitor.ask()
        assert await visitor.authorizer.headers(visitor.url) == ()
    assert lie.says in f"{caught.value.message} {caught.value.hint}"
    assert world.paths[-1] == lie.last
    assert world.forms == []


async def test_an_error_of_an_honest_server_is_told() -> None:
    world = World(response={"code": None, "error": "access_denied", "error_description": "no\x1b"})
    async with visiting(world) as visitor:
        with pytest.raises(AuthorizationError, match="'access_denied'") as caught:
            await visitor.ask()
    assert "\x1b" not in caught.value.message


async def test_an_error_of_another_server_is_not_shown() -> None:
    world = World(response={"error": "evil-text", "iss": "https://evil.example"})
    async with visiting(world) as visitor:
        with pytest.raises(AuthorizationError) as caught:
            await visitor.ask()
    assert "evil-text" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("repeated", ["iss", "state", "code"])
async def test_a_repeated_parameter_is_refused(repeated: str) -> None:
    world = World(added=f"&{repeated}=x")
    async with visiting(world) as visitor:
        with pytest.raises(AuthorizationError, match="repeats a parameter"):
            await visitor.ask()
    assert world.forms == []


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        ({"access_token": None}, "no token that a header can carry"),
        ({"access_token": "two words"}, "no token that a header can carry"),
        ({"access_token": "line\r\nX-Evil: 1"}, "no token that a header can carry"),
        ({"token_type": "DPoP"}, "of type 'DPoP'"),
        ({"token_type": None}, "of type nothing"),
    ],
)
async def test_what_is_no_bearer_token_is_not_sent(tokens: dict[str, Any], says: str) -> None:
    world = World(tokens=tokens)
    async with visiting(world) as visitor:
        with pytest.raises(AuthorizationError, match=says):
            await visitor.ask()
    assert [one.value("authorization") for one in world.seen] == [None] * len(world.seen)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Page(400, value={"error": "invalid_grant"}), "'invalid_grant'"),
        (Page(500, (), None, b"<html>"), "HTTP 500"),
        (Page(200, (), None, b"[1]"), "no token that a header can carry"),
        (Page(302, (("Location", "https://evil.example"),)), "HTTP 302"),
        (Page(200, (), None, b"x" * 300_000), "262144"),
    ],
)
async def test_a_refusal_of_the_token_endpoint_is_told(reply: Page, says: str) -> None:
    world = World(pages={"/as/token": reply})
    async with visiting(world) as visitor:
        with pytest.raises(BarredError) as caught:
            await visitor.ask()
    assert says in caught.value.message


@pytest.mark.parametrize("lifetime", [True, "60", -1, 1e300, None])
async def test_a_lifetime_that_is_none_is_not_believed(lifetime: object) -> None:
    world = World(tokens={"expires_in": lifetime, "refresh_token": "r"})
    async with visiting(world) as visitor:
        await visitor.ask()
        assert await visitor.ask() == 200
    assert len(world.forms) == 1


async def test_a_client_known_to_the_first_server_met_is_no_use_at_another() -> None:
    world = World()
    async with visiting(world, known()) as visitor:
        await visitor.ask()
        world.good.clear()
        world.resource = {"authorization_servers": ["https://other.example"]}
        with pytest.raises(AuthorizationError, match="wants tokens of 'https://other.example'"):
            await visitor.ask()


async def test_tokens_are_not_asked_for_without_end() -> None:
    world = World()
    async with visiting(world) as visitor:
        for _ in range(MAX_AUTHORIZATIONS):
            assert await visitor.ask() == 200
            world.good.clear()
        with pytest.raises(AuthorizationError, match="no more are asked for"):
            await visitor.ask()
    assert len(world.authorizations) == MAX_AUTHORIZATIONS


async def test_no_token_is_wanted_for_an_endpoint_in_the_clear() -> None:
    url = "http://mcp.example/mcp"
    authorizer = OAuthAuthorizer(HttpTarget(url), NOBODY, Tape())
    with pytest.raises(AuthorizationError, match="wants a token"):
        await authorizer.challenged(url, 401, (("WWW-Authenticate", "Bearer"),), ())


@pytest.mark.parametrize(
    "url", ["http://client.example/m.json", "https://client.example/", "https://c.example/a/../b"]
)
def test_a_url_that_cannot_be_a_client_id_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="client_id"):
        AuthOptions(metadata_url=url)


@pytest.mark.parametrize("url", ["http://client.example/cb", "cb", "https://c.example/cb?x=1"])
def test_a_url_that_cannot_be_redirected_to_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="redirect"):
        AuthOptions(redirect_uri=url)


def test_secrets_are_not_shown() -> None:
    shown = repr(RegisteredClient("id", secret="s3cret", key="k3y"))
    assert "s3cret" not in shown
    assert "k3y" not in shown
