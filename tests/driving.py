"""Driving the program as a person does: argv in, exit code and output out, real git, real disk."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memrepo.config import DEFAULTS, line_of, parse_config
from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.faces import cli

NOW = "2026-03-01T09:00:00Z"
LATER = "2026-03-01T11:00:00Z"
"""Two hours on: notes are hot still, and no run moves them."""
NEXT_DAY = "2026-03-02T09:00:00Z"
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
"""Whether `make test-long` runs: tests that are no properties read their sizes from it."""
CLASSIC = parse_config('timezone = "UTC"\n[lifecycle]\nprofile = "classic"\n').rules
"""The rules of the profile classic: what nobody retrieves leaves in the end."""
MEMORY_ID = re.compile(r"mem-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One call of the program: exit code and what it printed."""

    exit: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """Return the one JSON object on stdout."""
        (line,) = self.out.splitlines()
        found = json.loads(line)
        assert found["schema_version"] == 1
        return found

    @property
    def error(self) -> dict[str, Any]:
        """Return the one JSON error on stderr; nothing stands on stdout beside it."""
        assert not self.out
        (line,) = self.err.splitlines()
        found = json.loads(line)
        assert found["schema_version"] == 1
        assert found["error"]["exit"] == self.exit
        return found["error"]


def memrepo(where: Path, *argv: str | Path, now: str = NOW, as_json: bool = True) -> Done:
    """Run one command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    head = ["-C", str(where), "--now", now, *(["--json"] if as_json else [])]
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main([*head, *map(str, argv)])
    return Done(exit=code, out=out.getvalue(), err=err.getvalue())


def done(where: Path, *argv: str | Path, now: str = NOW) -> dict[str, Any]:
    """Run a command that must succeed and return its JSON; a search may find nothing."""
    answer = memrepo(where, *argv, now=now)
    assert answer.exit == 0 or (answer.exit == 1 and "search" in argv), answer
    return answer.data


def git(where: Path, *argv: str, check: bool = True) -> str:
    """Run git and return what it printed."""
    ran = subprocess.run(
        ["git", "-C", str(where), *argv], capture_output=True, check=check, stdin=subprocess.DEVNULL
    )
    return ran.stdout.decode("utf-8", "surrogateescape")


def begin(base: Path, workspace: Path, *options: str) -> Path:
    """Make a repository beside a workspace and run once; return its folder."""

    def make(folder: Path) -> None:
        done(folder, "init", "repo", "--from", workspace, *options)
        done(folder / "repo", "run")

    if (base / "repo").exists():
        make(base)
    else:
        copy_of(make, base, workspace.name, *options, *sorted(files(workspace).items()))
    git(base / "repo", "config", "memrepo.workspace", str(workspace))
    return base / "repo"


_MADE: dict[str, TemporaryDirectory[str]] = {}


def copy_of(make: Callable[[Path], object], into: Path, *of: object) -> None:
    """Make in a folder what is the same wherever and whenever it is made of what is named."""
    around = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    key = repr((make.__qualname__, of, around, DEFAULTS))
    if key not in _MADE:
        folder = TemporaryDirectory()
        make(Path(folder.name))
        _MADE[key] = folder
    shutil.copytree(_MADE[key].name, into, symlinks=True, dirs_exist_ok=True)


def program(path: Path) -> Path:
    """Write a `memrepo` that is this checkout's, wherever it is started; return its path."""
    root = Path(__file__).resolve().parents[1]
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m memrepo "$@"\n')
    path.chmod(0o755)
    return path


def copied(base: Path, to: Path) -> Path:
    """Copy a workspace and its repository to another folder; return the repository's."""
    for name in ("workspace", "repo"):
        shutil.copytree(base / name, to / name, symlinks=True)
    git(to / "repo", "config", "memrepo.workspace", str(to / "workspace"))
    return to / "repo"


def classic(repo: Path) -> Path:
    """Let time take out what nobody retrieves, as the original programs do; return the folder."""
    path = repo / "memrepo.toml"
    path.write_text(f'{path.read_text()}\n[lifecycle]\nprofile = "classic"\n')
    then = {"GIT_AUTHOR_DATE": NOW, "GIT_COMMITTER_DATE": NOW}
    argv = ["git", "-C", str(repo), "commit", "-qam", "the classic lifecycle", "--no-verify"]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, env={**os.environ, **then})
    return repo


def id_in(text: str) -> str:
    """Return the id of the first memory that a text names."""
    found = re.search("mem-[0-9a-f]{16}", text)
    assert found, text
    return found[0]


