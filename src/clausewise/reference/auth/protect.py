"""Make a server protected: its parts, its routes, tokens to try it with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from clausewise.reference.auth import authorization_server, metadata
from clausewise.reference.auth.admission import CHECKS, challenge
from clausewise.reference.auth.codes import CodeStore
from clausewise.reference.auth.parts import (
    AUTHORIZE_PATH,
    ISSUER_PATH,
    KEYS_PATH,
    TOKEN_PATH,
    AuthParts,
)
from clausewise.reference.auth.scopes import READ, WRITE, Scopes
from clausewise.reference.auth.tokens import TokenIssuer
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.http_outlet import JSON_HEADERS
from clausewise.reference.messages import JsonObject, encode
from clausewise.reference.wiring import ENDPOINT, Answered, Route, Runtime, Wiring

FOREIGN_RESOURCE = "https://elsewhere.example/mcp"


@dataclass(frozen=True, slots=True)
class SampleTokens:
    """Tokens of the bundled authorization server, valid for an hour.

    Attributes:
        full: for everything.
        low_scope: not enough for tools that are not read-only.
        foreign: for another resource.
    """

    full: str
    low_scope: str
    foreign: str


def sample_tokens(parts: AuthParts) -> SampleTokens:
    """Fresh tokens to try a protected server with."""
    issue = parts.issuer.access_token
    return SampleTokens(
        full=issue(parts.resource, Scopes((READ, WRITE))),
        low_scope=issue(parts.resource, Scopes((READ,))),
        foreign=issue(FOREIGN_RESOURCE, Scopes((READ, WRITE))),
    )


def protect(wiring: Wiring, origin: str) -> Wiring:
    """`wiring` of a server at `origin` that lets in only who has a token of its issuer."""
    parts = AuthParts(
        origin=origin,
        resource=origin + ENDPOINT,
        issuer=TokenIssuer(origin + ISSUER_PATH),
        codes=CodeStore(),
        checks=CHECKS,
        deny=challenge,
        resource_metadata=metadata.resource_metadata(origin, ENDPOINT),
        server_metadata=metadata.server_metadata(origin),
    )
    documents = (*parts.resource_metadata, *parts.server_metadata)
    routes: dict[tuple[str, str], Route] = {("GET", path): _document for path in documents}
    routes["GET", KEYS_PATH] = _keys
    routes["GET", AUTHORIZE_PATH] = _with_parts(authorization_server.authorize)
    routes["POST", TOKEN_PATH] = _with_parts(authorization_server.token)
    http = replace(wiring.http, routes={**wiring.http.routes, **routes})
    return replace(wiring, http=http, auth=parts)


def _with_parts(handle: Callable[[HttpExchange, AuthParts], Awaitable[None]]) -> Route:
    async def route(exchange: HttpExchange, runtime: Runtime) -> None:
        await handle(exchange, runtime.wiring.protection)

    return route


async def _document(exchange: HttpExchange, runtime: Runtime) -> None:
    """A metadata document; what a defect has taken away is not there."""
    auth, path = runtime.wiring.protection, exchange.request.path
    document = {**auth.resource_metadata, **auth.server_metadata}.get(path)
    if document is None:
        await exchange.respond(HttpHead(404))
    else:
        await _respond(exchange, runtime, document)


async def _keys(exchange: HttpExchange, runtime: Runtime) -> None:
    await _respond(exchange, runtime, runtime.wiring.protection.issuer.key_set)


async def _respond(exchange: HttpExchange, runtime: Runtime, document: JsonObject) -> None:
    head = runtime.wiring.http.head(Answered(exchange.request), HttpHead(200, JSON_HEADERS))
    await exchange.respond(head, encode(document))
