from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.read.documents import MAX_BYTES, read_lines, remove_struck
from memrepo.read.markdown import Block, parse_document
from memrepo.read.thoughts import scan


def flat(blocks: tuple[Block, ...]) -> list[tuple[str, tuple[int, int], str]]:
    rows: list[tuple[str, tuple[int, int], str]] = []
    for block in blocks:
        if block.kind not in ("other", "comment", "rule"):
            rows.append((block.kind, block.lines, block.text))
        rows += flat(block.children)
    return rows


def parse(text: str) -> list[tuple[str, tuple[int, int], str]]:
    return flat(parse_document("a.md", text.encode()).blocks)


# Lines counted by hand, against CommonMark: mistune's internals must keep agreeing with them.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc\n", [("paragraph", (1, 2), "a\nb"), ("paragraph", (4, 4), "c")]),
        ("# A #\n\nB\n---\n", [("heading", (1, 1), "A"), ("heading", (3, 4), "B")]),
        ("A\n===\nb\n", [("heading", (1, 2), "A"), ("paragraph", (3, 3), "b")]),
        (
            "- a\n- b\n\n- c\n",
            [("item", (1, 1), "a"), ("item", (2, 2), "b"), ("item", (4, 4), "c")],
        ),
        ("- a\n  b\nlazy\n- c\n", [("item", (1, 3), "a\nb\nlazy"), ("item", (4, 4), "c")]),
        (
            "- a\n  - b\n    1. c\n  - d\n- e\n",
            [
                ("item", (1, 1), "a"),
                ("item", (2, 2), "b"),
                ("item", (3, 3), "c"),
                ("item", (4, 4), "d"),
                ("item", (5, 5), "e"),
            ],
        ),
        ("- - - a\n", [("item", (1, 1), ""), ("item", (1, 1), ""), ("item", (1, 1), "a")]),
        ("-\n  a\n-\n- b\n", [("item", (1, 2), "a"), ("item", (3, 3), ""), ("item", (4, 4), "b")]),
        (
            "-\n  - a\n  -\n    b\n",
            [("item", (1, 1), ""), ("item", (2, 2), "a"), ("item", (3, 4), "b")],
        ),
        (
            "- a\n\n  second\n\n  ```\n  - code\n  ```\n- b\n",
            [("item", (1, 7), "a\n\nsecond\n\n```\n- code\n```"), ("item", (8, 8), "b")],
        ),
        (
            "- a\n  - b\n\n  after\n- c\n",
            [("item", (1, 4), "a\n\nafter"), ("item", (2, 2), "b"), ("item", (5, 5), "c")],
        ),
        (
            "- a\n# H\n- b\n",
            [("item", (1, 1), "a"), ("heading", (2, 2), "H"), ("item", (3, 3), "b")],
        ),
        ("- a\n> q\n- b\n", [("item", (1, 1), "a"), ("item", (3, 3), "b")]),
        ("- a\n> q\nb\n", [("item", (1, 1), "a"), ("paragraph", (3, 3), "b")]),
        ("- a\n```\n- x\n```\n- b\n", [("item", (1, 1), "a"), ("item", (5, 5), "b")]),
        ("- a\n<!-- c\n- x -->\n- b\n", [("item", (1, 1), "a"), ("item", (4, 4), "b")]),
        ("- a\n  <!-- c -->\n  b\n", [("item", (1, 3), "a\nb")]),
        ("- <!-- c --> a\n", [("item", (1, 1), "a")]),
        ("* a\n+ b\n1. c\n", [("item", (1, 1), "a"), ("item", (2, 2), "b"), ("item", (3, 3), "c")]),
        ("- a\n\n\n\nb\n", [("item", (1, 1), "a"), ("paragraph", (5, 5), "b")]),
        ("a\n3. b\nc\n", [("paragraph", (1, 3), "a\n3. b\nc")]),
        ("a\n> q\n> - x\nb\n", [("paragraph", (1, 1), "a"), ("paragraph", (4, 4), "b")]),
        ("    code\n\na\n    b\n", [("paragraph", (3, 4), "a\n    b")]),
        ("<div>\na\n\nb\n", [("paragraph", (4, 4), "b")]),
        ("<!-- a\n\n- x\n-->\nb\n", [("paragraph", (5, 5), "b")]),
        ("<!-- a --> b\nc\n", [("paragraph", (1, 2), "b\nc")]),
        ("[ref]: decided on rust\n", [("paragraph", (1, 1), "[ref]: decided on rust")]),
        ("***\na\n***\nb\n", [("paragraph", (2, 2), "a"), ("paragraph", (4, 4), "b")]),
        ("Bob moved.\n---\nb\n", [("paragraph", (1, 1), "Bob moved."), ("paragraph", (3, 3), "b")]),
        ("B\n-\n- c\n", [("paragraph", (1, 1), "B"), ("item", (3, 3), "c")]),
        ("one\ntwo\n---\nb\n", [("paragraph", (1, 2), "one\ntwo"), ("paragraph", (4, 4), "b")]),
        ("・朝\n・ 夜\n", [("item", (1, 1), "朝"), ("item", (2, 2), "夜")]),
        ("① a\n② b\n", [("item", (1, 1), "a"), ("item", (2, 2), "b")]),
        ("○○さん\n", [("paragraph", (1, 1), "○○さん")]),
        ("• a\n  • b\n", [("item", (1, 1), "a"), ("item", (2, 2), "b")]),
        ("- [ ] a\n- [x] b\n", [("item", (1, 1), "a"), ("item", (2, 2), "b")]),
    ],
)
def test_blocks_stand_on_the_lines_counted_by_hand(
    text: str, expected: list[tuple[str, tuple[int, int], str]]
) -> None:
    assert parse(text) == expected
    assert parse(text.replace("\n", "\r\n")) == expected
    assert parse("\ufeff" + text) == expected


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("| A | B |\n|---|:-:|\n| 1 | 2 |\n", [3]),
        ("A | B\n--- | ---\n1 | 2\nafter\n", [3]),
        ("| A | B |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |\n", [3, 4]),
        ("| A | B |\n|---|---|\n|   | 2 |\n", [3]),
        ("|  | B |\n|---|---|\n| x \\| y | 2 |\n", [3]),
        ("text\n| A |\n|---|\n| 1 |\n", [4]),
        ("| A | B |\n|---|\n| 1 | 2 |\n", []),
    ],
)
def test_table_rows_are_found(text: str, rows: list[int]) -> None:
    assert [lines[0] for kind, lines, _ in parse(text) if kind == "row"] == rows


