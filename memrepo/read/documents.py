r"""Decode a source file into numbered lines, and hide lines that its author did not write.

Hidden lines are the frontmatter, blocks that other programs maintain between start and end
comments, and what memory programs printed. Private text is blank (`read/marks.py`). Lines end at
`\n` only, and `\r\n` counts as one line end. Line numbers are one-based and refer to the original
bytes.

Headers of other programs are split by python-frontmatter and never written. Values are read within
the limits of `core.header`: no type is guessed, no tag, anchor or alias is resolved, and nesting is
limited. If YAML rejects a header, each key is read separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, cast

import msgspec

from memrepo.core import header as yaml_header
from memrepo.core.fields import Node
from memrepo.core.header import FIRST_LINE, Entry
from memrepo.core.lines import MAX_DEPTH, too_deep
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.read.marks import printed_lines, without_private

Task = Literal["", "open", "done"]
"""State of a task with a checkbox. Empty for a line that is not a task."""
MAX_BYTES = 4 * 1024 * 1024

_COMMENT = regex(r"[ \t]*<!--[ \t]*([^\s<>][^<>]*)-->[ \t]*")
# Programs write `name:start`. People also use the looser forms in comments ("quick-start guide"),
# so loose forms count only in pairs.
_FIRM = regex(r"(?P<name>\S+?):(?P<word>start|begin|end|stop)(?:\s.*)?", re.IGNORECASE)
_LOOSE = (
    regex(r"(?P<name>\S+?)[_-](?P<word>start|begin|end|stop)(?:\s.*)?", re.IGNORECASE),
    regex(r"(?P<name>\S+)\s(?P<word>START|BEGIN|END|STOP)(?:\s.*)?"),
    regex(r"(?P<word>START|BEGIN|END|STOP)[\s:_-]+(?P<name>\S+).*"),
    regex(r"(?P<word>start|begin|end|stop):(?P<name>\S+).*"),
)
_HOT_TAG = regex(r"↑\d{4}-\d{2}-\d{2}\([^()\n]{0,100}\)←|←mem-[0-9a-f]{16}")
_FENCE = regex(r"(?:[ \t]{0,80}(?:[-*+>]|\d{1,9}[.)])(?=[ \t])){0,64}[ \t]*(`{3,}|~{3,})(.*)")
_HEADING = regex(r" {0,3}#{1,6}(?:[ \t]|$)")
_STRUCK = regex(r"`[^`\n]*`|~~(?=[^\s~])(?P<out>(?:[^~\n]|~(?!~)){1,500})(?<!\s)~~(?!~)")
_MARKER = regex(r"[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")
_KEY_AND_DATE = regex(
    r"\W*(?:[^\n:\uff1a]{1,60}[:\uff1a]\W*)?(?:(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})\W*)?"
)
_ARROW = regex(r"(?P<before>\A|[:\uff1a][*_]*)\s*(?:→|⇒|➜|➡\ufe0f?|[-=]+>)\s*")
_IN_BRACKETS = regex(r"[(（][^()（）]*[)）]")
_PLAIN_KEY = regex(r"[a-z][a-z0-9_-]*:(?:[ \t]|$)|[-#] |[]}]")


def remove_struck(line: str) -> str:
    """Remove the text that is struck out (`~~port 8080~~`) from a line.

    In a heading, only the strike marks are removed. A line of which only a key, a date or a remark
    in brackets remains is empty, since these are about what was struck out.
    """
    if "~~" not in line:
        return line
    if _HEADING.match(line):
        return _STRUCK.sub(lambda m: m["out"] or m[0], line)
    start = _MARKER.match(line)
    at = start.end() if start else 0
    left = _STRUCK.sub(lambda m: "" if m["out"] else m[0], line[at:])
    if left == line[at:]:
        return line
    if _KEY_AND_DATE.fullmatch(_IN_BRACKETS.sub("", left)):
        return line[:at]
    return line[:at] + _ARROW.sub(r"\g<before> ", " ".join(left.split())).strip()


class SourceLines(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded source file. `text[n - 1]` is line n without its trailing newline.

    `hidden` contains the numbers of lines that are not evidence. `managed` is the subset that
    another program or memrepo wrote. `fenced` contains the numbers of lines in fenced code,
    detected line by line.
    """

    resource: str
    text: tuple[str, ...] = ()
    hidden: frozenset[int] = frozenset()
    managed: frozenset[int] = frozenset()
    fenced: frozenset[int] = frozenset()
    unclosed: frozenset[int] = frozenset()
    """Lines that open a code fence that is never closed. The lines after them are read as text."""
    problems: tuple[Problem, ...] = ()

    @property
    def count(self) -> int:
        """Return the number of lines. A trailing newline does not start another line."""
        return len(self.text)

    def visible(self, first: int, last: int) -> list[tuple[int, str]]:
        """Return the visible lines from `first` to `last`, inclusive, as (number, text) pairs."""
        span = range(max(first, 1), min(last, self.count) + 1)
        return [(n, self.text[n - 1]) for n in span if n not in self.hidden]


