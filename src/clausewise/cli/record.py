"""`clausewise record`: stand between a client and a server, and write a trace."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clausewise.cli.address import parse_address
from clausewise.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clausewise.core.results import Finding
    from clausewise.record.journal import Journal

_EPILOG = """\b
Examples:
  clausewise record -o s.jsonl -- python my_server.py
  clausewise record -o s.jsonl --upstream http://127.0.0.1:3001/mcp
  clausewise validate s.jsonl

In the first form, put the whole line where the client's configuration names the server's
command. Bytes, ends of streams, signals and the exit status are handed on unchanged.

In the second form, give the client the URL that is printed. Each connection of a client has
its own connection to the server, and its bytes pass unchanged and at once, framing, order and
case of headers included. Changed is only the value of Host, to that of the server; the path,
Origin and all else stay, and no Via is added. On its own account the proxy answers only 502
(the server cannot be reached), 503 (too many connections) and, when it listens on loopback,
403 to a foreign Host, the sign of DNS rebinding.

A trace holds headers by an allowlist, and placeholders for what looks like a credential."""


@click.command(epilog=_EPILOG)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="The trace; if s.jsonl exists, the next free of s.2.jsonl, s.3.jsonl, ...",
)
@click.option("--overwrite", is_flag=True, help="Replace a FILE that exists.")
@click.option("--upstream", metavar="URL", help="Record a server over Streamable HTTP.")
@click.option(
    "--listen",
    default="127.0.0.1:0",
    show_default=True,
    metavar="HOST:PORT",
    help="Where clients connect; port 0 is any.",
)
@click.option("--allow-remote", is_flag=True, help="Let --listen be no loopback address.")
@click.option("--ca-file", type=click.Path(), help="Trust these authorities (PEM) upstream.")
@click.option("--insecure", is_flag=True, help="Accept any certificate upstream.")
@click.option("--keep-payloads", is_flag=True, help="Keep what looks like a credential.")
@click.option("--live", is_flag=True, help="Print findings about 2025-11-25 as they happen.")
@click.argument("command_line", nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD ARG...]")
@click.pass_context
def command(ctx: click.Context, /, command_line: tuple[str, ...], **values: Any) -> None:
    """Record sessions between any client and a server, on either transport."""
    if bool(command_line) == bool(values["upstream"]):
        raise UsageError(
            "give either --upstream URL or a command after --",
            "For example: clausewise record -o s.jsonl -- python my_server.py",
        )
    with _journal(values) as journal:
        if values["upstream"]:
            _record_http(journal, values)
            code = 0
        else:
            from clausewise.record.stdio import record_process

            code = record_process(command_line, journal)
        broken = journal.broken
    if code < 0:
        _end_by_signal(-code)
    if broken and not command_line:
        raise UsageError("the recording is not complete", "Free some space and record again.")
    ctx.exit(code)


@contextmanager
def _journal(values: dict[str, Any]) -> Iterator[Journal]:
    """The recording, with a judge beside it when findings are wanted live."""
    from clausewise.record.journal import Journal, open_recording

    keep = values["keep_payloads"]
    writer, path = open_recording(
        values["output"], overwrite=values["overwrite"], keep_payloads=keep
    )
    with writer:
        if not values["live"]:
            yield Journal(writer, keep_payloads=keep, complain=_say)
        else:
            from clausewise.judge.engine import Judge

            judge = Judge(str(path), on_finding=_finding_teller())
            yield Journal(writer, keep_payloads=keep, complain=_say, listeners=(judge.feed,))
            judge.finish()
    if path != values["output"]:
        _say(f"recorded to {path}, since {values['output']} exists")


def _record_http(journal: Journal, values: dict[str, Any]) -> None:
    import anyio

    from clausewise.record.proxy import ProxyOptions, serve_proxy_until_signal
    from clausewise.transport.targets import HttpTarget

    if values["ca_file"] and values["insecure"]:
        raise UsageError("both --ca-file and --insecure", "Give one of them.")
    upstream = HttpTarget(
        values["upstream"], verify=not values["insecure"], ca_file=values["ca_file"]
    )
    host, port = parse_address(values["listen"])
    options = ProxyOptions(upstream, host, port, values["allow_remote"])
    anyio.run(serve_proxy_until_signal, options, journal, click.echo, _say)


def _finding_teller() -> Callable[[str, Finding], None]:
    def tell(clause: str, finding: Finding) -> None:
        where = f" at seq {finding.at.seq}" if finding.at is not None else ""
        _say(
            f"{finding.severity.value} {clause} by the {finding.party.value}{where}: "
            f"{finding.message} "
            f"(seen: {finding.seen}; due: {finding.expected}) {finding.url}"
        )

    return tell


def _say(text: str) -> None:
    """Tell the user, if anyone still reads standard error."""
    from clausewise.report.text import visible

    with suppress(OSError):
        sys.stderr.write(f"clausewise: {visible(text)}\n")
        sys.stderr.flush()


def _end_by_signal(number: int) -> None:
    """End as the server ended, so that the client sees the same; without a core of our own."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
