"""Read YAML headers of files that other programs wrote, using python-frontmatter.

Headers are never written. Values are read within the limits of `core.header`: no type is guessed,
no tag, anchor or alias is resolved, and nesting is limited. If YAML rejects a header, each key is
read separately.
"""

from __future__ import annotations

import frontmatter
from frontmatter.default_handlers import BaseHandler

from memrepo.core.fields import Node
from memrepo.core.header import FIRST_LINE, Entry, read, read_lines
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

MAX_CHARACTERS = 256 * 1024
"""Maximum length of a header in characters. No key is read from a longer header."""
_KEY_LINE = regex(r"""(?:[^\s#:'"\[{-][^:]*|(?:"[^"]*"|'[^']*')[ \t]*):(?:[ \t]|$)""")


class ForeignHeader(BaseHandler):
    """The YAML header of a text, and the body below it, as split by python-frontmatter.

    Headers are never written, so there is no `export`. `values` maps each key to its value, and
    `at` maps each key to its line. `last` is the number of the line that closes the header, or 0
    without a header. `body` is the text after the header. `body_line` is the number of the first
    line of the body that is not blank.
    """

    FM_BOUNDARY = regex(r"(?m)^(?:---|\.\.\.)[ \t]*$")

    def __init__(self, text: str, path: str) -> None:
        super().__init__()
        self.path = path
        self.values: dict[str, Node] = {}
        self.at: dict[str, int] = {}
        self.problem: Problem | None = None
        self.last, self.body, self.body_line = 0, text, 1 + _blank_lines(text)

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into the source of its header and its body, and store the header's values.

        Raises ValueError if the text between two rules is body text.
        """
        before, header, *rest = self.FM_BOUNDARY.split(text, 2)
        lines = header.split("\n")[1:-1]
        if before or not rest:
            if not before and lines and _KEY_LINE.match(lines[0]):
                self.problem = next(iter(read(text, self.path).problems), None)  # never closed
            raise ValueError(self.path)
        long = len(header) > MAX_CHARACTERS
        reading = read_lines([] if long else lines, self.path)
        broken = next((p for p in reading.problems if p.severity == "error"), None)
        entries = reading.entries if broken is None else _by_key(lines, self.path)
        bare = _is_mapping(lines) if long else not any(map(str.strip, lines))
        if not (entries or bare) or (broken is not None and not _is_mapping(lines)):
            raise ValueError(self.path)
        self.values = {entry.key: entry.value for entry in entries}
        self.at = {entry.key: entry.first for entry in entries}
        self.problem, self.body = broken, rest[0]
        self.last = FIRST_LINE + len(lines)
        self.body_line = self.last + _blank_lines(rest[0])
        return header, rest[0]

    def load(self, fm: str) -> dict[str, Node]:  # noqa: ARG002 - `split` has read it
        """Return the values of the header by key."""
        return self.values


def read_head(text: str, path: str) -> ForeignHeader:
    """Read the header of a text, which must not begin with a byte order mark.

    Without a header, the whole text is body.
    """
    header = ForeignHeader(text, path)
    if text.startswith("---"):
        frontmatter.parse(text, handler=header)
    return header


def _blank_lines(text: str) -> int:
    return text.count("\n", 0, len(text) - len(text.lstrip()))


def _is_mapping(lines: list[str]) -> bool:
    """Return whether each unindented line is a key, a list item or a closing bracket."""
    margin = [line for line in lines if line.strip() and line[0] not in " \t#"]
    return bool(margin) and all(
        _KEY_LINE.match(line) or (n and (line.startswith(("- ", "]", "}")) or line.rstrip() == "-"))
        for n, line in enumerate(margin)
    )


def _by_key(lines: list[str], path: str) -> tuple[Entry, ...]:
    """Read the header key by key. A value that is not valid YAML is read as plain text."""
    starts = [n for n, line in enumerate(lines) if _KEY_LINE.match(line)]
    found: dict[str, Entry] = {}
    for first, after in zip(starts, [*starts[1:], len(lines)], strict=True):
        reading = read_lines(lines[first:after], path)
        key, _, words = lines[first].partition(":")
        value: Node = words.strip().strip("'\"")
        if reading.entries and not reading.problems:
            value = reading.entries[0].value
        elif isinstance(value, str) and value.startswith("[") and not value.startswith("[["):
            value = value.strip("[] ")  # a list that is never closed
        found.setdefault(key, Entry(key, value, first + FIRST_LINE, after + 1))
    return tuple(found.values())
