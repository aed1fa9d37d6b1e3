"""Shell transcripts in the documentation: read, played, compared, and written anew.

Every ```console block of a document is played in order, in one temporary folder that holds a copy
of the demo's workspace as `agent/` and of its later state as `later/`. The clock starts at START
and goes on a minute a command. A line that begins with `memory_` calls that tool for agents; what
is shown is its short text. A document with the line `<!-- theirs: FORMAT -->` finds a memory of
another program's in `theirs/`. `python tests/transcripts.py --write` puts what the program says
today into the documents.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from docs_parts import ROOT, write_anew
from foreign_memory import FOLDERS

from memrepo import config
from memrepo.actions.work import Call
from memrepo.assets import asset
from memrepo.core.times import format_time
from memrepo.faces import cli
from memrepo.faces.mcp.answer import answer
from memrepo.faces.mcp.tools import DEFAULT

START = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
ANY_LINES = "..."
IDENTITY = "[user]\n\tname = Mara\n\temail = mara@example.org\n[init]\n\tdefaultBranch = main\n"
PROGRAMS = str(Path(sys.executable).parent)
OTHERS = ("cat", "cp", "git", "ls")
THEIRS = re.compile(r"^<!-- theirs: (\S+) -->$", re.MULTILINE)
DEFAULTS = {key.name: key for key in config.KEYS}
"""A reader's settings: other tests let runs take all that they read."""
_HEX = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One command of a transcript: its line (one-based) in the document and what it answers."""

    line: int
    command: str
    answer: tuple[str, ...]


def documents() -> list[Path]:
    """Return the documents that may hold transcripts."""
    folders = (ROOT / "docs", ROOT / "docs" / "migrate")
    return [
        ROOT / "README.md",
        *(path for folder in folders for path in sorted(folder.glob("*.md"))),
    ]


def exchanges(text: str) -> list[Exchange]:
    """Read every exchange of a document's console blocks, in order."""
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
    """A folder in which the commands of one document are played."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "top"
        shutil.copytree(asset("templates", "demo", "workspace"), self.top / "agent")
        shutil.copytree(asset("templates", "demo", "later"), self.top / "later")
        identity = folder / "gitconfig"
        identity.write_text(IDENTITY, encoding="utf-8")
        self.environment = {
            "GIT_CONFIG_GLOBAL": str(identity),
            "GIT_CONFIG_SYSTEM": os.devnull,
            "LC_ALL": "C",
            "GIT_PAGER": "cat",
            "TZ": "Asia/Manila",
            "COLUMNS": "80",
        }
        self.where = self.top
        self.now = START
        self.exit = 0
        self.commit = ""
        self.typed = ""
        """What is piped into the command."""

    def bring(self, format_: str) -> None:
        """Put an example of another program's memory into `theirs/`."""
        theirs = self.top / "theirs"
        if format_ == "artifacts":  # what a purifier keeps is what our export of it writes
            other = self.top.parent / "other"
            for words in (["init", str(other), "--from", str(self.top / "agent")], ["run"]):
                self._memrepo(words if words[0] == "init" else ["-C", str(other), *words])
            self._memrepo(["-C", str(other), "export", "artifacts", str(theirs / "runtime")])
            return
        for name, data in FOLDERS[format_].items():
            (theirs / name).parent.mkdir(parents=True, exist_ok=True)
            (theirs / name).write_bytes(data)

    def play(self, command: str) -> tuple[str, ...]:
        """Run one command line and return what it prints, with the folder's name taken out."""
        self.now += timedelta(minutes=1)
        if command.startswith("memory_"):
            text = self._tool(*command.split(" ", 1))
            return tuple(text.split("\n"))
        name, *rest = shlex.split(command, comments=True)
        if "|" in rest and name == "printf":
            cut = rest.index("|")
            self.typed, (name, *rest) = self._print(name, rest[:cut]), rest[cut + 1 :]
        else:
            self.typed = ""
        match name:
            case "cd":
                (target,) = rest
                self.where = (self.where / target).resolve(strict=True)
                text = ""
            case "echo" | "printf":
                text = self._print(name, rest)
            case "memrepo":
                text = self._memrepo(rest)
            case _ if name in OTHERS:
                text = self._other([name, *rest])
            case _:
                raise ValueError(f"{name}: a transcript may not run it")
        text = text.replace(str(self.top), "/...").replace(PROGRAMS, "/.../bin").rstrip("\n")
        return tuple(line.rstrip() for line in text.split("\n")) if text else ()

    def _print(self, name: str, words: list[str]) -> str:
        target, add = "", False
        if len(words) > 2 and words[-2] in (">", ">>"):
            *words, sign, target = words
            add = sign == ">>"
        text = " ".join(words).replace("$?", str(self.exit))
        text = text + "\n" if name == "echo" else text.replace("\\n", "\n")
        if not target:
            return text
        with (self.where / target).open("a" if add else "w", encoding="utf-8") as handle:
            handle.write(text)
        return ""

    def _memrepo(self, words: list[str]) -> str:
        said = io.StringIO()
        argv = ["--now", format_time(self.now), *words]
        with (
            contextlib.chdir(self.where),
            _environment(self.environment),
            patch.object(config, "BY_NAME", DEFAULTS),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            _typed(self.typed),
        ):
            try:
                self.exit = cli.main(argv)
            except SystemExit as left:  # --help and --version leave so
                self.exit = int(left.code or 0)
        return said.getvalue()

    def _tool(self, name: str, arguments: str = "{}") -> str:
        """Call a tool as an agent does; `COMMIT` is the commit that the last answer named."""
        tool = next(tool for tool in DEFAULT if tool.name == name)
        given = json.loads(arguments.replace("COMMIT", self.commit))
        with _environment(self.environment):
            reply = answer(Call(where=self.where, now=self.now), tool, given, "agent")
        self.commit = str(reply.data.get("commit", self.commit))
        return reply.text

    def _other(self, argv: list[str]) -> str:
        ran = subprocess.run(
            argv,
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
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _typed(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def same(expected: tuple[str, ...], found: tuple[str, ...]) -> bool:
    """Compare answers: hashes are any hash, and a line `...` stands for any lines."""
    want = [_HEX.sub("#", line.rstrip()) for line in expected]
    have = [_HEX.sub("#", line) for line in found]
    if ANY_LINES not in want:
        return want == have
    parts = (re.escape(f"{line}\n") if line != ANY_LINES else r"(?:.*\n)*" for line in want)
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in have)) is not None


