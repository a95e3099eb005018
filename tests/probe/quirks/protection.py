"""Quirks of protected servers: what they publish where, how they challenge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clausewise.reference.auth.parts import (
    ISSUER_PATH,
    RESOURCE_METADATA_PATH,
    AuthParts,
    DeniedError,
)
from clausewise.reference.defects.rewiring import Rewire, on_head
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.messages import JsonObject
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import ENDPOINT, Wiring
from tests.probe.quirks.features import in_turn
from tests.probe.quirks.framing import Chunked, Streaming
from tests.probe.quirks.serving import Quirk, unchanged

_PROTECTED = ServerOptions(protected=True)


def _auth(wiring: Wiring, **changes: Any) -> Wiring:
    return replace(wiring, auth=replace(wiring.protection, **changes))


def on_resource_metadata(change: Callable[[JsonObject], JsonObject]) -> Rewire:
    def rewire(wiring: Wiring) -> Wiring:
        documents = wiring.protection.resource_metadata.items()
        return _auth(wiring, resource_metadata={path: change(d) for path, d in documents})

    return rewire


def on_server_metadata(change: Callable[[JsonObject], JsonObject]) -> Rewire:
    def rewire(wiring: Wiring) -> Wiring:
        documents = wiring.protection.server_metadata.items()
        return _auth(wiring, server_metadata={path: change(d) for path, d in documents})

    return rewire


def _kept(member: str, keeps: Callable[[str], bool]) -> Rewire:
    """Leave only the documents whose path `keeps` picks."""

    def rewire(wiring: Wiring) -> Wiring:
        documents = getattr(wiring.protection, member)
        kept = {path: document for path, document in documents.items() if keeps(path)}
        return _auth(wiring, **{member: kept})

    return rewire


def challenged(change: Callable[[DeniedError, AuthParts, HttpHead], HttpHead]) -> Rewire:
    """Challenge otherwise."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.protection.deny

        def deny(denied: DeniedError, parts: AuthParts) -> HttpHead:
            return change(denied, parts, right(denied, parts))

        return _auth(wiring, deny=deny)

    return rewire


def _challenge(head: HttpHead) -> str:
    return next(value for name, value in head.headers if name.lower() == "www-authenticate")


def _challenging(head: HttpHead, *values: str) -> HttpHead:
    others = tuple(h for h in head.headers if h[0].lower() != "www-authenticate")
    return replace(head, headers=others + tuple(("www-authenticate", v) for v in values))


def _among_others(_denied: DeniedError, _parts: AuthParts, head: HttpHead) -> HttpHead:
    before = 'Basic realm="a, b", charset="UTF-8", Negotiate, Digest realm="\\"x\\"", nonce=abc=='
    return _challenging(head, f"{before}, {_challenge(head)}")


def _in_lines_of_their_own(_denied: DeniedError, _parts: AuthParts, head: HttpHead) -> HttpHead:
    return _challenging(head, 'Basic realm="x"', _challenge(head), "DPoP algs=ES256")


def _spelled(_denied: DeniedError, _parts: AuthParts, head: HttpHead) -> HttpHead:
    scheme, _, rest = _challenge(head).partition(" ")
    parts = rest.replace("resource_metadata=", "Resource_Metadata = ").replace("scope=", "SCOPE=")
    return _challenging(head, f'{scheme.upper()}   realm="mcp" ,, {parts} , vendor="y"')


def _without_metadata(denied: DeniedError, parts: AuthParts, head: HttpHead) -> HttpHead:
    """No resource_metadata where no token was sent: the well-known URL has it."""
    if denied.error is None:
        return _challenging(head, f'Bearer realm="mcp", scope="{denied.scope}"')
    return head


def _elsewhere(denied: DeniedError, parts: AuthParts, head: HttpHead) -> HttpHead:
    where = RESOURCE_METADATA_PATH + ENDPOINT
    return _challenging(head, _challenge(head).replace(where, "/meta/data.json?x=1"))


def _moved_metadata(wiring: Wiring) -> Wiring:
    """Metadata at a path of its own, which the challenge names."""
    document = next(iter(wiring.protection.resource_metadata.values()))
    path = "/meta/data.json"
    route = next(
        r for (m, p), r in wiring.http.routes.items() if p.startswith(RESOURCE_METADATA_PATH)
    )
    http = replace(wiring.http, routes={**wiring.http.routes, ("GET", path): route})
    return _auth(replace(wiring, http=http), resource_metadata={path: document})


