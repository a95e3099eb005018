"""Configuration files: `[tool.clausewise]` in pyproject.toml, or clausewise.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from clausewise.core.errors import ConfigError
from clausewise.core.suggestion import did_you_mean
from clausewise.core.vocabulary import FailOn, Level, Party, Revision
from clausewise.report.formats import Format


class Shape(Enum):
    """What a setting's value may be; the value is its description."""

    TEXT = "a string"
    TEXTS = "a list of strings"
    FLAG = "true or false"
    NUMBER = "a number greater than 0"
    PATH = "a path, relative to the file"


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of a configuration file; `choices` bounds a TEXT."""

    shape: Shape
    choices: tuple[str, ...] = ()


SETTINGS: Mapping[str, Setting] = {
    "revision": Setting(Shape.TEXT, ("auto", *Revision)),
    "select": Setting(Shape.TEXTS),
    "ignore": Setting(Shape.TEXTS),
    "format": Setting(Shape.TEXT, tuple(Format)),
    "fail-on": Setting(Shape.TEXT, tuple(FailOn)),
    "baseline": Setting(Shape.PATH),
    "color": Setting(Shape.TEXT, ("auto", "always", "never")),
    "as-listed": Setting(Shape.FLAG),
    "bearer": Setting(Shape.TEXT),
    "header": Setting(Shape.TEXTS),
    "cwd": Setting(Shape.PATH),
    "env": Setting(Shape.TEXTS),
    "timeout": Setting(Shape.NUMBER),
    "max-time": Setting(Shape.NUMBER),
    "rate": Setting(Shape.NUMBER),
    "concurrency": Setting(Shape.NUMBER),
    "call-tool": Setting(Shape.TEXTS),
    "foreign-token": Setting(Shape.TEXT),
    "low-scope-token": Setting(Shape.TEXT),
    "server-json": Setting(Shape.PATH),
    "registry-name": Setting(Shape.TEXT),
    "registry": Setting(Shape.TEXT),
    "ca-file": Setting(Shape.PATH),
    "insecure": Setting(Shape.FLAG),
    "keep-going": Setting(Shape.FLAG),
    "party": Setting(Shape.TEXT, tuple(Party)),
    "level": Setting(Shape.TEXT, tuple(level.lower() for level in Level if " " not in level)),
    "max-events": Setting(Shape.NUMBER),
    "max-line-bytes": Setting(Shape.NUMBER),
    "max-depth": Setting(Shape.NUMBER),
    "max-total-bytes": Setting(Shape.NUMBER),
}
"""Every key, named as its option on the command line; a command takes those it has."""

_AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one file, by key; paths are absolute. `source` is None for none.

    `audit` is the table of that name as it stands; `app.audit_config` reads it.
    """

    source: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    audit: Mapping[str, Any] | None = None


def find(folder: Path) -> Config:
    """The nearest configuration upward from `folder`.

    In each folder clausewise.toml comes before pyproject.toml, which counts only with a
    table `[tool.clausewise]`.

    Raises:
        ConfigError: a file that cannot be read, an unknown key, or a wrong value.
    """
    for place in (folder, *folder.parents):
        own = place / "clausewise.toml"
        if own.is_file():
            return _config(_parsed(own), own)
        project = place / "pyproject.toml"
        if project.is_file():
            table = _parsed(project).get("tool", {}).get("clausewise")
            if table is not None:
                return _config(table, project)
    return Config()


def read(path: Path) -> Config:
    """The configuration in `path`: the whole file, of a pyproject.toml its own table.

    Raises:
        ConfigError: it cannot be read, has an unknown key, or a wrong value.
    """
    content = _parsed(path)
    if path.name == "pyproject.toml":
        content = content.get("tool", {}).get("clausewise", {})
    return _config(content, path)


def _config(table: Any, path: Path) -> Config:
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.clausewise is no table")
    settings = {key: value for key, value in table.items() if key != _AUDIT}
    audit = table.get(_AUDIT)
    if audit is not None and not isinstance(audit, dict):
        raise ConfigError(f"{path}: {_AUDIT} is {audit!r}", f"Begin a table with [{_AUDIT}].")
    return Config(path, _checked(settings, path), audit)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path} is no TOML: {error}", "Correct the file.") from None


def _checked(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    return {key: _value(key, value, path) for key, value in table.items()}


def _value(key: str, value: Any, path: Path) -> Any:
    setting = SETTINGS.get(key)
    if setting is None:
        keys = (*SETTINGS, _AUDIT)
        near = did_you_mean(key, keys)
        raise ConfigError(f"{path}: unknown key {key!r}", near or f"Keys: {', '.join(keys)}.")
    if not _fits(setting, value):
        due = " or ".join(setting.choices) if setting.choices else setting.shape.value
        raise ConfigError(f"{path}: {key} is {value!r}", f"It must be {due}.")
    return str(path.parent / value) if setting.shape is Shape.PATH else value


def _fits(setting: Setting, value: Any) -> bool:
    match setting.shape:
        case Shape.TEXT:
            return isinstance(value, str) and (not setting.choices or value in setting.choices)
        case Shape.PATH:
            return isinstance(value, str) and value != ""
        case Shape.TEXTS:
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case Shape.FLAG:
            return isinstance(value, bool)
        case Shape.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
