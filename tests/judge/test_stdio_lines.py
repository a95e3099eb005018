"""Lines of stdin and stdout that the notation of the case files cannot write."""

from __future__ import annotations

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.engine import judge
from clausewise.trace.tape import Tape, Track
from clausewise.transport.limits import Limits
from clausewise.transport.output import OutputLog

TRACK = Track(TransportKind.STDIO)
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"n","version":"1"}}}'
)
RESULT = (
    b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"serverInfo":{"name":"n","version":"1"}}}'
)


def stdout(output: bytes, limits: Limits = Limits()) -> Verdict:
    """The verdict on TRAN-004 when the server writes `output` after an initialize request."""
    tape = Tape()
    tape.message(TRACK, Direction.CLIENT_TO_SERVER, INITIALIZE)
    log = OutputLog(tape, TRACK, limits)
    log.feed(output)
    log.close()
    result = judge(tape.events, trace="t")
    return next(v for v in result.verdicts if v.id == "TRAN-004")


def test_messages_one_a_line_are_kept() -> None:
    verdict = stdout(RESULT + b"\n" + b'{"jsonrpc":"2.0","method":"notifications/x"}\n')
    assert (verdict.outcome, verdict.occasions) == (Outcome.PASS, 2)


def test_lines_that_end_with_cr_lf_are_kept_and_noted_once() -> None:
    verdict = stdout(RESULT + b"\r\n" + b'{"jsonrpc":"2.0","method":"notifications/x"}\r\n')
    assert verdict.outcome is Outcome.PASS
    assert [f.severity for f in verdict.findings] == [Outcome.INFO]


def test_a_byte_order_mark_makes_a_line_no_message() -> None:
    verdict = stdout(b"\xef\xbb\xbf" + RESULT + b"\n" + RESULT + b"\n")
    assert verdict.outcome is Outcome.FAIL
    assert len(verdict.findings) == 1


def test_bytes_that_are_not_utf_8_are_named_so() -> None:
    (finding,) = stdout(b"caf\xe9\n" + RESULT + b"\n").findings
    assert finding.seen == "bytes that are not UTF-8"


def test_many_lines_are_one_finding_that_says_how_many() -> None:
    (finding,) = stdout(b"".join(b"line %d\n" % n for n in range(36)) + RESULT + b"\n").findings
    assert "36" in finding.message
    assert finding.at is not None
    assert finding.at.seq == 1


def test_a_last_line_without_newline_proves_nothing() -> None:
    assert stdout(RESULT + b'\n{"jsonrpc":"2.0","me').outcome is Outcome.PASS
    assert stdout(b"bye").outcome is Outcome.NOT_OBSERVED


def test_a_line_beyond_what_is_recorded_proves_nothing() -> None:
    verdict = stdout(b"x" * 2000 + b"\n" + RESULT + b"\n", Limits(max_line_bytes=1000))
    assert verdict.outcome is Outcome.PASS
