"""`clausewise reference client --oauth`, as docs/reference-client.md has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from click.testing import CliRunner, Result

from clausewise.cli.reference_client import command
from clausewise.core.errors import BarredError
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http

CLIENT = ("--oauth", "--client-id", "clausewise-reference-client")
WRITES = """
[[step]]
do = "call"
tool = "touch_counter"
"""


@pytest.fixture
def url() -> Iterator[str]:
    """The URL of a protected server."""
    serving = serve_http(ServerOptions(protected=True))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving) as url:
        yield url


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_known_client_gets_a_token_and_one_for_more_where_that_is_needed(
    url: str, era: str, tmp_path: Path
) -> None:
    script, trace = tmp_path / "script.toml", tmp_path / "trace.jsonl"
    script.write_text(WRITES)
    result = run(url, *CLIENT, "--era", era, "--script", str(script), "--save-trace", str(trace))
    assert result.exit_code == 0, result.output
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    refusals = [event["status"] for event in events if event.get("status") in (401, 403)]
    assert refusals == [401, 403]
    sent = {event["headers"].get("authorization") for event in events if "method" in event}
    assert sent == {None, "[redacted]"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "401"),
        (("--oauth",), "nobody can register"),
        (("--oauth", "--client-id", "somebody"), "HTTP 400"),
        ((*CLIENT, "--issuer", "https://elsewhere.example"), "no use at another"),
    ],
)
def test_others_are_not_let_in_and_told_why(url: str, options: tuple[str, ...], says: str) -> None:
    with pytest.raises(BarredError) as caught:
        run(url, *options)
    assert says in f"{caught.value.message} {caught.value.hint}"
