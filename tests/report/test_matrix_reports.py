"""The renderings of a matrix."""

from __future__ import annotations

import dataclasses
import json as stdlib_json
import re
from pathlib import PurePosixPath
from typing import Any

import jsonschema_rs
import pytest

from clausewise.core.errors import UsageError
from clausewise.core.matrix import (
    Evidence,
    EvidenceKind,
    Matrix,
    Problem,
    ProblemKind,
    Row,
    RowVerdict,
    Source,
)
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.report.matrix import json
from clausewise.report.matrix.formats import MatrixFormat, render
from clausewise.report.matrix.markdown import page
from clausewise.report.options import Detail, ReportOptions

K, V = EvidenceKind, RowVerdict
HOSTILE = "<script>alert(1)</script> | `x` @all \x1b[31m [a](b) \u202e"


def row(id_: str, verdict: RowVerdict, *evidence: Evidence, **more: Any) -> Row:
    made = Row(
        SubjectKind.CLAUSE,
        id_,
        Revision.LEGACY,
        Level.SHOULD if id_ == "RES-008" else Level.MUST_NOT,
        "https://x.example/page#a:~:text=b",
        verdict,
        evidence=evidence,
    )
    return dataclasses.replace(made, **more)


MATRIX = Matrix(
    "the notes server",
    Party.SERVER,
    (Revision.LEGACY, Revision.MODERN),
    (
        dataclasses.replace(
            row(
                "MCP-ERR-001",
                V.CONFORMANT,
                Evidence(K.OFFICIAL, Outcome.PASS, "a/b", "build/official"),
            ),
            kind=SubjectKind.RULE,
            revision=Revision.MODERN,
            level=Level.MUST,
        ),
        row(
            "BASE-003",
            V.NON_CONFORMANT,
            Evidence(
                K.PROBE, Outcome.FAIL, "check.json", "check.json", detail="an id is used again"
            ),
            Evidence(K.REPLAY, Outcome.FAIL, "s.jsonl seq 7", "s.jsonl", detail="again"),
            Evidence(K.TEST, Outcome.PASS, "tests/ids.py:12", "tests/ids.py", 12, "test_unique"),
            notes=("contradicting evidence: …",),
        ),
        row("RES-008", V.DEVIATION, reason="the next revision wants it so"),
        row("BASE-013", V.UNPROVEN, excluded="no recording shows it"),
        row(
            "LOG-002",
            V.NOT_APPLICABLE,
            Evidence(K.PROBE, Outcome.NOT_APPLICABLE, "c", "c", None, "no logs"),
        ),
    ),
    (Source(K.OFFICIAL, "build/official", {Outcome.FAIL: 10, Outcome.PASS: 62}),),
    (Problem(ProblemKind.UNKNOWN_ID, "tests/a.py:3", "there is no clause BASE-999"),),
)


def shown(format_: MatrixFormat, matrix: Matrix = MATRIX, **options: Any) -> str:
    return render(matrix, format_, dataclasses.replace(ReportOptions(), **options))


def test_json_fits_its_schema_and_reads_back() -> None:
    text = shown(MatrixFormat.JSON)
    record = stdlib_json.loads(text)
    jsonschema_rs.meta.validate(json.schema())
    jsonschema_rs.Draft202012Validator(json.schema(), offline=True).validate(record)
    assert json.load(text.encode(), "m.json") == MATRIX
    assert json.render(json.load(text.encode(), "m.json")) == text


