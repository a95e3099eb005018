"""The JSON-RPC envelope of a request, before either era looks into it."""

from __future__ import annotations

from clausewise.reference.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    JsonObject,
    RpcError,
    error_response,
)
from clausewise.wire.jsonrpc import valid_id


def check_envelope(message: JsonObject) -> None:
    """The message is a JSON-RPC 2.0 request whose parts have the right types.

    Raises:
        RpcError: it is not (invalid request, or invalid params).
    """
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0"')
    if not valid_id(message.get("id")):
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    if not isinstance(message.get("method"), str):
        raise RpcError(INVALID_REQUEST, "method must be a string")
    if not isinstance(message.get("params", {}), dict):
        raise RpcError(INVALID_PARAMS, "params must be an object")


def refusal(message: JsonObject, error: RpcError) -> JsonObject:
    """The error response to a request, with its id if that is one."""
    request_id = message.get("id")
    return error_response(request_id if valid_id(request_id) else None, error)
