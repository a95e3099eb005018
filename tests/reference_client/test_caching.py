"""Results of 2026-07-28 are used again as long as they say, and no longer."""

from __future__ import annotations

from typing import Any

import pytest

from clausewise.reference.client.caching import ResultCache
from clausewise.reference.messages import JsonObject


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def response(ttl: Any = 1000, **members: Any) -> JsonObject:
    return {"jsonrpc": "2.0", "id": 1, "result": {"ttlMs": ttl, **members}}


def test_a_result_is_fresh_for_its_time() -> None:
    clock = Clock()
    cache = ResultCache(clock)
    cache.keep("tools/list", None, response(1000))
    assert cache.find("tools/list", None) == response(1000)
    clock.now += 0.999
    assert cache.find("tools/list", {}) is not None
    clock.now += 0.002
    assert cache.find("tools/list", None) is None


@pytest.mark.parametrize("ttl", [0, -1, None, True, "1000", [1]])
def test_a_time_that_is_none_keeps_nothing(ttl: Any) -> None:
    cache = ResultCache(Clock())
    cache.keep("tools/list", None, response(ttl))
    assert cache.find("tools/list", None) is None


def test_a_result_serves_its_own_method_and_parameters_alone() -> None:
    cache = ResultCache(Clock())
    cache.keep("resources/read", {"uri": "a://1", "_meta": {"x": 1}}, response())
    assert cache.find("resources/read", {"uri": "a://1"}) is not None
    assert cache.find("resources/read", {"uri": "a://2"}) is None
    assert cache.find("resources/list", {"uri": "a://1"}) is None


def test_what_is_not_cacheable_is_not_kept() -> None:
    cache = ResultCache(Clock())
    cache.keep("tools/call", {"name": "t"}, response())
    assert cache.find("tools/call", {"name": "t"}) is None


def test_an_error_is_not_kept() -> None:
    cache = ResultCache(Clock())
    cache.keep("tools/list", None, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1}})
    assert cache.find("tools/list", None) is None


@pytest.mark.parametrize(
    ("notification", "forgotten"),
    [
        ("notifications/tools/list_changed", {"tools/list"}),
        ("notifications/prompts/list_changed", {"prompts/list"}),
        (
            "notifications/resources/list_changed",
            {"resources/list", "resources/templates/list"},
        ),
        ("notifications/resources/updated", {"resources/read"}),
        ("notifications/message", set()),
    ],
)
def test_what_has_changed_is_forgotten(notification: str, forgotten: set[str]) -> None:
    methods = {
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
    cache = ResultCache(Clock())
    for method in methods:
        cache.keep(method, None, response())
    cache.heed({"jsonrpc": "2.0", "method": notification})
    assert {method for method in methods if cache.find(method, None) is None} == forgotten


def test_a_cleared_cache_is_empty() -> None:
    cache = ResultCache(Clock())
    cache.keep("tools/list", None, response())
    cache.clear()
    assert cache.find("tools/list", None) is None
