"""Rules about the schemas of tools, all judged on what is listed (SCH-001 to SCH-006)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.judge.subjects.annotations import (
    KEYWORD,
    SAFE_INTEGER,
    Annotation,
    annotations_of,
    collisions,
)
from clausewise.judge.subjects.schema_documents import SchemaFault, dialect_of, fault_of
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
)
from clausewise.probe.registration import probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.listed import Listed, judge_tools
from clausewise.probe.wording import named

JudgeOne = Callable[[Listed, Annotation], Observation]

NO_ANNOTATION = "no tool has an x-mcp-header annotation"


async def _each_annotation(peer: Peer, judge: JudgeOne) -> Observation:
    """Judge every annotation of every tool, wherever in the schema it stands."""

    def judge_tool(tool: Listed) -> Observation | None:
        annotations = annotations_of(tool.definition)
        if annotations is None:
            return _too_large(tool)
        return merged(judge(tool, one) for one in annotations) if annotations else None

    return await judge_tools(peer, judge_tool, NO_ANNOTATION)


def _too_large(tool: Listed) -> Observation:
    return inconclusive(f"the input schema of {tool.shown} is too large to search")


def _wrong(
    tool: Listed,
    annotation: Annotation,
    message: str,
    expected: str,
    severity: Outcome | None = None,
) -> Observation:
    return broke(
        f"{message} in tool {tool.shown}",
        seen=f"{KEYWORD} {named(annotation.value)} at {annotation.where}",
        expected=expected,
        severity=severity,
        evidence=tool.reply,
    )


@probe("MCP-SCH-001", needs=("tools",))
async def annotation_is_a_token(peer: Peer) -> Observation:
    """An `x-mcp-header` is empty or holds characters that no header name may have.

    Why: clients make the header name of it; they must drop a tool for which they cannot.

    Fix: write 1 or more of the letters, digits and !#$%&'*+-.^_`|~ that RFC 9110 allows.
    """
    return await _each_annotation(peer, _token)


def _token(tool: Listed, annotation: Annotation) -> Observation:
    if annotation.has_control_character:
        return not_applicable("the control character in it is MCP-SCH-002's finding")
    if annotation.is_token:
        return held()
    return _wrong(
        tool, annotation, "an x-mcp-header is no header name", "a token of RFC 9110, not empty"
    )


@probe("MCP-SCH-002", needs=("tools",))
async def annotation_has_no_control_character(peer: Peer) -> Observation:
    """An `x-mcp-header` holds a control character, such as CR or LF.

    Why: in a client that does not check, it ends the header and begins another one of the
    server's choosing.

    Fix: leave control characters out of the value.
    """
    return await _each_annotation(peer, _no_control)


def _no_control(tool: Listed, annotation: Annotation) -> Observation:
    if not annotation.has_control_character:
        return held()
    return _wrong(
        tool, annotation, "an x-mcp-header has a control character", "no CR, LF or other control"
    )


@probe("MCP-SCH-003", needs=("tools",))
async def annotations_are_unique(peer: Peer) -> Observation:
    """Two `x-mcp-header` annotations of one tool give the same header name, case aside.

    Why: one header cannot carry two parameters; clients must drop the tool.

    Fix: give each annotated parameter of a tool a header name of its own.
    """

    def judge(tool: Listed) -> Observation | None:
        annotations = annotations_of(tool.definition)
        if annotations is None:
            return _too_large(tool)
        if len(annotations) < 2:
            return None
        shared = collisions(annotations)
        places = [one for one in annotations if one.is_token and one.value.lower() in shared]
        if not places:
            return held()
        return broke(
            f"annotations of tool {tool.shown} give the same header name",
            seen=", ".join(f"{named(one.value)} at {one.where}" for one in places[:4]),
            expected="names that differ by more than case",
            evidence=tool.reply,
        )

    return await judge_tools(peer, judge, "no tool has two x-mcp-header annotations")


@probe("MCP-SCH-004", needs=("tools",))
async def annotated_parameter_is_primitive(peer: Peer) -> Observation:
    """An `x-mcp-header` is on a parameter that is no string, integer or boolean.

    Why: other values have no one text form, so client and server would make different
    headers of them; clients must drop the tool.

    Fix: annotate parameters of type `string`, `integer` (within ±(2^53-1)) or `boolean`
    only; `number` is not allowed.
    """
    return await _each_annotation(peer, _primitive)


def _primitive(tool: Listed, annotation: Annotation) -> Observation:
    if annotation.parameter is None:
        return not_applicable("an annotation that is no parameter's is MCP-SCH-005's finding")
    kinds = annotation.types
    due = 'type "string", "integer" or "boolean"'
    if not kinds:
        message = "an x-mcp-header is on a parameter without a type"
        return _wrong(tool, annotation, message, due, Outcome.WARN)
    shown = " or ".join(str(kind) for kind in kinds)
    if not annotation.has_primitive_type:
        message = f"an x-mcp-header is on a parameter of type {shown}"
        return _wrong(tool, annotation, message, due)
    unsafe = _beyond_range(annotation) if "integer" in kinds else None
    if unsafe is not None:
        keyword, severity = unsafe
        message = f"an annotated integer has a {keyword} that JavaScript cannot keep exact"
        return _wrong(tool, annotation, message, "integers within ±(2^53-1)", severity)
    note = f"{tool.shown}: {annotation.where} is of type {shown}" if len(kinds) > 1 else None
    return held(note=note)


def _beyond_range(annotation: Annotation) -> tuple[str, Outcome | None] | None:
    """The keyword whose value is out of range, and the severity: limits only permit it."""
    schema = annotation.schema
    values = schema.get("enum")
    if isinstance(values, list) and any(map(_is_unsafe, values)):
        return "enum", None
    for keyword in ("const", "default"):
        if _is_unsafe(schema.get(keyword)):
            return keyword, None
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if _is_unsafe(schema.get(keyword)):
            return keyword, Outcome.INFO
    return None


def _is_unsafe(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) > SAFE_INTEGER


@probe("MCP-SCH-005", needs=("tools",))
async def annotated_parameter_has_a_path(peer: Peer) -> Observation:
    """An `x-mcp-header` is where `properties` alone do not lead: in items, choices, definitions.

    Why: clients read the value at one fixed path; where there is none, they must drop the
    tool.

    Fix: annotate properties of the root, or of objects that `properties` alone lead to.
    """
    return await _each_annotation(peer, _reachable)


def _reachable(tool: Listed, annotation: Annotation) -> Observation:
    if annotation.parameter is not None:
        return held()
    message = "an x-mcp-header is not on a property that properties alone lead to"
    return _wrong(tool, annotation, message, "a chain of properties keys from the root")


@probe("MCP-SCH-006", needs=("tools",))
async def tool_schemas_are_valid(peer: Peer) -> Observation:
    """An `inputSchema` or `outputSchema` is no valid schema of its dialect.

    Why: neither the client's validator nor the model's provider can use it, so the tool is
    dropped or called with wrong arguments.

    Fix: write JSON Schema 2020-12, or name another dialect in `$schema`; give `inputSchema`
    the type `object`.
    """
    return await judge_tools(peer, _valid_schemas, "no tool is listed")


def _valid_schemas(tool: Listed) -> Observation:
    return once_each((member, seen) for member, seen in _schema_parts(tool))


def _schema_parts(tool: Listed) -> Iterator[tuple[Hashable, Observation]]:
    definition: Mapping[str, Any] = tool.definition
    yield "inputSchema", _valid_schema(tool, "inputSchema", is_input=True)
    if "outputSchema" in definition:
        yield "outputSchema", _valid_schema(tool, "outputSchema", is_input=False)


def _valid_schema(tool: Listed, member: str, *, is_input: bool) -> Observation:
    schema = tool.definition.get(member)
    if not isinstance(schema, dict):
        given = f"is {named(schema)}" if member in tool.definition else "is absent"
        return _invalid(tool, member, given, "a JSON Schema object")
    if is_input and schema.get("type") != "object":
        given = f"has type {named(schema['type'])}" if "type" in schema else "has no type"
        return _invalid(tool, member, f"{given} at its root", 'type "object" at the root')
    dialect = dialect_of(schema)
    if dialect is None:
        return inconclusive(
            f"the {member} of {tool.shown} is of the dialect {named(schema['$schema'])}, "
            "which is not supported here"
        )
    fault = fault_of(schema, dialect)
    return held() if fault is None else _faulty(tool, member, fault, f"valid by {dialect}")


def _faulty(tool: Listed, member: str, fault: SchemaFault, expected: str) -> Observation:
    if fault.undecidable is not None:
        return inconclusive(f"the {member} of {tool.shown}: {fault.undecidable}")
    if fault.grave:
        return _invalid(tool, member, fault.seen, expected)
    return broke(
        f"a reference in the {member} of tool {tool.shown} leads nowhere",
        seen=fault.seen,
        expected="a $ref to something in the schema",
        severity=Outcome.WARN,
        evidence=tool.reply,
    )


def _invalid(tool: Listed, member: str, seen: str, expected: str) -> Observation:
    return broke(
        f"the {member} of tool {tool.shown} is not valid",
        seen=f"{member} {seen}",
        expected=expected,
        evidence=tool.reply,
    )
