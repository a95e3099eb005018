"""The live side of a replay: what has come from the target so far, matched with the recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

from clausewise.core.vocabulary import Direction
from clausewise.replay.bindings import Bindings
from clausewise.replay.script import (
    SESSION_HEADER,
    Label,
    Lane,
    Requests,
    Script,
    Step,
)
from clausewise.trace.events import Event, EventKind
from clausewise.wire.jsonrpc import MessageClass, classify, id_key


@dataclass(frozen=True, slots=True)
class Unasked:
    """A request of the live server that the recording does not have."""

    lane: Lane
    id: Any
    method: str


class Live:
    """Watches the tape: answers, requests of the server, values it coins.

    Attributes:
        bindings: recorded values with the live ones.
        answers: the live response to each request, by the number of its step.
        heads: the live final response head of each exchange, by its recorded label.
        unasked: requests of the server that the recording lacks, not yet answered.
    """

    def __init__(self, script: Script) -> None:
        self.bindings = Bindings()
        self.answers: dict[int, Event] = {}
        self.heads: dict[Label, Event] = {}
        self.unasked: list[Unasked] = []
        self._script = script
        self._requests = Requests()
        self._steps: dict[Label, Step] = {}
        self._lanes: dict[str, Lane] = {}
        self._sessions: dict[Lane, str] = {}
        self._versions: dict[Lane, str] = {}
        self._asked: Counter[tuple[Lane, str]] = Counter()
        self._asked_ids: dict[int, Any] = {}
        self._asked_seqs = {
            (lane, id_key(asked.id)): asked.seq for (lane, _, _), asked in script.asked.items()
        }
        self._stream_ids: dict[str, str] = {}
        self._stream_counts: Counter[Label] = Counter()
        self._arrival = anyio.Event()

    def exchange_begins(self, number: int, step: Step) -> None:
        """The live exchange `number` carries `step`."""
        self._steps[number] = step

    def process_begins(self, session: str, lane: Lane) -> None:
        """The process whose events bear `session` stands for `lane`."""
        self._lanes[session] = lane

    def sends(self, step: Step, exchange: int | None) -> None:
        """A message is about to go out."""
        if classify(step.payload) is MessageClass.REQUEST:
            self._requests.sent(step.lane, exchange, step.payload["id"], step.seq)

    def session_of(self, lane: Lane) -> str | None:
        """The live session id of `lane`."""
        return self._sessions.get(lane)

    def stream_id(self, recorded: str) -> str:
        """The live SSE id that stands for a recorded one."""
        return self._stream_ids.get(recorded, recorded)

    def asked_id(self, lane: Lane, recorded: Any) -> tuple[bool, Any]:
        """Whether the server has asked again what a recorded response answers, and the id now."""
        seq = self._asked_seqs.get((lane, id_key(recorded)))
        if seq is None or seq not in self._asked_ids:
            return False, None
        return True, self._asked_ids[seq]

    def has_asked(self, seq: int) -> bool:
        """Whether the server's request of this number in the recording has come again."""
        return seq in self._asked_ids

    def version_of(self, lane: Lane) -> str | None:
        """The version that the server chose in `lane` when it was initialized."""
        return self._versions.get(lane)

    async def until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Wait until `done`, asked after each arrival; False when it was not in time."""
        with anyio.move_on_after(seconds):
            while not done():
                await self._arrival.wait()
        return done()

    def stir(self) -> None:
        """Let those who wait look again."""
        self._arrival.set()
        self._arrival = anyio.Event()

    def take(self, event: Event) -> None:
        """A tape listener."""
        if event.direction is Direction.SERVER_TO_CLIENT:
            step = self._steps.get(event.exchange) if event.exchange is not None else None
            if event.kind is EventKind.HTTP and step is not None:
                self._take_head(event, step)
            elif event.kind is EventKind.SSE and step is not None:
                self._take_stream_id(event, step)
            elif event.kind is EventKind.MESSAGE:
                self._take_message(event, step)
            self.stir()

    def _take_head(self, event: Event, step: Step) -> None:
        session = event.header(SESSION_HEADER)
        if session is not None:
            self._sessions.setdefault(step.lane, session)
        if step.exchange is not None:
            self.heads[step.exchange] = event

    def _take_stream_id(self, event: Event, step: Step) -> None:
        identity = event.fields.get("id")
        if not isinstance(identity, str) or step.exchange is None:
            return
        recorded = self._script.stream_ids.get(step.exchange, [])
        nth = self._stream_counts[step.exchange]
        self._stream_counts[step.exchange] += 1
        if nth < len(recorded):
            self._stream_ids[recorded[nth]] = identity

    def _take_message(self, event: Event, step: Step | None) -> None:
        kind = classify(event.payload)
        lane = step.lane if step is not None else self._lanes.get(event.session or "")
        if kind in (MessageClass.RESULT, MessageClass.ERROR):
            self._take_answer(event, lane)
        elif kind is MessageClass.REQUEST and isinstance(event.payload["method"], str):
            self._take_request(event.payload, lane)

    def _take_answer(self, event: Event, lane: Lane) -> None:
        seq = self._requests.answered(lane, event.exchange, event.payload.get("id"))
        if seq is None or seq in self.answers:
            return
        self.answers[seq] = event
        result = event.payload.get("result")
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if isinstance(version, str):
            self._versions.setdefault(lane, version)
        recorded = self._script.answers.get(seq)
        if recorded is not None:
            self.bindings.learn(recorded.payload, event.payload)

    def _take_request(self, payload: dict[str, Any], lane: Lane) -> None:
        method = payload["method"]
        nth = self._asked[lane, method]
        self._asked[lane, method] += 1
        asked = self._script.asked.get((lane, method, nth))
        if asked is None:
            self.unasked.append(Unasked(lane, payload["id"], method))
            return
        self._asked_ids[asked.seq] = payload["id"]
        self.bindings.learn(asked.payload, payload)
