"""How a recording is read: options that several commands share, and what they are read into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clausewise.cli.options import values_of
from clausewise.cli.settings import setting, together
from clausewise.core.vocabulary import TransportKind
from clausewise.trace.reader import ReadLimits

if TYPE_CHECKING:
    from clausewise.trace.importers import ImportChoices
    from clausewise.trace.recordings import ReadingOptions

F = TypeVar("F", bound=Callable[..., Any])

import_options = together(
    click.option(
        "--endpoint",
        metavar="URL",
        help="Of a HAR or an Inspector network export, take the traffic with this endpoint.",
    ),
    click.option(
        "--transport",
        type=click.Choice(values_of(TransportKind)),
        help="What carried the messages of an Inspector protocol export, which does not tell.",
    ),
)
"""`--endpoint`, `--transport`."""


def reading_options(
    *, max_events: int | None = None, max_depth: int | None = None
) -> Callable[[F], F]:
    """`--keep-going`, the bounds with these defaults, and `import_options`."""
    return together(
        setting(
            "keep-going", is_flag=True, help="Skip bad lines and unreadable files, and say so."
        ),
        setting(
            "max-events",
            type=click.IntRange(min=1),
            default=max_events,
            show_default=max_events is not None,
            help="Refuse a trace with more events.",
        ),
        setting(
            "max-line-bytes",
            type=click.IntRange(min=1),
            default=ReadLimits().max_line_bytes,
            show_default=True,
            help="A longer line is a bad line.",
        ),
        setting(
            "max-depth",
            type=click.IntRange(min=1),
            default=max_depth,
            show_default=max_depth is not None,
            help="A line whose JSON nests deeper is a bad line"
            + ("." if max_depth else "; without it, from about 1000 levels on."),
        ),
        setting(
            "max-total-bytes",
            type=click.IntRange(min=1),
            help="Read no more of a trace, after decompression.",
        ),
        import_options,
    )


def choices_of(values: Mapping[str, Any]) -> ImportChoices:
    """From the values of `import_options`."""
    from clausewise.trace.importers import ImportChoices

    transport = values["transport"]
    return ImportChoices(values["endpoint"], TransportKind(transport) if transport else None)


def reading_of(values: Mapping[str, Any]) -> ReadingOptions:
    """From the values of `reading_options`."""
    from clausewise.trace.recordings import ReadingOptions

    return ReadingOptions(
        limits=ReadLimits(values["max_line_bytes"], values["max_events"]),
        max_depth=values["max_depth"],
        max_total_bytes=values["max_total_bytes"],
        keep_going=values["keep_going"],
        choices=choices_of(values),
    )
