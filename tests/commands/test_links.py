"""Links end to end: suggested at add, made by runs, walked, drawn, taken back for good."""

from __future__ import annotations

from pathlib import Path

from driving import begin, done, git, memories, memrepo, subjects

ONE = "- The Kestrel host keeps the backups of Mara.\n"
TWO = "- Kestrel overheats in summer, so its fan runs all day.\n"
LATER = "2026-03-01T12:00:00Z"


def linked(repo: Path) -> list[tuple[str, str, str]]:
    return [
        (m.id, x.target, x.type) for m in memories(repo).values() for x in m.fields.get("links", ())
    ]


def workspace(base: Path) -> Path:
    folder = base / "agent"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(f"# Hosts\n\n{ONE}{TWO}", encoding="utf-8")
    return folder


def two_linked(base: Path) -> Path:
    return begin(base, workspace(base))


def test_links_that_were_taken_back_are_not_made_again(tmp_path: Path) -> None:
    repo = two_linked(tmp_path)
    commit = git(repo, "log", "--format=%H", "--grep=^Memrepo-Op: link").strip()
    done(repo, "revert", commit)
    assert linked(repo) == []
    (tmp_path / "agent" / "MEMORY.md").write_text(
        f"# Hosts\n\n{ONE}{TWO}- Osprey is a printer.\n", encoding="utf-8"
    )
    done(repo, "run", now=LATER)
    assert len(memories(repo)) == 3
    assert linked(repo) == []


def test_add_names_what_is_alike_and_links_nothing(tmp_path: Path) -> None:
    repo = two_linked(tmp_path)
    before = linked(repo)
    answer = done(repo, "add", "The Kestrel host keeps the backups of Jonas too.")
    (near,) = answer["suggested"]
    assert near["text"].endswith(ONE.removeprefix("- ").strip())
    assert linked(repo) == before
    said = memrepo(repo, "add", "Unheard of elsewhere.", as_json=False)
    assert "of the same matter" not in said.out


def test_what_a_memory_replaced_is_related_to_it_and_the_other_way_round(repo: Path) -> None:
    old = done(repo, "add", "The stall is shut in July.")["id"]
    new = done(repo, "supersede", old, "The stall is shut in August.")["id"]
    for one, other, way in ((new, old, "to"), (old, new, "from")):
        (row,) = done(repo, "related", one)["related"]
        assert (row["id"], row["type"], row["way"]) == (other, "supersedes", way)
    assert "supersedes it" in memrepo(repo, "related", old, as_json=False).out


def test_a_run_removes_links_to_a_memory_that_was_deleted_by_hand(tmp_path: Path) -> None:
    repo = two_linked(tmp_path)
    ((_, target, _),) = linked(repo)
    git(repo, "rm", "-q", memories(repo)[target].path)
    git(repo, "commit", "-qnm", "Drop it")
    assert memrepo(repo, "check").exit == 1
    done(repo, "run", now=LATER)
    assert subjects(repo, "--grep=^Memrepo-Op: link")[0] == "Remove links to deleted memories"
    assert linked(repo) == []
    assert memrepo(repo, "check").exit == 0
