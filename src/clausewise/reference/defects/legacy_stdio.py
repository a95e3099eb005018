"""Defects against stdio of 2025-11-25: what stands on stdout beside whole messages."""

from __future__ import annotations

import os

from clausewise.reference.call import Outlet
from clausewise.reference.defects.legacy_rewiring import legacy, legacy_stdio_defect
from clausewise.reference.defects.rewiring import Rewire
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import JsonObject
from clausewise.reference.wiring import Wiring

_STDOUT = 1

_LOG = b'{"jsonrpc":"2.0","method":"notifications/message","params":%b}\n'


def _printing(line: bytes) -> Rewire:
    """Write bytes to stdout, past the outlet, ahead of each response to tools/list."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.deliver

        async def deliver(
            message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
        ) -> None:
            if message["method"] == "tools/list":
                os.write(_STDOUT, line)
            await right(message, outlet, session, response)

        return legacy(wiring, deliver=deliver)

    return rewire


DEFECTS = (
    legacy_stdio_defect(
        "message-with-newline",
        "A log notification is written over two lines.",
        _printing(_LOG % b'{"level":"info",\n"data":"two lines"}'),
        "TRAN-001",
        "TRAN-004",
    ),
    legacy_stdio_defect(
        "message-in-latin-1",
        "A log notification is written in Latin-1.",
        _printing(_LOG % b'{"level":"info","data":"caf\xe9"}'),
        "TRAN-003",
        "TRAN-004",
    ),
    legacy_stdio_defect(
        "banner-on-stdout",
        "A line for people is written to stdout.",
        _printing(b"Listing the tools.\n"),
        "TRAN-004",
    ),
)
