"""What a memory's file looks like to whoever owns it, and what it may say by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from driving import LATER, NEXT_DAY, assert_sound, begin, done, git, memories, memrepo

MEMORY = """\
# Memory

## House rules
- The kiln is never left alone while it is above 600 degrees
- Orders above 300 euros need a deposit of a third

## Workshop
- The glaze room is aired by the north window
"""
LOG = """\
# 2026-02-14
## 决定
- 决定：陶艺课改到星期三晚上七点开始
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository of two files after a run: undated lines, and a day's log in Chinese."""
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text(MEMORY)
    (workspace / "memory" / "2026-02-14.md").write_text(LOG)
    return begin(tmp_path, workspace)


def path_of(repo: Path, words: str) -> Path:
    (memory,) = (m for m in memories(repo).values() if words in m.body and not m.is_note)
    return repo / memory.path


def test_a_file_says_what_its_owner_cares_for(repo: Path) -> None:
    path = path_of(repo, "north window")
    id_ = done(repo, "search", "glaze room window")["hits"][0]["id"]
    assert path.name == f"the-glaze-room-is-aired-by-the-north-window-{id_[4:10]}.md"
    assert path.parent == repo / "memories" / "knowledge"
    assert path.read_text() == (
        f"---\nid: {id_}\ntype: fact\nsubject: Workshop\ncontext: MEMORY › Workshop\n"
        "created: 2026-03-01T09:00:00Z\nhot: 2026-03-01T09:00:00Z sync\n"
        "sources:\n  - MEMORY.md:8, 2026-03-01 commit th-8d510f6db7dd34b1\n---\n\n"
        "The glaze room is aired by the north window\n"
    )


def test_a_file_is_named_in_the_script_of_its_words(repo: Path) -> None:
    path = path_of(repo, "星期三")
    assert path.name.startswith("决定-陶艺课改到星期三晚上七点开始-")
    assert "\nsources:\n  - memory/2026-02-14.md:3, 2026-02-14 th-" in path.read_text()
    memory = next(m for m in memories(repo).values() if "星期三" in m.body and not m.is_note)
    (source,) = memory.sources
    assert (source.captured, source.captured_from) == ("2026-02-14", "heading")


def test_lines_that_left_a_source_are_quoted_from_the_version_that_had_them(repo: Path) -> None:
    id_ = done(repo, "search", "deposit of a third")["hits"][0]["id"]
    source = repo / "sources" / "MEMORY.md"
    before = git(repo, "rev-parse", "HEAD:sources/MEMORY.md").strip()
    moved = source.read_text().replace("# Memory\n", "# Memory\n\nOf the pottery.\n")
    source.write_text(moved)
    git(repo, "commit", "-qam", "a line more", "--no-verify")
    (piece,) = done(repo, "show", id_)["evidence"]
    assert (piece["resolved"], piece["found"]["lines"], piece["blob"]) == ("moved", [7, 7], before)
    source.write_text("\n".join(row for row in moved.split("\n") if "deposit" not in row))
    git(repo, "commit", "-qam", "a line less", "--no-verify")
    (piece,) = done(repo, "show", id_)["evidence"]
    assert (piece["resolved"], piece["missing"]) == ("lost", False)
    assert piece["quote"] == "- Orders above 300 euros need a deposit of a third"


