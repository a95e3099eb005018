"""Server processes that write too much or read nothing: bounded, and what was lost is said."""

from __future__ import annotations

import anyio
import pytest
from tests.transport.processes import (
    FOREVER,
    LIMITS,
    PING,
    any_message,
    of_kind,
    server,
)

from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Ending
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import open_process

pytestmark = pytest.mark.anyio


async def test_a_server_that_reads_nothing_does_not_block_the_sender() -> None:
    limits = Limits(answer_s=0.2, exit_s=0.05)
    async with open_process(server(FOREVER), Tape(), limits) as process:
        answer = await process.send(b'"' + b"x" * 2_000_000 + b'"', until=any_message)
    assert answer.ending is Ending.TIMEOUT


async def test_a_flood_of_lines_is_bounded_and_what_was_dropped_is_said() -> None:
    script = """
        for line in sys.stdin.buffer:
            out(b'{"n":1}\\n' * 1000 + b'{"last":1}\\n')
    """
    tape = Tape()
    limits = Limits(answer_s=8, exit_s=5, max_events=100)
    async with open_process(server(script), tape, limits) as process:
        answer = await process.send(PING, until=lambda e: "last" in e.payload)
    assert answer.ending is Ending.LIMIT
    assert "100" in answer.detail
    assert len(of_kind(tape, EventKind.MESSAGE)) == 100
    (dropped,) = of_kind(tape, EventKind.RAW)
    assert dropped.fields["why"] == "cut short: 901 lines (6310 bytes) of output were dropped"


async def test_after_a_flood_the_next_answer_is_heard_again() -> None:
    script = """
        sys.stdin.readline()
        out(b'{"n":1}\\n' * 150)  # one write to a pipe, hence one read
        sys.stdin.readline()
        out(b'{"last":1}\\n')
    """
    limits = Limits(answer_s=8, exit_s=5, max_events=100)
    async with open_process(server(script), Tape(), limits) as process:
        flooded = await process.send(PING, until=lambda e: "last" in e.payload)
        answer = await process.send(PING, until=lambda e: "last" in e.payload)
    assert flooded.ending is Ending.LIMIT
    assert answer.ending is Ending.COMPLETE
    assert [e.payload for e in answer.messages] == [{"last": 1}]


async def test_an_endless_flood_of_bytes_neither_blocks_nor_fills_memory() -> None:
    script = """
        while True:
            out(b"x" * 65536)
            os.write(2, b"y" * 65536)
    """
    tape = Tape()
    limits = Limits(exit_s=0.2, max_line_bytes=100_000, max_body_bytes=500_000)
    async with open_process(server(script), tape, limits) as process:
        with anyio.fail_after(8):
            while len(process.stderr_tail) < 4096:
                await process.listen(0.02)
        answer = await process.send(PING, until=any_message, timeout_s=0.2)
    assert answer.ending is Ending.TIMEOUT
    assert len(of_kind(tape, EventKind.RAW)) <= 4
    stderr_bytes = sum(len(e.fields["text"]) for e in of_kind(tape, EventKind.STDERR))
    assert stderr_bytes < 1_300_000
    assert len(process.stderr_tail) == 4096


async def test_a_line_that_is_too_long_is_cut_and_the_next_is_heard() -> None:
    script = """
        sys.stdin.readline()
        out(b'"' + b"x" * 50_000 + b'"\\n{"next":1}\\n')
        sys.stdin.read()
    """
    tape = Tape()
    limits = Limits(answer_s=8, exit_s=5, max_line_bytes=20_000)
    async with open_process(server(script), tape, limits) as process:
        answer = await process.send(PING, until=any_message)
    assert answer.ending is Ending.COMPLETE
    (raw,) = of_kind(tape, EventKind.RAW)
    why = "cut short: a line of more than 20000 bytes; the first 16384 of 20000 bytes"
    assert raw.fields["why"] == why


async def test_an_answer_lost_in_a_line_that_is_too_long_is_a_limit() -> None:
    script = """
        sys.stdin.readline()
        out(b'"' + b"x" * 5_000 + b'"\\n')
        sys.stdin.read()
    """
    limits = Limits(exit_s=5, max_line_bytes=1_000)
    async with open_process(server(script), Tape(), limits) as process:
        answer = await process.send(PING, until=any_message, timeout_s=1)
    assert answer.ending is Ending.LIMIT
    assert answer.detail == "a line of more than 1000 bytes"


async def test_stderr_is_kept_line_by_line_whatever_its_bytes() -> None:
    script = """
        os.write(2, b"one\\ntwo \\xff\\n" + "\\u4e16".encode()[:2] + b"\\nlast\\xe4")
    """
    tape = Tape()
    async with open_process(server(script), tape, LIMITS) as process:
        await process.listen(5)
    texts = [e.fields["text"] for e in of_kind(tape, EventKind.STDERR)]
    assert texts == ["one", "two \\xff", "\\xe4\\xb8", "last\\xe4"]


async def test_stderr_without_newlines_is_recorded_all_the_same() -> None:
    script = """
        os.write(2, b"y" * 20_000)
        sys.stdin.read()
    """
    tape = Tape()
    async with open_process(server(script), tape, LIMITS) as process:
        with anyio.fail_after(8):
            while len(process.stderr_tail) < 4096:
                await process.listen(0.02)
        assert of_kind(tape, EventKind.STDERR)
    assert sum(len(e.fields["text"]) for e in of_kind(tape, EventKind.STDERR)) == 20_000
