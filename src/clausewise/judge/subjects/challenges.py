"""Challenges in WWW-Authenticate headers, by the grammar of RFC 9110, section 11."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clausewise.trace.events import Event

MAX_HEADER_CHARACTERS = 16 * 1024
"""How much of a header line is read."""

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_SCHEME = re.compile(_TOKEN)
_PARAMETER = re.compile(
    rf'({_TOKEN})[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN}))(?=[ \t,]|$)', re.DOTALL
)
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/-]+=*[ \t]*(?=,|$)")
_SPACES = re.compile(r"[ \t]+")
_GAP = re.compile(r"[ \t,]*")
_TO_COMMA = re.compile(r"[^,]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SCOPE_TOKEN = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")

BEARER = "bearer"


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge: its scheme and its parameters, the names in lower case."""

    scheme: str
    parameters: Mapping[str, str]

    @property
    def is_bearer(self) -> bool:
        return self.scheme == BEARER

    @property
    def error(self) -> str | None:
        """The OAuth error that it declares (RFC 6750, section 3.1), or None."""
        return self.parameters.get("error")

    @property
    def names_scopes(self) -> bool:
        """Whether its `scope` has at least one scope, and nothing that is none (RFC 6749, 3.3)."""
        scopes = self.parameters.get("scope", "").split()
        return bool(scopes) and all(_SCOPE_TOKEN.fullmatch(scope) for scope in scopes)


def challenges_of(head: Event) -> tuple[Challenge, ...]:
    """The challenges of a response head, in order; what is no challenge is passed over."""
    lines = head.header_values("www-authenticate")
    return tuple(
        challenge for line in lines for challenge in _challenges(line[:MAX_HEADER_CHARACTERS])
    )


def _challenges(line: str) -> Iterator[Challenge]:
    scheme: str | None = None
    parameters: dict[str, str] = {}
    at = _past(_GAP, line, 0)
    while at < len(line):
        parameter = _PARAMETER.match(line, at)
        if parameter is not None and scheme is not None:
            name, quoted, plain = parameter.groups()
            value = plain if quoted is None else _ESCAPED.sub(r"\1", quoted)
            parameters.setdefault(name.lower(), value)
            at = parameter.end()
        else:
            begins = None if parameter is not None else _SCHEME.match(line, at)
            if begins is not None:
                if scheme is not None:
                    yield Challenge(scheme, parameters)
                scheme, parameters = begins[0].lower(), {}
                at = _past_token68(line, begins.end())
            else:
                at = _past(_TO_COMMA, line, at)
        at = _past(_GAP, line, at)
    if scheme is not None:
        yield Challenge(scheme, parameters)


def _past(pattern: re.Pattern[str], line: str, at: int) -> int:
    found = pattern.match(line, at)
    return found.end() if found is not None else at


def _past_token68(line: str, at: int) -> int:
    """Behind the token68 that follows a scheme, if one does and it is no further scheme."""
    behind = _past(_SPACES, line, at)
    return _past(_TOKEN68, line, behind) if behind > at else at
