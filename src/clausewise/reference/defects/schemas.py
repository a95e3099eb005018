"""Defects of rule group SCH: what tools/list and prompts/list show."""

from __future__ import annotations

from typing import Any

from clausewise.reference.defects.defect import Defect
from clausewise.reference.defects.rewiring import ChangeObject, Rewire, on_listed
from clausewise.reference.messages import JsonObject


def on_tool(name: str, change: ChangeObject) -> Rewire:
    """Change the definition of one tool in the modern tools/list."""
    return on_listed("tools/list", "tools", name, change)


def on_parameter(tool: str, parameter: str, change: ChangeObject) -> Rewire:
    """Change the schema of one parameter of a tool; a parameter that is new begins empty."""

    def changed(definition: JsonObject) -> JsonObject:
        schema = definition["inputSchema"]
        properties = {**schema["properties"]}
        properties[parameter] = change(properties.get(parameter, {}))
        return {**definition, "inputSchema": {**schema, "properties": properties}}

    return on_tool(tool, changed)


def _with(**members: Any) -> ChangeObject:
    return lambda given: {**given, **members}


def _annotated(value: str) -> ChangeObject:
    return _with(**{"x-mcp-header": value})


def _without_type(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if key != "type"}


_ANNOTATED_ITEMS: JsonObject = {
    "type": "array",
    "items": {"type": "string", "x-mcp-header": "Query"},
}

DEFECTS = (
    Defect(
        "annotation-empty",
        "An x-mcp-header is the empty string.",
        on_parameter("query_region", "region", _annotated("")),
        rules=("MCP-SCH-001",),
    ),
    Defect(
        "annotation-with-space",
        "An x-mcp-header has a space in it.",
        on_parameter("query_region", "region", _annotated("My Region")),
        rules=("MCP-SCH-001",),
    ),
    Defect(
        "annotation-with-line-break",
        "An x-mcp-header has a line break and another header in it.",
        on_parameter("query_region", "region", _annotated("Region\r\nX-Admin")),
        rules=("MCP-SCH-002",),
    ),
    Defect(
        "annotations-collide",
        "Two parameters of a tool have the same x-mcp-header but for case.",
        on_parameter("query_region", "limit", _annotated("REGION")),
        rules=("MCP-SCH-003",),
    ),
    Defect(
        "annotation-on-number",
        "An x-mcp-header is on a parameter of type number.",
        on_parameter("query_region", "limit", _with(type="number")),
        rules=("MCP-SCH-004",),
    ),
    Defect(
        "annotation-on-untyped",
        "An x-mcp-header is on a parameter that declares no type.",
        on_parameter("query_region", "region", _without_type),
        rules=("MCP-SCH-004",),
    ),
    Defect(
        "annotation-in-items",
        "An x-mcp-header is on the items of an array.",
        on_parameter("query_region", "query", lambda _given: _ANNOTATED_ITEMS),
        rules=("MCP-SCH-005",),
    ),
    Defect(
        "output-schema-invalid",
        "The output schema of a tool has a type that JSON Schema does not know.",
        on_tool("add", _with(outputSchema={"type": "sum"})),
        rules=("MCP-SCH-006",),
    ),
    Defect(
        "input-schema-without-type",
        "The input schema of a tool does not say that it is one of objects.",
        on_tool("announce_lists", _with(inputSchema={"properties": {}})),
        rules=("MCP-SCH-006",),
    ),
    Defect(
        "input-schema-dangling-reference",
        "The input schema of a tool refers to a definition that is not there.",
        on_parameter("announce_lists", "note", _with(**{"$ref": "#/$defs/note"})),
        rules=("MCP-SCH-006",),
    ),
    Defect(
        "tool-name-with-space",
        "A tool is listed under a name with a space.",
        on_tool("touch_counter", _with(name="touch counter")),
        rules=("MCP-SCH-007",),
    ),
    Defect(
        "prompt-name-beyond-ascii",
        "A prompt is listed under a name that no header can carry plain.",
        on_listed("prompts/list", "prompts", "describe_media", _with(name="décrire")),
        rules=("MCP-SCH-007",),
    ),
)
