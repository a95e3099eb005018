"""The client's authorization: tokens for one MCP server, asked for when it demands them.

Source: basic/authorization#authorization-flow-steps, #step-up-authorization-flow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import anyio

from clausewise.reference.client.auth.code_request import CodeRequest
from clausewise.reference.client.auth.courier import Courier, checked_url, open_courier
from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.reference.client.auth.options import AuthOptions, Grant
from clausewise.reference.client.auth.registration import Registrar
from clausewise.reference.client.auth.resource import ProtectedResource, find_resource
from clausewise.reference.client.auth.servers import AuthorizationServer, find_server
from clausewise.reference.client.auth.tokens import TokenDesk, Tokens
from clausewise.reference.client.auth.user_agent import sent_back_to
from clausewise.reference.client.authorizer import Headers
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget
from clausewise.wire.authorization.challenges import Challenge, bearer_of, read_challenges

MAX_AUTHORIZATIONS = 10
"""How often the client authorizes anew for one server, refreshes not counted."""

OFFLINE_ACCESS = "offline_access"
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_INSUFFICIENT_SCOPE = "insufficient_scope"
_REFRESH_BEFORE_S = 10.0


@dataclass(frozen=True, slots=True)
class _Held:
    """Tokens in hand.

    Attributes:
        desk: where they are from.
        expires: when the access token ends, by the client's clock; None if nobody said.
        is_renewed: whether a refresh gave them.
    """

    tokens: Tokens
    desk: TokenDesk
    expires: float | None
    is_renewed: bool = False


class OAuthAuthorizer:
    """Gets tokens for the MCP endpoint `target` and hands them out for it alone.

    Metadata that is fetched goes onto `tape`; requests with credentials go onto none.
    `clock` gives seconds that never go back.
    """

    def __init__(
        self,
        target: HttpTarget,
        options: AuthOptions,
        tape: Tape,
        limits: Limits = Limits(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._target = target
        self._options = options
        self._tape = tape
        self._limits = limits
        self._clock = clock
        self._registrar = Registrar(options)
        self._lock = anyio.Lock()
        self._courier: Courier | None = None
        self._held: _Held | None = None
        # The scopes of the token in hand, and all that were ever asked for: a scope that was
        # refused is not asked for a second time.
        self._granted: tuple[str, ...] = ()
        self._tried: frozenset[str] = frozenset()
        self._authorizations = 0

    async def headers(self, url: str) -> Headers:
        """The Authorization header for a request to `url`: for the endpoint, once it is known.

        A token that is about to end is refreshed first where that is possible.
        """
        if url != self._target.url:
            return ()
        async with self._lock:
            if self._is_ending():
                await self._refresh()
            return self._own_headers

    async def challenged(self, url: str, status: int, headers: Headers, sent: Headers) -> bool:
        """Get a token that satisfies a refusal of the endpoint.

        Args:
            url: what was asked for.
            status: 401 or 403.
            headers: those of the refusal, all of them.
            sent: what `headers` gave for the request.

        Returns:
            Whether the request is worth another try, with new headers. It is not where
            authorizing cannot help: another URL, a 403 that names no lack of scopes, or only
            of scopes that were asked for already.

        Raises:
            AuthorizationError: there is no token to be had.
        """
        challenge = bearer_of(read_challenges(_named("www-authenticate", headers)))
        if url != self._target.url or not _is_for_us(status, challenge):
            return False
        async with self._lock:
            if self._own_headers != sent:
                return True  # Another request has authorized meanwhile.
            checked_url(url, "the MCP endpoint that wants a token")
            courier = await self._open_courier()
            resource = await find_resource(url, challenge, courier)
            needed = resource.scopes_for(challenge)
            if status == _FORBIDDEN and self._tried.issuperset(needed):
                return False
            await self._authorize(resource, status, needed, courier)
            return True

    async def _open_courier(self) -> Courier:
        if self._courier is None:
            self._courier = await open_courier(self._target, self._tape, self._limits)
        return self._courier

    async def _authorize(
        self, resource: ProtectedResource, status: int, needed: tuple[str, ...], courier: Courier
    ) -> None:
        held = self._held
        server = await self._choose(resource.issuers, courier)
        if (
            held is not None
            and status == _UNAUTHORIZED
            and held.desk.server.issuer == server.issuer
            and set(needed) <= set(self._granted)
            and not held.is_renewed
            and await self._refresh()
        ):
            return
        if status == _UNAUTHORIZED:
            self._held = None
        self._count()
        scopes = tuple(dict.fromkeys((*self._granted, *needed)))
        self._tried = self._tried.union(scopes)
        client = await self._registrar.client(server, courier)
        desk = TokenDesk(server, client, resource.identifier, courier)
        self._keep(await self._new_tokens(desk, scopes), desk)
        self._granted = scopes

    def _count(self) -> None:
        self._authorizations += 1
        if self._authorizations > MAX_AUTHORIZATIONS:
            raise AuthorizationError(
                f"the server has refused {MAX_AUTHORIZATIONS} tokens: no more are asked for"
            )

    async def _choose(self, issuers: tuple[str, ...], courier: Courier) -> AuthorizationServer:
        """The first authorization server that the client may use and that has metadata."""
        *others, last = self._registrar.preferred(issuers)
        for issuer in others:
            try:
                return await find_server(issuer, courier)
            except AuthorizationError:
                continue
        return await find_server(last, courier)

    async def _new_tokens(self, desk: TokenDesk, scopes: tuple[str, ...]) -> Tokens:
        if self._options.grant is Grant.CLIENT_CREDENTIALS:
            return await desk.own(scopes)
        uri = self._options.redirect_uri
        if scopes and OFFLINE_ACCESS in desk.server.scopes:
            scopes = tuple(dict.fromkeys((*scopes, OFFLINE_ACCESS)))
        request = CodeRequest(desk.server, desk.client.id, uri, desk.resource, scopes)
        callback = await sent_back_to(uri, request.url, desk.courier)
        return await desk.redeem(request, request.code_in(callback))

    async def _refresh(self) -> bool:
        """Renew the tokens in hand; where that fails they are as they were."""
        held = self._held
        if held is None or held.tokens.refresh is None:
            return False
        try:
            tokens = await held.desk.refresh(held.tokens)
        except AuthorizationError:
            return False
        self._keep(tokens, held.desk, is_renewed=True)
        return True

    def _keep(self, tokens: Tokens, desk: TokenDesk, *, is_renewed: bool = False) -> None:
        lasts = tokens.lifetime_s
        expires = None if lasts is None else self._clock() + lasts
        self._held = _Held(tokens, desk, expires, is_renewed)

    @property
    def _own_headers(self) -> Headers:
        held = self._held
        return () if held is None else (("Authorization", f"Bearer {held.tokens.access}"),)

    def _is_ending(self) -> bool:
        expires = None if self._held is None else self._held.expires
        return expires is not None and self._clock() >= expires - _REFRESH_BEFORE_S


def _is_for_us(status: int, challenge: Challenge | None) -> bool:
    """Whether a refusal asks for a token, or for one that allows more."""
    if status == _UNAUTHORIZED:
        return True
    return status == _FORBIDDEN and challenge is not None and challenge.error == _INSUFFICIENT_SCOPE


def _named(name: str, headers: Headers) -> Iterable[str]:
    return (value for key, value in headers if key.lower() == name)
