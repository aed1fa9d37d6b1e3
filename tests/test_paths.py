"""The six paths of docs/paths.md are the ones that are walked, and they get no longer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from driving import done, git, runs

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "paths.md").read_text(encoding="utf-8")
SECTIONS = {
    part.split("\n", 1)[0].partition(":")[0]: part for part in re.split(r"(?m)^## ", PAGE)[1:]
}
SHARED = "What every path begins and ends with"
MOST = {"Run": 67, "Search": 46, "Revert": 39, "Add": 37, "Hook": 23, "Merge driver": 11}
"""Files that a path crosses: lower the number with each that goes, never raise it."""
ROOMS = 13
CODE = """
import json, sys
from pathlib import Path
import memrepo
from memrepo.faces.cli import main
ROOT = str(Path(memrepo.__file__).parent) + "/"
seen, loading = set(), 0
def told(frame, event, arg):
    global loading
    code = frame.f_code
    if code.co_name == "<module>":
        loading += (event == "call") - (event == "return")
    elif event == "call" and not loading and code.co_filename.startswith(ROOT):
        seen.add(code.co_filename[len(ROOT):])
sys.setprofile(told)
try:
    code = main(sys.argv[1:])
except SystemExit as left:
    code = left.code
sys.setprofile(None)
print(json.dumps([code, sorted(seen)]), file=sys.stderr)
"""
"""Which files' functions are called; what runs while a module is imported is not on the path."""
TEXT = "# Memory\n\n## Editor\n\n- We use vim as the editor.\n- The backup runs every night.\n"


def crossed(where: Path, *argv: str) -> set[str]:
    """Run a command in a process of its own; return the files that it crosses."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE, *argv],
        cwd=where,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    code, files = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0, ran.stderr
    return set(files)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Walk the six paths in one repository."""
    repo = tmp_path_factory.mktemp("paths") / "repo"
    repo.mkdir()
    (repo / "MEMORY.md").write_text(TEXT, encoding="utf-8")
    done(repo, "init", now="2026-03-01T09:00:00Z")
    done(repo, "run", now="2026-03-01T10:00:00Z")
    (repo / "MEMORY.md").write_text(TEXT + "- The wiki lies on the second disk.\n", "utf-8")
    found = {
        "Run": crossed(repo, "--now", "2026-03-01T11:00:00Z", "run"),
        "Add": crossed(repo, "--now", "2026-03-01T12:00:00Z", "add", "The printer is upstairs."),
        "Search": crossed(repo, "--now", "2026-03-01T13:00:00Z", "search", "wiki", "disk"),
    }
    run = runs(repo)[0]
    found["Revert"] = crossed(repo, "--now", "2026-03-01T14:00:00Z", "revert", run)
    memory = next(p for p in (repo / "memories").rglob("*.md") if "vim" in p.read_text("utf-8"))
    text = memory.read_text(encoding="utf-8")
    for name, word in (("base", "vim"), ("ours", "vi"), ("theirs", "vim")):
        (repo.parent / name).write_text(text.replace("vim", word), encoding="utf-8")
    sides = [str(repo.parent / name) for name in ("base", "ours", "theirs")]
    place = memory.relative_to(repo).as_posix()
    found["Merge driver"] = crossed(repo, "merge-driver", *sides, "7", place)
    memory.write_text(text.replace("use vim", "often use vim"), encoding="utf-8")
    git(repo, "add", "-A")
    found["Hook"] = crossed(repo, "check", "--staged")
    return found


def test_every_file_and_room_that_is_named_is_there() -> None:
    named = set(re.findall(r"`([a-z_0-9/]+(?:\.py|/))`", PAGE)) - {"sources/", "memrepo/"}
    assert [n for n in sorted(named) if not (ROOT / "memrepo" / n).exists()] == [
        "tests/test_paths.py"
    ]


@pytest.mark.parametrize("path", MOST)
def test_a_path_keeps_to_the_files_and_rooms_that_are_named(
    walked: dict[str, set[str]], path: str
) -> None:
    told = SECTIONS[SHARED] + SECTIONS[path]
    files = set(re.findall(r"`([a-z_0-9/]+\.py)`", told))
    rooms = tuple(
        re.findall(r"`((?:core|store|policies|judges|views|checks|merge|read|text)/)`", told)
    )
    assert sorted(f for f in walked[path] - files if not f.startswith(rooms)) == []


@pytest.mark.parametrize("path", MOST)
def test_a_path_gets_no_longer(walked: dict[str, set[str]], path: str) -> None:
    assert len(walked[path]) <= MOST[path]
    assert len({file.rpartition("/")[0] for file in walked[path]}) <= ROOMS


def test_the_path_of_a_line_is_told_in_fifty_files_and_six_records() -> None:
    assert len(set(re.findall(r"`([a-z_0-9/]+\.py)`", SECTIONS["Run"]))) <= 50
    told = SECTIONS["Run"].rpartition("in this order:")[2]
    assert len(re.findall(r"`\w+`", told)) == 6
