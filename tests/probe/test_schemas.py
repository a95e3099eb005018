"""Rules SCH-001 to SCH-007, SEC-005 and SEC-006: all judged on what is listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome
from tests.probe.fake_server import Fault, Reply, Request
from tests.probe.fault_making import PROMPT_LIST, TOOL_LIST, error
from tests.probe.running import Recorded, probe_fake

FAIL, WARN, INFO = Outcome.FAIL, Outcome.WARN, Outcome.INFO
INCONCLUSIVE, NOT_APPLICABLE = Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = Any


def listing(*tools: Any, method: str = TOOL_LIST) -> Fault:
    """The fake server with these tools (or other entries) on one page."""
    member = method.partition("/")[0]

    def fault(request: Request, reply: Reply) -> Reply:
        if request.method != method or "result" not in reply.response:
            return reply
        return reply.with_result(**{member: list(tools)}, nextCursor=...)

    return fault


def tool(schema: Schema, **members: Any) -> Any:
    return {"name": "query", "inputSchema": schema, **members}


def annotated(value: Any = "Region", **schema: Any) -> Schema:
    return {"type": "string", "x-mcp-header": value, **schema}


def parameters(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties}


def judged(group: str, *tools: Any) -> Recorded:
    return probe_fake(listing(*tools), group)


def broken(run: Recorded) -> Mapping[str, Outcome]:
    found = (FAIL, WARN, INFO, INCONCLUSIVE, Outcome.CRASHED)
    return {v.id: v.outcome for v in run.run.verdicts if v.outcome in found}


NESTED = parameters(options=parameters(region=annotated()))
TWICE = "MCP-SCH-003"
ANNOTATIONS: dict[str, tuple[Schema, Mapping[str, Outcome]]] = {
    "plain": (parameters(a=annotated()), {}),
    "nested": (NESTED, {}),
    "named-method": (parameters(a=annotated("Method")), {}),
    "every-token-character": (parameters(a=annotated("!#$%&'*+-.^_`|~09azAZ")), {}),
    "property-of-that-name": (parameters(**{"x-mcp-header": {"type": "number"}}), {}),
    "property-named-items": (parameters(items=annotated(), oneOf=annotated("B")), {}),
    "in-data": (
        parameters(a={"type": "object", "default": annotated(""), "enum": [annotated("")]}),
        {},
    ),
    "empty": (parameters(a=annotated("")), {"MCP-SCH-001": FAIL}),
    "number": (parameters(a=annotated(1)), {"MCP-SCH-001": FAIL}),
    "null": (parameters(a=annotated(None)), {"MCP-SCH-001": FAIL}),
    "space": (parameters(a=annotated("My Region")), {"MCP-SCH-001": FAIL}),
    "colon": (parameters(a=annotated("Region:")), {"MCP-SCH-001": FAIL}),
    "non-ascii": (parameters(a=annotated("Région")), {"MCP-SCH-001": FAIL}),
    "nested-empty": (parameters(o=parameters(a=annotated(""))), {"MCP-SCH-001": FAIL}),
    "carriage-return": (parameters(a=annotated("A\r\nB")), {"MCP-SCH-002": FAIL}),
    "delete": (parameters(a=annotated("A\x7f")), {"MCP-SCH-002": FAIL}),
    "collision": (parameters(a=annotated("A"), b=annotated("a")), {TWICE: FAIL}),
    "nested-collision": (
        parameters(a=annotated("A"), o=parameters(b=annotated("A"))),
        {TWICE: FAIL},
    ),
    "kelvin-sign": (
        parameters(a=annotated("\u212a"), b=annotated("k")),
        {"MCP-SCH-001": FAIL},
    ),
    "integer": (parameters(a=annotated(type="integer")), {}),
    "boolean": (parameters(a=annotated(type="boolean")), {}),
    "of-type-number": (parameters(a=annotated(type="number")), {"MCP-SCH-004": FAIL}),
    "number-of-ones": (
        parameters(a=annotated(type="number", multipleOf=1)),
        {"MCP-SCH-004": FAIL},
    ),
    "object": (parameters(a=annotated(type="object")), {"MCP-SCH-004": FAIL}),
    "only-null": (parameters(a=annotated(type="null")), {"MCP-SCH-004": FAIL}),
    "number-or-null": (parameters(a=annotated(type=["number", "null"])), {"MCP-SCH-004": FAIL}),
    "nullable": (parameters(a=annotated(type=["string", "null"])), {}),
    "untyped": (parameters(a={"enum": ["x"], "x-mcp-header": "A"}), {"MCP-SCH-004": WARN}),
    "unsafe-default": (
        parameters(a=annotated(type="integer", default=2**53)),
        {"MCP-SCH-004": FAIL},
    ),
    "unsafe-maximum": (
        parameters(a=annotated(type="integer", maximum=2**60)),
        {"MCP-SCH-004": INFO},
    ),
    "safe-maximum": (parameters(a=annotated(type="integer", maximum=2**53 - 1)), {}),
    "at-the-root": ({"type": "object", "x-mcp-header": "A"}, {"MCP-SCH-005": FAIL}),
    "in-items": (
        parameters(a={"type": "array", "items": annotated()}),
        {"MCP-SCH-005": FAIL},
    ),
    "in-a-choice": (
        {"type": "object", "anyOf": [parameters(a=annotated())]},
        {"MCP-SCH-005": FAIL},
    ),
    "in-a-condition": (
        {"type": "object", "if": parameters(a=annotated())},
        {"MCP-SCH-005": FAIL},
    ),
    "in-an-unused-definition": (
        {"type": "object", "$defs": {"a": annotated()}},
        {"MCP-SCH-005": FAIL},
    ),
    "properties-in-additional-properties": (
        parameters(a={"type": "object", "additionalProperties": annotated()}),
        {"MCP-SCH-005": FAIL},
    ),
}


@pytest.mark.parametrize("case", ANNOTATIONS)
def test_an_annotation_breaks_its_own_rules_only(case: str) -> None:
    schema, expected = ANNOTATIONS[case]
    assert broken(judged("MCP-SCH-00", tool(schema))) == expected


def test_without_annotations_their_rules_do_not_apply() -> None:
    run = judged("MCP-SCH", tool(parameters(a={"type": "string"})))
    for number in range(1, 6):
        assert run[f"MCP-SCH-00{number}"].outcome is NOT_APPLICABLE


def test_annotations_of_different_tools_may_be_equal() -> None:
    tools = [tool(parameters(a=annotated()), name=name) for name in ("one", "two")]
    assert broken(judged("MCP-SCH", *tools)) == {}


def test_a_nullable_parameter_passes_with_a_note() -> None:
    run = judged("MCP-SCH-004", tool(parameters(a=annotated(type=["string", "null"]))))
    assert run["MCP-SCH-004"].outcome is Outcome.PASS
    assert any("string or null" in note for note in run.run.notes)


def test_a_finding_names_the_tool_and_the_place() -> None:
    (finding,) = judged("MCP-SCH-001", tool(NESTED | parameters(o=parameters(a=annotated("")))))[
        "MCP-SCH-001"
    ].findings
    assert '"query"' in finding.message
    assert finding.seen.endswith("/properties/o/properties/a")


def test_tools_on_a_later_page_are_judged() -> None:
    def fault(request: Request, reply: Reply) -> Reply:
        if request.method != TOOL_LIST or request.params.get("cursor") != "2":
            return reply
        return reply.with_result(tools=[tool(parameters(a=annotated("")))])

    assert broken(probe_fake(fault, "MCP-SCH")) == {"MCP-SCH-001": FAIL}


def test_a_list_that_breaks_off_is_inconclusive_unless_a_fault_was_seen() -> None:
    def fault(request: Request, reply: Reply) -> Reply | None:
        if request.method == TOOL_LIST and request.params.get("cursor") == "2":
            return error(-32603, status=500)(reply)
        return reply

    seen = broken(probe_fake(fault, "MCP-SCH-006"))
    assert seen == {"MCP-SCH-006": INCONCLUSIVE}


SCHEMAS: dict[str, tuple[Any, Mapping[str, Outcome]]] = {
    "absent": ({"name": "query"}, {"MCP-SCH-006": FAIL}),
    "null": (tool(None), {"MCP-SCH-006": FAIL}),
    "boolean": (tool(True), {"MCP-SCH-006": FAIL}),
    "array": (tool([]), {"MCP-SCH-006": FAIL}),
    "no-type": (tool({"properties": {}}), {"MCP-SCH-006": FAIL}),
    "string": (tool({"type": "string"}), {"MCP-SCH-006": FAIL}),
    "unknown-type": (tool(parameters(a={"type": "text"})), {"MCP-SCH-006": FAIL}),
    "draft-07": (
        tool(
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "definitions": {"a": {"type": "string"}},
                "properties": {"a": {"$ref": "#/definitions/a"}},
            }
        ),
        {},
    ),
    "draft-07-array-items": (
        tool(
            {
                "$schema": "https://json-schema.org/draft-07/schema",
                "type": "object",
                "properties": {"a": {"type": "array", "items": [{"type": "string"}]}},
            }
        ),
        {},
    ),
    "2020-12-array-items": (
        tool(parameters(a={"type": "array", "items": [{"type": "string"}]})),
        {"MCP-SCH-006": FAIL},
    ),
    "unknown-dialect": (
        tool({"$schema": "https://schemas.example/mine", "type": "object"}),
        {"MCP-SCH-006": INCONCLUSIVE},
    ),
    "unknown-keyword-and-format": (
        tool(parameters(a={"type": "string", "format": "colour", "x-ui": 1})),
        {},
    ),
    "dangling": (tool(parameters(a={"$ref": "#/$defs/a"})), {"MCP-SCH-006": WARN}),
    "output-of-any-type": (tool({"type": "object"}, outputSchema={"type": "array"}), {}),
    "output-null": (tool({"type": "object"}, outputSchema=None), {"MCP-SCH-006": FAIL}),
}


@pytest.mark.parametrize("case", SCHEMAS)
def test_a_schema_is_judged_by_its_dialect(case: str) -> None:
    definition, expected = SCHEMAS[case]
    assert broken(judged("MCP-SCH-006", definition)) == expected


NAMES: dict[str, tuple[tuple[str, ...], Outcome]] = {
    "usual": (("get_user", "DATA.export-2"), Outcome.PASS),
    "long": (("a" * 128,), Outcome.PASS),
    "too-long": (("a" * 129,), WARN),
    "empty": (("",), WARN),
    "slash": (("users/get",), WARN),
    "space": (("get user",), WARN),
    "non-ascii": (("größe",), WARN),
    "twice": (("get", "get"), WARN),
    "case-differs": (("get", "Get"), Outcome.PASS),
}


@pytest.mark.parametrize("case", NAMES)
def test_tool_names_are_judged_by_the_set_of_the_tools_page(case: str) -> None:
    names, expected = NAMES[case]
    run = judged("MCP-SCH-007", *(tool({"type": "object"}, name=name) for name in names))
    assert run["MCP-SCH-007"].outcome is expected


def test_many_names_of_one_fault_are_one_finding() -> None:
    tools = [tool({"type": "object"}, name=f"n/{i}") for i in range(9)]
    (finding,) = judged("MCP-SCH-007", *tools)["MCP-SCH-007"].findings
    assert finding.seen.endswith("and 4 more")


@pytest.mark.parametrize(
    ("name", "expected"), [("a b/c", Outcome.PASS), ("größe", WARN), (" a", WARN)]
)
def test_a_prompt_name_warns_only_where_a_header_cannot_carry_it(
    name: str, expected: Outcome
) -> None:
    run = probe_fake(listing({"name": name}, method=PROMPT_LIST), "MCP-SCH-007")
    assert run["MCP-SCH-007"].outcome is expected


def test_names_of_resources_are_free() -> None:
    resource = {"uri": "file:///größe", "name": "Größe, überall"}
    run = probe_fake(listing(resource, method="resources/list"), "MCP-SCH-007")
    assert run["MCP-SCH-007"].outcome is Outcome.PASS


REFERENCES: dict[str, tuple[Schema, Mapping[str, Outcome]]] = {
    "local": (parameters(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": {}}}, {}),
    "own-id": (
        {
            "$id": "https://x.example/s",
            "type": "object",
            "properties": {"a": {"$ref": "s#/$defs/a"}},
        },
        {},
    ),
    "embedded": (
        {
            "$id": "https://x.example/s",
            "type": "object",
            "properties": {"a": {"$ref": "part"}},
            "$defs": {"part": {"$id": "part", "type": "string"}},
        },
        {},
    ),
    "relative-to-the-network": (
        {"$id": "https://x.example/s", "type": "object", "properties": {"a": {"$ref": "b"}}},
        {"MCP-SEC-005": WARN},
    ),
    "network": (parameters(a={"$ref": "https://x.example/a"}), {"MCP-SEC-005": WARN}),
    "dynamic": (parameters(a={"$dynamicRef": "http://x.example/a#b"}), {"MCP-SEC-005": WARN}),
    "metaschema": (parameters(a={"$ref": DIALECT}), {"MCP-SEC-005": INFO}),
    "property-named-ref": (parameters(**{"$ref": {"const": "https://x.example/a"}}), {}),
    "in-data": (parameters(a={"default": {"$ref": "https://x.example/a"}}), {}),
    "declared-dialect": ({"$schema": DIALECT, "type": "object"}, {}),
    "another-scheme": (parameters(a={"$ref": "urn:x:y"}), {}),
}


@pytest.mark.parametrize("case", REFERENCES)
def test_only_a_reference_to_the_network_warns(case: str) -> None:
    schema, expected = REFERENCES[case]
    assert broken(judged("MCP-SEC-005", tool(schema))) == expected


def nested(levels: int) -> Schema:
    schema: Schema = {"type": "string"}
    for _ in range(levels - 1):
        schema = {"type": "array", "items": schema}
    return parameters(a=schema)


SIZES: dict[str, tuple[Schema, Mapping[str, Outcome]]] = {
    "deep": (nested(64), {}),
    "too-deep": (nested(65), {"MCP-SEC-006": WARN}),
    "recursive": (parameters(a={"$ref": "#"}), {}),
    "many": (parameters(**{f"p{i}": {} for i in range(4999)}), {}),
    "too-many": (parameters(**{f"p{i}": {} for i in range(5000)}), {"MCP-SEC-006": WARN}),
    "too-long": (parameters(a={"description": "x" * 1_048_576}), {"MCP-SEC-006": WARN}),
}


@pytest.mark.parametrize("case", SIZES)
def test_a_schema_beyond_the_printed_bounds_warns(case: str) -> None:
    schema, expected = SIZES[case]
    run = judged("MCP-SEC-006", tool(schema))
    assert broken(run) == expected
    for finding in run["MCP-SEC-006"].findings:
        assert "64 levels, 5000 schemas and 1048576 bytes" in finding.expected
