"""`clausewise diff`: two results or two matrices, side by side."""

from __future__ import annotations

import sys

import click

from clausewise.app.diff import run
from clausewise.cli.colour import use_colour
from clausewise.cli.documents import read_document
from clausewise.cli.options import values_of
from clausewise.cli.terminal import show
from clausewise.core.errors import ExitCode
from clausewise.report.comparison import ComparisonFormat, render
from clausewise.report.options import ReportOptions

_EPILOG = """\b
Examples:
  clausewise check URL --report json=before.json
  clausewise check URL --report json=after.json
  clausewise diff before.json after.json
  clausewise diff before.json after.json --format markdown >> summary.md

A clause or rule broke when it was kept before; it is worse when a fault came
to those it had; it is newly observed when nothing was decided before. What is
no longer observed was not fixed: nothing decided it this time.

\b
Exit codes:
  0  nothing broke
  1  something is broken that was not known to be: broke, worse, newly observed
  2  a file is no stored result
  3  the two have no clause or rule in common"""


@click.command(epilog=_EPILOG)
@click.argument("old", metavar="OLD.json")
@click.argument("new", metavar="NEW.json")
@click.option(
    "--format",
    "format_",
    type=click.Choice(values_of(ComparisonFormat)),
    default=ComparisonFormat.HUMAN.value,
    show_default=True,
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="NO_COLOR and FORCE_COLOR decide when auto.",
)
@click.pass_context
def command(ctx: click.Context, old: str, new: str, format_: str, color: str) -> None:
    """Compare two stored results, or two matrices: what broke, what was fixed, what is new.

    One of the two may be - for standard input.
    """
    comparison = run((old, read_document(old)), (new, read_document(new)))
    chosen = ComparisonFormat(format_)
    options = ReportOptions(colour=use_colour(color, sys.stdout))
    show(render(comparison, chosen, options), for_people=chosen is ComparisonFormat.HUMAN)
    ctx.exit(ExitCode.FINDINGS if comparison.setbacks else ExitCode.OK)
