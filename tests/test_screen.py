"""Answers on a terminal: paged when they are longer than it."""

from __future__ import annotations

import io
import pydoc
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from driving import memrepo
from mornings import MORNING, copied, waiting

from memrepo.faces import cli


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository in which a run waits; nothing here writes."""
    made = waiting(tmp_path_factory.mktemp("screen"))
    return copied(made, tmp_path_factory.mktemp("screen") / "base")


class Terminal(io.StringIO):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_screen(repo: Path, *argv: str, columns: int = 80) -> str:
    out = Terminal()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(io.StringIO()),
    ):
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("LINES", "500")
        patch.setenv("TERM", "dumb")
        assert cli.main(["-C", str(repo), "--now", MORNING, *argv]) in (0, 1, 3)
    return out.getvalue()


def test_a_terminal_shows_what_a_pipe_gets(repo: Path) -> None:
    for argv in (["log"], ["schedule", "show"]):
        assert on_screen(repo, *argv) == memrepo(repo, *argv, now=MORNING, as_json=False).out


@pytest.mark.parametrize(
    ("command", "word", "lines", "paged"),
    [
        ("config", "run.judge", "500", False),
        ("config", "run.judge", "10", True),
        ("health", "Memory Health", "500", False),
        ("health", "Memory Health", "10", True),
    ],
)
def test_the_pager_shows_what_is_longer_than_the_screen(
    repo: Path, tmp_path: Path, command: str, word: str, lines: str, paged: bool
) -> None:
    took = tmp_path / "took"
    script = tmp_path / "pager"
    script.write_text(f'#!/bin/sh\necho "$LESS" > {took}\ncat >> {took}\n')
    script.chmod(0o755)
    out = Terminal()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setattr("sys.stdin", Terminal())
        patch.setattr("pydoc.pager", pydoc.pager)  # pydoc replaces it by the first pager it finds
        patch.setenv("LINES", lines)
        patch.setenv("COLUMNS", "80")
        patch.setenv("TERM", "xterm")
        patch.delenv("LESS", raising=False)
        patch.delenv("MANPAGER", raising=False)
        patch.setenv("PAGER", str(script))
        assert cli.main(["-C", str(repo), "--now", MORNING, command]) == 0
    assert took.is_file() is paged
    assert (word in out.getvalue()) is not paged
    if paged:
        assert took.read_text().startswith("FRX\n")
        assert word in took.read_text()
