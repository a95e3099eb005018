"""Ask the machine's name server for TXT records: one question, one answer, over UDP.

Source: RFC 1035 section 4.
"""

from __future__ import annotations

import secrets
import struct
from dataclasses import dataclass
from pathlib import Path

import anyio

from clausewise.core.errors import TargetError

RESOLVER_CONFIGURATION = Path("/etc/resolv.conf")
DNS_PORT = 53
_TXT, _INTERNET = 16, 1
_RECURSION_DESIRED = 0x0100
_IS_RESPONSE, _TRUNCATED, _CODE_MASK = 0x8000, 0x0200, 0x000F
_NO_ERROR, _NO_SUCH_NAME = 0, 3
_POINTER = 0xC0
_MAX_LABEL = 63
_TRIES = 2


@dataclass(frozen=True, slots=True)
class NameServer:
    """Where questions go."""

    address: str
    port: int = DNS_PORT


def configured_name_server(configuration: Path = RESOLVER_CONFIGURATION) -> NameServer | None:
    """The first name server that the machine is configured with, or None."""
    try:
        lines = configuration.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    words = (line.split() for line in lines)
    return next((NameServer(w[1]) for w in words if len(w) > 1 and w[0] == "nameserver"), None)


async def txt_records(domain: str, server: NameServer, seconds: float) -> tuple[str, ...]:
    """The TXT records of `domain`, each joined to one text; empty when it has none.

    Raises:
        TargetError: no answer in `seconds` for each of two tries, or none that can be read.
    """
    question = _question(domain)
    for _ in range(_TRIES):
        number = secrets.token_bytes(2)
        header = number + struct.pack(">5H", _RECURSION_DESIRED, 1, 0, 0, 0)
        with anyio.move_on_after(seconds):
            answer = await _exchange(header + question, server)
            return _texts(answer, number, question, domain)
    raise TargetError(f"no answer about {domain} from the name server {server.address}")


async def _exchange(message: bytes, server: NameServer) -> bytes:
    """The first datagram that answers `message`, by its number."""
    try:
        async with await anyio.create_connected_udp_socket(server.address, server.port) as socket:
            await socket.send(message)
            while True:
                answer = await socket.receive()
                if answer[:2] == message[:2]:
                    return answer
    except OSError as error:
        raise TargetError(f"the name server {server.address} is not reached: {error}") from None


def _question(domain: str) -> bytes:
    try:
        labels = [label.encode("ascii") for label in domain.rstrip(".").split(".")]
    except UnicodeEncodeError:
        labels = []
    if not labels or any(not 0 < len(label) <= _MAX_LABEL for label in labels):
        raise TargetError(f"{domain!r} is no domain name")
    name = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    return name + struct.pack(">2H", _TXT, _INTERNET)


def _texts(answer: bytes, number: bytes, question: bytes, domain: str) -> tuple[str, ...]:
    try:
        flags, _, count = struct.unpack(">3H", answer[2:8])
        code = flags & _CODE_MASK
        whole = answer[:2] == number and flags & _IS_RESPONSE and not flags & _TRUNCATED
        if not whole or code not in (_NO_ERROR, _NO_SUCH_NAME):
            raise TargetError(f"the name server cannot tell the TXT records of {domain}")
        return _read_answers(answer, 12 + len(question), count)
    except (struct.error, IndexError):
        raise TargetError(f"the answer about {domain} is malformed") from None


def _read_answers(answer: bytes, at: int, count: int) -> tuple[str, ...]:
    texts: list[str] = []
    for _ in range(count):
        at = _past_name(answer, at)
        kind, _, _, length = struct.unpack(">2HIH", answer[at : at + 10])
        at += 10
        if kind == _TXT:
            texts.append(_joined(answer[at : at + length]))
        at += length
    return tuple(texts)


def _past_name(answer: bytes, at: int) -> int:
    while (length := answer[at]) != 0:
        if length >= _POINTER:
            return at + 2
        at += length + 1
    return at + 1


def _joined(data: bytes) -> str:
    """The character strings of one TXT record as one text."""
    pieces, at = [], 0
    while at < len(data):
        pieces.append(data[at + 1 : at + 1 + data[at]])
        at += 1 + data[at]
    return b"".join(pieces).decode("utf-8", "replace")
