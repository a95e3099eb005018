"""Defects against the use of tokens in 2025-11-25."""

from __future__ import annotations

from dataclasses import replace

from clausewise.reference.client.defects.changing import (
    Extra,
    is_method,
    legacy_defect,
    ping,
    preceded,
)
from clausewise.reference.client.defects.defect import HTTP_ONLY
from clausewise.reference.client.outgoing import Outgoing

_LIST = is_method("tools/list")
_QUERY = "?access_token=in-the-query"


def _pings(suffix: str, *ids: str, authorized: bool) -> Extra:
    def extra(like: Outgoing) -> tuple[Outgoing, ...]:
        pings = (one for each in ids for one in ping(each)(like))
        return tuple(replace(one, suffix=suffix, authorized=authorized) for one in pings)

    return extra


def _refused_and_in_query(like: Outgoing) -> tuple[Outgoing, ...]:
    """The server has to demand a token first, for else it may want one anywhere."""
    refused = _pings("", "refused", authorized=False)(like)
    return refused + _pings(_QUERY, "in-query", authorized=False)(like)


DEFECTS = (
    legacy_defect(
        "request-without-token",
        "A ping ahead of tools/list has no Authorization header.",
        preceded(_LIST, _pings("", "open", authorized=False)),
        "AUTH-040",
        transports=HTTP_ONLY,
        protected=True,
    ),
    legacy_defect(
        "token-in-query-too",
        "A ping ahead of tools/list has a token in its query beside the header.",
        preceded(_LIST, _pings(_QUERY, "both", authorized=True)),
        "AUTH-041",
        transports=HTTP_ONLY,
        protected=True,
    ),
    legacy_defect(
        "token-in-query-alone",
        "A ping ahead of tools/list, sent again as it is refused, has a token in its query alone.",
        preceded(_LIST, _refused_and_in_query),
        "AUTH-039",
        "AUTH-040",
        "AUTH-041",
        transports=HTTP_ONLY,
        protected=True,
    ),
)
