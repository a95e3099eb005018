"""Defects of rule group HDR: what is made of the request headers."""

from __future__ import annotations

import base64
import re
from typing import Any

from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    Rewire,
    forgiving,
    with_check_first,
    with_stricter,
)
from clausewise.reference.messages import RpcError
from clausewise.reference.modern.checks import method_exists
from clausewise.reference.modern.headers import PARAMETER_PREFIX
from clausewise.reference.modern.parts import HEADER_MISMATCH, Incoming, ModernParts
from clausewise.wire import sentinel
from clausewise.wire.headers import METHOD_HEADER, NAME_HEADER, NAMED_BY, VERSION_HEADER

_REGION, _LIMIT = PARAMETER_PREFIX + "Region", PARAMETER_PREFIX + "Limit"
_SENDABLE = re.compile(r"[\x20-\x7e\t]*")


def _header(incoming: Incoming, name: str) -> str | None:
    return incoming.http.value(name) if incoming.http is not None else None


def _argument(incoming: Incoming, name: str) -> Any:
    arguments = incoming.params.get("arguments")
    return arguments.get(name) if isinstance(arguments, dict) else None


def _optional(header: str, *checks: str) -> Rewire:
    """Forgive that a header is missing; a wrong one is still refused."""
    return forgiving(lambda incoming: _header(incoming, header) is None, *checks)


def _unmatched(header: str, check: str) -> Rewire:
    """Forgive any value; a missing header is still refused."""
    return forgiving(lambda incoming: _header(incoming, header) is not None, check)


def _body_name(incoming: Incoming) -> Any:
    return incoming.params.get(NAMED_BY.get(incoming.method, ""))


def _is_nameless_read(incoming: Incoming) -> bool:
    return incoming.method != "tools/call" and _header(incoming, NAME_HEADER) is None


def _same_but_for_case(incoming: Incoming) -> bool:
    header, body = _header(incoming, NAME_HEADER), _body_name(incoming)
    return header is not None and header.lower() == str(body).lower()


def _usual_case_only(incoming: Incoming, _parts: ModernParts) -> None:
    usual = {name.lower(): name for name in (METHOD_HEADER, NAME_HEADER, VERSION_HEADER)}
    for raw in incoming.http.spelled if incoming.http is not None else ():
        spelled = raw.decode("ascii")
        if usual.get(spelled.lower(), spelled) != spelled:
            raise RpcError(HEADER_MISMATCH, f"the header {usual[spelled.lower()]} is missing")


def _literal_name(incoming: Incoming, _parts: ModernParts) -> None:
    header = _header(incoming, NAME_HEADER)
    if header is not None and header != _body_name(incoming):
        raise RpcError(HEADER_MISMATCH, f"{header} is not the name")


def _twice_decoded_name(incoming: Incoming, _parts: ModernParts) -> None:
    try:
        sentinel.decode(sentinel.decode(_header(incoming, NAME_HEADER) or ""))
    except sentinel.SentinelError as error:
        raise RpcError(HEADER_MISMATCH, f"the name cannot be decoded: {error}") from None


def _is_well_formed(incoming: Incoming) -> bool:
    """Whether the parameter headers that are there could be right."""
    for name in (_REGION, _LIMIT):
        value = _header(incoming, name) or ""
        try:
            sentinel.decode(value)
        except sentinel.SentinelError:
            return False
        if _SENDABLE.fullmatch(value) is None:
            return False
    return True


def _null_wants_header(incoming: Incoming, _parts: ModernParts) -> None:
    arguments = incoming.params.get("arguments")
    if isinstance(arguments, dict) and arguments.get("limit", 0) is None:
        raise RpcError(HEADER_MISMATCH, f"the header {_LIMIT} is missing")


def _integer_as_text(incoming: Incoming, _parts: ModernParts) -> None:
    header, limit = _header(incoming, _LIMIT), _argument(incoming, "limit")
    if header is not None and header != str(limit):
        raise RpcError(HEADER_MISMATCH, f"{_LIMIT} {header!r} is not {limit}")


