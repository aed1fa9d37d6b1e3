"""`memrepo review` as a person plays it: on a real terminal, left, gone on with, and done."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from driving import assert_sound, done, files, git, memories, memrepo
from mornings import MORNING, copied, waiting

PROMPT = "all keys: "
FIRST = ["  - Mara prefers tea.", "  - Rui leads the billing team."]


@pytest.fixture(scope="module")
def _waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return waiting(tmp_path_factory.mktemp("review"))


@pytest.fixture
def repo(_waiting: Path, tmp_path: Path) -> Path:
    """Return a repository in which a run of eight decisions waits."""
    return copied(_waiting, tmp_path / "base")


class Terminal:
    """A program on a pseudo-terminal, 80 columns wide and without colours."""

    def __init__(self, repo: Path, *argv: str, editor: str = "") -> None:
        primary, secondary = pty.openpty()
        script = repo.parent / "editor"
        script.write_text(f"#!/bin/sh\nprintf '%s' '{editor}' > \"$1\"\n")
        script.chmod(0o755)
        self.fd = primary
        self.seen = self.unread = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memrepo", "--now", MORNING, *argv],
            cwd=repo,
            stdin=secondary,
            stdout=secondary,
            stderr=secondary,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80", "EDITOR": str(script)},
        )
        os.close(secondary)

    def until(self, text: str) -> str:
        """Read until a text comes; return what was not returned before, up to its end."""
        end = time.monotonic() + 60
        while text not in self.unread:
            assert time.monotonic() < end, f"waited for {text!r}, found {self.unread!r}"
            if select.select([self.fd], [], [], 1)[0]:
                said = os.read(self.fd, 4096).decode().replace("\r", "")
                self.seen += said
                self.unread += said
        found, _, self.unread = self.unread.partition(text)
        return found + text

    def answers(self, *lines: str, prompt: str = PROMPT) -> str:
        """Answer each prompt; return what came before the last of them."""
        found = ""
        for line in lines:
            found = self.until(prompt)
            os.write(self.fd, f"{line}\n".encode())
        return found

    def ends(self) -> int:
        while select.select([self.fd], [], [], 0.2)[0] or self.process.poll() is None:
            try:
                self.seen += os.read(self.fd, 4096).decode().replace("\r", "")
            except OSError:
                break
        os.close(self.fd)
        return self.process.wait(30)


def commits(repo: Path) -> list[str]:
    return git(repo, "log", "--format=%H %s").splitlines()


def ids(repo: Path) -> dict[str, str]:
    """Return the ids of the memories of the waiting run, by their texts."""
    found = done(repo, "diff")["changes"]
    return {c["after"] or c["before"]: c["id"] for c in found}


@pytest.fixture
def by_words(repo: Path) -> Path:
    """Return a copy of the repository in which the same is said on the command line."""
    shutil.copytree(repo.parent, repo.parent.parent / "words")
    return repo.parent.parent / "words/repo"


def test_a_review_that_is_left_and_gone_on_with_makes_the_commits_of_its_words(
    repo: Path, by_words: Path
) -> None:
    before = commits(repo)
    first = Terminal(repo, "review", editor="The wiki is read only, and on a new host.")
    first.answers("y", "k", "k", "y", "y", "n")
    first.until("why?")
    os.write(first.fd, b"nobody measured it\n")
    first.answers("e", "q")
    assert first.ends() == 0
    assert "stored; 1 decision is open" in first.seen
    assert commits(repo) == before
    screens = [line for line in first.seen.splitlines() if re.match(r"\d of 8", line)]
    assert len(screens) == 8

    later = Terminal(repo, "review")
    assert "you answered 5 already; 3 decisions are open" in later.until("2 of 8")
    later.answers("k", "k", "y")
    plan = later.until("stored for later): ")
    os.write(later.fd, b"y\n")
    assert later.ends() == 0

    lines = [line.strip() for line in plan.splitlines() if line.startswith("  memrepo ")]
    assert [line.split()[1] for line in lines] == ["reject", "accept", "edit"]
    for line in lines:
        answer = memrepo(by_words, *shlex.split(line)[1:], now=MORNING)
        assert answer.exit == 0, answer
    assert commits(repo) == commits(by_words) != before
    assert files(repo) == files(by_words)
    assert_sound(repo)
    texts = {m.body for m in memories(repo).values() if m.status == "active"}
    assert "The wiki is read only, and on a new host." in texts
    assert "Rui leads the payments team." in texts
    assert not any("64 GB" in text for text in texts)
    assert not any("Vera" in text or "Fridays" in text for text in texts)

    # What was rejected is not proposed again, and what was left out is.
    night = memrepo(repo, "run", "--mode", "reconciliation", now="2026-03-03T09:00:00Z")
    offered = [c["after"] for c in done(repo, "diff")["changes"]]
    assert night.exit == 3
    assert any("Vera" in text for text in offered)
    assert not any("64 GB" in text for text in offered)


def test_every_screen_fits_a_narrow_terminal_and_shows_the_evidence(repo: Path) -> None:
    terminal = Terminal(repo, "review")
    terminal.answers(*["y"] * 7, "q")
    terminal.ends()
    shown = terminal.seen
    assert max(map(len, shown.split("\n"))) <= 80
    assert "\x1b" not in shown
    for text in FIRST:
        assert text in shown
    assert "  + Rui leads the payments team." in shown
    assert "| - Vera keeps the spare key." in shown


def test_undo_all_under_a_heading_split_and_why(repo: Path) -> None:
    text = "Mara drinks tea only.\n\nMara works from Lisbon on Fridays."
    terminal = Terminal(repo, "review", editor=text)
    terminal.answers("n")
    terminal.until("why?")
    os.write(terminal.fd, b"\n")
    assert "2 of 8" in terminal.answers("u")
    assert "1 of 8" in terminal.answers("w")
    assert "reword by memrepo" in terminal.answers("y")
    terminal.answers("s", "y")
    terminal.until("4 of 8")
    os.write(terminal.fd, b"a\n")
    terminal.until("all 2 under “Replaced, reworded or contradicted”")
    os.write(terminal.fd, b"k\n")
    terminal.until("6 of 8")
    terminal.answers("y", "y", "y")
    terminal.until("apply them?")
    os.write(terminal.fd, b"yes\n")
    assert terminal.ends() == 0
    texts = {m.body for m in memories(repo).values() if m.status == "active"}
    assert {*text.split("\n\n")} <= texts
    assert "The backup server stands in Berlin." in texts


def test_what_waits_can_be_rejected_before_it_is_accepted(repo: Path) -> None:
    wiki = ids(repo)["The wiki server is read only."]
    answer = done(repo, "reject", wiki, "--reason", "nobody uses it", now=MORNING)
    assert git(repo, "log", "-1", "--format=%s").startswith("Reject fact: ")
    assert answer["commit"]
    accepted = done(repo, "accept", now=MORNING)
    assert accepted["rejected"] == [wiki]
    assert wiki not in memories(repo)


def test_two_memories_become_one(repo: Path) -> None:
    done(repo, "accept", now=MORNING)
    found = {m.body: m.id for m in memories(repo).values()}
    one, other = found["Vera keeps the spare key."], found["Rui leads the payments team."]
    text = "Vera keeps the spare key for Rui's payments team."
    answer = done(repo, "supersede", one, text, "--also", other, now=MORNING)
    new = memories(repo)[answer["id"]]
    assert new.texts("supersedes") == (one, other)
    assert {memories(repo)[i].status for i in (one, other)} == {"superseded"}
    assert memories(repo)[other].texts("superseded_by") == (new.id,)
    assert_sound(repo)
