"""A small unit converter on FastMCP, over stdio or Streamable HTTP.

python fastmcp_server.py                        # stdio
python fastmcp_server.py --http 127.0.0.1:3002  # http://127.0.0.1:3002/mcp
python fastmcp_server.py --http 127.0.0.1:3002 --auth  # the same, for clients with a token
"""

from __future__ import annotations

import argparse

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions

SCOPE = "units"
METRES = {"metre": 1.0, "foot": 0.3048, "mile": 1609.344}

server: FastMCP = FastMCP("converter", version="1.0.0")


@server.tool(annotations={"readOnlyHint": True})
def convert(value: float, unit: str) -> float:
    """A length in metres."""
    return value * METRES[unit]


@server.tool(annotations={"readOnlyHint": True})
def units() -> list[str]:
    """The units that `convert` knows."""
    return sorted(METRES)


@server.resource("units://all", mime_type="text/plain")
def all_units() -> str:
    """Every unit, a line each."""
    return "\n".join(METRES)


@server.prompt
def explain_unit(unit: str = "mile") -> str:
    """Ask where a unit comes from."""
    return f"Where does the unit {unit} come from?"


def asks_nobody(address: str) -> InMemoryOAuthProvider:
    """An authorization server beside the MCP server, which consents at once: for trials alone."""
    registration = ClientRegistrationOptions(
        enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]
    )
    return InMemoryOAuthProvider(
        base_url=f"http://{address}",
        client_registration_options=registration,
        required_scopes=[SCOPE],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP, not stdio")
    parser.add_argument("--auth", action="store_true", help="over HTTP: ask for a token")
    options = parser.parse_args()
    if options.http is None:
        server.run("stdio", show_banner=False)
        return
    if options.auth:
        server.auth = asks_nobody(options.http)
    host, port = options.http.rsplit(":", 1)
    server.run("http", host=host, port=int(port), show_banner=False)


if __name__ == "__main__":
    main()
