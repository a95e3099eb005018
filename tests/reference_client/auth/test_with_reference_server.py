"""The client's authorization with the project's own protected server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from clausewise.reference.auth.clients import REGISTERED_CLIENT
from clausewise.reference.client.auth.authorizer import OAuthAuthorizer
from clausewise.reference.client.auth.errors import AuthorizationError
from clausewise.reference.client.auth.options import AuthOptions, RegisteredClient
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget
from tests.reference.client import Answer, Client, Json, connect

pytestmark = pytest.mark.anyio

KNOWN = AuthOptions(registered=(RegisteredClient(REGISTERED_CLIENT),))


@dataclass(frozen=True)
class Caller:
    """Sends modern requests with what the authorizer gives, again after a refusal."""

    client: Client
    url: str
    authorizer: OAuthAuthorizer

    async def listed(self, what: str) -> list[Json]:
        """Every page of a list."""
        found: list[Json] = []
        page = (await self.call(f"{what}/list")).result
        while True:
            found += page[what]
            if "nextCursor" not in page:
                return found
            page = (await self.call(f"{what}/list", {"cursor": page["nextCursor"]})).result

    async def call(self, method: str, params: Json | None = None) -> Answer:
        answer = Answer(0, {}, b"")
        for _ in range(3):
            sent = await self.authorizer.headers(self.url)
            answer = await self.client.modern(method, params, headers=dict(sent))
            if answer.status not in (401, 403):
                break
            refusal = tuple(answer.headers.items())
            if not await self.authorizer.challenged(self.url, answer.status, refusal, sent):
                break
        return answer


@asynccontextmanager
async def calling(options: AuthOptions) -> AsyncIterator[Caller]:
    async with serve_http(ServerOptions(protected=True)) as url, connect(url) as client:
        yield Caller(client, url, OAuthAuthorizer(HttpTarget(url), options, Tape()))


async def test_the_client_gets_in_and_steps_up_where_a_tool_needs_more() -> None:
    async with calling(KNOWN) as caller:
        tools = await caller.listed("tools")
        writer = next(t for t in tools if not t["annotations"]["readOnlyHint"])
        first = await caller.authorizer.headers(caller.url)
        answer = await caller.call("tools/call", {"name": writer["name"], "arguments": {}})
        second = await caller.authorizer.headers(caller.url)
    assert (answer.status, "result" in answer.message) == (200, True)
    assert first != second


async def test_a_client_that_the_server_does_not_know_is_told_so() -> None:
    async with calling(AuthOptions()) as caller:
        with pytest.raises(AuthorizationError, match="nobody can register") as caught:
            await caller.call("server/discover")
    assert "client_id" in caught.value.hint
