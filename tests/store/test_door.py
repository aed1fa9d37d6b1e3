"""GitPython is the door to git, and no clone can make it run, ask or misread anything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import git as gitpython
import pytest
from driving import NEXT_DAY, done, git, memrepo

from memrepo.store.door import Door, Found
from memrepo.store.git import SETTINGS, Git, GitFailed
from memrepo.store.local import opened

Ask = Callable[..., str]


def through_light(repo: Path) -> Ask:
    return Git(repo).call


def through_door(repo: Path) -> Ask:
    door = Door(repo)
    return lambda verb, *words: door._call_process(verb, *words)


def through_gitpython(repo: Path) -> Ask:
    door = Found(repo).git
    return lambda verb, *words: door._call_process(verb, *words)


WAYS = (through_light, through_door, through_gitpython)


def trap(repo: Path) -> tuple[str, Path]:
    """Return a program that leaves a file behind when it runs, and that file."""
    program, mark = repo.parent / "trap.sh", repo.parent / "trapped"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n")
    program.chmod(0o755)
    return str(program), mark


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("core.fsmonitor", ("status", "--porcelain")),
        ("gpg.program", ("log", "-1", "--format=%H")),
        ("hook", ("update-ref", "refs/memrepo/x", "HEAD")),
        ("fetch", ("fetch", "trapped")),
    ],
)
def test_a_hostile_clone_runs_no_program(
    repo: Path, way: Callable[[Path], Ask], setting: str, words: tuple[str, ...]
) -> None:
    program, mark = trap(repo)
    if setting == "hook":
        hook = repo / ".git/hooks/reference-transaction"
        hook.parent.mkdir(exist_ok=True)
        hook.symlink_to(program)
    elif setting == "fetch":
        git(repo, "config", "remote.trapped.url", f"ext::{program} %S")
        git(repo, "config", "protocol.ext.allow", "always")
    else:
        git(repo, "config", setting, program)
        git(repo, "config", "log.showSignature", "true")
    subprocess.run(["git", "-C", str(repo), *words], capture_output=True, check=False)
    assert mark.exists() or setting == "gpg.program", "the trap works"
    mark.unlink(missing_ok=True)
    if setting == "fetch":
        with pytest.raises(GitFailed, match="not allowed"):
            way(repo)(*words)
    else:
        way(repo)(*words)
    assert not mark.exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_path_is_no_pattern_and_every_setting_holds(
    repo: Path, way: Callable[[Path], Ask]
) -> None:
    ask = way(repo)
    assert ask("ls-files", "--", "*.toml") == ""
    assert ask("ls-files", "--", "memrepo.toml").strip() == "memrepo.toml"
    said = {line.partition("=")[0].lower() for line in ask("var", "-l").splitlines()}
    assert {setting.partition("=")[0].lower() for setting in SETTINGS} <= said


def test_names_that_are_no_text_and_input_come_through(repo: Path) -> None:
    blob = git(repo, "hash-object", "-w", "memrepo.toml").strip()
    name = b"caf\xe9 \xc3\xa4.md".decode("utf-8", "surrogateescape")
    door = Door(repo)
    door.update_index("-z", "--index-info", istream=f"100644 {blob}\t{name}\0")
    assert name in door.ls_files("-z").split("\0")


def test_a_git_that_a_signal_ends_is_never_an_answer(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nkill -9 $$\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(GitFailed, match="signal 9"):
        Door(repo).remote(with_exceptions=False)
    with opened(repo) as found, pytest.raises(GitFailed):
        found.git.remote()


def test_a_git_that_ends_while_gitpython_is_imported_is_an_error_without_traceback(
    repo: Path, tmp_path: Path
) -> None:
    real = f"{git(repo, '--exec-path').strip()}/git"
    (tmp_path / "git").write_text(
        f'#!/bin/sh\n[ "$1" = version ] && kill -9 $$\nexec {real} "$@"\n'
    )
    (tmp_path / "git").chmod(0o755)
    ran = subprocess.run(
        [sys.executable, "-m", "memrepo", "-C", str(repo), "diff", "--git", "HEAD~..HEAD"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert ran.returncode == 5
    assert "Traceback" not in ran.stderr
    assert "git version failed" in ran.stderr


def test_doctor_finds_nothing_right_where_a_signal_ended_fsck(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = f"{git(repo, '--exec-path').strip()}/git"
    (tmp_path / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *" fsck "*) kill -9 $$ ;; esac\nexec {real} "$@"\n'
    )
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    checks = {check["name"]: check for check in memrepo(repo, "doctor").data["checks"]}
    assert not checks["objects"]["ok"]
    assert "signal 9" in str(checks["objects"])


@pytest.mark.parametrize("name", ["$HOME", "~", "${PWD} x"])
def test_a_folder_may_have_a_name_that_a_shell_expands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done(tmp_path, "init", Path(name))
    repo = tmp_path / name
    assert (repo / "memrepo.toml").exists()
    done(repo, "add", "The vice stands in room 97.")
    done(repo, "run", now=NEXT_DAY)
    assert done(repo, "log")["entries"]
    side = tmp_path / "side"
    git(repo, "worktree", "add", "-q", str(side))
    assert done(side, "log")["entries"]


def test_gitpython_is_still_wrong_about_what_the_decision_says(tmp_path: Path) -> None:
    """Where this fails GitPython became right: docs/decisions.md can say less."""
    git(tmp_path, "init", "-q", "--object-format=sha256", "wide")
    wide = tmp_path / "wide"
    git(wide, "commit", "-q", "--allow-empty", "-m", "x")
    with gitpython.Repo(wide) as found:
        with pytest.raises(ValueError, match=r".*"):
            assert found.head.commit
        with pytest.raises(ValueError, match=r".*"):
            found.git.get_object_data("HEAD")
        assert found.git.rev_parse("HEAD") == git(wide, "rev-parse", "HEAD").strip()
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    git(tmp_path, "init", "-q", "one")
    one = tmp_path / "one"
    git(one, "commit", "-q", "--allow-empty", "-m", "x")
    git(one, "remote", "add", "origin", "../hub.git")
    with gitpython.Repo(one) as found:
        said = found.remote().push(f"{found.head.commit.hexsha}:refs/heads/main")
        assert list(said) == []  # it was pushed, and nothing is said of it
    assert git(tmp_path / "hub.git", "rev-parse", "main") == git(one, "rev-parse", "HEAD")


def test_what_goes_through_the_door_works_with_sha256_in_a_second_work_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "repo")
    git(tmp_path, "init", "-q", "--object-format=sha256", "--bare", "hub.git")
    repo, side = tmp_path / "repo", tmp_path / "side"
    done(tmp_path, "init", repo)
    git(repo, "remote", "add", "origin", "../hub.git")
    id_ = done(repo, "add", "The café terrace opens in May.")["id"]
    git(repo, "worktree", "add", "-q", "-b", "side", str(side))
    assert [len(entry["commit"]) for entry in done(side, "log")["entries"]][:1] == [64]
    assert done(side, "why", id_)["id"] == id_
    assert "café" in done(repo, "diff", "--git", "HEAD~..HEAD")["diff"]
    done(repo, "sync")
    assert git(tmp_path / "hub.git", "rev-parse", "main") == git(repo, "rev-parse", "HEAD")
    done(repo, "revert", "HEAD", now=NEXT_DAY)
    done(repo, "sync", now=NEXT_DAY)
    assert done(repo, "log")["entries"]
    checks = memrepo(repo, "doctor").data["checks"]
    assert all(c["ok"] for c in checks if c["name"] in ("objects", "history", "git")), checks
