"""`clausewise audit`: clauses by evidence of four kinds, in one matrix."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clausewise.cli.colour import use_colour
from clausewise.cli.delivery import log
from clausewise.cli.options import values_of
from clausewise.cli.settings import SettingsCommand, setting
from clausewise.cli.terminal import show, terminal_width
from clausewise.core.errors import ExitCode, UsageError
from clausewise.core.vocabulary import FailOn
from clausewise.report.matrix.formats import MatrixFormat, render
from clausewise.report.options import Detail, ReportOptions

if TYPE_CHECKING:
    from clausewise.app.audit_page import Comparison

_EPILOG = """\b
A configuration, in clausewise.toml; names of files are relative to it:
  [audit]
  title = "my server"
  party = "server"                         # or "client"
  revisions = ["2025-11-25"]
  [[audit.tests]]                          # tests tagged `clause: BASE-003`
  sources = ["tests/**/*.py"]
  reports = ["build/junit.xml"]
  [[audit.official]]                       # --output-dir of the official suite
  results = ["build/official"]
  revision = "2025-11-25"
  [[audit.probe]]                          # clausewise check --report json=…
  results = ["build/check.json"]
  [[audit.replay]]                         # recordings of real sessions
  traces = ["sessions/"]
  [[audit.deviations]]
  clauses = ["RES-008"]
  reason = "the next revision asks for -32602"
  [[audit.not-implemented]]
  capabilities = ["completions"]
  reason = "no client of ours asks for it"

\b
Examples:
  clausewise audit
  clausewise audit --write          # the page and, beside it, its record as JSON
  clausewise audit --check          # in CI
  clausewise audit --format html > conformance.html

\b
Exit codes:
  0  nothing at or above --fail-on; with --check: all is as written
  1  a clause is not conformant; with --check: stale, or a verdict fell
  2  usage, configuration, or evidence that cannot be read
  3  no evidence decided anything"""

_TOLD = 20


@click.command(cls=SettingsCommand, epilog=_EPILOG)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file with [audit]; without it, the nearest clausewise.toml or pyproject.toml.",
)
@click.option(
    "--write",
    is_flag=False,
    flag_value="",
    metavar="[PATH]",
    help="Write the page, and the matrix as JSON beside it; PATH is relative to the "
    "configuration. Without PATH, where `page` says: usually docs/CONFORMANCE.md.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; fail if page or record are stale or a verdict fell below the record.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(values_of(MatrixFormat)),
    default=MatrixFormat.HUMAN.value,
    show_default=True,
    help="What to write to standard output.",
)
@setting("keep-going", is_flag=True, help="Tell of evidence that cannot be read, and go on.")
@setting(
    "fail-on",
    type=click.Choice(values_of(FailOn)),
    default=FailOn.MUST.value,
    show_default=True,
    help="Exit with 1 for a non-conformant clause of this level; inconclusive adds partly.",
)
@setting(
    "color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="NO_COLOR and FORCE_COLOR decide when auto.",
)
@click.option("-q", "--quiet", is_flag=True, help="The tally only.")
@click.option("-v", "--verbose", is_flag=True, help="Every row with all its evidence; tracebacks.")
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Merge tests, the official suite, probes and recordings into one matrix of clauses.

    Each MUST, MUST NOT, SHOULD and SHOULD NOT that binds the audited party is a row with a
    verdict and its evidence.
    """
    from clausewise.app.audit import run
    from clausewise.app.audit_config import load
    from clausewise.app.audit_page import Page
    from clausewise.app.exit import matrix_exit_code

    if values["quiet"] and values["verbose"]:
        raise UsageError("both --quiet and --verbose", "Give one of them.")
    if values["check"] and values["write"] is not None:
        raise UsageError("both --check and --write", "--check writes nothing: give one of them.")
    config = load(values["config"], Path.cwd())
    matrix = run(config, keep_going=values["keep_going"])
    page = Page(config.root, values["write"] or config.page)
    compared = page.compare(matrix)
    _tell(compared, checking=values["check"])
    if values["write"] is not None:
        page.write(matrix)
        log(f"wrote {page.path} and {page.record}")
    chosen = MatrixFormat(values["format_"])
    show(render(matrix, chosen, _options(values)), for_people=chosen is MatrixFormat.HUMAN)
    code = matrix_exit_code(matrix, FailOn(values["fail_on"]))
    if values["check"] and code is not ExitCode.NOTHING_JUDGED:
        code = ExitCode.FINDINGS if compared.falls or compared.stale else ExitCode.OK
    ctx.exit(code)


def _tell(compared: Comparison, *, checking: bool) -> None:
    """What became of the record; that it is stale matters only where it is checked."""
    told = [f"fell: {f.id} was {f.was}, is {f.now or 'no row any more'}" for f in compared.falls]
    told += [f"lost: {t.id} was shown by {t.test} at {t.pointer}" for t in compared.lost]
    for line in told[:_TOLD]:
        log(line)
    if len(told) > _TOLD:
        log(f"and {len(told) - _TOLD} more fell or are lost")
    if checking:
        for path in compared.stale:
            log(f"stale: {path}; write it with `clausewise audit --write`")
        if compared.changed:
            more = len(compared.changed) - _TOLD
            shown = ", ".join(compared.changed[:_TOLD])
            log(f"changed: {shown}{f' and {more} more' if more > 0 else ''}")


def _options(values: Mapping[str, Any]) -> ReportOptions:
    detail = Detail.TOTALS if values["quiet"] else Detail.FINDINGS
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return ReportOptions(
        width=terminal_width(),
        colour=use_colour(values["color"], sys.stdout),
        unicode=encoding.startswith("utf"),
        detail=Detail.EVERYTHING if values["verbose"] else detail,
    )