@given(st.text(alphabet="ab1 \t\r\n-*+>#`~|:<!=.)[]_x•・①", max_size=120))
def test_blocks_never_leave_the_file(text: str) -> None:
    document = parse_document("a.md", text.encode())
    for block in document.blocks:
        assert 1 <= block.lines[0] <= block.lines[1] <= max(document.source.count, 1)


@pytest.mark.parametrize(
    "text",
    [
        "- " * 200 + "x\n",
        ">" * 200 + " x\n",
        "".join("  " * n + "- x\n" for n in range(200)),
        "".join("\t" * n + "* x\nlazy\n" for n in range(100)),
    ],
)
def test_what_is_nested_too_deeply_for_a_list_is_its_text(text: str) -> None:
    document = parse_document("a.md", f"# Deep\n\n{text}\n\nAfter.\n".encode())
    assert document.problems == ()
    (*_, last) = document.blocks
    assert last.text.endswith("After.")


# -- lines -----------------------------------------------------------------------------------------


def hidden(text: str) -> list[int]:
    return sorted(read_lines("a.md", text.encode()).hidden)


def rules(text: str) -> list[tuple[str, int]]:
    return [(p.rule, p.line) for p in read_lines("a.md", text.encode()).problems]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ()),
        (b"\n", ("",)),
        (b"a\nb", ("a", "b")),
        (b"a\nb\n", ("a", "b")),
        (b"a\r\nb\nc\r\n", ("a", "b", "c")),
        (b"a\rb\n", ("a b",)),
        ("\ufeffa\n".encode(), ("a",)),
        ("a\u2028b\x0cc\x85d\n".encode(), ("a\u2028b\x0cc\x85d",)),
    ],
)
def test_only_a_line_feed_ends_a_line(data: bytes, lines: tuple[str, ...]) -> None:
    assert read_lines("a.md", data).text == lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntitle: x\n---\nbody\n", [1, 2, 3]),
        ("---\ntitle: x\n...\nbody\n", [1, 2, 3]),
        ("---\n---\nbody\n", [1, 2]),
        ("---\n# note\ntags:\n- a\n---\n", [1, 2, 3, 4, 5]),
        ("\ufeff---\r\ntitle: x\r\n---\r\nbody\r\n", [1, 2, 3]),
        ("---\ntitle: x\nbody\n", []),
        ("---\nBob moved to Rome\n---\nbody\n", []),
        ("\n---\ntitle: x\n---\n", []),
        ("---\ntopics:\n- a\nx: [\n]\n---\nb", [1, 2, 3, 4, 5, 6]),
        ("---\ntitle: x\nlong: >\n  a text\n\n  goes on\n---\nb", [1, 2, 3, 4, 5, 6, 7]),
        ("---\n  title: x\n---\nb", [1, 2, 3]),
        ("---\n\nA text: with a colon\nand more\n\n---\n", []),
        ("---\n- a\n---\n", []),
        ("---\n# Heading\n---\n", []),
        ("---", []),
        ("+++\ntitle = 1\n+++\n", []),
    ],
)
def test_only_a_closed_mapping_at_the_top_is_frontmatter(text: str, expected: list[int]) -> None:
    assert hidden(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("<!-- x:start -->\na\n# h\n<!-- x:end -->\nb\n", [1, 2, 3, 4], []),
        (
            "<!-- openclaw:dreaming:rem:start d=1 -->\na\n<!-- openclaw:dreaming:rem:end -->\n",
            [1, 2, 3],
            [],
        ),
        ("<!-- memrepo:hot:begin -->\na\n<!-- memrepo:hot:end -->\n", [1, 2, 3], []),
        (
            "<!-- a:start -->\n<!-- b:start -->\nx\n<!-- b:end -->\ny\n<!-- a:end -->\nz\n",
            [1, 2, 3, 4, 5, 6],
            [],
        ),
        ("<!-- x:start -->\na\nb\n", [], []),
        ("<!-- x:start -->\na\n<!-- x:start -->\nb\n<!-- x:end -->\nc\n", [3, 4, 5], []),
        ("a\n<!-- x:end -->\nb\n", [], []),
        ("```\n<!-- x:start -->\n```\na\n", [], []),
        ("<!-- quick-start guide -->\na\n", [], []),
        ("a\n- hot thing ↑2026-04-22(3 sessions)←memories/x.md[pin]\nb\n", [2], []),
        ("```\n↑2026-04-22(sync)←memories/x.md\n```\n", [], []),
    ],
)
def test_what_programs_keep_is_hidden(
    text: str, expected: list[int], found: list[tuple[str, int]]
) -> None:
    assert hidden(text) == expected
    assert rules(text) == found


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"x" * (MAX_BYTES + 1), "source-too-large"),
        (b"a\nb \xff\n", "source-not-utf8"),
    ],
)
def test_what_cannot_be_read_is_skipped_with_a_reason(data: bytes, rule: str) -> None:
    lines = read_lines("a.md", data)
    assert lines.text == ()
    assert [(p.rule, p.severity) for p in lines.problems] == [(rule, "error")]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("- ~~The door code is 4711~~", "- "),
        ("  3. ~~Call Vera~~", "  3. "),
        ("- [x] ~~Water the plants~~ ✅ 2026-10-02", "- [x] ✅ 2026-10-02"),
        ("- **Door:** ~~4711~~", "- **Door:**"),
        ("Rent is ~~900~~ 950 EUR", "Rent is 950 EUR"),
        ("- ~~02:00~~ 03:00", "- 03:00"),
        ("- ~~Vera pays~~ Vera's office pays", "- Vera's office pays"),
        ("- Shop: ~~own shelf~~ → the cellar", "- Shop: → the cellar"),
        ("We meet ~~Mondays~~ Tuesdays in ~~room 4~~ room 7.", "We meet Tuesdays in room 7."),
        ("| Door | ~~4711~~ 4812 |", "| Door | 4812 |"),
        ("## ~~Old garden~~ (sold)", "## Old garden (sold)"),
        ("- ~~The tent~~ lent to Vera", "- lent to Vera"),
        # No strike: code, a fence, "about", a single half.
        ("Type `~~x~~` to strike x", "Type `~~x~~` to strike x"),
        ("~~~ sh", "~~~ sh"),
        ("about ~5 to ~7", "about ~5 to ~7"),
        ("~~ a ~~", "~~ a ~~"),
        ("half ~~ of it", "half ~~ of it"),
    ],
)
def test_what_is_struck_out_is_as_if_deleted(line: str, left: str) -> None:
    assert remove_struck(line) == left
    assert remove_struck(left) == left


@given(st.text(alphabet="ab1 ~~`|:-→#", max_size=80))
def test_striking_only_takes_away(line: str) -> None:
    left = remove_struck(line)
    rest = iter(line)
    assert all(ch in rest for ch in left.replace(" ", ""))


@pytest.mark.parametrize(
    "text",
    [
        "Bea naps at ten.\nJan keeps the books.\nNever call Jan.\n",
        "Bea naps at ten\n§\nJan keeps the books\n§\nNever call Jan\n",
        "[2026-09-01] Bea naps\n[2026-09-02] Jan keeps the books\n[2026-09-03] Never call Jan\n",
        "- Nigdy nie je ryb\n- Mieszka w Kilonii\n- Woli maile\n",
        "- मछली कभी नहीं खाता।\n- कील में रहता है।\n- छोटे मेल पसंद करता है।\n",
    ],
)
def test_one_fact_a_line_is_one_statement_a_line(text: str) -> None:
    assert len(scan("MEMORY.md", text.encode()).units) == 3


def test_a_wrapped_paragraph_is_one_statement() -> None:
    text = "Bea naps at ten, and\nJan keeps the books until\nShe wakes.\n"
    assert len(scan("MEMORY.md", text.encode()).units) == 1
