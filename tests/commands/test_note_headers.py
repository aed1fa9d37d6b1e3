"""Properties and tags of notes: search finds them, and memories have the tags."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, begin, done, git, memories, memrepo

NOTE = """---
type: person
phone: 0555-010-377
aliases: [The Baker]
tags:
  - Person
  - "#guild/bakers"
partners:
  - "[[Rasmus Holt]]"
empty:
created: 2026-02-11
---
# Vera Lind

- Vera prefers rye from the mill in Lom.
- The oven of Vera is lit at four.
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return the repository of a small vault after its first run."""
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Vera Lind.md").write_text(NOTE)
    (vault / "Mill.md").write_text("# Mill\n\n- The mill in Lom grinds rye on Mondays.\n")
    return begin(tmp_path, vault)


def passages(repo: Path, *words: str) -> list[str]:
    """Return the texts of the passages that a search finds."""
    return [p["text"] for p in done(repo, "search", "--no-touch", *words)["passages"]]


@pytest.mark.parametrize(
    ("word", "text", "lines"),
    [
        ("0555-010-377", "phone: 0555-010-377\naliases: [The Baker]", [3, 4]),
        ("baker", "phone: 0555-010-377\naliases: [The Baker]", [3, 4]),
        ("holt", 'partners:\n  - "[[Rasmus Holt]]"', [8, 9]),
    ],
)
def test_the_properties_of_a_note_are_passages_below_its_title(
    repo: Path, word: str, text: str, lines: list[int]
) -> None:
    (found,) = done(repo, "search", "--no-touch", word)["passages"]
    assert (found["text"], found["lines"], found["context"]) == (text, lines, "Vera Lind")


@pytest.mark.parametrize("word", ["empty", "created"])
def test_what_only_sorts_notes_is_no_passage(repo: Path, word: str) -> None:
    assert passages(repo, word) == []


def test_the_tags_of_a_note_are_those_of_its_memories_and_passages(repo: Path) -> None:
    found = [m for m in memories(repo).values() if "Vera" in m.body]
    assert found
    assert {m.tags for m in found} == {("Person", "guild/bakers")}
    answer = done(repo, "search", "--no-touch", "--tag", "guild/bakers", "rye", "oven", "mill")
    places = [h["sources"][0]["resource"] for h in answer["hits"]]
    places += [p["resource"] for p in answer["passages"]]
    assert {*places} == {"sources/Vera Lind.md"}


@pytest.mark.parametrize(
    ("tag", "has"),
    [
        ("guild/bakers", True),
        ("Guild/BAKERS", True),
        ("guild", True),
        ("Person", True),
        ("person", True),
        ("bakers", False),
        ("guil", False),
        ("person/guild", False),
    ],
)
def test_a_tag_finds_any_case_and_the_tags_below_it(repo: Path, tag: str, has: bool) -> None:
    found = done(repo, "search", "--no-touch", "--tag", tag, "0555-010-377", "prefers", "rye")
    assert (bool(found["hits"]), bool(found["passages"])) == (has, has)
    if not has:
        assert found["why"].endswith("without --tag")
        said = done(repo, "search", "--no-touch", "--tag", tag, "0555-010-377")["why"]
        assert said == "no memory or note with this tag contains any of these words"


def test_a_tag_that_the_vocabulary_lacks_is_left_out(repo: Path) -> None:
    config = repo / "memrepo.toml"
    config.write_text(config.read_text() + '\n[tags]\nvocabulary = ["guild/*"]\n')
    git(repo, "commit", "-qam", "Allow few tags")
    note = repo.parent / "vault" / "Vera Lind.md"
    note.write_text(f"{NOTE}- Vera built the oven in 1911 with her brother.\n")
    done(repo, "run", now=LATER)
    (new,) = (m for m in memories(repo).values() if "1911" in m.body)
    assert new.tags == ("guild/bakers",)


def test_one_line_with_a_foreign_word_names_no_language_of_the_notes(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    lines = "".join(f"## Shelf {n}\n\n- Row {n} of the mill is full.\n\n" for n in range(60))
    (vault / "Mill.md").write_text(f"# Mill\n\n{lines}- Fair in Markneukirchen, met a miller.\n")
    repo = begin(tmp_path, vault)
    (vault / "Öfen.md").write_text("# Öfen\n\n- Der Ofen ist für die Gäste.\n" * 3)
    advice = memrepo(repo, "search", "--no-touch", "zebra").out
    assert "Dutch" not in advice
    done(repo, "run", now=LATER)
    assert "German" in memrepo(repo, "search", "--no-touch", "zebra").out
