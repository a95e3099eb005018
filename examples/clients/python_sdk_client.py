"""One session of the official Python SDK's client (`mcp`), over stdio or Streamable HTTP.

    python python_sdk_client.py http://127.0.0.1:3001/mcp
    python python_sdk_client.py --tool find_book --arguments '{"key": "emma"}' -- python server.py

It lists what the server has, calls the tool, reads the first resource, gets the first prompt that
needs no arguments, and prints what it did. `--mode legacy` begins with `initialize`; `auto` asks
for the server's revisions first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp_types import ListRootsResult, Root

WITHIN_S = 30


async def roots(_context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri=Path.cwd().as_uri(), name="here")])


async def progressed(progress: float, total: float | None, _message: str | None) -> None:
    print(f"{progress:g} of {total}", file=sys.stderr)


async def use(client: Client, tool: str | None, arguments: dict[str, object]) -> dict[str, object]:
    """What one session does; gives what it saw."""
    did: dict[str, object] = {"revision": client.protocol_version}
    if client.protocol_version < "2026-07-28":
        await client.send_ping()
    offers = client.server_capabilities
    if offers.tools:
        did["tools"] = len((await client.list_tools()).tools)
    if tool:
        called = await client.call_tool(tool, arguments, progress_callback=progressed)
        did["called"] = not called.is_error
    if offers.resources:
        resources = (await client.list_resources()).resources
        did["templates"] = len((await client.list_resource_templates()).resource_templates)
        if resources:
            did["read"] = len((await client.read_resource(str(resources[0].uri))).contents)
    if offers.prompts:
        prompts = (await client.list_prompts()).prompts
        plain = [p for p in prompts if not any(a.required for a in p.arguments or ())]
        if plain:
            did["messages"] = len((await client.get_prompt(plain[0].name)).messages)
    return did


async def run(options: argparse.Namespace) -> None:
    first, *rest = options.server
    server = first if "://" in first else StdioServerParameters(command=first, args=rest)
    async with (
        asyncio.timeout(WITHIN_S),
        Client(server, mode=options.mode, list_roots_callback=roots) as client,
    ):
        print(json.dumps(await use(client, options.tool, options.arguments)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["legacy", "auto"], default="auto")
    parser.add_argument("--tool", metavar="NAME", help="the tool to call")
    parser.add_argument("--arguments", metavar="JSON", type=json.loads, default={})
    parser.add_argument("server", nargs="+", metavar="URL or COMMAND")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