def with_value(text: str, name: str, value: Any) -> str:
    """Return the text of a configuration with one key set, which one line sets so far, or none."""
    section, _, last = name.rpartition(".")
    lines, given = text.split("\n"), f"{last} = {json.dumps(value)}"
    if at := line_of(text, name):
        lines[at - 1] = given
    elif section and f"[{section}]" not in lines:
        lines += [f"[{section}]", given, ""]
    else:
        lines.insert(lines.index(f"[{section}]") + 1 if section else 0, given)
    return "\n".join(lines)


def configure(repo: Path, key: str, value: Any, now: str = NOW) -> None:
    """Set a key in the repository's file as a person does, and commit that."""
    path = repo / "memrepo.toml"
    if isinstance(value, str) and re.fullmatch(r"\[.*\]|true|false|[0-9.]+", value):
        value = json.loads(value)
    path.write_text(with_value(path.read_text(), key, value))
    then = {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}
    argv = ["git", "-C", str(repo), "commit", "-qam", f"Set {key}", "--no-verify"]
    subprocess.run(argv, check=False, stdin=subprocess.DEVNULL, env={**os.environ, **then})


def files(root: Path, *, git_too: bool = False) -> dict[str, bytes]:
    """Return every file below a folder; links as their target."""
    found = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        parts = name.split("/")
        # Telemetry and logs are never committed and tell of the call itself.
        if ".memrepo" in parts[:2] or (parts[0] == ".git" and not git_too):
            continue
        if path.is_symlink():
            found[name] = str(path.readlink()).encode()
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def memories(repo: Path) -> dict[str, Memory]:
    """Return the memories in the work tree by id; each must decode without a finding."""
    found = {}
    for path in sorted((repo / "memories").rglob("*.md")):
        memory, problems = codec.decode(path.relative_to(repo).as_posix(), path.read_bytes())
        assert memory is not None, path
        assert not problems
        assert memory.id not in found
        found[memory.id] = memory
    return found


def by_word(repo: Path, word: str) -> str:
    """Return the id of the one memory whose text has a word."""
    (found,) = [i for i, m in memories(repo).items() if word in m.body]
    return found


def runs(repo: Path) -> list[str]:
    """Return the runs in effect, newest first."""
    listed = git(repo, "ls-tree", "-r", "--name-only", "HEAD", "runs/").split()
    return sorted((Path(path).stem for path in listed), reverse=True)


def waiting(repo: Path) -> list[str]:
    """Return the runs that wait for review."""
    return [str(one).removeprefix("run/") for one in done(repo, "status")["waiting"]]


def head(repo: Path, revision: str = "HEAD") -> str:
    """Return the commit that a revision names."""
    return git(repo, "rev-parse", revision).strip()


def commits(repo: Path) -> int:
    """Return how many commits there are."""
    return int(git(repo, "rev-list", "--count", "HEAD"))


def standing(repo: Path) -> tuple[str, str, str, dict[str, bytes]]:
    """Return everything a command could change: refs, HEAD, index and work tree."""
    refs = git(repo, "for-each-ref", "--format=%(refname) %(objectname)")
    return (
        refs,
        git(repo, "symbolic-ref", "HEAD"),
        git(repo, "ls-files", "-z", "--stage"),
        files(repo),
    )


def subjects(repo: Path, *argv: str) -> list[str]:
    """Return commit subjects, newest first."""
    return git(repo, "log", "--format=%s", *argv).splitlines()


def operations(repo: Path, *argv: str) -> list[str]:
    """Return what memrepo calls each commit, newest first; of a commit by hand nothing."""
    form = "--format=%(trailers:key=Memrepo-Op,valueonly,separator=%x20)"
    return [op.strip() for op in git(repo, "log", form, *argv).splitlines()]


def tree(repo: Path, revision: str = "HEAD") -> str:
    """Return the files of a revision with their ids, without the list of what was rejected."""
    rows = git(repo, "ls-tree", "-r", revision).splitlines()
    return "\n".join(row for row in rows if "\ttombstones/" not in row)


def assert_sound(repo: Path) -> None:
    """Assert that git finds nothing wrong and the work tree is what HEAD says."""
    fsck = subprocess.run(
        ["git", "-C", str(repo), "fsck", "--strict", "--full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert fsck.returncode == 0, fsck.stderr
    noise = ("dangling", "notice:", "Checking")
    said = [line for line in (fsck.stdout + fsck.stderr).splitlines() if not line.startswith(noise)]
    assert said == []
    assert git(repo, "status", "--porcelain", "-z") == ""
    assert git(repo, "for-each-ref", "refs/memrepo/new") == ""
