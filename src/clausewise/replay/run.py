"""Replay a script against a live server: each step once what came before it has come again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio

from clausewise.core.errors import NothingJudgedError, TraceError
from clausewise.core.results import ReplayedAnswer
from clausewise.replay.differences import differences
from clausewise.replay.http_channel import open_http
from clausewise.replay.live import Live
from clausewise.replay.script import Act, Label, Lane, Script, Step
from clausewise.replay.stdio_channel import StdioChannel
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape
from clausewise.transport.http import HttpTarget
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioTarget
from clausewise.wire.jsonrpc import MessageClass, classify

_CLIENT_ANSWERS = (MessageClass.RESULT, MessageClass.ERROR)
_NO_ANSWER = -32603
_LAST_ANSWERS_S = 1.0


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Bounds of a replay.

    Attributes:
        limits: of one conversation; `answer_s` is how long each answer is waited for.
        total_s: seconds for the whole replay.
    """

    limits: Limits = Limits()
    total_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a replay: each request's answer beside the recorded one, and remarks."""

    answers: tuple[ReplayedAnswer, ...]
    notes: tuple[str, ...]


async def replay(
    script: Script,
    live: Live,
    target: HttpTarget | StdioTarget,
    tape: Tape,
    options: ReplayOptions = ReplayOptions(),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Replayed:
    """Send every step of `script` to `target`; `live` must be a listener of `tape`.

    Raises:
        NothingJudgedError: the recording has no message of a client.
        TargetError: the target cannot be reached or launched.
    """
    if not any(step.act is Act.MESSAGE for step in script.steps):
        raise NothingJudgedError(
            "the recording has no message of a client", "Record a session with `clausewise record`."
        )
    runner = _Runner(script, live, options, progress)
    with anyio.move_on_after(options.total_s) as bound:
        await runner.run(target, tape)
    if bound.cancelled_caught:
        runner.remark(f"the replay was cut off after {options.total_s:g} s")
    return Replayed(tuple(runner.compared()), runner.notes)


class Channel(Protocol):
    """Carries steps to the target.

    Attributes:
        has_heads: whether answers have HTTP response heads.
    """

    has_heads: bool

    def has_ended(self, step: Step) -> bool:
        """Whether nothing more can come for this step."""

    async def send(self, step: Step, body: bytes) -> None:
        """Take one step."""

    async def reply(self, lane: Lane, body: bytes) -> None:
        """Answer a request of the server that the recording does not have."""


class _Runner:
    """One replay."""

    def __init__(
        self,
        script: Script,
        live: Live,
        options: ReplayOptions,
        progress: Callable[[int, int], None],
    ) -> None:
        self._script = script
        self._live = live
        self._options = options
        self._progress = progress
        self._requests = {
            step.seq: step
            for step in script.steps
            if classify(step.payload) is MessageClass.REQUEST
        }
        self._by_exchange = {
            step.exchange: step
            for step in script.steps
            if step.exchange is not None and step.act is not Act.ABORT
        }
        self._expected = sorted(self._expectations(), key=lambda expected: expected[0])
        self._next = 0
        self._sent: set[int] = set()
        self._remarks: Counter[str] = Counter()

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks, those made several times with their number."""
        return tuple(
            text if times == 1 else f"{text} ({times} times)"
            for text, times in self._remarks.items()
        )

    def remark(self, text: str) -> None:
        self._remarks[text] += 1

    async def run(self, target: HttpTarget | StdioTarget, tape: Tape) -> None:
        """Take every step and wait for the last answers."""
        limits = self._options.limits
        if isinstance(target, StdioTarget):
            async with StdioChannel(target, tape, self._live, limits) as lines:
                await self._steps(lines)
            return
        async with open_http(target, tape, self._live, limits, self._options.total_s) as http:
            await self._steps(http)
        if http.failure is not None and not self._live.heads:
            raise http.failure

    async def _steps(self, channel: Channel) -> None:
        total = len(self._script.steps)
        for number, step in enumerate(self._script.steps):
            self._progress(number, total)
            await self._wait_before(step.seq, channel)
            await self._answer_unasked(channel)
            body = self._body(step)
            if body is not None:
                self._sent.add(step.seq)
                await channel.send(step, body)
        await self._wait_before(None, channel)
        await self._answer_unasked(channel)
        # A recording that stopped before an answer came does not say that none would come.
        await self._live.until(lambda: self._is_idle(channel), _LAST_ANSWERS_S)
        self._progress(total, total)

    def _body(self, step: Step) -> bytes | None:
        """What goes out for `step`; None when there is nothing to answer."""
        if step.event is None or step.act is not Act.MESSAGE:
            return b""
        payload = self._live.bindings.rebound(step.payload)
        if classify(payload) in _CLIENT_ANSWERS:
            asked, identity = self._live.asked_id(step.lane, payload.get("id"))
            if not asked:
                self.remark("the server did not ask again what the client answers here")
                return None
            payload = payload | {"id": identity}
        if payload is step.payload and step.event.text is not None:
            return step.event.text
        try:
            return json.dumps(payload, separators=(",", ":")).encode()
        except RecursionError:
            raise TraceError(
                f"the message at seq {step.seq} nests too deeply to be written again",
                "With --max-depth 500 and --keep-going it is left out.",
            ) from None

    async def _wait_before(self, seq: int | None, channel: Channel) -> None:
        """Wait for what had come in the recording before `seq`; None for all of it."""
        while self._next < len(self._expected):
            expected, has_come = self._expected[self._next]
            if seq is not None and expected >= seq:
                return
            self._next += 1
            await self._wait(expected, has_come, channel)

    async def _wait(
        self, expected: int, has_come: Callable[[Channel], bool], channel: Channel
    ) -> None:
        limits = self._options.limits
        waits = self._live.until
        if not await waits(lambda: has_come(channel) or self._is_idle(channel), limits.answer_s):
            self.remark(f"what came at seq {expected} did not come again in {limits.answer_s:g} s")
        elif not has_come(channel):
            # Nothing is under way, yet the server may ask by itself.
            await waits(lambda: has_come(channel), limits.quiet_s)

    def _is_idle(self, channel: Channel) -> bool:
        """Whether no request of the client waits for an answer; a process's end answers none."""
        return not any(
            seq in self._sent and seq not in self._live.answers and not channel.has_ended(step)
            for seq, step in self._requests.items()
        )

    async def _answer_unasked(self, channel: Channel) -> None:
        """Answer what the recording has no answer to, so that the server goes on."""
        while self._live.unasked:
            asked = self._live.unasked.pop()
            self.remark(f"the server asked {asked.method}, which it did not in the recording")
            error = {"code": _NO_ANSWER, "message": "the recording has no answer to this"}
            answer = {"jsonrpc": "2.0", "id": asked.id, "error": error}
            await channel.reply(asked.lane, json.dumps(answer).encode())

    def _expectations(self) -> Iterator[tuple[int, Callable[[Channel], bool]]]:
        """Everything of the server in the recording that a later step may have waited for."""
        for seq, event in self._script.answers.items():
            yield event.seq, partial(self._has_answered, seq)
        for asked in self._script.asked.values():
            yield asked.seq, partial(self._has_asked, asked.seq)
        for label, head in self._script.heads.items():
            yield head.seq, partial(self._has_head, label)

    def _has_answered(self, seq: int, channel: Channel) -> bool:
        return seq in self._live.answers or channel.has_ended(self._requests[seq])

    def _has_asked(self, seq: int, _: Channel) -> bool:
        return self._live.has_asked(seq)

    def _has_head(self, label: Label, channel: Channel) -> bool:
        step = self._by_exchange.get(label)
        if step is None or not channel.has_heads:
            return True
        return label in self._live.heads or channel.has_ended(step)

    def compared(self) -> Iterator[ReplayedAnswer]:
        """Each request and each exchange with a status, beside the recording."""
        for step in self._script.steps:
            if step.seq in self._sent and step.act is not Act.ABORT:
                found = tuple(self._differences(step))
                if found or step.seq in self._requests:
                    yield ReplayedAnswer(step.seq, step.title, found)

    def _differences(self, step: Step) -> Iterator[str]:
        recorded, live = self._script.answers.get(step.seq), self._live.answers.get(step.seq)
        yield from self._status_difference(step)
        if recorded is not None and live is None:
            yield "no answer came"
        elif recorded is not None and live is not None:
            yield from differences(_said(recorded), _said(live))
        elif live is not None:
            yield "answered, which it was not in the recording"

    def _status_difference(self, step: Step) -> Iterator[str]:
        if step.exchange is None:
            return
        old = self._script.heads.get(step.exchange)
        new = self._live.heads.get(step.exchange)
        if old is not None and new is not None and old.status != new.status:
            yield f"HTTP status: {old.status} → {new.status}"


def _said(response: Event) -> dict[str, Any]:
    """A response without its envelope."""
    return {
        name: response.payload[name] for name in ("result", "error") if name in response.payload
    }
