"""How the reference client is told to get tokens."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from clausewise.cli.client_authorization import auth_options_of, authorization_options
from clausewise.core.errors import UsageError
from clausewise.reference.client.auth.options import (
    DEFAULT_REDIRECT_URI,
    AuthOptions,
    Grant,
    RegisteredClient,
)


def given(*arguments: str) -> AuthOptions | None:
    """What the options mean."""
    seen: list[AuthOptions | None] = []

    @click.command()
    @authorization_options
    def command(**values: object) -> None:
        seen.append(auth_options_of(values))

    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return seen[0]


def test_without_the_flag_no_tokens_are_asked_for() -> None:
    assert given() is None


def test_the_flag_alone_means_a_client_that_registers() -> None:
    options = given("--oauth")
    assert options == AuthOptions()
    assert options.redirect_uri == DEFAULT_REDIRECT_URI


def test_a_known_client_may_have_a_secret_and_one_authorization_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THE_SECRET", "s")
    secret = ("--client-secret", "env:THE_SECRET", "--issuer", "https://as.example")
    options = given("--oauth", "--client-id", "me", *secret, "--own-behalf")
    client = RegisteredClient("me", "https://as.example", "s")
    assert options == AuthOptions((client,), grant=Grant.CLIENT_CREDENTIALS)


def test_a_known_client_may_have_a_key(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("-----BEGIN")
    key = ("--client-key", str(tmp_path / "key.pem"), "--client-key-algorithm", "RS256")
    options = given("--oauth", "--client-id", "me", *key)
    assert options == AuthOptions((RegisteredClient("me", key="-----BEGIN", algorithm="RS256"),))


def test_a_client_may_be_what_a_document_describes() -> None:
    where = ("--client-metadata-url", "https://c.example/m", "--redirect-uri", "http://localhost/x")
    options = given("--oauth", *where)
    assert options == AuthOptions(
        metadata_url="https://c.example/m", redirect_uri="http://localhost/x"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--client-id", "me"), "--client-id is of no use without --oauth"),
        (("--own-behalf",), "--own-behalf is of no use without --oauth"),
        (("--oauth", "--client-secret", "s"), "--client-secret without --client-id"),
        (("--oauth", "--issuer", "https://as.example"), "--issuer without --client-id"),
        (("--oauth", "--client-id", "me", "--client-key", "/no/such"), "/no/such"),
        (("--oauth", "--client-id", "me", "--client-secret", "env:UNSET_X"), "UNSET_X"),
        (("--oauth", "--redirect-uri", "ftp://x"), "redirect"),
        (("--oauth", "--client-metadata-url", "http://c.example/m"), "client_id"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        given(*arguments)


def test_a_key_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key.der").write_bytes(b"\xff\x00")
    with pytest.raises(UsageError, match="no PEM"):
        given("--oauth", "--client-id", "me", "--client-key", str(tmp_path / "key.der"))
