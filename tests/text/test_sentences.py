"""Chunking: nothing is lost, sentences stay whole; the original's chunks where it loses none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.text.sentences import chunks, sentences

FOLDER = Path(__file__).resolve().parents[1] / "golden"
ROWS = [json.loads(line) for line in (FOLDER / "chunking.jsonl").read_text("utf-8").splitlines()]
CUT = [row for row in ROWS if row["fn"] == "chunkContent"]


def sizes_of(options: dict[str, int]) -> dict[str, int]:
    names = {"targetTokens": "target", "minTokens": "least", "overlapSentences": "overlap"}
    return {names[key]: value for key, value in options.items()}


def bare(text: str) -> str:
    return "".join(text.split())


def differs(row: dict[str, Any]) -> bool:
    """Tell whether the original loses text, or takes a Chinese full stop for none."""
    return bool(row["lossy"]) or "。" in row["args"][0]


def named(found: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in found]


@pytest.mark.parametrize("row", named([r for r in CUT if not differs(r)]))
def test_chunks_are_those_of_the_original(row: dict[str, Any]) -> None:
    text, options = row["args"]
    expected, found = row["expect"], chunks(text, **sizes_of(options))
    assert [" ".join(c.text.split()) for c in found] == [
        " ".join(c["content"].split()) for c in expected["chunks"]
    ]
    assert [c.index for c in found] == [c["index"] for c in expected["chunks"]]
    assert (len(found) > 1) is expected["chunked"]
    if " ".join(text.split()) == text:  # the original counts after it joined lines
        assert [c.tokens for c in found] == [c["tokenCount"] for c in expected["chunks"]]


@pytest.mark.parametrize("row", named([r for r in CUT if differs(r)]))
def test_where_the_original_loses_text_or_misses_a_stop_we_do_not(row: dict[str, Any]) -> None:
    text, options = row["args"]
    found = chunks(text, **sizes_of(options))
    assert bare(text) == bare(rejoined(text, found))
    assert [c.text for c in found] != [c["content"] for c in row["expect"]["chunks"]]


def rejoined(text: str, found: Any) -> str:
    """Put chunks together again, without what they share."""
    parts, end = [], 0
    for chunk in found:
        assert text[chunk.start : chunk.end] == chunk.text
        parts.append(text[max(end, chunk.start) : chunk.end])
        end = chunk.end
    return "".join(parts)


PIECES = st.sampled_from(
    [
        *("One.", "two", " ", "\n", "\n\n", "?!", "…", "。", "你好", "お早う！", "안녕.", "3.14"),
        *("a.b/c.md", "- x", "1. ", "# H", "| a | b |", '"quoted." ', "(so.)", "\t", "\u00a0"),
        *("...", "e.g. "),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join))


@given(
    TEXTS,
    st.fixed_dictionaries(
        {"target": st.integers(1, 40), "least": st.integers(0, 40), "overlap": st.integers(0, 4)}
    ),
)
def test_chunks_joined_contain_every_character_that_is_no_blank(
    text: str, sizes: dict[str, int]
) -> None:
    found = chunks(text, **sizes)
    assert bare(rejoined(text, found)) == bare(text)
    assert [c.index for c in found] == list(range(len(found)))
    starts = [c.end for c in found]
    assert starts == sorted(set(starts))  # each chunk brings something new
    inside = dict(sentences(text))
    for chunk in found:
        assert chunk.start in inside
        assert chunk.end in inside.values()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Host db.example.org is v2.1. Ask ops.", ["Host db.example.org is v2.1.", "Ask ops."]),
        ('He said "stop." Then (quietly.) it ended.', 3),
        ("Wow!!! Really?? Yes... ok", ["Wow!!!", "Really??", "Yes...", "ok"]),
        ("晴れ。明日は「雨です。」たぶん！", ["晴れ。", "明日は「雨です。」", "たぶん！"]),
        ("나는 서울에 산다. 커피를 좋아한다.", ["나는 서울에 산다.", "커피를 좋아한다."]),
        ("यह एक वाक्य है। दूसरा।", ["यह एक वाक्य है।", "दूसरा।"]),
        ("- one\n- two\n  goes on\n- three", ["- one", "- two\n  goes on", "- three"]),
        ("1. First. More.\n2. Second", ["1. First.", "More.", "2. Second"]),
        ("# Title\n\nA line\nand its rest", ["# Title", "A line\nand its rest"]),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_sentence_ends_where_a_reader_sees_its_end(text: str, expected: list[str] | int) -> None:
    found = [text[start:end] for start, end in sentences(text)]
    assert (len(found) if isinstance(expected, int) else found) == expected
