"""`clausewise replay`: send a recorded session to a live server again."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

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
from clausewise.cli.reading import reading_of, reading_options
from clausewise.cli.settings import setting
from clausewise.cli.targets import TargetCommand, target_of, target_options, timeout_option
from clausewise.core.errors import ExitCode

_EPILOG = """\b
Examples:
  clausewise replay session.jsonl http://127.0.0.1:3001/mcp
  clausewise replay session.jsonl -- python my_server.py
  clausewise replay session.jsonl URL --exact --save-trace again.jsonl

What the client of TRACE sent is sent again, in its order and each message when
what came before it in the recording has come again: request ids stay, session
ids, cursors, task ids and the like become those that the server gives now. The
server's side of the new session is judged, and every answer is compared with
the recorded one. A session of one transport can be replayed on the other.

A replay does what the client did: it calls the tools that were called. Put
credentials into -H or --bearer; a recording has none."""


MAX_EVENTS = 100_000
"""Events of a recording that is replayed, which is held whole, unless another bound is given."""

MAX_DEPTH = 500
"""Levels of its JSON: what is read must be written again."""


@click.command(cls=TargetCommand, epilog=_EPILOG)
@click.argument("trace", metavar="TRACE")
@click.argument("words", nargs=-1, metavar="URL")
@selection_options
@target_options
@timeout_option
@setting(
    "max-time",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds for the whole replay.",
)
@click.option("--exact", is_flag=True, help="Exit with 1 also when an answer differs.")
@reading_options(max_events=MAX_EVENTS, max_depth=MAX_DEPTH)
@click.option(
    "--save-trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the new session to FILE.",
)
@verdict_options
@report_options
@click.pass_context
def command(
    ctx: click.Context, /, trace: str, words: tuple[str, ...], exact: bool, **values: Any
) -> None:
    """Send the client's side of a recorded session to a live server, judge and compare.

    TRACE is a recording as `clausewise validate` reads it, - for standard input.
    """
    choice = ReportChoice.of(values)
    target = target_of(ctx, words, values)
    from clausewise.app.replay import ReplayChoices, run
    from clausewise.replay.run import ReplayOptions
    from clausewise.transport.limits import Limits

    limits = dataclasses.replace(Limits(), answer_s=values["timeout"])
    choices = ReplayChoices(
        selection=selection_of(values),
        bounds=ReplayOptions(limits, values["max_time"]),
        reading=reading_of(values),
        save_trace=values["save_trace"],
    )
    with progress_line(wanted=not values["quiet"]) as show:
        result = run(trace, target, choices, lambda done, total: show(done, total, "steps"))
    code = deliver(result, choice, values)
    if code is ExitCode.OK and exact and any(answer.differences for answer in result.answers):
        code = ExitCode.FINDINGS
    ctx.exit(code)
