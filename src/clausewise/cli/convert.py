"""`clausewise convert`: make a trace of another tool's recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from clausewise.cli.delivery import log
from clausewise.cli.reading import choices_of, import_options
from clausewise.report.text import count

_EPILOG = """\b
Examples:
  clausewise convert session.har -o session.jsonl
  clausewise convert all.har --endpoint http://127.0.0.1:3001/mcp | clausewise validate -
  clausewise convert inspector-protocol-everything.json -o session.jsonl

A HAR comes from the network panel of a browser, or from a proxy; an Inspector export
from its Protocol or Network panel. `clausewise validate` reads both directly. Only
allowed headers are kept, and of credentials only that they were sent; what stands in
messages stays. What the format cannot show is told on standard error."""


@click.command(epilog=_EPILOG)
@click.argument("recording", metavar="IN")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write the trace here; without it, to standard output.",
)
@click.option(
    "--from",
    "format_",
    type=click.Choice(["auto", "har", "inspector"]),
    default="auto",
    show_default=True,
    help="What IN is.",
)
@import_options
@click.option(
    "--max-total-bytes", type=click.IntRange(min=1), help="Refuse more, after decompression."
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Tracebacks of errors.")
@click.pass_context
def command(ctx: click.Context, /, recording: str, **values: Any) -> None:
    """Make a trace of a HAR file or an MCP Inspector export; - reads standard input."""
    from clausewise.app.convert import run
    from clausewise.trace.importers import RecordingFormat
    from clausewise.trace.recordings import ReadingOptions

    output: Path | None = values["output"]
    converted = run(
        recording,
        sys.stdout.buffer if output is None or str(output) == "-" else output,
        ReadingOptions(
            format=None if values["format_"] == "auto" else RecordingFormat(values["format_"]),
            choices=choices_of(values),
            max_total_bytes=values["max_total_bytes"],
        ),
    )
    if not values["quiet"]:
        for note in converted.notes:
            log(f"note: {note}")
        if output is not None:
            log(f"wrote {count(converted.events, 'event')} to {output}")
    ctx.exit(0)
