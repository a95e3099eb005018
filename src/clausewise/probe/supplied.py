"""What the user gives a run beside the target, for rules that cannot be decided without."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

OFFICIAL_REGISTRY = "https://registry.modelcontextprotocol.io"
"""The base URL of the MCP Registry's API, as docs/registry/registry-aggregators gives it."""


class Supply(Enum):
    """What a rule may need of the user."""

    FOREIGN_TOKEN = "foreign-token"
    LOW_SCOPE_TOKEN = "low-scope-token"
    SERVER_JSON = "server-json"


HOW_TO_GIVE = {
    Supply.FOREIGN_TOKEN: (
        "no token for another resource was given; --foreign-token env:NAME gives one"
    ),
    Supply.LOW_SCOPE_TOKEN: (
        "no token with too little scope was given; --low-scope-token env:NAME gives one"
    ),
    Supply.SERVER_JSON: (
        "no server.json was given; --server-json FILE or --registry-name NAME gives one"
    ),
}


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

    def lacks(self, supply: Supply) -> str | None:
        """Why what `supply` stands for cannot be used: it was not given. None when it was."""
        given = {
            Supply.FOREIGN_TOKEN: self.foreign_token is not None,
            Supply.LOW_SCOPE_TOKEN: self.low_scope_token is not None,
            Supply.SERVER_JSON: self.registry_entry.given,
        }
        return None if given[supply] else HOW_TO_GIVE[supply]


NOTHING_SUPPLIED = Supplied()
