"""Keep secrets out of a saved trace, wherever a target repeats them."""

from __future__ import annotations

import json
from typing import Any

from clausewise.app.credentials import Secrets
from clausewise.trace.events import Event
from clausewise.trace.writer import TraceWriter


class HidingWriter:
    """Writes events to a trace with `secrets` replaced in messages, headers and texts."""

    def __init__(self, writer: TraceWriter, secrets: Secrets) -> None:
        self._writer = writer
        self._secrets = secrets

    def write(self, event: Event) -> None:
        """Append one event; the event itself stays as it is."""
        text = event.text
        if text is None and event.payload is not None:
            text = json.dumps(event.payload).encode()
        self._writer.write(
            event.but(
                text=None if text is None else self._secrets.hide_bytes(text),
                fields={name: self._hidden(value) for name, value in event.fields.items()},
            )
        )

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._secrets.hide(value)
        if isinstance(value, list):
            return [self._hidden(item) for item in value]
        if isinstance(value, dict):
            return {name: self._hidden(item) for name, item in value.items()}
        return value
