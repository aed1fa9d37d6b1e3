"""Text made to keep a pattern busy: reading it takes time in proportion to its length."""

from __future__ import annotations

import time

import pytest

from memrepo.read.kinds import file_kind, name_in
from memrepo.read.shelf import rank_file
from memrepo.read.thoughts import scan

SIZE = 16_000
PATHS = ("USER.md", "memory/2026-01-01.md", "notes/mill.md")
AROUND = [
    ("- .", " ", "x"),
    ("a", "\t", "x"),
    ("- Name: a", " ", "b"),
    ("- **Name:** a", " \t", "- b"),
    ("- a", " ", "[score=1"),
    ("- 2026-01-01", " ", "x"),
    ("- ~~a~~ ", " ", "=> b"),
    ("```", " ", "x"),
    ("", " ", "[x"),
    ("- a\n", " \n", "x"),
    ("---\na", "\t", "b\n---\n"),
    ("<!--", "-", "x"),
    ("- ", "?", "x"),
    ("- ", ".", "x"),
    ("- ", "./", "!"),
    ("- ", "a1", "g"),
    ("- ", "1/", "!"),
    ("", ">", "x"),
    ("", "> ", "x"),
    ("", "- ", "x"),
    ("", "1. - ", "x"),
]
REPEATED = [
    "[",
    "{{",
    "_(",
    "*",
    "**~~",
    "**a** ",
    "a:",
    "：a ",
    "[a](",
    "~~a ",
    "<!-- ",
    "<div>",
    "[score= ",
    "- [ ] ",
    "Why: ",
    "2026-01-01 ",
    "10:00 ",
    "done ",
    "오늘の短期",
    "|a",
    "# a\n",
    "- a\n",
    "- a:\n",
    "a:\n\n",
    "- a: b\n",
    "1. a\n",
    "    x\n",
    "| c | d |\n|---|---|\n",
    "- a\n\nWhy: b\n\n",
]


def read(path: str, text: str) -> None:
    found = scan(path, text.encode())
    rank_file(file_kind(path, text, found.units), found.units)
    name_in(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        *(start + again * (SIZE // len(again)) + end for start, again, end in AROUND),
        *("- Name: " * ("\n" not in one) + one * (SIZE // len(one)) for one in REPEATED),
        "| a | b |\n|---|---|\n" + "| c | d |\n" * (SIZE // 10),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    began = time.process_time()
    for path in PATHS:
        read(path, text)
    assert time.process_time() - began < 2
