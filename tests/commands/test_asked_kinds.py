"""A question that is no more than a kind lists the memories of that kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import done, memrepo

NOTES = """\
# Memory

## Rules

- Never sand the hull while it is wet.
- Always coil the blue hose after washing.

## Projects

- The teak bench for the harbour is half built.

## Harbour

- The rules of the yacht club hang beside the slipway.
"""
RULES = {"Never sand the hull while it is wet.", "Always coil the blue hose after washing."}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kinds")
    (base / "workspace").mkdir()
    (base / "workspace" / "MEMORY.md").write_text(NOTES, encoding="utf-8")
    done(base, "init", base / "repo", "--from", "workspace")
    done(base / "repo", "run")
    return base / "repo"


def found(repo: Path, *argv: str) -> list[str]:
    return [hit["text"] for hit in done(repo, "search", "--no-touch", *argv)["hits"]]


@pytest.mark.parametrize(
    "asked",
    ["rules", "What are our rules?", "Regeln", "规则", "有哪些规则", "quelles sont les règles"],
)
def test_a_bare_kind_lists_it_in_any_language(repo: Path, asked: str) -> None:
    assert set(found(repo, asked)[:2]) == RULES


def test_a_kind_without_a_type_is_told_by_its_heading(repo: Path) -> None:
    assert found(repo, "my", "projects")[0] == "The teak bench for the harbour is half built."


def test_what_holds_the_words_comes_after_what_is_of_the_kind(repo: Path) -> None:
    hits = found(repo, "rules")
    assert hits[2:] == ["The rules of the yacht club hang beside the slipway."]
    said = memrepo(repo, "search", "rules", "--no-touch", as_json=False).out
    assert said.count("(score") == 1, "what is listed has no score"


def test_a_question_of_more_than_a_kind_and_one_that_is_limited_go_by_the_words(repo: Path) -> None:
    assert found(repo, "rules", "of", "the", "yacht", "club")[0].startswith(
        "The rules of the yacht"
    )
    assert set(found(repo, "rules", "--type", "fact")).isdisjoint(RULES)


def test_no_more_is_listed_than_was_asked_for(repo: Path) -> None:
    assert len(found(repo, "rules", "-k", "1")) == 1
