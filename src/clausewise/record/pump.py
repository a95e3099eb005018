"""Pass the bytes of one descriptor on to another, unchanged and at once, and record them."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from enum import StrEnum

from clausewise.record.lines import StreamLog

_CHUNK_BYTES = 64 * 1024


class PumpEnd(StrEnum):
    """Why a pump ended."""

    SOURCE_ENDED = "source-ended"
    SINK_GONE = "sink-gone"
    """Nobody reads what is passed on."""
    STOPPED = "stopped"


class Pump(threading.Thread):
    """A thread of its own for one stream, so that no stream waits for another.

    It owns both descriptors and closes them at its end: so the end of a stream, and a reader
    that went away, are handed on, too. What was read is recorded before it is passed on.

    Args:
        source, sink: where bytes come from and go to; they may be pipes, sockets or files.
        log: records the bytes; called with `lock` held.
        at_end: called in the thread, with `lock` held, after the last byte was passed on and
            before the descriptors are closed.
        ended: called in the thread as the last thing.
    """

    def __init__(
        self,
        source: int,
        sink: int,
        log: StreamLog,
        lock: threading.Lock,
        *,
        at_end: Callable[[PumpEnd], None] = lambda _: None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(daemon=True)
        self._source = source
        self._sink = sink
        self._log = log
        self._lock = lock
        self._at_end = at_end
        self._ended = ended
        self._done = False
        self._wake_reader, self._wake_writer = os.pipe()

    @property
    def done(self) -> bool:
        """Whether it has ended, its descriptors closed."""
        return self._done

    def stop(self) -> None:
        """Pass on what is there now, and end."""
        os.write(self._wake_writer, b"x")

    def release(self) -> None:
        """Free what `stop` needs, once it is done."""
        self.join()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def run(self) -> None:
        """Pump until either side ends."""
        try:
            end = self._pump()
            with self._lock:
                self._log.close()
                self._at_end(end)
        finally:
            os.close(self._sink)
            os.close(self._source)
            self._done = True
            self._ended()

    def _pump(self) -> PumpEnd:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._sink, 0)
        poll.register(self._wake_reader, select.POLLIN)
        stopping = False
        while True:
            ready = dict(poll.poll(0 if stopping else None))
            if self._wake_reader in ready:
                stopping = True
                poll.unregister(self._wake_reader)
            if self._sink in ready:
                return PumpEnd.SINK_GONE
            if self._source in ready:
                end = self._pass_on()
                if end is not None:
                    return end
            elif stopping and self._wake_reader not in ready:
                return PumpEnd.STOPPED

    def _pass_on(self) -> PumpEnd | None:
        try:
            data = os.read(self._source, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            return PumpEnd.SOURCE_ENDED
        with self._lock:
            self._log.feed(data)
        return None if _write(self._sink, data) else PumpEnd.SINK_GONE


def _write(sink: int, data: bytes) -> bool:
    """Write all of `data`; false when nobody reads it. The peer may have made it non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(sink, select.POLLOUT)
            poll.poll()
        except OSError:
            return False
    return True
