"""Who a client is: the one registered beforehand, or whoever its Client ID Metadata Document names.

Source: basic/authorization/client-registration; draft-ietf-oauth-client-id-metadata-document-00.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from clausewise.trace.tape import Tape
from clausewise.transport.addresses import guard_for, names_loopback
from clausewise.transport.documents import Fetcher
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget

REGISTERED_CLIENT = "clausewise-reference-client"
"""The public client that is known beforehand: it may redirect to any path on loopback."""

_LIMITS = Limits(connect_s=3.0, answer_s=3.0, max_body_bytes=16 * 1024)


class UnknownClientError(Exception):
    """No client has this id, or not with this redirect URI; the message says why."""


@dataclass(frozen=True, slots=True)
class Clients:
    """Finds clients; `origin` is the authorization server's own."""

    origin: str

    async def check(self, client: str, redirect_uri: str) -> None:
        """Make sure that `client` exists and may be answered at `redirect_uri`.

        Raises:
            UnknownClientError: it does not, or may not.
        """
        if client == REGISTERED_CLIENT:
            if not _is_on_loopback(redirect_uri):
                raise UnknownClientError("the registered client redirects to loopback alone")
            return
        document = await self._document(client)
        uris = document.get("redirect_uris")
        if document.get("client_id") != client:
            raise UnknownClientError("the client's document names another client_id")
        if not isinstance(uris, list) or redirect_uri not in uris:
            raise UnknownClientError("the client's document does not list this redirect_uri")
        if document.get("token_endpoint_auth_method", "none") != "none":
            raise UnknownClientError("only public clients are served")

    async def _document(self, client: str) -> Any:
        if not self._may_be_fetched(client):
            raise UnknownClientError("the client_id is neither known nor an https URL with a path")
        home = HttpTarget(self.origin)
        fetcher = Fetcher(home, guard_for([home.host]), Tape(keep=False), _LIMITS, redirects=0)
        found = await fetcher.get(client)
        if found.value is None:
            raise UnknownClientError(f"the client's document cannot be read: {found.fault}")
        return found.value

    def _may_be_fetched(self, client: str) -> bool:
        """An https URL with a path and nothing else; http where both are on loopback."""
        try:
            parts = urlsplit(client)
        except ValueError:
            return False
        local = _is_on_loopback(client) and names_loopback(urlsplit(self.origin).hostname or "")
        plain = not (parts.query or parts.fragment or "@" in parts.netloc)
        segments = parts.path.split("/")
        has_path = parts.path not in ("", "/") and not {".", ".."} & set(segments)
        return plain and has_path and (parts.scheme == "https" or local)


def _is_on_loopback(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    return parts.scheme == "http" and not parts.fragment and names_loopback(host)
