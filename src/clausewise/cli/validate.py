"""`clausewise validate`: judge recorded sessions."""

from __future__ import annotations

from typing import Any

import click

from clausewise.cli.delivery import deliver
from clausewise.cli.options import (
    ReportChoice,
    report_options,
    selection_of,
    selection_options,
    values_of,
    verdict_options,
)
from clausewise.cli.reading import reading_of, reading_options
from clausewise.cli.settings import SettingsCommand, setting
from clausewise.core.vocabulary import Level, Party

_EPILOG = """\b
Examples:
  clausewise validate session.jsonl
  clausewise validate recordings/ 'more/**/*.jsonl.zst' --keep-going
  clausewise validate session.har --party server --level must
  clausewise validate session.jsonl --format json > result.json
  some-recorder | clausewise validate -

Judging uses no network, clock or chance: the same traces give the same bytes."""


@click.command(cls=SettingsCommand, epilog=_EPILOG)
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@selection_options
@setting(
    "party",
    type=click.Choice(values_of(Party)),
    help="Judge only the duties of this side; without it, both.",
)
@setting(
    "level",
    type=click.Choice([Level.MUST.lower(), Level.SHOULD.lower(), Level.MAY.lower()]),
    default=Level.MAY.lower(),
    show_default=True,
    help="The lowest level to report.",
)
@reading_options()
@verdict_options
@report_options
@click.pass_context
def command(ctx: click.Context, /, traces: tuple[str, ...], **values: Any) -> None:
    """Judge recorded sessions: traces, plain, .gz or .zst, HAR files, Inspector exports.

    TRACE is a file, a folder, a quoted pattern, or - for standard input. A message that misses
    its published schema without breaking a clause is told as a note ("shape: ...").
    """
    from clausewise.app.validate import ValidateOptions, run

    choice = ReportChoice.of(values)
    result = run(
        traces,
        ValidateOptions(
            selection=selection_of(values, Level(values["level"].upper())),
            party=Party(values["party"]) if values["party"] else None,
            reading=reading_of(values),
        ),
    )
    ctx.exit(deliver(result, choice, values))
