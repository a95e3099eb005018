"""JSON-RPC messages as the reference server builds and encodes them."""

from __future__ import annotations

import json
from typing import Any

import orjson

JsonObject = dict[str, Any]
RequestId = str | int | float
"""A float only if it is an integer in JSON's terms, as `1.0` is."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """A request that ends in a JSON-RPC error.

    `status` is the HTTP status that goes with it; stdio has none.
    """

    def __init__(self, code: int, message: str, data: Any = None, *, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status


class ResourceNotFoundError(Exception):
    """No resource has this URI; each era has its own error code for it."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.uri = uri


def notification(method: str, params: JsonObject | None = None) -> JsonObject:
    """A JSON-RPC notification."""
    return {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})


def request(request_id: RequestId, method: str, params: JsonObject | None = None) -> JsonObject:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id} | notification(method, params)


def result_response(request_id: RequestId, result: JsonObject) -> JsonObject:
    """The JSON-RPC response that carries `result`."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_response(request_id: RequestId | None, error: RpcError) -> JsonObject:
    """The JSON-RPC response for `error`; without an id when the request's could not be read."""
    body: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    identity = {} if request_id is None else {"id": request_id}
    return {"jsonrpc": "2.0", **identity, "error": body}


class Verbatim(JsonObject):
    """A message whose bytes are given, for faults that no JSON value can have."""

    def __init__(self, text: bytes) -> None:
        super().__init__()
        self.text = text


def encode(message: JsonObject) -> bytes:
    """The message as one line of JSON, without its newline; integers of any size are exact."""
    if isinstance(message, Verbatim):
        return message.text
    try:
        return orjson.dumps(message)
    except orjson.JSONEncodeError:
        return json.dumps(message, separators=(",", ":")).encode("ascii")
