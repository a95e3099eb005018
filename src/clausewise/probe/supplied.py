"""What the user gives a run beside the target, for rules that cannot be decided without."""

from __future__ import annotations

from dataclasses import dataclass, field

OFFICIAL_REGISTRY = "https://registry.modelcontextprotocol.io"
"""The base URL of the MCP Registry's API, as docs/registry/registry-aggregators gives it."""


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """How the server is, or is to be, listed in an MCP registry.

    Attributes:
        text: the bytes of a server.json, or None when it is to be fetched by name.
        source: where the text comes from, for messages.
        name: the name to ask the registry for, or None.
        registry: the base URL of the registry's API.
    """

    text: bytes | None = None
    source: str = "server.json"
    name: str | None = None
    registry: str = OFFICIAL_REGISTRY

    @property
    def given(self) -> bool:
        return self.text is not None or self.name is not None


@dataclass(frozen=True, slots=True)
class Supplied:
    """Tokens and the registry entry; the tokens are secret and never shown.

    Attributes:
        foreign_token: a valid token of the server's own issuer for another resource.
        low_scope_token: a valid token for the server with too little scope for something.
        registry_entry: the server.json and where it is listed.
    """

    foreign_token: str | None = field(default=None, repr=False)
    low_scope_token: str | None = field(default=None, repr=False)
    registry_entry: RegistryEntry = RegistryEntry()


NOTHING_SUPPLIED = Supplied()
