"""`clausewise check --list`: what would be judged and what not, without a probe."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeAlias

import jsonschema_rs
import pytest
from anyio.from_thread import start_blocking_portal
from tests.probe import fake_server
from tests.probe.fake_server import Fault, Reply, Request
from tests.probe.legacy_replies import legacy

from clausewise.core.vocabulary import Era
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.report.catalogue import schema

Run: TypeAlias = Callable[..., CompletedProcess[str]]
Subjects: TypeAlias = dict[str, dict[str, Any]]

REFERENCE = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")


@contextmanager
def reference(era: Era = Era.DUAL, *, protected: bool = False) -> Iterator[str]:
    options = ServerOptions(era, protected=protected)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_http(options)) as url,
    ):
        yield url


@contextmanager
def fake(fault: Fault) -> Iterator[str]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(fake_server.serve_http(fault)) as url,
    ):
        yield url


def plan(ran: CompletedProcess[str]) -> tuple[dict[str, Any], Subjects]:
    assert ran.returncode == 0, ran.stderr
    record = json.loads(ran.stdout)
    jsonschema_rs.Draft202012Validator(schema("plan-1"), offline=True).validate(record)
    return record, {subject["id"]: subject for subject in record["subjects"]}


def test_each_rule_and_clause_says_whether_it_would_be_looked_at_and_why_not(
    clausewise: Run,
) -> None:
    with reference() as url:
        record, subjects = plan(clausewise("check", url, "--list", "--format", "json"))
    assert (record["era"], record["target"]["name"]) == ("dual", url)
    ids = [(s["kind"], s["revision"], s["id"]) for s in record["subjects"]]
    assert ids == sorted(ids, key=lambda key: (key[0] != "rule", *key[1:]))
    assert subjects["MCP-HDR-001"]["runs"]
    assert subjects["MCP-HDR-001"]["means"] == "probe"
    assert subjects["MCP-ERR-004"]["means"] == "traffic"
    assert subjects["BASE-001"]["means"] == "recording"
    not_run = {name: (s["outcome"], s["reason"]) for name, s in subjects.items() if not s["runs"]}
    modern_only = "the rule is about servers that speak no earlier revision"
    assert not_run["MCP-STL-005"] == ("not-applicable", modern_only)
    assert not_run["MCP-AUT-008"][0] == "not-observed"
    assert "--foreign-token" in not_run["MCP-AUT-008"][1]
    assert "--server-json" in not_run["MCP-REG-001"][1]
    assert not_run["AUTH-001"][0] == "excluded"


def test_what_is_listed_as_run_is_what_a_run_decides_no_other_way(clausewise: Run) -> None:
    """What the list says would not be looked at gets that very outcome and reason in a run."""
    with reference() as url:
        _, subjects = plan(clausewise("check", url, "--list", "--format", "json"))
        checked = json.loads(clausewise("check", url, "--format", "json").stdout)
    verdicts = {verdict["id"]: verdict for verdict in checked["results"]}
    assert subjects.keys() == verdicts.keys()
    for name, subject in subjects.items():
        if not subject["runs"]:
            found = (verdicts[name]["outcome"], verdicts[name]["reason"])
            assert found == (subject["outcome"], subject["reason"]), name
        else:
            assert verdicts[name]["outcome"] != "excluded", name
            assert "planned" not in (verdicts[name]["reason"] or ""), name


def test_no_probe_is_run_and_no_tool_called(clausewise: Run) -> None:
    sent: list[tuple[str, str]] = []

    def watch(request: Request, right: Reply) -> Reply:
        sent.append((request.http_method, request.method))
        return right

    with fake(watch) as url:
        record, _ = plan(clausewise("check", url, "--list", "--format", "json"))
    asked = {("POST", name) for name in ("server/discover", "initialize", "tools/list")}
    assert set(sent) == asked
    assert record["tools"] == {"callable": ["steps", "ask", "echo"], "spared": ["erase"]}


def test_a_named_tool_may_be_called(clausewise: Run) -> None:
    with fake(lambda _, right: right) as url:
        ran = clausewise("check", url, "--list", "--format", "json", "--call-tool", "erase")
    assert plan(ran)[0]["tools"] == {"callable": ["steps", "ask", "echo", "erase"], "spared": []}


def test_a_legacy_server_has_no_rule_but_its_tools_are_told(clausewise: Run) -> None:
    with reference(Era.LEGACY) as url:
        record, subjects = plan(clausewise("check", url, "--list", "--format", "json"))
    assert "echo" in record["tools"]["callable"]
    assert "touch_counter" in record["tools"]["spared"]
    rules = {(s["outcome"], s["reason"]) for s in subjects.values() if s["kind"] == "rule"}
    assert rules == {("not-applicable", "the server speaks only the legacy era")}


def test_the_session_that_shows_the_era_is_ended(clausewise: Run) -> None:
    deleted: list[str] = []

    def watch(request: Request, _: Reply) -> Reply:
        if request.http_method == "DELETE":
            deleted.append(request.headers["mcp-session-id"])
        return legacy(request)

    with fake(watch) as url:
        plan(clausewise("check", url, "--list", "--format", "json"))
    assert len(deleted) == 1


def test_a_protected_server_without_a_token_tells_what_can_be_judged_from_outside(
    clausewise: Run,
) -> None:
    with reference(protected=True) as url:
        record, subjects = plan(clausewise("check", url, "--list", "--format", "json"))
    assert record["era"] is None
    running = {name for name, subject in subjects.items() if subject["runs"]}
    assert "MCP-AUT-001" in running
    assert "MCP-HDR-001" not in running
    assert "--bearer" in subjects["MCP-HDR-001"]["reason"]


def test_a_given_server_json_lets_its_rules_run(clausewise: Run, tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    path.write_text("{}")
    arguments = ("--list", "--format", "json", "--server-json", str(path), "--select", "MCP-REG")
    with reference() as url:
        _, subjects = plan(clausewise("check", url, *arguments))
    assert {subject["runs"] for subject in subjects.values()} == {True}


def test_on_stdio_and_for_people_it_fits_the_page(clausewise: Run) -> None:
    ran = clausewise("check", "--list", "--select", "MCP-ERR,MCP-HDR,BASE", "--", *REFERENCE)
    assert ran.returncode == 0
    lines = ran.stdout.splitlines()
    assert lines[1].startswith("server clausewise-reference ")
    assert any(line.startswith("tools that may be called: echo,") for line in lines)
    assert "8 of 18 rules would be looked at" in lines
    assert "  MCP-ERR-007  probe, calls tools " in ran.stdout
    assert "  not-applicable: the rule is about streamable-http" in lines
    assert any(line.startswith("  on the recording: BASE-001, BASE-002") for line in lines)
    assert max(len(line) for line in lines[1:]) <= 100


def test_hostile_names_cannot_act_on_the_terminal(clausewise: Run) -> None:
    def evil(request: Request, right: Reply) -> Reply:
        if request.method != "tools/list":
            return right
        return right.with_result(tools=[{"name": "\x1b[2J\u202e", "inputSchema": {}}])

    with fake(evil) as url:
        ran = clausewise("check", url, "--list")
    assert "\\x1b[2J\\u202e" in ran.stdout
    assert not set("\x1b\u202e") & set(ran.stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "junit"), "no format junit"),
        (("--report", "json=x.json"), "--report"),
        (("--save-trace", "t.jsonl"), "--save-trace"),
        (("--write-baseline", "b.json"), "--write-baseline"),
    ],
)
def test_what_needs_a_whole_run_is_refused(
    clausewise: Run, arguments: tuple[str, ...], said: str
) -> None:
    ran = clausewise("check", "http://127.0.0.1:9/mcp", "--list", *arguments)
    assert (ran.returncode, said in ran.stderr) == (2, True)


def test_nobody_there_is_exit_3(clausewise: Run) -> None:
    ran = clausewise("check", "--list", "http://127.0.0.1:9/mcp")
    assert (ran.returncode, "127.0.0.1" in ran.stderr) == (3, True)


def test_a_secret_in_the_url_is_not_shown(clausewise: Run) -> None:
    with reference() as url:
        ran = clausewise("check", f"{url}?key=s3cret-key", "--list")
    assert "s3cret-key" not in ran.stdout + ran.stderr


def test_rate_and_concurrency_are_taken_from_line_and_file(clausewise: Run, tmp_path: Path) -> None:
    (tmp_path / "clausewise.toml").write_text("rate = 200\nconcurrency = 2\n")
    with reference() as url:
        ran = clausewise("check", url, "--select", "MCP-DSC-001", "--format", "json")
        slow = clausewise("check", url, "--select", "MCP-DSC-001", "--rate", "1e-3", "--max-time=1")
    assert ran.returncode == 0
    assert slow.returncode == 3
    for wrong in (("--rate", "0"), ("--concurrency", "0"), ("--concurrency", "many")):
        assert clausewise("check", "http://127.0.0.1:9/mcp", *wrong).returncode == 2
