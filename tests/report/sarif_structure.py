"""What of SARIF 2.1.0 the report uses, as a JSON Schema that lets nothing else through.

Written from sections 3.13 (sarifLog) to 3.58 (notification) of the OASIS standard.
"""

from __future__ import annotations

from typing import Any


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def _list_of(items: Any, **others: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **others}


TEXT = {"type": "string", "minLength": 1}
URI = {"type": "string", "format": "uri"}
URI_REFERENCE = {"type": "string", "format": "uri-reference"}
BAG = {"type": "object"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = _object(("text",), text=TEXT)
FACTS = {"properties": BAG}
RULE = _object(
    ("id",),
    id=TEXT,
    shortDescription=MESSAGE,
    help=MESSAGE,
    helpUri=URI,
    defaultConfiguration=_object((), level=LEVEL),
    **FACTS,
)
LOCATION = _object(
    (),
    physicalLocation=_object(
        ("artifactLocation",), artifactLocation=_object(("uri",), uri=URI_REFERENCE)
    ),
    logicalLocations=_list_of(
        _object((), name=TEXT, fullyQualifiedName=TEXT, kind=TEXT), uniqueItems=True
    ),
    message=MESSAGE,
)
RESULT = _object(
    ("message",),
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=_list_of(LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    suppressions=_list_of(
        _object(("kind",), kind={"enum": ["inSource", "external"]}, justification=TEXT)
    ),
    **FACTS,
)
NOTIFICATION = _object(("message",), level=LEVEL, message=MESSAGE, descriptor=_object((), id=TEXT))
INVOCATION = _object(
    ("executionSuccessful",),
    executionSuccessful={"type": "boolean"},
    startTimeUtc={"type": "string", "format": "date-time"},
    toolExecutionNotifications=_list_of(NOTIFICATION),
)
RUN = _object(
    ("tool",),
    tool=_object(
        ("driver",),
        driver=_object(("name",), name=TEXT, version=TEXT, rules=_list_of(RULE, uniqueItems=True)),
    ),
    automationDetails=_object((), id=TEXT),
    invocations=_list_of(INVOCATION),
    results=_list_of(RESULT),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    **FACTS,
)
LOG = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        ("version", "runs"),
        **{"$schema": URI},
        version={"const": "2.1.0"},
        runs=_list_of(RUN),
    ),
}
