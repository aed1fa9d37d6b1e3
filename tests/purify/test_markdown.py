from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.read.markdown import Block, parse_document


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
