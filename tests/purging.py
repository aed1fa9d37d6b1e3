"""Values that are to leave a repository: how one is purged, and where traces of it are left."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driving import NOW, Done, memrepo

from memrepo.merge.purging import find, needles_of

VALUE = "Núria Valdés"
SPELLED = (
    "núria valdés",
    "nuria-valdes",
    "NURIA VALDES",
    "Ｎúria\u00a0Valdés",
    "Nu\u0301ria Valde\u0301s",
)


def given(repo: Path, value: str, *argv: str, now: str = NOW) -> Done:
    """Run a command with a value on its standard input."""
    before, sys.stdin = sys.stdin, io.StringIO(value)
    try:
        return memrepo(repo, *argv, now=now)
    finally:
        sys.stdin = before


def purged(repo: Path, value: str = VALUE, *argv: str, now: str = NOW) -> dict[str, Any]:
    """Purge a value and return what is told of it."""
    answer = given(repo, value, "purge", *argv, now=now)
    assert answer.exit == 0, answer
    return answer.data


def remove_from_workspace(workspace: Path) -> None:
    """Remove every line that states the value, and the names of files, as its owner would."""
    needles = needles_of([VALUE])
    for path in [p for p in workspace.rglob("*") if p.is_file()]:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not find(line, needles)))
        if find(path.name, needles):
            path.rename(path.with_name("somebody.md"))


def everything(root: Path) -> Iterator[tuple[str, str]]:
    """Yield every object, every file and every name of a repository, bare ones too, as text."""
    argv = ["git", "-C", str(root), "cat-file", "--batch-all-objects", "--batch", "--buffer"]
    whole = subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    while whole:
        head, _, rest = whole.partition(b"\n")
        size = int(head.split()[2])
        yield head.decode(), rest[:size].decode("utf-8", "surrogateescape")
        whole = rest[size + 1 :]
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        yield f"name {name}", name
        if path.is_file() and "objects/" not in name:
            yield name, path.read_bytes().decode("utf-8", "surrogateescape")


def traces(root: Path, value: str = VALUE) -> list[str]:
    """Return the places of a repository that hold a value in any spelling."""
    needles = needles_of([value])
    return [place for place, text in everything(root) if find(text.replace("\0", "\n"), needles)]


def collect(hub: Path, command: str) -> None:
    """Do in the hub what a person was told to do there."""
    subprocess.run(command, shell=True, cwd=hub, check=True, capture_output=True)
