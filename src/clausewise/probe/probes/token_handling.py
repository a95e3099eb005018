"""Probes of rule group AUT about tokens that are valid and yet must not be enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.probe.authorization.protection import (
    FORBIDDEN,
    UNAUTHORIZED,
    Stance,
    challenges_in,
    protection,
)
from clausewise.probe.conversation.link import Link
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Evidence,
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.grouping import Sighting
from clausewise.probe.supplied import Supply
from clausewise.probe.wording import named
from clausewise.wire.authorization.challenges import Challenge, bearer_of

INSUFFICIENT_SCOPE = "insufficient_scope"
_NO_TOKEN = "not-a-token"
_MAX_CALLS = 5
_LISTS = (
    ("tools", "tools/list"),
    ("resources", "resources/list"),
    ("prompts", "prompts/list"),
)
_LOW_SCOPE_RULE, _AUDIENCE_RULE = "MCP-AUT-007", "MCP-AUT-008"


@dataclass(frozen=True, slots=True)
class _Operation:
    """A request that may be sent: it reads, or calls a tool that may be called."""

    method: str
    params: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        name = (self.params or {}).get("name")
        return self.method if name is None else f"{self.method} of {name}"


@probe(
    _LOW_SCOPE_RULE,
    transports=HTTP_ONLY,
    impact="calls",
    outside=True,
    supply=Supply.LOW_SCOPE_TOKEN,
)
async def too_little_scope_is_told(peer: Peer) -> Observation:
    """A valid token with too little scope is not refused as such.

    Why: only 403 with `insufficient_scope` and the scopes needed lets a client ask the user
    for more; any other answer looks like a broken token or a broken request.

    Fix: answer 403 with `WWW-Authenticate: Bearer error="insufficient_scope", scope="…",
    resource_metadata="…"`.
    """
    token = peer.supplied.low_scope_token
    assert token is not None
    seen = await protection(peer)
    if seen.stance is not Stance.OAUTH:
        return seen.outside or not_observed(seen.reason)
    answers = await _with_low_scope(peer, token)
    is_valid = any(_shows_validity(reply) for _, reply in answers)
    if not is_valid and any(reply.status == UNAUTHORIZED for _, reply in answers):
        return inconclusive("the token with too little scope is refused as invalid")
    parts = [await _judged_scope(peer, operation, reply) for operation, reply in answers]
    found = [part for part in parts if part is not None]
    if found:
        return merged(found)
    if not peer.authorized:
        return not_observed("only with a better token (--bearer) is it known what to try")
    return not_observed(
        "nothing that may be tried needs more scope; --call-tool names a tool that does"
    )


async def _with_low_scope(peer: Peer, token: str) -> list[tuple[_Operation, Reply]]:
    operations = [_Operation("server/discover")]
    operations += [_Operation(method) for capability, method in _LISTS if peer.offers(capability)]
    calls = (await peer.callable_tools())[:_MAX_CALLS]
    operations += [_Operation("tools/call", call.params) for call in calls]
    answers: list[tuple[_Operation, Reply]] = []
    for operation in operations:
        async with peer.bearing(token) as link:
            reply = await _send(peer, operation, link, _LOW_SCOPE_RULE)
        answers.append((operation, reply))
    return answers


async def _send(peer: Peer, operation: _Operation, link: Link, rule: str) -> Reply:
    return await peer.request(operation.method, operation.params, link=link, rule=rule)


def _shows_validity(reply: Reply) -> bool:
    """Whether an answer is one that only a valid token gets."""
    return reply.succeeded or _insufficient(reply) is not None


def _insufficient(reply: Reply) -> Challenge | None:
    bearer = bearer_of(challenges_in(reply))
    is_it = reply.status == FORBIDDEN and bearer is not None and bearer.error == INSUFFICIENT_SCOPE
    return bearer if is_it else None


async def _judged_scope(peer: Peer, operation: _Operation, reply: Reply) -> Observation | None:
    """What the answer to the low-scope token says; None when the token was enough."""
    if reply.succeeded and not reply.fields.get("isError"):
        return None
    challenge = _insufficient(reply)
    if challenge is not None:
        return _names_what_is_needed(operation, reply, challenge)
    if reply.status in (UNAUTHORIZED, FORBIDDEN):
        return _misses(operation, reply)
    if reply.blocked:
        return inconclusive(f"{operation}: {reply.blocked}")
    if not peer.authorized:
        return None
    # Something else is amiss unless a better token gets a result.
    better = await peer.request(operation.method, operation.params)
    if not better.succeeded or better.fields.get("isError"):
        return None
    if reply.error is not None and operation.method == "tools/call":
        return inconclusive(f"{operation}: {reply.shown}: the tool may be hidden from this token")
    return _misses(operation, reply)


def _names_what_is_needed(operation: _Operation, reply: Reply, challenge: Challenge) -> Observation:
    if challenge.names_scopes:
        lacks = "resource_metadata" not in challenge.parameters
        return held(note=f"{operation}: the 403 has no resource_metadata" if lacks else None)
    scope = challenge.parameters.get("scope")
    return broke(
        f"the refusal of {operation} does not say which scopes are needed",
        seen="no scope parameter" if scope is None else f"scope {named(scope)}",
        expected='scope="…" with the scopes that the operation needs',
        evidence=_shown_with(reply, "LOW_SCOPE_TOKEN"),
    )


def _misses(operation: _Operation, reply: Reply) -> Observation:
    bearer = bearer_of(challenges_in(reply))
    error = bearer.error if bearer is not None else None
    said = f'error="{error}"' if error else "no insufficient_scope"
    return broke(
        f"{operation} with too little scope is not refused as such",
        seen=f"{reply.shown}, {said}",
        expected=f'HTTP 403 with a Bearer challenge, error="{INSUFFICIENT_SCOPE}" and scope',
        evidence=_shown_with(reply, "LOW_SCOPE_TOKEN"),
    )


@probe(
    _AUDIENCE_RULE,
    transports=HTTP_ONLY,
    impact="calls",
    outside=True,
    supply=Supply.FOREIGN_TOKEN,
)
async def foreign_audience_is_refused(peer: Peer) -> Observation:
    """A token that was issued for another resource is accepted.

    Why: whoever runs another service could use the tokens that it receives to act as its
    users here.

    Fix: accept a token only if its audience names this server; answer any other with 401
    and `error="invalid_token"`.
    """
    token = peer.supplied.foreign_token
    assert token is not None
    seen = await protection(peer)
    if seen.stance is not Stance.OAUTH or seen.refusal is None:
        return seen.outside or not_observed(seen.reason)
    protected = _Operation(seen.refusal.request.method or "", _plain(seen.refusal))
    async with peer.bearing(_NO_TOKEN) as link:
        control = await _send(peer, protected, link, _AUDIENCE_RULE)
    if control.status != UNAUTHORIZED:
        return inconclusive(f"even a text that is no token gets {control.shown}, not HTTP 401")
    async with peer.bearing(token) as link:
        reply = await _send(peer, protected, link, _AUDIENCE_RULE)
    return _judged_audience(protected, reply)


def _plain(reply: Reply) -> Mapping[str, Any] | None:
    """The parameters of a request without `_meta`, or None when there are no others."""
    params = {k: v for k, v in (reply.request.params or {}).items() if k != "_meta"}
    return params or None


def _judged_audience(operation: _Operation, reply: Reply) -> Observation:
    evidence = _shown_with(reply, "FOREIGN_TOKEN")
    if reply.status == UNAUTHORIZED:
        return held()
    if reply.status == FORBIDDEN:
        return broke(
            "a token for another resource is refused as if it were valid",
            seen=reply.shown,
            expected='HTTP 401 with error="invalid_token"',
            severity=Outcome.WARN,
            evidence=evidence,
        )
    if reply.blocked:
        return inconclusive(reply.blocked)
    return broke(
        f"a token for another resource is accepted for {operation}",
        seen=reply.shown,
        expected='HTTP 401 with error="invalid_token"',
        evidence=evidence,
    )


def _shown_with(reply: Reply, variable: str) -> Evidence:
    """The reply as evidence, its command with the variable that holds this token."""
    return Sighting(reply.seq, reply.reproduce.replace("Bearer $TOKEN", f"Bearer ${variable}"))
