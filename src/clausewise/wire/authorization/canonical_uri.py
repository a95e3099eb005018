"""URIs of MCP servers in a form in which equal ones are equal.

Source: basic/authorization#canonical-server-uri; RFC 3986 section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class CanonicalUri:
    """Scheme and host in lower case, no default port; path and query as they stand."""

    scheme: str
    authority: str
    path: str
    query: str

    def __str__(self) -> str:
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.authority}{self.path}{query}"

    @property
    def origin(self) -> tuple[str, str]:
        return self.scheme, self.authority

    @property
    def root(self) -> CanonicalUri:
        """The origin as a URI."""
        return replace(self, path="", query="")

    @property
    def without_slash(self) -> CanonicalUri:
        return replace(self, path=self.path.removesuffix("/"))

    @property
    def without_query(self) -> CanonicalUri:
        return replace(self, query="")

    def is_parent_of(self, other: CanonicalUri) -> bool:
        """Whether `other` is on the same origin, below this path."""
        above = self.path.removesuffix("/") + "/"
        return self.origin == other.origin and not self.query and other.path.startswith(above)


def canonical(url: str) -> CanonicalUri:
    """The canonical form of an http(s) URL.

    Raises:
        ValueError: the URL has no port that is a number.
    """
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    shown = host if port in (None, _DEFAULT_PORTS.get(scheme)) else f"{host}:{port}"
    return CanonicalUri(scheme, shown, parts.path, parts.query)
