"""Base messages of 2026-07-28: `_meta`, results, input required, errors, discovery."""

from __future__ import annotations

from clausewise.wire.codes import ErrorCode
from clausewise.wire.meta import META_PREFIX
from clausewise.wire.shapes.notation import (
    ANY,
    BOOLEAN,
    NUMBER,
    STRING,
    Definitions,
    Schema,
    any_ref,
    array,
    error_response,
    literal,
    map_of,
    obj,
    one_of,
    ref,
)


def request_params(
    required: dict[str, Schema] | None = None, optional: dict[str, Schema] | None = None
) -> Schema:
    """Params of a request: these members, and the `_meta` that each request owes."""
    return obj({"_meta": ref("RequestMetaObject"), **(required or {})}, optional)


def retryable_params(
    required: dict[str, Schema] | None = None, optional: dict[str, Schema] | None = None
) -> Schema:
    """Params of a request that may be retried with the input that its result asked for."""
    answers = {"inputResponses": ref("InputResponses"), "requestState": STRING}
    return request_params(required, {**(optional or {}), **answers})


def notification_params(
    required: dict[str, Schema] | None = None, optional: dict[str, Schema] | None = None
) -> Schema:
    """Params of a notification: these members and `_meta`."""
    return obj(required, {**(optional or {}), "_meta": ref("NotificationMetaObject")})


def result(
    required: dict[str, Schema] | None = None, optional: dict[str, Schema] | None = None
) -> Schema:
    """A result: these members, `resultType` and `_meta`."""
    return obj(
        {"resultType": STRING, **(required or {})},
        {**(optional or {}), "_meta": ref("ResultMetaObject")},
    )


def cacheable_result(
    required: dict[str, Schema], optional: dict[str, Schema] | None = None
) -> Schema:
    """A result with caching hints. `ttlMs` may be a fraction, as in schema.ts."""
    hints = {"ttlMs": {**NUMBER, "minimum": 0}, "cacheScope": one_of("public", "private")}
    return result({**hints, **required}, optional)


def page_of(member: str, definition: str) -> Schema:
    """The result of a paginated, cacheable list."""
    return cacheable_result({member: array(ref(definition))}, {"nextCursor": STRING})


def _meta(names: dict[str, Schema]) -> dict[str, Schema]:
    return {f"{META_PREFIX}{name}": schema for name, schema in names.items()}


def _json_rpc_error(code: ErrorCode) -> Schema:
    return obj({"code": literal(int(code)), "message": STRING}, {"data": ANY})


_CHANGES = {"listChanged": BOOLEAN}
_EXTENSIONS = {
    "experimental": map_of(ref("JSONObject")),
    "extensions": map_of(ref("JSONObject")),
}
_SERVER_INFO = _meta({"serverInfo": ref("Implementation")})
_SUBSCRIPTION = _meta({"subscriptionId": ref("RequestId")})

_META_OBJECTS: Definitions = {
    "RequestMetaObject": obj(
        _meta({"protocolVersion": STRING, "clientCapabilities": ref("ClientCapabilities")}),
        {
            **_meta({"clientInfo": ref("Implementation"), "logLevel": ref("LoggingLevel")}),
            "progressToken": ref("ProgressToken"),
        },
    ),
    "ResultMetaObject": obj(optional=_SERVER_INFO),
    "NotificationMetaObject": obj(optional=_SUBSCRIPTION),
    "SubscriptionsListenResultMetaObject": obj(_SUBSCRIPTION, _SERVER_INFO),
}

_CAPABILITIES: Definitions = {
    "ClientCapabilities": obj(
        optional={
            **_EXTENSIONS,
            "roots": obj(),
            "sampling": obj(optional={"context": ref("JSONObject"), "tools": ref("JSONObject")}),
            "elicitation": obj(optional={"form": ref("JSONObject"), "url": ref("JSONObject")}),
        }
    ),
    "ServerCapabilities": obj(
        optional={
            **_EXTENSIONS,
            "logging": ref("JSONObject"),
            "completions": ref("JSONObject"),
            "prompts": obj(optional=_CHANGES),
            "resources": obj(optional={"subscribe": BOOLEAN, **_CHANGES}),
            "tools": obj(optional=_CHANGES),
        }
    ),
}

_ERRORS: Definitions = {
    "ParseError": _json_rpc_error(ErrorCode.PARSE_ERROR),
    "InvalidRequestError": _json_rpc_error(ErrorCode.INVALID_REQUEST),
    "MethodNotFoundError": _json_rpc_error(ErrorCode.METHOD_NOT_FOUND),
    "InvalidParamsError": _json_rpc_error(ErrorCode.INVALID_PARAMS),
    "InternalError": _json_rpc_error(ErrorCode.INTERNAL_ERROR),
    "HeaderMismatchError": error_response(ErrorCode.HEADER_MISMATCH),
    "MissingRequiredClientCapabilityError": error_response(
        ErrorCode.MISSING_CLIENT_CAPABILITY,
        obj({"requiredCapabilities": ref("ClientCapabilities")}),
    ),
    "UnsupportedProtocolVersionError": error_response(
        ErrorCode.UNSUPPORTED_VERSION, obj({"requested": STRING, "supported": array(STRING)})
    ),
}

DEFINITIONS: Definitions = {
    # Whatever JSON text holds is a JSONValue; the published schema.json forgets null and fractions.
    "JSONValue": ANY,
    "JSONObject": obj(),
    "JSONArray": array(ANY),
    "ResultType": STRING,
    "Result": result(),
    "InputRequest": any_ref("CreateMessageRequest", "ListRootsRequest", "ElicitRequest"),
    "InputRequests": map_of(ref("InputRequest")),
    "InputRequiredResult": result(
        optional={"inputRequests": ref("InputRequests"), "requestState": STRING}
    ),
    "InputResponse": any_ref("CreateMessageResult", "ListRootsResult", "ElicitResult"),
    "InputResponses": map_of(ref("InputResponse")),
    "RequestParams": request_params(),
    "PaginatedRequestParams": request_params(optional={"cursor": STRING}),
    "NotificationParams": notification_params(),
    "CancelledNotificationParams": notification_params(
        {"requestId": ref("RequestId")}, {"reason": STRING}
    ),
    "ProgressNotificationParams": notification_params(
        {"progressToken": ref("ProgressToken"), "progress": NUMBER},
        {"total": NUMBER, "message": STRING},
    ),
    "DiscoverResult": cacheable_result(
        {"supportedVersions": array(STRING), "capabilities": ref("ServerCapabilities")},
        {"instructions": STRING},
    ),
    **_META_OBJECTS,
    **_CAPABILITIES,
    **_ERRORS,
}
