"""The entry point: help, errors, exit codes, signals, pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import TypeAlias

import click
import pytest

import clausewise.cli.group
from clausewise import __version__
from clausewise.cli.commands import SUMMARIES, root_help
from clausewise.core.errors import TraceError, UsageError

Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = ("anyio", "click", "h11", "jsonschema_rs", "orjson", "rich")


@pytest.mark.parametrize("option", ["--help", "-h", "--version"])
def test_help_and_version_import_nothing_heavy(option: str) -> None:
    program = (
        "import sys, atexit\n"
        f"sys.argv = ['clausewise', {option!r}]\n"
        f"atexit.register(lambda: print([m for m in {HEAVY} if m in sys.modules], "
        "file=sys.stderr))\n"
        "from clausewise.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()) == (0, "[]")
    assert done.stdout


def test_the_top_help_names_every_command_and_exit_code(clausewise: Run) -> None:
    ran = clausewise("--help")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, root_help(), "")
    assert all(f"  {name} " in ran.stdout for name in SUMMARIES)
    assert all(f"\n  {code}  " in ran.stdout for code in range(4))


def test_the_version_is_told(clausewise: Run) -> None:
    assert clausewise("--version").stdout == f"clausewise {__version__}\n"


def test_no_command_is_a_usage_error_with_the_help(clausewise: Run) -> None:
    ran = clausewise()
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", root_help())


@pytest.mark.parametrize("name", list(SUMMARIES))
def test_each_command_has_help(clausewise: Run, name: str) -> None:
    ran = clausewise(name, "--help")
    assert ran.returncode == 0
    assert ran.stdout.startswith(f"Usage: clausewise {name} ")


@pytest.mark.parametrize("name", ["check", "validate", "report"])
def test_help_teaches_by_examples(clausewise: Run, name: str) -> None:
    assert f"Examples:\n    clausewise {name} " in clausewise(name, "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (("chekc",), "no command 'chekc'", "Did you mean check?"),
        (("zzz",), "no command 'zzz'", "Commands: check, "),
        (("validate", "--formt", "json", "x"), "No such option '--formt'", "validate --help"),
        (("validate",), "Missing argument 'TRACE...'", "See `clausewise validate --help`."),
        (("validate", "x", "--format", "pdf"), "Invalid value for '--format'", "--help"),
        (("validate", "x", "--report", "json"), "is not FORMAT=PATH", "junit=result.xml"),
        (("validate", "x", "--report", "jsn=a"), "no format 'jsn'", "Did you mean json?"),
        (("validate", "x", "--select", "ZZZ"), "begins with 'ZZZ'", "clausewise rules"),
        (("validate", "x", "-q", "-v"), "both --quiet and --verbose", "one of them"),
    ],
)
def test_a_wrong_use_is_told_with_the_next_step(
    clausewise: Run, arguments: tuple[str, ...], error: str, hint: str
) -> None:
    ran = clausewise(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    first, second, *rest = ran.stderr.splitlines()
    assert first.startswith("error: ")
    assert error in first
    assert second.startswith("hint: ")
    assert hint in second
    assert rest == [] or "-v" in arguments


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("check", context_settings={"ignore_unknown_options": True})
    @click.argument("rest", nargs=-1)
    def command(rest: tuple[str, ...]) -> None:
        raise error

    monkeypatch.setattr(
        clausewise.cli.group.CommandsByName, "get_command", lambda _self, _ctx, _name: command
    )


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (UsageError("wrong", "right"), 2, "error: wrong\nhint: right\n"),
        (TraceError("empty"), 3, "error: empty\n"),
        (UsageError("a\x1b[31m\nb"), 2, "error: a\\x1b[31m\\nb\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_error_has_its_exit_code_and_message(
    clausewise: Run,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    told: str,
) -> None:
    raising(error, monkeypatch)
    ran = clausewise("check")
    assert (ran.returncode, ran.stdout, ran.stderr.lstrip("\n")) == (code, "", told)


def test_a_fault_of_ours_is_exit_2_and_shows_its_traceback_only_with_v(
    clausewise: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(ZeroDivisionError("oops"), monkeypatch)
    brief = clausewise("check")
    assert brief.returncode == 2
    assert "a fault of Clausewise itself: ZeroDivisionError: oops" in brief.stderr
    assert "Traceback" not in brief.stderr
    assert "Traceback" not in clausewise("check", "--", "-v").stderr
    assert "Traceback" in clausewise("check", "-v").stderr


def test_a_closed_pipe_is_quiet() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "clausewise", "requirements", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_shell_completion_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from clausewise.cli.main import main; main()"],
        check=False,
        env={
            "_CLAUSEWISE_COMPLETE": "bash_complete",
            "COMP_WORDS": "clausewise va",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["plain,validate"]
