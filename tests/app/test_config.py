"""Configuration files: where they are found and what they may hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from clausewise.app.config import Config, find
from clausewise.core.errors import ConfigError


def test_the_nearest_file_upward_is_taken(tmp_path: Path) -> None:
    (tmp_path / "clausewise.toml").write_text('fail-on = "should"')
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find(deep).settings == {"fail-on": "should"}
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.clausewise]\nfail-on = "never"')
    found = find(deep)
    assert found.settings == {"fail-on": "never"}
    assert found.source == tmp_path / "a" / "pyproject.toml"


def test_a_pyproject_without_our_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "clausewise.toml").write_text("timeout = 2.5")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "x"')
    assert find(inner).settings == {"timeout": 2.5}


def test_clausewise_toml_comes_before_pyproject_toml(tmp_path: Path) -> None:
    (tmp_path / "clausewise.toml").write_text('level = "must"')
    (tmp_path / "pyproject.toml").write_text('[tool.clausewise]\nlevel = "may"')
    assert find(tmp_path).settings == {"level": "must"}


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "clausewise.toml").write_text('baseline = "known.json"\nca-file = "/etc/ca.pem"')
    inner = tmp_path / "inner"
    inner.mkdir()
    assert find(inner).settings == {
        "baseline": str(tmp_path / "known.json"),
        "ca-file": "/etc/ca.pem",
    }


def test_no_file_gives_no_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "clausewise.toml").write_text("")
    assert find(tmp_path) == Config(tmp_path / "clausewise.toml", {})


@pytest.mark.parametrize(
    ("text", "complaint", "hint"),
    [
        ("fail_on = 'must'", "unknown key 'fail_on'", "Did you mean fail-on?"),
        ("colour = 'auto'", "unknown key 'colour'", "Did you mean color?"),
        ("zzz = 1", "unknown key 'zzz'", "Keys: revision, "),
        ("fail-on = 'shall'", "fail-on is 'shall'", "must or should or inconclusive or never"),
        ("select = 'MCP-ERR'", "select is 'MCP-ERR'", "a list of strings"),
        ("select = [1]", r"select is \[1\]", "a list of strings"),
        ("timeout = '5'", "timeout is '5'", "a number greater than 0"),
        ("timeout = 0", "timeout is 0", "a number greater than 0"),
        ("timeout = true", "timeout is True", "a number greater than 0"),
        ("keep-going = 1", "keep-going is 1", "true or false"),
        ("baseline = ''", "baseline is ''", "a path"),
        ("x = ", "is no TOML", "Correct"),
    ],
)
def test_a_wrong_setting_is_an_error_that_helps(
    tmp_path: Path, text: str, complaint: str, hint: str
) -> None:
    (tmp_path / "clausewise.toml").write_text(text)
    with pytest.raises(ConfigError, match=complaint) as caught:
        find(tmp_path)
    assert str(tmp_path / "clausewise.toml") in caught.value.message
    assert hint in caught.value.hint


def test_a_table_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nclausewise = 3")
    with pytest.raises(ConfigError, match="no table"):
        find(tmp_path)
