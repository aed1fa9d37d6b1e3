"""Ranking through the real index: what the words say, and what stands around a hit."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_index import search, tree_of

from memrepo.core import codec
from memrepo.core.memory import Memory, Source
from memrepo.policies.ranking import Block, Moment, question_of, rank
from memrepo.policies.rules import Weights
from memrepo.store import index
from memrepo.store.blocks import Indexed, last_confirmed
from memrepo.store.index import Filter

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def said(
    number: int,
    body: str,
    *,
    source: str = "sources/a.md",
    line: int = 0,
    day: str = "",
    subject: str = "",
) -> tuple[str, bytes]:
    """Return the file of a memory that was said in a place."""
    path = f"memories/knowledge/2026-01/m-{number:03}.md"
    place = Source(
        resource=source,
        lines=(line, line),
        text_hash=f"th-{number:016x}",
        kind="direct",
        captured=day,
    )
    fields = {"id": f"mem-{number:016x}", "type": "fact", "sources": (place,)}
    if subject:
        fields["subject"] = subject
    return path, codec.encode(Memory.of(path, fields, body=body))


def asked(
    folder: Path, files: dict[str, bytes], question: str, weights: Weights | None = None
) -> list[int]:
    """Return the numbers of what answers a question, best first."""
    only = Filter(limit=100)
    found = search(folder, tree_of(files), [question], only, weights)
    return [int(match.block.id.removeprefix("mem-"), 16) for match in found]


def test_the_subject_that_a_question_names_comes_first(tmp_path: Path) -> None:
    files = dict(
        [
            said(1, "likes tea", subject="Ben", source="sources/1.md"),
            said(2, "likes tea", subject="Vera", source="sources/2.md"),
        ]
    )
    assert asked(tmp_path, files, "what tea does Vera like") == [2, 1]
    assert asked(tmp_path, files, "what tea is liked") == [1, 2]


def test_a_day_in_the_question_lifts_what_is_of_that_time(tmp_path: Path) -> None:
    days = ("2026-01-09", "2026-03-09", "2026-03-20", "2025-03-20")
    files = dict(
        said(n, "the pump broke", day=day, source=f"sources/{n}.md") for n, day in enumerate(days)
    )
    assert asked(tmp_path, files, "what broke on 20 March 2026?")[0] == 2
    assert set(asked(tmp_path, files, "which pump broke in March 2026?")[:2]) == {1, 2}
    assert asked(tmp_path, files, "what broke in 2025?")[0] == 3


def test_what_answers_comes_before_what_asks_the_same(tmp_path: Path) -> None:
    files = dict(
        [
            said(1, "Is the pump in the shed?", source="sources/1.md"),
            said(2, "The pump is in the shed.", source="sources/2.md"),
        ]
    )
    assert asked(tmp_path, files, "pump shed") == [2, 1]


def ranked(
    folder: Path,
    files: dict[str, bytes],
    question: str,
    only: Filter | None = None,
    weights: Weights | None = None,
    **retrievals: int,
) -> list[index.Found]:
    """Ask at a moment; retrievals by the number of a memory, such as `n2=5`."""
    counts = {f"mem-{int(name[1:]):016x}": count for name, count in retrievals.items()}
    moment = Moment(now=NOW, retrievals=lambda id_: counts.get(id_, 0))
    wanted = index.Index(folder=folder, wanted=Indexed(tree=tree_of(files)))
    return wanted.search([question], only or Filter(limit=100), weights, moment).matches


def order(matches: list[index.Found]) -> list[int]:
    return [int(match.block.id.removeprefix("mem-"), 16) for match in matches]


def lone(number: int, body: str, day: str = "", **fields: object) -> tuple[str, bytes]:
    """Return the file of a memory that stands in a source of its own."""
    path, data = said(number, body, source=f"sources/{number}.md", day=day)
    memory, _ = codec.decode(path, data)
    assert memory is not None
    return path, codec.encode(memory.with_fields(fields))


# -- long texts ----------------------------------------------------------------------------------


def long_text(*parts: str) -> str:
    """Return a text of several chunks, each part in one of its own."""
    filler = " ".join(f"Filler number {n} says nothing at all of interest." for n in range(40))
    return f" {filler} ".join(f"{part}." for part in parts)


def test_a_long_text_is_found_by_its_best_chunk_and_is_one_hit(tmp_path: Path) -> None:
    long = long_text("The pump is red", "The valve is green", "The pump and the valve leak")
    files = dict([lone(1, long), lone(2, long_text("The pump", "nothing", "The valve"))])
    found = ranked(tmp_path, files, "pump valve leak")
    assert order(found) == [1, 2]
    assert order(ranked(tmp_path, files, "green valve", Filter(limit=1))) == [1]
    assert [one.block.blob for one in found] == [
        tree_of(files).blobs[one.block.path] for one in found
    ]
    wanted = index.Index(folder=tmp_path, wanted=Indexed(tree=tree_of(files)))
    assert wanted.count(["pump"], Filter()) == [2]


# -- likeness of meaning -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("whole", "wanted"),
    [
        (1.0, [(1, 1.0), (2, 1.0)]),
        (4.0, [(2, 0.55), (3, 0.6), (1, 0.25)]),
    ],
)
def test_meaning_fills_what_words_leave_open_and_brings_what_has_no_word(
    whole: float, wanted: list[tuple[int, float]]
) -> None:
    blocks = [Block(number=n, path=f"{n}", id=f"{n}", words=(n < 3) * 1.0) for n in range(1, 5)]
    found = rank(
        *(question_of("pump"), blocks, 10, Weights(meaning=0.8)),
        likeness={2: 0.1, 3: 0.2},
        whole=whole,
    )
    order = [(one.block.number, round(one.score, 3)) for one in found]
    assert order == sorted(wanted, key=lambda one: -one[1])


def test_a_note_of_a_day_gets_less_than_its_block_and_a_claim_all_of_it() -> None:
    record = Block(number=1, path="memories/a.md", id="mem-1", is_record=True, words=1.0)
    claim = Block(number=2, path="memories/b.md", id="mem-2", words=1.0)
    blocks = [
        *(record, claim),
        Block(number=3, path="sources/log.md", words=10.0, members=("memories/a.md",)),
        Block(number=4, path="sources/page.md", words=9.0, members=("memories/b.md",)),
    ]
    weights = Weights(note=0.2)
    found = rank(question_of("the kiln"), blocks, 10, weights, Moment(now=NOW))
    assert [one.block.id for one in found] == ["mem-2", "mem-1"]
    assert found[1].score == pytest.approx(0.64)


@pytest.mark.parametrize(("basis", "is_known"), [("heading", True), ("commit", False)])
def test_the_day_of_a_commit_is_not_when_a_statement_was_confirmed(
    basis: str, is_known: bool
) -> None:
    place = Source(resource="sources/a.md", captured="2026-03-01", captured_from=basis)
    fields = {"id": "mem-1", "type": "fact", "sources": (place,), "created": NOW}
    assert (last_confirmed(Memory.of("memories/a.md", fields, body="x")) > 0) is is_known
