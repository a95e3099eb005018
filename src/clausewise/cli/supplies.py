"""What `check` is given beside the target: tokens that must not be enough, a registry entry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clausewise.app.credentials import bearer_token
from clausewise.core.errors import UsageError
from clausewise.probe.supplied import OFFICIAL_REGISTRY, RegistryEntry, Supplied
from clausewise.transport.targets import HttpTarget

_MAX_SERVER_JSON_BYTES = 1024 * 1024


def supplied_of(values: Mapping[str, Any], *, is_http: bool) -> Supplied:
    """From the values of the options; tokens are for a URL alone.

    Raises:
        UsageError: a value that cannot be used, or a file that cannot be read.
    """
    return Supplied(
        foreign_token=_token(values, "foreign-token", is_http=is_http),
        low_scope_token=_token(values, "low-scope-token", is_http=is_http),
        registry_entry=_registry_entry(values),
    )


def _token(values: Mapping[str, Any], name: str, *, is_http: bool) -> str | None:
    token = bearer_token(values[name.replace("-", "_")], f"--{name}")
    return token if is_http else None


def _registry_entry(values: Mapping[str, Any]) -> RegistryEntry:
    registry = values["registry"] or OFFICIAL_REGISTRY
    HttpTarget(registry)  # its complaint about a URL that is none is the user's
    path, name = values["server_json"], values["registry_name"]
    if path is not None and name is not None:
        raise UsageError("both --server-json and --registry-name", "Give one of them.")
    if path is None:
        return RegistryEntry(name=name, registry=registry)
    return RegistryEntry(_read(Path(path)), str(path), name, registry)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_SERVER_JSON_BYTES + 1)
    except OSError as error:
        raise UsageError(f"--server-json names {path}: {error.strerror}") from None
    if len(text) > _MAX_SERVER_JSON_BYTES:
        raise UsageError(f"--server-json names {path}, which exceeds 1 MiB")
    return text
