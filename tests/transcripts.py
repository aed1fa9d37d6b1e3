"""Play the shell transcripts of the documentation, and compare or refresh their answers.

The ```console blocks of a page are played in order, in one empty folder. The clock starts at START
and advances by one minute per command. `memrepo` runs in this process, every other program in a
shell. A line that begins with `memory_` calls that tool for agents and shows its short text. A page
with the line `<!-- theirs: FORMAT ... -->` finds another program's memory in `theirs/FORMAT`.
`python tests/transcripts.py --write` writes today's answers into the pages.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from docs_parts import pages, rewrite
from foreign_memory import FOLDERS

from memrepo import config
from memrepo.actions.work import Call
from memrepo.core.times import format_time
from memrepo.faces import cli
from memrepo.faces.mcp import TOOLS, answer

START = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
ANY_LINES = "..."
IDENTITY = "[user]\n\tname = Mara\n\temail = mara@example.org\n[init]\n\tdefaultBranch = main\n"
PROGRAMS = str(Path(sys.executable).parent)
SHELL = ("cat", "cp", "echo", "git", "ls", "mkdir", "printf")
THEIRS = re.compile(r"^<!-- theirs: (.+) -->$", re.MULTILINE)
DEFAULTS = dict(config.DEFAULTS)
"""A reader's settings: other tests let runs take all that they read."""
_HEX = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One command of a transcript: its line (one-based) in the page and its answer."""

    line: int
    command: str
    answer: tuple[str, ...]


def exchanges(text: str) -> list[Exchange]:
    """Return every exchange of a page's console blocks, in order."""
    found: list[Exchange] = []
    inside, fence = False, ""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("```") and not fence:
            fence = line[: len(line) - len(line.lstrip("`"))]
            inside = line == f"{fence}console"
        elif line == fence:
            inside, fence = False, ""
        elif inside and line.startswith("$ "):
            found.append(Exchange(line=number, command=line[2:], answer=()))
        elif inside:
            last = found[-1]
            found[-1] = Exchange(line=last.line, command=last.command, answer=(*last.answer, line))
    return found


class Stage:
    """The folder in which the commands of one page are played."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "top"
        self.top.mkdir()
        identity = folder / "gitconfig"
        identity.write_text(IDENTITY, encoding="utf-8")
        self.environment = {
            "GIT_CONFIG_GLOBAL": str(identity),
            "GIT_CONFIG_SYSTEM": os.devnull,
            "HOME": str(folder),
            "LC_ALL": "C",
            "GIT_PAGER": "cat",
            "TZ": "Asia/Manila",
            "COLUMNS": "80",
        }
        self.where = self.top
        self.now = START
        self.exit = 0

    def bring(self, format_: str) -> None:
        """Put an example of another program's memory into `theirs/FORMAT`."""
        theirs = self.top / "theirs" / format_
        if format_ == "artifacts":  # what a purifier stores is what our export of it writes
            other = str(self.top.parent / "other")
            self._memrepo(["demo", "--fast", other])
            memory = str(Path(other) / "memory")
            self._memrepo(["-C", memory, "export", "artifacts", str(theirs / "runtime")])
            return
        for name, data in FOLDERS[format_].items():
            (theirs / name).parent.mkdir(parents=True, exist_ok=True)
            (theirs / name).write_bytes(data)

    def play(self, command: str) -> tuple[str, ...]:
        """Run one command line; return what it prints, without the folder's name."""
        self.now += timedelta(minutes=1)
        typed, pipe, rest = command.partition(" | memrepo ")
        name, *words = shlex.split(f"memrepo {rest}" if pipe else command, comments=True)
        if name.startswith("memory_"):
            text = self._tool(*command.split(" ", 1))
        elif name == "cd":
            (target,) = words
            self.where = (self.where / target).resolve(strict=True)
            text = ""
        elif name == "memrepo":
            text = self._memrepo(words, self._shell(typed) if pipe else "")
        elif name in SHELL:
            text = self._shell(command)
        else:
            raise ValueError(f"{name}: a transcript may not run it")
        text = text.replace(str(self.top), "/...").replace(PROGRAMS, "/.../bin").rstrip("\n")
        return tuple(line.rstrip() for line in text.split("\n")) if text else ()

    def _memrepo(self, words: list[str], typed: str = "") -> str:
        printed = io.StringIO()
        argv = ["--now", format_time(self.now), *words]
        with (
            contextlib.chdir(self.where),
            self._environment(),
            patch.object(config, "DEFAULTS", DEFAULTS),
            patch.object(sys, "stdin", io.StringIO(typed)),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            try:
                self.exit = cli.main(argv)
            except SystemExit as left:  # --help and --version leave so
                self.exit = int(left.code or 0)
        return printed.getvalue()

    def _tool(self, name: str, arguments: str = "{}") -> str:
        """Call a tool as an agent does."""
        tool = TOOLS[name]
        with self._environment():
            call = Call(where=self.where, now=self.now)
            return answer(call, tool, json.loads(arguments), "agent").text

    def _shell(self, line: str) -> str:
        ran = subprocess.run(
            ["sh", "-c", f"(exit {self.exit}); {line}"],
            cwd=self.where,
            env={**os.environ, **self.environment},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.exit = ran.returncode
        return ran.stdout

    @contextlib.contextmanager
    def _environment(self) -> Iterator[None]:
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def same(expected: tuple[str, ...], found: tuple[str, ...]) -> bool:
    """Compare answers: hashes are any hash, and a line `...` stands for any lines."""
    want = [_HEX.sub("#", line.rstrip()) for line in expected]
    have = [_HEX.sub("#", line) for line in found]
    if ANY_LINES not in want:
        return want == have
    parts = (re.escape(f"{line}\n") if line != ANY_LINES else r"(?:.*\n)*" for line in want)
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in have)) is not None


def play(text: str, each: Callable[[Exchange, tuple[str, ...]], None]) -> None:
    """Play a page's transcripts and hand each exchange with its found answer to `each`."""
    found = exchanges(text)
    if not found:
        return
    with tempfile.TemporaryDirectory(prefix="memrepo-docs-") as folder:
        stage = Stage(Path(folder).resolve())
        for formats in THEIRS.findall(text):
            for format_ in formats.split():
                stage.bring(format_)
        for exchange in found:
            each(exchange, stage.play(exchange.command))


def refreshed(text: str) -> str:
    """Return a page with today's answers, or unchanged where all of them still hold.

    When one is stale all are written, so that a run has one id throughout; answers that leave
    lines out (`...`) stay while they hold.
    """
    lines = text.split("\n")
    played: list[tuple[Exchange, tuple[str, ...]]] = []
    play(text, lambda exchange, found: played.append((exchange, found)))
    if all(same(exchange.answer, found) for exchange, found in played):
        return text
    for exchange, found in reversed(played):
        if ANY_LINES not in exchange.answer or not same(exchange.answer, found):
            lines[exchange.line : exchange.line + len(exchange.answer)] = found
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Refresh the pages that are named, or all."""
    if argv[:1] != ["--write"]:
        print("usage: python tests/transcripts.py --write [PAGE ...]", file=sys.stderr)
        return 2
    rewrite([Path(name).resolve() for name in argv[1:]] or pages(), refreshed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
