"""Our rules about lists (CW-TOL-002, CW-PRM-002, CW-RSC-002, CW-CAC-001)."""

from __future__ import annotations

from clausewise.probe.acquaintance import LIST_MEMBERS, Pages
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_observed,
)
from clausewise.probe.registration import Turn, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.repeated_lists import does_not_vary
from clausewise.probe.wording import named
from clausewise.wire.codes import ErrorCode

_CAPABILITIES = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
}


@probe("CW-TOL-002", needs=("tools",))
async def declared_tools_are_listed(peer: Peer) -> Observation:
    """The server declares tools and does not answer `tools/list` with a list.

    Why: a client that is promised tools gets none.

    Fix: answer `tools/list`, with an empty list where there is nothing to show.
    """
    return await _is_listed(peer, "tools/list")


@probe("CW-PRM-002", needs=("prompts",), turn=Turn.ALONE, beside=True)
async def declared_prompts_are_listed_alike(peer: Peer) -> Observation:
    """The server declares prompts and does not list them, or not alike on every connection.

    Why: requests of one client may travel over any connection; a prompt that is there on one
    and not on another cannot be relied on.

    Fix: answer `prompts/list` from the credentials alone, with an empty list where there is
    nothing to show.
    """
    return await _is_listed_alike(peer, "prompts/list")


@probe("CW-RSC-002", needs=("resources",), turn=Turn.ALONE, beside=True)
async def declared_resources_are_listed_alike(peer: Peer) -> Observation:
    """The server declares resources and does not list them, or not alike on every connection.

    Why: requests of one client may travel over any connection; a resource that is there on
    one and not on another cannot be relied on.

    Fix: answer `resources/list` from the credentials alone, with an empty list where there
    is nothing to show.
    """
    return await _is_listed_alike(peer, "resources/list")


async def _is_listed_alike(peer: Peer, method: str) -> Observation:
    listed = await _is_listed(peer, method)
    return listed if listed.faults else merged([listed, await does_not_vary(peer, method)])


async def _is_listed(peer: Peer, method: str) -> Observation:
    """Judge the first page; a refusal counts only where discovery comes first."""
    reply = (await peer.pages(method)).replies[0]
    if reply.error is not None and not reply.blocked:
        async with peer.fresh() as link:
            await peer.request("server/discover", link=link)
            reply = await peer.request(method, link=link)
    if reply.message is None or reply.blocked is not None:
        return inconclusive(reply.blocked or f"{method} got {reply.shown}")
    if reply.code in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.HEADER_MISMATCH):
        return inconclusive(f"{method} got {reply.shown}")
    capability = _CAPABILITIES[method]
    items = reply.fields.get(LIST_MEMBERS[method])
    if isinstance(items, list):
        return held()
    if reply.error is not None:
        return _unlisted(reply, reply.shown, capability)
    if not isinstance(reply.result, dict):
        return inconclusive(f"{method} got a result that is {named(reply.result)}")
    return _unlisted(reply, f"a result without an array of {LIST_MEMBERS[method]}", capability)


def _unlisted(reply: Reply, seen: str, capability: str) -> Observation:
    return broke(
        f"{capability} are declared, and {reply.request.method} does not list them",
        seen=seen,
        expected=f"a result with an array of {capability}, which may be empty",
        evidence=reply,
    )


@probe("CW-CAC-001", needs=("tools|prompts|resources",))
async def pages_have_one_scope(peer: Peer) -> Observation:
    """The pages of a list have different values of `cacheScope`.

    Why: a client that shares what is public joins the pages to one list, and so shows to
    everybody what one page kept private.

    Fix: decide on `cacheScope` for the whole list, and put it on every page.
    """
    parts: list[tuple[str, Observation]] = []
    for method, capability in _CAPABILITIES.items():
        if peer.offers(capability):
            pages = await peer.pages(method)
            parts += [(method, seen) for seen in _scopes(pages)]
    return once_each(parts) if parts else not_observed("no list has more than one page")


def _scopes(pages: Pages) -> list[Observation]:
    """Judge each page after the first that has a scope; a missing one is MCP-CAC-002's finding."""
    told = [reply for reply in pages.replies if isinstance(reply.fields.get("cacheScope"), str)]
    return [_same_scope(told[0], reply) for reply in told[1:]]


def _same_scope(first: Reply, later: Reply) -> Observation:
    was, now = first.fields["cacheScope"], later.fields["cacheScope"]
    if was == now:
        return held()
    return broke(
        f"the pages of {later.request.method} have different cache scopes",
        seen=f"cacheScope {named(now)} after {named(was)}",
        expected=f"cacheScope {named(was)} on every page",
        evidence=later,
    )
