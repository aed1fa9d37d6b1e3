"""The files that tell of runs: whole lines only, many writers, no link followed."""

from __future__ import annotations

import errno
import fcntl
import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from memrepo.store import telemetry
from memrepo.store.telemetry import hand_off

DAY = date(2026, 3, 1)
WRITER = """
import sys
from datetime import date
from pathlib import Path
from memrepo.store.telemetry import append
for number in range(50):
    event = {"writer": sys.argv[2], "number": number, "text": "x" * 5000}
    append(Path(sys.argv[1]), date(2026, 3, 1), event, within=None)
"""


def test_events_of_a_day_share_a_file_and_earlier_lines_stay(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"
    path = telemetry.append(folder, DAY, {"a": "ü\n"}, within=None)
    before = path.read_bytes()
    telemetry.append(folder, DAY, {"b": 2}, within=None)
    other = telemetry.append(folder, date(2026, 3, 2), {"c": 3}, within=None)
    assert path.name == "memory-log-2026-03-01.jsonl"
    assert path.read_bytes() == before + b'{"b": 2}\n'
    assert other != path


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


def test_a_line_that_another_writer_left_torn_does_not_swallow_ours(tmp_path: Path) -> None:
    path = tmp_path / "memory-log-2026-03-01.jsonl"
    path.write_bytes(b'{"event": "run_st')
    telemetry.append(tmp_path, DAY, {"a": 1}, within=None)
    assert path.read_bytes() == b'{"event": "run_st\n{"a": 1}\n'


def test_a_lock_that_is_never_freed_is_given_up_on(tmp_path: Path) -> None:
    path = telemetry.append(tmp_path, DAY, {"a": 1}, within=None)
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="lock") as caught:
            telemetry.append(tmp_path, DAY, {"b": 1}, within=None)
    assert caught.value.errno == errno.EAGAIN
    assert path.read_bytes() == b'{"a": 1}\n'


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
        telemetry.append(folder, DAY, {"b": 1}, within=tree)
    with pytest.raises(OSError, match="symlink"):
        telemetry.put(folder / "last.json", "x", within=tree)
    assert telemetry.load(folder / "last.json", within=tree) == {}
    assert sorted(p.name for p in outside.iterdir()) == ["last.json", "theirs"]
    assert (outside / "theirs").read_text() == '{"a": 1}'


def test_a_place_beside_the_work_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="is not in"):
        telemetry.put(tmp_path / "x", "text", within=tmp_path / "tree")


def test_a_record_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "last.json"
    telemetry.put(path, telemetry.dumped({"a": 1}), within=tmp_path)
    telemetry.put(path, telemetry.dumped({"b": "ü"}), within=tmp_path)
    assert telemetry.load(path, within=tmp_path) == {"b": "ü"}
    assert [p.name for p in path.parent.iterdir()] == ["last.json"]


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff", None])
def test_a_record_that_cannot_be_read_is_empty(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "last.json").write_bytes(data)
    assert telemetry.load(tmp_path / "last.json", within=tmp_path) == {}


# -- the hand-off ----------------------------------------------------------------------------------


def test_a_command_is_given_the_manifest_and_the_folder(tmp_path: Path) -> None:
    code = "import os, sys; open('got', 'w').write(sys.argv[1] + ' ' + os.getcwd())"
    command = f'{sys.executable} -c "{code}"'
    assert hand_off(command, Path("runs/a b.json"), tmp_path) == ""
    assert (tmp_path / "got").read_text() == f"runs/a b.json {tmp_path}"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sh -c 'echo went; echo wrong >&2; exit 3'", "exit code 3: went wrong"),
        ("sh -c 'yes | head -c 3000; exit 1'", "exit code 1: y y y"),
        ("no-such-program-here", "cannot be started"),
        ("'unclosed", "cannot be started"),
        ("sh -c 'sleep 30 & sleep 30'", "took longer than 0.3 s"),
    ],
)
def test_what_fails_is_said_in_a_few_words(tmp_path: Path, command: str, said: str) -> None:
    found = hand_off(command, Path("m.json"), tmp_path, limit_s=0.3)
    assert said in found
    assert len(found) < 600
