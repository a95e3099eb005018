"""Which client to be: one known beforehand, a metadata document, or one registered on the spot.

Source: basic/authorization/client-registration; RFC 7591.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.reference.client.auth.clients import Client, Method, registered
from clausewise.reference.client.auth.courier import Courier
from clausewise.reference.client.auth.errors import AuthorizationError, quoted
from clausewise.reference.client.auth.options import AuthOptions, Grant, RegisteredClient
from clausewise.reference.client.auth.servers import AuthorizationServer

_NAME = "Clausewise reference client"
_REGISTERED = (200, 201)
_METHODS = (Method.NONE, Method.BASIC, Method.POST)
"""What a client without a key can register for, the best first."""


class Registrar:
    """The clients that this client is, one for each authorization server."""

    def __init__(self, options: AuthOptions) -> None:
        self._options = options
        self._known = {one.issuer: one for one in options.registered}
        self._clients: dict[str, Client] = {}

    def preferred(self, issuers: tuple[str, ...]) -> tuple[str, ...]:
        """The listed authorization servers to choose from: those that know the client, if any do.

        Raises:
            AuthorizationError: the client is known beforehand, but to none of these.
        """
        if not self._known or None in self._known:
            return issuers
        knowing = tuple(one for one in issuers if one in self._known)
        if not knowing:
            ours = ", ".join(f"{one.id} at {one.issuer}" for one in self._known.values())
            raise AuthorizationError(
                f"the server now wants tokens of {', '.join(map(quoted, issuers))}; the client is "
                f"{ours}",
                "Credentials of one authorization server are no use at another: register there.",
            )
        return knowing

    async def client(self, server: AuthorizationServer, courier: Courier) -> Client:
        """The client to be at `server`; registers at most once at each.

        Raises:
            AuthorizationError: there is no way to be a client there.
        """
        if server.issuer not in self._clients:
            self._clients[server.issuer] = await self._become(server, courier)
        return self._clients[server.issuer]

    async def _become(self, server: AuthorizationServer, courier: Courier) -> Client:
        known = self._known.get(server.issuer) or self._bind(server.issuer)
        if known is not None:
            return registered(known, server)
        if self._options.metadata_url is not None and server.takes_documents:
            return Client(self._options.metadata_url)
        if server.registration_endpoint is not None:
            return await _register(server, server.registration_endpoint, self._options, courier)
        raise AuthorizationError(
            f"the client is unknown to {server.issuer}, and nobody can register there by request",
            "Register it there, and give its client_id.",
        )

    def _bind(self, issuer: str) -> RegisteredClient | None:
        """The client whose authorization server was left open; from now on it is this one."""
        known = self._known.pop(None, None)
        if known is not None:
            self._known[issuer] = known
        return known


async def _register(
    server: AuthorizationServer, endpoint: str, options: AuthOptions, courier: Courier
) -> Client:
    method = _method(server)
    reply = await courier.post_json(endpoint, _metadata(options, method))
    if reply.status not in _REGISTERED:
        raise AuthorizationError(
            f"{server.issuer} does not register the client: HTTP {reply.status}, "
            f"{quoted(reply.value.get('error'))}, {quoted(reply.value.get('error_description'))}",
            f"It may not allow the redirect URI {options.redirect_uri}: give another, or register "
            "the client beforehand.",
        )
    return _registered(reply.value, method, server.issuer)


def _method(server: AuthorizationServer) -> Method:
    for method in _METHODS:
        if method in server.authentication_methods:
            return method
    raise AuthorizationError(
        f"{server.issuer} takes only {', '.join(server.authentication_methods) or 'no method'} "
        "at its token endpoint",
        "Register the client beforehand, and give its key.",
    )


def _metadata(options: AuthOptions, method: Method) -> Mapping[str, Any]:
    """Client metadata (RFC 7591, section 2); the client runs on the user's machine: `native`."""
    if options.grant is Grant.CLIENT_CREDENTIALS:
        return {
            "client_name": _NAME,
            "grant_types": [Grant.CLIENT_CREDENTIALS],
            "token_endpoint_auth_method": method,
        }
    return {
        "client_name": _NAME,
        "application_type": "native",
        "redirect_uris": [options.redirect_uri],
        "grant_types": [Grant.AUTHORIZATION_CODE, "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    }


def _registered(answer: Mapping[str, Any], asked: Method, issuer: str) -> Client:
    client_id, secret = answer.get("client_id"), answer.get("client_secret")
    if not isinstance(client_id, str) or not client_id:
        raise AuthorizationError(f"{issuer} registers the client without a client_id")
    given = answer.get("token_endpoint_auth_method", asked)
    if given not in _METHODS:
        raise AuthorizationError(f"{issuer} wants the client to use {quoted(given)}")
    method = Method(given)
    if method is Method.NONE:
        return Client(client_id)
    if not isinstance(secret, str) or not secret:
        raise AuthorizationError(f"{issuer} wants {method}, and gives the client no secret")
    return Client(client_id, method, secret)
