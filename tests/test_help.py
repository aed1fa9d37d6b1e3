"""The help of commands, advice for a mistyped name, and scripts that complete commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from driving import begin, done, memrepo

from memrepo.faces.cli import COMMANDS, parse
from memrepo.faces.commands import SHELLS, CompletionRequest, completion


def test_help_of_a_command_is_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = memrepo(tmp_path, "help", "search", as_json=False)
    assert said.out.startswith("usage: memrepo search")
    assert "did you mean search?" in memrepo(tmp_path, "help", "serach", as_json=False).err
    assert memrepo(tmp_path, "help", "--what", as_json=False).exit == 2


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("mem-{}", "mem-"), ("the-bread-oven-is-in-the-yrad", "the-bread-oven-is-in-the-yard")],
)
def test_a_mistyped_id_or_slug_is_answered_with_the_near_one(
    tmp_path: Path, typed: str, meant: str
) -> None:
    (tmp_path / "ws").mkdir()
    repo = begin(tmp_path, tmp_path / "ws")
    id_ = done(repo, "add", "The bread oven is in the yard.")["id"]
    digits = id_[4:9] + ("0" if id_[9] != "0" else "1")
    failed = memrepo(repo, "show", typed.format(digits), as_json=False)
    assert failed.exit == 2
    assert f"did you mean {id_ if meant == 'mem-' else meant}" in failed.err


def test_options_may_stand_between_arguments() -> None:
    words = ["answer", "--now", "2026-03-01T08:00:00Z", "q1", "answer.json"]
    assert (found := parse("judge", words)).question == "q1"
    assert found.file == "answer.json"
    assert parse("search", ["--json", "--", "--tide", "of"]).words == ["--tide", "of"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_completes_every_command(shell: str) -> None:
    script = completion(None, CompletionRequest(shell=shell)).script  # type: ignore[arg-type]
    assert [name for name in COMMANDS if name not in script] == []
    assert script.count("no-color") > len(COMMANDS)  # global options come behind a command too
    if program := shutil.which(shell):
        checked = subprocess.run([program, "-n"], input=script.encode(), capture_output=True)
        assert checked.returncode == 0, checked.stderr
