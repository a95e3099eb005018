"""The live target that a command is given: a URL, or a command to launch, with its options."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clausewise.cli.settings import SettingsCommand, from_command_line, setting, together
from clausewise.core.errors import UsageError

if TYPE_CHECKING:
    from clausewise.transport.http import HttpTarget
    from clausewise.transport.stdio import StdioTarget

_LAUNCHED = "clausewise.launched"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class TargetCommand(SettingsCommand):
    """Takes what stands after `--` as the command to launch, untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            end = args.index("--")
            ctx.meta[_LAUNCHED] = tuple(args[end + 1 :])
            args = args[:end]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        pieces = [piece for piece in super().collect_usage_pieces(ctx) if "URL" not in piece]
        return [*pieces, "(URL | -- COMMAND [ARGUMENT]...)"]


target_options = together(
    setting(
        "header",
        "-H",
        "headers",
        multiple=True,
        metavar="NAME: VALUE",
        help="Send a header with each request; @FILE holds several.",
    ),
    setting("bearer", metavar="TOKEN", help="Send Authorization: Bearer; best as env:NAME."),
    setting(
        "ca-file", metavar="FILE", help="Trust these authorities (PEM) instead of the system's."
    ),
    setting("insecure", is_flag=True, help="Accept any certificate."),
    setting(
        "env",
        multiple=True,
        metavar="NAME[=VALUE]",
        help="A variable for the command; without VALUE the one set here.",
    ),
    setting("cwd", metavar="FOLDER", help="The folder to start the command in."),
)
"""`--header`, `--bearer`, `--ca-file`, `--insecure`, `--env`, `--cwd`."""


timeout_option = setting(
    "timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds to wait for one answer.",
)
"""`--timeout`."""


def target_of(
    ctx: click.Context, words: Sequence[str], values: Mapping[str, Any]
) -> HttpTarget | StdioTarget:
    """The target that the command line means: its words, or the command after `--`.

    Raises:
        UsageError: it means none or two, or options that are for the other kind.
    """
    launched = ctx.meta.get(_LAUNCHED)
    if launched is not None:
        if words:
            raise UsageError(
                f"both {words[0]!r} and a command after --", "Give a URL or a command, not both."
            )
        return _stdio_target(ctx, launched, values)
    if not words:
        raise UsageError(
            f"no target for `{ctx.command_path}`",
            f"Give a URL, or a command after --: {ctx.command_path} -- python my_server.py",
        )
    if len(words) > 1 or not _SCHEME.match(words[0]):
        raise UsageError(f"{words[0]!r} is no URL", _instead(ctx, words))
    return _http_target(words[0], values)


def _instead(ctx: click.Context, words: Sequence[str]) -> str:
    """What was probably meant by words that are no URL."""
    host = re.fullmatch(r"(localhost|[\w.-]+\.\w+|\[[0-9a-fA-F:]+\])(:\d+)?(/\S*)?", words[0])
    is_file = Path(words[0]).exists()
    if len(words) == 1 and host and not is_file:
        return f"With its scheme: http://{words[0]} or https://{words[0]}"
    return f"To start a command, put it after --: {ctx.command_path} -- {' '.join(words)}"


def _http_target(url: str, values: Mapping[str, Any]) -> HttpTarget:
    from clausewise.app.credentials import credential_headers
    from clausewise.transport.http import HttpTarget

    for name in ("env", "cwd"):
        if values[name] and from_command_line(name):
            raise UsageError(f"--{name} is for a command, not for a URL", "Leave it out.")
    if values["ca_file"] and values["insecure"]:
        raise UsageError("both --ca-file and --insecure", "Give one of them.")
    return HttpTarget(
        url,
        headers=credential_headers(values["headers"], values["bearer"]),
        verify=not values["insecure"],
        ca_file=values["ca_file"],
    )


def _stdio_target(
    ctx: click.Context, launched: tuple[str, ...], values: Mapping[str, Any]
) -> StdioTarget:
    from clausewise.transport.stdio import StdioTarget

    if not launched:
        raise UsageError("no command after --", f"{ctx.command_path} -- python my_server.py")
    for name, option in (("headers", "-H"), ("bearer", "--bearer"), ("ca_file", "--ca-file")):
        if values[name] and from_command_line(name):
            raise UsageError(f"{option} is for a URL, not for a command", "Use --env instead.")
    return StdioTarget(launched, values["cwd"], dict(_variable(text) for text in values["env"]))


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not _VARIABLE.fullmatch(name):
        raise UsageError(f"--env {name!r} names no variable", "Write NAME or NAME=VALUE.")
    if equals:
        return name, value
    if name not in os.environ:
        raise UsageError(f"--env names the variable {name}, which is not set")
    return name, os.environ[name]
