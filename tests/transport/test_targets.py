"""HTTP targets: what a URL becomes on the wire, and which URLs are refused."""

from __future__ import annotations

import pytest

from clausewise import __version__
from clausewise.core.errors import UsageError
from clausewise.transport.targets import HttpTarget


@pytest.mark.parametrize(
    ("url", "host", "port", "authority", "request_target"),
    [
        ("http://h", "h", 80, "h", "/"),
        ("https://H.example:443/mcp/", "h.example", 443, "h.example", "/mcp/"),
        ("http://h:443/a?b=c#d", "h", 443, "h:443", "/a?b=c"),
        ("http://[::1]:3001/mcp", "::1", 3001, "[::1]:3001", "/mcp"),
        ("https://[2001:DB8::1]/", "2001:db8::1", 443, "[2001:db8::1]", "/"),
        ('http://h/a b/%20é?q="x"', "h", 80, "h", "/a%20b/%20%C3%A9?q=%22x%22"),
        ("http://bücher.example/", "xn--bcher-kva.example", 80, "xn--bcher-kva.example", "/"),
    ],
)
def test_a_url_becomes_host_port_and_request_target(
    url: str, host: str, port: int, authority: str, request_target: str
) -> None:
    target = HttpTarget(url)
    assert (target.host, target.port, target.authority) == (host, port, authority)
    assert target.request_target == request_target
    assert target.is_tls == url.startswith("https")


def test_the_url_to_show_has_no_query() -> None:
    assert HttpTarget("http://H:1/a?key=secret#x").public_url == "http://h:1/a"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h/mcp",
        "ftp://h/",
        "http://",
        "http://h:0/",
        "http://h:99999/",
        "http://[::1/",
        "http://h:x/",
        "http://a..b/",
        "http://" + "a" * 64 + ".example/",
    ],
)
def test_what_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no http or https URL"):
        HttpTarget(url)


def test_a_refused_url_is_shown_without_its_query() -> None:
    with pytest.raises(UsageError) as caught:
        HttpTarget("ftp://h/?key=secret")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("url", ["http://user:secret@h/", "http://user@h/"])
def test_credentials_in_the_url_are_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UsageError, match="the URL of h carries credentials") as caught:
        HttpTarget(url)
    assert "secret" not in caught.value.message


def test_plain_headers_are_host_agent_the_users_own_and_the_length() -> None:
    target = HttpTarget("http://h:1/", (("Authorization", "Bearer x"),))
    agent = (b"User-Agent", f"clausewise/{__version__}".encode())
    assert target.plain_headers() == (
        (b"Host", b"h:1"),
        agent,
        (b"Authorization", b"Bearer x"),
    )
    assert target.plain_headers(b"abc")[-1] == (b"Content-Length", b"3")


def test_the_users_own_host_and_agent_replace_ours() -> None:
    target = HttpTarget("http://h:1/", (("host", "other"), ("USER-AGENT", "mine")))
    assert target.plain_headers() == ((b"host", b"other"), (b"USER-AGENT", b"mine"))


@pytest.mark.parametrize(
    ("name", "value"), [("", "x"), ("X Y", "x"), ("X:", "x"), ("X", "a\r\nY: b"), ("X", "\0")]
)
def test_a_users_header_that_would_break_the_request_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="is no header that can be sent"):
        HttpTarget("http://h/", ((name, value),))
