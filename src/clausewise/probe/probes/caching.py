"""Rules about caching hints (CAC-001 to CAC-005)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.probe.acquaintance import ask_pages
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.grouping import once_each, shown_together
from clausewise.probe.wording import named
from clausewise.wire.codes import ErrorCode

LISTS = (
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/list"),
    ("resources", "resources/templates/list"),
)
"""The cacheable list operations, with the capability that offers each."""

MAX_READS = 3
"""How many resources are tried for one that can be read."""

Judged = tuple[Hashable, Observation]
"""The method of a result, and what came of it."""


@probe("MCP-CAC-001", impact="reads")
async def ttl_is_present(peer: Peer) -> Observation:
    """A cacheable result has no `ttlMs`.

    Why: without it clients take the result as stale at once and fetch it again each time,
    and strict ones drop it.

    Fix: put `ttlMs` into every complete result of `server/discover`, `tools/list`,
    `prompts/list`, `resources/list`, `resources/templates/list` and `resources/read`,
    on every page; 0 says "do not keep".
    """
    return once_each(await _judged(peer, lambda reply: _present(reply, "ttlMs")))


@probe("MCP-CAC-002", impact="reads")
async def scope_is_present(peer: Peer) -> Observation:
    """A cacheable result has no `cacheScope`.

    Why: a shared cache cannot tell whether the result may be given to another user.

    Fix: put `cacheScope` into every complete result of `server/discover`, `tools/list`,
    `prompts/list`, `resources/list`, `resources/templates/list` and `resources/read`,
    on every page; `private` is the safe value.
    """
    return once_each(await _judged(peer, lambda reply: _present(reply, "cacheScope")))


@probe("MCP-CAC-003", impact="reads")
async def scope_is_known(peer: Peer) -> Observation:
    """A `cacheScope` is neither `public` nor `private`.

    Why: a cache that does not know the value may share what is private.

    Fix: write exactly `public` or `private`, in lower case.
    """
    return _where_present(await _judged(peer, _known_scope), "cacheScope")


@probe("MCP-CAC-004", impact="reads")
async def ttl_is_a_whole_number(peer: Peer) -> Observation:
    """A `ttlMs` is no integer of 0 or more.

    Why: clients compute an expiry time from it; text, fractions and negative values give
    none, or one in the past.

    Fix: send whole milliseconds as a JSON number, 0 or more.
    """
    return _where_present(await _judged(peer, _whole_ttl), "ttlMs")


async def _judged(peer: Peer, judge: Callable[[Reply], Observation]) -> list[Judged]:
    """Judge the results of all six cacheable operations, every page of them."""
    replies = [await peer.discover()]
    for capability, method in LISTS:
        if peer.offers(capability):
            replies += (await peer.pages(method)).replies
    parts: list[Judged] = []
    parts += [(reply.request.method, _if_complete(reply, judge)) for reply in replies]
    if peer.offers("resources"):
        parts.append(("resources/read", await _reading(peer, judge)))
    return parts


def _if_complete(reply: Reply, judge: Callable[[Reply], Observation]) -> Observation:
    """Judge a complete result; one that asks for input carries no hints."""
    method = reply.request.method
    if reply.code == ErrorCode.METHOD_NOT_FOUND:
        return not_applicable(f"{method} is not offered")
    if not isinstance(reply.result, dict):
        return inconclusive(reply.blocked or f"{method} got {reply.shown}")
    if reply.fields.get("resultType") == "input_required":
        return inconclusive(f"{method} asks for input")
    return judge(reply)


async def _reading(peer: Peer, judge: Callable[[Reply], Observation]) -> Observation:
    tried = not_observed("no resource is listed that could be read")
    for resource in (await peer.pages("resources/list")).items[:MAX_READS]:
        if not isinstance(resource.get("uri"), str):
            continue
        tried = _if_complete(await peer.request("resources/read", {"uri": resource["uri"]}), judge)
        if tried.outcome is not Outcome.INCONCLUSIVE:
            return tried
    return tried


def _present(reply: Reply, member: str) -> Observation:
    if member in reply.fields:
        return held()
    return broke(
        f"the result of {reply.request.method} has no {member}",
        seen=f"result members: {', '.join(sorted(reply.fields))}"[:120],
        expected=f"{member} in the result",
        evidence=reply,
    )


def _known_scope(reply: Reply) -> Observation:
    scope = reply.fields.get("cacheScope", "public")
    if "cacheScope" not in reply.fields:
        return not_applicable("the result has no cacheScope")
    if scope in ("public", "private"):
        return held()
    return broke(
        f"the cacheScope of {reply.request.method} is no value the schema knows",
        seen=f"cacheScope {named(scope)}",
        expected='exactly "public" or "private"',
        evidence=reply,
    )


def _whole_ttl(reply: Reply) -> Observation:
    if "ttlMs" not in reply.fields:
        return not_applicable("the result has no ttlMs")
    ttl = reply.fields["ttlMs"]
    wrong = _ttl_fault(ttl)
    if wrong is None:
        return held()
    return broke(
        f"the ttlMs of {reply.request.method} is {wrong}",
        seen=f"ttlMs {named(ttl)}",
        expected="an integer of milliseconds, 0 or more",
        evidence=reply,
    )


def _ttl_fault(ttl: Any) -> str | None:
    """What is wrong with the value; 1e3 and 300000.0 are integers as JSON Schema counts them."""
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)):
        return "no number"
    if ttl < 0:
        return "negative"
    whole = isinstance(ttl, int) or math.isinf(ttl) or ttl.is_integer()
    return None if whole else "a fraction where an integer is due"


def _where_present(parts: list[Judged], member: str) -> Observation:
    """Results that could not be had are no occasions for a rule about a member's value."""
    decided = [pair for pair in parts if pair[1].outcome is not Outcome.INCONCLUSIVE]
    observation = once_each(decided)
    if observation.outcome.is_judgement:
        return observation
    if len(decided) < len(parts):
        return once_each(parts)
    return not_applicable(f"no cacheable result has a {member}")


