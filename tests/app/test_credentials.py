"""Headers and tokens: their sources, what is refused, and that nothing shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clausewise.app.credentials import Secrets, credential_headers, header_secrets, query_values
from clausewise.core.errors import UsageError

ENVIRON = {"TOKEN": "tok-123456", "EMPTY": "", "EVIL": "a\r\nX: y"}


def test_values_come_from_the_line_the_environment_or_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from-file\n")
    lines = tmp_path / "headers"
    lines.write_text("X-One: 1\n\nX-Two: env:TOKEN\n")
    given = ["X-Plain: a: b", "X-Env: env:TOKEN", f"X-File: file:{secret}", f"@{lines}"]
    assert credential_headers(given, "env:TOKEN", ENVIRON) == (
        ("X-Plain", "a: b"),
        ("X-Env", "tok-123456"),
        ("X-File", "from-file"),
        ("X-One", "1"),
        ("X-Two", "tok-123456"),
        ("Authorization", "Bearer tok-123456"),
    )


@pytest.mark.parametrize(
    ("headers", "bearer", "complaint"),
    [
        (["no-colon"], None, "not NAME: VALUE"),
        (["bad name: x"], None, "not NAME: VALUE"),
        (["X: "], None, "empty value"),
        (["X: env:NONE"], None, "variable NONE, which is not set"),
        (["X: env:EMPTY"], None, "empty value"),
        (["X: env:EVIL"], None, "character that no header may hold"),
        (["X: \u6f22"], None, "character that no header may hold"),
        (["X: file:/no/such/file"], None, "names the file /no/such/file"),
        (["@/no/such/file"], None, "names the file /no/such/file"),
        (["Mcp-Method: x"], None, "belongs to the probes"),
        (["mcp-param-region: x"], None, "belongs to the probes"),
        (["content-type: text/plain"], None, "belongs to the probes"),
        (["authorization: Basic abc"], "t", "both --bearer and an Authorization header"),
        ([], "env:NONE", "--bearer names the variable NONE"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    headers: list[str], bearer: str | None, complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        credential_headers(headers, bearer, ENVIRON)


def test_a_refusal_never_holds_the_value() -> None:
    with pytest.raises(UsageError) as caught:
        credential_headers(["X: secret\x00value"], None, ENVIRON)
    assert "secret" not in caught.value.message + caught.value.hint


def test_secrets_are_hidden_but_no_short_word_and_no_scheme() -> None:
    headers = (("authorization", "Bearer tok-123456"), ("X-Key", "a long key"), ("X-Tier", "gold"))
    secrets = Secrets(header_secrets(headers))
    assert secrets.hide("Bearer tok-123456, a long key, a gold Bearer") == (
        "Bearer [redacted], [redacted], a gold Bearer"
    )


def test_the_longer_of_two_secrets_is_hidden_first() -> None:
    assert Secrets(["abcdefgh", "abcdefghij"]).hide("abcdefghij abcdefgh") == (
        "[redacted] [redacted]"
    )


def test_secrets_are_hidden_in_json_text_with_and_without_escapes() -> None:
    secrets = Secrets(['say "päss"!'])
    text = json.dumps({"a": 'say "päss"!'}).encode()
    raw = json.dumps({"a": 'say "päss"!'}, ensure_ascii=False).encode()
    assert secrets.hide_bytes(text) == secrets.hide_bytes(raw) == b'{"a": "[redacted]"}'


def test_the_values_of_a_query_are_found() -> None:
    assert query_values("http://h/mcp?api_key=abc%20d&flag&x=1#f") == ("abc%20d", "1")
