"""Whose a server's name in a registry is, and what the owner publishes to prove it.

Source: docs/registry/authentication.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from clausewise.core.errors import TargetError
from clausewise.probe.registry_entry.server_json import ServerJson
from clausewise.transport.dns import NameServer, txt_records
from clausewise.transport.documents import Fetcher

PROOF_PATH = "/.well-known/mcp-registry-auth"
_GITHUB = "io.github."
_GITHUB_HOST = "github.com"
_RECORD = re.compile(
    r"\s*v=MCPv1\s*;\s*k=(?:ed25519|ecdsap384)\s*;\s*p=[A-Za-z0-9+/]+={0,2}\s*;?\s*"
)
_MAX_RECORD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Proof:
    """What one way of proving gave.

    `proven` is None when nobody can say; `told` says it in words.
    """

    proven: bool | None
    told: str


def github_owner(name: str) -> str | None:
    """The GitHub user or organization whose namespace `name` is in, or None."""
    namespace = name.partition("/")[0]
    return namespace.removeprefix(_GITHUB) if namespace.startswith(_GITHUB) else None


def domains_of(name: str) -> tuple[str, ...]:
    """The domains that may prove the namespace of `name`: the whole one first, then parents.

    `com.example.sub/x` is proven at sub.example.com or at example.com.
    """
    labels = name.partition("/")[0].split(".")[::-1]
    return tuple(".".join(labels[start:]) for start in range(len(labels) - 1))


def is_proof(text: str) -> bool:
    """Whether a TXT record or file holds a public key of a registry's publisher."""
    return any(_RECORD.fullmatch(line) for line in text.splitlines())


def repository_proof(entry: ServerJson, owner: str) -> Proof:
    """Whether the repository of `entry` belongs to `owner` on GitHub."""
    repository = entry.value.get("repository")
    url = repository.get("url") if isinstance(repository, dict) else None
    if not isinstance(url, str):
        return Proof(False, "it names no repository")
    try:
        parts = urlsplit(url)
    except ValueError:
        return Proof(False, "the URL of its repository is malformed")
    found = parts.path.strip("/").partition("/")[0]
    on_github = parts.hostname in (_GITHUB_HOST, f"www.{_GITHUB_HOST}")
    if on_github and found.lower() == owner.lower():
        return Proof(True, f"its repository is {owner}'s")
    return Proof(False, f"its repository is not {owner}'s on GitHub")


async def file_proof(domain: str, fetcher: Fetcher) -> Proof:
    """Whether `domain` serves a public key at the well-known URL."""
    document = await fetcher.get(f"https://{domain}{PROOF_PATH}", accept="text/plain, */*")
    if document.undecided is not None:
        return Proof(None, document.undecided)
    answer = document.answer
    body = answer.body[:_MAX_RECORD_BYTES] if answer is not None else b""
    served = answer is not None and answer.status == 200
    if served and is_proof(body.decode("utf-8", "replace")):
        return Proof(True, f"{domain} serves a key at {PROOF_PATH}")
    return Proof(False, f"{domain} serves no key at {PROOF_PATH}")


async def record_proof(domain: str, server: NameServer | None, seconds: float) -> Proof:
    """Whether `domain` has a TXT record with a public key."""
    if server is None:
        return Proof(None, "no name server is configured")
    try:
        records = await txt_records(domain, server, seconds)
    except TargetError as error:
        return Proof(None, error.message)
    if any(map(is_proof, records)):
        return Proof(True, f"{domain} has a TXT record with a key")
    return Proof(False, f"{domain} has no TXT record with a key")
