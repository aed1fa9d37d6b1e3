"""Every rule of `check`: a file that breaks it is named, one that keeps it is not, --fix mends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from docs_parts import ROOT
from rule_examples import ELSEWHERE, EXAMPLES, Example, good_scene, raw, scene

from memrepo.actions.check import repaired_files
from memrepo.checks import find_problems as problems
from memrepo.checks.rules import all_rules

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


FIXED = {name: example for name, example in EXAMPLES.items() if example.fixed is not None}


def test_every_rule_has_examples() -> None:
    assert {*EXAMPLES, *ELSEWHERE} == {*all_rules()}
    assert all((ROOT / page).read_text().count(name) for name, page in ELSEWHERE.items())


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_that_breaks_a_rule_is_named_with_its_place(name: str) -> None:
    found = [p for p in problems(scene(EXAMPLES[name], EXAMPLES[name].bad)) if p.rule == name]
    assert found
    assert {p.severity for p in found} == {all_rules()[name].severity}
    assert all(p.path and p.message for p in found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_that_keeps_a_rule_is_not(name: str) -> None:
    assert name not in {p.rule for p in problems(good_scene(name))}


def test_what_can_be_mended_says_so_and_nothing_else_does() -> None:
    assert {name for name, rule in all_rules().items() if rule.repair} == {*FIXED}


@pytest.mark.parametrize("name", FIXED)
def test_a_fix_mends_what_the_rule_found_and_nothing_else(name: str) -> None:
    example = FIXED[name]
    made = repaired_files(scene(example, example.bad), NOW)
    assert {one.path: one.data for one in made.values()} == raw(example.fixed or {})
    after = Example(bad=example.fixed or {}, before=example.before, wants=example.wants)
    assert not repaired_files(scene(after, after.bad), NOW)
    left = [p for p in problems(scene(after, after.bad)) if p.rule == name]
    assert not left or name == "tag-unknown"


def test_a_tombstone_that_cannot_be_read_stops_no_commit_of_another_file() -> None:
    stone = "tombstones/ts-0123456789abcdef.md"
    found = problems(scene(Example(bad={}, around={stone: "x"}), EXAMPLES["memory-layer"].good))
    assert found == ()


def test_a_memory_without_an_id_has_its_references_looked_up_too() -> None:
    text = "---\ntype: fact\nlinks: [{target: mem-0000000000000000, type: related}]\n---\n\nText.\n"
    found = problems(scene(Example(bad={}), {"memories/knowledge/pot.md": text}))
    assert [p.rule for p in found] == ["memory-no-id", "reference-lost"]


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("type: facct", "did you mean fact?"),
        (
            "type: fact\nlinks: [{target: mem-0123456789abcdef, type: Relatd}]",
            "did you mean related?",
        ),
        ("type: fact\nstatus: xyz", "write one of these words"),
        ("type: fact\nconfidence: 3", "write a number from 0 to 1"),
    ],
)
def test_a_wrong_word_is_answered_with_the_one_that_was_meant(line: str, fix: str) -> None:
    text = f"---\n{line}\n---\n\nText.\n"
    found = problems(scene(Example(bad={}), {"memories/knowledge/pot.md": text}))
    assert fix in {p.fix for p in found if p.rule == "frontmatter-value"}
