"""The authorization code flow: each step as the authorization pages want it."""

from __future__ import annotations

import base64
import json

import anyio
import pytest

from clausewise.reference.client.auth.authorizer import OAuthAuthorizer
from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.reference.client.auth.options import DEFAULT_REDIRECT_URI, AuthOptions
from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget
from tests.probe.site import Page
from tests.reference_client.auth.world import (
    AS_METADATA,
    AT_PATH,
    AT_ROOT,
    OIDC_APPENDED,
    OIDC_INSERTED,
    World,
    known,
    visiting,
)

pytestmark = pytest.mark.anyio

DOCUMENT = "https://client.example/metadata.json"


async def test_a_refusal_leads_to_a_token_that_the_endpoint_takes() -> None:
    world = World()
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
        assert await visitor.ask() == 200
    flow = [AT_PATH, AS_METADATA, "/as/register", "/as/authorize", "/as/token"]
    assert world.paths == ["/mcp", *flow, "/mcp", "/mcp"]
    assert len(world.good) == 1


async def test_the_requests_carry_all_that_is_due() -> None:
    world = World()
    async with visiting(world) as visitor:
        await visitor.ask()
    (asked,), (form,) = world.authorizations, world.forms
    assert asked.pop("state") and len(asked.pop("code_challenge")) == 43
    assert asked == {
        "response_type": "code",
        "client_id": "registered",
        "redirect_uri": DEFAULT_REDIRECT_URI,
        "resource": visitor.url,
        "code_challenge_method": "S256",
        "scope": "read",
    }
    assert len(form.pop("code_verifier")) == 43
    assert form == {
        "grant_type": "authorization_code",
        "code": "the-code",
        "redirect_uri": DEFAULT_REDIRECT_URI,
        "client_id": "registered",
        "resource": visitor.url,
    }
    registered = json.loads(world.requests("/as/register")[0].body)
    assert registered["application_type"] == "native"
    assert registered["redirect_uris"] == [DEFAULT_REDIRECT_URI]
    assert registered["grant_types"] == ["authorization_code", "refresh_token"]


async def test_each_request_has_a_state_and_a_verifier_of_its_own() -> None:
    world = World()
    async with visiting(world) as visitor:
        await visitor.ask()
        world.good.clear()
        await visitor.ask()
    first, second = world.authorizations
    assert first["state"] != second["state"]
    assert first["code_challenge"] != second["code_challenge"]


async def test_the_resource_is_sent_as_published() -> None:
    world = World(resource={"resource": "{origin}"})
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    origin = visitor.url.removesuffix("/mcp")
    assert [one["resource"] for one in world.authorizations + world.forms] == [origin, origin]


@pytest.mark.parametrize(
    ("challenge", "at", "asked"),
    [
        (None, AT_PATH, [AT_PATH]),
        (None, AT_ROOT, [AT_PATH, AT_ROOT]),
        ("Bearer", AT_PATH, [AT_PATH]),
        ('Bearer resource_metadata="{origin}/elsewhere"', "/elsewhere", ["/elsewhere"]),
        ('Basic realm="x", Bearer resource_metadata="{origin}/a"', "/a", ["/a"]),
    ],
)
async def test_the_metadata_is_where_the_challenge_says_else_well_known(
    challenge: str | None, at: str, asked: list[str]
) -> None:
    world = World(challenge=challenge, resource_at=(at,))
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    assert world.paths[1 : world.paths.index(AS_METADATA)] == asked


@pytest.mark.parametrize("at", [AS_METADATA, OIDC_INSERTED, OIDC_APPENDED])
async def test_the_authorization_servers_metadata_is_looked_for_in_order(at: str) -> None:
    world = World(metadata_at=(at,))
    order = [AS_METADATA, OIDC_INSERTED, OIDC_APPENDED]
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    assert world.paths[2 : world.paths.index("/as/register")] == order[: order.index(at) + 1]


async def test_metadata_of_another_issuer_is_passed_over() -> None:
    stranger = Page(value={"issuer": "https://stranger.example", "token_endpoint": "{origin}/x"})
    world = World(metadata_at=(OIDC_INSERTED,), pages={AS_METADATA: stranger})
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    assert "/x" not in world.paths


async def test_the_first_listed_server_that_has_metadata_is_used() -> None:
    world = World(resource={"authorization_servers": ["{origin}/gone", "{origin}/as"]})
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    assert len(world.good) == 1


