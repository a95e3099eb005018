"""Commands whose options may also be set by environment variables and configuration files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from clausewise.app.config import SETTINGS, find

F = TypeVar("F", bound=Callable[..., Any])

_IN_ONE_VARIABLE = frozenset({"header", "env"})


class SettingsContext(click.Context):
    """A context whose defaults come from the nearest configuration file, read when needed."""

    def lookup_default(self, name: str, call: Any = True) -> Any:
        if self.default_map is None and (self.resilient_parsing or not call):
            return None  # completion and help ask so; a faulty file must not hinder them
        if self.default_map is None:
            settings = find(Path.cwd()).settings
            self.default_map = {
                parameter.name: settings[option.removeprefix("--")]
                for parameter in self.command.params
                for option in parameter.opts
                if option.removeprefix("--") in settings and parameter.name is not None
            }
        return super().lookup_default(name, call=call)


class SettingsCommand(click.Command):
    """A command with a `SettingsContext`: command line > variable > file > default."""

    context_class = SettingsContext


def setting(name: str, *declarations: str, **attributes: Any) -> Callable[[F], F]:
    """`--NAME` as an option that `CLAUSEWISE_NAME` and the configuration key NAME set, too.

    Options with several values of free text have no variable: it would split them at spaces.
    """
    if name not in SETTINGS:
        raise KeyError(name)
    if name not in _IN_ONE_VARIABLE:
        attributes["envvar"] = f"CLAUSEWISE_{name.upper().replace('-', '_')}"
    return click.option(f"--{name}", *declarations, **attributes)


def from_command_line(parameter: str) -> bool:
    """Whether a value was given with this call: one of a file or variable may wait for another."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is click.core.ParameterSource.COMMANDLINE


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order that help shows."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add
