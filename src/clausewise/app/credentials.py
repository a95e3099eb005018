"""Headers and tokens that the user gives: where they come from, and how they stay hidden."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from clausewise.core.errors import UsageError

HIDDEN = "[redacted]"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN_IN_VALUE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")
_SHORTEST_SECRET = 8
_SET_BY_PROBES = frozenset(
    {
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    }
)


Headers = tuple[tuple[str, str], ...]
"""Names and values, in the order they are sent."""


class Secrets:
    """Values that must never be shown: what a report or log says is passed through `hide`."""

    def __init__(self, values: Iterable[str]) -> None:
        """Hide `values`; one of less than 8 characters may be any word and is left."""
        long_enough = {value for value in values if len(value) >= _SHORTEST_SECRET}
        self._values = sorted(long_enough, key=lambda value: (-len(value), value))

    def hide(self, text: str) -> str:
        """`text` with `[redacted]` for each secret."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return text

    def hide_bytes(self, text: bytes) -> bytes:
        """The same for JSON text: a secret may stand there plain or with escapes."""
        for value in self._values:
            for form in (
                value,
                json.dumps(value)[1:-1],
                json.dumps(value, ensure_ascii=False)[1:-1],
            ):
                text = text.replace(form.encode("utf-8", "surrogateescape"), HIDDEN.encode())
        return text


def credential_headers(
    headers: Iterable[str], bearer: str | None, environ: Mapping[str, str] = os.environ
) -> Headers:
    """The headers that `-H` and `--bearer` name.

    Args:
        headers: `NAME: VALUE` each, where VALUE may be `env:VARIABLE` or `file:PATH`, or
            `@PATH` of a file with one such header a line.
        bearer: a token, `env:VARIABLE` or `file:PATH`.
        environ: the environment to read variables from.

    Raises:
        UsageError: a header that is malformed or belongs to the probes, a variable that is
            not set, a file that cannot be read. The message never holds a value.
    """
    found = [_header(line, environ) for given in headers for line in _lines(given)]
    if bearer is not None:
        if any(name.lower() == "authorization" for name, _ in found):
            raise UsageError("both --bearer and an Authorization header", "Give one of them.")
        found.append(("Authorization", f"Bearer {_resolved(bearer, '--bearer', environ)}"))
    return tuple(found)


def bearer_token(
    given: str | None, option: str, environ: Mapping[str, str] = os.environ
) -> str | None:
    """The token that `option` gives: itself, `env:VARIABLE` or `file:PATH`; None for none.

    Raises:
        UsageError: as `credential_headers`.
    """
    return None if given is None else _resolved(given, option, environ)


def header_secrets(headers: Headers) -> tuple[str, ...]:
    """What is secret in `headers`: their values, of Authorization what follows the scheme."""
    return tuple(
        value.partition(" ")[2] or value if name.lower() == "authorization" else value
        for name, value in headers
    )


def query_values(url: str) -> tuple[str, ...]:
    """The values in the query of `url`, as they stand there: they may be keys."""
    return tuple(part.partition("=")[2] for part in urlsplit(url).query.split("&") if "=" in part)


def _lines(given: str) -> list[str]:
    if not given.startswith("@"):
        return [given]
    return [line for line in _read(given[1:], "-H").splitlines() if line.strip()]


def _header(line: str, environ: Mapping[str, str]) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    name = name.strip()
    if not colon or not _NAME.fullmatch(name):
        raise UsageError("a header that is not NAME: VALUE", "For example -H 'X-Team: a'.")
    lower = name.lower()
    if lower in _SET_BY_PROBES or lower.startswith("mcp-param-"):
        raise UsageError(
            f"the header {name} belongs to the probes, which judge by it",
            "Leave it out; -H is for credentials and routing.",
        )
    return name, _resolved(value.strip(), f"the header {name}", environ)


def _resolved(value: str, what: str, environ: Mapping[str, str]) -> str:
    source, _, rest = value.partition(":")
    if source == "env":
        if rest not in environ:
            raise UsageError(f"{what} names the variable {rest}, which is not set")
        value = environ[rest].strip()
    elif source == "file":
        value = _read(rest, what).strip()
    if not value:
        raise UsageError(f"{what} has an empty value")
    if _FORBIDDEN_IN_VALUE.search(value):
        raise UsageError(f"{what} has a character that no header may hold")
    return value


def _read(path: str, what: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{what} names the file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{what} names the file {path}, which is not UTF-8") from None
