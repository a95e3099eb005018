"""Transports, stdio: what is written to stdin and stdout."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Raw
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.wording import shown
from clausewise.wire.jsonrpc import MessageClass

_CHANNELS = {Direction.CLIENT_TO_SERVER: "stdin", Direction.SERVER_TO_CLIENT: "stdout"}


@dataclass(slots=True)
class _Run:
    """Lines one after another that are no messages: one fault, whatever their number.

    Attributes:
        first: where the first line that is not blank is, or None.
        seen: what that line holds.
        count: how many lines are not blank.
        blank: where the first blank line is, or None.
        is_open: whether the last line may be the beginning of a message.
    """

    first: Spot | None = None
    seen: str = ""
    count: int = 0
    blank: Spot | None = None
    is_open: bool = False


@dataclass(slots=True)
class _Channel:
    """One of stdin and stdout: the run at hand and whether a CR was reported."""

    run: _Run = field(default_factory=_Run)
    has_cr: bool = False


@dataclass(slots=True)
class _Stdin(_Channel):
    """What the client writes."""


@dataclass(slots=True)
class _Stdout(_Channel):
    """What the server writes."""


@check(
    "transport.stdio-server-output-valid",
    on=("server odd message", "server raw"),
    subject="line of stdout as it was written",
    transport=TransportKind.STDIO,
)
def stdio_server_output_valid(line: Message | Raw, session: Session, out: Sheet) -> None:
    """The server writes something to stdout that is no message.

    Why: clients read stdout line by line as messages; a banner or a log line there makes
    strict ones end the connection and hides real answers from others.
    Fix: send logs and banners to stderr, and look for what prints to stdout in libraries and
    in the command that starts the server; write each message as one line.
    """
    if line.direction is Direction.SERVER_TO_CLIENT:
        _judge_line(line, session.state(_Stdout), out)


@stdio_server_output_valid.on("session-end")
def _stdout_ended(end: Spot, session: Session, out: Sheet) -> None:
    _end_of_channel(session.state(_Stdout), out)


@check(
    "transport.stdio-client-input-valid",
    on=("client odd message", "client raw"),
    subject="line of stdin as it was written",
    transport=TransportKind.STDIO,
)
def stdio_client_input_valid(line: Message | Raw, session: Session, out: Sheet) -> None:
    """The client writes something to the server's stdin that is no message.

    Why: the server reads stdin line by line as messages; whatever else comes there it may
    answer with an error that finds no request, or end.
    Fix: write nothing but messages, each as one line of JSON without a newline in it.
    """
    if line.direction is Direction.CLIENT_TO_SERVER:
        _judge_line(line, session.state(_Stdin), out)


@stdio_client_input_valid.on("session-end")
def _stdin_ended(end: Spot, session: Session, out: Sheet) -> None:
    _end_of_channel(session.state(_Stdin), out)


def _judge_line(line: Message | Raw, channel: _Channel, out: Sheet) -> None:
    if isinstance(line, Message):
        if not _is_message(line):
            _extend(channel.run, line, f"the JSON value {shown(line.payload)}")
            return
        _close(channel, out)
        text = line.event.text
        if text is None:
            # Only the value was recorded; what else was on the line nobody knows.
            return
        out.held(line)
        if text.endswith(b"\r") and not channel.has_cr:
            channel.has_cr = True
            _note_cr(line, out)
    elif not line.is_cut_short:
        _extend(channel.run, line, "bytes that are not UTF-8")


def _is_message(message: Message) -> bool:
    """Whether a value is an object of one of the message classes; their faults are others'."""
    payload = message.payload
    if type(payload) is not dict or "jsonrpc" not in payload:
        return False
    return message.kind is not MessageClass.MALFORMED or "result" in payload


def _extend(run: _Run, line: Message | Raw, seen: str) -> None:
    spot = Spot(line.seq, line.direction)
    run.is_open = False
    if isinstance(line, Raw):
        if line.is_blank:
            run.blank = run.blank or spot
            return
        if line.text is not None:
            run.is_open = line.text.startswith("{")
            seen = shown(line.text)
    if run.first is None:
        run.first, run.seen = spot, seen
    run.count += 1


def _close(channel: _Channel, out: Sheet) -> None:
    """Report the run at hand, if there is one: a message or the end came after it."""
    run = channel.run
    if run.first is None and run.blank is None:
        return
    channel.run = _Run()
    if run.first is not None:
        name = _CHANNELS[run.first.direction]
        what = "a line that is no message" if run.count == 1 else f"{run.count} lines like this"
        out.broke(
            run.first,
            f"{name} carries {what}",
            seen=run.seen,
            expected="nothing but messages, one a line",
        )
    elif run.blank is not None:
        out.broke(
            run.blank,
            f"{_CHANNELS[run.blank.direction]} carries a blank line",
            seen="nothing between two newlines",
            expected="nothing but messages, one a line",
            severity=Outcome.WARN,
        )


def _end_of_channel(channel: _Channel, out: Sheet) -> None:
    run = channel.run
    if run.is_open and run.first is not None:
        # The writer was stopped, or the recording, in the middle of its last line.
        out.undecided(run.first, "the last line may have been cut off")
        run.count -= 1
        if not run.count:
            run.first = None
    _close(channel, out)


def _note_cr(line: Message, out: Sheet) -> None:
    name = _CHANNELS[line.direction]
    out.broke(
        line,
        f"lines on {name} end with CR LF",
        seen="CR LF",
        expected="LF alone, as some readers take no other; the CR is white space in JSON",
        severity=Outcome.INFO,
    )
