"""The messages of a sampling request: content blocks, and how tool uses and results belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.schema_documents import digest
from clausewise.judge.wording import shown
from clausewise.wire.jsonrpc import IdKey, id_key

CREATE_MESSAGE = "sampling/createMessage"
TOOL_USE = "tool_use"
TOOL_RESULT = "tool_result"

MAX_NAMED = 3
"""Ids that a finding names of those without a partner."""

_SURPLUS = "a result too many for"

_Object = dict[str, Any]


class Judged(Struct, frozen=True, eq=False):
    """One place in a message list where a rule about tools applies.

    Attributes:
        place: the messages that stand there.
        fault: what is wrong there, or None.
        mixed: the fault is only that results share a message with other content.
        surplus: the fault is only that there are results which no tool use asked for.
    """

    place: Any
    fault: str | None
    mixed: bool = False
    surplus: bool = False

    @property
    def key(self) -> bytes:
        """Equal for equal places, since every further request repeats the history."""
        return digest(self.place)


def blocks(content: Any) -> list[_Object]:
    """The content blocks of a message or a result, which has one or an array of them."""
    return [content] if isinstance(content, dict) else list(objects(content))


def of_type(content: Any, kind: str) -> list[_Object]:
    """The blocks of one type."""
    if type(content) is dict:
        return [content] if content.get("type") == kind else []
    return [block for block in objects(content) if block.get("type") == kind]


def uses_tools(messages: Any) -> bool:
    """Whether some message of a list holds a tool use or a tool result."""
    return any(
        block.get("type") in (TOOL_USE, TOOL_RESULT)
        for message in objects(messages)
        for block in blocks(message.get("content"))
    )


def result_messages(messages: Any) -> Iterator[Judged]:
    """The user messages with tool results, which may hold nothing else."""
    for message in objects(messages):
        if not _results(message):
            continue
        others = _other_types(message)
        fault = f"tool results together with {', '.join(others)}" if others else None
        yield Judged(message, fault, mixed=fault is not None)


def tool_turns(messages: Any) -> Iterator[Judged]:
    """The assistant messages with tool uses, each with the message that must answer it.

    Also the tool results elsewhere that belong to no earlier tool use.
    """
    if not isinstance(messages, list):
        return
    earlier: set[IdKey] = set()
    answers_uses = False
    for position, message in enumerate(messages):
        if not isinstance(message, dict):
            answers_uses = False
            continue
        uses = _uses(message)
        if uses:
            following = messages[position + 1] if position + 1 < len(messages) else None
            earlier.update(id_key(use.get("id")) for use in uses)
            yield _answered(uses, message, following)
        elif not answers_uses:
            yield from _orphans(message, earlier)
        answers_uses = bool(uses)


def is_malformed(messages: Any) -> bool:
    """Whether tool results are missing in a list, or mixed with other content."""
    return any(
        judged.fault is not None and not judged.surplus
        for judge in (result_messages, tool_turns)
        for judged in judge(messages)
    )


def _uses(message: _Object) -> list[_Object]:
    return of_type(message.get("content"), TOOL_USE) if message.get("role") == "assistant" else []


def _results(message: _Object) -> list[_Object]:
    return of_type(message.get("content"), TOOL_RESULT) if message.get("role") == "user" else []


def _other_types(message: _Object) -> list[str]:
    kinds = (block.get("type") for block in blocks(message.get("content")))
    return sorted({shown(kind) for kind in kinds if kind != TOOL_RESULT})


def _answered(uses: list[_Object], message: _Object, following: Any) -> Judged:
    place = [message, following]
    fault = _answer_fault(uses, following)
    if fault is not None:
        return Judged(place, fault)
    if _other_types(following):
        return Judged(place, "the answer holds more than tool results", mixed=True)
    wanted, given = _ids(uses, "id"), _ids(_results(following), "toolUseId")
    fault = "; ".join(_named(_SURPLUS, given - wanted)) or None
    return Judged(place, fault, surplus=fault is not None)


def _answer_fault(uses: list[_Object], following: Any) -> str | None:
    """What the message after tool uses lacks as an answer, other content aside."""
    if following is None:
        return "no message after the tool use"
    if not isinstance(following, dict) or following.get("role") != "user":
        role = following.get("role") if isinstance(following, dict) else following
        return f"a message of role {shown(role)} after the tool use"
    results = _results(following)
    if not results:
        return "no tool result in the next message"
    if None in (use.get("id") for use in uses):
        return "a tool use without id"
    wanted, given = _ids(uses, "id"), _ids(results, "toolUseId")
    missing = wanted - given
    if not missing:
        return None
    return "; ".join((*_named("no result for", missing), *_named(_SURPLUS, given - wanted)))


def _ids(parts: list[_Object], member: str) -> Counter[IdKey]:
    return Counter(id_key(part.get(member)) for part in parts)


def _named(what: str, ids: Counter[IdKey]) -> Iterator[str]:
    if ids:
        named = [shown(each) if isinstance(each, str) else "an odd id" for each in ids][:MAX_NAMED]
        more = f" and {ids.total() - len(named)} more" if ids.total() > len(named) else ""
        yield f"{what} {', '.join(named)}{more}"


def _orphans(message: _Object, earlier: set[IdKey]) -> Iterator[Judged]:
    results = _results(message)
    strays = [key for result in results if (key := id_key(result.get("toolUseId"))) not in earlier]
    if strays:
        fault = "; ".join(_named("a result without a tool use:", Counter(strays)))
        yield Judged(message, fault, surplus=True)
