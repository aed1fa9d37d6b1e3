"""An answer on a terminal: no wider than it, with short ids and a pager.

What goes into a pipe or a file is left as it is, so that a program reads whole ids and whole lines.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from memrepo.actions.verbs import VERBS
from memrepo.core.errors import MemrepoError
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.actions.work import Work

_PASTED = frozenset({"agent", "completion", "export", "hooks", "merge-driver", "schedule"})
"""Commands whose lines are for another program: a crontab's line that is broken is another one."""
_MEMORY = regex(r"(?<![\w/-])mem-([0-9a-f]{6})[0-9a-f]{10}(?![\w-])")
_RUN = regex(r"(?<![\w/-])(\d{8}T\d{6}Z)-[0-9a-f]{8}(?![\w-])")
_TAIL = regex(r"-([0-9a-f]{6})\.md$")
_OTHER = regex(r"(?<![\w/-])(con|thread)-([0-9a-f]{6})[0-9a-f]{10}(?![\w-])")
_RUN_IN_PATH = regex(r"/(\d{8}T\d{6}Z)-[0-9a-f]{8}\.")
_UNSEEN = "\x1b\\[[0-9;]*m|\x1b\\]8;;[^\x1b]*\x1b\\\\"
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uff60\uffe0-\uffe6\U0001f300-\U0001faff\U00020000-\U0003fffd"
)
_CLOSING = "\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b\u300d\u300f\uff09\u3011\u300b"
_PIECE = regex(f"{_UNSEEN}|\\s+|[{_WIDE}][{_CLOSING}]*|[^\\s\x1b{_WIDE}]+|\x1b")
_GAP = regex(r"(?<=\S)\s{2,}(?=\S)")
_BULLET = regex(r"\s*(?:[-*+]|\d{1,3}[.)])\s+")
_COLUMNS = 0.4
"""The share of a line in which its columns are looked for: the last of them is what hangs below."""


class Screen:
    """The terminal that an answer is printed on, and what shortens it."""

    def __init__(self, work: Work | None = None) -> None:
        self.width, self.height = shutil.get_terminal_size()
        self.paths: list[str] = []
        """The files by which ids are shortened; without a repository there are none."""
        with suppress(MemrepoError):
            if work is not None:
                layout, files = work.tree.layout, work.tree.files
                areas = (layout.area("memories"), layout.area("runs"))
                self.paths = [path for area in areas for path in files.below(area)]

    def show(self, name: str, text: str, request: object = None) -> None:
        """Print a command's text, by the pager where it is longer than the screen.

        Never by the pager after a write: what was done stays in sight.
        """
        if name not in _PASTED and not _is_another_format(request):
            text = fitted(shortened(text, self.paths), self.width)
        reads = name not in VERBS or not VERBS[name].writes
        if reads and text.count("\n") + 2 > self.height and self._paged(text):
            return
        print(text)

    def _paged(self, text: str) -> bool:
        """Pass a text to the pager, as git does; return whether there is one."""
        import subprocess

        asked = os.environ.get("MEMREPO_PAGER", os.environ.get("PAGER", "less"))
        words = shlex.split(asked)
        if not words or words == ["cat"] or os.environ.get("TERM") == "dumb":
            return False
        settings = {"LESS": "FRX", "LV": "-c", **os.environ}
        sys.stdout.flush()
        try:
            pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=settings)
        except OSError:
            return False
        try:
            pager.communicate(f"{text}\n".encode())
        except KeyboardInterrupt:  # it is the pager's: less stops searching, and stays
            pager.wait()
        return True


def _is_another_format(request: object) -> bool:
    """Return whether a patch, a page or lines for another program were asked for."""
    named = ("git", "markdown", "html")
    return any(getattr(request, n, None) for n in named) or getattr(
        request, "format", "text"
    ) not in ("text", "")


def shortened(text: str, paths: Collection[str]) -> str:
    """Shorten ids: of a memory to the digits that its file's name ends in, of a run to its time.

    Only where nothing else has the same, so that what is shown names one thing.
    """
    if named := {found[0]: found[1] for found in _MEMORY.finditer(text)}:
        digits = Counter(named.values())
        files = Counter(found[1] for path in paths if (found := _TAIL.search(path)))
        text = _MEMORY.sub(
            lambda m: f"mem-{m[1]}" if digits[m[1]] == 1 >= files[m[1]] else m[0], text
        )
    if others := {found[0]: found[2] for found in _OTHER.finditer(text)}:
        digits = Counter(others.values())
        text = _OTHER.sub(lambda m: f"{m[1]}-{m[2]}" if digits[m[2]] == 1 else m[0], text)
    if _RUN.search(text):
        known = {found[0][1:-1] for path in paths if (found := _RUN_IN_PATH.search(path))}
        known |= {found[0] for found in _RUN.finditer(text)}
        times = Counter(run.partition("-")[0] for run in known)
        text = _RUN.sub(lambda m: m[1] if times[m[1]] == 1 else m[0], text)
    return text


def fitted(text: str, width: int) -> str:
    """Break lines at blanks so that none is wider; what is broken hangs below its column.

    A word is never broken: of a path that is wider by itself the middle is left out, and any other
    such word is the terminal's to break, so that it can be copied whole.
    """
    return "\n".join(
        line if cells(line) <= width else "\n".join(_broken(line, width))
        for line in text.split("\n")
    )


def cells(text: str) -> int:
    """Count the columns of a terminal that a text takes."""
    if "\x1b" in text:
        text = regex(_UNSEEN).sub("", text)
    if text.isascii():
        return len(text)
    return sum(map(_cell, text))


def _cell(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") else 1


def _broken(line: str, width: int) -> Iterator[str]:
    hang = min(_hang(line, width), width // 2)
    shown, used, blank = "", 0, ""
    for piece in _PIECE.findall(line):
        if piece.isspace():
            blank = piece
            continue
        taken = cells(piece)
        if taken > width - hang:
            piece = _elided(piece, width - hang)
            taken = cells(piece)
        if used and used + len(blank) + taken > width:
            yield shown
            shown, used, blank = " " * hang, hang, ""
        shown += blank + piece
        used += len(blank) + taken
        blank = ""
    yield shown


def _hang(line: str, width: int) -> int:
    """Return where the rest of a line goes on: below its last column, or after its bullet."""
    if bullet := _BULLET.match(line):
        return bullet.end()
    plain = regex(_UNSEEN).sub("", line)
    gaps = [gap.end() for gap in _GAP.finditer(plain) if gap.end() <= width * _COLUMNS]
    return cells(plain[: gaps[-1]]) if gaps else len(plain) - len(plain.lstrip())


def _elided(piece: str, room: int) -> str:
    """Leave the middle of a path out: the first folder and the name say which it is."""
    parts = PurePosixPath(piece).parts
    if not (".md" in piece and len(parts) > 2):
        return piece
    first = f"{parts[0]}/…/"
    return first + parts[-1][-max(8, room - len(first)) :]
