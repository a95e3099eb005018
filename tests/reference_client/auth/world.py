"""A protected endpoint and its authorization server, which lie where a test wants them to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio

from clausewise.reference.client.auth.authorizer import OAuthAuthorizer
from clausewise.reference.client.auth.code_request import challenge_of
from clausewise.reference.client.auth.options import AuthOptions, RegisteredClient
from clausewise.reference.http_layer import HttpRequest
from clausewise.trace.tape import Tape
from clausewise.transport.http import open_connection
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpRequest as Sent
from clausewise.transport.targets import HttpTarget
from tests.probe.site import Page, serve

Json = dict[str, Any]

LIMITS = Limits(connect_s=3.0, answer_s=3.0)
CODE = "the-code"
AT_PATH = "/.well-known/oauth-protected-resource/mcp"
AT_ROOT = "/.well-known/oauth-protected-resource"
AS_METADATA = "/.well-known/oauth-authorization-server/as"
OIDC_INSERTED = "/.well-known/openid-configuration/as"
OIDC_APPENDED = "/as/.well-known/openid-configuration"
RETRIES = 3
NOBODY = AuthOptions()


def known(**parts: Any) -> AuthOptions:
    """Options of a client that the world's authorization server knows."""
    return AuthOptions(registered=(RegisteredClient("a-client", **parts),))


@dataclass
class World:
    """Everything on one origin; `{origin}` in any text stands for it.

    In the dictionaries a value of None takes a member away.

    Attributes:
        challenge: the WWW-Authenticate header of the endpoint; None for none.
        required: the scope that a token needs at the endpoint.
        resource: changes to the Protected Resource Metadata.
        resource_at: where that is.
        metadata: changes to the authorization server's metadata.
        metadata_at: where that is.
        response: changes to the authorization response.
        added: what is appended to the query of the authorization response.
        tokens: changes to the token response.
        registration: changes to the answer to a registration.
        pages: answers in place of the proper ones, by path.
        detour: a path from which the user is sent on to the authorization endpoint.
        grants_instead: the scopes that are granted whatever is asked for.
        refuses_refresh: whether refresh tokens are of no use.
        seen: every request.
        good: the tokens that the endpoint takes, each with its scopes.
    """

    challenge: str | None = 'Bearer resource_metadata="{origin}' + AT_PATH + '", scope="read"'
    resource: Json = field(default_factory=dict)
    resource_at: tuple[str, ...] = (AT_PATH,)
    metadata: Json = field(default_factory=dict)
    metadata_at: tuple[str, ...] = (AS_METADATA,)
    response: Json = field(default_factory=dict)
    added: str = ""
    tokens: Json = field(default_factory=dict)
    registration: Json = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    seen: list[HttpRequest] = field(default_factory=list)
    good: dict[str, list[str]] = field(default_factory=dict)
    required: str | None = None
    detour: str | None = None
    grants_instead: str | None = None
    refuses_refresh: bool = False
    issued: int = 0
    proof: str = ""
    granted: str = ""

    def __call__(self, request: HttpRequest, origin: str) -> Page:
        self.seen.append(request)
        page = self.pages.get(request.path) or self._page(request)
        headers = tuple((name, text.replace("{origin}", origin)) for name, text in page.headers)
        text = json.dumps(page.value).replace("{origin}", origin)
        return Page(page.status, headers, json.loads(text), page.body)

    def _page(self, request: HttpRequest) -> Page:
        if request.path == "/mcp":
            return self._endpoint(request)
        if request.path in self.resource_at:
            return Page(value=changed(RESOURCE, self.resource))
        if request.path in self.metadata_at:
            return Page(value=changed(METADATA, self.metadata))
        steps = {"/as/authorize": self._authorize, "/as/token": self._token}
        steps["/as/register"] = self._register
        if request.path == self.detour:
            return Page(302, (("Location", f"/as/authorize?{request.query}"),))
        step = steps.get(request.path)
        return Page(404, ()) if step is None else step(request)

    def _endpoint(self, request: HttpRequest) -> Page:
        token = (request.value("authorization") or "").removeprefix("Bearer ")
        if token not in self.good:
            value = self.challenge
            return Page(401, () if value is None else (("WWW-Authenticate", value),))
        if self.required is None or self.required in self.good[token]:
            return Page(value={})
        lack = f'Bearer error="insufficient_scope", scope="{self.required}"'
        return Page(403, (("WWW-Authenticate", lack),))

    def _authorize(self, request: HttpRequest) -> Page:
        asked = dict(parse_qsl(request.query))
        self.proof, self.granted = asked.get("code_challenge", ""), asked.get("scope", "")
        given = {"code": CODE, "state": asked.get("state"), "iss": "{origin}/as"}
        answer = urlencode(changed(given, self.response), safe="{}:/")
        return Page(302, (("Location", f"{asked['redirect_uri']}?{answer}{self.added}"),))

    def _token(self, request: HttpRequest) -> Page:
        form = form_of(request)
        if form["grant_type"] == "authorization_code" and (
            challenge_of(form["code_verifier"]) != self.proof or form["code"] != CODE
        ):
            return Page(400, value={"error": "invalid_grant"})
        if form["grant_type"] == "refresh_token" and self.refuses_refresh:
            return Page(400, value={"error": "invalid_grant"})
        self.issued += 1
        token = f"token-{self.issued}"
        self.good[token] = (self.grants_instead or form.get("scope", self.granted)).split()
        given = {"access_token": token, "token_type": "Bearer"}
        return Page(value=changed(given, self.tokens))

    def _register(self, request: HttpRequest) -> Page:
        given = {**json.loads(request.body), "client_id": "registered", "client_secret": "secret"}
        return Page(201, value=changed(given, self.registration))

    def requests(self, path: str) -> list[HttpRequest]:
        return [request for request in self.seen if request.path == path]

    @property
    def authorizations(self) -> list[dict[str, str]]:
        """What each authorization request asked."""
        return [dict(parse_qsl(one.query)) for one in self.requests("/as/authorize")]

    @property
    def forms(self) -> list[dict[str, str]]:
        """What each token request asked."""
        return [form_of(one) for one in self.requests("/as/token")]

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.seen]


