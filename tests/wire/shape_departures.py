"""Where our shapes leave the published schema.json on purpose, and what they leave out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clausewise.core.vocabulary import Revision

LEGACY, MODERN = Revision.LEGACY, Revision.MODERN


@dataclass(frozen=True, slots=True)
class Departure:
    """At `pointer` of `definition`, schema.json has `published` where our shape has `ours`."""

    revision: Revision
    definition: str
    pointer: str
    published: Any
    ours: Any
    reason: str


_NUMBER = (
    "schema.ts says number and no page says integer; the generator ran with integer as the "
    "default number type (2026-07-28 changelog, PR 2710)"
)
_TTL = (
    "schema.ts says number, the caching page and schema.json integer: the text contradicts itself, "
    "so a fraction is for a check to remark on"
)
_FLAG = "the tasks page calls these properties boolean, schema.ts types them as objects"
_JSON_VALUE = (
    "schema.ts has number and null among the JSON values, which makes any value one; schema.json "
    "forgets them"
)


def _both(definition: str, pointer: str) -> tuple[Departure, ...]:
    return tuple(
        Departure(revision, definition, pointer, "integer", "number", _NUMBER)
        for revision in Revision
    )


def _flag(definition: str, path: str) -> Departure:
    pointer = "".join(f"/properties/{step}" for step in ("tasks", *path.split("."))) + "/type"
    return Departure(LEGACY, definition, pointer, "object", ["object", "boolean"], _FLAG)


DEPARTURES: tuple[Departure, ...] = (
    *_both("CompleteResult", "/properties/completion/properties/total/type"),
    *_both("CreateMessageRequestParams", "/properties/maxTokens/type"),
    *_both("Resource", "/properties/size/type"),
    *_both("ResourceLink", "/properties/size/type"),
    *_both("StringSchema", "/properties/minLength/type"),
    *_both("StringSchema", "/properties/maxLength/type"),
    *_both("TitledMultiSelectEnumSchema", "/properties/minItems/type"),
    *_both("TitledMultiSelectEnumSchema", "/properties/maxItems/type"),
    *_both("UntitledMultiSelectEnumSchema", "/properties/minItems/type"),
    *_both("UntitledMultiSelectEnumSchema", "/properties/maxItems/type"),
    *_both("ElicitResult", "/properties/content/additionalProperties/anyOf/1/type/1"),
    Departure(LEGACY, "Task", "/properties/pollInterval/type", "integer", "number", _NUMBER),
    Departure(LEGACY, "Task", "/properties/ttl/type/0", "integer", "number", _NUMBER),
    Departure(LEGACY, "TaskMetadata", "/properties/ttl/type", "integer", "number", _NUMBER),
    _flag("ClientCapabilities", "list"),
    _flag("ClientCapabilities", "cancel"),
    _flag("ClientCapabilities", "requests.sampling.createMessage"),
    _flag("ClientCapabilities", "requests.elicitation.create"),
    _flag("ServerCapabilities", "list"),
    _flag("ServerCapabilities", "cancel"),
    _flag("ServerCapabilities", "requests.tools.call"),
    *(
        Departure(MODERN, name, "/properties/ttlMs/type", "integer", "number", _TTL)
        for name in (
            "DiscoverResult",
            "ListPromptsResult",
            "ListResourceTemplatesResult",
            "ListResourcesResult",
            "ListToolsResult",
            "ReadResourceResult",
        )
    ),
    Departure(
        MODERN,
        "JSONValue",
        "/anyOf/2",
        {"type": ["string", "integer", "boolean"]},
        {},
        _JSON_VALUE,
    ),
)

_BASE = "a base that other definitions extend; no message has it as its own shape"
_UNION = "a union of messages: the method tables say the same (see test_methods)"

NOT_CARRIED: dict[Revision, dict[str, str]] = {
    LEGACY: {
        "BaseMetadata": _BASE,
        "Icons": _BASE,
        "Notification": _BASE,
        "PaginatedRequest": _BASE,
        "PaginatedResult": _BASE,
        "Request": _BASE,
        "ResourceContents": _BASE,
        "ResourceRequestParams": _BASE,
        "TaskAugmentedRequestParams": _BASE,
        "ClientNotification": _UNION,
        "ClientRequest": _UNION,
        "ClientResult": _UNION,
        "ServerNotification": _UNION,
        "ServerRequest": _UNION,
        "ServerResult": _UNION,
    },
    MODERN: {
        "BaseMetadata": _BASE,
        "CacheableResult": _BASE,
        "Icons": _BASE,
        "InputResponseRequestParams": _BASE,
        "Notification": _BASE,
        "PaginatedRequest": _BASE,
        "PaginatedResult": _BASE,
        "Request": _BASE,
        "ResourceContents": _BASE,
        "ResourceRequestParams": _BASE,
        "ClientNotification": _UNION,
        "ClientRequest": _UNION,
        "ClientResult": _UNION,
        "ServerNotification": _UNION,
        "ServerResult": _UNION,
    },
}
"""Official definitions without a shape of ours, and why."""

NAMED_BY_US: dict[Revision, frozenset[str]] = {
    LEGACY: frozenset(
        {
            "MetaObject",
            "RequestMetaObject",
            "CancelTaskRequestParams",
            "ElicitationCompleteNotificationParams",
            "GetTaskPayloadRequestParams",
            "GetTaskRequestParams",
        }
    ),
    MODERN: frozenset({"ListRootsRequestParams"}),
}
"""Parts that the schema page writes in place, and to which we gave a name."""
