"""`requestState` of multi round-trip requests: signed, short-lived, bound to its request.

Source: basic/patterns/mrtr#server-requirements-basic-workflow.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time

from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError, encode
from clausewise.wire.jsontext import decode

_LIFETIME_S = 600
_SIGNATURE_BYTES = 32
_EXPIRY_BYTES = 8


def seal(key: bytes, answers: JsonObject, method: str, params: JsonObject, principal: str) -> str:
    """A state for a retry of this very request by this principal, with the answers so far."""
    expiry = int(time.time() + _LIFETIME_S).to_bytes(_EXPIRY_BYTES, "big")
    payload = expiry + encode(answers)
    signature = _sign(key, payload, method, params, principal)
    return base64.urlsafe_b64encode(signature + payload).decode("ascii")


def open_sealed(
    key: bytes, state: object, method: str, params: JsonObject, principal: str
) -> JsonObject:
    """The answers in a state that `seal` gave for this request.

    Raises:
        RpcError: forged, altered, expired, or of another request or principal.
    """
    refused = RpcError(INVALID_PARAMS, "params.requestState is not valid for this request")
    if not isinstance(state, str):
        raise refused
    try:
        sealed = base64.b64decode(state, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise refused from None
    signature, payload = sealed[:_SIGNATURE_BYTES], sealed[_SIGNATURE_BYTES:]
    due = _sign(key, payload, method, params, principal)
    if not hmac.compare_digest(signature, due):
        raise refused
    if int.from_bytes(payload[:_EXPIRY_BYTES], "big") < time.time():
        raise refused
    answers: JsonObject = decode(payload[_EXPIRY_BYTES:])
    return answers


def _sign(key: bytes, payload: bytes, method: str, params: JsonObject, principal: str) -> bytes:
    salient = {name: params.get(name) for name in ("name", "uri", "arguments")}
    request = encode({"method": method, "principal": principal, "salient": salient})
    message = len(payload).to_bytes(8, "big") + payload + request
    return hmac.new(key, message, hashlib.sha256).digest()
