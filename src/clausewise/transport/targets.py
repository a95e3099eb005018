"""What is talked to, as data: an HTTP endpoint, a request to it, a command to launch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, urlsplit

from clausewise import __version__
from clausewise.core.errors import UsageError

_DEFAULT_PORTS: Mapping[str, int] = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_LINE_ENDING = re.compile(r"[\r\n\0]")
_URL_CHARACTERS = "/%:@!$&'()*+,;=~?-._[]"


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """A Streamable HTTP endpoint.

    Attributes:
        url: `http://` or `https://`, IPv6 hosts in brackets; its query goes out but is
            never recorded.
        headers: headers that the user wants on every request (credentials, tenant).
        verify: whether the server's certificate must be valid.
        ca_file: a PEM file of certificate authorities to trust instead of the system's.
        address: the address to connect to, already looked up; None to look up the host.

    Raises:
        UsageError: the URL is no http(s) URL, or carries a user name or password; a header
            has a name that is none, or a value of several lines.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    verify: bool = True
    ca_file: str | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in _DEFAULT_PORTS and parts.hostname and parts.port != 0
            if parts.hostname:
                _ascii_host(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise UsageError(
                f"{without_query(self.url)!r} is no http or https URL",
                "Give the MCP endpoint, such as http://127.0.0.1:3001/mcp.",
            )
        if "@" in parts.netloc:
            raise UsageError(
                f"the URL of {parts.hostname} carries credentials",
                "Leave them out of the URL and send them with --header.",
            )
        for name, value in self.headers:
            _check_header(name, value)

    @property
    def is_tls(self) -> bool:
        return self._parts.scheme == "https"

    @property
    def host(self) -> str:
        """The host to connect to, ASCII, an IPv6 address without its brackets."""
        return _ascii_host(self._parts.hostname or "")

    @property
    def port(self) -> int:
        return self._parts.port or _DEFAULT_PORTS[self._parts.scheme]

    @property
    def authority(self) -> str:
        """The value of a proper Host header: host, and port unless it is the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = self.port == _DEFAULT_PORTS[self._parts.scheme]
        return host if default else f"{host}:{self.port}"

    @property
    def request_target(self) -> str:
        """The path and query of the URL, percent-encoded: what a request line holds."""
        path = quote(self._parts.path or "/", safe=_URL_CHARACTERS)
        query = quote(self._parts.query, safe=_URL_CHARACTERS)
        return f"{path}?{query}" if query else path

    @property
    def public_url(self) -> str:
        """The URL as it may be shown: without query and fragment."""
        return f"{self._parts.scheme}://{self.authority}{without_query(self.request_target)}"

    def plain_headers(self, body: bytes = b"") -> tuple[tuple[bytes, bytes], ...]:
        """The headers that any proper request to this target carries.

        Host, User-Agent, the user's own headers (which replace these two), and
        Content-Length when there is a body. A connection adds none by itself: put these
        first, then those of MCP.
        """
        own = {name.lower() for name, _ in self.headers}
        ours = (("Host", self.authority), ("User-Agent", f"clausewise/{__version__}"))
        pairs = [pair for pair in ours if pair[0].lower() not in own]
        pairs += self.headers
        if body:
            pairs.append(("Content-Length", str(len(body))))
        return tuple((name.encode("latin-1"), value.encode()) for name, value in pairs)

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.url)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, written as it stands: nothing added, reordered, re-cased or checked.

    Attributes:
        method: the request line's method.
        headers: name and value pairs; start from `HttpTarget.plain_headers(body)`.
        body: sent as it is; give a matching Content-Length, or not.
        path: the request line's target; None for the target's own path and query.
    """

    method: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""
    path: str | None = None


@dataclass(frozen=True, slots=True)
class StdioTarget:
    """A server to launch.

    Attributes:
        command: the program and its arguments; no shell reads them.
        cwd: the folder to run in, or None for the current one.
        env: variables to set beside those of this process.
    """

    command: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


def without_query(text: str) -> str:
    """A URL or request target as a trace may hold it: without query and fragment."""
    return text.partition("#")[0].partition("?")[0]


def _ascii_host(host: str) -> str:
    """The host in ASCII; UnicodeError (a ValueError) when it can be no host name."""
    return host.encode("idna").decode("ascii")


def _check_header(name: str, value: str) -> None:
    if _TOKEN.fullmatch(name) is None or _LINE_ENDING.search(value):
        raise UsageError(
            f"{name!r} is no header that can be sent",
            "Give a name of letters, digits and dashes, and a value of one line.",
        )
