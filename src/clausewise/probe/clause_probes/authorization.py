"""Authorization: what a server of 2025-11-25 that demands tokens does without a good one."""

from __future__ import annotations

from dataclasses import replace

from clausewise.core.vocabulary import Outcome
from clausewise.probe.authorization.protection import (
    UNAUTHORIZED,
    challenges_in,
    locate,
    undecided_of,
)
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY
from clausewise.probe.subjects.grouping import shown_together
from clausewise.wire.authorization.challenges import bearer_of

_OPEN = "requests without a token are served: authorization is optional"
_GARBAGE = "clausewise-no-token-of-yours"


async def _without_token(peer: LegacyPeer) -> Reply:
    """The answer to a ping without a token, asked once per run."""
    return await peer.once("ping without a token", lambda: _ping_with(peer, None))


async def _with_garbage(peer: LegacyPeer) -> Reply:
    """The answer to a ping with a token that nobody has issued, asked once per run."""
    return await peer.once("ping with a garbage token", lambda: _ping_with(peer, _GARBAGE))


async def _ping_with(peer: LegacyPeer, token: str | None) -> Reply:
    target = peer.http_target
    headers = tuple(pair for pair in target.headers if pair[0].lower() != "authorization")
    if token is not None:
        headers += (("Authorization", f"Bearer {token}"),)
    async with (
        peer.session() as session,
        peer.at(replace(target, headers=headers)) as link,
    ):
        return await session.attempt("ping", link=link, rule="auth.ping-without-a-good-token")


def _outside(refusal: Reply) -> Observation | None:
    """What clauses about protection are where there is none, or nobody knows."""
    if refusal.status is None or refusal.status >= 500:
        return inconclusive(refusal.blocked or refusal.shown)
    if 200 <= refusal.status < 300:
        return not_applicable(_OPEN)
    return None


@clause_probe("auth.resource-metadata", transports=HTTP_ONLY, same_as="MCP-AUT-002")
async def resource_metadata(peer: LegacyPeer) -> Observation:
    """A server that demands tokens serves no Protected Resource Metadata.

    Why: the document names the authorization servers; without it no client knows whom to ask.

    Fix: serve a JSON object with `resource` and `authorization_servers` at the URL that the
    challenge names, or at /.well-known/oauth-protected-resource.
    """
    refusal = await _without_token(peer)
    outside = _outside(refusal)
    if outside is not None:
        return outside
    challenges = challenges_in(refusal)
    located = await locate(peer, bearer_of(challenges))
    found = next((one for one in located if one.document.value is not None), None)
    if found is None:
        undecided = undecided_of(located)
        if undecided is not None:
            return inconclusive(undecided)
        if challenges and bearer_of(challenges) is None:
            return not_applicable(f"the server asks for the scheme {challenges[0].scheme[:40]!r}")
        tried = "; ".join(f"{one.place.value}: {one.document.fault}" for one in located)
        return broke(
            "a server that demands tokens serves no Protected Resource Metadata",
            seen=tried,
            expected="a document of RFC 9728",
            evidence=shown_together(*(one.document for one in located), refusal),
        )
    resource = found.document.value.get("resource") if found.document.value else None
    if isinstance(resource, str):
        return held()
    return broke(
        "Protected Resource Metadata does not name its resource",
        seen=f"resource {resource!r} at {found.place.value}",
        expected="the URL of the server",
        evidence=refusal,
    )


@clause_probe("auth.garbage-token-refused", transports=HTTP_ONLY)
async def garbage_token_refused(peer: LegacyPeer) -> Observation:
    """A token that nobody has issued does not get HTTP 401.

    Why: 401 is what makes a client get a new token; and where it is served, anybody may come in.

    Fix: validate each token before anything else, and answer 401 to one that is not valid.
    """
    outside = _outside(await _without_token(peer))
    if outside is not None:
        return outside
    reply = await _with_garbage(peer)
    if reply.status == UNAUTHORIZED:
        return held()
    if reply.status is None or reply.status == 429 or reply.status >= 500:
        return inconclusive(reply.blocked or reply.shown)
    return broke(
        "a token that nobody has issued does not get HTTP 401",
        seen=reply.shown,
        expected="HTTP 401",
        evidence=reply,
    )


@clause_probe("auth.garbage-token-challenged", transports=HTTP_ONLY)
async def garbage_token_challenged(peer: LegacyPeer) -> Observation:
    """The refusal of a bad token has no Bearer challenge, or does not say what is wrong.

    Why: by `error="invalid_token"` a client tells a stale token from a missing one.

    Fix: answer 401 with `WWW-Authenticate: Bearer error="invalid_token"` beside the other
    parameters (OAuth 2.1 section 5.3).
    """
    outside = _outside(await _without_token(peer))
    if outside is not None:
        return outside
    reply = await _with_garbage(peer)
    if reply.status != UNAUTHORIZED:
        return not_observed("a bad token does not get HTTP 401: AUTH-045 tells")
    bearer = bearer_of(challenges_in(reply))
    if bearer is None:
        return broke(
            "the refusal of a bad token has no Bearer challenge",
            seen=f"WWW-Authenticate: {reply.header('www-authenticate') or 'none'}",
            expected="WWW-Authenticate: Bearer …",
            evidence=reply,
        )
    error = bearer.parameters.get("error")
    if error == "invalid_token":
        return held()
    return broke(
        "the refusal of a bad token does not say invalid_token",
        seen=f"error {error!r}",
        expected='error="invalid_token"',
        severity=Outcome.WARN,
        evidence=reply,
    )
