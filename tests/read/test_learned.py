"""The small model: what it puts first, the types that it gives, and that it can be made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.judge.__main__ import encode, train
from benchmarks.judge.rows import load
from memrepo.read import learned
from memrepo.read.kinds import FileKind, file_kind, section_kind, signs_of
from memrepo.read.shelf import rank_file
from memrepo.read.thoughts import Unit, scan

EXAMPLES = Path(__file__).with_name("examples.txt").read_text("utf-8").splitlines()
PAIRS = [
    [[cell.strip() for cell in side.split(" | ")] for side in line.split(" > ")]
    for line in EXAMPLES
    if not line.startswith("#")
]


def read_item(path: str, heading: str, text: str) -> tuple[Unit, FileKind]:
    """Return an item below a heading, and the kind of its file."""
    source = f"# Notes\n\n## {heading}\n\n- {text}\n"
    (unit,) = scan(path, source.encode()).units
    return unit, file_kind(path, source, [unit])


def features_of(*row: str) -> learned.Features:
    """Return what the model sees of an item below a heading."""
    unit, kind = read_item(*row)
    return learned.features(unit, kind.kind.name, section_kind(unit.headings), signs_of(unit))


def type_in(*row: str) -> str:
    unit, kind = read_item(*row)
    (found,) = rank_file(kind, [unit]).values()
    return found.type


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=[pair[0][3][:30] for pair in PAIRS])
def test_a_statement_worth_keeping_comes_before_one_that_is_not(
    first: list[str], second: list[str]
) -> None:
    assert learned.worth(features_of(*first[1:4])) > learned.worth(features_of(*second[:3]))


@pytest.mark.parametrize(
    ("row", "kind"), [(p[0][1:4], p[0][4]) for p in PAIRS], ids=[p[0][3][:30] for p in PAIRS]
)
def test_a_statement_has_the_type_that_its_form_states(row: list[str], kind: str) -> None:
    assert type_in(*row) == kind


@pytest.mark.parametrize("row", [p[1] for p in PAIRS], ids=[p[1][2][:30] for p in PAIRS])
def test_a_log_line_or_status_states_no_preference_rule_or_decision(row: list[str]) -> None:
    kind = type_in(*row[:3])
    assert kind not in ("preference", "constraint", "decision", "commitment")


def test_training_again_gives_the_same_bytes() -> None:
    written = learned.WEIGHTS.read_bytes()
    assert encode(train(load())) == written
    assert len(written) <= 200_000
