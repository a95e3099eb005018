"""A small library catalogue on the official Python SDK (`mcp`), over stdio or Streamable HTTP.

    python python_sdk_server.py                        # stdio
    python python_sdk_server.py --http 127.0.0.1:3001  # http://127.0.0.1:3001/mcp

It speaks both eras: `initialize` and stateless requests.
"""

from __future__ import annotations

import argparse
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

BOOKS = {
    "dune": "Dune, Frank Herbert, 1965",
    "emma": "Emma, Jane Austen, 1815",
    "ulysses": "Ulysses, James Joyce, 1922",
}

server = MCPServer("library", version="1.0.0", instructions="Looks up books by a short key.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def find_book(key: str) -> str:
    """Title, author and year of a book."""
    return BOOKS[key]


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def count_books() -> int:
    """How many books there are."""
    return len(BOOKS)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def shelf(branch: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Branch"})]) -> str:
    """Where the books stand; gateways route by the branch, which a header mirrors."""
    return f"first floor of {branch}"


@server.tool()
def lend_book(key: str, reader: str) -> str:
    """Lend a book to a reader."""
    return f"{reader} has {BOOKS[key]}"


@server.resource("library://catalogue", mime_type="text/plain")
def catalogue() -> str:
    """Every book, a line each."""
    return "\n".join(BOOKS.values())


@server.resource("library://books/{key}", mime_type="text/plain")
def book(key: str) -> str:
    """One book."""
    return BOOKS[key]


@server.prompt()
def recommend(mood: str = "curious") -> str:
    """Ask for a recommendation."""
    return f"Recommend one of these to a {mood} reader: {', '.join(BOOKS)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP, not stdio")
    options = parser.parse_args()
    if options.http is None:
        server.run("stdio")
        return
    host, port = options.http.rsplit(":", 1)
    server.run("streamable-http", host=host, port=int(port))


if __name__ == "__main__":
    main()
