"""The bundled authorization server: metadata, and the authorization code flow in full."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from clausewise.reference.auth import codes
from clausewise.reference.auth.clients import REGISTERED_CLIENT
from clausewise.reference.auth.codes import CodeStore, Grant
from clausewise.reference.auth.scopes import Scopes
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.probe.site import Page, serve
from tests.reference.client import Answer, Client, connect

pytestmark = pytest.mark.anyio

VERIFIER = "a-code-verifier-that-is-long-enough-for-the-rules-1"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")
CALLBACK = "http://127.0.0.1:49152/callback"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Flow:
    """A client's view of the authorization server."""

    client: Client
    origin: str

    @property
    def asked(self) -> dict[str, str]:
        return {
            "response_type": "code",
            "client_id": REGISTERED_CLIENT,
            "redirect_uri": CALLBACK,
            "code_challenge": CHALLENGE.decode(),
            "code_challenge_method": "S256",
            "resource": f"{self.origin}/mcp",
            "scope": "mcp:read",
            "state": "a state",
        }

    async def authorize(self, **changes: str | None) -> Answer:
        fields = {k: v for k, v in {**self.asked, **changes}.items() if v is not None}
        path = f"/issuer/authorize?{urlencode(fields)}"
        return await self.client.exchange("GET", {}, path=path)

    async def redirected(self, **changes: str | None) -> dict[str, str]:
        """What the client is sent back with."""
        answer = await self.authorize(**changes)
        assert answer.status == 302
        location = answer.headers["location"]
        assert location.startswith(changes.get("redirect_uri") or CALLBACK)
        return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}

    async def redeem(self, given: str, **changes: str | None) -> Answer:
        """Redeem the code that was `given`."""
        fields = {
            "grant_type": "authorization_code",
            "code": given,
            "client_id": REGISTERED_CLIENT,
            "code_verifier": VERIFIER,
            "resource": f"{self.origin}/mcp",
        }
        kept = {k: v for k, v in {**fields, **changes}.items() if v is not None}
        body = urlencode(kept).encode()
        return await self.client.exchange("POST", FORM, body, path="/issuer/token")

    async def get(self, url: str) -> Any:
        answer = await self.client.exchange("GET", {}, path=url.removeprefix(self.origin))
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        return json.loads(answer.body)


@asynccontextmanager
async def flow() -> AsyncIterator[Flow]:
    async with serve_http(ServerOptions(protected=True)) as url, connect(url) as client:
        yield Flow(client, url.removesuffix("/mcp"))


def error_of(answer: Answer) -> str:
    assert answer.status == 400
    assert answer.headers["cache-control"] == "no-store"
    return str(json.loads(answer.body)["error"])


async def test_the_whole_flow_ends_in_a_token_that_the_server_takes() -> None:
    async with flow() as client:
        resource = await client.get("/.well-known/oauth-protected-resource/mcp")
        issuer = resource["authorization_servers"][0]
        path = issuer.removeprefix(client.origin)
        metadata = await client.get(f"/.well-known/oauth-authorization-server{path}")
        sent_back = await client.redirected(scope="mcp:read openid", nonce="n")
        answer = await client.redeem(sent_back["code"])
        tokens = json.loads(answer.body)
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        served = await client.client.modern("server/discover", headers=headers)
        keys = KeySet.import_key_set(await client.get(metadata["jwks_uri"]))
    assert resource["resource"] == f"{client.origin}/mcp"
    assert metadata["issuer"] == issuer == sent_back["iss"]
    assert sent_back["state"] == "a state"
    assert (tokens["token_type"], tokens["scope"]) == ("Bearer", "mcp:read openid")
    assert answer.headers["cache-control"] == "no-store"
    assert served.status == 200
    identity = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"]).claims
    assert (identity["aud"], identity["nonce"]) == (REGISTERED_CLIENT, "n")
    access = jwt.decode(tokens["access_token"], keys, algorithms=["RS256"])
    assert (access.header["typ"], access.claims["aud"]) == ("at+jwt", [f"{client.origin}/mcp"])


