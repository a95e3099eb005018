"""Who may use the MCP endpoint: a valid token for this resource, with the scope that is needed.

Source: basic/authorization#token-handling, #scope-challenge-handling; RFC 6750, RFC 9728 section 5.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from clausewise.reference.auth.claims import Claims, InvalidTokenError
from clausewise.reference.auth.parts import (
    RESOURCE_METADATA_PATH,
    AuthParts,
    DeniedError,
    TokenCheck,
)
from clausewise.reference.auth.scopes import READ, WRITE
from clausewise.reference.features.tools import Tool
from clausewise.reference.http_layer import HttpHead, HttpRequest
from clausewise.reference.messages import JsonObject

INVALID_TOKEN = "invalid_token"
INVALID_REQUEST = "invalid_request"
INSUFFICIENT_SCOPE = "insufficient_scope"
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)


def admit(request: HttpRequest, parts: AuthParts) -> Claims:
    """The claims of the token that a request carries.

    Raises:
        DeniedError: it carries none, or one that must not be accepted (401); or several
            Authorization headers (400).
    """
    sent = request.values("authorization")
    if not sent:
        raise DeniedError(401, READ)
    if len(sent) > 1:
        raise DeniedError(400, READ, INVALID_REQUEST, "more than one Authorization header")
    bearer = _BEARER.fullmatch(sent[0])
    if bearer is None:
        raise DeniedError(401, READ, INVALID_TOKEN, "the Authorization header has no Bearer token")
    try:
        claims = parts.issuer.read(bearer[1])
    except InvalidTokenError as error:
        raise DeniedError(401, READ, INVALID_TOKEN, str(error)) from None
    for check in parts.checks.values():
        check(claims, parts)
    return claims


def not_expired(claims: Claims, _parts: AuthParts) -> None:
    """Source: basic/authorization#token-handling."""
    if time.time() >= claims.expires:
        raise DeniedError(401, READ, INVALID_TOKEN, "the token has expired")


def for_this_resource(claims: Claims, parts: AuthParts) -> None:
    """Source: basic/authorization#token-handling, RFC 8707 section 2."""
    if parts.resource not in claims.audience:
        raise DeniedError(401, READ, INVALID_TOKEN, "the token is for another resource")


CHECKS: Mapping[str, TokenCheck] = {
    "not-expired": not_expired,
    "for-this-resource": for_this_resource,
}
"""In the order they run; the names are those that a defect removes."""


def permit(claims: Claims, message: JsonObject, tools: tuple[Tool, ...]) -> None:
    """Let through a message that the token's scopes allow.

    Raises:
        DeniedError: they do not (403).
    """
    needed = _needed(message, tools)
    if not claims.scopes.allow(needed):
        raise DeniedError(403, needed, INSUFFICIENT_SCOPE, f"this needs the scope {needed}")


def _needed(message: JsonObject, tools: tuple[Tool, ...]) -> str:
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return READ
    called = next((tool for tool in tools if tool.name == params.get("name")), None)
    if called is None or called.definition["annotations"]["readOnlyHint"]:
        return READ
    return WRITE


def challenge(denied: DeniedError, parts: AuthParts) -> HttpHead:
    """The answer to a denied request: where the metadata is, which scopes are needed, why."""
    path = RESOURCE_METADATA_PATH + parts.resource.removeprefix(parts.origin)
    parameters = {"resource_metadata": parts.origin + path, "scope": denied.scope}
    if denied.error is not None:
        parameters |= {"error": denied.error, "error_description": denied.description}
    value = ", ".join(f'{name}="{text}"' for name, text in parameters.items())
    return HttpHead(denied.status, (("WWW-Authenticate", f"Bearer {value}"),))
