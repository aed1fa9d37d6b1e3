from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core import codec
from memrepo.core.lines import join_lines, split_lines


@pytest.mark.parametrize(
    ("text", "line", "offset"),
    [
        pytest.param("# Title\n\n- a\n", 1, 0, id="no header"),
        pytest.param("", 1, 0, id="empty"),
        pytest.param("\ufeff# Title\n", 1, 1, id="byte order mark alone"),
        pytest.param("---\ntitle: a\n---\nbody\n", 4, 17, id="header"),
        pytest.param("\ufeff---\r\ntitle: a\r\n...\r\nbody", 4, 21, id="mark, crlf and dots"),
        pytest.param("---\ntitle: a\n---", 4, 16, id="nothing after it"),
        pytest.param("---\ntopics:\n- a\nx: [\n]\n---\nb", 7, 27, id="list at the margin"),
        pytest.param("---\n---\nbody", 3, 8, id="empty header"),
        pytest.param("+++\na = 1\n+++\n", 1, 0, id="toml"),
        pytest.param("\n---\ntitle: a\n---\n", 1, 0, id="blank line first"),
    ],
)
def test_where_the_body_of_a_file_begins(text: str, line: int, offset: int) -> None:
    split = codec.split_header(text.encode(), "a.md")
    assert (split.body_line, split.body_offset, split.problems) == (line, offset, ())
    assert split.present == (line > 1)


@pytest.mark.parametrize("text", ["---\ntitle: a\n", "---"])
def test_a_header_that_is_not_closed_is_body_and_a_problem(text: str) -> None:
    split = codec.split_header(text.encode(), "a.md")
    assert (split.present, split.unclosed, split.body_offset) == (False, True, 0)
    assert [p.rule for p in split.problems] == ["frontmatter-unclosed"]


@given(st.text("-.+a: \n\r\t#\ufeff", max_size=40))
def test_line_and_offset_name_the_same_place(text: str) -> None:
    split = codec.split_header(text.encode(), "a.md")
    lines = split_lines(text)
    body = text[split.body_offset :]
    assert join_lines(lines[split.body_line - 1 :]) == body or split.body_line == 1


def test_bytes_that_are_no_text_are_a_problem() -> None:
    split = codec.split_header(b"a\r\nb\xc3\xa9\xff", "a.md")
    assert not split.present
    assert [(p.rule, p.line, p.column) for p in split.problems] == [("file-not-utf8", 2, 3)]
    assert "offset 6" in split.problems[0].message


def test_entries_know_their_lines() -> None:
    split = codec.split_header(
        b"---\na: 1\n\nb:\n  - x\n  - y # z\n\n# c\nd: |\n  t\n---\n", "a.md"
    )
    assert [(e.key, e.value, e.first, e.last) for e in split.entries] == [
        ("a", "1", 2, 2),
        ("b", ["x", "y"], 4, 6),
        ("d", "t\n", 9, 10),
    ]


@given(st.text("ab\r\n\x0b\x85\u2028", max_size=30))
def test_lines_join_to_the_text_they_were_split_from(text: str) -> None:
    lines = split_lines(text)
    assert join_lines(lines) == text
    assert all(end for _, end in lines[:-1])


@pytest.mark.parametrize("after", ["mood: good\n", "", "# note\nmood: good\n"])
def test_a_key_without_a_value_has_no_line_of_the_next(after: str) -> None:
    text = f"---\ntype: fact\n? title\n{after}---\nbody\n"
    split = codec.read_header(text, "a.md")
    assert (split.entries[1].first, split.entries[1].last) == (3, 3)
    data = text.replace("title", "colour").encode()
    memory, _ = codec.decode("a.md", data)
    assert memory is not None
    edited = codec.edit(data, memory, {"colour": ["colour: red"]})
    assert edited.decode() == text.replace("? title", "colour: red")


@pytest.mark.parametrize(
    ("lines", "value", "last"),
    [
        ("x: [a,\nb,\nc]", ["a", "b", "c"], 4),
        ('x: "open\nclose"', "open close", 3),
        ("x: {a: b,\n# note\nc: d}", {"a": "b", "c": "d"}, 4),
    ],
)
def test_brackets_and_quotes_hold_lines_at_the_margin(lines: str, value: object, last: int) -> None:
    split = codec.read_header(f"---\n{lines}\ny: z\n---\n", "a.md")
    assert not split.problems
    assert [(e.key, e.value, e.last) for e in split.entries] == [
        ("x", value, last),
        ("y", "z", last + 1),
    ]


def test_an_open_bracket_hides_nothing_of_the_other_keys() -> None:
    split = codec.read_header("---\nx: [a,\ny: z\nw: v\n---\n", "a.md")
    assert [(p.line, p.key) for p in split.problems] == [(2, "x")]
    assert [e.key for e in split.entries] == ["y", "w"]
