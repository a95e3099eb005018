"""Documents by GET: bounded, guarded, without anybody's token."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from tests.probe.site import Page, serve

from clausewise.reference.http_layer import HttpRequest
from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport import documents
from clausewise.transport.addresses import AddressGuard, Neighbourhood
from clausewise.transport.documents import Document, Fetcher
from clausewise.transport.guarded import origin_of
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget

LOOPBACK = AddressGuard(frozenset({Neighbourhood.LOOPBACK}))
PUBLIC = AddressGuard(frozenset({Neighbourhood.PUBLIC}))
HEADERS = (("Authorization", "Bearer secret"), ("X-Tenant", "a"))
LIMITS = Limits(connect_s=2.0, answer_s=2.0)

Site = Callable[[HttpRequest, str], Page]


def fetched(
    site: Site,
    path: str = "/doc",
    *,
    guard: AddressGuard = LOOPBACK,
    at_home: bool = True,
    tape: Tape | None = None,
    limits: Limits = LIMITS,
) -> Document:
    async def run() -> Document:
        async with serve(site) as origin:
            home = HttpTarget(origin if at_home else "http://127.0.0.1:9/mcp", HEADERS)
            fetcher = Fetcher(home, guard, tape or Tape(), limits)
            with anyio.fail_after(20):
                return await fetcher.get(f"{origin}{path}")

    return anyio.run(run)


def always(page: Page) -> Site:
    return lambda _request, _origin: page


def test_a_json_object_is_a_document() -> None:
    found = fetched(always(Page(value={"a": 1})))
    assert (found.value, found.fault, found.undecided) == ({"a": 1}, None, None)


@pytest.mark.parametrize(
    ("page", "fault", "absent", "undecided"),
    [
        (Page(404, ()), "HTTP 404", True, False),
        (Page(410, ()), "HTTP 410", True, False),
        (Page(401, ()), "HTTP 401", False, False),
        (Page(503, ()), "HTTP 503", False, True),
        (Page(429, ()), "HTTP 429", False, True),
        (Page(200, (), body=b"{}"), "no media type", False, False),
        (Page(200, (("Content-Type", "text/html"),), body=b"{}"), "text/html", False, False),
        (Page(body=b"{"), "no JSON object", False, False),
        (Page(value=[1]), "no JSON object", False, False),
        (Page(body=b"[" * 100_000), "no JSON object", False, False),
        (Page(302, (("Location", "http://127.0.0.1:1/"),)), "HTTP 302", False, False),
    ],
)
def test_anything_else_is_none(page: Page, fault: str, absent: bool, undecided: bool) -> None:
    found = fetched(always(page))
    assert found.value is None
    assert fault in (found.fault or "")
    assert found.is_absent is absent
    assert (found.undecided is not None) is undecided


def test_what_is_too_large_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 100)
    found = fetched(always(Page(value={"a": "x" * 200})))
    assert "more than 100 bytes" in (found.undecided or "")


def test_the_users_headers_go_home_without_the_token_and_nowhere_else() -> None:
    for at_home, expected in ((True, "a"), (False, None)):
        seen: list[HttpRequest] = []

        def site(request: HttpRequest, _origin: str, seen: list[HttpRequest] = seen) -> Page:
            seen.append(request)
            return Page(value={})

        fetched(site, at_home=at_home)
        assert [request.value("authorization") for request in seen] == [None]
        assert [request.value("x-tenant") for request in seen] == [expected]


def test_an_address_that_is_not_admitted_gets_nothing() -> None:
    asked: list[str] = []

    def site(request: HttpRequest, _origin: str) -> Page:
        asked.append(request.path)
        return Page(value={})

    found = fetched(site, guard=PUBLIC, at_home=False)
    assert "loopback address" in (found.undecided or "")
    assert asked == []


def test_redirects_are_bounded() -> None:
    asked: list[str] = []

    def site(request: HttpRequest, _origin: str) -> Page:
        asked.append(request.path)
        return Page(302, (("Location", request.path + "x"),))

    assert fetched(site).fault == "HTTP 302"
    assert asked == ["/doc", "/docx", "/docxx", "/docxxx"]


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "http://user:word@127.0.0.1/", "nonsense"])
def test_what_is_no_web_address_is_an_obstacle(url: str) -> None:
    fetcher = Fetcher(HttpTarget("http://127.0.0.1:9"), LOOPBACK, Tape(), LIMITS)
    found = anyio.run(fetcher.get, url)
    assert found.answer is None
    assert found.obstacle


def test_nobody_there_is_undecided() -> None:
    fetcher = Fetcher(HttpTarget("http://127.0.0.1:9"), LOOPBACK, Tape(), LIMITS)
    found = anyio.run(fetcher.get, "http://127.0.0.1:1/doc")
    assert found.undecided is not None
    assert found.seq is None


def test_the_exchange_is_recorded_and_pointed_at() -> None:
    tape = Tape()
    found = fetched(always(Page(value={})), tape=tape)
    pointed = next(event for event in tape.events if event.seq == found.seq)
    assert (pointed.kind, pointed.status) == (EventKind.HTTP, 200)
    assert found.reproduce.startswith("curl ")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://h/a", "http://H:80/b", True),
        ("https://h", "https://h:443", True),
        ("http://h", "https://h", False),
        ("http://h:1", "http://h:2", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(one: str, other: str, same: bool) -> None:
    assert (origin_of(one) == origin_of(other)) is same


def test_what_has_no_host_or_no_port_has_no_origin() -> None:
    assert origin_of("http://h:port/") is None
    assert origin_of("/path") is None
