"""A history written anew: every commit holds what an edit leaves of it, whatever git can hold."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from driving import git

from memrepo.core.needles import needles_of
from memrepo.merge.purging import Edit
from memrepo.store import quarantine
from memrepo.store.local import opened
from memrepo.store.quarantine import CannotRewrite, Tip, read_history

VALUE = "Ana Holt"
EDIT = Edit(needles=needles_of([VALUE]), seed="s")


def commit(repo: Path, message: bytes, *options: str) -> str:
    """Commit all that lies there, whatever its message holds."""
    git(repo, "add", "-A")
    argv = ["git", "-C", str(repo), *options, "commit", "-q", "--allow-empty", "-F", "-"]
    subprocess.run([*argv, "--cleanup=verbatim"], input=message, check=True, capture_output=True)
    return git(repo, "rev-parse", "HEAD").strip()


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Return a repository with everything that a history may hold beside memories."""
    repo = tmp_path / "odd"
    git(tmp_path, "init", "-q", "odd")
    (repo / "plain.txt").write_bytes(b"nothing of it\r\n")
    commit(repo, b"first, without the value\n")
    (repo / "crlf.txt").write_bytes(b"one\r\nAna Holt\r\ntwo\r\n")
    (repo / "latin.bin").write_bytes(b"\xff\xfe ANA_HOLT \x00 \xe4")
    (repo / "run.sh").write_text("echo ana-holt\n")
    (repo / "run.sh").chmod(0o755)
    (repo / "link").symlink_to("people/ana-holt.md")
    (repo / "people").mkdir()
    (repo / "people" / "ana-holt.md").write_text("about Ana\n> Holt\n")
    (repo / os.fsdecode(b'caf\xe9 "Ana Holt".txt')).write_text("a name that is no UTF-8\n")
    second = commit(repo, b"second, about Ana Holt")
    git(repo, "branch", "side")
    git(repo, "branch", "third")
    (repo / "people" / "ana-holt.md").unlink()
    (repo / "people").rmdir()
    (repo / "people").write_text(f"a folder became a file, see {second}\n")
    commit(repo, f"main of {second[:9]}\n\nnot {'0' * 9}\n".encode())
    for branch in ("side", "third"):
        git(repo, "switch", "-q", branch)
        (repo / f"{branch}.txt").write_text(f"{branch} of Ana Holt\n")
        commit(repo, f"{branch}\n".encode())
    git(repo, "switch", "-q", "main")
    parents = ("-p", "main", "-p", "side", "-p", "third")
    octopus = git(repo, "commit-tree", "main^{tree}", *parents, "-m", "three in one").strip()
    git(repo, "reset", "-q", "--hard", octopus)
    git(repo, "mv", "plain.txt", "Ana Holt.txt")
    commit(
        repo,
        "späte Änderung von Ana Holt\n".encode("latin-1"),
        "-c",
        "i18n.commitEncoding=ISO-8859-1",
    )
    commit(repo, b"an empty commit\n\n\n")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{second},module")
    git(repo, "commit", "-q", "-m", "a module")
    git(repo, "tag", "-a", "-m", "of Ana Holt", "outer-ana-holt")
    git(repo, "tag", "-a", "-m", "a tag of a tag", "nested", "outer-ana-holt")
    git(repo, "tag", "light")
    git(repo, "update-ref", "refs/tags/blob", git(repo, "rev-parse", "HEAD:run.sh").strip())
    git(repo, "notes", "add", "-m", "Ana Holt was told", second)
    return repo


def rewritten(repo: Path, edit: Edit = EDIT) -> tuple[Path, quarantine.Plan]:
    """Write a repository anew beside itself; return where, and what became of what."""
    with opened(repo) as found:
        tips = quarantine.tips_of(found)
        plan = quarantine.build(found, tips, read_history(found, tips), edit)
        return quarantine.folder_of(found) / quarantine.NEW, plan


def contents(repo: Path, commit: str) -> dict[str, tuple[str, bytes]]:
    """Return mode and bytes of every file of a commit by its path."""
    found = {}
    for row in filter(None, git(repo, "ls-tree", "-r", "-z", commit).split("\0")):
        head, path = row.split("\t", 1)
        mode, kind, id_ = head.split()
        data = git(repo, "cat-file", "blob", id_) if kind == "blob" else id_
        found[path] = (mode, data.encode("utf-8", "surrogateescape"))
    return found


def test_each_commit_holds_what_the_edit_leaves_of_it(odd: Path) -> None:
    new, plan = rewritten(odd)
    for old in git(odd, "rev-list", "--all").split():
        if git(odd, "log", "-1", "--format=%s", old).startswith("Notes"):
            continue
        before, after = contents(odd, old), contents(new, plan.new(old))
        wanted = {
            EDIT.path(path): (mode, EDIT.file(data, plan) if mode != "160000" else data)
            for path, (mode, data) in before.items()
        }
        assert after == wanted
        form = "--format=%an %ae %at %cn %ce %ct %e"
        assert git(new, "log", "-1", form, plan.new(old)) == git(odd, "log", "-1", form, old)
        parents = git(odd, "rev-list", "-1", "--parents", old).split()
        assert git(new, "rev-list", "-1", "--parents", plan.new(old)).split() == [
            plan.new(parent) for parent in parents
        ]
    assert git(new, "fsck", "--strict", "--full", check=False).strip() == ""
    assert "refs/tags/nested" in git(new, "for-each-ref")


def test_what_comes_before_the_value_stays_as_it_is(odd: Path) -> None:
    _, plan = rewritten(odd)
    first = git(odd, "rev-list", "--max-parents=0", "main").strip()
    assert plan.new(first) == first
    assert plan.new(git(odd, "rev-parse", "main").strip()) != git(odd, "rev-parse", "main").strip()


def test_an_edit_of_nothing_writes_nothing(odd: Path) -> None:
    _, plan = rewritten(odd, Edit(needles=needles_of(["Somebody Else"]), seed="s"))
    assert not plan.commits
    assert not plan.blobs
    assert not plan.tags


def test_messages_files_and_notes_name_the_commits_of_the_new_history(odd: Path) -> None:
    new, plan = rewritten(odd)
    second = git(odd, "log", "--all", "--grep=^second", "--format=%H").strip()
    assert plan.new(second)[:9] in git(new, "log", "--all", "--grep=^main of", "--format=%s")
    assert plan.new(second) in git(new, "show", "main:people")
    assert git(new, "notes", "show", plan.new(second)) == "(purged) was told\n"
    assert git(new, "cat-file", "-p", "refs/tags/nested^{}") == git(new, "cat-file", "-p", "main")


def test_equal_histories_become_equal_ones(odd: Path) -> None:
    one, _ = rewritten(odd)
    first = git(one, "for-each-ref")
    other, _ = rewritten(odd)
    assert git(other, "for-each-ref") == first


def test_a_ref_that_names_a_tree_is_refused(odd: Path) -> None:
    tree = git(odd, "rev-parse", "HEAD^{tree}").strip()
    with opened(odd) as found, pytest.raises(CannotRewrite):
        read_history(found, [Tip("refs/tags/tree", tree)])
