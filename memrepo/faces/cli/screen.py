"""Print results on a terminal, with wrapped lines, short ids and a pager.

Output to a pipe or a file is not changed, so that programs receive complete ids and lines.
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
"""Commands with output for other programs. A wrapped line of a crontab would be invalid."""
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
"""Share of a line that is searched for columns. Wrapped lines are indented to the last column."""


class Screen:
    """A terminal to print results on, with its size."""

    def __init__(self, work: Work | None = None) -> None:
        self.width, self.height = shutil.get_terminal_size()
        self.paths: list[str] = []
        """The paths of memories and runs that may share a short id. Empty without a repository."""
        with suppress(MemrepoError):
            if work is not None:
                layout, files = work.tree.layout, work.tree.files
                areas = (layout.area("memories"), layout.area("runs"))
                self.paths = [path for area in areas for path in files.below(area)]

    def show(self, name: str, text: str, request: object = None) -> None:
        """Print the output of a command. Use a pager if the output is longer than the screen.

        The text of a command that writes is never paged, so that it stays visible.
        """
        if name not in _PASTED and not _is_another_format(request):
            text = fitted(shortened(text, self.paths), self.width)
        reads = name not in VERBS or not VERBS[name].writes
        if reads and text.count("\n") + 2 > self.height and self._paged(text):
            return
        print(text)

    def _paged(self, text: str) -> bool:
        """Show a text in the pager, like git. Return whether a pager was started."""
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
        except KeyboardInterrupt:  # Ctrl-C belongs to the pager: less stops searching and continues
            pager.wait()
        return True


def _is_another_format(request: object) -> bool:
    """Return whether a request selects an output format for programs, such as a git patch."""
    named = ("git", "markdown", "html")
    return any(getattr(request, n, None) for n in named) or getattr(
        request, "format", "text"
    ) not in ("text", "")


def shortened(text: str, paths: Collection[str]) -> str:
    """Shorten each id in a text, unless the short form would be ambiguous.

    A memory is shortened to the digits in its file name, a run to its time. An id that shares its
    short form with another is unchanged.
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
    """Wrap the lines of a text at spaces, and indent the continuation lines.

    Words are not split, so that they can be copied. A path that is too long loses its middle. Other
    long words are left to the terminal.
    """
    return "\n".join(
        line if cells(line) <= width else "\n".join(_broken(line, width))
        for line in text.split("\n")
    )


def cells(text: str) -> int:
    """Return the number of terminal columns that a text occupies."""
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
    """Return the indentation of continuation lines: the start of the last column or bullet text."""
    if bullet := _BULLET.match(line):
        return bullet.end()
    plain = regex(_UNSEEN).sub("", line)
    gaps = [gap.end() for gap in _GAP.finditer(plain) if gap.end() <= width * _COLUMNS]
    return cells(plain[: gaps[-1]]) if gaps else len(plain) - len(plain.lstrip())


def _elided(piece: str, room: int) -> str:
    """Shorten a path to its first folder and the end of its file name. Keep other words as is."""
    parts = PurePosixPath(piece).parts
    if not (".md" in piece and len(parts) > 2):
        return piece
    first = f"{parts[0]}/…/"
    return first + parts[-1][-max(8, room - len(first)) :]
