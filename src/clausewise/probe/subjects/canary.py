"""Secrets that mean nothing: sent to a server to see whether they come back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from clausewise.transport.answers import Answer


def comes_back(canary: str, answer: Answer) -> bool:
    """Whether `canary` is in the headers, body or messages of an answer, plain or in Base64.

    It must be of characters that neither JSON nor URLs escape.
    """
    forms = (canary.encode("ascii"), *_in_base64(canary))
    return any(form in text for text in _texts(answer) for form in forms)


def _texts(answer: Answer) -> Iterator[bytes]:
    yield from (name + b": " + value for name, value in answer.headers)
    yield answer.body
    for event in answer.messages:
        yield json.dumps(event.payload, ensure_ascii=False).encode("utf-8", "replace")


def _in_base64(canary: str) -> Iterator[bytes]:
    """What is sure to be in the Base64 of any text that holds `canary`, for each alignment."""
    data = canary.encode("ascii")
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data)
        whole = (before + len(data)) // 3 * 4
        first = -(-before * 8 // 6) if before else 0
        yield encoded[first:whole]
