"""Walk a conforming legacy session, so that the judge has occasions of 2025-11-25."""

from __future__ import annotations

import time
from collections.abc import Mapping

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.acquaintance import ask_pages
from clausewise.probe.conversation.legacy import LegacySession, legacy_session
from clausewise.probe.conversation.legacy_peer import Called, LegacyAcquaintance
from clausewise.probe.conversation.link import Links
from clausewise.probe.offered import (
    TOOL_S,
    Items,
    completable_argument,
    gettable_prompt,
    harmless_calls,
    readable_uri,
)

UNKNOWN_METHOD = "clausewise/unknown-method"
UNKNOWN_NAME = "clausewise_unknown"
UNKNOWN_URI = "clausewise-nonexistent://resource"

_MAX_TOOL_CALLS = 10
_LISTS: Mapping[str, tuple[str, ...]] = {
    "tools": ("tools/list",),
    "prompts": ("prompts/list",),
    "resources": ("resources/list", "resources/templates/list"),
}
"""The list methods by capability."""

ListedItems = Mapping[str, Items]
"""What was listed, by list method."""


async def walk(session: LegacySession, links: Links, known: LegacyAcquaintance) -> None:
    """Ask in an open legacy session for everything that changes nothing.

    Lists (all pages), one resource, one prompt, one completion, tools that say they are
    read-only or that the user named, a ping; and a method, tool, prompt and resource that
    do not exist. Whatever comes back is the judge's to judge; `known` learns what was listed
    and called, and when it has. Over HTTP the stream of the server's own messages is open for
    a while meanwhile. A session of an earlier revision than 2025-11-25 is left alone, for none of
    its clauses is judged.

    Raises:
        TargetError: a connection cannot be opened any more.
    """
    try:
        if session.version == Revision.LEGACY.value:
            known.capabilities = session.capabilities
            await session.request("ping")
            await _ask_beside_a_stream(session, links, known)
    finally:
        known.listed.set()
        known.called.set()


async def _ask_beside_a_stream(
    session: LegacySession, links: Links, known: LegacyAcquaintance
) -> None:
    failure: TargetError | None = None
    async with anyio.create_task_group() as group:
        if links.transport is TransportKind.HTTP:
            group.start_soon(session.listen, links.limits.quiet_s)
        try:
            await _ask(session, links, known)
        except TargetError as error:  # The group would wrap it.
            failure = error
    if failure is not None:
        raise failure


async def _ask(session: LegacySession, links: Links, known: LegacyAcquaintance) -> None:
    items = known.items
    await _list_everything(session, items)
    known.listed.set()
    await _call_tools(session, links, known)
    known.called.set()
    await _read_a_resource(session, items)
    await _get_a_prompt(session, items)
    await _complete_an_argument(session, items)
    await session.request(UNKNOWN_METHOD)
    if links.transport is TransportKind.HTTP:
        await _initialize_again(links)


async def _initialize_again(links: Links) -> None:
    """One more session, in which only the answer to `initialize` counts: is it steady?"""
    async with legacy_session(links, "legacy-again"):
        return


async def _list_everything(session: LegacySession, items: dict[str, Items]) -> None:
    for capability, methods in _LISTS.items():
        if capability not in session.capabilities:
            continue
        for method in methods:
            items[method] = (await ask_pages(method, session.request)).items


async def _read_a_resource(session: LegacySession, items: ListedItems) -> None:
    uri = readable_uri(items.get("resources/list", ()))
    if uri is not None:
        await session.request("resources/read", {"uri": uri})
    if "resources" in session.capabilities:
        await session.request("resources/read", {"uri": UNKNOWN_URI})


async def _get_a_prompt(session: LegacySession, items: ListedItems) -> None:
    name = gettable_prompt(items.get("prompts/list", ()))
    if name is not None:
        await session.request("prompts/get", {"name": name})
    if "prompts" in session.capabilities:
        await session.request("prompts/get", {"name": UNKNOWN_NAME})


async def _complete_an_argument(session: LegacySession, items: ListedItems) -> None:
    found = completable_argument(items.get("prompts/list", ()))
    if found is None or "completions" not in session.capabilities:
        return
    reference = {"type": "ref/prompt", "name": found[0]}
    argument = {"name": found[1], "value": ""}
    await session.request("completion/complete", {"ref": reference, "argument": argument})


async def _call_tools(session: LegacySession, links: Links, known: LegacyAcquaintance) -> None:
    if "tools" not in session.capabilities:
        return
    tools = known.items.get("tools/list", ())
    for call in harmless_calls(tools, known.named)[:_MAX_TOOL_CALLS]:
        token = {"progressToken": f"clausewise-{call.name}"}
        params = {**call.params, "_meta": token}
        patience = min(links.tempo.patience_s(TOOL_S), links.limits.answer_s)
        began = time.monotonic()
        reply = await session.request("tools/call", params, timeout_s=patience)
        known.calls.append(Called(call, reply, time.monotonic() - began, links.tempo.usual_s))
    await session.request("tools/call", {"name": UNKNOWN_NAME, "arguments": {}})
