"""The shapes of the messages of 2026-07-28 in a recording: no check judges its sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.core.vocabulary import Direction, Revision
from clausewise.trace.events import Event
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


def fault_of_request(event: Event) -> object:
    """The first fault of a message of the modern client, None if it has its shape."""
    method = event.payload["method"]
    shape = shapes.request_shape(Revision.MODERN, method, Direction.CLIENT_TO_SERVER)
    return f"no shape of {method}" if shape is None else shapes.first_fault(shape, event.payload)
