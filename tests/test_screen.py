"""Answers on a terminal: as wide as it is, with ids as short as name them, and paged when long."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from driving import MEMORY_ID, done, memrepo
from hypothesis import given
from hypothesis import strategies as st
from mornings import MORNING, copied, waiting

from memrepo.faces import cli
from memrepo.faces.cli.screen import cells, fitted

RUN = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")


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


READING = """\
status
doctor
config
runs
report
log
diff
search server
recent
related ID
show ID
show ID --explain
why ID
why ID --show history
why ID --show blame
why-not ID
thread
topics
entities
tiers
health
decay stats
nominate
resolve
reject --list
check
config explain sources.claims
help
help --all
""".splitlines()


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("line", READING)
def test_nothing_is_wider_than_the_terminal_or_holds_a_whole_id(
    repo: Path, line: str, columns: int
) -> None:
    id_ = done(repo, "search", "hermes", now=MORNING)["hits"][0]["id"]
    shown = on_screen(repo, *line.replace("ID", id_).split(), columns=columns)
    wide = [one for one in shown.splitlines() if cells(one) > columns]
    assert [one for one in wide if len(one.split()) > 1] == []
    assert MEMORY_ID.search(shown) is None
    assert RUN.search(re.sub(r"\S*/\S*", "", shown)) is None


def test_what_is_shown_names_a_memory_and_a_run_on_the_command_line(repo: Path) -> None:
    short = on_screen(repo, "search", "hermes").split()[0]
    assert re.fullmatch(r"mem-[0-9a-f]{6}", short)
    assert done(repo, "why", short, now=MORNING)["id"].startswith(short)
    run = on_screen(repo, "runs").split()[0]
    assert run.endswith("Z")
    assert done(repo, "diff", run, "--stat", now=MORNING)["run"].startswith(run)


def test_a_pipe_has_whole_ids_and_whole_lines(repo: Path) -> None:
    piped = memrepo(repo, "runs", now=MORNING, as_json=False).out
    assert RUN.search(piped)
    assert max(map(len, piped.splitlines())) > 80


def test_lines_for_another_program_are_never_broken(repo: Path) -> None:
    shown = on_screen(repo, "schedule", "show", columns=40)
    assert shown == memrepo(repo, "schedule", "show", now=MORNING, as_json=False).out


@pytest.mark.parametrize(
    ("lines", "pager", "paged"),
    [("500", "PAGER", False), ("10", "PAGER", True), ("10", "cat", False), ("10", "", False)],
)
def test_the_pager_shows_what_is_longer_than_the_screen(
    repo: Path, tmp_path: Path, lines: str, pager: str, paged: bool
) -> None:
    took = tmp_path / "took"
    script = tmp_path / "pager"
    script.write_text(f'#!/bin/sh\necho "$LESS" > {took}\ncat >> {took}\n')
    script.chmod(0o755)
    out = Terminal()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("LINES", lines)
        patch.setenv("COLUMNS", "80")
        patch.setenv("TERM", "xterm")
        patch.delenv("LESS", raising=False)
        patch.setenv("MEMREPO_PAGER", str(script) if pager == "PAGER" else pager)
        assert cli.main(["-C", str(repo), "--now", MORNING, "config"]) == 0
    assert took.is_file() is paged
    assert ("run.judge" in out.getvalue()) is not paged
    if paged:
        assert took.read_text().startswith("FRX\n")


@given(st.lists(st.text("ab昨é-", min_size=1, max_size=12), max_size=30), st.integers(10, 60))
def test_breaking_loses_no_word_and_keeps_to_the_width(words: list[str], width: int) -> None:
    line = " ".join(words)
    broken = fitted(line, width)
    assert "".join(broken.split()) == "".join(line.split())
    for one in broken.split("\n"):
        assert cells(one) <= width or len(one.split()) == 1
