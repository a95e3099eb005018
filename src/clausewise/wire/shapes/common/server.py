"""What servers offer, as far as the revisions agree: prompts, completion, tools, logging."""

from __future__ import annotations

from clausewise.wire.shapes.notation import (
    BOOLEAN,
    STRING,
    URI_TEMPLATE,
    Definitions,
    Schema,
    any_ref,
    array,
    literal,
    map_of,
    obj,
    ref,
)

COMPLETE_PARAMS: dict[str, Schema] = {
    "ref": any_ref("PromptReference", "ResourceTemplateReference"),
    "argument": obj({"name": STRING, "value": STRING}),
}
"""The required members of `completion/complete`'s params."""

COMPLETE_CONTEXT: dict[str, Schema] = {"context": obj(optional={"arguments": map_of(STRING)})}
"""The optional ones."""

DEFINITIONS: Definitions = {
    "Prompt": obj(
        {"name": STRING},
        {
            "title": STRING,
            "description": STRING,
            "arguments": array(ref("PromptArgument")),
            "icons": array(ref("Icon")),
            "_meta": ref("MetaObject"),
        },
    ),
    "PromptArgument": obj(
        {"name": STRING}, {"title": STRING, "description": STRING, "required": BOOLEAN}
    ),
    "PromptMessage": obj({"role": ref("Role"), "content": ref("ContentBlock")}),
    "PromptReference": obj({"type": literal("ref/prompt"), "name": STRING}, {"title": STRING}),
    "ResourceTemplateReference": obj({"type": literal("ref/resource"), "uri": URI_TEMPLATE}),
    "ToolAnnotations": obj(
        optional={
            "title": STRING,
            "readOnlyHint": BOOLEAN,
            "destructiveHint": BOOLEAN,
            "idempotentHint": BOOLEAN,
            "openWorldHint": BOOLEAN,
        }
    ),
}
