"""The entry point: run a command, turn errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from clausewise import __version__
from clausewise.cli.commands import root_help

_INTERRUPTED = 130
_BROKEN_PIPE = 141
_COMPLETION = "_CLAUSEWISE_COMPLETE"


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run `clausewise` with `argv` (default: the process's arguments) and exit."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _answer(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _BROKEN_PIPE
    sys.exit(code)


def _answer(arguments: list[str]) -> int:
    """Answer what needs no command at once; importing click takes longer than both."""
    if _COMPLETION not in os.environ:
        if arguments in (["--help"], ["-h"]):
            sys.stdout.write(root_help())
            return 0
        if arguments == ["--version"]:
            sys.stdout.write(f"clausewise {__version__}\n")
            return 0
        if not arguments:
            sys.stderr.write(root_help())
            return 2
    return _run(arguments)


def _run(arguments: list[str]) -> int:
    import click

    from clausewise.cli.group import cli
    from clausewise.core.errors import ClausewiseError

    if _COMPLETION in os.environ:
        cli.main(arguments, prog_name="clausewise")
    try:
        with cli.make_context("clausewise", arguments) as context:
            cli.invoke(context)
    except BrokenPipeError:
        raise
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        _complain(error.format_message(), f"See `{path} --help`." if path else "")
        return 2
    except ClausewiseError as error:
        _complain(error.message, error.hint)
        _trace(arguments)
        return int(error.exit_code)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a fault of ours
        _complain(
            f"a fault of Clausewise itself: {type(error).__name__}: {error}",
            "Run it again with -v and report the traceback.",
        )
        _trace(arguments)
        return 2
    return 0


def _complain(message: str, hint: str) -> None:
    from clausewise.report.text import visible

    sys.stderr.write(f"error: {visible(message)}\n")
    if hint:
        sys.stderr.write(f"hint: {visible(hint)}\n")


def _trace(arguments: list[str]) -> None:
    """Show the traceback of the exception being handled, when -v asks for it."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--verbose" in own or any(a.startswith("-v") and set(a[1:]) == {"v"} for a in own):
        import traceback

        sys.stderr.write(traceback.format_exc())
