"""Vectors: stored once each, whatever dies or is damaged, and compared with a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from test_index import tree_of
from test_ranking import lone

from memrepo.policies.answers import ENOUGH
from memrepo.store import index, vectors
from memrepo.store.corpus import Filter
from memrepo.store.tables import Indexed

np = pytest.importorskip("numpy", reason="numpy comes with memrepo[dense], which is not installed")
DIMS = 24


def vector(seed: int) -> Any:
    """Return a vector of length 1 that follows from a number."""
    found = np.sin(np.arange(1, DIMS + 1) * (seed + 1.5) ** 1.7)
    return (found / np.linalg.norm(found)).astype(np.float32)


class Numbered(vectors.Vectors, frozen=True, kw_only=True):
    """Vectors of texts that are the number of their part, and a list of those embedded."""

    embedded: list[int] = msgspec.field(default_factory=list)

    def _text(self, path: str, blob: str, part: int) -> str:
        self.embedded.append(part)
        return str(part)


def rows(*numbers: int) -> list[vectors.Row]:
    return [(number, "a.md", f"{number:040x}", number) for number in numbers]


@pytest.fixture
def kept(tmp_path: Path) -> Numbered:
    model = vectors.Embedder(
        name="m", dims=DIMS, vectors=lambda texts: np.stack([vector(int(t)) for t in texts])
    )
    return Numbered(folder=tmp_path, wanted=Indexed(tree=tree_of({})), embedder=model)


def stored(kept: Numbered, *numbers: int) -> bool:
    """Tell whether each of the numbers has a row that holds its vector."""
    array = np.fromfile(kept.array, dtype=np.float32)
    array = array[: len(array) // DIMS * DIMS].reshape(-1, DIMS)
    known = kept.known()
    held = all(np.array_equal(array[row], vector(part)) for (_, part), row in known.items())
    return held and {part for _, part in known} >= {*numbers}


def test_a_text_is_embedded_once(kept: Numbered) -> None:
    kept.embed(rows(*range(100)))
    kept.embed(rows(*range(50, 130)))
    assert kept.embedded == [*range(130)]
    assert stored(kept, *range(130))


@pytest.mark.parametrize("cut", [0, 1, DIMS * 4, DIMS * 4 * 9 + 5])
def test_what_a_dying_process_left_is_made_again(kept: Numbered, cut: int) -> None:
    kept.embed(rows(*range(10)))
    kept.array.write_bytes(kept.array.read_bytes()[:cut])
    kept.embed(rows(20, 21))
    assert stored(kept, 20, 21)
    kept.embed(rows(*range(12)))
    assert stored(kept, *range(12), 20, 21)
    with kept.array.open("ab") as handle:
        handle.write(b"half a row")
    kept.embed(rows(*range(14)))
    assert stored(kept, *range(14))


def test_a_damaged_record_is_begun_again(kept: Numbered) -> None:
    kept.embed(rows(*range(10)))
    kept.keys.write_bytes(b"garbage" * 1000)
    kept.embed(rows(3, 4))
    assert (len(kept.known()), stored(kept, 3, 4)) == (2, True)


def test_all_that_is_asked_for_and_the_most_similar_are_scored(
    kept: Numbered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "NEAREST", 5)
    kept.embed(rows(*range(200)))
    cosines = {number: float(vector(number) @ vector(33)) for number in range(0, 200, 3)}
    found = dict(kept.similarity(rows(*cosines), "33")([3, 6]))
    best = sorted(cosines, key=lambda number: -cosines[number])[:5]
    wanted = {3, 6, *(number for number in best if cosines[number] >= vectors.MIN_COSINE)}
    assert found == pytest.approx({number: cosines[number] for number in wanted}, abs=1e-5)
    assert kept.similarity([], "33")([3]) == {}


# -- with the packaged model ---------------------------------------------------------------------

packaged = pytest.mark.skipif(not vectors.is_installed(), reason="memrepo[dense] is not installed")


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
    model = vectors.load()
    asked = index.Index(folder=tmp_path, wanted=wanted, model=lambda: model)
    found = asked.search(["which doctor treated whom"], Filter()).matches
    assert {match.document.id[-1] for match in found} == {"1", "3"}
    assert all(match.parts["meaning"] > 0 for match in found)
    (by_meaning,) = asked.search(["Hat der Arzt Tabletten verschrieben?"], Filter(limit=1)).matches
    assert (by_meaning.id[-1], by_meaning.parts["words"]) == ("1", 0)
    assert by_meaning.held == ENOUGH, "it is like enough to answer"
    (far,) = asked.search(["who healed people who were ill"], Filter(limit=1)).matches
    assert (far.id[-1], far.held) == ("3", 0)
    assert ticks.count("memories embedded") == 3
    before = len(ticks)
    assert asked.search(["which doctor treated whom"], Filter()).matches == found
    assert len(ticks) == before
    limited = Filter(types=("preference",))
    assert asked.search(["which doctor treated whom"], limited).matches == []


@packaged
def test_another_file_in_the_place_of_the_model_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tuple((name, "0" * 64) for name, _ in vectors.PINNED)
    monkeypatch.setattr(vectors, "PINNED", wrong)
    with pytest.raises(vectors.NoModelError, match="not the file"):
        vectors.load()
