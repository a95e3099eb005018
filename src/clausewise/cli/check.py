"""`clausewise check`: probe a live server, and judge the recording."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clausewise.cli.delivery import deliver
from clausewise.cli.options import (
    ReportChoice,
    report_options,
    selection_of,
    selection_options,
    verdict_options,
)
from clausewise.cli.progress import progress_line
from clausewise.cli.settings import SettingsCommand, setting
from clausewise.core.errors import UsageError

if TYPE_CHECKING:
    from clausewise.transport.http import HttpTarget
    from clausewise.transport.stdio import StdioTarget

_LAUNCHED = "clausewise.launched"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EPILOG = """\b
Examples:
  clausewise check http://127.0.0.1:3001/mcp
  clausewise check https://example.com/mcp --bearer env:TOKEN
  clausewise check --env API_KEY --cwd server -- python -m my_server
  clausewise check URL --select MCP-ERR,MCP-HDR --format json
  clausewise check URL --save-trace session.jsonl --report junit=result.xml
  clausewise check URL --write-baseline known.json
  clausewise check URL --baseline known.json --fail-on should

A check is read-only: it calls a tool only if the tool declares readOnlyHint or
--call-tool names it. Values of -H and of tokens may be env:NAME or file:PATH;
they are never shown."""


class CheckCommand(SettingsCommand):
    """Takes what stands after `--` as the command to launch, untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            end = args.index("--")
            ctx.meta[_LAUNCHED] = tuple(args[end + 1 :])
            args = args[:end]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return ["[OPTIONS]", "(URL | -- COMMAND [ARGUMENT]...)"]


@click.command(cls=CheckCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="URL")
@selection_options
@setting("as-listed", is_flag=True, help="Severities as the catalogue lists them.")
@setting(
    "header",
    "-H",
    "headers",
    multiple=True,
    metavar="NAME: VALUE",
    help="Send a header with each request; @FILE holds several.",
)
@setting("bearer", metavar="TOKEN", help="Send Authorization: Bearer; best as env:NAME.")
@setting(
    "foreign-token",
    metavar="TOKEN",
    help="A valid token of the same issuer for another resource, which must be refused.",
)
@setting(
    "low-scope-token",
    metavar="TOKEN",
    help="A valid token with too little scope for something that may be tried.",
)
@setting(
    "server-json", metavar="FILE", help="How the server is published: its server.json, judged, too."
)
@setting(
    "registry-name",
    metavar="NAME",
    help="The name under which an MCP registry lists the server; it is looked up there.",
)
@setting("registry", metavar="URL", help="The registry's API instead of the official one.")
@setting("ca-file", metavar="FILE", help="Trust these authorities (PEM) instead of the system's.")
@setting("insecure", is_flag=True, help="Accept any certificate.")
@setting(
    "env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="A variable for the command; without VALUE the one set here.",
)
@setting("cwd", metavar="FOLDER", help="The folder to start the command in.")
@setting(
    "timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds to wait for one answer.",
)
@setting(
    "max-time",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds for all probes together.",
)
@setting(
    "call-tool",
    "call_tools",
    multiple=True,
    metavar="NAME",
    help="This tool may be called; repeatable.",
)
@click.option(
    "--save-trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the recording to FILE; `clausewise validate` reads it.",
)
@verdict_options
@report_options
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **values: Any) -> None:
    """Probe a live server by every rule that applies, and judge the recording.

    The server is a Streamable HTTP endpoint or a command that speaks over stdio.
    """
    choice = ReportChoice.of(values)
    target = _target(words, ctx.meta.get(_LAUNCHED), values)
    selection = selection_of(values)
    from clausewise.app.check import CheckOptions, run
    from clausewise.cli.supplies import supplied_of
    from clausewise.transport.targets import HttpTarget

    options = CheckOptions(
        selection=selection,
        as_listed=values["as_listed"],
        call_tools=frozenset(values["call_tools"]),
        supplied=supplied_of(values, is_http=isinstance(target, HttpTarget)),
        timeout_s=values["timeout"],
        max_time_s=values["max_time"],
        save_trace=values["save_trace"],
    )
    with progress_line(wanted=not values["quiet"]) as show:
        result = run(target, options, lambda step: show(step.done, step.total, step.text))
    ctx.exit(deliver(result, choice, values))


def _target(
    words: Sequence[str], launched: tuple[str, ...] | None, values: dict[str, Any]
) -> HttpTarget | StdioTarget:
    if launched is not None:
        if words:
            raise UsageError(
                f"both {words[0]!r} and a command after --", "Give a URL or a command, not both."
            )
        return _stdio_target(launched, values)
    if not words:
        raise UsageError(
            "nothing to check",
            "Give a URL, or a command after --: clausewise check -- python my_server.py",
        )
    if len(words) > 1 or not _SCHEME.match(words[0]):
        raise UsageError(f"{words[0]!r} is no URL", _instead(words))
    return _http_target(words[0], values)


def _instead(words: Sequence[str]) -> str:
    """What was probably meant by words that are no URL."""
    host = re.fullmatch(r"(localhost|[\w.-]+\.\w+|\[[0-9a-fA-F:]+\])(:\d+)?(/\S*)?", words[0])
    is_file = Path(words[0]).exists()
    if len(words) == 1 and host and not is_file:
        return f"With its scheme: http://{words[0]} or https://{words[0]}"
    return f"To start a command, put it after --: clausewise check -- {' '.join(words)}"


def _http_target(url: str, values: dict[str, Any]) -> HttpTarget:
    from clausewise.app.credentials import credential_headers
    from clausewise.transport.http import HttpTarget

    for name in ("env", "cwd"):
        if values[name] and _is_from_command_line(name):
            raise UsageError(f"--{name} is for a command, not for a URL", "Leave it out.")
    if values["ca_file"] and values["insecure"]:
        raise UsageError("both --ca-file and --insecure", "Give one of them.")
    return HttpTarget(
        url,
        headers=credential_headers(values["headers"], values["bearer"]),
        verify=not values["insecure"],
        ca_file=values["ca_file"],
    )


def _stdio_target(launched: tuple[str, ...], values: dict[str, Any]) -> StdioTarget:
    from clausewise.transport.stdio import StdioTarget

    if not launched:
        raise UsageError("no command after --", "clausewise check -- python my_server.py")
    for name, option in (("headers", "-H"), ("bearer", "--bearer"), ("ca_file", "--ca-file")):
        if values[name] and _is_from_command_line(name):
            raise UsageError(f"{option} is for a URL, not for a command", "Use --env instead.")
    return StdioTarget(launched, values["cwd"], dict(_variable(text) for text in values["env"]))


def _is_from_command_line(parameter: str) -> bool:
    """A setting of a file or the environment may wait for the other kind of target."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is click.core.ParameterSource.COMMANDLINE


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not _VARIABLE.fullmatch(name):
        raise UsageError(f"--env {name!r} names no variable", "Write NAME or NAME=VALUE.")
    if equals:
        return name, value
    if name not in os.environ:
        raise UsageError(f"--env names the variable {name}, which is not set")
    return name, os.environ[name]
