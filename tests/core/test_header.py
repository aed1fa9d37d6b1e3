from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core import header
from memrepo.core.lines import join_lines, split_lines

FOREIGN = [
    pytest.param("# Title\n\n- a\n", 1, 0, "", id="no header"),
    pytest.param("", 1, 0, "", id="empty"),
    pytest.param("\ufeff# Title\n", 1, 1, "", id="byte order mark alone"),
    pytest.param("---\ntitle: a\n---\nbody\n", 4, 17, "", id="header"),
    pytest.param("\ufeff---\r\ntitle: a\r\n...\r\nbody", 4, 21, "", id="mark, crlf and dots"),
    pytest.param("---\ntitle: a\n---", 4, 16, "", id="nothing after it"),
    pytest.param("---\ntopics:\n- a\nx: [\n]\n---\nb", 7, 27, "", id="list at the margin"),
    pytest.param("---\n---\nbody", 3, 8, "", id="empty header"),
    pytest.param("+++\na = 1\n+++\n", 1, 0, "", id="toml"),
    pytest.param("\n---\ntitle: a\n---\n", 1, 0, "", id="blank line first"),
    pytest.param("---\ntitle: a\n", 1, 0, "frontmatter-unclosed", id="unclosed"),
    pytest.param("---", 1, 0, "frontmatter-unclosed", id="rule alone"),
    pytest.param("---\n\nA text: with a colon\nand more\n\n---\n", 1, 0, "frontmatter-not-mapping",
                 id="text between rules"),
    pytest.param("---\n- a\n---\n", 1, 0, "frontmatter-not-mapping", id="list between rules"),
    pytest.param("---\n# Heading\n---\n", 1, 0, "frontmatter-not-mapping", id="heading between"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "offset", "rule"), FOREIGN)
def test_the_body_of_a_foreign_file(text: str, line: int, offset: int, rule: str) -> None:
    assert header.body_start(text) == header.BodyStart(line=line, offset=offset, rule=rule)


@pytest.mark.parametrize(("text", "line", "offset", "rule"), FOREIGN)
def test_both_ways_to_find_a_body_agree_where_the_header_is_sound(
    text: str, line: int, offset: int, rule: str
) -> None:
    split = header.split(text.encode(), "a.md")
    assert split.unclosed == (rule == "frontmatter-unclosed")
    assert split.present == (line > 1 or rule == "frontmatter-not-mapping")
    if not rule:
        assert (split.body_line, split.body_offset, split.problems) == (line, offset, ())


@given(st.text("-.+a: \n\r\t#\ufeff", max_size=40))
def test_no_text_of_a_foreign_file_is_lost_silently(text: str) -> None:
    start = header.body_start(text)
    lines = split_lines(text)
    assert join_lines(lines[start.line - 1 :]) == text[start.offset :] or start.line == 1
    if start.rule:
        assert text[start.offset :] == text.removeprefix("\ufeff")


def test_bytes_that_are_no_text_are_a_problem() -> None:
    split = header.split(b"a\r\nb\xc3\xa9\xff", "a.md")
    assert not split.present
    assert [(p.rule, p.line, p.column) for p in split.problems] == [("file-not-utf8", 2, 3)]
    assert "offset 6" in split.problems[0].message


def test_entries_know_their_lines() -> None:
    split = header.split(b"---\na: 1\n\nb:\n  - x\n  - y # z\n\n# c\nd: |\n  t\n---\n", "a.md")
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
