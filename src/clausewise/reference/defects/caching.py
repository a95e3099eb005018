"""Defects of rule group CAC: caching hints."""

from __future__ import annotations

from typing import Any

from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import Rewire, listing_tools, on_result
from clausewise.reference.features.tools import Tool
from clausewise.reference.modern.parts import Incoming


def _hint(method: str, name: str, value: Any) -> Rewire:
    return on_result(method, lambda result: {**result, name: value})


def _without(method: str, name: str) -> Rewire:
    return on_result(
        method, lambda result: {key: value for key, value in result.items() if key != name}
    )


def _personal(incoming: Incoming, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """All tools for a caller with credentials, one less for others."""
    named = incoming.http is not None and incoming.http.value("authorization") is not None
    return tools if named else tools[:1] + tools[2:]


DEFECTS = (
    Defect(
        "prompts-list-without-ttl",
        "The result of prompts/list has no ttlMs.",
        _without("prompts/list", "ttlMs"),
        rules=("MCP-CAC-001",),
    ),
    Defect(
        "discover-without-ttl",
        "The result of server/discover has no ttlMs.",
        _without("server/discover", "ttlMs"),
        rules=("MCP-CAC-001",),
    ),
    Defect(
        "prompts-list-without-scope",
        "The result of prompts/list has no cacheScope.",
        _without("prompts/list", "cacheScope"),
        rules=("MCP-CAC-002",),
    ),
    Defect(
        "prompts-list-unknown-scope",
        'The cacheScope of prompts/list is "shared".',
        _hint("prompts/list", "cacheScope", "shared"),
        rules=("MCP-CAC-003",),
    ),
    Defect(
        "prompts-list-negative-ttl",
        "The ttlMs of prompts/list is -1.",
        _hint("prompts/list", "ttlMs", -1),
        rules=("MCP-CAC-004",),
    ),
    Defect(
        "prompts-list-text-ttl",
        'The ttlMs of prompts/list is the string "300000".',
        _hint("prompts/list", "ttlMs", "300000"),
        rules=("MCP-CAC-004",),
    ),
    Defect(
        "personal-tools-list-public",
        "tools/list shows one tool more to a caller with credentials, and is marked public.",
        listing_tools(_personal),
        rules=("MCP-CAC-005",),
        transports=HTTP_ONLY,
        credentials=True,
    ),
)
