from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.ids import text_hash
from memrepo.read.notes import NoteUnit, scan_notes

LOG = "memory/2026-02-07.md"


def notes(text: str, resource: str = LOG) -> tuple[NoteUnit, ...]:
    return scan_notes(resource, text.encode())[0]


def short(text: str, resource: str = LOG) -> list[tuple[str, tuple[int, int], str]]:
    return [(n.title, n.lines, n.text) for n in notes(text, resource)]


def test_a_note_knows_its_place_and_time() -> None:
    (note,) = notes("# 2026-02-06\n\n## 3:31 pm call\n\n- Bob said yes\n\n### Detail\n\nmore  \n")
    assert note.title == "3:31 pm call"
    assert note.headings == ("2026-02-06", "3:31 pm call")
    assert note.lines == (3, 9)
    assert note.text == "- Bob said yes\n\n### Detail\n\nmore"
    assert (note.captured, note.captured_from, note.clock) == ("2026-02-06", "heading", "15:31")
    assert note.text_hash == text_hash(note.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words\n", [("2026-02-07", (1, 1), "plain words")]),
        ("# Log\n\nplain words\n", [("Log", (3, 3), "plain words")]),
        ("# Log\n\n## A\none\n## B\ntwo\n", [("Log", (3, 6), "## A\none\n## B\ntwo")]),
        (
            "# Log\nfirst\n## 10:00\none\n## 11:00 b\ntwo\n",
            [("Log", (2, 2), "first"), ("10:00", (3, 4), "one"), ("11:00 b", (5, 6), "two")],
        ),
        (
            "# 2026-02-07\none\n# 2026-02-08\ntwo\n",
            [("2026-02-07", (1, 2), "one"), ("2026-02-08", (3, 4), "two")],
        ),
        ("## 10:00\none\n### 10:30\ntwo\n", [("10:00", (1, 4), "one\n### 10:30\ntwo")]),
        (
            "# Session 10:00\none\n## 10:30\ntwo\n",
            [("Session 10:00", (2, 2), "one"), ("10:30", (3, 4), "two")],
        ),
        ("# Log\n## 10:00\n## 11:00\none\n", [("11:00", (3, 4), "one")]),
        ("# Log\n## 10:00\none\n## Todo\ntwo\n", [("10:00", (2, 5), "one\n## Todo\ntwo")]),
        (
            "# Log\n## Work\nzero\n### 10:00\none\n## Home\ntwo\n### 11:00\nthree\n",
            [
                ("Work", (2, 3), "zero"),
                ("10:00", (4, 5), "one"),
                ("Home", (6, 7), "two"),
                ("11:00", (8, 9), "three"),
            ],
        ),
        (
            "```\n## 10:00\n```\n## 11:00\none\n",
            [("2026-02-07", (1, 3), "```\n## 10:00\n```"), ("11:00", (4, 5), "one")],
        ),
        (
            "---\ntitle: x\n---\n<!-- made by y -->\n\nwords\n",
            [("2026-02-07", (4, 6), "<!-- made by y -->\n\nwords")],
        ),
        (
            "## 10:00\n<!-- x:start -->\n- theirs\n<!-- x:end -->\n- mine\n",
            [("10:00", (1, 5), "- mine")],
        ),
        ("# 2026-02-07\n<!-- made by y -->\n", []),
        ("", []),
        ("\n \n", []),
    ],
)
def test_a_log_is_cut_at_dated_headings(
    text: str, expected: list[tuple[str, tuple[int, int], str]]
) -> None:
    assert short(text) == expected
    assert short(text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize(
    ("text", "resource", "expected"),
    [
        ("# L\n## 2026-01-01 10:00\non 2025-01-01\n", LOG, ("2026-01-01", "heading")),
        ("# L\n## 10:00\non 2025-01-01\n", LOG, ("2026-02-07", "file")),
        ("# L\n## 10:00\non 2025-01-01\n", "memory/log.md", ("2025-01-01", "unit")),
        ("# L\n## 10:00\nwords\n", "memory/log.md", ("", "")),
    ],
)
def test_a_note_is_dated_by_headings_then_file_then_text(
    text: str, resource: str, expected: tuple[str, str]
) -> None:
    (note,) = notes(text, resource)
    assert (note.captured, note.captured_from) == expected


LINES = st.sampled_from(
    [
        "# 2026-02-07",
        "## 10:00",
        "## Work",
        "### 11:00 call",
        "w words",
        "- w item",
        "> w quote",
        "",
    ]
)


@given(st.lists(LINES))
def test_every_line_of_a_log_is_in_exactly_one_note(lines: list[str]) -> None:
    numbered = [line.replace("w ", f"w{n} ") for n, line in enumerate(lines, start=1)]
    text = "\n".join(n.text for n in notes("\n".join(numbered)))
    told = [line for line in text.split("\n") if line.strip(">- ").startswith("w")]
    assert told == [line for line in numbered if line.strip(">- ").startswith("w")]


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    found, problems = scan_notes(LOG, data)
    assert found == () or not any(p.severity == "error" for p in problems)
