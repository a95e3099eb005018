"""What to do when something could not be judged."""

from __future__ import annotations

import re

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\bHTTP 401\b"),
        "Give a token: --bearer env:NAME, or another credential with -H 'NAME: env:NAME'.",
    ),
    (
        re.compile(r"\bHTTP 403\b"),
        "Use a credential with more scope, or an address and Origin that the server admits.",
    ),
    (
        re.compile(r"\bHTTP 407\b"),
        "Check without the proxy, or give it a credential with -H 'NAME: env:NAME'.",
    ),
    (
        re.compile(r"\bHTTP 429\b"),
        "Ask more slowly with --rate N and --max-time, or lift the server's limit for this run.",
    ),
    (
        re.compile(r"\bHTTP 3\d\d\b"),
        "Check the address that the server redirects to.",
    ),
    (
        re.compile(r"\bHTTP 5\d\d\b"),
        "Look into the log of the server, or of the gateway before it, and check again.",
    ),
    (
        re.compile(r"\bseconds were used up\b"),
        "Give the run more time with --max-time SECONDS.",
    ),
    (
        re.compile(r"\bin time\b|\bcut off after\b|\bin \d[\d.]* s\b"),
        "Give the server more time for each answer with --timeout SECONDS.",
    ),
)
"""The wording of the reasons is that of `transport.answers.blocked_reason` and the probes."""


def next_step(reason: str) -> str | None:
    """The step that would let a blocked clause or rule be judged, or None when none is known."""
    for pattern, step in _STEPS:
        if pattern.search(reason):
            return step
    return None
