"""Content blocks and resource contents: schema#content."""

from __future__ import annotations

from clausewise.wire.shapes.notation import (
    BASE64,
    COUNT,
    STRING,
    UNIT_INTERVAL,
    URI,
    URI_TEMPLATE,
    Definitions,
    any_ref,
    array,
    literal,
    obj,
    ref,
)

_META = {"_meta": ref("MetaObject")}
_DECORATED = {"annotations": ref("Annotations"), **_META}
_NAMED = {"title": STRING, "icons": array(ref("Icon")), **_DECORATED}
_MEDIA = {"data": BASE64, "mimeType": STRING}
_RESOURCE = {"description": STRING, "mimeType": STRING, "size": COUNT, **_NAMED}

DEFINITIONS: Definitions = {
    "Annotations": obj(
        optional={
            "audience": array(ref("Role")),
            "priority": UNIT_INTERVAL,
            "lastModified": STRING,
        }
    ),
    "TextContent": obj({"type": literal("text"), "text": STRING}, _DECORATED),
    "ImageContent": obj({"type": literal("image"), **_MEDIA}, _DECORATED),
    "AudioContent": obj({"type": literal("audio"), **_MEDIA}, _DECORATED),
    "EmbeddedResource": obj(
        {
            "type": literal("resource"),
            "resource": any_ref("TextResourceContents", "BlobResourceContents"),
        },
        _DECORATED,
    ),
    "ResourceLink": obj({"type": literal("resource_link"), "name": STRING, "uri": URI}, _RESOURCE),
    "ContentBlock": any_ref(
        "TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"
    ),
    "TextResourceContents": obj({"uri": URI, "text": STRING}, {"mimeType": STRING, **_META}),
    "BlobResourceContents": obj({"uri": URI, "blob": BASE64}, {"mimeType": STRING, **_META}),
    "Resource": obj({"name": STRING, "uri": URI}, _RESOURCE),
    "ResourceTemplate": obj(
        {"name": STRING, "uriTemplate": URI_TEMPLATE},
        {"description": STRING, "mimeType": STRING, **_NAMED},
    ),
}
