"""Say why a target cannot be judged, and what to try next."""

from __future__ import annotations

import re
import shlex
from urllib.parse import urlsplit

from clausewise.core.errors import BarredError, TargetError
from clausewise.core.vocabulary import Revision
from clausewise.probe.conversation.link import Target
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.era_signs import supported_versions
from clausewise.trace.events import EventKind
from clausewise.transport.answers import Ending
from clausewise.transport.targets import HttpTarget, StdioTarget
from clausewise.wire.codes import ErrorCode

_TOKEN_HINT = "Give credentials with --bearer TOKEN or -H 'Name: value'."
_GATES = {
    401: ("wants a token", _TOKEN_HINT),
    403: ("forbids the request", _TOKEN_HINT),
    407: ("is behind a proxy that wants credentials", _TOKEN_HINT),
    429: ("refuses more requests for now", "Wait, then run again."),
}
_BARRING = (401, 403)


def no_mcp(
    target: Target, modern: Reply | None, legacy: Reply | None, revision: Revision | None
) -> TargetError:
    """The error for a target that speaks no MCP, or not the revision wanted.

    Args:
        target: what was tried.
        modern: the answer to `server/discover`, if it was asked.
        legacy: the answer to `initialize`, if it was asked.
        revision: the only revision wanted, if any.
    """
    reply = modern if modern is not None else legacy
    assert reply is not None
    if modern is not None and modern.code == ErrorCode.UNSUPPORTED_VERSION:
        shown = ", ".join(supported_versions(modern)) or "none"
        return TargetError(
            f"{name_of(target)} speaks no revision that Clausewise judges; it names: {shown}",
            "Clausewise judges 2025-11-25 and 2026-07-28.",
        )
    if revision is Revision.MODERN and legacy is not None and legacy.succeeded:
        return TargetError(
            f"{name_of(target)} speaks only the legacy era",
            "Run without --revision to judge its 2025-11-25 session.",
        )
    if revision is Revision.LEGACY and reply.error is not None:
        return TargetError(
            f"{name_of(target)} refuses initialize: {reply.shown}",
            "Run without --revision to judge it in the modern era.",
        )
    if isinstance(target, HttpTarget):
        return _no_mcp_over_http(target, reply, legacy)
    return _no_mcp_over_stdio(target, reply, legacy)


def http_sse_only(target: HttpTarget) -> TargetError:
    """The error for an endpoint of the HTTP+SSE transport of 2024-11-05."""
    return TargetError(
        f"{name_of(target)} is an endpoint of the deprecated HTTP+SSE transport (2024-11-05)",
        "Clausewise judges Streamable HTTP; give the URL of that endpoint, often …/mcp.",
    )


def name_of(target: Target) -> str:
    """The URL or the command line."""
    if isinstance(target, HttpTarget):
        return re.sub(r"\?.*", "", target.url)
    return shlex.join(target.command)


def _no_mcp_over_http(target: HttpTarget, reply: Reply, legacy: Reply | None) -> TargetError:
    status, url = reply.status, name_of(target)
    if status in _GATES:
        what, hint = _GATES[status]
        kind = BarredError if status in _BARRING else TargetError
        return kind(f"{url} {what} (HTTP {status})", hint)
    if status is None:
        return TargetError(
            f"{url} gave no answer to server/discover or initialize: {reply.answer.detail}",
            "Check that the server runs there, or give it more time with --timeout.",
        )
    if 300 <= status < 400:
        return TargetError(
            f"{url} redirects to {reply.header('location') or 'nowhere'} (HTTP {status})",
            "Give the final URL.",
        )
    if status >= 500 and reply.message is None:
        return TargetError(
            f"{url} fails (HTTP {status})", "Look at the server's own log, or run again later."
        )
    if reply.media_type == "text/html":
        return TargetError(
            f"{url} answers with a web page (HTTP {status}, text/html), not with MCP", _path(target)
        )
    if status in (404, 405) and reply.message is None:
        return TargetError(f"{url} is no MCP endpoint (HTTP {status})", _path(target))
    return TargetError(_neither(url, reply, legacy), _path(target))


def _no_mcp_over_stdio(target: StdioTarget, reply: Reply, legacy: Reply | None) -> TargetError:
    command = name_of(target)
    last = legacy if legacy is not None else reply
    if last.answer.ending in (Ending.RESET, Ending.REFUSED) and last.message is None:
        return TargetError(
            f"{command} stops before it answers: {last.answer.detail}",
            "Run the command by itself to see why; pass variables with --env.",
        )
    noise = next((e for e in last.answer.events if e.kind is EventKind.RAW), None)
    if noise is not None:
        return TargetError(
            f"{command} writes lines that are no JSON: {str(noise.fields.get('text'))[:80]!r}",
            "A server for stdio may write nothing but messages to stdout.",
        )
    if last.answer.ending is Ending.TIMEOUT and last.message is None:
        return TargetError(
            f"{command} answers neither server/discover nor initialize",
            "Check that it is an MCP server for stdio, or give it more time with --timeout.",
        )
    return TargetError(
        _neither(command, reply, legacy), "Check that it is an MCP server for stdio."
    )


def _neither(name: str, reply: Reply, legacy: Reply | None) -> str:
    answers = f"server/discover got {reply.shown}"
    if legacy is not None and legacy is not reply:
        answers += f"; initialize got {legacy.shown}"
    return f"{name} does not speak MCP: {answers}"


def _path(target: HttpTarget) -> str:
    parts = urlsplit(target.url)
    if parts.path.rstrip("/").endswith("/mcp"):
        return "Check the URL: it must be the MCP endpoint itself."
    return f"Check the path: many servers use {parts.scheme}://{parts.netloc}/mcp."
