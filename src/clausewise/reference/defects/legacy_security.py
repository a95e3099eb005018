"""Defects against the security warning of 2025-11-25: foreign origins and hosts, 0.0.0.0."""

from __future__ import annotations

from dataclasses import replace

from clausewise.core.vocabulary import Era
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.legacy_rewiring import LEGACY_ERAS
from clausewise.reference.defects.rewiring import Rewire
from clausewise.reference.http_layer import HttpRequest
from clausewise.reference.messages import RpcError
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import Wiring

_LEGACY_ALONE = frozenset({Era.LEGACY})
"""On a server of both eras the same fault is that of a rule."""


def _guarded(*, without: bytes | None = None, status: int | None = None) -> Rewire:
    """Let the guard overlook a header, or refuse with another status."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.http.guard

        def guard(request: HttpRequest, options: ServerOptions) -> None:
            headers = tuple(pair for pair in request.headers if pair[0] != without)
            try:
                right(replace(request, headers=headers), options)
            except RpcError as error:
                raise RpcError(error.code, error.message, status=status or error.status) from None

        return replace(wiring, http=replace(wiring.http, guard=guard))

    return rewire


def _by_prefix(wiring: Wiring) -> Wiring:
    """Take an Origin that begins like one's own for one's own."""
    right = wiring.http.guard

    def guard(request: HttpRequest, options: ServerOptions) -> None:
        origins = request.values("origin")
        own = "http://" + (request.value("host") or "").partition(":")[0]
        if origins and all(origin.startswith(own) for origin in origins):
            headers = tuple(pair for pair in request.headers if pair[0] != b"origin")
            request = replace(request, headers=headers)
        right(request, options)

    return replace(wiring, http=replace(wiring.http, guard=guard))


DEFECTS = (
    Defect(
        "legacy-look-alike-origin-served",
        "An Origin is taken for the server's own when it begins like it.",
        _by_prefix,
        clauses=("TRAN-002",),
        eras=_LEGACY_ALONE,
        transports=HTTP_ONLY,
    ),
    Defect(
        "legacy-foreign-origin-served",
        "The Origin header is not looked at.",
        _guarded(without=b"origin"),
        clauses=("TRAN-002",),
        eras=_LEGACY_ALONE,
        transports=HTTP_ONLY,
    ),
    Defect(
        "legacy-foreign-origin-400",
        "A foreign Origin is refused with 400 instead of 403.",
        _guarded(status=400),
        clauses=("TRAN-007",),
        eras=_LEGACY_ALONE,
        transports=HTTP_ONLY,
    ),
    Defect(
        "legacy-foreign-host-served",
        "The Host header is not looked at.",
        _guarded(without=b"host"),
        clauses=("TRAN-002",),
        eras=LEGACY_ERAS,
        transports=HTTP_ONLY,
        alike=True,
    ),
    Defect(
        "bound-to-all-interfaces",
        "The server listens on 0.0.0.0.",
        lambda wiring: wiring,
        clauses=("TRAN-008",),
        eras=LEGACY_ERAS,
        transports=HTTP_ONLY,
        alike=True,
        bind="0.0.0.0",  # noqa: S104 - that is the fault
    ),
)
