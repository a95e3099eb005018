"""Tokens for the client itself: client credentials, and keys in the place of secrets."""

from __future__ import annotations

import time

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from clausewise.core.vocabulary import Era
from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.reference.client.auth.options import AuthOptions, Grant, RegisteredClient
from clausewise.reference.client.run import ClientOptions, run_client
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget
from tests.reference_client.auth.world import World, known, visiting

pytestmark = pytest.mark.anyio

KEYED = {"token_endpoint_auth_methods_supported": ["private_key_jwt"]}


def own(client: RegisteredClient) -> AuthOptions:
    return AuthOptions(registered=(client,), grant=Grant.CLIENT_CREDENTIALS)


def pem(key: ECKey | RSAKey) -> str:
    return key.as_pem(private=True).decode()


async def test_a_client_gets_a_token_for_itself_without_a_user() -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": ["client_secret_post"]})
    async with visiting(world, own(RegisteredClient("me", secret="s"))) as visitor:
        assert await visitor.ask() == 200
    assert world.forms == [
        {
            "grant_type": "client_credentials",
            "scope": "read",
            "resource": visitor.url,
            "client_id": "me",
            "client_secret": "s",
        }
    ]
    assert world.authorizations == []


async def test_a_client_that_acts_for_itself_registers_for_just_that() -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": ["client_secret_basic"]})
    async with visiting(world, AuthOptions(grant=Grant.CLIENT_CREDENTIALS)) as visitor:
        assert await visitor.ask() == 200
    assert b'"grant_types":["client_credentials"]' in world.requests("/as/register")[0].body


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ECKey.generate_key("P-256"), "ES256"),
        (RSAKey.generate_key(2048), "RS256"),
        (RSAKey.generate_key(2048), "PS256"),
    ],
    ids=["ES256", "RS256", "PS256"],
)
async def test_a_key_signs_who_the_client_is(key: ECKey | RSAKey, algorithm: str) -> None:
    world = World(metadata=KEYED)
    client = RegisteredClient("me", key=pem(key), algorithm=algorithm)
    async with visiting(world, own(client)) as visitor:
        assert await visitor.ask() == 200
        world.good.clear()
        assert await visitor.ask() == 200
    first, second = world.forms
    assert first["client_assertion_type"].endswith(":jwt-bearer")
    claims = jwt.decode(first["client_assertion"], key, algorithms=[algorithm]).claims
    issuer = visitor.url.removesuffix("/mcp") + "/as"
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("me", "me", issuer)
    assert time.time() < claims["exp"] < time.time() + 600
    again = jwt.decode(second["client_assertion"], key, algorithms=[algorithm]).claims
    assert claims["jti"] != again["jti"]


async def test_a_key_serves_a_user_too() -> None:
    world = World(metadata=KEYED)
    key = ECKey.generate_key("P-256")
    async with visiting(world, known(key=pem(key))) as visitor:
        assert await visitor.ask() == 200
    assert world.forms[0]["grant_type"] == "authorization_code"
    assert "client_assertion" in world.forms[0]


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        ("no key", "ES256"),
        (pem(ECKey.generate_key("P-256")), "RS256"),
        (pem(ECKey.generate_key("P-256")), "HS256"),
        (pem(ECKey.generate_key("P-256")), "none"),
    ],
)
async def test_a_key_that_cannot_sign_is_an_error(key: str, algorithm: str) -> None:
    client = RegisteredClient("me", key=key, algorithm=algorithm)
    async with visiting(World(metadata=KEYED), own(client)) as visitor:
        with pytest.raises(AuthorizationError, match="cannot sign") as caught:
            await visitor.ask()
    assert "PRIVATE" not in caught.value.message


async def test_the_extension_by_which_it_asks_is_declared() -> None:
    named = own(RegisteredClient("me", secret="s")).extensions
    tape = Tape()
    async with serve_http(ServerOptions()) as url:
        await run_client(HttpTarget(url), ClientOptions(Era.MODERN, extensions=named), tape)
    asked = next(e.payload for e in tape.events if e.kind is EventKind.MESSAGE)
    declared = asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert declared["extensions"] == {"io.modelcontextprotocol/oauth-client-credentials": {}}
    assert AuthOptions().extensions == ()
