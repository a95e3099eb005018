"""Our rules about what tools take and give (CW-TOL-003, CW-TOL-004, CW-DSC-001)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clausewise.judge.subjects.annotations import annotations_of
from clausewise.judge.subjects.schema_documents import dialect_of, fault_of
from clausewise.judge.subjects.tool_schemas import UndecidableError, compiled, misfit_of
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.offered import ToolCall
from clausewise.probe.registration import passive, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.named_requests import NAME_IT
from clausewise.probe.subjects.tour import INPUT_REQUIRED, results, tour
from clausewise.probe.wording import named
from clausewise.wire.codes import ErrorCode
from clausewise.wire.meta import META_CAPABILITIES

_MISFITS: Mapping[str, Any] = {
    "number": {},
    "integer": {},
    "boolean": {},
    "array": {},
    "object": 7,
}
"""A value that no server can take for one of the type."""

_MAX_CALLS = 3


@probe("CW-TOL-003", needs=("tools",), impact="calls")
async def structured_result_fits_its_schema(peer: Peer) -> Observation:
    """A tool with an `outputSchema` gives a result without fitting `structuredContent`.

    Why: clients validate the structured result, and programs read members that the schema
    promises.

    Fix: return `structuredContent` that fits the schema with every result that is no error.
    """
    tools = {str(tool.get("name")): tool for tool in (await peer.pages("tools/list")).items}
    parts: list[tuple[tuple[str, ...], Observation]] = []
    for visit in results(await tour(peer), "tools/call"):
        schema = tools.get(visit.request.name, {}).get("outputSchema")
        if isinstance(schema, dict) and visit.reply.succeeded:
            seen = _structured(visit.reply, schema)
            parts.append((tuple(fault.message for fault in seen.faults), seen))
    nothing = f"no tool with an output schema that may be called gave a result; {NAME_IT}"
    return once_each(parts) if parts else not_observed(nothing)


def _structured(reply: Reply, schema: dict[str, Any]) -> Observation:
    name = named((reply.request.params or {}).get("name"))
    dialect = dialect_of(schema)
    if dialect is None or fault_of(schema, dialect) is not None:
        return not_observed(f"the output schema of tool {name} cannot be used (MCP-SCH-006)")
    if "structuredContent" not in reply.fields:
        seen = "no structuredContent"
    else:
        try:
            misfit = misfit_of(compiled(schema, dialect), reply.fields["structuredContent"])
        except UndecidableError as error:
            return inconclusive(f"tool {name}: {error}")
        if misfit is None:
            return held()
        seen = misfit
    return broke(
        f"the result of tool {name} does not fit its output schema",
        seen=seen,
        expected="structuredContent that fits the outputSchema of the tool",
        evidence=reply,
    )


@probe("CW-TOL-004", needs=("tools",), impact="calls")
async def wrong_arguments_are_refused(peer: Peer) -> Observation:
    """A tool is called with an argument of a wrong type, and runs.

    Why: what was never meant to reach the tool reaches it: code that expects a number gets
    an object of the caller's making.

    Fix: validate the arguments against `inputSchema` before the tool runs; answer what does
    not fit with `isError` or error -32602.
    """
    served = {v.request.name for v in results(await tour(peer), "tools/call")}
    parts: list[tuple[str, Observation]] = []
    async for call in _wrong_calls(peer, served):
        reply = await peer.request(
            "tools/call", call.params, timeout_s=peer.tool_s, rule="CW-TOL-004"
        )
        parts.append(("", _refused(reply, call)))
    nothing = f"no tool that may be called has a required number, boolean or object; {NAME_IT}"
    return once_each(parts) if parts else not_observed(nothing)


async def _wrong_calls(peer: Peer, served: set[str]) -> Any:
    """Calls like those that are served, but for one argument of another type."""
    tools = {str(tool.get("name")): tool for tool in (await peer.pages("tools/list")).items}
    made = 0
    for call in await peer.callable_tools():
        tool = tools.get(call.name, {})
        # With a header of its own the argument would break another rule as well.
        if call.name not in served or annotations_of(tool) or made == _MAX_CALLS:
            continue
        wrong = next(_wrong_arguments(tool.get("inputSchema"), call.arguments), None)
        if wrong is not None:
            made += 1
            yield ToolCall(call.name, wrong)


def _wrong_arguments(schema: Any, arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for name in arguments:
        described = properties.get(name)
        kind = described.get("type") if isinstance(described, dict) else None
        if isinstance(kind, str) and kind in _MISFITS:
            yield {**arguments, name: _MISFITS[kind]}


def _refused(reply: Reply, call: ToolCall) -> Observation:
    if reply.error is not None or reply.fields.get("isError") is True:
        return held()
    if reply.message is None:
        return inconclusive(reply.blocked or f"the call got {reply.shown}")
    if reply.fields.get("resultType") == INPUT_REQUIRED:
        return inconclusive(f"tool {named(call.name)} asks for input first")
    return broke(
        f"tool {named(call.name)} runs with an argument of a wrong type",
        seen=f"a result for arguments {call.arguments}",
        expected=f"isError true, or error {ErrorCode.INVALID_PARAMS.value}",
        evidence=reply,
    )


@passive("CW-DSC-001")
def extension_needs_both_parties(traffic: Traffic) -> Observation:
    """A result has a type that only an extension defines, which the client did not declare.

    Why: a client must treat a result of a type it does not know as invalid; the answer is
    lost on it.

    Fix: use what an extension adds only for requests whose clientCapabilities declare it;
    else answer as the core protocol says, or with an error.
    """
    advertised = traffic.extensions
    if not advertised:
        return not_applicable("the server advertises no extension")
    return once_each(
        (str(reply.fields["resultType"]), _core_type(reply))
        for reply in traffic.results
        if isinstance(reply.fields.get("resultType"), str)
        if not advertised & _declared(reply)
    )


def _declared(reply: Reply) -> frozenset[str]:
    meta = (reply.request.params or {}).get("_meta")
    capabilities = meta.get(META_CAPABILITIES) if isinstance(meta, dict) else None
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return frozenset(extensions) if isinstance(extensions, dict) else frozenset()


def _core_type(reply: Reply) -> Observation:
    kind = reply.fields["resultType"]
    if kind in ("complete", INPUT_REQUIRED):
        return held()
    if kind == "task":
        return not_observed("a task that the client did not declare is MCP-RES-002's finding")
    return broke(
        f"the result of {reply.request.method} is of an extension that was not declared",
        seen=f"resultType {named(kind)}, and no extension in clientCapabilities",
        expected='"complete", or an error',
        evidence=reply,
    )
