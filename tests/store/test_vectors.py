"""Vectors: kept once each, whatever dies or is damaged, and scanned as a full comparison would."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_index import tree_of
from test_ranking import lone

from memrepo.policies.answers import ENOUGH
from memrepo.store import embedder as embedding
from memrepo.store import index
from memrepo.store.tables import Indexed
from memrepo.store.vectors import Kept, Key

np = pytest.importorskip("numpy", reason="numpy comes with memrepo[dense], which is not installed")
DIMS = 24


def vector(seed: int) -> Any:
    """Return a vector of length 1 that follows from a number."""
    found = np.sin(np.arange(1, DIMS + 1) * (seed + 1.5) ** 1.7)
    return (found / np.linalg.norm(found)).astype(np.float32)


class Counting:
    """Embeds keys whose part is their number, and counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Key] = []

    def __call__(self, batch: Sequence[Key]) -> Any:
        self.asked += batch
        return np.stack([vector(part) for _, part in batch])


def keys(*numbers: int) -> list[Key]:
    return [(f"{number:040x}", number) for number in numbers]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(folder=tmp_path, name="m", dims=DIMS)


def stored(kept: Kept, rows: dict[Key, int]) -> bool:
    """Tell whether each row holds the vector of its key."""
    array = np.fromfile(kept.array, dtype=np.float32)
    array = array[: len(array) // DIMS * DIMS].reshape(-1, DIMS)
    return all(np.array_equal(array[row], vector(part)) for (_, part), row in rows.items())


def test_a_text_is_embedded_once(kept: Kept) -> None:
    embed = Counting()
    first = dict(kept.rows(keys(*range(100)), embed))
    again = dict(kept.rows(keys(*range(50, 130)), embed))
    assert embed.asked == keys(*range(130))
    assert {key: again[key] for key in first} == first
    assert stored(kept, again)


@pytest.mark.parametrize("cut", [0, 1, DIMS * 4, DIMS * 4 * 9 + 5])
@pytest.mark.parametrize("which", ["array", "signs"])
def test_what_a_dying_process_left_is_made_again(kept: Kept, which: str, cut: int) -> None:
    kept.rows(keys(*range(10)), Counting())
    path: Path = getattr(kept, which)
    path.write_bytes(path.read_bytes()[:cut])
    rows = dict(kept.rows(keys(20, 21), Counting()))
    assert stored(kept, rows)
    rows = dict(kept.rows(keys(*range(12)), Counting()))
    assert rows.keys() >= set(keys(*range(12), 20, 21))
    assert stored(kept, rows)
    with kept.array.open("ab") as handle:
        handle.write(b"half a row")
    rows = dict(kept.rows(keys(*range(14)), Counting()))
    assert stored(kept, rows)


def test_the_nearest_are_those_of_a_full_comparison(kept: Kept) -> None:
    rows = kept.rows(keys(*range(200)), Counting())
    at, query = [rows[key] for key in keys(*range(0, 200, 3))], vector(33)
    found = kept.nearest(query, at, 5)
    cosines = [float(vector(number) @ query) for number in range(0, 200, 3)]
    wanted = sorted(range(len(cosines)), key=lambda i: -cosines[i])[:5]
    assert [place for place, _ in found] == wanted
    assert [cosine for _, cosine in found] == pytest.approx([cosines[i] for i in wanted], abs=1e-5)
    assert kept.nearest(query, [], 5) == []


# -- with the packaged model ---------------------------------------------------------------------

packaged = pytest.mark.skipif(
    not embedding.is_installed(), reason="memrepo[dense] is not installed"
)


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
    model = embedding.load()
    asked = index.Index(folder=tmp_path, wanted=wanted, model=lambda: model)
    found = asked.search(["which doctor treated whom"], index.Filter()).matches
    assert {match.id[-1] for match in found} == {"1", "3"}
    assert all(match.parts["meaning"] > 0 for match in found)
    (by_meaning,) = asked.search(
        ["Hat der Arzt Tabletten verschrieben?"], index.Filter(limit=1)
    ).matches
    assert (by_meaning.id[-1], by_meaning.parts["words"]) == ("1", 0)
    assert by_meaning.held == ENOUGH, "it is like enough to answer"
    (far,) = asked.search(["who healed people who were ill"], index.Filter(limit=1)).matches
    assert (far.id[-1], far.held) == ("3", 0)
    assert ticks.count("memories embedded") == 3
    before = len(ticks)
    assert asked.search(["which doctor treated whom"], index.Filter()).matches == found
    assert len(ticks) == before
    limited = index.Filter(types=("preference",))
    assert asked.search(["which doctor treated whom"], limited).matches == []
