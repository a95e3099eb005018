"""Where requests of the server are answered: each is noted, and floods are turned away.

Source: client/elicitation and client/sampling of both revisions, Security Considerations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import anyio

from clausewise.core.vocabulary import Direction, Era, Revision
from clausewise.reference.client.answering import USER_REJECTED, answer
from clausewise.reference.client.answers import Action, Answers
from clausewise.reference.input_requests import ELICIT, SAMPLE
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError
from clausewise.wire import shapes

MAX_QUESTIONS = 60
"""How many forms, pages and prompts a user takes in `WINDOW_S`; further ones are turned away."""
WINDOW_S = 10.0

_FOR_THE_USER = frozenset({ELICIT, SAMPLE})
_MAX_NOTED = 10_000


class Desk:
    """Answers as told, and keeps what was asked with what was answered; `clock` gives seconds."""

    def __init__(self, answers: Answers, clock: Callable[[], float] = anyio.current_time) -> None:
        self.answers = answers
        self.asked: list[JsonObject] = []
        self._clock = clock
        self._recent: deque[float] = deque()

    def answer(self, era: Era, asked: Any) -> JsonObject:
        """The result for one request of the server, a ping aside.

        Raises:
            RpcError: it is malformed, or cannot or must not be answered by a result.
        """
        members = asked if isinstance(asked, dict) else {}
        method, params = members.get("method"), members.get("params")
        try:
            _check_shape(era, method, members)
            result = self._flooded(method) or answer(method, params, self.answers)
        except RpcError as error:
            self._note(method, params, {"error": {"code": error.code, "message": error.message}})
            raise
        self._note(method, params, {"result": result})
        return result

    def _flooded(self, method: Any) -> JsonObject | None:
        """How a question is turned away that comes on top of too many others."""
        if method not in _FOR_THE_USER:
            return None
        now = self._clock()
        while self._recent and now - self._recent[0] > WINDOW_S:
            self._recent.popleft()
        if len(self._recent) < MAX_QUESTIONS:
            self._recent.append(now)
            return None
        if method == SAMPLE:
            raise RpcError(USER_REJECTED, "too many sampling requests")
        return {"action": Action.CANCEL.value}

    def _note(self, method: Any, params: Any, answered: JsonObject) -> None:
        if len(self.asked) < _MAX_NOTED:
            self.asked.append({"method": method, "params": params} | answered)


def _check_shape(era: Era, method: Any, asked: JsonObject) -> None:
    """Let pass what has the shape of its kind; what kind is not known is not judged here.

    Raises:
        RpcError: it has another shape.
    """
    if not isinstance(method, str):
        return
    if era is Era.MODERN:
        shape = shapes.input_request_shape(method)
    else:
        shape = shapes.request_shape(Revision.LEGACY, method, Direction.SERVER_TO_CLIENT)
    fault = None if shape is None else shapes.first_fault(shape, asked)
    if fault is not None:
        raise RpcError(INVALID_PARAMS, f"{method} is ill-formed: {fault.message}")
