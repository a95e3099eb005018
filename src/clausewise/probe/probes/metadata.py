"""Our rules about `_meta` in what the server sends (CW-RES-009 and CW-RES-010)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.registration import passive
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.received import Received, received
from clausewise.probe.wording import named

_NOT_OURS = frozenset(
    {
        "arguments",
        "data",
        "inputSchema",
        "outputSchema",
        "properties",
        "requestedSchema",
        "structuredContent",
    }
)
"""Members whose content is the server's own: a `_meta` in there is no `_meta` of MCP."""

_LABEL = re.compile(r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?")
_RESERVED = frozenset({"modelcontextprotocol", "mcp"})
_OFFICIAL = "io.modelcontextprotocol/"
_DEFINED = frozenset(
    _OFFICIAL + name
    for name in (
        "protocolVersion",
        "clientInfo",
        "clientCapabilities",
        "logLevel",
        "serverInfo",
        "subscriptionId",
    )
)
_TRACE = ("traceparent", "tracestate", "baggage")
_DEPTH = 12


@passive("CW-RES-009")
def metadata_keys_are_well_formed(traffic: Traffic) -> Observation:
    """A key of `_meta` is not well formed, or takes a prefix that is MCP's own.

    Why: keys are kept apart by their prefixes; one that breaks the form may collide with
    another vendor's, or with what MCP will define.

    Fix: write `prefix/name`, the prefix of labels joined by dots, such as `com.example/trace`.
    """
    # An official extension may define keys of its own.
    extended = any(name.startswith(_OFFICIAL) for name in traffic.extensions or ())
    parts = [
        (key, _judged_key(one, key, extended=extended))
        for one, meta in _metas(traffic)
        for key in meta
    ]
    return once_each(parts) if parts else not_observed("no _meta from the server was seen")


def _judged_key(one: Received, key: str, *, extended: bool) -> Observation:
    prefix, slash, name = key.rpartition("/")
    labels = prefix.split(".") if slash else []
    fault = next((f"the label {named(x)}" for x in labels if not _LABEL.fullmatch(x)), None)
    if fault is None and not _NAME.fullmatch(name):
        fault = f"the name {named(name)}"
    if fault is not None:
        return broke(
            "a key of _meta is not well formed",
            seen=f"{fault} in the key {named(key)}",
            expected="labels that begin with a letter and end with a letter or digit, joined by "
            "dots, then a slash; a name that begins and ends with a letter or digit",
            evidence=one.sighting,
        )
    is_reserved = len(labels) > 1 and labels[1] in _RESERVED
    if is_reserved and key not in _DEFINED and not (extended and key.startswith(_OFFICIAL)):
        return broke(
            "a key of _meta has a prefix that is reserved for MCP",
            seen=f"the key {named(key)}, which the revision does not define",
            expected="a prefix of the vendor's own",
            severity=Outcome.WARN,
            evidence=one.sighting,
        )
    return held()


@passive("CW-RES-010")
def trace_context_has_its_format(traffic: Traffic) -> Observation:
    """`traceparent`, `tracestate` or `baggage` in `_meta` has not the format of W3C.

    Why: tracing tools drop a context that they cannot parse, and the trace falls apart.

    Fix: fill them in with an OpenTelemetry propagator, or leave them out.
    """
    parts = [
        (name, _judged_trace(one, name, meta[name]))
        for one, meta in _metas(traffic)
        for name in _TRACE
        if name in meta
    ]
    return once_each(parts) if parts else not_observed("no trace context in a _meta was seen")


def _judged_trace(one: Received, name: str, value: Any) -> Observation:
    if isinstance(value, str) and _has_form(name, value):
        return held()
    return broke(
        f"{name} in _meta is not of its format",
        seen=f"{name} {named(value)}",
        expected=f"a {name} by {'W3C Baggage' if name == 'baggage' else 'W3C Trace Context'}",
        evidence=one.sighting,
    )


_KEY = r"[a-z0-9][a-z0-9_*/@-]{0,255}"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PIECE = r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
# Later versions of traceparent may carry more after the flags.
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_MEMBERS = {
    "tracestate": re.compile(
        rf"{_KEY}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
    ),
    "baggage": re.compile(rf"{_TOKEN}\s*=\s*{_PIECE}(?:\s*;\s*{_TOKEN}(?:\s*=\s*{_PIECE})?)*"),
}


def _has_form(name: str, value: str) -> bool:
    if name == "traceparent":
        return _TRACEPARENT.fullmatch(value) is not None and not _is_void(value)
    members = [member.strip(" \t") for member in value.split(",")]
    if name == "tracestate":
        # Empty members are allowed.
        members = [member for member in members if member]
    return all(_MEMBERS[name].fullmatch(member) for member in members)


def _is_void(value: str) -> bool:
    """Whether a traceparent of the right form is invalid: version ff, or an id of zeros alone."""
    version, trace, parent = value.split("-")[:3]
    more = version == "00" and value.count("-") > 3
    return version == "ff" or more or not trace.strip("0") or not parent.strip("0")


def _metas(traffic: Traffic) -> Iterator[tuple[Received, Mapping[str, Any]]]:
    """Every `_meta` object in the results and parameters of the server's messages."""
    for one in received(traffic):
        body = one.params if one.method is not None else one.payload.get("result")
        for meta in _inside(body, _DEPTH):
            yield one, meta


def _inside(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth == 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _inside(item, depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "_meta":
                if isinstance(item, dict):
                    yield item
            elif key not in _NOT_OURS:
                yield from _inside(item, depth - 1)
