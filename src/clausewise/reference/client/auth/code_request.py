"""One authorization request: what it asks, and what an answer to it must satisfy.

Source: basic/authorization#authorization-response-validation, #resource-parameter-implementation;
basic/authorization/security-considerations#authorization-code-protection, #open-redirection;
RFC 7636, RFC 8707, RFC 9207 section 2.4.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from clausewise.reference.client.auth.errors import AuthorizationError, quoted
from clausewise.reference.client.auth.servers import AuthorizationServer

_METHOD = "S256"
_RANDOM_BYTES = 32
_MAX_FIELDS = 50


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A request for an authorization code, with what must be remembered until its answer.

    Attributes:
        server: whose answer it will be: its issuer is the one that `iss` must equal.
        client_id: who asks.
        redirect_uri: where the answer goes.
        resource: the identifier of the resource that the token is for.
        scopes: what it shall allow; empty to leave that to the server.
        state: comes back with the answer.
        verifier: proves later that the code is this request's (PKCE).
    """

    server: AuthorizationServer
    client_id: str
    redirect_uri: str
    resource: str
    scopes: tuple[str, ...]
    state: str = field(default_factory=lambda: secrets.token_urlsafe(_RANDOM_BYTES), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(_RANDOM_BYTES), repr=False)

    @property
    def url(self) -> str:
        """Where to send the user.

        Raises:
            AuthorizationError: the server has no authorization endpoint, or no PKCE with S256.
        """
        endpoint = self.server.authorization_endpoint
        if endpoint is None:
            raise AuthorizationError(f"{self.server.issuer} has no authorization endpoint")
        if _METHOD not in self.server.challenge_methods:
            raise AuthorizationError(
                f"{self.server.issuer} does not say that it supports PKCE with {_METHOD}",
                "Its metadata must have code_challenge_methods_supported.",
            )
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(self._fields())}"

    def _fields(self) -> Mapping[str, str]:
        fields = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "resource": self.resource,
            "state": self.state,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": _METHOD,
        }
        return fields | ({"scope": " ".join(self.scopes)} if self.scopes else {})

    def code_in(self, callback: str) -> str:
        """The authorization code in the URL that the user was sent back to.

        Raises:
            AuthorizationError: the server refuses, or the answer is not its own, or not to this
                request.
        """
        answer = _query_of(callback)
        if not secrets.compare_digest(answer.get("state", "").encode(), self.state.encode()):
            raise AuthorizationError("the authorization response has not the state of the request")
        self._check_issuer(answer.get("iss"))
        if "error" in answer:
            raise AuthorizationError(
                f"{self.server.issuer} refuses: {quoted(answer['error'])}, "
                f"{quoted(answer.get('error_description', ''))}"
            )
        if not answer.get("code"):
            raise AuthorizationError("the authorization response has no code")
        return answer["code"]

    def _check_issuer(self, named: str | None) -> None:
        """Compare `iss` as it stands: nothing is normalized."""
        if named is None and self.server.names_itself:
            raise AuthorizationError(
                f"the authorization response has no iss, though {self.server.issuer} promises it"
            )
        if named is not None and named != self.server.issuer:
            raise AuthorizationError(
                f"the authorization response is of {quoted(named)}, not of {self.server.issuer}"
            )


def challenge_of(verifier: str) -> str:
    """The S256 code challenge of a verifier (RFC 7636, section 4.2)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _query_of(callback: str) -> Mapping[str, str]:
    query = callback.partition("#")[0].partition("?")[2]
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise AuthorizationError("the authorization response has too many parameters") from None
    answer = dict(pairs)
    if len(answer) < len(pairs):
        raise AuthorizationError("the authorization response repeats a parameter")
    return answer
