"""Challenges in WWW-Authenticate headers, by the grammar of RFC 9110, section 11."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MAX_HEADER_CHARACTERS = 16 * 1024
"""How much of a header line is read."""

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_SCHEME = re.compile(_TOKEN)
_PARAMETER = re.compile(
    rf'({_TOKEN})[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))(?=[ \t,]|$)', re.DOTALL
)
"""Without quotes only a token would be right; servers send URLs so, which clients read."""
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
    def scopes(self) -> tuple[str, ...]:
        """The scopes that it names, each once; what is none (RFC 6749, section 3.3) is left out."""
        return read_scopes(self.parameters.get("scope", ""))

    @property
    def names_scopes(self) -> bool:
        """Whether its `scope` has at least one scope, and nothing that is none."""
        words = self.parameters.get("scope", "").split()
        return bool(words) and all(map(is_scope, words))


def is_scope(word: str) -> bool:
    """Whether `word` may be a scope (RFC 6749, section 3.3)."""
    return _SCOPE_TOKEN.fullmatch(word) is not None


def read_scopes(text: str) -> tuple[str, ...]:
    """The scopes in a text, each once; what is none is left out."""
    return tuple(dict.fromkeys(filter(is_scope, text.split())))


def read_challenges(lines: Iterable[str]) -> tuple[Challenge, ...]:
    """The challenges in WWW-Authenticate lines, in order; what is no challenge is passed over."""
    return tuple(
        challenge for line in lines for challenge in _challenges(line[:MAX_HEADER_CHARACTERS])
    )


def bearer_of(challenges: Iterable[Challenge]) -> Challenge | None:
    """The first Bearer challenge, or None."""
    return next((challenge for challenge in challenges if challenge.is_bearer), None)


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