@pytest.mark.parametrize(
    ("challenge", "resource", "server", "scope"),
    [
        ("Bearer scope=a", {"scopes_supported": ["b", "c"]}, {}, "a"),
        ('Bearer scope="a b a"', {}, {}, "a b"),
        ("Bearer", {"scopes_supported": ["b", "c"]}, {}, "b c"),
        ("Bearer", {}, {}, None),
        ("Bearer", {}, {"scopes_supported": ["offline_access"]}, None),
        ('Bearer scope=""', {}, {"scopes_supported": ["x"]}, None),
        ("Bearer scope=a", {}, {"scopes_supported": ["a", "offline_access"]}, "a offline_access"),
        ("Bearer scope=a", {}, {"scopes_supported": ["a"]}, "a"),
    ],
)
async def test_the_scopes_are_the_challenges_else_the_resources(
    challenge: str, resource: dict[str, object], server: dict[str, object], scope: str | None
) -> None:
    world = World(challenge=challenge, resource=resource, metadata=server)
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    assert world.authorizations[0].get("scope") == scope


async def test_a_lack_of_scopes_is_mended_and_what_was_granted_stays() -> None:
    world = World()
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
        world.required = "write"
        assert await visitor.ask() == 200
    assert [one["scope"] for one in world.authorizations] == ["read", "read write"]
    assert len(world.requests("/as/register")) == 1


async def test_scopes_that_were_asked_for_already_are_not_asked_for_again() -> None:
    world = World(grants_instead="other")
    async with visiting(world) as visitor:
        world.required = "write"
        assert await visitor.ask() == 403
        assert await visitor.ask() == 403
    assert [one["scope"] for one in world.authorizations] == ["read", "read write"]


async def test_where_more_scopes_are_refused_the_token_in_hand_stays_of_use() -> None:
    world = World()
    async with visiting(world) as visitor:
        await visitor.ask()
        world.required, world.response = "write", {"code": None, "error": "access_denied"}
        with pytest.raises(AuthorizationError, match="access_denied"):
            await visitor.ask()
        assert await visitor.ask() == 403
        world.required = None
        assert await visitor.ask() == 200
    assert [one["scope"] for one in world.authorizations] == ["read", "read write"]


async def test_a_403_without_a_lack_of_scopes_is_left_alone() -> None:
    world = World(pages={"/mcp": Page(403, (("WWW-Authenticate", "Bearer scope=x"),))})
    async with visiting(world) as visitor:
        assert await visitor.ask() == 403
    assert world.paths == ["/mcp"]


async def test_a_server_that_takes_no_token_is_given_up() -> None:
    world = World(pages={"/mcp": Page(401, (("WWW-Authenticate", "Bearer"),))})
    async with visiting(world) as visitor:
        assert await visitor.ask() == 401
    assert len(world.authorizations) == 4


async def test_a_token_goes_to_the_endpoint_alone() -> None:
    world = World()
    async with visiting(world) as visitor:
        await visitor.ask()
        assert await visitor.authorizer.headers(visitor.url + "/other") == ()
        assert await visitor.authorizer.headers("http://127.0.0.1:1/mcp") == ()
        assert not await visitor.authorizer.challenged(visitor.url + "/other", 401, (), ())
    carrying = [one for one in world.seen if one.value("authorization") is not None]
    assert {one.path for one in carrying} == {"/mcp"}
    assert all("token-1" not in one.query for one in world.seen)


async def test_the_recording_has_the_metadata_and_no_credentials() -> None:
    world = World()
    async with visiting(world) as visitor:
        await visitor.ask()
    heads = [e for e in visitor.tape.events if e.kind is EventKind.HTTP and "path" in e.fields]
    assert [head.fields["path"] for head in heads] == [AT_PATH, AS_METADATA]
    text = repr(visitor.tape.events)
    assert not any(secret in text for secret in ("token-1", "the-code", "secret"))


async def test_two_requests_that_are_refused_at_once_authorize_once() -> None:
    world = World()
    async with visiting(world) as visitor, anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(visitor.ask)
    assert len(world.authorizations) == 1
    assert len([one for one in world.requests("/mcp") if one.value("authorization")]) == 4


async def test_a_client_that_is_known_beforehand_does_not_register() -> None:
    world = World(metadata={"client_id_metadata_document_supported": True})
    options = AuthOptions(registered=known().registered, metadata_url=DOCUMENT)
    async with visiting(world, options) as visitor:
        assert await visitor.ask() == 200
    assert world.authorizations[0]["client_id"] == "a-client"


async def test_a_client_with_a_document_does_not_register_where_that_is_supported() -> None:
    world = World(metadata={"client_id_metadata_document_supported": True})
    async with visiting(world, AuthOptions(metadata_url=DOCUMENT)) as visitor:
        assert await visitor.ask() == 200
    assert world.authorizations[0]["client_id"] == world.forms[0]["client_id"] == DOCUMENT
    assert "/as/register" not in world.paths


async def test_a_client_with_a_document_registers_where_that_is_not_supported() -> None:
    world = World()
    async with visiting(world, AuthOptions(metadata_url=DOCUMENT)) as visitor:
        assert await visitor.ask() == 200
    assert world.authorizations[0]["client_id"] == "registered"


