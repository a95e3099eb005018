"""The root command: its subcommands are imported by name when they are used."""

from __future__ import annotations

from importlib import import_module

import click

from clausewise import __version__
from clausewise.cli.commands import SUMMARIES, root_help
from clausewise.core.errors import UsageError
from clausewise.core.suggestion import did_you_mean


class CommandsByName(click.Group):
    """A group whose commands stand in the modules of this package that have their names."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(SUMMARIES)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in SUMMARIES:
            return None
        command = import_module(f"clausewise.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"clausewise.cli.{cmd_name}.command is no command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in SUMMARIES and not name.startswith("-") and not ctx.resilient_parsing:
            raise UsageError(
                f"no command {name!r}",
                did_you_mean(name, SUMMARIES) or f"Commands: {', '.join(SUMMARIES)}.",
            )
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        return root_help().rstrip("\n")


@click.group(cls=CommandsByName, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Tell whether an implementation of the Model Context Protocol keeps the specification."""
