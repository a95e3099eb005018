"""`clausewise reference client`: drive a server by a script or on a tour."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clausewise.cli.client_authorization import auth_options_of, authorization_options
from clausewise.cli.settings import setting
from clausewise.cli.targets import TargetCommand, target_of, target_options, timeout_option
from clausewise.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from clausewise.reference.client.run import ClientOptions
    from clausewise.reference.client.script.step import Script, StepResult
    from clausewise.reference.client.script.tour import Named

_ERAS = {"auto": "dual", "legacy": "legacy", "modern": "modern"}
_MAX_SCRIPT_BYTES = 4 * 1024 * 1024
_EPILOG = """\b
Examples:
  clausewise reference client http://127.0.0.1:3001/mcp
  clausewise reference client --era legacy -- python my_server.py
  clausewise reference client URL --script session.toml --save-trace s.jsonl
  clausewise reference client URL --defect no-initialized-notification

Without a script the client goes on a tour: it lists everything, reads the
resources, gets the prompts that need no arguments, asks for completions,
subscribes, and calls the tools that declare readOnlyHint or that --call-tool
names. What the server asks of its user is declined.

A script is TOML, a table for each step:

\b
  [answers.form]
  action = "accept"
  content = { name = "Ada" }

\b
  [[step]]
  do = "call"
  tool = "greet_user"
  expect = { "/result/content/0/text" = "Hello, Ada!" }

docs/reference-client.md tells all steps. The exit code is 1 when a step comes
out otherwise than expected."""


def _print_defects(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Print every defect with what it must trip, and leave."""
    if not wanted:
        return
    from clausewise.reference.client.defects import list_defects

    for defect in list_defects():
        trips = dict.fromkeys(name for names in defect.clauses.values() for name in names)
        with_server = f" (server: --defect {defect.occasion})" if defect.occasion else ""
        click.echo(f"{defect.name}  [{', '.join(trips)}]\n    {defect.summary}{with_server}")
    context.exit()


@click.command("client", cls=TargetCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="URL")
@click.option(
    "--era",
    type=click.Choice(list(_ERAS)),
    default="auto",
    show_default=True,
    help="auto tries 2026-07-28 first, and falls back to a session that is initialized.",
)
@click.option("--script", metavar="FILE", help="What to do; - reads standard input.")
@setting(
    "call-tool",
    "call_tools",
    multiple=True,
    metavar="NAME",
    help="On the tour this tool may be called; repeatable.",
)
@click.option(
    "--arguments", metavar="JSON", help="The arguments of the tools that --call-tool names."
)
@target_options
@authorization_options
@timeout_option
@click.option(
    "--save-trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the recording to FILE; `clausewise validate` reads it.",
)
@click.option("--defect", "defects", metavar="NAME", multiple=True, help="A fault; repeatable.")
@click.option(
    "--list-defects",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_defects,
    help="Print the defects and what each must trip.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["human", "jsonl"]),
    default="human",
    show_default=True,
    help="What to write to standard output: a line, or a JSON record, for each step.",
)
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **values: Any) -> None:
    """Drive a server as a client that keeps the specification, wrong only in the defects named.

    The server is a Streamable HTTP endpoint or a command that speaks over stdio.
    """
    from clausewise.app.drive import DriveOptions, run

    target = target_of(ctx, words, values)
    options = DriveOptions(_client_options(values), auth_options_of(values), values["save_trace"])
    printer = _Printer(jsonl=values["format_"] == "jsonl")
    as_expected = run(target, options, printer.audience)
    printer.close()
    ctx.exit(ExitCode.OK if as_expected else ExitCode.FINDINGS)


def _client_options(values: dict[str, Any]) -> ClientOptions:
    from clausewise.core.vocabulary import Era
    from clausewise.reference.client.run import ClientOptions

    return ClientOptions(
        era=Era(_ERAS[values["era"]]),
        script=_script(values["script"]),
        named=_named(values),
        seconds=values["timeout"],
        defects=values["defects"],
    )


def _script(name: str | None) -> Script | None:
    from clausewise.reference.client.script.reading import parse_script

    if name is None:
        return None
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as stream:
            data = stream.read(_MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read the script {name}: {error.strerror}") from None
    if len(data) > _MAX_SCRIPT_BYTES:
        raise UsageError(f"the script {name} exceeds {_MAX_SCRIPT_BYTES} bytes")
    try:
        return parse_script(data.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise UsageError(f"the script {name} is not UTF-8") from None


def _named(values: dict[str, Any]) -> Named:
    from clausewise.reference.client.script.tour import Named

    given = values["arguments"]
    if given is None:
        return Named(tuple(values["call_tools"]))
    if not values["call_tools"]:
        raise UsageError("--arguments without --call-tool", "Name the tool that they are for.")
    try:
        arguments = json.loads(given)
    except ValueError as error:
        raise UsageError(f"--arguments is no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise UsageError("--arguments is no JSON object", 'For example \'{"text": "hi"}\'.')
    return Named(tuple(values["call_tools"]), arguments)


class _Printer:
    """Writes a line for each step as it ends."""

    def __init__(self, *, jsonl: bool) -> None:
        from clausewise.reference.client.run import Audience
        from clausewise.report.client_steps import session_line

        self._jsonl = jsonl
        self._steps = 0
        self._failed = 0
        self.audience = Audience(self._tell, lambda session: self._say(session_line(session)))

    def close(self) -> None:
        """Say how it went."""
        from clausewise.report.client_steps import closing_line

        self._say(closing_line(self._steps, self._failed))

    def _tell(self, result: StepResult) -> None:
        from clausewise.report.client_steps import step_line, step_record

        self._steps += 1
        self._failed += bool(result.complaints)
        click.echo(step_record(result) if self._jsonl else step_line(result))

    def _say(self, text: str) -> None:
        """For people: beside records it goes to standard error."""
        click.echo(text, err=self._jsonl)
