"""Tags joined with runs, in the shapes of reports that the tools of each language write."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from clausewise.matrix.assembly import Gathered
from clausewise.matrix.evidence.junit import read_junit
from clausewise.matrix.evidence.tags import read_source
from clausewise.matrix.evidence.tests import Report, gather

PYTHON = """
# clause: BASE-003
def test_unique(): ...
class TestPing:
    '''clause: PING-001'''
    def test_prompt(self): ...
    def test_empty(self): ...
# clause: RES-008
def test_missing(): ...
"""
TYPESCRIPT = """
describe("ids", () => {
  // clause: BASE-003
  it("are unique", () => {});
  it.each([1, 2])("count %i up", () => {}); // clause: BASE-001
});
it("pings", () => {}); // clause: PING-001
"""
GO = """package wire
// clause: BASE-003
func TestUnique(t *testing.T) {
	t.Run("in a session", func(t *testing.T) {}) // clause: BASE-001
}
func (s *Suite) TestPing() {} // clause: PING-001
"""
RUST = """mod tests {
    #[test]
    fn unique() {} // clause: BASE-003
    #[rstest]
    #[case(1)]
    fn counts() {} // clause: BASE-001
}
"""
JAVA = """package com.acme;
class IdsTest {
  @Test void unique() {} // clause: BASE-003
  @ParameterizedTest void counts(int n) {} // clause: BASE-001
  @Nested class Closed { @Test @DisplayName("ping is prompt") void ping() {} } // clause: PING-001
}
"""


def joined(folder: Path, sources: dict[str, str], *reports: str) -> Gathered:
    read = []
    for name, text in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        read.append(read_source(folder, PurePosixPath(name), None))
    given = []
    for number, text in enumerate(reports):
        (folder / f"{number}.xml").write_text(text)
        given.append(
            Report(PurePosixPath(f"{number}.xml"), tuple(read_junit(folder / f"{number}.xml")))
        )
    return gather(read, given, folder)


def outcomes(found: Gathered) -> dict[str, str]:
    return {statement.id: statement.evidence.outcome.value for statement in found.statements}


def kinds(found: Gathered) -> list[str]:
    return [problem.kind.value for problem in found.problems]


def case(name: str, classname: str = "", inside: str = "", **more: str) -> str:
    attributes = " ".join(f'{key}="{value}"' for key, value in more.items())
    return f'<testcase name="{name}" classname="{classname}" {attributes}>{inside}</testcase>'


def suite(*cases: str, name: str = "suite") -> str:
    return f'<testsuites><testsuite name="{name}">{"".join(cases)}</testsuite></testsuites>'


def test_pytest(tmp_path: Path) -> None:
    report = suite(
        case("test_unique[1]", "tests.test_ids"),
        case("test_unique[a-b::c/d]", "tests.test_ids", "<failure/>"),
        case("test_prompt", "tests.test_ids.TestPing"),
        case("test_empty", "tests.test_ids.TestPing", "<skipped/>"),
        case("test_missing", "tests.test_ids", "<failure/>"),
    )
    found = joined(tmp_path, {"tests/test_ids.py": PYTHON}, report)
    assert outcomes(found) == {"BASE-003": "fail", "PING-001": "pass", "RES-008": "warn"}
    details = {s.id: (s.evidence.pointer, s.evidence.detail) for s in found.statements}
    assert details["BASE-003"] == ("tests/test_ids.py:2", "test_unique (1 of 2 runs failed)")
    assert details["PING-001"] == ("tests/test_ids.py:5", "test_prompt, test_empty")
    assert kinds(found) == []
    (source,) = found.sources
    assert source.counts == {"fail": 2, "not-observed": 1, "pass": 2}


@pytest.mark.parametrize("classname", ["test_ids", "python.tests.test_ids", "tests.test_ids"])
def test_pytest_from_another_folder_than_the_projects(tmp_path: Path, classname: str) -> None:
    found = joined(tmp_path, {"tests/test_ids.py": PYTHON}, suite(case("test_unique", classname)))
    assert outcomes(found) == {"BASE-003": "pass"}


def test_a_test_of_the_same_name_in_another_file_is_another_test(tmp_path: Path) -> None:
    sources = {"tests/test_ids.py": PYTHON, "tests/test_more.py": "def test_unique(): ...\n"}
    found = joined(tmp_path, sources, suite(case("test_unique", "tests.test_more", "<failure/>")))
    assert outcomes(found) == {}
    assert kinds(found).count("tag-without-run") == 4


def test_a_run_that_may_be_of_two_tests_counts_for_both_and_is_told(tmp_path: Path) -> None:
    sources = {
        "a/test_ids.py": "# clause: BASE-003\ndef test_unique(): ...\n",
        "b/test_ids.py": "# clause: BASE-001\ndef test_unique(): ...\n",
    }
    found = joined(tmp_path, sources, suite(case("test_unique", "test_ids", "<failure/>")))
    assert outcomes(found) == {"BASE-003": "fail", "BASE-001": "fail"}
    assert kinds(found) == ["ambiguous-test", "ambiguous-test"]


def test_a_file_attribute_tells_tests_apart(tmp_path: Path) -> None:
    sources = {
        "a/test_ids.py": "# clause: BASE-003\ndef test_unique(): ...\n",
        "b/test_ids.py": "# clause: BASE-001\ndef test_unique(): ...\n",
    }
    report = suite(case("test_unique", "test_ids", file="b/test_ids.py", line="1"))
    assert outcomes(joined(tmp_path, sources, report)) == {"BASE-001": "pass"}


VITEST = suite(
    case("ids &gt; are unique", "test/ids.test.ts"),
    case("ids &gt; count 1 up", "test/ids.test.ts"),
    case("ids &gt; count 2 up", "test/ids.test.ts", "<failure/>"),
    case("pings", "test/ids.test.ts"),
    name="test/ids.test.ts",
)
JEST = suite(
    case("ids are unique", "ids are unique"),
    case("ids count 1 up", "ids count 1 up"),
    case("ids count 2 up", "ids count 2 up", "<failure/>"),
    case(" pings", " pings"),
    name="ids",
)
MOCHA = suite(
    case("ids are unique", "are unique"),
    case("ids count 1 up", "count 1 up"),
    case("ids count 2 up", "count 2 up", "<failure/>"),
    case("pings", "pings"),
    name="ids",
)
NODE = (
    '<testsuites><testsuite name="ids">'
    + case("are unique", "test")
    + case("count 1 up", "test")
    + case("count 2 up", "test", "<failure/>")
    + "</testsuite>"
    + case("pings", "test")
    + "</testsuites>"
)


@pytest.mark.parametrize(
    "report", [VITEST, JEST, MOCHA, NODE], ids=["vitest", "jest-junit", "mocha", "node"]
)
def test_typescript(tmp_path: Path, report: str) -> None:
    found = joined(tmp_path, {"test/ids.test.ts": TYPESCRIPT}, report)
    assert outcomes(found) == {"BASE-003": "pass", "BASE-001": "fail", "PING-001": "pass"}
    assert kinds(found) == []


def test_a_title_in_another_file_is_another_test(tmp_path: Path) -> None:
    found = joined(
        tmp_path,
        {"test/ids.test.ts": TYPESCRIPT},
        VITEST.replace("test/ids.test.ts", "test/other.test.ts"),
    )
    assert outcomes(found) == {}


GO_REPORT = suite(
    case("TestUnique", "example.com/acme/server/wire"),
    case("TestUnique/in_a_session", "example.com/acme/server/wire", "<failure/>"),
    case("TestUnique/of_a_table", "example.com/acme/server/wire"),
    case("TestSuite/TestPing", "example.com/acme/server/wire"),
    name="example.com/acme/server/wire",
)


def test_go(tmp_path: Path) -> None:
    found = joined(tmp_path, {"wire/ids_test.go": GO}, GO_REPORT)
    assert outcomes(found) == {"BASE-003": "pass", "BASE-001": "fail", "PING-001": "pass"}
    assert kinds(found) == []


def test_a_go_test_of_another_package_is_another_test(tmp_path: Path) -> None:
    other = suite(case("TestUnique", "example.com/acme/server/other"))
    assert outcomes(joined(tmp_path, {"wire/ids_test.go": GO}, other)) == {}


def test_a_go_test_of_the_root_package_is_no_test_of_another(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/acme/server\n\ngo 1.21\n")
    source = "package server\n// clause: BASE-003\nfunc TestUnique(t *testing.T) {}\n"
    other = suite(case("TestUnique", "example.com/acme/server/wire"))
    assert outcomes(joined(tmp_path, {"ids_test.go": source}, other)) == {}
    own = suite(case("TestUnique", "example.com/acme/server"))
    assert outcomes(joined(tmp_path, {"ids_test.go": source}, own)) == {"BASE-003": "pass"}


NEXTEST = suite(
    case("ids::tests::unique", "acme-server"),
    case("ids::tests::counts::case_1", "acme-server"),
    case("ids::tests::counts::case_2_zero", "acme-server", "<failure/>"),
    name="acme-server",
)
CARGO2JUNIT = suite(
    case("unique", "ids::tests"),
    case("counts::case_1", "ids::tests"),
    case("counts::case_2_zero", "ids::tests", "<failure/>"),
)


@pytest.mark.parametrize("report", [NEXTEST, CARGO2JUNIT], ids=["nextest", "cargo2junit"])
def test_rust(tmp_path: Path, report: str) -> None:
    found = joined(tmp_path, {"crates/server/src/ids.rs": RUST}, report)
    assert outcomes(found) == {"BASE-003": "pass", "BASE-001": "fail"}
    assert kinds(found) == []


def test_surefire(tmp_path: Path) -> None:
    report = (
        '<testsuite name="com.acme.IdsTest">'
        + case("unique", "com.acme.IdsTest")
        + case("counts(int)[1]", "com.acme.IdsTest")
        + case("counts{int}[2]", "com.acme.IdsTest", "<error/>")
        + case("ping", "com.acme.IdsTest$Closed")
        + "</testsuite>"
    )
    found = joined(tmp_path, {"src/test/java/com/acme/IdsTest.java": JAVA}, report)
    assert outcomes(found) == {"BASE-003": "pass", "BASE-001": "fail", "PING-001": "pass"}
    assert kinds(found) == []


def test_surefire_with_display_names(tmp_path: Path) -> None:
    report = f"<testsuite>{case('ping is prompt', 'com.acme.IdsTest$Closed')}</testsuite>"
    found = joined(tmp_path, {"src/test/java/com/acme/IdsTest.java": JAVA}, report)
    assert outcomes(found) == {"PING-001": "pass"}


def test_what_is_amiss_is_told(tmp_path: Path) -> None:
    source = "# clause: BASE-003\n\nx = 1\n\n# clause: BASE-001\ndef test_one(): ...\n"
    report = suite(
        case("test_other", "tests.test_a"),
        case("test_gone", "tests.test_b", file="tests/test_b.py"),
    )
    found = joined(tmp_path, {"tests/test_a.py": source}, report)
    assert [(p.kind.value, p.where, p.message) for p in found.problems] == [
        ("tag-without-test", "tests/test_a.py:1", "the tag BASE-003 is about no test"),
        (
            "tag-without-run",
            "tests/test_a.py:5",
            "no report has a run of test_one, which is tagged BASE-001",
        ),
        (
            "run-without-tag",
            "0.xml",
            "2 runs without a tag: tests.test_a: test_other, tests.test_b: test_gone",
        ),
        (
            "lost-source",
            "0.xml",
            "the report tells of tests in tests/test_b.py, which is no longer there",
        ),
    ]


def test_a_tag_in_the_name_that_only_the_report_has_counts(tmp_path: Path) -> None:
    report = suite(case("ids are unique (clause: BASE-003)", "generated", "<failure/>"))
    found = joined(tmp_path, {}, report)
    assert outcomes(found) == {"BASE-003": "fail"}
    assert found.statements[0].evidence.pointer == "0.xml ids are unique (clause: BASE-003)"


def test_several_reports_of_one_test_make_one_piece_of_evidence(tmp_path: Path) -> None:
    good, bad = (suite(case("test_unique", "tests.test_ids", i)) for i in ("", "<failure/>"))
    found = joined(tmp_path, {"tests/test_ids.py": PYTHON}, good, good, bad)
    (evidence,) = [s.evidence for s in found.statements if s.id == "BASE-003"]
    assert (evidence.outcome, evidence.detail) == ("fail", "test_unique (1 of 3 runs failed)")


def test_a_source_that_cannot_be_parsed_is_told_and_its_tags_are_not_lost(tmp_path: Path) -> None:
    found = joined(tmp_path, {"tests/test_a.py": "# clause: BASE-003\ndef test_(:\n"})
    assert kinds(found) == ["unreadable", "tag-without-test"]
