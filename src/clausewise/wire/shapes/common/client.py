"""What clients offer, as far as the revisions agree: roots, sampling, elicitation."""

from __future__ import annotations

from clausewise.wire.shapes.notation import (
    BOOLEAN,
    COUNT,
    NUMBER,
    STRING,
    UNIT_INTERVAL,
    URI,
    Definitions,
    Schema,
    any_of,
    any_ref,
    array,
    literal,
    map_of,
    obj,
    one_of,
    ref,
)

_SAMPLED = ("TextContent", "ImageContent", "AudioContent", "ToolUseContent", "ToolResultContent")

SAMPLED_CONTENT: Schema = any_of(*map(ref, _SAMPLED), array(ref("SamplingMessageContentBlock")))
"""One block or an array of blocks, as sampling messages and results have it."""

CREATE_MESSAGE_OPTIONS: dict[str, Schema] = {
    "modelPreferences": ref("ModelPreferences"),
    "systemPrompt": STRING,
    "includeContext": one_of("none", "thisServer", "allServers"),
    "temperature": NUMBER,
    "stopSequences": array(STRING),
    "tools": array(ref("Tool")),
    "toolChoice": ref("ToolChoice"),
}
"""The optional members of sampling params on which the revisions agree."""

CREATE_MESSAGE_PARAMS: dict[str, Schema] = {
    "messages": array(ref("SamplingMessage")),
    "maxTokens": COUNT,
}
"""The required ones."""

REQUESTED_SCHEMA: Schema = obj(
    {"type": literal("object"), "properties": map_of(ref("PrimitiveSchemaDefinition"))},
    {"$schema": STRING, "required": array(STRING)},
)
"""The restricted JSON Schema of a form-mode elicitation."""

ELICIT_ACTION: dict[str, Schema] = {"action": one_of("accept", "decline", "cancel")}
"""The required member of an elicitation's result."""

ELICIT_CONTENT: dict[str, Schema] = {
    "content": map_of(any_of({"type": ["string", "number", "boolean"]}, array(STRING)))
}
"""The optional one. Numbers may be fractions, as in schema.ts."""

_LABELS = {"title": STRING, "description": STRING}
_TITLED_OPTIONS = array(obj({"const": STRING, "title": STRING}))
_SELECTION_SIZE = {"minItems": COUNT, "maxItems": COUNT, "default": array(STRING)}
_SINGLE = ("UntitledSingleSelectEnumSchema", "TitledSingleSelectEnumSchema")
_MULTI = ("UntitledMultiSelectEnumSchema", "TitledMultiSelectEnumSchema")
_ENUMS = (*_SINGLE, *_MULTI, "LegacyTitledEnumSchema")

_SAMPLING: Definitions = {
    "SamplingMessage": obj(
        {"role": ref("Role"), "content": SAMPLED_CONTENT}, {"_meta": ref("MetaObject")}
    ),
    "SamplingMessageContentBlock": any_ref(*_SAMPLED),
    "ToolUseContent": obj(
        {"type": literal("tool_use"), "id": STRING, "name": STRING, "input": obj()},
        {"_meta": ref("MetaObject")},
    ),
    "ToolChoice": obj(optional={"mode": one_of("auto", "required", "none")}),
    "ModelHint": obj(optional={"name": STRING}),
    "ModelPreferences": obj(
        optional={
            "hints": array(ref("ModelHint")),
            "costPriority": UNIT_INTERVAL,
            "speedPriority": UNIT_INTERVAL,
            "intelligencePriority": UNIT_INTERVAL,
        }
    ),
}

_ELICITATION: Definitions = {
    "PrimitiveSchemaDefinition": any_ref("StringSchema", "NumberSchema", "BooleanSchema", *_ENUMS),
    "StringSchema": obj(
        {"type": literal("string")},
        {
            **_LABELS,
            "minLength": COUNT,
            "maxLength": COUNT,
            "format": one_of("uri", "email", "date", "date-time"),
            "default": STRING,
        },
    ),
    "NumberSchema": obj(
        {"type": one_of("number", "integer")},
        {**_LABELS, "minimum": NUMBER, "maximum": NUMBER, "default": NUMBER},
    ),
    "BooleanSchema": obj({"type": literal("boolean")}, {**_LABELS, "default": BOOLEAN}),
    "EnumSchema": any_ref(*_ENUMS),
    "SingleSelectEnumSchema": any_ref(*_SINGLE),
    "MultiSelectEnumSchema": any_ref(*_MULTI),
    "UntitledSingleSelectEnumSchema": obj(
        {"type": literal("string"), "enum": array(STRING)}, {**_LABELS, "default": STRING}
    ),
    "TitledSingleSelectEnumSchema": obj(
        {"type": literal("string"), "oneOf": _TITLED_OPTIONS}, {**_LABELS, "default": STRING}
    ),
    "UntitledMultiSelectEnumSchema": obj(
        {
            "type": literal("array"),
            "items": obj({"type": literal("string"), "enum": array(STRING)}),
        },
        {**_LABELS, **_SELECTION_SIZE},
    ),
    "TitledMultiSelectEnumSchema": obj(
        {"type": literal("array"), "items": obj({"anyOf": _TITLED_OPTIONS})},
        {**_LABELS, **_SELECTION_SIZE},
    ),
    "LegacyTitledEnumSchema": obj(
        {"type": literal("string"), "enum": array(STRING)},
        {**_LABELS, "enumNames": array(STRING), "default": STRING},
    ),
}

DEFINITIONS: Definitions = {
    "Root": obj({"uri": URI}, {"name": STRING, "_meta": ref("MetaObject")}),
    **_SAMPLING,
    **_ELICITATION,
}
