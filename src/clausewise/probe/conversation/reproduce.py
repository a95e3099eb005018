"""Commands that send one request again: a curl line, or a line piped into the server."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from clausewise.probe.conversation.link import Target
from clausewise.probe.conversation.request import Request
from clausewise.transport.targets import HttpTarget, StdioTarget

_STREAM_SECONDS = 10
_SESSION_ID = re.compile(r"'(Mcp-Session-Id): [\x21-\x26\x28-\x7e]*'")
"""The header as `quoted` writes it: a visible id without a single quote."""


def reproduction(target: Target, *requests: Request) -> str:
    """A shell command that sends `requests` to `target`, without headers that curl adds.

    Several go over one connection, or to one process, in their order. User headers and
    environment values appear as variables (`$TOKEN`), never as values.
    """
    if isinstance(target, HttpTarget):
        return "curl " + " --next ".join(_curl(target, request) for request in requests)
    return _pipe(target, requests)


def reproduction_in_session(target: Target, opening: Sequence[Request], request: Request) -> str:
    """A shell command that opens a legacy session as `opening` does and sends `request` in it.

    Over HTTP the session's id is taken from the answer to the first request.
    """
    if isinstance(target, StdioTarget):
        return _pipe(target, (*opening, request))
    first, *others = (f"curl {_curl(target, one)}" for one in opening)
    session = f"SESSION=$({first} | tr -d '\\r' | sed -n 's/^mcp-session-id: *//Ip')"
    quiet = [f"{one} > /dev/null" for one in others]
    steps = [session, *quiet, f"curl {_curl(target, request)}"]
    return "; ".join(_SESSION_ID.sub('"\\1: $SESSION"', step) for step in steps)


def _curl(target: HttpTarget, request: Request) -> str:
    parts = ["-sSiN", "--max-time", str(_STREAM_SECONDS), "-X", shlex.quote(request.verb)]
    if not target.verify:
        parts.append("-k")
    names = {name.decode("latin-1").lower() for name, _ in request.headers}
    for name, value in target.headers:
        parts += ["-H", _user_header(name, value)]
        names.add(name.lower())
    for raw_name, raw_value in request.headers:
        parts += ["-H", quoted(_header_argument(raw_name, raw_value))]
    added = ("accept", "content-type") if request.body else ("accept",)
    parts += [f"-H '{name.title()}:'" for name in added if name not in names]
    if request.body:
        parts += ["--data-binary", quoted(request.body)]
    parts.append(quoted(_url(target, request).encode("utf-8")))
    return " ".join(parts)


def _header_argument(name: bytes, value: bytes) -> bytes:
    """curl drops a header given as `Name:`; `Name;` sends it with an empty value."""
    return name + b": " + value if value else name + b";"


def _user_header(name: str, value: str) -> str:
    scheme, space, _ = value.partition(" ")
    if name.lower() == "authorization":
        shown = f"{scheme} $TOKEN" if space else "$TOKEN"
    else:
        shown = "$" + _variable(name)
    return f'"{name}: {shown}"'


def _variable(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def _url(target: HttpTarget, request: Request) -> str:
    if request.path is None:
        return target.url
    origin = re.match(r"[a-z]+://[^/?#]*", target.url, re.IGNORECASE)
    return (origin.group() if origin else target.url) + request.path


def _pipe(target: StdioTarget, requests: Iterable[Request]) -> str:
    """The pause keeps stdin open: a server may exit at its end before it has answered."""
    command = " ".join(shlex.quote(word) for word in target.command)
    variables = "".join(f'{name}="${name}" ' for name in target.env)
    place = f"cd {shlex.quote(target.cwd)} && " if target.cwd else ""
    lines = " ".join(quoted(request.body) for request in requests)
    return f"{place}{{ printf '%s\\n' {lines}; sleep 2; }} | {variables}{command}"


def quoted(data: bytes) -> str:
    """`data` as one shell word; bytes that are no printable text as `$'…'` escapes."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _escaped(data)
    return shlex.quote(text) if text.isprintable() else _escaped(data)


def _escaped(data: bytes) -> str:
    plain = set(range(0x20, 0x7F)) - {0x27, 0x5C}
    return "$'" + "".join(chr(b) if b in plain else f"\\x{b:02x}" for b in data) + "'"
