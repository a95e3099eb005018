"""A browser without a user: follows the redirects of an authorization server that asks nobody."""

from __future__ import annotations

from urllib.parse import urljoin

from clausewise.reference.client.auth.courier import Courier, checked_url
from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.wire.authorization.canonical_uri import canonical

MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


async def sent_back_to(redirect_uri: str, url: str, courier: Courier) -> str:
    """The URL on `redirect_uri` that a user who opens `url` ends at; it is not asked for.

    Raises:
        AuthorizationError: the way does not lead there.
    """
    at = url
    for _ in range(MAX_REDIRECTS):
        answer = await courier.visit(at)
        location = answer.header("location")
        if answer.status not in _REDIRECTS or location is None:
            raise AuthorizationError(
                f"the authorization server answers HTTP {answer.status} where it should send the "
                "user back",
                "The client has no user who could log in or consent: use a server that asks "
                "nobody, or give a token with --bearer.",
            )
        at = urljoin(at, location)
        if _is_at(redirect_uri, at):
            return at
        checked_url(at.partition("#")[0], "the target of a redirect of the authorization server")
    raise AuthorizationError(f"the authorization server redirects more than {MAX_REDIRECTS} times")


def _is_at(redirect_uri: str, url: str) -> bool:
    try:
        there, wanted = canonical(url), canonical(redirect_uri)
    except ValueError:
        return False
    return there.without_query == wanted