def test_the_sentences_of_the_specification_stand_only_in_the_registry() -> None:
    assert "previously used" not in shown(MatrixFormat.JSON)
    assert "previously used" not in shown(MatrixFormat.MARKDOWN)
    assert "previously used" in shown(MatrixFormat.HUMAN)
    assert "previously used" in shown(MatrixFormat.HTML)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "is no JSON"),
        (b"[]", "is no clausewise.matrix/1"),
        (b'{"schema": "clausewise.result/1"}', "its schema is 'clausewise.result/1'"),
        (b'{"schema": "clausewise.matrix/1"}', "at the top"),
    ],
)
def test_what_is_no_matrix_is_an_error(text: bytes, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        json.load(text, "m.json")
    assert words in caught.value.message


def test_the_page_begins_with_the_summary() -> None:
    lines = page(MATRIX, PurePosixPath("docs/CONFORMANCE.md")).splitlines()
    headings = [line for line in lines if line.startswith("#")]
    assert headings == [
        "# Conformance: the notes server",
        "## Summary",
        "## What is not conformant",
        "## Evidence",
        "## Notes on the evidence",
        "## MCP-ERR Error codes (rules of 2026-07-28)",
        "## BASE Base protocol (clauses of 2025-11-25)",
        "## RES Resources (clauses of 2025-11-25)",
        "## LOG Logging (clauses of 2025-11-25)",
    ]
    assert "| non-conformant | 1 | 0 | 1 |" in lines
    assert "| 2025-11-25 | MUST | SHOULD | all |" in lines


def test_a_row_of_the_page_links_the_sentence_and_the_test() -> None:
    text = page(MATRIX, PurePosixPath("docs/CONFORMANCE.md"))
    (line, again) = [line for line in text.splitlines() if "BASE-003" in line]
    assert line == again, "once among what is not conformant, once in its area"
    assert "[BASE-003](<https://x.example/page#a:~:text=b>) | MUST NOT | **non-conformant**" in line
    assert "pass: test [`tests/ids.py:12`](<../tests/ids.py#L12>)" in line
    assert "fail: probe `check.json` an id is used again" in line
    assert "fail: replay `s.jsonl seq 7` again" in line
    assert "*contradicting evidence: …*" in line


@pytest.mark.parametrize(
    ("place", "link"),
    [
        ("CONFORMANCE.md", "tests/ids.py#L12"),
        ("docs/deep/page.md", "../../tests/ids.py#L12"),
        ("tests/page.md", "ids.py#L12"),
    ],
)
def test_links_are_relative_to_the_page(place: str, link: str) -> None:
    assert f"test [`tests/ids.py:12`](<{link}>)" in page(MATRIX, PurePosixPath(place))


def test_a_page_outside_the_project_has_no_links_to_files() -> None:
    text = page(MATRIX, PurePosixPath("../page.md"))
    assert "pass: test `tests/ids.py:12`<br>" in text


def test_declared_reasons_and_exclusions_are_in_the_row() -> None:
    text = shown(MatrixFormat.MARKDOWN)
    assert "| **deviation** | *the next revision wants it so* |" in text
    assert "| unproven | *a recording cannot show it: no recording shows it* |" in text
    assert "| not-applicable | not-applicable: probe `c` no logs |" in text


def test_the_terminal_shows_what_is_open_and_with_more_detail_everything() -> None:
    text = shown(MatrixFormat.HUMAN)
    assert "NON-CONFORMANT BASE-003  MUST NOT" in text
    assert "DEVIATION RES-008  SHOULD" in text
    assert "BASE-013" not in text
    assert "official build/official: 62 pass, 10 fail" in text
    assert "unknown-id · tests/a.py:3: there is no clause BASE-999" in text
    assert text.endswith("verdict: 1 non-conformant, 1 conformant of 5 rows\n")
    everything = shown(MatrixFormat.HUMAN, detail=Detail.EVERYTHING)
    assert "UNPROVEN BASE-013" in everything
    assert "CONFORMANT MCP-ERR-001" in everything


def test_the_terminal_may_be_told_the_tally_only_and_in_ascii() -> None:
    text = shown(MatrixFormat.HUMAN, detail=Detail.TOTALS)
    assert text.startswith("2025-11-25")
    assert "BASE-003" not in text
    assert shown(MatrixFormat.HUMAN, unicode=False).isascii()


def test_much_evidence_is_shown_in_part() -> None:
    many = [Evidence(K.REPLAY, Outcome.FAIL, f"s{n}.jsonl seq 1", f"s{n}.jsonl") for n in range(9)]
    matrix = dataclasses.replace(MATRIX, rows=(row("BASE-003", V.NON_CONFORMANT, *many),))
    assert "and 5 more (-v shows all)" in shown(MatrixFormat.HUMAN, matrix)
    assert "<br>and 3 more |" in shown(MatrixFormat.MARKDOWN, matrix)


def test_no_evidence_at_all_is_said() -> None:
    matrix = dataclasses.replace(MATRIX, rows=(row("BASE-003", V.UNPROVEN),))
    assert "verdict: no evidence shows anything" in shown(MatrixFormat.HUMAN, matrix)


def hostile() -> Matrix:
    evidence = Evidence(K.TEST, Outcome.FAIL, HOSTILE, "a>b<c\\d", 1, HOSTILE)
    other = Evidence(K.PROBE, Outcome.FAIL, HOSTILE, "x", None, HOSTILE)
    rows = (row("BASE-003", V.NON_CONFORMANT, evidence, other, notes=(HOSTILE,), reason=HOSTILE),)
    problems = (Problem(ProblemKind.NOTE, HOSTILE, HOSTILE),)
    return Matrix(
        HOSTILE, Party.SERVER, (Revision.LEGACY,), rows, (Source(K.TEST, HOSTILE, {}),), problems
    )


@pytest.mark.parametrize("format_", [MatrixFormat.HUMAN, MatrixFormat.MARKDOWN, MatrixFormat.HTML])
def test_no_text_of_others_can_act_on_a_terminal_or_hide(format_: MatrixFormat) -> None:
    text = shown(format_, hostile())
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_no_text_of_others_becomes_markup() -> None:
    html = shown(MatrixFormat.HTML, hostile())
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    markdown = shown(MatrixFormat.MARKDOWN, hostile())
    outside_code = re.sub(r"(`+)[^`].*?[^`]\1(?!`)", "", markdown)
    assert not re.search(r"(?<!\\)<script", outside_code)
    assert "@all" not in outside_code


def test_a_row_of_hostile_text_stays_one_row() -> None:
    lines = [x for x in shown(MatrixFormat.MARKDOWN, hostile()).splitlines() if "BASE-003" in x]
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 5, line


@pytest.mark.parametrize("format_", MatrixFormat)
def test_equal_matrices_give_equal_bytes(format_: MatrixFormat) -> None:
    again = json.load(json.render(MATRIX).encode(), "m")
    assert shown(format_) == shown(format_, again)
    assert shown(format_).endswith("\n")


def test_html_is_whole_and_each_row_can_be_linked_to() -> None:
    html = shown(MatrixFormat.HTML)
    assert html.startswith("<!doctype html>")
    assert html.rstrip().endswith("</html>")
    assert 'id="BASE-003"' in html
    assert "<script" not in html
    assert not re.search(r'(?:src|href)="(?!https://x\.example)', html)
