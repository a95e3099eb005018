"""Rows, declarations, and the evidence put to them."""

from __future__ import annotations

import pytest

from clausewise import registry
from clausewise.core.matrix import Evidence, EvidenceKind, Matrix, Problem, ProblemKind, Row
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.matrix.assembly import Gathered, Project, Statement, assemble
from clausewise.matrix.declarations import Declaration, DeclarationKind, declared_of
from clausewise.matrix.rows import rows_for

SERVER = Project("a server", Party.SERVER, (Revision.LEGACY,))


def shows(id_: str, outcome: Outcome = Outcome.PASS, kind: str = "test") -> Statement:
    return Statement(id_, Evidence(EvidenceKind(kind), outcome, f"{kind}.py:1", f"{kind}.py", 1))


def row(matrix: Matrix, id_: str) -> Row:
    return next(row for row in matrix.rows if row.id == id_)


@pytest.mark.parametrize("party", Party)
def test_there_is_a_row_for_each_clause_that_binds_the_party(party: Party) -> None:
    rows = rows_for(party, [Revision.LEGACY])
    due = [
        clause.id
        for clause in registry.clauses(Revision.LEGACY).values()
        if party in clause.binds and clause.level is not Level.MAY
    ]
    assert [row.id for row in rows] == due
    assert len(due) == {Party.SERVER: 225, Party.CLIENT: 202}[party]


def test_the_rules_are_rows_of_a_server_of_the_modern_revision() -> None:
    rules = [row for row in rows_for(Party.SERVER, Revision) if row.kind is SubjectKind.RULE]
    assert [row.id for row in rules] == list(registry.rules())
    assert {row.revision for row in rules} == {Revision.MODERN}
    assert not [r for r in rows_for(Party.CLIENT, Revision) if r.kind is SubjectKind.RULE]
    for rule_row in rules:
        assert rule_row.level is registry.rules()[rule_row.id].effective_level


def test_a_row_links_to_the_sentence_and_says_why_no_recording_shows_it() -> None:
    rows = {row.id: row for row in rows_for(Party.SERVER, [Revision.LEGACY])}
    assert ":~:text=" in rows["BASE-003"].url
    assert rows["BASE-003"].excluded is None
    assert rows["BASE-013"].excluded


def test_evidence_of_several_kinds_meets_in_one_row() -> None:
    parts = [
        Gathered((shows("BASE-003", kind="probe"),)),
        Gathered((shows("BASE-003", Outcome.FAIL, "replay"), shows("PING-001"))),
    ]
    matrix = assemble(SERVER, parts)
    found = row(matrix, "BASE-003")
    assert (found.verdict, [e.kind for e in found.evidence]) == (
        "non-conformant",
        ["replay", "probe"],
    )
    assert row(matrix, "PING-001").verdict == "conformant"
    assert row(matrix, "BASE-001").verdict == "unproven"


def test_the_same_evidence_twice_is_one_piece() -> None:
    matrix = assemble(SERVER, [Gathered((shows("BASE-003"), shows("BASE-003")))])
    assert len(row(matrix, "BASE-003").evidence) == 1


def test_an_unknown_id_is_told_with_the_nearest_one() -> None:
    (problem,) = assemble(SERVER, [Gathered((shows("BASE003"),))]).problems
    assert problem.kind is ProblemKind.UNKNOWN_ID
    assert (problem.where, problem.message) == (
        "test.py:1",
        "there is no clause or rule BASE003. Did you mean BASE-003?",
    )


@pytest.mark.parametrize("id_", ["LIFE-001", "MCP-ERR-001"])
def test_a_tag_about_what_is_no_row_is_told_and_other_evidence_is_not(id_: str) -> None:
    (problem,) = assemble(SERVER, [Gathered((shows(id_),))]).problems
    assert problem.kind is ProblemKind.NOT_A_ROW
    assert not assemble(SERVER, [Gathered((shows(id_, kind="probe"),))]).problems


def test_troubles_with_declarations_are_problems() -> None:
    declarations = (
        Declaration(DeclarationKind.DEVIATION, "on purpose", ("RES-008",)),
        Declaration(DeclarationKind.NOT_IMPLEMENTED, "left out", (), ("completions",)),
        Declaration(DeclarationKind.DEVIATION, "of the client", ("LIFE-001",)),
    )
    project = Project("s", Party.SERVER, (Revision.LEGACY,), declarations)
    matrix = assemble(project, [Gathered((shows("RES-008"), shows("COMP-003")))])
    assert [(p.kind, p.where) for p in matrix.problems] == [
        ("stale-deviation", "RES-008"),
        ("contradicted", "COMP-003"),
        ("idle-declaration", "deviations: LIFE-001"),
    ]
    assert row(matrix, "COMP-004").verdict == "not-implemented"


def test_a_declaration_covers_ids_beginnings_up_to_a_hyphen_and_capabilities() -> None:
    rows = {row.id: row for row in rows_for(Party.SERVER, Revision)}
    area = Declaration(DeclarationKind.NOT_IMPLEMENTED, "r", ("RES", "MCP-AUT"))
    assert area.covers(rows["RES-001"])
    assert area.covers(rows["MCP-AUT-001"])
    assert not area.covers(rows["MCP-RES-001"])
    tools = Declaration(DeclarationKind.NOT_IMPLEMENTED, "r", (), ("tools",))
    covered = {row.condition for row in rows.values() if tools.covers(row)}
    assert covered == {"server.tools", "server.tools.listChanged"}
    whole = Declaration(DeclarationKind.NOT_IMPLEMENTED, "r", (), ("server.tools.listChanged",))
    assert {row.condition for row in rows.values() if whole.covers(row)} == {
        "server.tools.listChanged"
    }


def test_a_deviation_comes_before_a_feature_left_out() -> None:
    rows = {row.id: row for row in rows_for(Party.SERVER, [Revision.LEGACY])}
    left_out = Declaration(DeclarationKind.NOT_IMPLEMENTED, "area", ("RES",))
    deviation = Declaration(DeclarationKind.DEVIATION, "this one", ("RES-008",))
    assert declared_of(rows["RES-008"], [left_out, deviation]) is deviation
    assert declared_of(rows["RES-001"], [left_out, deviation]) is left_out
    assert declared_of(rows["BASE-001"], [left_out, deviation]) is None


def test_problems_are_in_order_and_each_once() -> None:
    problem = Problem(ProblemKind.NOTE, "b", "m")
    other = Problem(ProblemKind.UNREADABLE, "z", "m")
    matrix = assemble(SERVER, [Gathered(problems=(problem, other)), Gathered(problems=(problem,))])
    assert matrix.problems == (other, problem)
