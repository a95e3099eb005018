"""Whether two JSON Schemas say the same, read member by member, references followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schemas = Mapping[str, Any]


def same_structure(schema: Schemas, theirs: Schemas, ours: Schemas) -> bool:
    """Whether `schema` means the same with the definitions `theirs` and with `ours`.

    Annotations, the order of alternatives, and ways to write that anything goes are ignored.
    """
    return _Comparison(theirs, ours).same(schema, schema)


class _Comparison:
    def __init__(self, theirs: Schemas, ours: Schemas) -> None:
        self._theirs = theirs
        self._ours = ours
        self._assumed: set[tuple[int, int]] = set()

    def same(self, their: Schemas, our: Schemas) -> bool:
        their, our = _resolved(their, self._theirs), _resolved(our, self._ours)
        if (id(their), id(our)) in self._assumed:
            return True
        self._assumed.add((id(their), id(our)))
        one, other = _plain(their, self._theirs), _plain(our, self._ours)
        return one.keys() == other.keys() and all(
            self._same_keyword(keyword, one[keyword], other[keyword]) for keyword in one
        )

    def _same_keyword(self, keyword: str, their: Any, our: Any) -> bool:
        if keyword == "properties":
            return their.keys() == our.keys() and all(
                self.same(their[name], our[name]) for name in their
            )
        if keyword in ("items", "additionalProperties"):
            return self.same(their, our)
        if keyword == "anyOf":
            return self._covered(their, our) and self._covered(our, their, flipped=True)
        if keyword == "allOf":
            return len(their) == len(our) and all(map(self.same, their, our))
        return bool(their == our)

    def _covered(self, some: list[Any], others: list[Any], *, flipped: bool = False) -> bool:
        return all(
            any(
                _Comparison(self._theirs, self._ours).same(*((b, a) if flipped else (a, b)))
                for b in others
            )
            for a in some
        )


def _resolved(schema: Schemas, known: Schemas) -> Schemas:
    while "$ref" in schema:
        schema = known[schema["$ref"].removeprefix("#/$defs/")]
    return schema


def _plain(schema: Schemas, known: Schemas) -> dict[str, Any]:
    """The keywords that assert something, in one spelling."""
    plain = {
        keyword: value
        for keyword, value in schema.items()
        if keyword != "description" and value is not True and value not in ({}, [])
    }
    if {} in plain.get("anyOf", ()):
        del plain["anyOf"]
    for keyword in ("items", "additionalProperties"):
        if keyword in plain and not _plain(_resolved(plain[keyword], known), known):
            del plain[keyword]
    if "const" in plain or "enum" in plain:
        plain.pop("type", None)
    if plain.get("format") == "byte":
        del plain["format"]
    for keyword in ("required", "enum", "type"):
        if isinstance(plain.get(keyword), list):
            plain[keyword] = sorted(plain[keyword])
    return plain
