"""Defects against authorization of 2025-11-25: what a protected legacy server refuses, and how."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from clausewise.core.vocabulary import Era
from clausewise.reference.auth.admission import INVALID_TOKEN
from clausewise.reference.auth.parts import AuthParts, DeniedError
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import Rewire
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.wiring import Wiring


def _denying(change: Callable[[DeniedError, HttpHead], HttpHead]) -> Rewire:
    """Change the answers to denied requests."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.protection.deny

        def deny(denied: DeniedError, parts: AuthParts) -> HttpHead:
            return change(denied, right(denied, parts))

        return replace(wiring, auth=replace(wiring.protection, deny=deny))

    return rewire


def _without_parameter(name: str) -> Callable[[DeniedError, HttpHead], HttpHead]:
    """Leave a parameter out of the challenge."""

    def change(_denied: DeniedError, head: HttpHead) -> HttpHead:
        parameter = re.compile(rf'(, )?\b{name}="[^"]*"')
        headers = tuple((key, parameter.sub("", value)) for key, value in head.headers)
        return replace(head, headers=headers)

    return change


def _forbidding_bad_tokens(denied: DeniedError, head: HttpHead) -> HttpHead:
    return replace(head, status=403) if denied.error == INVALID_TOKEN else head


def _without_metadata(wiring: Wiring) -> Wiring:
    return replace(wiring, auth=replace(wiring.protection, resource_metadata={}))


def _defect(name: str, summary: str, apply: Rewire, *clauses: str) -> Defect:
    """Only on a server that is legacy alone: on one of both eras rules tell of the same fault."""
    eras = frozenset({Era.LEGACY})
    return Defect(name, summary, apply, (), clauses, eras, HTTP_ONLY, protected=True)


DEFECTS = (
    _defect(
        "legacy-resource-metadata-missing",
        "The server demands tokens and serves no Protected Resource Metadata.",
        _without_metadata,
        "AUTH-006",
    ),
    _defect(
        "legacy-challenge-without-error",
        "The refusal of a bad token does not say invalid_token.",
        _denying(_without_parameter("error")),
        "AUTH-044",
    ),
    _defect(
        "legacy-challenge-without-scope",
        "The challenge names no scope.",
        _denying(_without_parameter("scope")),
        "AUTH-014",
    ),
    _defect(
        "legacy-bad-token-forbidden",
        "A bad token is refused with 403 instead of 401.",
        _denying(_forbidding_bad_tokens),
        "AUTH-045",
        "AUTH-049",
    ),
)
