"""`clausewise reference`: the project's own server and client, right or with a deliberate fault."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import click

from clausewise.cli.address import parse_address
from clausewise.cli.reference_client import command as client
from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Era
from clausewise.reference.defects import list_defects
from clausewise.reference.options import ServerOptions
from clausewise.reference.process import serve_http_until_signal, serve_stdio

_STDIO = "stdio"
_NOWHERE = ("127.0.0.1", 0)


@click.group("reference", help="Run the reference implementation, with or without a defect.")
def command() -> None:
    """The group of reference implementations."""


command.add_command(client)


def _print_defects(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Print every defect with what it must trip, and leave."""
    if not wanted:
        return
    for defect in list_defects():
        trips = ", ".join((*defect.rules, *defect.clauses))
        click.echo(f"{defect.name}  [{trips}]\n    {defect.summary}")
    context.exit()


@command.command("server")
@click.option(
    "--http", "address", metavar="HOST:PORT", help="Serve over Streamable HTTP; port 0 is any."
)
@click.option(
    "--stdio",
    "address",
    flag_value=_STDIO,
    help="Serve the parent process over stdin and stdout.",
)
@click.option(
    "--era", type=click.Choice([e.value for e in Era]), default=Era.DUAL.value, show_default=True
)
@click.option("--defect", "defects", metavar="NAME", multiple=True, help="A fault; repeatable.")
@click.option("--logging", is_flag=True, help="Offer modern-era log messages.")
@click.option(
    "--fixtures",
    is_flag=True,
    help="Offer what the official conformance suite expects.",
)
@click.option(
    "--auth",
    "protected",
    is_flag=True,
    help="Want a token; an authorization server and three tokens come with it.",
)
@click.option("--allow-remote", is_flag=True, help="Let an address be bound that is no loopback.")
@click.option(
    "--list-defects",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_defects,
    help="Print the defects and what each must trip.",
)
def server(address: str | None, era: str, defects: tuple[str, ...], **flags: Any) -> None:
    """Serve MCP: right by construction, wrong only in the defects named.

    It has every feature of both eras, each shown by a tool, prompt or resource that says so in
    its description: content of all kinds, progress, cancellation, elicitation, sampling, roots,
    subscriptions, tasks (2025-11-25). Nothing that it does has an effect outside of it.

    \b
    clausewise reference server --http 127.0.0.1:3001
    clausewise reference server --stdio --era legacy --defect ping-result-with-member
    """
    if address is None:
        raise UsageError("no transport chosen", "Pass either --http HOST:PORT or --stdio.")
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    host, port = _NOWHERE if address == _STDIO else parse_address(address)
    options = ServerOptions(Era(era), defects, host, port, **flags)
    if address == _STDIO:
        anyio.run(serve_stdio, options)
    else:
        anyio.run(serve_http_until_signal, options, click.echo)
