"""`clausewise report`: render a stored result again."""

from __future__ import annotations

from typing import Any

import click

from clausewise.cli.delivery import deliver
from clausewise.cli.documents import read_document
from clausewise.cli.options import ReportChoice, report_options, verdict_options
from clausewise.cli.settings import SettingsCommand
from clausewise.report.stored import load

_EPILOG = """\b
Examples:
  clausewise report result.json
  clausewise report result.json --format markdown > summary.md
  clausewise report result.json --format html > page.html
  clausewise report result.json --format github
  clausewise report result.json --report junit=result.xml --fail-on should

The exit code is that of the run, by --fail-on and --baseline of this call."""


@click.command(cls=SettingsCommand, epilog=_EPILOG)
@click.argument("result", metavar="RESULT.json")
@verdict_options
@report_options
@click.pass_context
def command(ctx: click.Context, /, result: str, **values: Any) -> None:
    """Render a stored result again, in any format; - reads standard input."""
    choice = ReportChoice.of(values)
    ctx.exit(deliver(load(read_document(result), result), choice, values))
