"""Elicitation, sampling and roots: what a server asks of a client that declares them all."""

from __future__ import annotations

from functools import partial

import anyio

from clausewise.core.vocabulary import Revision
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy_client import BYSTANDING_CLIENT, CONSENTING_CLIENT
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.observation import (
    Observation,
    inconclusive,
    left_to_the_recording,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY
from clausewise.probe.subjects.asked_clients import NOTHING_ASKED, asking_calls, patience_s

_OPENED_S = 0.15
_WATCH_S = 0.5
_BY_URL = "no tool that may be called asked to open a URL; name one with --call-tool"


@clause_probe("elicitation.of-a-declining-user", needs=("tools",), impact="calls", beside=True)
async def of_a_declining_user(peer: LegacyPeer) -> Observation:
    """A request to the client, made while a tool runs, breaks the page of its feature.

    Why: the client can neither show nor answer what it cannot read.

    Fix: build every elicitation, sampling and roots request as its page says; the finding
    names the sentence.
    """
    return left_to_the_recording() if await asking_calls(peer) else not_observed(NOTHING_ASKED)


@clause_probe(
    "elicitation.complete-to-one-client", transports=HTTP_ONLY, needs=("tools",), impact="calls"
)
async def complete_to_one_client(peer: LegacyPeer) -> Observation:
    """The end of an interaction by URL is told to another client than the one that was asked.

    Why: the other client learns of a user's business, and takes up a request it never made.

    Fix: keep the session with the elicitationId, and send the notification there alone.
    """
    calls = [one.call for one in await asking_calls(peer) if one.by_url]
    if not calls:
        return not_observed(_BY_URL)
    async with (
        peer.client(CONSENTING_CLIENT) as asked,
        peer.client(BYSTANDING_CLIENT) as bystander,
    ):
        if {asked.version, bystander.version} != {Revision.LEGACY.value}:
            return inconclusive(f"initialize got {asked.initialization.shown}")
        async with anyio.create_task_group() as group:
            for session in (asked, bystander):
                listen = partial(session.listen, peer.limits.answer_s, beside=asked)
                group.start_soon(listen)
            await anyio.sleep(_OPENED_S)
            for call in calls:
                await asked.request("tools/call", call.params, timeout_s=patience_s(peer, call))
            await anyio.sleep(_WATCH_S)
            group.cancel_scope.cancel()
    return left_to_the_recording()
