"""`clausewise explain`: all about one clause, rule, check or probe."""

from __future__ import annotations

import click

from clausewise.app.explain import explain
from clausewise.cli.options import values_of
from clausewise.cli.terminal import show, terminal_width
from clausewise.report.explanation import ExplanationFormat, render

_EPILOG = """\b
Examples:
  clausewise explain BASE-003
  clausewise explain MCP-STL-001 base.request-id-unique"""


@click.command(epilog=_EPILOG)
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@click.option(
    "--format",
    "format_",
    type=click.Choice(values_of(ExplanationFormat)),
    default=ExplanationFormat.HUMAN.value,
    show_default=True,
)
def command(ids: tuple[str, ...], format_: str) -> None:
    """Tell all about a clause, rule, check or probe: the sentence, what decides it, the fix."""
    chosen = ExplanationFormat(format_)
    text = render(explain(ids), chosen, terminal_width())
    show(text, for_people=chosen is ExplanationFormat.HUMAN)
