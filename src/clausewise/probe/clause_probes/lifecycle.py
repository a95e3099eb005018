"""Lifecycle: which version a server offers instead, and what it does when it is not answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.core.vocabulary import LEGACY_REVISIONS, PUBLISHED_REVISIONS
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy_client import BARE_CLIENT, SILENT_CLIENT
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    left_to_the_recording,
    merged,
    not_observed,
)
from clausewise.probe.offered import completable_argument
from clausewise.probe.subjects.asked_clients import (
    NOTHING_ASKED,
    asking_calls,
    cancelled_ids,
    patience_s,
    questions_of,
    waited_s,
)
from clausewise.probe.subjects.grouping import shown_together
from clausewise.probe.walk import UNKNOWN_NAME

_GLANCE_S = 0.5
"""How long a server may take to give up, unless the user has named its tool."""
_WAITED_S = 0.1
"""Who ends a call sooner after a question did not wait for its answer."""
_NO_VERSION = "1999-01-01"
_LATER = tuple(one for one in PUBLISHED_REVISIONS if one in LEGACY_REVISIONS)


@clause_probe("lifecycle.latest-version-offered", beside=True)
async def latest_version_offered(peer: LegacyPeer) -> Observation:
    """A server offers an older version than it speaks when it does not know the one proposed.

    Why: the client, which may know the later one too, is kept from what is new in it.

    Fix: answer a version that you do not know with the latest one that you do.
    """
    offered, answer = await _negotiated(peer, _NO_VERSION)
    if offered is None:
        return inconclusive(f"initialize with {_NO_VERSION} got {answer.shown}")
    if offered not in _LATER:
        return inconclusive(f"the server offers {offered}, which is no published version")
    later = _LATER[_LATER.index(offered) + 1 :]
    return merged([held(), *[await _is_unknown(peer, one, answer) for one in later]])


async def _is_unknown(peer: LegacyPeer, version: str, offer: Reply) -> Observation:
    """Whether a server that has offered another version does not speak this later one."""
    offered = offer.fields.get("protocolVersion")
    agreed, answer = await _negotiated(peer, version)
    if agreed != version:
        return held()
    return broke(
        "an older version is offered than the server speaks",
        seen=f"{offered} for a version that it does not know, though it speaks {version}",
        expected=version,
        evidence=shown_together(offer, answer),
    )


async def _negotiated(peer: LegacyPeer, version: str) -> tuple[str | None, Reply]:
    async with peer.client(replace(BARE_CLIENT, proposed=version)) as session:
        return session.version, session.initialization


@clause_probe("lifecycle.cancelled-when-given-up", needs=("tools",), impact="calls", beside=True)
async def cancelled_when_given_up(peer: LegacyPeer) -> Observation:
    """A server gives up waiting for an answer of the client without cancelling its request.

    Why: the client goes on asking its user, and sends an answer that nobody waits for.

    Fix: send `notifications/cancelled` with the id of the request when you stop waiting.
    """
    asking = next(iter(await asking_calls(peer)), None)
    if asking is None:
        return not_observed(NOTHING_ASKED)
    is_named = asking.call.name in peer.named
    seconds = patience_s(peer, asking.call) if is_named else peer.patience_s(_GLANCE_S)
    async with peer.client(SILENT_CLIENT) as session:
        reply = await session.attempt("tools/call", asking.call.params, timeout_s=seconds)
    questions = {key: one["method"] for key, one in questions_of(reply).items() if "method" in one}
    if not questions:
        return not_observed(f"{asking.call.name} asked nothing of a client without an answer")
    return _given_up(reply, questions, seconds)


def _given_up(reply: Reply, questions: dict[str, str], seconds: float) -> Observation:
    """Judged by what the server did with the request of its own that was never answered."""
    cancelled = cancelled_ids(reply)
    left = [method for key, method in questions.items() if key not in cancelled]
    if not left:
        return held(len(questions))
    if reply.response_event is None:
        return not_observed(
            f"{left[0]} was not given up within {seconds:g} s; for the tool that is named with "
            "--call-tool more time is taken"
        )
    if waited_s(reply) < _WAITED_S:
        return not_observed(f"the tool did not wait for the answer to {left[0]}")
    return broke(
        "a request to the client is given up without being cancelled",
        seen=f"{reply.shown}, while {left[0]} was neither answered nor cancelled",
        expected="notifications/cancelled with the id of that request",
        evidence=reply,
    )


_LISTS = {"tools": "tools/list", "prompts": "prompts/list", "resources": "resources/list"}


@clause_probe("lifecycle.undeclared-feature")
async def undeclared_feature(peer: LegacyPeer) -> Observation:
    """A server has a feature whose capability it does not declare.

    Why: clients use only what is declared, so the feature is lost on them.

    Fix: declare in the initialize result what you serve, and refuse the rest with -32601.
    """
    rule = "lifecycle.undeclared-feature"
    async with peer.session() as session:
        for capability, method in _LISTS.items():
            if not peer.offers(capability):
                await session.attempt(method, rule=rule)
        if not peer.offers("completions"):
            await session.attempt("completion/complete", _completion(peer), rule=rule)
    return left_to_the_recording()


def _completion(peer: LegacyPeer) -> dict[str, Any]:
    """What a server that completes arguments should complete."""
    listed = completable_argument(peer.listed("prompts/list"))
    prompt, argument = listed or (UNKNOWN_NAME, UNKNOWN_NAME)
    reference = {"type": "ref/prompt", "name": prompt}
    return {"ref": reference, "argument": {"name": argument, "value": ""}}