def _only_root(wiring: Wiring) -> Wiring:
    return _kept("resource_metadata", lambda path: path == RESOURCE_METADATA_PATH)(wiring)


def _points_to_root(denied: DeniedError, parts: AuthParts, head: HttpHead) -> HttpHead:
    where = RESOURCE_METADATA_PATH + ENDPOINT
    return _challenging(head, _challenge(head).replace(where, RESOURCE_METADATA_PATH))


def _several_servers(document: JsonObject) -> JsonObject:
    own = document["authorization_servers"]
    return {**document, "authorization_servers": [*own, "https://login.example.invalid/tenant"]}


def _rich_resource(document: JsonObject) -> JsonObject:
    return {
        **document,
        "jwks_uri": "https://example.com/keys",
        "resource_documentation": "https://example.com/docs",
        "resource_policy_uri": "https://example.com/policy",
        "resource_name#de": "Bezugsserver",
        "tls_client_certificate_bound_access_tokens": False,
        "dpop_signing_alg_values_supported": ["ES256"],
        "signed_metadata": "eyJhbGciOiJub25lIn0.e30.",
        "x-vendor": {"a": None},
    }


def _sparse_resource(document: JsonObject) -> JsonObject:
    return {k: document[k] for k in ("resource", "authorization_servers")}


def _odd_scopes(document: JsonObject) -> JsonObject:
    odd = ["https://example.com/auth/mcp.read", "!#[]{}~", "a:b:c/*", "offline"]
    return {**document, "scopes_supported": [*document.get("scopes_supported", ()), *odd]}


def _sparse_server(document: JsonObject) -> JsonObject:
    dropped = ("response_modes_supported", "grant_types_supported", "scopes_supported")
    return {k: v for k, v in document.items() if k not in dropped}


def _rich_server(document: JsonObject) -> JsonObject:
    return {
        **document,
        "code_challenge_methods_supported": ["plain", "S256"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "x-vendor": [1],
    }


_JSON = on_head(
    lambda answered, _h: answered.request.path.startswith("/.well-known"),
    lambda head: replace(
        head, headers=(("Content-Type", "application/json;charset=utf-8"), ("ETag", '"x"'))
    ),
)


def _quirk(name: str, rewire: Rewire, **more: Any) -> Quirk:
    return Quirk(name, rewire, options=_PROTECTED, **more)


QUIRKS = (
    _quirk("challenges in capitals with more parameters", challenged(_spelled)),
    _quirk("names other schemes before Bearer", challenged(_among_others)),
    _quirk("has a challenge on each of several lines", challenged(_in_lines_of_their_own)),
    _quirk("has metadata at the root alone", in_turn(_only_root, challenged(_points_to_root))),
    _quirk(
        "has metadata where only the challenge says",
        in_turn(_moved_metadata, challenged(_elsewhere)),
    ),
    _quirk(
        "has several authorization servers, one out of reach",
        on_resource_metadata(_several_servers),
        inconclusive=frozenset({"MCP-AUT-004", "MCP-AUT-005", "MCP-AUT-010", "MCP-AUT-011"}),
    ),
    _quirk(
        "publishes all that metadata may hold",
        in_turn(on_resource_metadata(_rich_resource), on_server_metadata(_rich_server)),
    ),
    _quirk(
        "publishes the least",
        in_turn(on_resource_metadata(_sparse_resource), on_server_metadata(_sparse_server)),
    ),
    _quirk(
        "has odd scopes",
        in_turn(on_resource_metadata(_odd_scopes), on_server_metadata(_odd_scopes)),
    ),
    _quirk("has OAuth metadata alone", _kept("server_metadata", lambda p: "oauth-" in p)),
    _quirk(
        "has OpenID metadata before the issuer's path alone",
        _kept("server_metadata", lambda p: p.startswith("/.well-known/openid")),
    ),
    _quirk(
        "has OpenID metadata after the issuer's path alone",
        _kept("server_metadata", lambda p: p.startswith(ISSUER_PATH)),
    ),
    _quirk("gives metadata with a character set", _JSON),
    _quirk("names no metadata in its challenge", challenged(_without_metadata)),
    _quirk("streams and is protected", unchanged, exchange=Streaming),
    _quirk(
        "sends tiny chunks and is protected",
        unchanged,
        exchange=Chunked,
    ),
)
