"""Read traces: JSON Lines in, events out, with the line named when one is bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, MsgspecError, field
from msgspec.json import Decoder

from clausewise.core.errors import TraceError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import FIELDS, FORMAT_NAME, FORMAT_VERSION, Event, EventKind
from clausewise.wire.jsontext import JsonTextError, decode

_DIRECTIONS: Mapping[str, Direction] = {d.value: d for d in Direction}
_TRANSPORTS: Mapping[str, TransportKind] = {t.value: t for t in TransportKind}
_KINDS: Mapping[str, EventKind] = {k.value: k for k in EventKind}
_MESSAGE = EventKind.MESSAGE
_TRACE = EventKind.TRACE
_PAYLOAD = b',"payload":'
_BEFORE_ALL = float("-inf")


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds on a trace: bytes a line, events a file (None: no bound)."""

    max_line_bytes: int = 64 * 1024 * 1024
    max_events: int | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no event: its number (from 1), what is wrong, whether it was cut off.

    A cut line is the last one of a recording that was stopped in mid-write.
    """

    number: int
    why: str
    cut: bool = False


class _LineError(ValueError):
    """What is wrong with the line at hand."""


class _Line(Event, forbid_unknown_fields=True):
    """An event as its line has it: the fields of every kind beside those of an event.

    For nearly every line this saves the dict that would be made only to be taken apart. What
    does not fit goes the long way (`_parse`), which tells what is wrong, if anything is.
    """

    seq: Any  # a decoder takes 1.0 for an int
    payload: Any = UNSET
    own_method: Any = field(default=UNSET, name="method")
    own_path: Any = field(default=UNSET, name="path")
    own_query: Any = field(default=UNSET, name="query")
    own_status: Any = field(default=UNSET, name="status")
    own_headers: Any = field(default=UNSET, name="headers")
    own_id: Any = field(default=UNSET, name="id")
    own_retry: Any = field(default=UNSET, name="retry")
    own_event: Any = field(default=UNSET, name="event")
    own_comment: Any = field(default=UNSET, name="comment")
    own_end: Any = field(default=UNSET, name="end")
    own_text: Any = field(default=UNSET, name="text")
    own_base64: Any = field(default=UNSET, name="base64")
    own_why: Any = field(default=UNSET, name="why")
    own_code: Any = field(default=UNSET, name="code")


_ATTRIBUTES = {
    kind: tuple((name, f"own_{name}") for name in names) for kind, names in FIELDS.items()
}
_decode_line = Decoder(_Line).decode


def read_events(
    lines: Iterable[bytes],
    name: str,
    *,
    limits: ReadLimits = ReadLimits(),
    on_bad_line: Callable[[BadLine], None] | None = None,
) -> Iterator[Event]:
    """The events of a trace, in order.

    Args:
        lines: the lines as bytes, each with or without its newline.
        name: the trace's name, for error messages.
        limits: bounds; exceeding the event bound ends the reading with an error.
        on_bad_line: called for each bad line, which is then skipped. Without it the
            first bad line raises, except a last line cut off in mid-write.

    Raises:
        TraceError: a bad line, an event out of order, or a bound exceeded.
    """
    last_seq = _BEFORE_ALL
    count = 0
    most = float("inf") if limits.max_events is None else limits.max_events
    longest = limits.max_line_bytes
    keeps_text = False
    cut: BadLine | None = None
    for number, line in enumerate(lines, start=1):
        if cut is not None:
            _report(cut, name, on_bad_line)
            cut = None
        event = _usual_event(line, last_seq) if len(line) <= longest else None
        if event is None:
            try:
                event = _parse(line, number, last_seq, limits)
            except _LineError as error:
                if not line.strip():
                    continue
                bad = BadLine(number, str(error))
                if line.endswith(b"\n"):
                    _report(bad, name, on_bad_line)
                else:
                    cut = BadLine(number, f"the recording stops in mid-line ({bad.why})", True)
                continue
            if event is None:
                keeps_text = _is_as_received(line)
                continue
        if keeps_text and event.kind is _MESSAGE:
            event.text = _payload_text(line)
        count += 1
        if count > most:
            raise TraceError(
                f"{name}: more than {limits.max_events} events",
                "Raise the bound with --max-events.",
            )
        last_seq = event.seq
        yield event
    if cut is not None and on_bad_line is not None:
        on_bad_line(cut)


def _usual_event(line: bytes, last_seq: float) -> Event | None:
    """The event of a line that is as nearly all are; None for one that must go the long way."""
    try:
        event = _decode_line(line)
    except (MsgspecError, RecursionError):
        return None
    if type(event.seq) is not int or event.seq <= last_seq:
        return None
    kind = event.kind
    if kind is _MESSAGE:
        return None if event.payload is UNSET else event
    if kind is _TRACE:
        return None
    event.payload = None
    event.fields = {
        name: value
        for name, attribute in _ATTRIBUTES[kind]
        if (value := getattr(event, attribute)) is not UNSET
    }
    return event


def _report(bad: BadLine, name: str, on_bad_line: Callable[[BadLine], None] | None) -> None:
    if on_bad_line is None:
        raise TraceError(
            f"{name}:{bad.number}: {bad.why}",
            "Use --keep-going to skip bad lines and judge the rest.",
        )
    on_bad_line(bad)


def _parse(line: bytes, number: int, last_seq: float, limits: ReadLimits) -> Event | None:
    if len(line) > limits.max_line_bytes:
        raise _LineError(f"longer than {limits.max_line_bytes} bytes")
    try:
        record = decode(line)
    except JsonTextError as error:
        raise _LineError(f"no JSON: {error}") from None
    try:
        kind = _KINDS[record["kind"]]
        if kind is _TRACE:
            _check_header(record, number)
            return None
        seq = record["seq"]
        direction = _DIRECTIONS[record["direction"]]
        transport = _TRANSPORTS[record["transport"]]
        payload = record["payload"] if kind is _MESSAGE else None
    except (KeyError, TypeError):
        raise _LineError(_fault(record)) from None
    if type(seq) is not int:
        raise _LineError("seq is no integer")
    if seq <= last_seq:
        raise _LineError(f"seq {seq} does not increase (after {last_seq})")
    get = record.get
    own = {} if kind is _MESSAGE else {key: record[key] for key in FIELDS[kind] if key in record}
    return Event(
        seq,
        direction,
        transport,
        kind,
        payload,
        own,
        get("exchange"),
        get("stream"),
        get("session"),
        get("ts"),
        get("injected"),
    )


def _fault(record: Any) -> str:
    """What keeps a JSON value from being an event."""
    if type(record) is not dict:
        return "no JSON object"
    for member, known in (("kind", _KINDS), ("direction", _DIRECTIONS), ("transport", _TRANSPORTS)):
        value = record.get(member)
        if not isinstance(value, str) or value not in known:
            return f"unknown {member} {value!r}"
    return "seq is no integer" if "seq" not in record else "a message without payload"


def _is_as_received(header: bytes) -> bool:
    """Whether a trace's header says that its messages stand in it as a recorder of ours got them.

    One converted from another format names its `source`.
    """
    record = decode(header)
    return record.get("format") == FORMAT_NAME and "source" not in record


def _payload_text(line: bytes) -> bytes | None:
    """The source text of a message, which the writer puts last in the line."""
    at = line.find(_PAYLOAD)
    end = line.rfind(b"}")
    return line[at + len(_PAYLOAD) : end] if 0 <= at < end else None


def _check_header(record: Mapping[str, Any], number: int) -> None:
    if number != 1:
        raise _LineError("a trace header belongs on the first line")
    version = record.get("version", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise _LineError(f"trace format version {version!r}; this reads {FORMAT_VERSION}")
