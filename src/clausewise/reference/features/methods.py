"""The request methods that both eras share, on the shared content."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from clausewise.reference.call import Call, text_param
from clausewise.reference.features import completion, pagination, prompts, resources, tools
from clausewise.reference.features.content import Content
from clausewise.reference.input_requests import accepted
from clausewise.reference.messages import INVALID_REQUEST, JsonObject, RpcError

Method = Callable[[Call, Content], Awaitable[JsonObject]]
"""Answers one request method: its result, without what an era adds to every result."""


async def list_tools(call: Call, content: Content) -> JsonObject:
    """Source: server/tools#listing-tools."""
    items = [tool.definition for tool in content.tools]
    return pagination.page(items, "tools", call, content.page_size)


async def call_tool(call: Call, content: Content) -> JsonObject:
    """Source: server/tools#calling-tools."""
    tool = tools.find_tool(text_param(call.params, "name"), content.tools)
    return await tools.call_tool(tool, call, content.feed)


async def list_resources(call: Call, content: Content) -> JsonObject:
    """Source: server/resources#listing-resources."""
    items = [resource.definition for resource in content.resources]
    return pagination.page(items, "resources", call, content.page_size)


async def list_templates(call: Call, content: Content) -> JsonObject:
    """Source: server/resources#resource-templates."""
    items = [template.definition for template in content.templates]
    return pagination.page(items, "resourceTemplates", call, content.page_size)


async def read_resource(call: Call, content: Content) -> JsonObject:
    """Source: server/resources#reading-resources."""
    uri = text_param(call.params, "uri")
    consent = resources.consent_for(uri, content.resources)
    if consent is not None:
        answer = accepted((await call.ask(consent))[consent.key])
        if answer is None or not answer["agreed"]:
            raise RpcError(INVALID_REQUEST, "the user did not agree that this is read")
    contents = resources.read(
        uri, content.resources, content.templates, content.feed, known=call.has_credentials
    )
    return {"contents": [contents]}


async def list_prompts(call: Call, content: Content) -> JsonObject:
    """Source: server/prompts#listing-prompts."""
    items = [prompt.definition for prompt in content.prompts]
    return pagination.page(items, "prompts", call, content.page_size)


async def get_prompt(call: Call, content: Content) -> JsonObject:
    """Source: server/prompts#getting-a-prompt."""
    prompt = prompts.find_prompt(text_param(call.params, "name"), content.prompts)
    return await prompts.get(prompt, call)


async def complete(call: Call, content: Content) -> JsonObject:
    """Source: server/utilities/completion."""
    return completion.complete(call.params, content)


SHARED_METHODS: Mapping[str, Method] = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
}
