"""Bringing back what was pruned, forgotten, archived or superseded; undo and redo."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, assert_sound, done, git, memories, memrepo, operations, standing

THIRD, FOURTH = "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"
ALPHA = "- The server alpha keeps the archive of the choir."
VIM, HELIX = "- [2026-01-10] **Editor:** vim", "- [2026-02-20] **Editor:** helix"


def write(base: Path, *lines: str) -> None:
    (base / "workspace").mkdir(exist_ok=True)
    (base / "workspace" / "MEMORY.md").write_text("# Infra\n\n" + "\n".join(lines) + "\n")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository in which helix superseded vim."""
    write(tmp_path, ALPHA, VIM)
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    write(tmp_path, ALPHA, VIM, HELIX)
    done(tmp_path / "repo", "run", now=LATER)
    return tmp_path / "repo"


def by_word(repo: Path, word: str) -> str:
    (found,) = [i for i, m in memories(repo).items() if word in m.body]
    return found


def prune(repo: Path, id_: str) -> None:
    git(repo, "rm", "-q", memories(repo)[id_].path)
    git(repo, "commit", "-qm", "prune by hand", "--no-verify")


def set_status(repo: Path, id_: str, lines: str) -> None:
    """Write header lines into a memory's file, as a later version's upkeep would."""
    path = repo / memories(repo)[id_].path
    path.write_text(path.read_text().replace("\ncreated:", f"\n{lines}\ncreated:", 1))
    git(repo, "commit", "-qam", "by hand", "--no-verify")


def test_a_forgotten_memory_comes_back(repo: Path) -> None:
    id_ = by_word(repo, "alpha")
    before = memories(repo)[id_]
    done(repo, "forget", id_)
    done(repo, "restore", id_[:10], "--reason", "it was right", now=THIRD)
    after = memories(repo)[id_]
    assert (after.status, after.body) == ("active", before.body)
    assert after.fields["verified"][-1].by == "human:person@example.org"
    assert operations(repo)[0] == "restore"
    assert "alpha" in (repo / "views" / "LTMEMORY.md").read_text()
    assert done(repo, "restore", id_, now=FOURTH)["unchanged"]
    assert_sound(repo)


def test_an_archived_memory_comes_back(repo: Path) -> None:
    id_ = by_word(repo, "alpha")
    set_status(repo, id_, "status: archived")
    done(repo, "restore", id_, now=THIRD)
    assert memories(repo)[id_].status == "active"


def test_a_memory_that_left_the_tree_comes_back_as_it_last_was(repo: Path) -> None:
    id_ = by_word(repo, "alpha")
    path = memories(repo)[id_].path
    done(repo, "edit", id_, "--text", "The server alpha keeps two archives.")
    (repo / path).write_text((repo / path).read_text().replace("\n---\n", "\nmine: kept\n---\n", 1))
    git(repo, "commit", "-qam", "my own key", "--no-verify")
    prune(repo, id_)
    for word in (id_, id_[:11], path.rsplit("/", 1)[-1].removesuffix(".md")):
        assert done(repo, "restore", word, "--dry-run")["id"] == id_
    done(repo, "restore", id_, now=THIRD)
    found = memories(repo)[id_]
    assert (found.path, found.body) == (path, "The server alpha keeps two archives.")
    assert "mine: kept" in (repo / path).read_text()
    assert found.status == "active"
    assert_sound(repo)


def test_a_note_comes_back_warm_and_marked(repo: Path) -> None:
    id_ = done(repo, "add", "The boiler was read.", "--type", "note")["id"]
    prune(repo, id_)
    done(repo, "restore", id_, now=THIRD)
    found = memories(repo)[id_]
    assert found.user_marked
    assert found.tier == "warm"


@pytest.mark.parametrize("word", ["mem-ffffffffffffffff", "no-such-thing-at-all", "-x", "*"])
def test_what_never_was_is_named(repo: Path, word: str) -> None:
    assert memrepo(repo, "restore", "--", word).exit == 2


@pytest.mark.parametrize("gone", [False, True])
def test_what_is_rejected_does_not_come_back(repo: Path, gone: bool) -> None:
    id_ = by_word(repo, "alpha")
    done(repo, "reject", id_, "--reason", "never", now=LATER)
    if gone:
        prune(repo, id_)
    before = standing(repo)
    answer = memrepo(repo, "restore", id_, now=THIRD)
    assert answer.exit == 3
    assert "--undo" in answer.error["fix"]
    assert standing(repo) == before


@pytest.mark.parametrize(("gone", "said"), [(False, ", was forgotten"), (True, " from history")])
def test_the_commit_says_from_where_a_memory_came_back(repo: Path, gone: bool, said: str) -> None:
    id_ = by_word(repo, "alpha")
    done(repo, "forget", id_, now=LATER)
    if gone:
        prune(repo, id_)
    done(repo, "restore", id_, now=THIRD)
    form = "--format=%(trailers:key=Memrepo-Reason,valueonly)"
    assert git(repo, "log", "-1", form).strip() == f"restored by hand{said}"


def test_a_link_to_what_is_gone_by_now_does_not_come_back(repo: Path) -> None:
    alpha, helix = by_word(repo, "alpha"), by_word(repo, "helix")
    done(repo, "link", alpha, "supports", helix, now=LATER)
    prune(repo, alpha)
    prune(repo, helix)
    done(repo, "restore", alpha, now=THIRD)
    assert "links" not in memories(repo)[alpha].fields
    assert_sound(repo)


# -- supersessions are whole ---------------------------------------------------------------------


def test_what_was_replaced_by_something_in_effect_asks_for_a_choice(repo: Path) -> None:
    before = standing(repo)
    answer = memrepo(repo, "restore", by_word(repo, "vim"), now=THIRD)
    assert answer.exit == 3
    assert by_word(repo, "helix") in answer.error["message"]
    assert standing(repo) == before


def test_instead_turns_the_supersession_round(repo: Path) -> None:
    vim, helix = by_word(repo, "vim"), by_word(repo, "helix")
    done(repo, "restore", vim, "--instead", now=THIRD)
    found = memories(repo)
    assert (found[vim].status, found[helix].status) == ("active", "superseded")
    assert found[vim].supersedes == (helix,)
    assert found[helix].superseded_by == (vim,)
    assert "supersedes" not in found[helix].fields
    assert not {"superseded_by", "superseded_at"} & found[vim].fields.keys()
    assert_sound(repo)


# -- undo ----------------------------------------------------------------------------------------


def test_with_nothing_to_undo_it_says_so(tmp_path: Path) -> None:
    done(tmp_path, "init", "fresh")
    assert memrepo(tmp_path / "fresh", "undo").exit == 2
    assert memrepo(tmp_path / "fresh", "revert", "HEAD").exit == 2


def test_beside_lets_both_stand_and_contest_each_other(repo: Path) -> None:
    vim, helix = by_word(repo, "vim"), by_word(repo, "helix")
    done(repo, "restore", vim, "--beside", now=THIRD)
    found = memories(repo)
    assert {found[i].status for i in (vim, helix)} == {"active"}
    assert {found[i].standing for i in (vim, helix)} == {"contested"}
    assert "supersedes" not in found[helix].fields
    assert "superseded_by" not in found[vim].fields
