"""`clausewise check`: probe a live server, and judge the recording."""

from __future__ import annotations

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
from clausewise.cli.settings import setting
from clausewise.cli.targets import TargetCommand, target_of, target_options, timeout_option

if TYPE_CHECKING:
    from clausewise.app.check import CheckOptions
    from clausewise.transport.http import HttpTarget
    from clausewise.transport.stdio import StdioTarget

_EPILOG = """\b
Examples:
  clausewise check http://127.0.0.1:3001/mcp
  clausewise check https://example.com/mcp --bearer env:TOKEN
  clausewise check --env API_KEY --cwd server -- python -m my_server
  clausewise check URL --list
  clausewise check URL --select MCP-ERR,MCP-HDR --format json
  clausewise check https://example.com/mcp --rate 2 --max-time 600
  clausewise check URL --save-trace session.jsonl --report junit=result.xml
  clausewise check URL --write-baseline known.json
  clausewise check URL --baseline known.json --fail-on should

A check is read-only: it calls a tool only if the tool declares readOnlyHint or
--call-tool names it; --list shows which. Values of -H and of tokens may be
env:NAME or file:PATH; they are never shown.

A server that answers HTTP 429 is given the pause that it asks for, and fewer
requests; what it refuses all the same is inconclusive, as is a probe that does
not end in time. --rate avoids it."""


@click.command(cls=TargetCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="URL")
@selection_options
@setting("as-listed", is_flag=True, help="Severities as the catalogue lists them.")
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
@target_options
@timeout_option
@setting(
    "max-time",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds for all probes together.",
)
@setting(
    "rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Send at most N requests per second, on all connections together.",
)
@setting(
    "concurrency",
    type=click.IntRange(min=1, max=64),
    metavar="N",
    help="Run N probes at a time, each on its own connection.  [default: 8; on stdio 2]",
)
@setting(
    "call-tool",
    "call_tools",
    multiple=True,
    metavar="NAME",
    help="This tool may be called; a slow one, or one that asks the user, shows more. Repeatable.",
)
@click.option(
    "--list",
    "list_",
    is_flag=True,
    help="Get acquainted with the server, say what would be judged and what not and why; "
    "run no probe. Formats: human, json.",
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
    target = target_of(ctx, words, values)
    options = _options(target, values)
    if values["list_"]:
        from clausewise.cli.listing import show_plan

        show_plan(target, options, values)
        return
    from clausewise.app.check import run

    with progress_line(wanted=not values["quiet"]) as show:
        result = run(target, options, lambda step: show(step.done, step.total, step.text))
    ctx.exit(deliver(result, choice, values))


def _options(target: HttpTarget | StdioTarget, values: dict[str, Any]) -> CheckOptions:
    from clausewise.app.check import CheckOptions
    from clausewise.cli.supplies import supplied_of
    from clausewise.transport.targets import HttpTarget

    return CheckOptions(
        selection=selection_of(values),
        as_listed=values["as_listed"],
        call_tools=frozenset(values["call_tools"]),
        supplied=supplied_of(values, is_http=isinstance(target, HttpTarget)),
        timeout_s=values["timeout"],
        max_time_s=values["max_time"],
        rate=values["rate"],
        concurrency=values["concurrency"],
        save_trace=values["save_trace"],
    )
