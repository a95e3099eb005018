"""The options by which the reference client is told how to get tokens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from clausewise.app.credentials import bearer_token
from clausewise.cli.settings import together
from clausewise.core.errors import UsageError
from clausewise.reference.client.auth.options import (
    DEFAULT_REDIRECT_URI,
    AuthOptions,
    Grant,
    RegisteredClient,
)

_OF_KNOWN_CLIENT = ("client_secret", "client_key", "issuer")
_DETAILS = ("client_id", *_OF_KNOWN_CLIENT, "client_metadata_url", "redirect_uri", "own_behalf")

authorization_options = together(
    click.option("--oauth", is_flag=True, help="Get a token by OAuth when the server wants one."),
    click.option("--client-id", metavar="ID", help="Be the client that was registered as ID."),
    click.option("--client-secret", metavar="TEXT", help="Its secret; best as env:NAME."),
    click.option(
        "--client-key", metavar="FILE", help="Its private key (PEM) in place of a secret."
    ),
    click.option("--client-key-algorithm", metavar="ALG", default="ES256", show_default=True),
    click.option("--issuer", metavar="URL", help="The only authorization server that knows it."),
    click.option(
        "--client-metadata-url", metavar="URL", help="Be the client that this document describes."
    ),
    click.option(
        "--redirect-uri", metavar="URL", help=f"Where users return to.  [{DEFAULT_REDIRECT_URI}]"
    ),
    click.option("--own-behalf", is_flag=True, help="Ask as the client itself, for no user."),
)
"""`--oauth` and what goes with it."""


def auth_options_of(values: Mapping[str, Any]) -> AuthOptions | None:
    """What the options say about tokens; None without `--oauth`.

    Raises:
        UsageError: options that make no sense together, a key or secret that cannot be read.
    """
    if not values["oauth"]:
        for name in _DETAILS:
            if values[name]:
                raise UsageError(f"{_option(name)} is of no use without --oauth", "Add --oauth.")
        return None
    return AuthOptions(
        registered=_registered(values),
        metadata_url=values["client_metadata_url"],
        redirect_uri=values["redirect_uri"] or DEFAULT_REDIRECT_URI,
        grant=Grant.CLIENT_CREDENTIALS if values["own_behalf"] else Grant.AUTHORIZATION_CODE,
    )


def _registered(values: Mapping[str, Any]) -> tuple[RegisteredClient, ...]:
    if values["client_id"] is None:
        for name in _OF_KNOWN_CLIENT:
            if values[name]:
                raise UsageError(f"{_option(name)} without --client-id", "Give its --client-id.")
        return ()
    client = RegisteredClient(
        values["client_id"],
        values["issuer"],
        bearer_token(values["client_secret"], "--client-secret"),
        _key(values["client_key"]),
        values["client_key_algorithm"],
    )
    return (client,)


def _key(path: str | None) -> str | None:
    try:
        return None if path is None else Path(path).read_text(encoding="ascii")
    except OSError as error:
        raise UsageError(f"--client-key names the file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--client-key names the file {path}, which is no PEM text") from None


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
