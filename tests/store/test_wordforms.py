"""Which words stand for one that no memory holds: slips and forms, not what merely begins alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_index import search, tree_of

from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.store import index

PAIRS = (
    ("unicorn", "Unicode", False),
    ("cardboard", "cardigan", False),
    ("station", "statics", False),
    ("universe", "unicorn", False),
    ("golf", "gold", False),
    ("park", "mark", False),
    ("terraform", "form", False),
    ("handicap", "hand", False),
    ("ingress", "progress", False),
    ("рецепт", "рецензент", False),
    ("борщ", "общ", False),
    ("abgesagt", "gesagt", True),
    ("gatee", "gate", True),
    ("Москвою", "Москва", True),
    ("greenhuose", "greenhouse", True),
    ("kontrakt", "kontakt", True),
    ("Krakowie", "Krakow", True),
    ("Moskwie", "Moskwa", True),
    ("Helsingin", "Helsinki", True),
    ("Vladimira", "Vladimir", True),
    ("Kaffemaschine", "Kaffeemaschine", True),
)
"""What is asked for, what the one memory holds, and whether it stands for it."""


@pytest.mark.parametrize(("asked", "held", "stands"), PAIRS)
def test_a_word_stands_for_another_by_a_slip_or_an_ending_and_not_by_its_head_alone(
    tmp_path: Path, asked: str, held: str, stands: bool
) -> None:
    memory = Memory(
        path="memories/facts/a.md",
        fields={"id": f"mem-{1:016x}", "type": "fact"},
        body=f"{held} 4711",
    )
    tree = tree_of({memory.path: codec.encode(memory)})
    found = search(tmp_path, tree, [asked], index.Filter())
    assert bool(found) is stands