def play(text: str, each: Callable[[Exchange, tuple[str, ...]], None]) -> None:
    """Play a document's transcripts and hand each exchange with its found answer to `each`."""
    found = exchanges(text)
    if not found:
        return
    with tempfile.TemporaryDirectory(prefix="memrepo-docs-") as folder:
        stage = Stage(Path(folder).resolve())
        if theirs := THEIRS.search(text):
            stage.bring(theirs[1])
        for exchange in found:
            each(exchange, stage.play(exchange.command))


def refreshed(text: str) -> str:
    """Return a document with the answers of today, or as it is where all of them still hold.

    When one is stale all are written, so that a run has one id throughout; answers that leave
    lines out (`...`) stay while they hold.
    """
    lines = text.split("\n")
    played: list[tuple[Exchange, tuple[str, ...]]] = []
    play(text, lambda exchange, found: played.append((exchange, found)))
    if all(same(exchange.answer, found) for exchange, found in played):
        return text
    changes = [
        (exchange, found)
        for exchange, found in played
        if "..." not in exchange.answer or not same(exchange.answer, found)
    ]
    for exchange, found in reversed(changes):
        lines[exchange.line : exchange.line + len(exchange.answer)] = found
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Write the documents anew."""
    if argv != ["--write"]:
        print("usage: python tests/transcripts.py --write", file=sys.stderr)
        return 2
    write_anew(documents(), refreshed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
