"""The bundled authorization server: the endpoints of the authorization code flow.

There is no user to ask, so it consents at once; it is for tests, on loopback.

Source: basic/authorization; OAuth 2.1 (draft-ietf-oauth-v2-1-13) section 4.1, RFC 9207.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from clausewise.reference.auth.claims import LIFETIME_S
from clausewise.reference.auth.clients import Clients, UnknownClientError
from clausewise.reference.auth.codes import Grant
from clausewise.reference.auth.parts import AuthParts
from clausewise.reference.auth.scopes import OPENID, READ, SUPPORTED, Scopes
from clausewise.reference.http_layer import HttpExchange, HttpHead, HttpRequest
from clausewise.reference.messages import JsonObject, encode

_SUBJECT = "reference-user"
_PRIVATE = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
_CHALLENGE_LENGTH = 43
_MAX_FIELDS = 50


class _OAuthError(Exception):
    """A request that ends in an OAuth error."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description

    @property
    def fields(self) -> dict[str, str]:
        return {"error": self.error, "error_description": self.description}


async def authorize(exchange: HttpExchange, parts: AuthParts) -> None:
    """The authorization endpoint: redirects with a code, or with an error, and `iss`."""
    try:
        fields = _fields(exchange.request.query)
        redirect_uri = fields.get("redirect_uri", "")
        client = fields.get("client_id", "")
        await Clients(parts.origin).check(client, redirect_uri)
    except (_OAuthError, UnknownClientError) as error:
        # Nobody may be sent to an address that is not the client's.
        text = f"{error}\n".encode()
        await exchange.respond(HttpHead(400, (("Content-Type", "text/plain"),)), text)
        return
    try:
        answer = {"code": parts.codes.issue(_grant(fields, parts))}
    except _OAuthError as error:
        answer = error.fields
    if "state" in fields:
        answer["state"] = fields["state"]
    answer["iss"] = parts.issuer.name
    await exchange.respond(HttpHead(302, (("Location", _with_query(redirect_uri, answer)),)))


def _grant(fields: Mapping[str, str], parts: AuthParts) -> Grant:
    """What an authorization request asks for.

    Raises:
        _OAuthError: something that is not given.
    """
    if fields.get("response_type") != "code":
        raise _OAuthError("unsupported_response_type", "response_type must be code")
    challenge = fields.get("code_challenge", "")
    if fields.get("code_challenge_method") != "S256" or len(challenge) != _CHALLENGE_LENGTH:
        raise _OAuthError("invalid_request", "a code_challenge with S256 is needed")
    if fields.get("resource") != parts.resource:
        raise _OAuthError("invalid_target", f"the resource must be {parts.resource}")
    scopes = Scopes.of(fields.get("scope", READ))
    unknown = [name for name in scopes.names if name not in (*SUPPORTED, OPENID)]
    if unknown:
        raise _OAuthError("invalid_scope", "a scope is unknown")
    return Grant(
        fields["client_id"],
        fields["redirect_uri"],
        challenge,
        parts.resource,
        scopes,
        fields.get("nonce"),
    )


async def token(exchange: HttpExchange, parts: AuthParts) -> None:
    """The token endpoint: an access token for a code."""
    try:
        body, status = _redeem(exchange.request, parts), 200
    except _OAuthError as error:
        body, status = error.fields, 400
    await exchange.respond(HttpHead(status, _PRIVATE), encode(body))


def _redeem(request: HttpRequest, parts: AuthParts) -> JsonObject:
    """Raises: _OAuthError: the code is not this client's to redeem."""
    media_type = (request.value("content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        raise _OAuthError("invalid_request", "the body must be a form")
    fields = _fields(request.body.decode("utf-8", "replace"))
    if fields.get("grant_type") != "authorization_code":
        raise _OAuthError("unsupported_grant_type", "grant_type must be authorization_code")
    grant = parts.codes.redeem(fields.get("code", ""))
    if grant is None or grant.client != fields.get("client_id"):
        raise _OAuthError("invalid_grant", "the code is unknown, used up or another client's")
    if not grant.is_proven_by(fields.get("code_verifier", "")):
        raise _OAuthError("invalid_grant", "the code_verifier does not fit the challenge")
    if fields.get("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
        raise _OAuthError("invalid_grant", "the redirect_uri is not that of the code")
    if fields.get("resource") != grant.resource:
        raise _OAuthError("invalid_target", f"the resource must be {grant.resource}")
    return _tokens(grant, parts)


def _tokens(grant: Grant, parts: AuthParts) -> JsonObject:
    access = parts.issuer.access_token(
        grant.resource, grant.scopes, subject=_SUBJECT, client=grant.client
    )
    answer: JsonObject = {
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": LIFETIME_S,
        "scope": str(grant.scopes),
    }
    if OPENID in grant.scopes.names:
        answer["id_token"] = parts.issuer.id_token(grant.client, _SUBJECT, grant.nonce)
    return answer


def _fields(text: str) -> dict[str, str]:
    """The fields of a query or form, each at most once (OAuth 2.1, section 3.1).

    Raises:
        _OAuthError: a field that is repeated, or too many of them.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise _OAuthError("invalid_request", "too many parameters") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _OAuthError("invalid_request", "a parameter is repeated")
    return fields


def _with_query(uri: str, fields: Mapping[str, str]) -> str:
    """`uri` with `fields` added to its query, kept ASCII for a header."""
    parts = urlsplit(uri)
    query = "&".join(part for part in (parts.query, urlencode(fields)) if part)
    return urlunsplit((*parts[:3], query, ""))