def read_lines(resource: str, data: bytes) -> SourceLines:
    """Decode a source file, and hide lines that its author did not write. Never raises.

    A file that is not UTF-8, is larger than 4 MiB or is nested deeper than 64 levels is skipped.
    The result then has no lines and one error.
    """
    if len(data) > MAX_BYTES:
        return _refused(resource, "source-too-large", f"has {len(data)} bytes, over {MAX_BYTES}")
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _refused(resource, "source-not-utf8", f"is not UTF-8 at byte {error.start}", line)
    # Editors do not count a lone carriage return as a line end, so it becomes a blank.
    flat = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")
    flat = without_private(flat, comments=False)
    text = tuple(flat.removesuffix("\n").split("\n")) if flat else ()
    deep = too_deep(text)
    if deep:
        return _refused(
            resource,
            "source-too-deep",
            f"nests lists or quotes more than {MAX_DEPTH} levels deep",
            deep,
        )
    header = _header_end(resource, text)
    printed = printed_lines(text)
    written = ["" if n in printed else line for n, line in enumerate(text, start=1)]
    fenced, unclosed = _fenced(written, header)
    managed, problems = _managed(resource, written, header, fenced)
    managed |= printed
    hidden = managed.union(range(1, header + 1))
    return SourceLines(
        resource=resource,
        text=text,
        hidden=hidden,
        managed=managed,
        fenced=fenced,
        unclosed=unclosed,
        problems=(
            *problems,
            *(
                _warned(
                    resource,
                    line,
                    rule="source-unclosed",
                    message="code fence is never closed; the lines after it are read as text",
                    fix="close it",
                )
                for line in sorted(unclosed)
            ),
        ),
    )


def _refused(resource: str, rule: str, message: str, line: int = 0) -> SourceLines:
    problem = Problem(
        path=resource, line=line, rule=rule, message=f"{message}; the file is skipped"
    )
    return SourceLines(resource=resource, problems=(problem,))


def _header_end(resource: str, text: Sequence[str]) -> int:
    """Return the number of the line that closes the frontmatter, or 0 without frontmatter.

    Frontmatter is never evidence, so text between two rules counts as frontmatter only if it reads
    like a mapping. Some programs write a second block below the first. The second block belongs to
    the header if all its keys are plain names.
    """
    if not text or not text[0].startswith("---"):
        return 0
    head = read_head("\n".join(text), resource)
    second = read_head(head.body.lstrip(), resource) if head.last else head
    start = head.body_line - 1
    keys = (line for line in text[start + 1 : start + second.last - 1] if line[:1].strip())
    plain = second.last and all(map(_PLAIN_KEY.match, keys))
    return start + second.last if plain else head.last


