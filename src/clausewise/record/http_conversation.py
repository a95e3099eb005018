"""What passes on one client's connection, as exchanges on the tape."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

import h11

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.record.http_exchange import HttpExchange
from clausewise.record.http_framing import RequestReader, ResponseReader
from clausewise.trace.tape import Tape, Track
from clausewise.transport.limits import Limits
from clausewise.transport.recording import record_raw

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT

_HOST = re.compile(rb"(\nhost:[ \t]*)([^\r\n]*?)(?=[ \t]*\r?\n)", re.IGNORECASE)


class ForeignHostError(Exception):
    """A request names a host that this proxy does not stand for; it is not passed on."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


class Conversation:
    """Records both directions of one connection; requests may be pipelined.

    Args:
        tape: where events go.
        limits: bounds on heads and bodies.
        authority: the value that replaces that of a request's Host header.
        is_own_host: whether a Host header's value is ours.
    """

    def __init__(
        self,
        tape: Tape,
        limits: Limits,
        authority: str,
        is_own_host: Callable[[str], bool],
    ) -> None:
        self._tape = tape
        self._limits = limits
        self._authority = authority.encode("ascii")
        self._is_own_host = is_own_host
        self._requests = RequestReader(self, limits.max_header_bytes)
        self._responses = ResponseReader(self, limits.max_header_bytes)
        self._asking: HttpExchange | None = None
        self._waiting: deque[HttpExchange] = deque()

    @property
    def is_waiting(self) -> bool:
        """Whether a request has no whole answer yet."""
        return bool(self._waiting)

    @property
    def is_asking(self) -> bool:
        """Whether a request is under way."""
        return self._asking is not None

    def client_sent(self, data: bytes) -> bytes:
        """Record what the client sent; gives what to pass on.

        Raises:
            ForeignHostError: a request names a host that is not ours.
        """
        return self._requests.feed(data)

    def client_ended(self) -> bytes:
        """The client sends no more; gives what was held back."""
        return self._requests.close()

    def server_sent(self, data: bytes) -> None:
        """Record what the server sent; all of it passes on."""
        self._responses.feed(data)

    def server_ended(self) -> None:
        """The server sends no more."""
        self._responses.close()

    def close(self, broke_off: Direction | None, why: str = "") -> None:
        """The connection is gone: what has no whole answer is aborted (`HttpExchange.abort`)."""
        for exchange in self._waiting:
            exchange.abort(broke_off, why)
        self._waiting.clear()
        if self._asking is not None:
            self._asking.request_end(whole=False)

    def request(self, request: h11.Request, head: bytes) -> bytes:
        host = dict(request.headers).get(b"host", b"").decode("latin-1")
        if host and not self._is_own_host(host):
            raise ForeignHostError(host)
        self._asking = HttpExchange(request, self._tape, self._limits)
        self._waiting.append(self._asking)
        return _HOST.sub(rb"\g<1>" + self._authority, head)

    def request_body(self, data: bytes) -> None:
        if self._asking is not None:
            self._asking.request_body(data)

    def request_end(self) -> None:
        if self._asking is not None:
            self._asking.request_end()
            self._asking = None

    def request_unreadable(self, data: bytes, why: str) -> None:
        if self._asking is not None:
            self._asking.raw(_CLIENT, data, why)
        else:
            record_raw(self._tape, Track(TransportKind.HTTP), _CLIENT, data, why)

    def expected_method(self) -> str | None:
        return self._waiting[0].method if self._waiting else None

    def response(self, response: h11.InformationalResponse | h11.Response) -> None:
        self._waiting[0].response(response)

    def response_body(self, data: bytes) -> None:
        self._waiting[0].response_body(data)

    def response_end(self) -> None:
        self._waiting.popleft().response_end()

    def response_unreadable(self, data: bytes, why: str) -> None:
        if self._waiting:
            self._waiting[0].raw(_SERVER, data, why)
        else:
            record_raw(self._tape, Track(TransportKind.HTTP), _SERVER, data, why)