async def test_another_authorization_server_gets_a_registration_of_its_own() -> None:
    world = World()
    async with visiting(world) as visitor:
        await visitor.ask()
        world.good.clear()
        world.resource = {"authorization_servers": ["{origin}/new"]}
        at = "/.well-known/oauth-authorization-server/new"
        member = {"issuer": "{origin}/new", "token_endpoint": "{origin}/as/token"}
        new = {**member, "authorization_endpoint": "{origin}/as/authorize"}
        new["registration_endpoint"] = "{origin}/as/register"
        world.pages[at] = Page(
            value={
                **new,
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        )
        world.registration = {"client_id": "anew"}
        world.response = {"iss": "{origin}/new"}
        assert await visitor.ask() == 200
    assert [one["client_id"] for one in world.authorizations] == ["registered", "anew"]


@pytest.mark.parametrize(
    ("offered", "method"),
    [
        (["none", "client_secret_basic"], "none"),
        (["client_secret_post", "client_secret_basic"], "client_secret_basic"),
        (["client_secret_post"], "client_secret_post"),
        (None, "client_secret_basic"),
    ],
)
async def test_the_client_registers_for_a_method_that_the_server_takes_and_uses_it(
    offered: list[str] | None, method: str
) -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": offered})
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    registered = json.loads(world.requests("/as/register")[0].body)
    assert registered["token_endpoint_auth_method"] == method
    basic = world.requests("/as/token")[0].value("authorization")
    form = world.forms[0]
    assert (form.get("client_secret") == "secret") is (method == "client_secret_post")
    assert form["client_id"] == "registered"
    expected = "Basic " + base64.b64encode(b"registered:secret").decode()
    assert basic == (expected if method == "client_secret_basic" else None)


async def test_id_and_secret_are_encoded_before_they_are_joined() -> None:
    world = World(
        metadata={"token_endpoint_auth_methods_supported": ["client_secret_basic"]},
        registration={"client_id": "a:b", "client_secret": "c d%"},
    )
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    basic = world.requests("/as/token")[0].value("authorization") or ""
    assert base64.b64decode(basic.removeprefix("Basic ")) == b"a%3Ab:c+d%25"


async def test_redirects_are_followed_up_to_the_callback_which_is_not_asked_for() -> None:
    there = {"authorization_endpoint": "{origin}/first?tenant=1"}
    world = World(metadata=there, detour="/first")
    async with visiting(world) as visitor:
        assert await visitor.ask() == 200
    assert world.paths.index("/first") < world.paths.index("/as/authorize")
    assert "tenant=1&response_type=code" in world.requests("/first")[0].query


async def test_a_token_that_ends_is_refreshed_before_it_is_used() -> None:
    now = 0.0
    world = World(tokens={"refresh_token": "r-1", "expires_in": 60})
    async with visiting(world) as visitor:
        visitor.authorizer = OAuthAuthorizer(
            HttpTarget(visitor.url), AuthOptions(), Tape(), clock=lambda: now
        )
        await visitor.ask()
        now = 40.0
        await visitor.ask()
        now, world.tokens = 55.0, {"expires_in": 60}
        await visitor.ask()
        now = 110.0
        assert await visitor.ask() == 200
    grants = [one["grant_type"] for one in world.forms]
    assert grants == ["authorization_code", "refresh_token", "refresh_token"]
    assert [one.get("refresh_token") for one in world.forms] == [None, "r-1", "r-1"]
    assert world.forms[1]["resource"] == visitor.url
    assert "code" not in world.forms[1]


async def test_a_refused_token_is_refreshed_once_and_then_asked_for_anew() -> None:
    world = World(tokens={"refresh_token": "r"})
    async with visiting(world) as visitor:
        await visitor.ask()
        world.good.clear()
        assert await visitor.ask() == 200
        world.good.clear()
        assert await visitor.ask() == 200
    grants = [one["grant_type"] for one in world.forms]
    assert grants == ["authorization_code", "refresh_token", "authorization_code"]


async def test_where_the_refresh_is_refused_the_token_is_asked_for_anew() -> None:
    world = World(tokens={"refresh_token": "r"})
    async with visiting(world) as visitor:
        await visitor.ask()
        world.good.clear()
        world.refuses_refresh = True
        assert await visitor.ask() == 200
    grants = [one["grant_type"] for one in world.forms]
    assert grants == ["authorization_code", "refresh_token", "authorization_code"]


async def test_a_token_that_cannot_be_refreshed_in_time_is_used_to_its_end() -> None:
    world = World(tokens={"refresh_token": "r", "expires_in": 5})
    async with visiting(world) as visitor:
        await visitor.ask()
        world.pages["/as/token"] = Page(503, ())
        assert await visitor.ask() == 200
    assert [one["grant_type"] for one in world.forms] == [
        "authorization_code",
        *["refresh_token"] * (len(world.forms) - 1),
    ]
