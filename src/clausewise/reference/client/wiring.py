"""The client's wiring: every part of its way to the wire that a defect may replace."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clausewise.core.vocabulary import Era
from clausewise.reference.client.outgoing import Outgoing
from clausewise.reference.messages import JsonObject, RequestId

Send = Callable[[Outgoing], tuple[Outgoing, ...]]
"""Has the last word on what goes out: the message itself, changed, beside others, or nothing.

What comes before the message is sent ahead of it, what comes after it while the response to it
is awaited."""

Declare = Callable[[Era, JsonObject], JsonObject]
"""Has the last word on the capabilities declared."""

Respond = Callable[[JsonObject, JsonObject], JsonObject]
"""Has the last word on the response to a request of the server: (request, response)."""


@dataclass(frozen=True, slots=True)
class ClientWiring:
    """All replaceable parts.

    `ids` gives the series of request ids of a run. `input_response` has the last
    word on one value of `inputResponses` (2026-07-28): (input request, value).
    `closes_stdin_first` is the right order of a shutdown on stdio; `renews_lost_sessions` begins
    another session when the server no longer knows the old one (2025-11-25).
    """

    ids: Callable[[], Iterator[RequestId]]
    declare: Declare
    send: Send
    respond: Respond
    input_response: Respond
    closes_stdin_first: bool = True
    renews_lost_sessions: bool = True


def right_wiring() -> ClientWiring:
    """The wiring of a client without a defect."""
    return ClientWiring(
        ids=lambda: itertools.count(1),
        declare=lambda _era, capabilities: capabilities,
        send=lambda outgoing: (outgoing,),
        respond=lambda _request, response: response,
        input_response=lambda _request, value: value,
    )
