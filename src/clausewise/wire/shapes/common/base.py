"""JSON-RPC messages, ids, tokens and errors: schema#json-rpc, schema#common-types."""

from __future__ import annotations

from clausewise.wire.shapes.notation import (
    ANY,
    INTEGER,
    JSONRPC_VERSION,
    REQUEST_ENVELOPE,
    STRING,
    URI,
    Definitions,
    Schema,
    any_ref,
    array,
    obj,
    one_of,
    ref,
)

_STRING_OR_INTEGER: Schema = {"type": ["string", "integer"]}

DEFINITIONS: Definitions = {
    "RequestId": _STRING_OR_INTEGER,
    "ProgressToken": _STRING_OR_INTEGER,
    "Cursor": STRING,
    "Role": one_of("user", "assistant"),
    "LoggingLevel": one_of(
        "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
    ),
    "MetaObject": obj(),
    "EmptyResult": ref("Result"),
    "Error": obj({"code": INTEGER, "message": STRING}, {"data": ANY}),
    "JSONRPCRequest": obj({**REQUEST_ENVELOPE, "method": STRING}, {"params": obj()}),
    "JSONRPCNotification": obj({**JSONRPC_VERSION, "method": STRING}, {"params": obj()}),
    "JSONRPCResultResponse": obj({**REQUEST_ENVELOPE, "result": ref("Result")}),
    "JSONRPCErrorResponse": obj(
        {**JSONRPC_VERSION, "error": ref("Error")}, {"id": ref("RequestId")}
    ),
    "JSONRPCResponse": any_ref("JSONRPCResultResponse", "JSONRPCErrorResponse"),
    "JSONRPCMessage": any_ref(
        "JSONRPCRequest", "JSONRPCNotification", "JSONRPCResultResponse", "JSONRPCErrorResponse"
    ),
    "Icon": obj(
        {"src": URI},
        {"mimeType": STRING, "sizes": array(STRING), "theme": one_of("light", "dark")},
    ),
    "Implementation": obj(
        {"name": STRING, "version": STRING},
        {
            "title": STRING,
            "description": STRING,
            "websiteUrl": URI,
            "icons": array(ref("Icon")),
        },
    ),
}
