"""Commands that send one request again: a curl line, or a line piped into the server."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence

from clausewise.probe.conversation.link import Target
from clausewise.probe.conversation.request import Request
from clausewise.transport.targets import HttpTarget, StdioTarget

_STREAM_SECONDS = 10
_MOMENT = "sleep 0.1"
_START_UP = "sleep 1"
_LAST_ANSWERS = "sleep 3"
_SESSION_ID = re.compile(r"'(Mcp-Session-Id): [\x21-\x26\x28-\x7e]*'")
"""The header as `quoted` writes it: a visible id without a single quote."""


UserHeader = tuple[str, str]


def reproduction(
    target: Target,
    *requests: Request,
    made_up: Collection[UserHeader] = frozenset(),
    in_turn: bool = False,
) -> str:
    """A shell command that sends `requests` to `target`, without headers that curl adds.

    Several go over one connection, or to one process, in their order; to a process all at once
    or, `in_turn`, each when it should have answered the one before. User headers and
    environment values appear as variables (`$TOKEN`), never as values; but for the headers
    in `made_up`, which are no secrets.
    """
    if isinstance(target, HttpTarget):
        return "curl " + " --next ".join(_curl(target, one, made_up) for one in requests)
    if in_turn:
        return _pipe(target, *((one,) for one in requests), pause=_START_UP)
    return _pipe(target, requests)


def reproduction_in_session(
    target: Target,
    opening: Sequence[Request],
    *requests: Request,
    at: Target | None = None,
    made_up: Collection[UserHeader] = frozenset(),
) -> str:
    """A shell command that opens a legacy session as `opening` does and sends `requests` in it.

    Over HTTP the session's id is taken from the answer to the first request, which is printed,
    too. `at` is where the requests go, if that is elsewhere. Of several requests each is sent
    a moment after the one before it, whether that has been answered or not.
    """
    if isinstance(target, StdioTarget):
        return _pipe(target, (*opening, requests[0]), *((later,) for later in requests[1:]))
    first, *others = (f"curl {_curl(target, one, ())}" for one in opening)
    found = "tee /dev/stderr | tr -d '\\r' | sed -n 's/^mcp-session-id: *//Ip'"
    quiet = [f"{one} > /dev/null" for one in others]
    end = at if isinstance(at, HttpTarget) else target
    asked = f" & {_MOMENT}; ".join(f"curl {_curl(end, one, made_up)}" for one in requests)
    steps = [f"SESSION=$({first} | {found})", *quiet, asked, *["wait"][: len(requests) - 1]]
    return "; ".join(_SESSION_ID.sub('"\\1: $SESSION"', step) for step in steps)


def at_once(first: str, second: str) -> str:
    """A command that begins the second of two while the first is at work."""
    return f"( {first} ) & {_MOMENT}; {second}; wait"


def _curl(target: HttpTarget, request: Request, made_up: Collection[UserHeader]) -> str:
    parts = ["-sSiN", "--max-time", str(_STREAM_SECONDS), "-X", shlex.quote(request.verb)]
    if not target.verify:
        parts.append("-k")
    names = {name.decode("latin-1").lower() for name, _ in request.headers}
    if target.address is not None:
        parts.append(f"--connect-to ::{_bracketed(target.address)}:{target.port}")
    for name, value in target.headers:
        shown = (name, value) in made_up
        parts += ["-H", quoted(f"{name}: {value}".encode()) if shown else _user_header(name, value)]
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


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _variable(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def _url(target: HttpTarget, request: Request) -> str:
    if request.path is None:
        return target.url
    origin = re.match(r"[a-z]+://[^/?#]*", target.url, re.IGNORECASE)
    return (origin.group() if origin else target.url) + request.path


def _pipe(target: StdioTarget, *rushes: Iterable[Request], pause: str = _MOMENT) -> str:
    """The last pause keeps stdin open: a server may exit at its end before it has answered."""
    command = " ".join(shlex.quote(word) for word in target.command)
    variables = "".join(f'{name}="${name}" ' for name in target.env)
    place = f"cd {shlex.quote(target.cwd)} && " if target.cwd else ""
    lines = (" ".join(quoted(request.body) for request in rush) for rush in rushes)
    written = f"; {pause}; ".join(f"printf '%s\\n' {line}" for line in lines)
    return f"{place}{{ {written}; {_LAST_ANSWERS}; }} | {variables}{command}"


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
