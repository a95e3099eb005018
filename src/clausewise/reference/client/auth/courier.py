"""The client's HTTP requests beside the MCP endpoint: metadata, authorization, tokens.

Fetched metadata is recorded with the session. What carries credentials is recorded nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from clausewise.core.errors import TargetError, UsageError
from clausewise.reference.client.auth.errors import AuthorizationError, quoted
from clausewise.trace.tape import Tape
from clausewise.transport.addresses import guard_of, names_loopback
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.documents import Document, Fetcher
from clausewise.transport.guarded import GuardedSender, origin_of
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget
from clausewise.wire.jsontext import JsonTextError, decode

Fields = Mapping[str, str]

_MAX_ANSWER_BYTES = 256 * 1024
_MAX_URL_CHARACTERS = 2048
_FORM = b"application/x-www-form-urlencoded"
_JSON = b"application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of an authorization server to a POST: its status, and its JSON object if any."""

    status: int
    value: Mapping[str, Any]


class Courier:
    """Sends requests to the hosts that a protected server names; made by `open_courier`."""

    def __init__(self, fetcher: Fetcher, sender: GuardedSender) -> None:
        self._fetcher = fetcher
        self._sender = sender

    async def document(self, url: str) -> Document:
        """GET a metadata document."""
        return await self._fetcher.get(url)

    async def visit(self, url: str) -> Answer:
        """GET a page as a browser does, no redirect followed.

        Raises:
            AuthorizationError: there is no whole answer.
        """
        return await self._send(url, "GET", ((b"Accept", b"text/html,*/*;q=0.1"),))

    async def post_form(
        self, url: str, fields: Fields, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> Reply:
        """POST a form.

        Raises:
            AuthorizationError: there is no whole answer.
        """
        return await self._post(url, _FORM, urlencode(fields).encode("ascii"), headers)

    async def post_json(self, url: str, value: Mapping[str, Any]) -> Reply:
        """POST a JSON object.

        Raises:
            AuthorizationError: there is no whole answer.
        """
        return await self._post(url, _JSON, orjson.dumps(value))

    async def _post(
        self,
        url: str,
        media_type: bytes,
        body: bytes,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> Reply:
        ours = ((b"Content-Type", media_type), (b"Accept", _JSON), *headers)
        answer = await self._send(url, "POST", ours, body)
        try:
            value = decode(answer.body)
        except JsonTextError:
            value = None
        return Reply(answer.status or 0, value if isinstance(value, dict) else {})

    async def _send(
        self, url: str, method: str, headers: tuple[tuple[bytes, bytes], ...], body: bytes = b""
    ) -> Answer:
        try:
            answer = await self._sender.send(url, method, headers, body)
        except (TargetError, UsageError) as error:
            raise AuthorizationError(f"{_place(url)}: {error.message}", error.hint) from None
        if answer.ending is not Ending.COMPLETE:
            raise AuthorizationError(f"{_place(url)}: {answer.detail}")
        return answer


async def open_courier(home: HttpTarget, tape: Tape, limits: Limits) -> Courier:
    """A courier for the MCP endpoint `home`; it needs no closing.

    Raises:
        TargetError: the endpoint's host does not resolve.
    """
    guard = await guard_of(home, limits.connect_s)
    bounds = replace(limits, max_body_bytes=min(limits.max_body_bytes, _MAX_ANSWER_BYTES))
    return Courier(
        Fetcher(home, guard, tape, limits), GuardedSender(home, guard, Tape(keep=False), bounds)
    )


def checked_url(value: Any, what: str) -> str:
    """`value` if secrets may be sent there: an https URL, or an http URL on loopback.

    Raises:
        AuthorizationError: it is none; the message names `what` it should be.
    """
    if isinstance(value, str) and len(value) <= _MAX_URL_CHARACTERS and _is_safe(value):
        return value
    raise AuthorizationError(
        f"{what} is {quoted(value)}", "It must be an https URL without fragment."
    )


def _is_safe(url: str) -> bool:
    origin = origin_of(url)
    if origin is None or "#" in url or "@" in urlsplit(url).netloc or not url.isprintable():
        return False
    scheme, host, _ = origin
    return scheme == "https" or (scheme == "http" and names_loopback(host))


def _place(url: str) -> str:
    """A URL without its query, which may hold a code."""
    return url.partition("?")[0]