async def test_the_same_metadata_is_at_every_well_known_url() -> None:
    async with flow() as client:
        oauth = await client.get("/.well-known/oauth-authorization-server/issuer")
        inserted = await client.get("/.well-known/openid-configuration/issuer")
        appended = await client.get("/issuer/.well-known/openid-configuration")
        at_path = await client.get("/.well-known/oauth-protected-resource/mcp")
        at_root = await client.get("/.well-known/oauth-protected-resource")
    assert inserted == appended
    assert oauth.items() <= inserted.items()
    assert at_path == at_root


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"resource": None}, "invalid_target"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"scope": "mcp:read everything"}, "invalid_scope"),
    ],
)
async def test_a_wrong_request_is_sent_back_as_an_error_with_the_issuer(
    changes: Mapping[str, str | None], error: str
) -> None:
    async with flow() as client:
        sent_back = await client.redirected(**changes)
        issuer = f"{client.origin}/issuer"
    assert (sent_back["error"], sent_back["iss"], sent_back["state"]) == (error, issuer, "a state")
    assert "code" not in sent_back


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": "somebody"},
        {"client_id": "https://example.com"},
        {"client_id": "https://example.com/a/../b"},
        {"redirect_uri": None},
        {"redirect_uri": "https://attacker.example/"},
        {"redirect_uri": "http://attacker.example/"},
        {"redirect_uri": "http://127.0.0.1.attacker.example/"},
        {"redirect_uri": f"{CALLBACK}#fragment"},
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_the_clients(
    changes: Mapping[str, str | None],
) -> None:
    async with flow() as client:
        answer = await client.authorize(**changes)
    assert answer.status == 400
    assert "location" not in answer.headers


async def test_a_repeated_parameter_is_refused() -> None:
    async with flow() as client:
        query = urlencode([*client.asked.items(), ("client_id", "other")])
        answer = await client.client.exchange("GET", {}, path=f"/issuer/authorize?{query}")
    assert answer.status == 400


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"code": "guessed"}, "invalid_grant"),
        ({"client_id": "other"}, "invalid_grant"),
        ({"code_verifier": "wrong"}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:1/"}, "invalid_grant"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
    ],
)
async def test_a_code_is_redeemed_only_by_whom_it_was_given_to(
    changes: Mapping[str, str | None], error: str
) -> None:
    async with flow() as client:
        code = (await client.redirected())["code"]
        assert error_of(await client.redeem(code, **changes)) == error


async def test_a_code_is_good_for_one_time() -> None:
    async with flow() as client:
        code = (await client.redirected())["code"]
        assert (await client.redeem(code)).status == 200
        assert error_of(await client.redeem(code)) == "invalid_grant"


async def test_a_token_request_is_a_form() -> None:
    async with flow() as client:
        answer = await client.client.exchange(
            "POST", {"Content-Type": "application/json"}, b"{}", path="/issuer/token"
        )
    assert error_of(answer) == "invalid_request"


GRANT = Grant("client", CALLBACK, CHALLENGE.decode(), "https://h/mcp", Scopes(("mcp:read",)))


def test_a_code_grows_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    store = CodeStore()
    code = store.issue(GRANT)
    monkeypatch.setattr(codes, "CODE_LIFETIME_S", -1.0)
    assert store.redeem(store.issue(GRANT)) is None
    assert store.redeem(code) == GRANT


def test_the_number_of_codes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "MAX_CODES", 2)
    store = CodeStore()
    first, *others = [store.issue(GRANT) for _ in range(3)]
    assert store.redeem(first) is None
    assert [store.redeem(code) for code in others] == [GRANT, GRANT]


DOCUMENT = {"client_id": "{origin}/client.json", "redirect_uris": [CALLBACK]}


async def with_document(document: Any, path: str = "/client.json", status: int = 200) -> Answer:
    """The answer to a client whose id is the URL of `document` on this machine."""

    def site(request: Any, origin: str) -> Page:
        text = json.dumps(document).replace("{origin}", origin).encode()
        return Page(status, body=text) if request.path == path else Page(404, ())

    async with serve(site) as origin, flow() as client:
        return await client.authorize(client_id=f"{origin}{path}")


async def test_a_client_id_may_be_the_url_of_a_metadata_document() -> None:
    answer = await with_document(DOCUMENT)
    assert answer.status == 302
    assert "code=" in answer.headers["location"]


@pytest.mark.parametrize(
    "document",
    [
        {**DOCUMENT, "client_id": "https://other.example/client.json"},
        {**DOCUMENT, "redirect_uris": ["http://127.0.0.1:1/"]},
        {**DOCUMENT, "redirect_uris": CALLBACK},
        {**DOCUMENT, "token_endpoint_auth_method": "client_secret_basic"},
        [DOCUMENT],
    ],
)
async def test_a_document_that_does_not_vouch_for_the_request_is_refused(document: Any) -> None:
    assert (await with_document(document)).status == 400


async def test_a_document_that_is_not_served_is_no_client() -> None:
    assert (await with_document(DOCUMENT, status=500)).status == 400


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254"])
async def test_a_client_id_leads_to_no_address_that_it_must_not(host: str) -> None:
    async with flow() as client:
        answer = await client.authorize(client_id=f"https://{host}/client.json")
    assert answer.status == 400
    assert b"must not send us" in answer.body
