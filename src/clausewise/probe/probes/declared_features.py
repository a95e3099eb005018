"""Our rules about declaring what is offered (CW-TOL-001, CW-PRM-001, CW-RSC-001, CW-CMP-001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.probe.acquaintance import LIST_MEMBERS
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.offered import completable_argument
from clausewise.probe.registration import probe
from clausewise.probe.subjects.grouping import shown_together
from clausewise.probe.wording import named


@probe("CW-TOL-001")
async def tools_are_declared(peer: Peer) -> Observation:
    """The server lists tools and does not declare the capability `tools`.

    Why: clients ask for what is declared; tools that are not are never found.

    Fix: declare `tools` in the capabilities of `server/discover`.
    """
    return await _list_is_declared(peer, "tools", "tools/list")


@probe("CW-PRM-001")
async def prompts_are_declared(peer: Peer) -> Observation:
    """The server lists prompts and does not declare the capability `prompts`.

    Why: clients ask for what is declared; prompts that are not are never found.

    Fix: declare `prompts` in the capabilities of `server/discover`.
    """
    return await _list_is_declared(peer, "prompts", "prompts/list")


@probe("CW-RSC-001")
async def resources_are_declared(peer: Peer) -> Observation:
    """The server lists resources and does not declare the capability `resources`.

    Why: clients ask for what is declared; resources that are not are never found.

    Fix: declare `resources` in the capabilities of `server/discover`.
    """
    return await _list_is_declared(peer, "resources", "resources/list")


async def _list_is_declared(peer: Peer, capability: str, method: str) -> Observation:
    undeclared = await _declaration(peer, capability)
    if undeclared is not None:
        return undeclared
    reply = await peer.request(method)
    if not reply.succeeded:
        return _unserved(reply, capability)
    items = reply.fields.get(LIST_MEMBERS[method])
    count = len(items) if isinstance(items, list) else 0
    return broke(
        f"{method} is served and the capability {capability} is not declared",
        seen=f"{count} {capability}, no capability {capability}",
        expected=f"capabilities.{capability}, or error -32601",
        severity=None if count else Outcome.WARN,
        evidence=shown_together(await peer.discover(), reply),
    )


async def _declaration(peer: Peer, capability: str) -> Observation | None:
    """What is said where the capability is declared, or nothing is known; else None."""
    discovery = await peer.discover()
    if not isinstance(discovery.fields.get("capabilities"), dict):
        return not_observed(discovery.blocked or "server/discover names no capabilities")
    return held() if peer.offers(capability) else None


def _unserved(reply: Reply, capability: str) -> Observation:
    if reply.error is None:
        return inconclusive(reply.blocked or f"{reply.request.method} got {reply.shown}")
    return not_applicable(f"the server has no {capability} and declares none")


@probe("CW-CMP-001")
async def completions_are_declared(peer: Peer) -> Observation:
    """The server completes arguments and does not declare the capability `completions`.

    Why: clients ask for completions where they are declared, and nowhere else.

    Fix: declare `completions` in the capabilities of `server/discover`.
    """
    undeclared = await _declaration(peer, "completions")
    if undeclared is not None:
        return undeclared
    params = await _completable(peer)
    if params is None:
        return not_observed("there is no prompt argument or template to complete")
    reply = await peer.request("completion/complete", params)
    if not reply.succeeded:
        return _unserved(reply, "completions")
    completion = reply.fields.get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    return broke(
        "completion/complete is served and the capability completions is not declared",
        seen=f"values {named(values)}, no capability completions",
        expected="capabilities.completions, or error -32601",
        severity=None if values else Outcome.WARN,
        evidence=shown_together(await peer.discover(), reply),
    )


async def _completable(peer: Peer) -> Mapping[str, Any] | None:
    if not peer.offers("prompts"):
        return None
    found = completable_argument((await peer.pages("prompts/list")).items)
    if found is None:
        return None
    prompt, argument = found
    reference = {"type": "ref/prompt", "name": prompt}
    return {"ref": reference, "argument": {"name": argument, "value": ""}}