def test_a_file_by_hand_and_a_source_by_hand_are_read(repo: Path) -> None:
    path = repo / "memories" / "knowledge" / "cat.md"
    path.write_text(
        "---\ntype: fact\nsources: MEMORY.md:8\n---\nThe cat sleeps in the glaze room.\n"
    )
    done(repo, "check", "--fix", "memories/knowledge/cat.md")
    named = next(path.parent.glob("cat*.md"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "the cat", "--no-verify")
    done(repo, "run", now=LATER)
    reconciled(repo)
    memory = next(m for m in memories(repo).values() if "cat sleeps" in m.body)
    assert (memory.status, memory.standing, memory.sources[0].lines) == (
        "active",
        "resolved",
        (8, 8),
    )
    assert "sources: MEMORY.md:8\n" in named.read_text(), "it has no hash, and is not followed"
    path = path_of(repo, "kiln")
    text = path.read_text()
    path.write_text(text.replace("MEMORY.md:4", "MEMORY.md:5"))
    git(repo, "commit", "-qam", "another line", "--no-verify")
    (piece,) = done(repo, "show", memories_id(repo, "kiln"))["evidence"]
    assert (piece["resolved"], piece["found"]["lines"]) == ("moved", [4, 4])
    assert_sound(repo)


def reconciled(repo: Path) -> None:
    """Read every source again; what that takes away is accepted."""
    if memrepo(repo, "run", "--mode", "reconciliation", now=NEXT_DAY).exit == 3:
        assert memrepo(repo, "accept", now=NEXT_DAY).exit == 0


def memories_id(repo: Path, words: str) -> str:
    return next(m.id for m in memories(repo).values() if words in m.body)


def test_a_wording_by_hand_is_not_said_again_by_the_line_that_it_came_from(repo: Path) -> None:
    path = path_of(repo, "north window")
    path.write_text(path.read_text().replace("aired by the", "aired daily by the"))
    git(repo, "commit", "-qam", "daily", "--no-verify")
    done(repo, "run", now=LATER)
    source = repo.parent / "workspace" / "MEMORY.md"
    source.write_text(
        source.read_text() + "\n## Shop\n- Never fire the kiln while the shop is open\n"
    )
    reconciled(repo)
    told = [m for m in memories(repo).values() if "glaze room" in m.body]
    assert [(m.body, m.status, m.standing) for m in told] == [
        ("The glaze room is aired daily by the north window", "active", "resolved")
    ]


def test_a_memory_deleted_by_hand_is_not_made_again(repo: Path) -> None:
    path = path_of(repo, "north window")
    git(repo, "rm", "-q", str(path))
    git(repo, "commit", "-qm", "no more of this")
    said = memrepo(repo, "run", now=LATER, as_json=False).err
    assert "1 memory was deleted by hand: no run adds it again" in said
    (stone,) = (repo / "tombstones").iterdir()
    done(repo, "run", "--mode", "reconciliation", now=NEXT_DAY)
    assert not any("north window" in m.body for m in memories(repo).values() if not m.is_note)
    assert_sound(repo)
    done(repo, "reject", stone.stem, "--undo")
    memrepo(repo, "run", "--mode", "reconciliation", now=NEXT_DAY)
    done(repo, "accept")
    assert path_of(repo, "north window") == path


def test_a_wrong_source_is_told_with_its_line(repo: Path) -> None:
    path = path_of(repo, "kiln")
    (place,) = (s.spell() for m in memories(repo).values() for s in m.sources if "kiln" in m.body)
    path.write_text(path.read_text().replace(place, '"MEMORY.md:9-4"'))
    told = memrepo(repo, "check", str(path.relative_to(repo)))
    assert told.exit == 1
    (problem,) = (p for p in told.data["problems"] if p["severity"] == "error")
    assert problem["line"] == path.read_text().split("\n").index('  - "MEMORY.md:9-4"') + 1
    assert "expected a place such as MEMORY.md:35" in problem["message"]


# -- opened as a vault -------------------------------------------------------------------------


def test_properties_are_flat_an_alias_is_a_name_and_a_renamed_file_keeps_its_name(
    tmp_path: Path,
) -> None:
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    kiln = done(repo, "add", "The kiln stands in the barn.", "--class", "durable")["id"]
    barn = done(repo, "add", "The barn is dry.", "--critical")["id"]
    done(repo, "link", barn, "related", kiln)
    done(repo, "edit", kiln, "--text", "The kiln stands in the new barn.")
    done(repo, "confirm", kiln)
    for memory in memories(repo).values():
        header = (repo / memory.path).read_text(encoding="utf-8").partition("\n---\n")[0]
        assert "{" not in header
        assert yaml.safe_load(header.removeprefix("---"))["id"] == memory.id
    old = repo / memories(repo)[kiln].path
    new = old.with_name("The stove.md")
    text = old.read_text(encoding="utf-8").replace("type: fact\n", "type: fact\naliases: [Ofen]\n")
    old.unlink()
    new.write_text(text, encoding="utf-8")
    bread = repo / "memories/knowledge/bread.md"
    bread.write_text("---\ntype: fact\n---\n\nBread is baked in the [[Ofen]].\n", encoding="utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "in the vault")
    done(repo, "run", now=LATER)
    found = memories(repo)
    assert found[kiln].path.endswith("/The stove.md")
    assert found[kiln].aliases == ("Ofen",)
    (baked,) = (m.id for m in found.values() if "Bread" in m.body)
    assert [row["id"] for row in done(repo, "related", baked)["related"]] == [kiln]
    assert done(repo, "show", "The stove")["memory"]["id"] == kiln
    for word in ("Ofen", "stove"):
        assert kiln in [hit["id"] for hit in done(repo, "search", word)["hits"]]
    assert_sound(repo)
    git(repo, "mv", found[kiln].path, found[kiln].path.replace("The stove", "Stove"))
    git(repo, "commit", "-qm", "another name")
    git(repo, "rm", "-q", str(new.with_name("Stove.md")))
    git(repo, "commit", "-qm", "the kiln is gone")
    history = done(repo, "log", "--memory", kiln)["entries"]
    assert [e["subject"] for e in history[:2]] == ["the kiln is gone", "another name"], history
