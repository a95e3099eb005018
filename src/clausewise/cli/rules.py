"""`clausewise rules`: the rules and what decides them."""

from __future__ import annotations

import click

from clausewise.app.catalogue import rule_catalogue
from clausewise.cli.options import values_of
from clausewise.cli.terminal import show, terminal_width
from clausewise.report.catalogue import CatalogueFormat, render_rules

_EPILOG = """\b
Examples:
  clausewise rules
  clausewise rules --group hdr --format markdown
  clausewise rules --group CW-HDR

`MCP-…` are the 79 rules of the published list, `CW-…` our own: sentences of the
specification that bind servers and that no rule of the list is about.

`clausewise explain MCP-HDR-003` tells all about one rule."""


@click.command(epilog=_EPILOG)
@click.option(
    "--group", metavar="GROUP", help="Only the rules of this group: HDR, or MCP-HDR, or CW-HDR."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(values_of(CatalogueFormat)),
    default=CatalogueFormat.HUMAN.value,
    show_default=True,
)
def command(group: str | None, format_: str) -> None:
    """List the rules, with the level and severity that the text supports."""
    chosen = CatalogueFormat(format_)
    text = render_rules(rule_catalogue(group), chosen, terminal_width())
    show(text, for_people=chosen is CatalogueFormat.HUMAN)
