"""The README is true: its commands run, and print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clausewise.app import config

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
SESSIONS = [text for kind, text in BLOCKS if kind == "console" and text.startswith("$ ")]
LEFT_OUT = "…\n"


@pytest.mark.parametrize("session", SESSIONS, ids=lambda text: text.splitlines()[0])
def test_a_command_prints_what_the_readme_shows(session: str) -> None:
    first, _, expected = session.partition("\n")
    program, *arguments = shlex.split(first.removeprefix("$ "))
    assert program == "clausewise"
    run = subprocess.run(
        [sys.executable, "-m", "clausewise", *arguments],
        cwd=ROOT,
        env={"COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    pattern = ".*".join(map(re.escape, expected.split(LEFT_OUT)))
    assert re.fullmatch(pattern, run.stdout, re.DOTALL), run.stdout + run.stderr


def test_every_command_named_in_the_readme_has_help() -> None:
    commands = set(re.findall(r"clausewise ([a-z]+)\b", README)) - {"takes"}
    assert {"check", "validate", "explain", "report", "reference"} <= commands
    for command in commands:
        run = subprocess.run(
            [sys.executable, "-m", "clausewise", command, "--help"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert run.returncode == 0, command
        for option in re.findall(rf"clausewise {command} [^`\n#]*?(--[a-z][a-z-]+)", README):
            if command != "reference":
                assert option in run.stdout, (command, option)


def test_every_make_target_named_in_the_readme_exists() -> None:
    targets = set(re.findall(r"make ([a-z-]+)", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_configuration_in_the_readme_is_accepted(tmp_path: Path) -> None:
    (block,) = (text for kind, text in BLOCKS if kind == "toml")
    assert set(tomllib.loads(block)) == {"fail-on", "ignore", "baseline"}
    (tmp_path / "clausewise.toml").write_text(block, encoding="utf-8")
    assert config.find(tmp_path).settings["fail-on"] == "should"
