"""Compare a URL with a template of a server.json: `https://{tenant}.example.com/mcp`.

Source: docs/registry/remote-servers#url-template-variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clausewise.wire.authorization.canonical_uri import canonical

_MAX_LENGTH = 2048
_MAX_VARIABLES = 8
_VARIABLE = re.compile(r"\{([^{}]+)\}")
_PREFIX = re.compile(r"[^/?#]*://[^/?#]*")
_DEFAULT_PORT = re.compile(r"^(http://[^/?#]*):80(?=[/?#]|$)|^(https://[^/?#]*):443(?=[/?#]|$)")


def variables_of(template: str) -> tuple[str, ...]:
    """The names of the variables in `template`, each once."""
    return tuple(dict.fromkeys(_VARIABLE.findall(template)))


def fits(url: str, template: str, variables: Mapping[str, Any]) -> bool:
    """Whether `template` gives `url` for some values of its variables.

    Scheme and host compare without case, a default port and a slash at the end do not count.
    A variable at the very beginning may stand for scheme and host; any other for text without
    `/`, `?` and `#`. `choices` of a variable bound it. A template that is longer or has more
    variables than any real one fits nothing.

    Args:
        url: an absolute http or https URL.
        template: a URL with variables in braces, or without.
        variables: their descriptions by name.
    """
    if len(template) > _MAX_LENGTH or len(variables_of(template)) > _MAX_VARIABLES:
        return False
    pattern = _pattern(_lowered(template).rstrip("/"), variables)
    return re.fullmatch(pattern, str(canonical(url)).rstrip("/")) is not None


def _lowered(template: str) -> str:
    """The template with scheme and host in lower case, and without a default port."""
    prefix = _PREFIX.match(template)
    if prefix is None:
        return template
    pieces = re.split(r"(\{[^{}]*\})", prefix[0])
    lower = "".join(piece if piece.startswith("{") else piece.lower() for piece in pieces)
    return _DEFAULT_PORT.sub(lambda m: m[1] or m[2], lower + template[prefix.end() :])


def _pattern(template: str, variables: Mapping[str, Any]) -> str:
    parts, at = [], 0
    for found in _VARIABLE.finditer(template):
        parts.append(re.escape(template[at : found.start()]))
        parts.append(_any_value(variables.get(found[1]), leads=found.start() == 0))
        at = found.end()
    parts.append(re.escape(template[at:]))
    return "".join(parts)


def _any_value(variable: Any, *, leads: bool) -> str:
    choices = variable.get("choices") if isinstance(variable, dict) else None
    texts = [c for c in choices if isinstance(c, str)] if isinstance(choices, list) else []
    if texts:
        return f"(?:{'|'.join(map(re.escape, texts))})"
    return r"https?://[^/?#]+(?:/[^?#]*)?" if leads else "[^/?#]+"
