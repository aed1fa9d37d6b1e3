"""Ranking through the real index: what the words say, and what stands around a hit."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_index import tree_of

from memrepo.core import codec
from memrepo.core.memory import Memory, Source
from memrepo.policies.ranking import Weights, question_of
from memrepo.store import index

NOTHING_AROUND = Weights(feedback=0, neighbour=0, second_neighbour=0, thread=0, subject=0, date=0)


def said(
    number: int, body: str, *, source: str = "sources/a.md", line: int = 0, day: str = "",
    subject: str = "",
) -> tuple[str, bytes]:  # fmt: skip
    """Return the file of a memory that was said in a place."""
    path = f"memories/knowledge/2026-01/m-{number:03}.md"
    place = Source(
        resource=source, blob="", lines=(line, line), text_hash=f"th-{number:016x}", kind="direct",
        captured=day,
    )  # fmt: skip
    fields = {"id": f"mem-{number:016x}", "type": "fact", "sources": (place,)}
    if subject:
        fields["subject"] = subject
    return path, codec.encode(Memory(path=path, fields=fields, body=body))


def asked(
    folder: Path, files: dict[str, bytes], question: str, weights: Weights | None = None
) -> list[int]:
    """Return the numbers of what answers a question, best first."""
    only = index.Filter(limit=100)
    found = index.search(folder, tree_of(files), [question], only, weights)
    return [int(match.id.removeprefix("mem-"), 16) for match in found]


def test_a_hit_beside_another_hit_comes_before_a_lone_one(tmp_path: Path) -> None:
    files = dict([
        said(1, "the pump", source="sources/lone.md", line=1),
        said(2, "the pump", line=1), said(3, "a pump", line=2),
        said(4, "other words", line=3),
    ])  # fmt: skip
    assert asked(tmp_path, files, "pump", NOTHING_AROUND) == [1, 2, 3]
    assert asked(tmp_path, files, "pump") == [2, 3, 1]


def test_a_neighbour_that_holds_no_word_of_the_question_is_no_hit(tmp_path: Path) -> None:
    files = dict([said(1, "the pump", line=1), said(2, "something else", line=2)])
    assert asked(tmp_path, files, "pump") == [1]


def test_lines_of_another_source_or_day_are_no_neighbours(tmp_path: Path) -> None:
    files = dict([
        said(1, "the pump", source="sources/b.md", line=1),
        said(2, "the pump", line=1, day="2026-01-01"),
        said(3, "the pump", line=2, day="2026-01-02"),
    ])  # fmt: skip
    assert asked(tmp_path, files, "pump", Weights(thread=0)) == [1, 2, 3]


def test_a_long_source_finds_its_neighbours_too(tmp_path: Path) -> None:
    filler = [said(n, f"filler w{n}", line=n) for n in range(10, 450)]
    files = dict([
        said(1, "the pump", source="sources/lone.md", line=1),
        said(500, "the pump", line=500), said(501, "a pump", line=501), *filler,
    ])  # fmt: skip
    assert asked(tmp_path, files, "pump", Weights(thread=0)) == [500, 501, 1]


def test_the_subject_that_a_question_names_comes_first(tmp_path: Path) -> None:
    files = dict([
        said(1, "likes tea", subject="Ben", source="sources/1.md"),
        said(2, "likes tea", subject="Vera", source="sources/2.md"),
    ])  # fmt: skip
    assert asked(tmp_path, files, "what tea does Vera like") == [2, 1]
    assert asked(tmp_path, files, "what tea is liked", Weights(thread=0)) == [1, 2]


def test_a_question_that_names_the_wrong_subject_is_answered_by_what_it_says(
    tmp_path: Path,
) -> None:
    files = dict([
        said(1, "sailed around the northern islands in a storm", subject="Ben", source="sources/1"),
        said(2, "sailed once", subject="Vera", source="sources/2.md"),
    ])  # fmt: skip
    question = "which storm did Vera meet on the northern islands when she sailed"
    assert asked(tmp_path, files, question)[0] == 1


def test_a_day_in_the_question_lifts_what_is_of_that_time(tmp_path: Path) -> None:
    days = ("2026-01-09", "2026-03-09", "2026-03-20", "2025-03-20")
    files = dict(
        said(n, "the pump broke", day=day, source=f"sources/{n}.md") for n, day in enumerate(days)
    )
    assert asked(tmp_path, files, "what broke on 20 March 2026?")[0] == 2
    assert set(asked(tmp_path, files, "which pump broke in March 2026?")[:2]) == {1, 2}
    assert asked(tmp_path, files, "what broke in 2025?")[0] == 3


@pytest.mark.parametrize(
    ("text", "months", "days"),
    [
        ("in March", {3}, set()), ("in Mar 2024", {3}, set()), ("on 5th of June", {6}, {5}),
        ("what may happen", set(), set()), ("on 5 May", {5}, {5}), ("May 2024", {5}, set()),
        ("room 12", set(), set()),
    ],
)  # fmt: skip
def test_months_and_days_are_read_from_a_question(
    text: str, months: set[int], days: set[int]
) -> None:
    question = question_of(text)
    assert (question.months, question.days) == (months, days)


def test_terms_of_the_best_hits_bring_up_what_goes_with_them(tmp_path: Path) -> None:
    files = dict(
        said(n, f"the pump and its gasket w{n}", source=f"sources/{n}.md") for n in range(20, 30)
    )
    files |= dict([
        said(1, "a pump of steel", source="sources/x1.md"),
        said(2, "a pump with gasket", source="sources/x2.md"),
        *(said(n, f"plain talk w{n}", source=f"sources/{n}.md") for n in range(100, 140)),
    ])  # fmt: skip
    order = asked(tmp_path, files, "pump")
    assert order.index(2) < order.index(1)
    plain = asked(tmp_path, files, "pump", NOTHING_AROUND)
    assert plain.index(1) < plain.index(2)


def test_each_hit_says_what_made_its_score(tmp_path: Path) -> None:
    files = dict([said(1, "the pump", line=1), said(2, "the pump", line=2)])
    for match in index.search(tmp_path, tree_of(files), ["pump"], index.Filter()):
        assert set(match.parts) == {"words", "neighbours", "thread", "subject", "date"}
        assert match.score == pytest.approx(sum(match.parts.values()), abs=1e-3)
        assert match.parts["neighbours"] > 0
