"""Tags and tests in sources of each language."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from clausewise.core.errors import ConfigError, UsageError
from clausewise.matrix.evidence import tags
from clausewise.matrix.evidence.tags import TaggedSource, ids_in, pattern_of, read_source

Found = list[tuple[str, int, list[str]]]


def source(tmp_path: Path, name: str, text: str) -> TaggedSource:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_source(tmp_path, PurePosixPath(name), None)


def tagged(found: TaggedSource) -> Found:
    return [(tag.id, tag.line, [test.name for test in tag.tests]) for tag in found.tags]


PYTHON = '''\
"""Sessions. clause: BASE-008"""
import pytest

# clause: BASE-003, BASE-001
@pytest.mark.parametrize("id", [1, "clause: none"])
def test_ids_are_unique(id):
    pass


class TestPing:
    """clause: PING-001"""

    async def test_is_prompt(self):
        helper()  # clause: CANC-018

    def test_is_empty(self): ...


def helper():
    # clause: LOG-001
    pass


def test_clause_TOOL_003_schemas_are_objects(): ...
'''


def test_tags_of_python(tmp_path: Path) -> None:
    found = source(tmp_path, "tests/test_session.py", PYTHON)
    everything = [test.name for test in found.tests]
    assert everything == [
        "test_ids_are_unique",
        "test_is_prompt",
        "test_is_empty",
        "test_clause_TOOL_003_schemas_are_objects",
    ]
    assert tagged(found) == [
        ("BASE-008", 1, everything),
        ("BASE-003", 4, ["test_ids_are_unique"]),
        ("BASE-001", 4, ["test_ids_are_unique"]),
        ("PING-001", 11, ["test_is_prompt", "test_is_empty"]),
        ("CANC-018", 14, ["test_is_prompt"]),
        ("LOG-001", 20, []),
        ("TOOL-003", 24, ["test_clause_TOOL_003_schemas_are_objects"]),
    ]
    assert found.tests[1].segments == ("tests", "test_session", "TestPing", "test_is_prompt")


def test_a_python_file_with_a_syntax_error_keeps_its_tags_and_says_where(tmp_path: Path) -> None:
    found = source(tmp_path, "t.py", "# clause: BASE-003\ndef test_a(:\n")
    assert tagged(found) == [("BASE-003", 1, [])]
    assert found.fault.startswith("t.py:2 cannot be parsed")


TYPESCRIPT = """\
import { it, describe } from "vitest";
// it("is no test", () => {}) clause: LOG-001
// clause: BASE-008
describe('ids', () => {
  /* clause: BASE-003 */
  it("are unique", async () => { expect("}").toBe(`{${1}`); });
  test.each([[1], [2]])("add %i to $name", (n) => {
    const pattern = /[{"]/.test("x"); // clause: BASE-004
  });
  it.each`a | b
    ${1} | ${2}`(`stay $a`, () => {});
  describe("nested", () => { it('clause: BASE-001 and BASE-002', () => {}); });
});
it.skip("pings", () => { /* clause: PING-001 */ });
"""


@pytest.mark.parametrize("ending", ["ts", "tsx", "mts", "js", "jsx", "mjs", "cjs"])
def test_tags_of_typescript_and_javascript(tmp_path: Path, ending: str) -> None:
    found = source(tmp_path, f"test/ids.test.{ending}", TYPESCRIPT)
    inner = "ids > nested > clause: BASE-001 and BASE-002"
    of_ids = ["ids > are unique", "ids > add * to *", "ids > stay *", inner]
    assert [test.name for test in found.tests] == [*of_ids, "pings"]
    assert tagged(found) == [
        ("LOG-001", 2, of_ids),  # a comment above a group is the group's
        ("BASE-008", 3, of_ids),
        ("BASE-003", 5, ["ids > are unique"]),
        ("BASE-004", 8, ["ids > add * to *"]),
        ("BASE-001", 12, [inner]),
        ("BASE-002", 12, [inner]),
        ("PING-001", 14, ["pings"]),
    ]


GO = """\
package wire

// clause: BASE-003
func TestIDs(t *testing.T) {
	s := `func TestFake(t *testing.T) { // clause: LOG-001 `
	t.Run("across a session/twice", func(t *testing.T) {
		// clause: BASE-001
	})
	t.Run(name, func(t *testing.T) { /* clause: BASE-002 */ })
}

func (s *IDSuite) TestPing() { r := '}' } // clause: PING-001
func helper() {} // clause: LOG-002
func FuzzClause_TOOL_003(f *testing.F) {}
"""


def test_tags_of_go(tmp_path: Path) -> None:
    found = source(tmp_path, "wire/ids_test.go", GO)
    assert [test.segments for test in found.tests] == [
        ("wire", "TestIDs"),
        ("wire", "TestIDs", "across_a_session", "twice"),
        ("wire", "*", "TestPing"),
        ("wire", "FuzzClause_TOOL_003"),
    ]
    assert tagged(found) == [
        ("BASE-003", 3, ["TestIDs"]),
        ("LOG-001", 5, ["TestIDs"]),
        ("BASE-001", 7, ["twice"]),
        ("BASE-002", 9, ["TestIDs"]),
        ("PING-001", 12, ["TestPing"]),
        ("LOG-002", 13, []),
        ("TOOL-003", 14, ["FuzzClause_TOOL_003"]),
    ]


RUST = """\
//! clause: BASE-008 is about no test here
fn helper<'a>(x: &'a str) -> char { '{' }

#[cfg(test)]
mod tests {
    // clause: BASE-003
    #[test]
    fn ids_are_unique() {
        let s = r#"#[test] fn fake() { "#; /* clause: BASE-001 */
    }

    #[tokio::test(flavor = "current_thread")]
    async fn clause_ping_001_is_prompt() {}

    #[rstest]
    #[case(1)]
    fn cases(#[case] n: u32) {} // clause: BASE-002
}
"""


def test_tags_of_rust(tmp_path: Path) -> None:
    found = source(tmp_path, "crates/server/src/ids.rs", RUST)
    assert [test.segments for test in found.tests] == [
        ("ids", "tests", "ids_are_unique"),
        ("ids", "tests", "clause_ping_001_is_prompt"),
        ("ids", "tests", "cases"),
    ]
    assert tagged(found) == [
        ("BASE-008", 1, []),
        ("BASE-003", 6, ["ids_are_unique"]),
        ("BASE-001", 9, ["ids_are_unique"]),
        ("PING-001", 13, ["clause_ping_001_is_prompt"]),
        ("BASE-002", 17, ["cases"]),
    ]


@pytest.mark.parametrize(
    ("path", "modules"),
    [
        ("src/lib.rs", ()),
        ("src/main.rs", ()),
        ("src/wire/mod.rs", ("wire",)),
        ("src/wire/ids.rs", ("wire", "ids")),
        ("tests/session.rs", ("session",)),
    ],
)
def test_the_module_of_a_rust_file(tmp_path: Path, path: str, modules: tuple[str, ...]) -> None:
    found = source(tmp_path, path, "#[test]\nfn holds() {}\n")
    assert found.tests[0].segments == (*modules, "holds")


JAVA = '''\
package com.acme;

/** clause: BASE-008 */
class IdsTest {
  // clause: BASE-003
  @Test
  @DisplayName("ids are unique")
  void unique() { String s = """
      @Test void fake() { // clause: BASE-001
      """; }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"a{", "b)"})
  void strings(String id) throws Exception { /* clause: BASE-002 */ char c = '}'; }

  @Nested
  class WhenClosed {
    @org.junit.jupiter.api.Test
    void clause_PING_001_is_answered() {}
  }

  void helper() {} // clause: LOG-001
}
'''


def test_tags_of_java(tmp_path: Path) -> None:
    found = source(tmp_path, "src/test/java/com/acme/IdsTest.java", JAVA)
    assert [test.segments for test in found.tests] == [
        ("com", "acme", "IdsTest", "unique"),
        ("com", "acme", "IdsTest", "strings"),
        ("com", "acme", "IdsTest", "WhenClosed", "clause_PING_001_is_answered"),
    ]
    every = ["unique", "strings", "clause_PING_001_is_answered"]
    assert tagged(found) == [
        ("BASE-008", 3, every),
        ("BASE-003", 5, ["unique"]),
        ("BASE-001", 9, ["unique"]),
        ("BASE-002", 14, ["strings"]),
        ("PING-001", 19, ["clause_PING_001_is_answered"]),
        ("LOG-001", 22, every),  # within the class, in no test: about the class
    ]
    assert found.tests[0].names == ("ids are unique",)


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("# clause: BASE-003", ["BASE-003"]),
        (
            "// Clauses: base-003, MCP-ERR-001 and PING-001.",
            ["BASE-003", "MCP-ERR-001", "PING-001"],
        ),
        ("def test_clause_MCP_ERR_001_codes():", ["MCP-ERR-001"]),
        ("# clause: BASE003", ["BASE003"]),
        ("# clause: BASE-003 (and clause: BASE-004)", ["BASE-003", "BASE-004"]),
        ("# the clause: see below", []),
        ("# subclause: BASE-003", []),
        ("clause BASE-003", []),
    ],
)
def test_what_is_a_tag(line: str, ids: list[str]) -> None:
    assert [id_ for _, id_ in ids_in(line)] == ids


def test_a_pattern_of_ones_own_replaces_the_usual_tag() -> None:
    pattern = pattern_of(r"@covers\(([^)]*)\)", "audit.tests")
    text = "# clause: BASE-001\n@covers(BASE-003, PING-001)"
    assert list(ids_in(text, pattern)) == [(2, "BASE-003"), (2, "PING-001")]
    named = pattern_of(r"(spec|MCP) (?P<ids>\S+)", "audit.tests")
    assert list(ids_in("MCP BASE-003", named)) == [(1, "BASE-003")]


@pytest.mark.parametrize(("text", "words"), [("(", "is no pattern"), ("clause", "has no group")])
def test_a_pattern_that_cannot_work_is_an_error(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        pattern_of(text, "audit.tests")


@pytest.mark.parametrize("name", ["notes.txt", "Makefile"])
def test_an_unknown_language_is_an_error_that_lists_the_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        source(tmp_path, name, "clause: BASE-003")
    assert ".go, .rs, .java" in caught.value.hint


def test_a_source_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_bytes(b"# \xff\xfe")
    with pytest.raises(UsageError, match="no UTF-8"):
        read_source(tmp_path, PurePosixPath("t.py"), None)


def test_a_huge_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "MAX_SOURCE_BYTES", 10)
    with pytest.raises(UsageError, match="longer than 10 bytes"):
        source(tmp_path, "t.py", "# clause: BASE-003")


@pytest.mark.parametrize("ending", ["ts", "go", "rs", "java"])
@pytest.mark.parametrize("unit", ["/*", "{", "(", "`", '"', "'", 'it("', "@Test ", "fn a", 'r#"'])
def test_hostile_sources_take_linear_time(tmp_path: Path, ending: str, unit: str) -> None:
    text = "".join(unit for _ in range(40_000))
    assert source(tmp_path, f"t.{ending}", text).tags == ()


def test_windows_line_ends_keep_the_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_bytes(b"\r\n\r\n# clause: BASE-003\r\ndef test_a(): ...\r\n")
    found = read_source(tmp_path, PurePosixPath("t.py"), None)
    assert tagged(found) == [("BASE-003", 3, ["test_a"])]
