"""A whole session of the official Python SDK's client (`mcp`) with the reference server.

    python python_sdk.py (legacy|auto) (URL | COMMAND ARG…)

It uses everything that the client offers and prints as JSON what came of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    ResourceTemplateReference,
    Root,
    SamplingCapability,
    SamplingToolsCapability,
    TextContent,
    ToolUseContent,
)

WITHIN_S = 50
MODERN = "2026-07-28"
COUNTER = "reference://counter"
ANSWERS: dict[str, Any] = {"name": "Ada", "mood": "sad", "agreed": True}

calls: list[tuple[str, dict[str, Any]]] = [
    ("echo", {"text": "hé"}),
    ("all_content", {}),
    ("add", {"a": 1, "b": 2}),
    ("fail", {}),
    ("count_slowly", {"steps": 3, "delayMs": 40}),
    ("greet_user", {}),
    ("query_region", {"region": "öst", "query": "q", "limit": 5}),
    ("answer_later", {}),
    ("collect_profile", {}),
    ("visit_page", {}),
    ("ask_model", {"question": "Why?"}),
    ("ask_model_with_tools", {"question": "1 + 2?"}),
    ("list_roots", {}),
    ("log_every_level", {}),
]
seen: dict[str, Any] = {"progress": [], "logged": 0, "changes": []}
changed = asyncio.Event()


async def roots(_context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///home/ada", name="home")])


async def elicit(_context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    if isinstance(params, ElicitRequestURLParams):
        return ElicitResult(action="accept")
    asked = params.requested_schema["properties"]
    content = {key: value for key, value in ANSWERS.items() if key in asked}
    return ElicitResult(action="accept", content=content)


async def sample(
    _context: ClientRequestContext, params: CreateMessageRequestParams
) -> CreateMessageResult | CreateMessageResultWithTools:
    if params.tools and len(params.messages) == 1:
        use = ToolUseContent(id="use-1", name="add", input={"a": 1, "b": 2})
        return CreateMessageResultWithTools(
            role="assistant", content=[use], model="m", stop_reason="toolUse"
        )
    return CreateMessageResult(
        role="assistant", content=TextContent(text="So."), model="m", stop_reason="endTurn"
    )


async def logged(_params: Any) -> None:
    seen["logged"] += 1


async def progressed(progress: float, _total: float | None, _message: str | None) -> None:
    seen["progress"].append(progress)


async def received(message: Any) -> None:
    method = getattr(message, "method", "")
    if method.endswith(("list_changed", "updated")):
        seen["changes"].append(method)
        if len(seen["changes"]) == 4:
            changed.set()


async def pages(fetch: Any, member: str) -> int:
    """How many items all pages of a list hold."""
    count, cursor = 0, None
    while True:
        page = await fetch(cursor=cursor)
        count += len(getattr(page, member))
        cursor = page.next_cursor
        if cursor is None:
            return count


async def refused(request: Any) -> int | None:
    """The code of the error that a request ends in."""
    try:
        await request
    except MCPError as error:
        return error.error.code
    return None


async def change(client: Client) -> None:
    for tool in ("touch_counter", "announce_lists"):
        await client.call_tool(tool)


async def subscribe(client: Client) -> None:
    """Hear of a change of every list and of a resource."""
    if client.protocol_version < MODERN:
        await client.subscribe_resource(COUNTER)
        await change(client)
        await changed.wait()
        await client.unsubscribe_resource(COUNTER)
        return
    async with client.listen(
        tools_list_changed=True,
        prompts_list_changed=True,
        resources_list_changed=True,
        resource_subscriptions=[COUNTER],
    ) as events:
        await change(client)
        seen["events"] = []
        async for event in events:
            seen["events"].append(type(event).__name__)
            if len(seen["events"]) == 4:
                return


async def use(client: Client) -> dict[str, Any]:
    did: dict[str, Any] = {"revision": client.protocol_version}
    if client.protocol_version < MODERN:
        await client.send_ping()
        await client.set_logging_level("warning")
    did["tools"] = await pages(client.list_tools, "tools")
    did["resources"] = await pages(client.list_resources, "resources")
    did["templates"] = await pages(client.list_resource_templates, "resource_templates")
    did["prompts"] = await pages(client.list_prompts, "prompts")
    for name, arguments in calls:
        result = await client.call_tool(name, arguments, progress_callback=progressed)
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        did[name] = "error" if result.is_error else " ".join(texts)
    for uri in ("welcome", "diary"):
        contents = (await client.read_resource(f"reference://texts/{uri}")).contents
        did[uri] = contents[0].text
    did["greet"] = len((await client.get_prompt("greet", {"name": "Ada"})).messages)
    did["tell_story"] = len((await client.get_prompt("tell_story")).messages)
    await complete(client, did)
    did["unknown tool"] = await refused(client.call_tool("nope"))
    did["unknown resource"] = await refused(client.read_resource("reference://nope"))
    await subscribe(client)
    return did | seen


async def complete(client: Client, did: dict[str, Any]) -> None:
    prompt = PromptReference(name="greet")
    typed = {"name": "language", "value": "g"}
    did["languages"] = (await client.complete(prompt, typed)).completion.values
    template = ResourceTemplateReference(uri="reference://notes/{topic}/{section}")
    typed = {"name": "section", "value": ""}
    completed = await client.complete(template, typed, {"topic": "base"})
    did["sections"] = completed.completion.values


async def main() -> None:
    mode, first, *rest = sys.argv[1:]
    server = first if "://" in first else StdioServerParameters(command=first, args=rest)
    async with (
        asyncio.timeout(WITHIN_S),
        Client(
            server,
            mode=mode,
            list_roots_callback=roots,
            elicitation_callback=elicit,
            sampling_callback=sample,
            sampling_capabilities=SamplingCapability(tools=SamplingToolsCapability()),
            logging_callback=logged,
            log_level="warning",
            message_handler=received,
        ) as client,
    ):
        did = await use(client)
    print(json.dumps(did))


if __name__ == "__main__":
    asyncio.run(main())
