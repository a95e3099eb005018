"""The shapes of the messages of 2026-07-28 in a recording: no check judges its sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clausewise.core.vocabulary import Direction, Revision
from clausewise.trace.events import Event, EventKind
from clausewise.trace.recordings import ReadingOptions, open_recording
from clausewise.wire import shapes


def fault_of_answer(event: Event, asked: Mapping[tuple[Any, Any], str]) -> object:
    """The first fault of a message of the modern server, None if it has its shape."""
    message, modern, up = event.payload, Revision.MODERN, Direction.CLIENT_TO_SERVER
    if "method" in message:
        down = Direction.SERVER_TO_CLIENT
        shape, value = shapes.notification_shape(modern, message["method"], down), message
    elif "error" in message:
        value = message["error"]
        shape = shapes.error_shape(modern, value.get("code"))
    else:
        value = message["result"]
        shape = shapes.result_shape(modern, asked[event.exchange, message["id"]], up)
    return shapes.first_fault(shape, value) if shape is not None else f"no shape of {message}"


def answers(trace: Path) -> Iterator[tuple[Event, object]]:
    """Each message that the server sent in a recording, with its first fault or None."""
    with open_recording(str(trace), ReadingOptions()) as recording:
        messages = [event for event in recording.events() if event.kind is EventKind.MESSAGE]
    asked = {
        (event.exchange, event.payload["id"]): event.payload["method"]
        for event in messages
        if event.direction is Direction.CLIENT_TO_SERVER and "id" in event.payload
    }
    for event in messages:
        if event.direction is Direction.SERVER_TO_CLIENT:
            yield event, fault_of_answer(event, asked)


def fault_of_request(event: Event) -> object:
    """The first fault of a message of the modern client, None if it has its shape."""
    method = event.payload.get("method")
    if not isinstance(method, str):
        return "no request and no notification: a modern client sends nothing else"
    shape = shapes.request_shape(Revision.MODERN, method, Direction.CLIENT_TO_SERVER)
    return f"no shape of {method}" if shape is None else shapes.first_fault(shape, event.payload)
