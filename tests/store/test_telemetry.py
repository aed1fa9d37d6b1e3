"""The files that tell of runs: whole lines only, many writers, no link followed."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from memrepo.store import run_files

DAY = date(2026, 3, 1)
WRITER = """
import sys
from datetime import date
from pathlib import Path
from memrepo.store.run_files import append_event as append
for number in range(50):
    event = {"writer": sys.argv[2], "number": number, "text": "x" * 5000}
    append(Path(sys.argv[1]), date(2026, 3, 1), event, within=None)
"""


def test_many_writers_at_once_lose_and_tear_no_line(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], env={"PYTHONPATH": str(root)}
        )
        for name in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    (path,) = tmp_path.iterdir()
    events = [json.loads(line) for line in path.read_text().splitlines()]
    for name in "abc":
        assert [e["number"] for e in events if e["writer"] == name] == list(range(50))


@pytest.mark.parametrize("link", ["folder", "file"])
def test_no_link_of_a_work_tree_is_followed(tmp_path: Path, link: str) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    tree.mkdir()
    name = "memory-log-2026-03-01.jsonl"
    folder = tree / "log"
    if link == "folder":
        folder.symlink_to(outside)
    else:
        folder.mkdir()
        (folder / name).symlink_to(outside / "theirs")
        (folder / "last.json").symlink_to(outside / "theirs")
    (outside / "last.json").write_text('{"a": 1}')
    (outside / "theirs").write_text('{"a": 1}')
    with pytest.raises(OSError, match="symlink"):
        run_files.append_event(folder, DAY, {"b": 1}, within=tree)
    with pytest.raises(OSError, match="symlink"):
        run_files.write_file(folder / "last.json", "x", within=tree)
    assert run_files.load_json(folder / "last.json", within=tree) == {}
    assert sorted(p.name for p in outside.iterdir()) == ["last.json", "theirs"]
    assert (outside / "theirs").read_text() == '{"a": 1}'
