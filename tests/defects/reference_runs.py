"""Full checks of the reference server: every probe and every check on."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

from anyio.from_thread import start_blocking_portal

from clausewise.app import check
from clausewise.core.results import RunResult
from clausewise.core.vocabulary import Era, Outcome, TransportKind
from clausewise.probe.supplied import RegistryEntry, Supplied
from clausewise.reference.auth.protect import sample_tokens
from clausewise.reference.defects import Defect
from clausewise.reference.options import ServerLimits, ServerOptions
from clausewise.reference.server import serve_http, serve_runtime
from clausewise.transport.targets import HttpTarget, StdioTarget

BROKEN = (Outcome.FAIL, Outcome.WARN, Outcome.INFO, Outcome.CRASHED)

CREDENTIALS = (("Authorization", "Bearer of-somebody"),)

_NOBODY = "http://127.0.0.1:9"
"""A registry that is not there."""

_SOON_S = 2.0

_OPTIONS = check.CheckOptions()


def check_reference(
    era: Era,
    transport: TransportKind,
    defects: tuple[str, ...] = (),
    headers: tuple[tuple[str, str], ...] = (),
    call_tools: frozenset[str] = frozenset(),
) -> RunResult:
    """A server that everybody may use."""
    asked = replace(_OPTIONS, call_tools=call_tools)
    if transport is TransportKind.STDIO:
        command = [sys.executable, "-m", "clausewise", "reference", "server", "--stdio"]
        command += ["--era", era.value, *(f"--defect={name}" for name in defects)]
        return check.run(StdioTarget(tuple(command)), asked)
    with start_blocking_portal() as portal:
        serving = serve_http(ServerOptions(era=era, defects=defects))
        with portal.wrap_async_context_manager(serving) as url:
            return check.run(HttpTarget(url, headers), asked)


def check_protected(era: Era, defects: tuple[str, ...] = (), *, with_token: bool) -> RunResult:
    """A protected server, met with all that its rules need."""
    options = ServerOptions(era=era, defects=defects, protected=True)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_runtime(options)) as (url, runtime),
    ):
        tokens = sample_tokens(runtime.wiring.protection)
        headers = (("Authorization", f"Bearer {tokens.full}"),) if with_token else ()
        supplied = Supplied(foreign_token=tokens.foreign, low_scope_token=tokens.low_scope)
        asked = replace(_OPTIONS, supplied=supplied, call_tools=frozenset({"touch_counter"}))
        return check.run(HttpTarget(url, headers), asked)


def check_defect(defect: Defect, era: Era, transport: TransportKind) -> RunResult:
    """The server with a defect, met with all that it takes for it to show."""
    if defect.protected:
        return check_protected(era, (defect.name,), with_token=True)
    headers = CREDENTIALS if defect.credentials else ()
    return check_reference(era, transport, (defect.name,), headers, defect.call_tools)


def check_named(era: Era, *tools: str) -> RunResult:
    """A server that does not wait long for its client, of whose tools `tools` may be called."""
    with start_blocking_portal() as portal:
        serving = serve_http(ServerOptions(era=era, limits=ServerLimits(ask_s=_SOON_S)))
        with portal.wrap_async_context_manager(serving) as url:
            asked = replace(_OPTIONS, call_tools=frozenset(tools))
            return check.run(HttpTarget(url), asked)


def check_listed(era: Era) -> RunResult:
    """A server with a server.json that lists it where it is, met with credentials."""
    with start_blocking_portal() as portal:
        serving = serve_http(ServerOptions(era=era))
        with portal.wrap_async_context_manager(serving) as url:
            entry = RegistryEntry(text=_server_json(url), registry=_NOBODY)
            supplied = Supplied(registry_entry=entry)
            asked = replace(_OPTIONS, supplied=supplied)
            return check.run(HttpTarget(url, (("Authorization", "Bearer any"),)), asked)


def _server_json(url: str) -> bytes:
    entry = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.example/reference",
        "description": "The reference server.",
        "version": "1.0.0",
        "remotes": [{"type": "streamable-http", "url": url}],
    }
    return json.dumps(entry).encode()


def broken(result: RunResult) -> dict[str, list[str]]:
    """The messages of the findings of a run, by rule or clause."""
    return {
        verdict.id: [finding.message for finding in verdict.findings] or [verdict.reason or ""]
        for verdict in result.verdicts
        if verdict.outcome in BROKEN
    }
