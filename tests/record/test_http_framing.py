"""However bytes are cut into pieces, the same bytes pass and the same requests are seen."""

from __future__ import annotations

from itertools import pairwise

import h11
from hypothesis import given
from hypothesis import strategies as st

from clausewise.record.http_framing import RequestReader, ResponseReader

MAX_HEAD = 4096
STREAM = (
    b"\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    b"GET /b HTTP/1.1\r\nhost: x\r\n\r\n"
    b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2;e\r\nwo\r\n3\r\nrld\r\n0\r\nT: 1\r\n\r\n"
    b"DELETE /d HTTP/1.1\nHost: x\n\n"
)
ANSWERS = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"
    b"HTTP/1.1 204 No Content\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"
    b"HTTP/1.1 200 OK\r\n\r\nto the end"
)


class Watcher:
    """Notes what it is told, and rewrites every host."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bytes]] = []

    def request(self, request: h11.Request, head: bytes) -> bytes:
        self.seen.append(("request", request.target))
        return head.replace(b"ost: x", b"ost: other")

    def request_body(self, data: bytes) -> None:
        self._more("body", data)

    def request_end(self) -> None:
        self.seen.append(("end", b""))

    def request_unreadable(self, data: bytes, why: str) -> None:
        self.seen.append(("unreadable", data))

    def expected_method(self) -> str:
        return "POST"

    def response(self, response: h11.InformationalResponse | h11.Response) -> None:
        self.seen.append(("response", b"%d" % response.status_code))

    def response_body(self, data: bytes) -> None:
        self._more("body", data)

    def response_end(self) -> None:
        self.seen.append(("end", b""))

    def response_unreadable(self, data: bytes, why: str) -> None:
        self.seen.append(("unreadable", data))

    def _more(self, what: str, data: bytes) -> None:
        before = self.seen.pop()[1] if self.seen and self.seen[-1][0] == what else b""
        self.seen.append((what, before + data))


def pieces(data: bytes, cuts: set[int]) -> list[bytes]:
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


@given(st.sets(st.integers(1, len(STREAM))))
def test_requests_are_seen_and_pass_the_same_in_any_pieces(cuts: set[int]) -> None:
    watcher = Watcher()
    reader = RequestReader(watcher, MAX_HEAD)
    passed = b"".join(reader.feed(piece) for piece in pieces(STREAM, cuts)) + reader.close()
    assert passed == STREAM.replace(b"ost: x", b"ost: other")
    assert watcher.seen == [
        *(("request", b"/a"), ("body", b"hello"), ("end", b"")),
        *(("request", b"/b"), ("end", b"")),
        *(("request", b"/c"), ("body", b"world"), ("end", b"")),
        *(("request", b"/d"), ("end", b"")),
    ]


@given(st.sets(st.integers(1, len(ANSWERS))))
def test_responses_are_seen_the_same_in_any_pieces(cuts: set[int]) -> None:
    watcher = Watcher()
    reader = ResponseReader(watcher, MAX_HEAD)
    for piece in pieces(ANSWERS, cuts):
        reader.feed(piece)
    reader.close()
    assert watcher.seen == [
        *(("response", b"100"), ("response", b"200"), ("body", b"one"), ("end", b"")),
        *(("response", b"204"), ("end", b"")),
        *(("response", b"200"), ("body", b"two"), ("end", b"")),
        *(("response", b"200"), ("body", b"to the end"), ("end", b"")),
    ]


LINES = st.sampled_from(
    [
        *(
            b"POST / HTTP/1.1\r\n",
            b"Host: h\r\n",
            b"\r\n",
            b"\n",
            b"Transfer-Encoding: chunked\r\n",
        ),
        *(b"Content-Length: 3\r\n", b"Content-Length: -1\r\n", b"5\r\n", b"zz\r\n", b"0\r\n\r\n"),
        *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 101 Go\r\n", b"Upgrade: x\r\n", b"\xff\x00"),
    ]
)
TRAFFIC = st.lists(LINES | st.binary(max_size=20), max_size=30)


@given(TRAFFIC)
def test_whatever_the_client_sends_passes_in_order_and_whole(sent: list[bytes]) -> None:
    watcher = Watcher()
    reader = RequestReader(watcher, MAX_HEAD)
    passed = b"".join(reader.feed(piece) for piece in sent) + reader.close()
    assert passed == b"".join(sent)


@given(TRAFFIC)
def test_whatever_the_server_sends_is_taken_in(sent: list[bytes]) -> None:
    watcher = Watcher()
    reader = ResponseReader(watcher, MAX_HEAD)
    for piece in sent:
        reader.feed(piece)
    reader.close()
    assert bool(watcher.seen) or not b"".join(sent)
