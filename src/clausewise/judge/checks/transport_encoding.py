"""Transports: the bytes of messages, their encoding and their newlines."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Raw
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.wording import counted
from clausewise.wire.jsontext import JsonTextError, decode

MAX_PIECES = 1000
MAX_JOINED_BYTES = 64 * 1024
MAX_TRIES = 64
"""Bounds on the lines that are tried as one message, and on how often."""

_BOM = "\ufeff"
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class _Pieces:
    """Lines one after another that may be pieces of one message.

    Attributes:
        first: where the first one is; None while there are none.
        lines: what they hold.
        size: their bytes.
        tries: how often they were tried as one message.
    """

    first: Spot | None = None
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    tries: int = 0

    def begin(self, at: Raw) -> None:
        self.first = Spot(at.seq, at.direction)
        self.lines, self.size, self.tries = [], 0, 0

    def add(self, text: bytes) -> bool:
        """Take in one more; says whether all of them are one message."""
        self.lines.append(text)
        self.size += len(text)
        if len(self.lines) > MAX_PIECES or self.size > MAX_JOINED_BYTES or self.tries > MAX_TRIES:
            self.first = None
            return False
        if not text.rstrip().endswith(b"}"):
            return False
        self.tries += 1
        # A newline inside a string is no JSON, but what the writer meant is.
        return _is_message(b"\n".join(self.lines)) or _is_message(b"\\n".join(self.lines))


@dataclass(slots=True)
class _Written:
    """The pieces on stdin and on stdout."""

    by_client: _Pieces = field(default_factory=_Pieces)
    by_server: _Pieces = field(default_factory=_Pieces)

    def pieces(self, direction: Direction) -> _Pieces:
        is_client = direction is Direction.CLIENT_TO_SERVER
        return self.by_client if is_client else self.by_server


@check(
    "transport.stdio-no-embedded-newline",
    on=("odd message", "raw"),
    subject="message on stdio as it was written",
    transport=TransportKind.STDIO,
)
def stdio_no_embedded_newline(line: Message | Raw, session: Session, out: Sheet) -> None:
    """A message on stdio has newlines in it.

    Why: the newline is what ends a message, so the receiver reads pieces that are no JSON.
    Fix: write JSON on one line, without indentation; inside strings a newline is `\\n`.
    """
    pieces = session.state(_Written).pieces(line.direction)
    if isinstance(line, Raw):
        _add_raw(pieces, line, out)
        return
    text = line.event.text
    if pieces.first is not None and _is_piece(line):
        _add(pieces, _text_of(line), out)
        return
    pieces.first = None
    if text is None:
        return
    if b"\n" in text.strip():
        _report(Spot(line.seq, line.direction), text.strip().count(b"\n") + 1, out)
    else:
        out.held(line)


def _is_piece(message: Message) -> bool:
    """Whether a line that is JSON by itself is no message: part of an array, or a lone value."""
    payload = message.payload
    return not isinstance(payload, dict) or "jsonrpc" not in payload


def _text_of(message: Message) -> bytes:
    text = message.event.text
    if text is not None:
        return text
    # Only the value was recorded, so a scalar's own text is as good as any.
    payload = message.payload
    return b"{}" if isinstance(payload, dict) else b"0"


def _add_raw(pieces: _Pieces, raw: Raw, out: Sheet) -> None:
    text = raw.text
    if text is None or raw.is_cut_short:
        pieces.first = None
    elif pieces.first is not None:
        _add(pieces, text.encode("utf-8", "surrogatepass"), out)
    elif text.lstrip().startswith(("{", "[")):
        pieces.begin(raw)
        _add(pieces, text.encode("utf-8", "surrogatepass"), out)


def _add(pieces: _Pieces, text: bytes, out: Sheet) -> None:
    first = pieces.first
    if first is not None and pieces.add(text):
        pieces.first = None
        _report(first, len(pieces.lines), out)


def _report(at: Spot, lines: int, out: Sheet) -> None:
    out.broke(
        at,
        "a message on stdio has newlines in it",
        seen=f"one message over {counted(lines, 'line')}",
        expected="each message on one line",
    )


@check(
    "transport.message-utf8",
    on=("odd message", "raw"),
    subject="message with its bytes",
)
def message_utf8(line: Message | Raw, session: Session, out: Sheet) -> None:
    """A message is not encoded in UTF-8.

    Why: JSON readers take the bytes for UTF-8 and refuse the message, or read other characters.
    Fix: encode JSON in UTF-8 without a byte order mark, also where the system's own encoding is
    another one, as on Windows.
    """
    if isinstance(line, Message):
        # To become a message its text was decoded as UTF-8.
        if line.event.text is not None:
            out.held(line)
        return
    if line.is_cut_short:
        return
    text = line.text
    if text is None:
        _judge_bytes(line, out)
    elif text.startswith(_BOM) and _is_message(text[1:].encode("utf-8", "surrogatepass")):
        out.broke(
            line,
            "a message begins with a byte order mark",
            seen="the bytes EF BB BF before the JSON",
            expected="UTF-8 without a byte order mark (RFC 8259, section 8.1)",
            severity=Outcome.WARN,
        )
    elif "\0" in text:
        _judge_wide(line, text.encode("utf-8", "surrogatepass"), out)


def _judge_bytes(raw: Raw, out: Sheet) -> None:
    data = _bytes_of(raw.event.fields.get("base64"))
    if data is None:
        return
    if b"\0" in data or data.startswith(_UTF_16_BOMS):
        _judge_wide(raw, data, out)
    elif _is_message(data.decode("latin-1").encode()):
        _report_encoding(raw, "bytes that are not UTF-8 in a JSON message", out)


def _judge_wide(raw: Raw, data: bytes, out: Sheet) -> None:
    """Find a message in UTF-16 or UTF-32: ASCII text between zero bytes."""
    for mark in _UTF_16_BOMS:
        data = data.removeprefix(mark)
    if _is_message(data.replace(b"\0", b"").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")):
        _report_encoding(raw, "a JSON message with zero bytes between its characters", out)


def _report_encoding(raw: Raw, seen: str, out: Sheet) -> None:
    out.broke(raw, "a message is not encoded in UTF-8", seen=seen, expected="JSON in UTF-8")


def _bytes_of(text: Any) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None


def _is_message(text: bytes) -> bool:
    """Whether `text` is the JSON of an object with a `jsonrpc` member."""
    try:
        payload = decode(text.strip())
    except JsonTextError:
        return False
    return isinstance(payload, dict) and "jsonrpc" in payload