def _fenced(text: Sequence[str], header: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of lines in closed code fences, and of lines that open an unclosed one."""
    inside: set[int] = set()
    unclosed: set[int] = set()
    number = header + 1
    while number <= len(text):
        match = _FENCE.match(text[number - 1])
        if match and not (match[1][0] == "`" and "`" in match[2]):
            closing = re.compile(rf"[ \t>]*{match[1][0]}{{{len(match[1])},}}[ \t]*")
            rest = range(number + 1, len(text) + 1)
            end = next((n for n in rest if closing.fullmatch(text[n - 1])), 0)
            if end:
                inside.update(range(number, end + 1))
                number = end
            else:
                unclosed.add(number)
        number += 1
    return frozenset(inside), frozenset(unclosed)


class _Mark(msgspec.Struct, frozen=True):
    """A comment that starts or ends a managed block."""

    line: int
    name: str
    starts: bool
    firm: bool


def _managed(
    resource: str, text: Sequence[str], header: int, fenced: frozenset[int]
) -> tuple[frozenset[int], tuple[Problem, ...]]:
    """Return the numbers of lines that programs maintain, and warnings about unpaired marks."""
    inside: set[int] = set()
    problems: list[Problem] = []
    marks = list(_marks(text, header, fenced))
    pairs = _pairs(marks)
    paired = set(pairs.values())
    for index, mark in enumerate(marks):
        if index in pairs:
            inside.update(range(mark.line, marks[pairs[index]].line + 1))
        elif mark.firm and mark.starts:
            limit = marks[index + 1].line if index + 1 < len(marks) else len(text) + 1
            below = range(mark.line + 1, limit)
            heads = (n for n in below if n not in fenced and _HEADING.match(text[n - 1]))
            stop = next(heads, limit)
            inside.update(range(mark.line, stop))
            left_out = f"start of {mark.name} has no end; lines up to {stop - 1} are skipped"
            problems.append(_warned(resource, mark.line, message=left_out))
        elif mark.firm and index not in paired:
            problems.append(
                _warned(resource, mark.line, message=f"end of {mark.name} has no start")
            )
    for number, line in enumerate(text[header:], start=header + 1):
        if "←" in line and number not in fenced and _HOT_TAG.search(line):
            inside.add(number)
    return frozenset(inside), tuple(problems)


def _marks(text: Sequence[str], header: int, fenced: frozenset[int]) -> Iterator[_Mark]:
    """Yield the comments that start or end a managed block, in order."""
    for number, line in enumerate(text[header:], start=header + 1):
        comment = _COMMENT.fullmatch(line) if "<!--" in line and number not in fenced else None
        if comment is None:
            continue
        match = _FIRM.fullmatch(comment[1])
        firm = match is not None
        for form in _LOOSE:
            match = match or form.fullmatch(comment[1])
        if match:
            starts = match["word"].lower() in ("start", "begin")
            yield _Mark(number, match["name"].casefold(), starts, firm)


def _pairs(marks: Sequence[_Mark]) -> dict[int, int]:
    """Map the index of each start mark to the index of the matching end mark."""
    opened: dict[str, int] = {}
    pairs: dict[int, int] = {}
    for index, mark in enumerate(marks):
        if mark.starts:
            opened[mark.name] = index
        elif mark.name in opened:
            pairs[opened.pop(mark.name)] = index
    return pairs


def _warned(
    resource: str,
    line: int,
    *,
    rule: str = "source-managed-block",
    message: str,
    fix: str = "add the missing comment or remove this one",
) -> Problem:
    return Problem(
        path=resource, line=line, rule=rule, message=message, fix=fix, severity="warning"
    )


MAX_CHARACTERS = 256 * 1024
"""Maximum length of a header in characters. No key is read from a longer header."""
_KEY_LINE = regex(r"""(?:[^\s#:'"\[{-][^:]*|(?:"[^"]*"|'[^']*')[ \t]*):(?:[ \t]|$)""")


class ForeignHeader:
    """The YAML header of a text, and the body below it, as split by python-frontmatter.

    Headers are never written, so there is no `export`. `values` maps each key to its value, and
    `at` maps each key to its line. `last` is the number of the line that closes the header, or 0
    without a header. `body` is the text after the header. `body_line` is the number of the first
    line of the body that is not blank.
    """

    FM_BOUNDARY = regex(r"(?m)^(?:---|\.\.\.)[ \t]*$")

    def __init__(self, text: str, path: str) -> None:
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
                self.problem = next(
                    iter(yaml_header.read(text, self.path).problems), None
                )  # never closed
            raise ValueError(self.path)
        long = len(header) > MAX_CHARACTERS
        reading = yaml_header.read_lines([] if long else lines, self.path)
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
    """Read the header of a text, which must not begin with a byte order mark."""
    header = ForeignHeader(text, path)
    if text.startswith("---"):
        import frontmatter  # most files have no header
        from frontmatter.default_handlers import BaseHandler

        frontmatter.parse(text, handler=cast("BaseHandler", header))
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
        reading = yaml_header.read_lines(lines[first:after], path)
        key, _, words = lines[first].partition(":")
        value: Node = words.strip().strip("'\"")
        if reading.entries and not reading.problems:
            value = reading.entries[0].value
        elif isinstance(value, str) and value.startswith("[") and not value.startswith("[["):
            value = value.strip("[] ")  # a list that is never closed
        found.setdefault(key, Entry(key, value, first + FIRST_LINE, after + 1))
    return tuple(found.values())
