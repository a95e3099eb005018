"""Who the client is to an authorization server, and how it proves that at the token endpoint.

Source: OAuth 2.1 (draft-ietf-oauth-v2-1-13) section 2.4; RFC 7523 section 2.2.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote_plus

from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.reference.client.auth.options import RegisteredClient
from clausewise.reference.client.auth.servers import AuthorizationServer

_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Method(StrEnum):
    """How a client authenticates at the token endpoint (the values are the registered names)."""

    NONE = "none"
    BASIC = "client_secret_basic"
    POST = "client_secret_post"
    KEY = "private_key_jwt"


@dataclass(frozen=True, slots=True)
class Client:
    """A client as one authorization server knows it.

    Attributes:
        id: its `client_id`.
        method: how it authenticates.
        secret: for the two methods that need one.
        key: PEM text of a private key, for `private_key_jwt`.
        algorithm: the JWS algorithm of the key.
    """

    id: str
    method: Method = Method.NONE
    secret: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    algorithm: str = ""


@dataclass(frozen=True, slots=True)
class Authentication:
    """What a token request carries to show which client sends it."""

    fields: Mapping[str, str]
    headers: tuple[tuple[bytes, bytes], ...] = ()


def registered(known: RegisteredClient, server: AuthorizationServer) -> Client:
    """A client known beforehand, with the best of its methods that the server takes.

    Raises:
        AuthorizationError: the server takes none of them.
    """
    able: list[Method] = []
    if known.key is not None:
        able.append(Method.KEY)
    if known.secret is not None:
        able += [Method.BASIC, Method.POST]
    if not able:
        return Client(known.id)
    method = next((one for one in able if one in server.authentication_methods), None)
    if method is None:
        raise AuthorizationError(
            f"{server.issuer} takes none of {', '.join(able)} from the client {known.id}",
            f"It takes {', '.join(server.authentication_methods) or 'no method at all'}.",
        )
    return Client(known.id, method, known.secret or "", known.key or "", known.algorithm)


def authenticate(client: Client, server: AuthorizationServer) -> Authentication:
    """What to add to a token request of `client`.

    Raises:
        AuthorizationError: the client's key cannot sign.
    """
    # Beside a header it is needless and allowed (RFC 6749, section 3.2.1); some servers insist.
    fields = {"client_id": client.id}
    if client.method is Method.BASIC:
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}".encode("ascii")
        basic = b"Basic " + base64.b64encode(pair)
        return Authentication(fields, ((b"Authorization", basic),))
    if client.method is Method.POST:
        fields["client_secret"] = client.secret
    elif client.method is Method.KEY:
        fields["client_assertion_type"] = _ASSERTION_TYPE
        from clausewise.reference.client.auth.assertion import Signer, signed_assertion

        signer = Signer(client.id, client.key, client.algorithm)
        fields["client_assertion"] = signed_assertion(signer, server.issuer)
    return Authentication(fields)
