"""Rules about schemas that burden those who use them: references, size (SEC-005 and 006)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from clausewise.core.vocabulary import Outcome
from clausewise.judge.subjects.annotations import MAX_SUBSCHEMAS
from clausewise.judge.subjects.schema_documents import Place, dialect_of, subschemas
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation, broke, held, inconclusive, merged
from clausewise.probe.registration import probe
from clausewise.probe.subjects.listed import Listed, judge_tools
from clausewise.probe.wording import named

MAX_DEPTH = 64
MAX_SCHEMAS = 5_000
MAX_BYTES = 1_048_576
"""The bounds of SEC-006: ours, for the specification names none."""

NO_TOOL = "no tool is listed"

_REFERENCES = ("$ref", "$dynamicRef")


def _schemas(tool: Listed) -> Iterator[tuple[str, dict[str, Any]]]:
    for member in ("inputSchema", "outputSchema"):
        schema = tool.definition.get(member)
        if isinstance(schema, dict):
            yield member, schema


@probe("MCP-SEC-005", needs=("tools",))
async def references_stay_inside(peer: Peer) -> Observation:
    """A tool's schema has a reference to a schema on the network.

    Why: nobody may fetch it unasked, so clients cannot check arguments and should refuse the
    schema; those who do fetch it can be sent anywhere.

    Fix: copy the schema into `$defs` and refer to it there.
    """
    return await judge_tools(peer, _references, NO_TOOL)


def _references(tool: Listed) -> Observation | None:
    parts = [_inside(tool, member, schema) for member, schema in _schemas(tool)]
    return merged(parts) if parts else None


def _inside(tool: Listed, member: str, schema: dict[str, Any]) -> Observation:
    parts: list[Observation] = []
    document = _document(schema)
    if document is None:
        return inconclusive(f"the {member} of {tool.shown} is too large to search")
    for reference, target in document.references:
        if target in document.ids or urlsplit(target).scheme not in ("http", "https"):
            continue
        known = dialect_of({"$schema": target}) is not None
        parts.append(
            broke(
                f"a reference in the {member} of tool {tool.shown} leads to the network",
                seen=named(reference) + (", a metaschema that validators have" if known else ""),
                expected="references inside the schema only: clients do not fetch them",
                severity=Outcome.INFO if known else None,
                evidence=tool.reply,
            )
        )
    return merged(parts) if parts else held()


@dataclass(frozen=True, slots=True)
class _Document:
    """The URIs that a schema defines, and its references with the URI each leads to."""

    ids: frozenset[str]
    references: tuple[tuple[str, str], ...]


def _document(schema: dict[str, Any]) -> _Document | None:
    """What a schema defines and refers to; None when it is too large to search.

    `$id` changes the base for the schemas below it; a URI is without its fragment.
    """
    bases: dict[Place, str] = {}
    references: list[tuple[str, str]] = []
    for count, (place, part) in enumerate(subschemas(schema)):
        if count >= MAX_SUBSCHEMAS:
            return None
        base = bases.get(place[:-1], "") if place else ""
        base = bases[place] = _resolved(base, part.get("$id"))
        given = (part[keyword] for keyword in _REFERENCES if isinstance(part.get(keyword), str))
        references += [(reference, _resolved(base, reference)) for reference in given]
    return _Document(frozenset(bases.values()), tuple(references))


def _resolved(base: str, reference: Any) -> str:
    if not isinstance(reference, str):
        return base
    try:
        return urldefrag(urljoin(base, reference)).url
    except ValueError:
        return base


@probe("MCP-SEC-006", needs=("tools",))
async def schemas_are_of_a_bounded_size(peer: Peer) -> Observation:
    """A tool's schema is nested deeper, has more schemas or is larger than most will take.

    Why: whoever validates against it spends time and memory on it, and careful validators
    refuse it. The bounds are ours (64 levels, 5000 schemas, 1 MiB): the text names none.

    Fix: flatten the schema, or share repeated parts through `$defs`.
    """
    return await judge_tools(peer, _sizes, NO_TOOL)


def _sizes(tool: Listed) -> Observation | None:
    parts = [_bounded(tool, member, schema) for member, schema in _schemas(tool)]
    return merged(parts) if parts else None


def _bounded(tool: Listed, member: str, schema: dict[str, Any]) -> Observation:
    excess = _excess(schema)
    if excess is None:
        return held()
    return broke(
        f"the {member} of tool {tool.shown} is larger than most validators will take",
        seen=excess,
        expected=f"at most {MAX_DEPTH} levels, {MAX_SCHEMAS} schemas and {MAX_BYTES} bytes "
        "(bounds of this tool: the specification names none)",
        evidence=tool.reply,
    )


def _excess(schema: Mapping[str, Any]) -> str | None:
    """Which bound the schema exceeds; the search goes no further than that."""
    for count, (place, _) in enumerate(subschemas(dict(schema)), start=1):
        if len(place) > MAX_DEPTH:
            return f"more than {MAX_DEPTH} levels"
        if count > MAX_SCHEMAS:
            return f"more than {MAX_SCHEMAS} schemas"
    try:
        size = len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())
    except (RecursionError, UnicodeEncodeError):
        return None
    return f"{size} bytes" if size > MAX_BYTES else None
