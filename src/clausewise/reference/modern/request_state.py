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

_LIFETIME_S = 600
_SIGNATURE_BYTES = 32
_EXPIRY_BYTES = 8


def seal(key: bytes, method: str, params: JsonObject, principal: str) -> str:
    """A state for a retry of this very request by this principal."""
    expiry = int(time.time() + _LIFETIME_S).to_bytes(_EXPIRY_BYTES, "big")
    signature = _sign(key, expiry, method, params, principal)
    return base64.urlsafe_b64encode(expiry + signature).decode("ascii")


def verify(key: bytes, state: object, method: str, params: JsonObject, principal: str) -> None:
    """Accept only a state that `seal` gave for this request.

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
    expiry, signature = sealed[:_EXPIRY_BYTES], sealed[_EXPIRY_BYTES:]
    due = _sign(key, expiry, method, params, principal)
    if len(signature) != _SIGNATURE_BYTES or not hmac.compare_digest(signature, due):
        raise refused
    if int.from_bytes(expiry, "big") < time.time():
        raise refused


def _sign(key: bytes, expiry: bytes, method: str, params: JsonObject, principal: str) -> bytes:
    salient = {name: params.get(name) for name in ("name", "uri", "arguments")}
    message = expiry + encode({"method": method, "principal": principal, "salient": salient})
    return hmac.new(key, message, hashlib.sha256).digest()
