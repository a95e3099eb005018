"""The rule about the names of tools and prompts (SCH-007)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
)
from clausewise.probe.registration import probe
from clausewise.probe.subjects.listed import Listed, entries
from clausewise.wire import sentinel

MAX_LENGTH = 128
MAX_SHOWN = 5

_FOREIGN = re.compile(r"[^A-Za-z0-9_.-]")


@probe("MCP-SCH-007", needs=("tools|prompts",))
async def names_are_header_safe(peer: Peer) -> Observation:
    """A tool's name is too long, taken twice or has unusual characters; a prompt's needs encoding.

    Why: names travel in headers and through model providers that allow few characters; a
    tool with another name cannot be offered everywhere, and one of two of a name is lost.

    Fix: name tools with 1 to 128 of the letters A-Z and a-z, digits, `_`, `-` and `.`, each
    name once; name prompts in visible ASCII. Names of resources are free: headers carry
    their URIs.
    """
    parts: list[Observation] = []
    for capability, judge in (("tools", _tool_names), ("prompts", _prompt_names)):
        if peer.offers(capability):
            pages = await peer.pages(f"{capability}/list")
            parts += judge([one for one in entries(pages) if _name(one) is not None])
            if pages.blocked is not None:
                parts.append(inconclusive(pages.blocked))
    return merged(parts) if parts else not_applicable("no tool or prompt is listed")


def _name(listed: Listed) -> str | None:
    """The name, or None when there is none, which is no matter of this rule."""
    name = listed.definition.get("name")
    return name if isinstance(name, str) else None


def _tool_names(tools: Sequence[Listed]) -> Iterator[Observation]:
    times = Counter(map(_name, tools))
    kinds = (
        ("have characters other than A-Z, a-z, 0-9, _, - and .", _is_foreign),
        ("are not 1 to 128 characters long", _is_too_long_or_empty),
        ("stand for several tools", lambda name: times[name] > 1),
    )
    departing = [
        (what, [one for one in tools if departs(str(_name(one)))]) for what, departs in kinds
    ]
    yield from (_departure("tool", what, found) for what, found in departing if found)
    if tools and not any(found for _, found in departing):
        yield held(len(tools))


def _is_foreign(name: str) -> bool:
    return _FOREIGN.search(name) is not None


def _is_too_long_or_empty(name: str) -> bool:
    return not 1 <= len(name) <= MAX_LENGTH


def _prompt_names(prompts: Sequence[Listed]) -> Iterator[Observation]:
    found = [one for one in prompts if sentinel.needs_encoding(str(_name(one)))]
    if found:
        yield _departure("prompt", "cannot stand in a header as they are", found)
    elif prompts:
        yield held(len(prompts))


def _departure(kind: str, what: str, found: Sequence[Listed]) -> Observation:
    shown = list(dict.fromkeys(one.shown for one in found))
    more = f" and {len(shown) - MAX_SHOWN} more" if len(shown) > MAX_SHOWN else ""
    return broke(
        f"names of {kind}s {what}",
        seen=", ".join(shown[:MAX_SHOWN]) + more,
        expected=_EXPECTED[kind],
        evidence=found[0].reply,
    )


_EXPECTED = {
    "tool": f"1 to {MAX_LENGTH} of A-Z, a-z, 0-9, _, - and ., each name once",
    "prompt": "visible ASCII without spaces around it",
}
