"""Every feature of the official Python SDK (`mcp`) that a checker can look at, in small tools.

    python python_sdk_features.py                        # stdio
    python python_sdk_features.py --http 127.0.0.1:3003  # http://127.0.0.1:3003/mcp

The tools ask the user, ask the model, report progress, log, and return pictures and structure.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel

READ_ONLY = ToolAnnotations(read_only_hint=True)
ONE_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4"
    "890000000d49444154789c63304898f01f0004040220e4f2a582000000004945"
    "4e44ae426082"
)

server = MCPServer("features", version="1.0.0")


class Name(BaseModel):
    name: str


class Total(BaseModel):
    total: int


async def user_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


async def a_word() -> Sample:
    question = SamplingMessage(role="user", content=TextContent(type="text", text="Say a word."))
    return Sample([question], max_tokens=10)


@server.tool(annotations=READ_ONLY)
async def greet(name: Annotated[Name, Resolve(user_name)]) -> str:
    """Greets the user by the name that it asks for."""
    return f"Hello, {name.name}!"


@server.tool(annotations=READ_ONLY)
async def repeat(word: Annotated[CreateMessageResult, Resolve(a_word)]) -> str:
    """Repeats the word that the model says."""
    return str(word.content)


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> Total:
    """Adds two integers."""
    return Total(total=a + b)


@server.tool(annotations=READ_ONLY)
async def count(ctx: Context) -> str:
    """Counts to three, with progress and a log message."""
    await ctx.info("counting begins")
    for step in range(1, 4):
        await asyncio.sleep(0.1)
        await ctx.report_progress(step, 3, f"step {step}")
    return "three"


@server.tool(annotations=READ_ONLY)
def draw() -> Image:
    """Draws a pixel."""
    return Image(data=ONE_PIXEL, format="png")


@server.resource("features://pixel", mime_type="image/png")
def pixel() -> bytes:
    """A pixel."""
    return ONE_PIXEL


@server.resource("features://squares/{number}", mime_type="text/plain")
def square(number: int) -> str:
    """The square of a number."""
    return str(number * number)


@server.prompt()
def haiku(subject: str = "frogs") -> str:
    """Ask for a haiku."""
    return f"Write a haiku about {subject}."


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
