"""Defects against Streamable HTTP of 2025-11-25: statuses and media types."""

from __future__ import annotations

from dataclasses import replace

from clausewise.core.vocabulary import Era
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.legacy_rewiring import LEGACY_ERAS
from clausewise.reference.defects.rewiring import Rewire, landing_page, on_head, retyped, with_route
from clausewise.reference.wiring import ENDPOINT


def _defect(name: str, summary: str, apply: Rewire, clause: str) -> Defect:
    return Defect(name, summary, apply, clauses=(clause,), eras=LEGACY_ERAS, transports=HTTP_ONLY)


DEFECTS = (
    _defect(
        "legacy-notification-answered-200",
        "An accepted notification or response is answered 200 instead of 202.",
        on_head(
            lambda answered, head: answered.era is Era.LEGACY and head.status == 202,
            lambda head: replace(head, status=200),
        ),
        "TRAN-027",
    ),
    _defect(
        "legacy-tools-list-text-plain",
        "The response to tools/list says it is text/plain.",
        retyped(Era.LEGACY, "tools/list", "text/plain"),
        "TRAN-029",
    ),
    _defect(
        "legacy-get-page",
        "GET on the endpoint gives a page instead of a stream or 405.",
        with_route("GET", ENDPOINT, landing_page),
        "TRAN-040",
    ),
)
