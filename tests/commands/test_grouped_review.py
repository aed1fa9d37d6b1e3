"""A review groups what belongs together: in text, JSON, terminal, page and comment alike."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from driving import LATER, NOW, done, memories, memrepo

from memrepo.faces.cli import main

MUCH_LATER = "2026-03-03T09:00:00Z"
OLD = [f"- The crate number {n} is kept in the hall and needs a new lid." for n in range(1, 28)]
FIRST = """\
# Memory

## Contacts

- Ada's e-mail address is ada@first.example.

## Workshop

- The kiln is fired on Mondays.
- The lathe stands in the cellar.
"""
SECOND = FIRST.replace("ada@first", "ada@second").replace("Mondays", "Fridays")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository in which a run waits: a file is gone, an address and a day changed."""
    notes = tmp_path / "workspace" / "notes"
    notes.mkdir(parents=True)
    (tmp_path / "workspace/MEMORY.md").write_text(FIRST)
    for name, said in (
        ("a", "The van is blue."),
        ("b", "The barn is dry."),
        ("c", "Tea is at four."),
    ):
        (notes / f"{name}.md").write_text(f"# {name}\n\n- {said}\n")
    (notes / "stock.md").write_text("# Stock\n\n" + "\n".join(OLD) + "\n")
    done(tmp_path, "init", "repo", "--from", "workspace", now=NOW)
    found = tmp_path / "repo"
    done(found, "config", "set", "sources.claims", "**/*.md", now=NOW)
    done(found, "config", "set", "run.shelf", "all", now=NOW)
    done(found, "run", now=NOW)
    (tmp_path / "workspace/MEMORY.md").write_text(SECOND + "- The crane is new.\n")
    (notes / "stock.md").unlink()
    assert memrepo(found, "run", "--mode", "reconciliation", now=LATER).exit == 3
    return found


def headings(repo: Path) -> list[tuple[str, int, bool]]:
    groups = done(repo, "diff")["groups"]
    return [(g["heading"], len(g["decisions"]), g["is_card"]) for g in groups]


def test_people_come_first_and_a_cause_is_one_card(repo: Path) -> None:
    found = headings(repo)
    count = found[-1][1]
    assert count > 20
    assert found == [
        ("People, rules and contacts", 1, False),
        ("Replaced, reworded or contradicted", 1, False),
        ("New, from MEMORY.md", 1, False),
        (f"{count} memories from notes/stock.md, which is gone", count, True),
    ]
    text = memrepo(repo, "diff", as_json=False).out
    places = [text.index(heading) for heading, _, _ in found]
    assert places == sorted(places)
    assert text.count("notes/stock.md") == 1
    assert len(re.findall(r"^    mem-.*crate", text, re.M)) == count
    comment = memrepo(repo, "diff", "--markdown", as_json=False).out
    assert all(heading in comment for heading, _, _ in found)


def answered(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *lines: str
) -> str:
    monkeypatch.chdir(repo)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    capsys.readouterr()
    main(["--now", MUCH_LATER, "review"])
    return capsys.readouterr().out


def test_a_card_can_be_looked_into(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = headings(repo)[-1][1]
    said = answered(repo, monkeypatch, capsys, "y", "y", "y", "e", "l", "n", "", "y", "d", "y")
    assert "look inside first" in said
    assert f"4 of {count + 3}  " in said
    assert f"5 of {count + 3} decisions in effect" not in said
    assert f"4 of {count + 3} decisions in effect" in said
    crates = [m.status for m in memories(repo).values() if "crate" in m.body]
    assert crates.count("archived") == 1


def test_accept_and_discard_count_decisions_as_the_review_does(repo: Path) -> None:
    total = done(repo, "diff")["decisions"]
    (first,) = done(repo, "diff")["groups"][0]["decisions"][0]
    dry = done(repo, "accept", "--except", first, "--dry-run", now=MUCH_LATER)
    assert (dry["decisions"], dry["proposed"], dry["dropped"]) == (total - 1, total, 0)
    assert done(repo, "discard", "--dry-run", now=MUCH_LATER)["decisions"] == total
    said = memrepo(repo, "accept", now=MUCH_LATER, as_json=False).out
    assert f": {total} decisions in effect" in said
