"""The scopes of the reference server, the broader implying the narrower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

READ = "mcp:read"
"""Everything that changes nothing."""

WRITE = "mcp:write"
"""Tools that are not read-only, and all that `READ` allows."""

OPENID = "openid"
"""An ID token beside the access token; no use at the MCP server."""

SUPPORTED = (READ, WRITE)

_IMPLIED: Mapping[str, frozenset[str]] = {WRITE: frozenset({READ})}


@dataclass(frozen=True, slots=True)
class Scopes:
    """A set of scopes in the order given."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Scopes:
        """From scopes separated by spaces, each counted once."""
        return cls(tuple(dict.fromkeys(text.split())))

    def __str__(self) -> str:
        return " ".join(self.names)

    def allow(self, needed: str) -> bool:
        """Whether one of these is `needed` or implies it."""
        return any(needed == name or needed in _IMPLIED.get(name, ()) for name in self.names)
