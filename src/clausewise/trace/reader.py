"""Read traces: JSON Lines in, events out, with the line named when one is bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.core.errors import TraceError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import FIELDS, FORMAT_VERSION, Event, EventKind
from clausewise.wire.jsontext import JsonTextError, decode

_DIRECTIONS: Mapping[str, Direction] = {d.value: d for d in Direction}
_TRANSPORTS: Mapping[str, TransportKind] = {t.value: t for t in TransportKind}
_KINDS: Mapping[str, EventKind] = {k.value: k for k in EventKind}


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
    last_seq: int | None = None
    count = 0
    cut: BadLine | None = None
    for number, line in enumerate(lines, start=1):
        if cut is not None:
            _report(cut, name, on_bad_line)
            cut = None
        if not line.strip():
            continue
        try:
            event = _parse(line, number, last_seq, limits)
        except _LineError as error:
            bad = BadLine(number, str(error))
            if line.endswith(b"\n"):
                _report(bad, name, on_bad_line)
            else:
                cut = BadLine(number, f"the recording stops in mid-line ({bad.why})", True)
            continue
        if event is None:
            continue
        count += 1
        if limits.max_events is not None and count > limits.max_events:
            raise TraceError(
                f"{name}: more than {limits.max_events} events",
                "Raise the bound with --max-events.",
            )
        last_seq = event.seq
        yield event
    if cut is not None and on_bad_line is not None:
        on_bad_line(cut)


def _report(bad: BadLine, name: str, on_bad_line: Callable[[BadLine], None] | None) -> None:
    if on_bad_line is None:
        raise TraceError(
            f"{name}:{bad.number}: {bad.why}",
            "Use --keep-going to skip bad lines and judge the rest.",
        )
    on_bad_line(bad)


def _parse(line: bytes, number: int, last_seq: int | None, limits: ReadLimits) -> Event | None:
    if len(line) > limits.max_line_bytes:
        raise _LineError(f"longer than {limits.max_line_bytes} bytes")
    try:
        record = decode(line)
    except JsonTextError as error:
        raise _LineError(f"no JSON: {error}") from None
    if type(record) is not dict:
        raise _LineError("no JSON object")
    kind = _KINDS.get(_text(record, "kind"))
    if kind is None:
        raise _LineError(f"unknown kind {record.get('kind')!r}")
    if kind is EventKind.TRACE:
        _check_header(record, number)
        return None
    event = _event(record, kind)
    if last_seq is not None and event.seq <= last_seq:
        raise _LineError(f"seq {event.seq} does not increase (after {last_seq})")
    return event


def _check_header(record: Mapping[str, Any], number: int) -> None:
    if number != 1:
        raise _LineError("a trace header belongs on the first line")
    version = record.get("version", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise _LineError(f"trace format version {version!r}; this reads {FORMAT_VERSION}")


def _event(record: dict[str, Any], kind: EventKind) -> Event:
    seq = record.get("seq")
    if type(seq) is not int:
        raise _LineError("seq is no integer")
    direction = _DIRECTIONS.get(_text(record, "direction"))
    if direction is None:
        raise _LineError(f"unknown direction {record.get('direction')!r}")
    transport = _TRANSPORTS.get(_text(record, "transport"))
    if transport is None:
        raise _LineError(f"unknown transport {record.get('transport')!r}")
    if kind is EventKind.MESSAGE:
        if "payload" not in record:
            raise _LineError("a message without payload")
        own: Mapping[str, Any] = {}
    else:
        own = {key: record[key] for key in FIELDS[kind] if key in record}
    return Event(
        seq,
        direction,
        transport,
        kind,
        record.get("payload"),
        own,
        record.get("exchange"),
        record.get("stream"),
        record.get("session"),
        record.get("ts"),
        record.get("injected"),
    )


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