@probe("MCP-CAC-005", transports=HTTP_ONLY, impact="reads")
async def personal_result_is_private(peer: Peer) -> Observation:
    """A result that depends on who asks is marked `cacheScope: public`.

    Why: a shared cache may then give one user's result to another.

    Fix: mark a result `private` as soon as it depends on the caller's authorization;
    keep `public` for what everybody gets.
    """
    if not peer.authorized:
        return not_applicable("no Authorization header was given: nobody to tell apart")
    methods = [method for capability, method in LISTS if peer.offers(capability)]
    judged = [_compared(method, await _asked_in_turn(peer, method)) for method in methods]
    uri = await peer.readable_uri()
    if uri is not None:
        reads = await _asked_in_turn(peer, "resources/read", {"uri": uri})
        judged.append(_compared("resources/read", reads))
    return merged(judged)


Answers = tuple[Reply, ...]
"""All pages of a list, or the one answer to another request."""


async def _asked_in_turn(
    peer: Peer, method: str, params: Mapping[str, Any] | None = None
) -> tuple[Answers, ...]:
    """Ask with, twice without, and again with credentials: a difference must not come from time."""

    async def anonymously(method: str, params: Mapping[str, Any] | None) -> Reply:
        async with peer.anonymous() as link:
            return await peer.request(method, params, link=link)

    answers: list[Answers] = []
    for ask in (peer.request, anonymously, anonymously, peer.request):
        if params is None:
            answers.append((await ask_pages(method, ask)).replies)
        else:
            answers.append((await ask(method, params),))
    return tuple(answers)


def _compared(method: str, answers: tuple[Answers, ...]) -> Observation:
    for reply in (reply for replies in answers for reply in replies):
        if not isinstance(reply.result, dict):
            return _only_principal(reply)
    known, anonymous, anonymous_again, known_again = map(_content, answers)
    if known != known_again or anonymous != anonymous_again:
        return inconclusive(f"{method} gives the same caller another result each time")
    if known == anonymous:
        return not_observed(f"{method} gives everybody the same")
    to_all = answers[0] + answers[1]
    if all(reply.fields.get("cacheScope") != "public" for reply in to_all):
        return held()
    return broke(
        f"the result of {method} depends on the caller and is marked public",
        seen='another result without the credentials, and cacheScope "public"',
        expected='cacheScope "private" where the result depends on who asks',
        evidence=shown_together(*to_all),
    )


def _only_principal(reply: Reply) -> Observation:
    method = reply.request.method
    if reply.status in (401, 403):
        return not_applicable(f"{method} is served to one principal only (HTTP {reply.status})")
    return inconclusive(reply.blocked or f"{method} got {reply.shown}")


def _content(replies: Answers) -> list[dict[str, Any]]:
    """The results without their metadata, caching hints and cursors."""
    apart = ("_meta", "ttlMs", "cacheScope", "nextCursor")
    return [{k: v for k, v in reply.fields.items() if k not in apart} for reply in replies]