def _bytes_of_region(incoming: Incoming) -> bool:
    """Whether the header holds the argument as UTF-8, though it has unsendable characters."""
    header, region = _header(incoming, _REGION) or "", _argument(incoming, "region")
    unsendable = _SENDABLE.fullmatch(header) is None
    return unsendable and header.encode("latin-1") == str(region).encode()


def _somehow_base64_of_region(incoming: Incoming) -> bool:
    header, region = _header(incoming, _REGION) or "", _argument(incoming, "region")
    inner = header.removeprefix("=?base64?").removesuffix("?=")
    return inner != header and base64.b64decode(inner) == str(region).encode()


def _defect(name: str, summary: str, apply: Rewire, rule: str) -> Defect:
    return Defect(name, summary, apply, rules=(rule,), transports=HTTP_ONLY)


DEFECTS = (
    _defect(
        "method-header-optional",
        "A request without Mcp-Method is served.",
        _optional(METHOD_HEADER, "method-header-present", "method-header-matches"),
        "MCP-HDR-001",
    ),
    _defect(
        "method-header-unmatched",
        "Mcp-Method is not compared with the body.",
        _unmatched(METHOD_HEADER, "method-header-matches"),
        "CW-HDR-001",
    ),
    _defect(
        "name-header-of-reads-optional",
        "A prompt or resource is given without Mcp-Name; a call needs it.",
        forgiving(_is_nameless_read, "name-header"),
        "CW-HDR-002",
    ),
    _defect(
        "name-header-optional",
        "A call without Mcp-Name is served.",
        _optional(NAME_HEADER, "name-header"),
        "MCP-HDR-002",
    ),
    _defect(
        "name-header-unmatched",
        "Mcp-Name is not compared with the body.",
        _unmatched(NAME_HEADER, "name-header"),
        "MCP-HDR-003",
    ),
    _defect(
        "name-header-any-case",
        "Mcp-Name is compared with the body without regard to case.",
        forgiving(_same_but_for_case, "name-header"),
        "MCP-HDR-003",
    ),
    _defect(
        "version-header-optional",
        "A request without MCP-Protocol-Version is served.",
        _optional(VERSION_HEADER, "version-header-present", "version-header-matches"),
        "MCP-HDR-004",
    ),
    _defect(
        "version-header-unmatched",
        "MCP-Protocol-Version is not compared with the body.",
        _unmatched(VERSION_HEADER, "version-header-matches"),
        "MCP-HDR-005",
    ),
    _defect(
        "header-names-exact",
        "The standard headers are found in their usual case only.",
        with_check_first("header-names-exact", _usual_case_only),
        "MCP-HDR-006",
    ),
    _defect(
        "name-header-not-decoded",
        "An encoded Mcp-Name is compared as it stands.",
        with_stricter("name-header", _literal_name),
        "MCP-HDR-007",
    ),
    _defect(
        "name-header-decoded-twice",
        "An Mcp-Name that looks encoded after decoding is decoded again.",
        with_stricter("name-header", _twice_decoded_name),
        "MCP-HDR-007",
    ),
    _defect(
        "parameter-headers-unmatched",
        "Mcp-Param headers may be missing and are not compared with the arguments.",
        forgiving(_is_well_formed, "parameter-headers"),
        "MCP-HDR-008",
    ),
    _defect(
        "null-parameter-wants-header",
        "A call with a null argument is refused for want of its header.",
        with_stricter("parameter-headers", _null_wants_header),
        "MCP-HDR-008",
    ),
    _defect(
        "integer-header-as-text",
        "An integer argument is compared with its header as text.",
        with_stricter("parameter-headers", _integer_as_text),
        "MCP-HDR-008",
    ),
    _defect(
        "parameter-header-any-character",
        "An Mcp-Param header may have control characters and bytes beyond ASCII.",
        forgiving(_bytes_of_region, "parameter-headers"),
        "MCP-HDR-009",
    ),
    _defect(
        "parameter-header-loose-base64",
        "An encoded Mcp-Param header may have characters outside the Base64 alphabet.",
        forgiving(_somehow_base64_of_region, "parameter-headers"),
        "MCP-HDR-009",
    ),
    _defect(
        "method-before-headers",
        "An unknown method is refused before the headers are checked.",
        with_check_first("method-exists", method_exists),
        "MCP-HDR-010",
    ),
)