RESOURCE: Json = {"resource": "{origin}/mcp", "authorization_servers": ["{origin}/as"]}
METADATA: Json = {
    "issuer": "{origin}/as",
    "authorization_endpoint": "{origin}/as/authorize",
    "token_endpoint": "{origin}/as/token",
    "registration_endpoint": "{origin}/as/register",
    "response_types_supported": ["code"],
    "token_endpoint_auth_methods_supported": ["none"],
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
}


def changed(value: Json, changes: Mapping[str, Any]) -> Json:
    """`value` with members replaced, or (None) left out."""
    return {name: one for name, one in {**value, **changes}.items() if one is not None}


def form_of(request: HttpRequest) -> dict[str, str]:
    return dict(parse_qsl(request.body.decode()))


@dataclass
class Visitor:
    """A client of the endpoint that does what its authorizer says."""

    url: str
    authorizer: OAuthAuthorizer
    tape: Tape

    async def ask(self) -> int:
        """POST to the endpoint, again after each refusal that was dealt with; the last status."""
        for _ in range(1 + RETRIES):
            sent = await self.authorizer.headers(self.url)
            status, headers = await self.send(sent)
            if status not in (401, 403):
                break
            if not await self.authorizer.challenged(self.url, status, headers, sent):
                break
        return status

    async def send(
        self, headers: tuple[tuple[str, str], ...]
    ) -> tuple[int, tuple[tuple[str, str], ...]]:
        """POST once."""
        target = HttpTarget(self.url, headers)
        async with open_connection(target, Tape(keep=False), LIMITS) as connection:
            answer = await connection.send(Sent("POST", target.plain_headers(b"{}"), b"{}"))
        assert answer.status is not None
        return answer.status, tuple((n.decode(), v.decode()) for n, v in answer.headers)


@asynccontextmanager
async def visiting(
    world: World, options: AuthOptions = NOBODY, host: str = "127.0.0.1"
) -> AsyncIterator[Visitor]:
    """A visitor of a served world; all of it must end within twenty seconds."""
    with anyio.fail_after(20):
        async with serve(world) as origin:
            url = f"http://{host}:{urlsplit(origin).port}/mcp"
            tape = Tape()
            yield Visitor(url, OAuthAuthorizer(HttpTarget(url), options, tape, LIMITS), tape)
