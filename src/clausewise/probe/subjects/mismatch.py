"""Judge the answer to a request whose headers are at fault: HTTP 400 with error -32020 is due.

Source: 2026-07-28, basic/transports/streamable-http, Server Validation.
"""

from __future__ import annotations

from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke, held, inconclusive
from clausewise.wire.codes import ErrorCode

EXPECTED = f"HTTP 400, error {ErrorCode.HEADER_MISMATCH.value}"

_GATEWAYS = ("awselb", "caddy", "cloudflare", "cloudfront", "envoy", "haproxy", "nginx", "traefik")
_PASSED_ON = ("via", "cf-ray", "x-amz-cf-id", "x-cache", "x-served-by")


def is_mismatch(reply: Reply) -> bool:
    """Whether the request is refused with the code of `HeaderMismatch`, whatever the status."""
    return reply.code == ErrorCode.HEADER_MISMATCH


def is_refused(reply: Reply) -> bool:
    """Whether the request is refused as a header fault must be."""
    return is_mismatch(reply) and reply.status == 400


def refusal(reply: Reply, message: str) -> Observation:
    """Judge the answer to a request with one fault in its headers.

    Args:
        reply: the answer.
        message: the finding where the fault is not refused as it must be.
    """
    if is_refused(reply):
        return held()
    blocked = _not_the_server(reply)
    if blocked is not None:
        return inconclusive(blocked)
    return broke(message, seen=reply.shown, expected=EXPECTED, evidence=reply)


def acceptance(reply: Reply, message: str, expected: str) -> Observation:
    """Judge the answer to a request whose headers keep the rules, if in an unusual way.

    The conforming request like it is known not to be refused for its headers.
    """
    if is_mismatch(reply):
        return broke(message, seen=reply.shown, expected=expected, evidence=reply)
    if reply.message is None:
        return inconclusive(reply.barred or f"{reply.request.method} got {reply.shown}")
    return held()


def _not_the_server(reply: Reply) -> str | None:
    """Why the answer is not, or may not be, the server's own; or None."""
    if reply.barred is not None:
        return reply.barred
    if reply.status == 400 and reply.message is None and _comes_from_gateway(reply):
        return "HTTP 400 without a JSON-RPC error from a gateway, which need not give one"
    return None


def _comes_from_gateway(reply: Reply) -> bool:
    server = (reply.header("server") or "").lower()
    return server.startswith(_GATEWAYS) or any(reply.header(name) for name in _PASSED_ON)
