"""`clausewise validate`: judge recorded sessions."""

from __future__ import annotations

from typing import Any

import click

from clausewise.cli.delivery import deliver
from clausewise.cli.options import (
    ReportChoice,
    choices_of,
    import_options,
    report_options,
    selection_of,
    selection_options,
    values_of,
    verdict_options,
)
from clausewise.cli.settings import SettingsCommand, setting
from clausewise.core.vocabulary import Level, Party
from clausewise.trace.reader import ReadLimits

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
@setting("keep-going", is_flag=True, help="Skip bad lines and unreadable files, and say so.")
@setting("max-events", type=click.IntRange(min=1), help="Refuse a trace with more events.")
@setting(
    "max-line-bytes",
    type=click.IntRange(min=1),
    default=ReadLimits().max_line_bytes,
    show_default=True,
    help="A longer line is a bad line.",
)
@setting(
    "max-depth",
    type=click.IntRange(min=1),
    help="A line whose JSON nests deeper is a bad line; without it, from about 1000 levels on.",
)
@setting(
    "max-total-bytes",
    type=click.IntRange(min=1),
    help="Read no more of a trace, after decompression.",
)
@import_options
@verdict_options
@report_options
@click.pass_context
def command(ctx: click.Context, /, traces: tuple[str, ...], **values: Any) -> None:
    """Judge recorded sessions: traces, plain, .gz or .zst, HAR files, Inspector exports.

    TRACE is a file, a folder, a quoted pattern, or - for standard input. A message that misses
    its published schema without breaking a clause is told as a note ("shape: ...").
    """
    from clausewise.app.validate import ValidateOptions, run
    from clausewise.trace.recordings import ReadingOptions

    choice = ReportChoice.of(values)
    result = run(
        traces,
        ValidateOptions(
            selection=selection_of(values, Level(values["level"].upper())),
            party=Party(values["party"]) if values["party"] else None,
            reading=ReadingOptions(
                limits=ReadLimits(values["max_line_bytes"], values["max_events"]),
                max_depth=values["max_depth"],
                max_total_bytes=values["max_total_bytes"],
                keep_going=values["keep_going"],
                choices=choices_of(values),
            ),
        ),
    )
    ctx.exit(deliver(result, choice, values))
