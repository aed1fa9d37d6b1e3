"""Files that a write puts in place: whole ones or none, and never with other line ends."""

from __future__ import annotations

import os
from pathlib import Path

import driving
import pytest
import standing
import workspaces
from driving import git

from memrepo.core.errors import GitFailed
from memrepo.store.git import opened
from memrepo.store.repo import WorkTree

HALVING = """\
#!/bin/sh
case "$*" in
  *checkout-index*) ;;
  *) exec {git} "$@" ;;
esac
{git} "$@"
for place in "$@"; do
  case "$place" in --prefix=*) folder=${{place#--prefix=}} ;; esac
done
half=$(find "$folder" -type f | sort | head -n 1)
truncate -s 5 "$half"
{says}
exit 1
"""
"""A git that cannot write the whole of one file."""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    text = b"# Memory\r\n\r\n- The pump in Oslo is red.\r\n- The pump in Bergen is blue.\r\n"
    return driving.begin(tmp_path, workspaces.write(tmp_path / "ws", {"MEMORY.md": text}))


@pytest.mark.parametrize("says", ["echo 'error: unable to write file' >&2", ""])
def test_half_a_file_is_neither_put_in_place_nor_staged(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    real = f"{git(repo, '--exec-path').strip()}/git"
    program.write_text(HALVING.format(git=real, says=says))
    program.chmod(0o755)
    before = standing.prints(repo)
    paths = git(repo, "ls-files", "memories").split()
    with monkeypatch.context() as patch, opened(repo) as found:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        with pytest.raises(GitFailed):
            WorkTree(found).restore(paths)
        answer = driving.memrepo(repo, "add", "The key is green.", now=driving.LATER)
    assert answer.exit == 5, answer
    assert standing.prints(repo) == before


@pytest.mark.parametrize("place", [".gitattributes", ".git/info/attributes"])
def test_line_ends_are_staged_as_they_are_committed(repo: Path, place: str) -> None:
    with (repo / place).open("a", encoding="utf-8") as handle:
        handle.write("*.md text\n")
    git(repo, "commit", "-nqam", "text", "--allow-empty")
    source = repo.parent / "ws" / "MEMORY.md"
    for n in range(2):
        source.write_bytes(source.read_bytes() + b"- The key %d is green.\r\n" % n)
        driving.done(repo, "run", now=f"2026-03-0{4 + n}T08:00:00Z")
        assert b"\r\n" in git(repo, "show", "HEAD:sources/MEMORY.md").encode()
        assert git(repo, "diff", "--cached", "--name-only") == ""


def test_a_file_that_cannot_be_put_in_place_is_named_itself(repo: Path) -> None:
    path = git(repo, "ls-files", "memories").split()[0]
    (repo / path).unlink()
    (repo / path).mkdir()
    with opened(repo) as found, pytest.raises(IsADirectoryError) as raised:
        WorkTree(found).restore([path])
    assert raised.value.filename == str(repo / path)
    assert ".memrepo" not in str(raised.value)
