"""`clausewise requirements`: the clauses of a revision."""

from __future__ import annotations

import click

from clausewise.app.catalogue import ClauseFilter, clause_catalogue
from clausewise.cli.options import values_of
from clausewise.cli.terminal import show, terminal_width
from clausewise.core.vocabulary import Level, Party, Revision
from clausewise.report.catalogue import CatalogueFormat, ClauseStatus, render_clauses

_EPILOG = """\b
Examples:
  clausewise requirements
  clausewise requirements --status excluded --party server
  clausewise requirements --level MUST --level "MUST NOT" --format json

`clausewise explain BASE-001` tells all about one clause."""


@click.command(epilog=_EPILOG)
@click.option(
    "--revision",
    type=click.Choice(values_of(Revision)),
    default=Revision.LEGACY.value,
    show_default=True,
    help="The revision of the specification.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(values_of(CatalogueFormat)),
    default=CatalogueFormat.HUMAN.value,
    show_default=True,
)
@click.option(
    "--status",
    "statuses",
    type=click.Choice(values_of(ClauseStatus)),
    multiple=True,
    help="Only clauses of this status; repeatable.",
)
@click.option(
    "--level",
    "levels",
    type=click.Choice(values_of(Level), case_sensitive=False),
    multiple=True,
    help="Only clauses of this level; repeatable.",
)
@click.option(
    "--party", type=click.Choice(values_of(Party)), help="Only clauses that bind this party."
)
def command(
    revision: str,
    format_: str,
    statuses: tuple[str, ...],
    levels: tuple[str, ...],
    party: str | None,
) -> None:
    """List the clauses of a revision: who is bound, what is judged, what is excluded and why."""
    wanted = ClauseFilter(
        statuses=frozenset(map(ClauseStatus, statuses)),
        levels=frozenset(map(Level, levels)),
        party=None if party is None else Party(party),
    )
    catalogue = clause_catalogue(Revision(revision), wanted)
    chosen = CatalogueFormat(format_)
    text = render_clauses(catalogue, chosen, terminal_width())
    show(text, for_people=chosen is CatalogueFormat.HUMAN)
