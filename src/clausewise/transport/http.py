"""The client end of Streamable HTTP: one connection, requests sent verbatim, answers recorded.

No proxy is used and no redirect followed: what is judged is the target itself.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import ByteStream, SocketAttribute

from clausewise.core.errors import CertificateError, TargetError, UsageError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape, Track
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.exchange import Exchange
from clausewise.transport.http_wire import HttpWire
from clausewise.transport.limits import Limits
from clausewise.transport.recording import record_raw
from clausewise.transport.targets import HttpRequest, HttpTarget

__all__ = ["HttpConnection", "HttpRequest", "HttpTarget", "open_connection"]

_PEER_CLOSED = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


class HttpConnection:
    """One TCP or TLS connection, one exchange at a time; made by `open_connection`."""

    def __init__(self, target: HttpTarget, stream: ByteStream, tape: Tape, limits: Limits) -> None:
        self._target = target
        self._stream = stream
        self._tape = tape
        self._limits = limits
        self._wire = HttpWire(stream, limits.max_header_bytes)
        self._open = True

    @property
    def alive(self) -> bool:
        """Whether another request can be sent on this connection, as far as can be seen."""
        return self._open and self._wire.reusable and not self._peer_stirs()

    async def send(
        self,
        request: HttpRequest,
        *,
        until: Callable[[Event], bool] | None = None,
        timeout_s: float | None = None,
        injected: str | None = None,
        session: str | None = None,
    ) -> Answer:
        """Send one request and read its answer.

        Args:
            request: sent verbatim; recorded before it is sent.
            until: called with each message event of an SSE answer; once it is true, the
                stream has `quiet_s` to end by itself (COMPLETE), else it is closed (CUT).
                Without it an SSE answer is read to its end or the deadline.
            timeout_s: seconds for the whole answer instead of the limits' `answer_s`.
            injected: why this request breaks the rules on purpose; recorded with it.
            session: the label of the session on the tape.

        Returns:
            The answer. A broken one has an `ending` other than COMPLETE, and the
            connection is closed; on one that is not alive nothing is sent (REFUSED).
            Never raises for what the peer does.
        """
        if not self.alive:
            await self.aclose()
            return _refused()
        exchange = Exchange(
            self._wire,
            self._tape,
            self._limits,
            until=until,
            injected=injected,
            session=session,
        )
        wait_s = self._limits.answer_s if timeout_s is None else timeout_s
        whole = False
        try:
            answer = await exchange.run(request, self._target.request_target, wait_s)
            whole = answer.ending is Ending.COMPLETE
            return answer
        finally:
            if not (whole and self._wire.reusable):
                await self._close()

    async def aclose(self) -> None:
        """Close the connection; bytes that wait on it unasked are recorded first."""
        try:
            if self._open and self._wire.reusable and self._peer_stirs():
                await self._record_strays()
        finally:
            await self._close()

    async def _record_strays(self) -> None:
        data = await self._wire.glance()
        if data:
            track = Track(TransportKind.HTTP)
            why = "bytes that answer no request"
            record_raw(self._tape, track, Direction.SERVER_TO_CLIENT, data, why)

    async def _close(self) -> None:
        if self._open:
            self._open = False
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    def _peer_stirs(self) -> bool:
        """Whether the peer has closed, or (without TLS, which talks by itself) sent something."""
        fileno = self._stream.extra(SocketAttribute.raw_socket).fileno()  # noqa: S610 - no Django
        if fileno < 0:
            return True
        signs = _PEER_CLOSED if self._target.is_tls else _PEER_CLOSED | select.POLLIN
        poll = select.poll()
        poll.register(fileno, signs)
        return any(state & signs for _, state in poll.poll(0))


@asynccontextmanager
async def open_connection(
    target: HttpTarget, tape: Tape, limits: Limits = Limits()
) -> AsyncIterator[HttpConnection]:
    """Connect to the target; the connection is closed on leaving.

    Raises:
        TargetError: the host does not resolve, refuses, does not answer in `connect_s`,
            speaks no TLS, or has a certificate that is not trusted.
        UsageError: the target's `ca_file` cannot be read.
    """
    connection = HttpConnection(target, await connect(target, limits), tape, limits)
    try:
        yield connection
    finally:
        await connection.aclose()


def _refused() -> Answer:
    return Answer(None, None, (), b"", (), (), Ending.REFUSED, "the connection is closed")


async def connect(target: HttpTarget, limits: Limits) -> ByteStream:
    """A TCP or TLS connection to the target, nothing sent yet.

    Raises:
        TargetError, UsageError: as `open_connection`.
    """
    context = _tls_context(target) if target.is_tls else None
    try:
        with anyio.fail_after(limits.connect_s):
            if context is None:
                return await anyio.connect_tcp(target.address or target.host, target.port)
            return await anyio.connect_tcp(
                target.address or target.host,
                target.port,
                ssl_context=context,
                tls_standard_compatible=False,
                tls_hostname=target.host,
            )
    except (OSError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
        raise _unreachable(target, error, limits) from None


def _tls_context(target: HttpTarget) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=target.ca_file)
    except OSError as error:
        raise UsageError(
            f"cannot read certificates from {target.ca_file}: {error.strerror or error}",
            "Name a PEM file of certificate authorities.",
        ) from None
    if not target.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unreachable(target: HttpTarget, error: Exception, limits: Limits) -> TargetError:
    place = f"{target.host} port {target.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return CertificateError(
            f"the certificate of {place} is not trusted: {error.verify_message}",
            "Have it issued for this host by a trusted authority, or name its authority.",
            error.verify_code,
        )
    if isinstance(error, ssl.SSLError | anyio.BrokenResourceError | anyio.EndOfStream):
        return TargetError(
            f"no TLS connection to {place}: {str(error) or 'the peer closed in the handshake'}",
            "Try http:// if the server speaks plain HTTP.",
        )
    if isinstance(error, socket.gaierror):
        return TargetError(
            f"the host name {target.host} does not resolve: {error.strerror}",
            "Check the spelling of the host and the network.",
        )
    if isinstance(error, TimeoutError):
        return TargetError(
            f"no connection to {place} in {limits.connect_s:g} s",
            "Check the address and any firewall between.",
        )
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return TargetError(
        f"no connection to {place}: {getattr(cause, 'strerror', None) or cause}",
        "Check that the server runs and listens on this address.",
    )
