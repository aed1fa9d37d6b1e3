"""Vectors: stored once each, whatever dies or is damaged, and compared with a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_index import tree_of
from test_ranking import lone

from memrepo.store import blocks, index
from memrepo.store.blocks import Indexed
from memrepo.store.index import Filter

np = pytest.importorskip("numpy", reason="numpy comes with memrepo[dense], which is not installed")
DIMS = 24


def vector(seed: int) -> Any:
    """Return a vector of length 1 that follows from a number."""
    found = np.sin(np.arange(1, DIMS + 1) * (seed + 1.5) ** 1.7)
    return (found / np.linalg.norm(found)).astype(np.float32)


def rows(*numbers: int) -> list[blocks.Embedded]:
    return [(number, f"{number:040x}", number) for number in numbers]


def numbered(*numbers: int) -> list[tuple[str, int, str]]:
    """Return texts to embed, each of which is the number of its part."""
    return [(blob, part, str(part)) for _, blob, part in rows(*numbers)]


@pytest.fixture
def ticks() -> list[str]:
    return []


@pytest.fixture
def kept(tmp_path: Path, ticks: list[str]) -> blocks.Vectors:
    model = blocks.Embedder(
        name="m", dims=DIMS, vectors=lambda texts: np.stack([vector(int(t)) for t in texts])
    )
    return blocks.Vectors(folder=tmp_path, embedder=model, tick=ticks.append)


def stored(kept: blocks.Vectors, *numbers: int) -> bool:
    """Tell whether each of the numbers has a row that holds its vector."""
    known = kept.known()
    held = all(data == vector(part).tobytes() for (_, part), data in known.items())
    return held and {part for _, part in known} >= {*numbers}


def test_a_text_is_embedded_once(kept: blocks.Vectors, ticks: list[str]) -> None:
    kept.embed(numbered(*range(100)))
    kept.embed(numbered(*range(50, 130)))
    assert len(ticks) == 130
    assert stored(kept, *range(130))


def test_a_damaged_record_is_begun_again(kept: blocks.Vectors) -> None:
    kept.embed(numbered(*range(10)))
    kept.path.write_bytes(b"garbage" * 1000)
    kept.embed(numbered(3, 4))
    assert (len(kept.known()), stored(kept, 3, 4)) == (2, True)


def test_the_most_similar_are_found(kept: blocks.Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "NEAREST", 5)
    kept.embed(numbered(*range(200)))
    cosines = {number: float(vector(number) @ vector(33)) for number in range(0, 200, 3)}
    best = sorted(cosines, key=lambda number: -cosines[number])[:5]
    wanted = {n: cosines[n] for n in best}
    assert dict(kept.nearest(rows(*cosines), "33")) == pytest.approx(wanted, abs=1e-5)
    assert kept.nearest([], "33") == {}
    assert kept.missing(rows(1, 300)) == [300]


def small(*, near: str, cosine: float) -> blocks.Embedder:
    """Return a model in which a question has a cosine with one text, and none with others."""
    other, is_near = np.eye(3, dtype=np.float32)[1:]
    asked = np.array([np.sqrt(1 - cosine**2), 0, cosine], np.float32)

    def vectors(texts: list[str]) -> Any:
        rows = [is_near if near in t else asked if t.endswith("?") else other for t in texts]
        return np.stack(rows)

    return blocks.Embedder(name="small", dims=3, vectors=vectors)


FILES = dict([lone(1, "The kiln is fired on Mondays."), lone(2, "Taxes are due in April.")])


def test_a_text_with_no_word_of_a_question_comes_before_one_with_a_weak_word(
    tmp_path: Path,
) -> None:
    model = small(near="kiln", cosine=0.2)
    asked = index.Index(folder=tmp_path, wanted=Indexed(tree=tree_of(FILES)), model=lambda: model)
    found = asked.search(["when due potters burn clay vessels?"], Filter()).matches
    assert [one.block.id[-1] for one in found] == ["1", "2"]
    assert not found[0].held.answers, "it is too far to be an answer"


def test_other_phrasings_are_ranked_by_their_words_alone(tmp_path: Path) -> None:
    def no_use() -> blocks.Embedder:
        raise AssertionError("the model is loaded")

    asked = index.Index(folder=tmp_path, wanted=Indexed(tree=tree_of(FILES)), model=no_use)
    (found,) = asked.search(["when do potters burn?"], Filter(), also=["kiln fired"]).matches
    assert found.block.id[-1] == "1"


# -- with the packaged model ---------------------------------------------------------------------

packaged = pytest.mark.skipif(not blocks.is_installed(), reason="memrepo[dense] is not installed")


@packaged
def test_a_memory_is_found_by_what_it_means(tmp_path: Path) -> None:
    files = dict(
        [
            lone(1, "The physician prescribed pills."),
            lone(2, "Taxes are due in April."),
            lone(3, "The surgeon has seen the patient."),
        ]
    )
    ticks: list[str] = []
    wanted = Indexed(tree=tree_of(files), tick=ticks.append)
    model = blocks.load()
    asked = index.Index(folder=tmp_path, wanted=wanted, model=lambda: model)
    found = asked.search(["which doctor treated whom"], Filter()).matches
    assert {match.block.id[-1] for match in found[:2]} == {"1", "3"}
    assert all(match.parts["meaning"] > 0 for match in found[:2])
    (by_meaning,) = asked.search(["Hat der Arzt Tabletten verschrieben?"], Filter(limit=1)).matches
    assert (by_meaning.block.id[-1], by_meaning.parts["words"]) == ("1", 0)
    assert by_meaning.held.answers, "it is like enough to answer"
    assert ticks.count("memories embedded") == 3
    before = len(ticks)
    assert asked.search(["which doctor treated whom"], Filter()).matches == found
    assert len(ticks) == before
    limited = Filter(types=("preference",))
    assert asked.search(["which doctor treated whom"], limited).matches == []
