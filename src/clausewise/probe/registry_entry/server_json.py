"""What a server.json must be: rules of the MCP Registry, written from its documentation.

Source: docs/registry (about, package-types, remote-servers, versioning), schema of 2025-12-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from clausewise.wire.jsontext import JsonTextError, decode

SCHEMA_DATES = (
    "2025-07-09",
    "2025-09-16",
    "2025-09-29",
    "2025-10-11",
    "2025-10-17",
    "2025-12-11",
)
"""The released schemas, oldest first; until the second one members were spelled otherwise."""

MAX_FAULTS = 10
_SCHEMA_URL = re.compile(
    r"https://static\.modelcontextprotocol\.io/schemas/([0-9-]+)/server\.schema\.json"
)
_WEB_URL: Mapping[str, Any] = {"type": "string", "pattern": r"^https?://[^\s]+$"}
_REMOTE_URL: Mapping[str, Any] = {"type": "string", "pattern": r"^(https?://|\{)[^\s]+$"}
_NAMED: Mapping[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "minLength": 1}},
}

_COMMON: Mapping[str, Any] = {
    "name": {
        "type": "string",
        "minLength": 3,
        "maxLength": 200,
        "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
    },
    "description": {"type": "string", "minLength": 1, "maxLength": 100},
}
"""The same in every schema; `version` is judged by a rule of its own."""

_TRANSPORT: Mapping[str, Any] = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": ["stdio", "streamable-http", "sse"]},
        "url": {"type": "string", "minLength": 1},
        "headers": {"type": "array", "items": _NAMED},
    },
    "if": {"required": ["type"], "properties": {"type": {"enum": ["streamable-http", "sse"]}}},
    "then": {"required": ["url"]},
}

_PACKAGE: Mapping[str, Any] = {
    "type": "object",
    "required": ["registryType", "identifier", "transport"],
    "properties": {
        "registryType": {"type": "string", "minLength": 1},
        "identifier": {"type": "string", "minLength": 1},
        "version": {"type": "string", "minLength": 1},
        "fileSha256": {"type": "string", "pattern": "^[a-f0-9]{64}$"},
        "transport": _TRANSPORT,
        "packageArguments": {"type": "array", "items": {"type": "object"}},
        "runtimeArguments": {"type": "array", "items": {"type": "object"}},
        "environmentVariables": {"type": "array", "items": _NAMED},
    },
    "if": {"required": ["registryType"], "properties": {"registryType": {"const": "mcpb"}}},
    "then": {
        "required": ["fileSha256"],
        "properties": {"identifier": {"pattern": "mcp"}},
    },
}

_REMOTE: Mapping[str, Any] = {
    "type": "object",
    "required": ["type", "url"],
    "properties": {
        "type": {"enum": ["streamable-http", "sse"]},
        "url": _REMOTE_URL,
        "headers": {"type": "array", "items": _NAMED},
        "variables": {"type": "object", "additionalProperties": {"type": "object"}},
    },
}

_CURRENT: Mapping[str, Any] = {
    **_COMMON,
    "title": {"type": "string", "minLength": 1, "maxLength": 100},
    "websiteUrl": _WEB_URL,
    "repository": {
        "type": "object",
        "properties": {"url": _WEB_URL, "source": {"type": "string"}},
    },
    "packages": {"type": "array", "items": _PACKAGE},
    "remotes": {"type": "array", "items": _REMOTE},
    "_meta": {"type": "object"},
}


@dataclass(frozen=True, slots=True)
class ServerJson:
    """A server.json that is a JSON object; `source` says where it comes from."""

    value: Mapping[str, Any]
    source: str

    @property
    def name(self) -> str | None:
        """The server's name in a registry if it has the right form, else None."""
        name = self.value.get("name")
        pattern = _COMMON["name"]["pattern"]
        return name if isinstance(name, str) and re.fullmatch(pattern[1:-1], name) else None

    def objects(self, member: str) -> list[Mapping[str, Any]]:
        """The objects in the array `member` (`packages`, `remotes`)."""
        found = self.value.get(member)
        return [o for o in found if isinstance(o, dict)] if isinstance(found, list) else []

    @property
    def schema_date(self) -> str | None:
        """The date of the schema that it names; None when it names none that is known."""
        named = self.value.get("$schema")
        match = _SCHEMA_URL.fullmatch(named) if isinstance(named, str) else None
        return match[1] if match is not None and match[1] in SCHEMA_DATES else None


class NoServerJsonError(Exception):
    """A text that is no server.json; the message says why."""


def read_server_json(text: bytes, source: str) -> ServerJson:
    """The object in `text`; of an answer of a registry's API its member `server`.

    Raises:
        NoServerJsonError: it is no JSON object.
    """
    try:
        value = decode(text)
    except JsonTextError as error:
        raise NoServerJsonError(f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise NoServerJsonError("no JSON object")
    inner = value.get("server")
    if "name" not in value and isinstance(inner, dict):
        value = inner
    return ServerJson(value, source)


def faults(entry: ServerJson) -> Iterator[tuple[str, str]]:
    """What does not fit the schema that it names: the place, and what is wrong there.

    Without `$schema` the newest one counts. `version` is left out.
    """
    old = entry.schema_date == SCHEMA_DATES[0]
    for number, error in enumerate(_validator(old=old).iter_errors(dict(entry.value))):
        if number == MAX_FAULTS:
            return
        place = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
        )
        yield place.removeprefix(".") or "server.json", error.message


@cache
def _validator(*, old: bool) -> Draft202012Validator:
    schema = {
        "type": "object",
        "required": ["name", "description"],
        "properties": _COMMON if old else _CURRENT,
    }
    return Draft202012Validator(schema, offline=True)
