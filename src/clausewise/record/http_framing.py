"""Follow the requests and responses of one HTTP/1.1 connection while their bytes pass by."""

from __future__ import annotations

import re
from typing import Protocol

import h11

from clausewise.trace.raw import CUT_SHORT

_HEAD_END = re.compile(rb"\n\r?\n")
_REQUEST_LINE = re.compile(rb"[!-~]+ [!-~]+ HTTP/1\.\d\r?\n")
_FIRST_PRINTABLE = 0x21


class RequestListener(Protocol):
    """Is told what the requests hold."""

    def request(self, request: h11.Request, head: bytes) -> bytes:
        """A request begins; gives the head to pass on in place of `head`."""

    def request_body(self, data: bytes) -> None: ...

    def request_end(self) -> None: ...

    def request_unreadable(self, data: bytes, why: str) -> None:
        """From `data` on the client speaks no HTTP/1.1 that can be followed."""


class ResponseListener(Protocol):
    """Is told what the responses hold."""

    def expected_method(self) -> str | None:
        """The method of the request that is answered next; None when there is none."""

    def response(self, response: h11.InformationalResponse | h11.Response) -> None: ...

    def response_body(self, data: bytes) -> None: ...

    def response_end(self) -> None: ...

    def response_unreadable(self, data: bytes, why: str) -> None:
        """From `data` on the server speaks no HTTP/1.1 that can be followed."""


class RequestReader:
    """Follows what the client sends.

    A head is held back until it is whole, since it may have to change; everything else
    passes at once. What is no HTTP/1.1 passes as it stands.
    """

    def __init__(self, listener: RequestListener, max_head_bytes: int) -> None:
        self._listener = listener
        self._max_head_bytes = max_head_bytes
        self._head = bytearray()
        self._message: h11.Connection | None = None
        self._lost = False

    def feed(self, data: bytes) -> bytes:
        """Take in what the client sent; gives what to pass on now."""
        passed: list[bytes] = []
        while data and not self._lost:
            if self._message is None:
                data = self._read_head(data, passed)
            else:
                rest = self._read_body(data)
                passed.append(data[: len(data) - len(rest)])
                data = rest
        passed.append(data)
        return b"".join(passed)

    def close(self) -> bytes:
        """The client sends no more; gives what was held back."""
        head = bytes(self._head)
        self._head.clear()
        if head:
            self._listener.request_unreadable(head, "a request head that breaks off")
        return head

    def _read_head(self, data: bytes, passed: list[bytes]) -> bytes:
        """Take in the part of `data` up to the end of a head; gives the rest."""
        if not self._head:
            bare = data.lstrip(b"\r\n")
            passed.append(data[: len(data) - len(bare)])
            data = bare
        seen = max(0, len(self._head) - 3)
        self._head += data
        fault = self._fault_so_far()
        end = _HEAD_END.search(self._head, seen)
        if fault is not None:
            self._give_up(passed, fault)
            return b""
        if end is None:
            return b""
        rest = bytes(self._head[end.end() :])
        del self._head[end.end() :]
        self._open(passed)
        return rest

    def _fault_so_far(self) -> str | None:
        head = self._head
        if len(head) > self._max_head_bytes and not _HEAD_END.search(head):
            return f"a request head of more than {self._max_head_bytes} bytes"
        if head and head[0] < _FIRST_PRINTABLE:
            return "no HTTP/1.1 request"
        if b"\n" in head and not _REQUEST_LINE.match(head):
            return "no HTTP/1.1 request line"
        return None

    def _open(self, passed: list[bytes]) -> None:
        head = bytes(self._head)
        message = h11.Connection(h11.SERVER, max_incomplete_event_size=self._max_head_bytes)
        try:
            message.receive_data(head)
            request = message.next_event()
        except h11.ProtocolError as error:
            self._give_up(passed, f"no HTTP/1.1 request: {error}")
            return
        if not isinstance(request, h11.Request):
            self._give_up(passed, "no HTTP/1.1 request")
            return
        self._head.clear()
        passed.append(self._listener.request(request, head))
        self._message = message
        self._events(message)

    def _give_up(self, passed: list[bytes], why: str) -> None:
        held = bytes(self._head)
        self._head.clear()
        self._lost = True
        passed.append(held)
        self._listener.request_unreadable(held, why)

    def _read_body(self, data: bytes) -> bytes:
        """Take in the part of `data` that belongs to the request; gives the rest."""
        message = self._message
        assert message is not None
        try:
            message.receive_data(data)
            self._events(message)
        except h11.ProtocolError as error:
            self._lost = True
            self._listener.request_unreadable(data, f"a wrongly framed body: {error}")
            return b""
        return b"" if self._message is not None else bytes(message.trailing_data[0])

    def _events(self, message: h11.Connection) -> None:
        while True:
            event = message.next_event()
            if isinstance(event, h11.Data):
                self._listener.request_body(bytes(event.data))
                continue
            if isinstance(event, h11.EndOfMessage):
                self._message = None
                self._listener.request_end()
            return


class ResponseReader:
    """Follows what the server sends; it changes and holds back nothing."""

    def __init__(self, listener: ResponseListener, max_head_bytes: int) -> None:
        self._listener = listener
        self._max_head_bytes = max_head_bytes
        self._message: h11.Connection | None = None
        self._head = bytearray()
        self._in_body = False
        self._lost = False

    def feed(self, data: bytes) -> None:
        """Take in what the server sent."""
        while data and not self._lost:
            message = self._message or self._begin()
            if message is None:
                self._listener.response_unreadable(data, "bytes that answer no request")
                return
            data = self._read(message, data)

    def close(self) -> None:
        """The server sends no more, which may be how a body ends."""
        if self._message is not None and not self._lost:
            self._read(self._message, b"")

    def _begin(self) -> h11.Connection | None:
        method = self._listener.expected_method()
        if method is None:
            return None
        message = h11.Connection(h11.CLIENT, max_incomplete_event_size=self._max_head_bytes)
        # h11 must be told of a request to frame its answer; only HEAD makes a difference.
        stand_in = "HEAD" if method == "HEAD" else "POST"
        headers = [("host", "stand-in"), ("content-length", "0")]
        message.send(h11.Request(method=stand_in, target="/", headers=headers))
        message.send(h11.EndOfMessage())
        self._message = message
        return message

    def _read(self, message: h11.Connection, data: bytes) -> bytes:
        """Take in the part of `data` that belongs to the response; gives the rest."""
        if not self._in_body:
            self._head += data
        try:
            message.receive_data(data)
            self._events(message)
        except h11.ProtocolError as error:
            self._lost = True
            head_ends = f"{CUT_SHORT}the response head broke off"
            why = f"no HTTP/1.1: {error}" if data else head_ends
            unread = data if self._in_body else bytes(self._head)
            if unread:
                self._listener.response_unreadable(unread, why)
            return b""
        return b"" if self._message is not None else bytes(message.trailing_data[0])

    def _events(self, message: h11.Connection) -> None:
        while True:
            event = message.next_event()
            if isinstance(event, h11.InformationalResponse | h11.Response):
                self._in_body = isinstance(event, h11.Response)
                self._head.clear()
                self._listener.response(event)
            elif isinstance(event, h11.Data):
                self._listener.response_body(bytes(event.data))
            else:
                if isinstance(event, h11.EndOfMessage):
                    self._message = None
                    self._in_body = False
                    self._listener.response_end()
                return
