"""The HTTP headers of 2026-07-28 that mirror a request's body.

Source: basic/transports/streamable-http, sections Request Metadata and Standard Request Headers.
"""

from __future__ import annotations

from collections.abc import Mapping

VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"

NAMED_BY: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The member of `params` that `Mcp-Name` mirrors, by method."""
