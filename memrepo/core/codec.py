"""Decode and encode memory files. No other module writes memory files.

`decode` reports errors as Problems, `encode` writes a new file, and `edit` changes an existing one.
An edit changes only the lines of changed values and the changed body lines. Comments, foreign keys,
key order, line endings and the final newline are preserved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from memrepo.core import header as headers
from memrepo.core.errors import MemrepoError, Problem
from memrepo.core.fields import ValueMismatch, shown
from memrepo.core.header import LFS_POINTER, Entry, Header, entry_lines
from memrepo.core.lines import (
    Line,
    dominant_end,
    find_conflict,
    join_lines,
    split_lines,
    unix,
)
from memrepo.core.memory import BY_NAME, FIELDS, ORDER, Memory
from memrepo.core.patterns import regex

_BLANK = regex(r"\s*")
_MANY_LINES = 2000  # above this number, lines that repeat often are not matched one by one


def changed_keys(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the schema keys whose values differ between two headers, in schema order.

    A missing key has its default.
    """
    return [f.name for f in FIELDS if old.get(f.name, f.default) != new.get(f.name, f.default)]


def spelled(key: str, memory: Memory) -> list[str]:
    """Format a field as header lines. Return an empty list if the field has its default."""
    value = memory.fields.get(key)
    if value is None:
        return []
    return entry_lines(key, BY_NAME[key].write(value), folded=key == "links")


def _spelled(memory: Memory) -> list[str]:
    """Format a complete header."""
    return [line for key in memory.fields for line in spelled(key, memory)]


def edit_body(lines: Sequence[Line], body: str, end: str, *, closed: bool) -> list[Line]:
    """Replace the body lines of a file. Lines with the same text remain unchanged.

    `lines` are all lines after the closing marker. `body` is normalized (`codec.normal_body`) and
    differs from the current body. Blank lines around the text, line ends, and trailing blanks of
    equal lines are preserved. Added lines end with `end`. `closed` is whether the file had a final
    newline.
    """
    solid = [n for n, (text, _) in enumerate(lines) if not _BLANK.fullmatch(text)]
    start, stop = (solid[0], solid[-1] + 1) if solid else (len(lines), len(lines))
    before, core, after = list(lines[:start]), lines[start:stop], list(lines[stop:])
    if not body:
        return before + after
    if not core and not before:
        before = [("", end)]
    before = [(text, own or end) for text, own in before]
    new = _matched(core, body.split("\n"), end)
    if not after and not closed:
        new[-1] = (new[-1][0], "")
    return before + new + after


def _matched(core: Sequence[Line], texts: list[str], end: str) -> list[Line]:
    """Reuse the raw lines whose text is unchanged. Every returned line has a line ending."""
    old = [text for text, _ in core]
    if old:
        old[-1] = old[-1].rstrip()
    new: list[Line] = [(text, end) for text in texts]
    for a, b in pairs(old, texts):
        text, own = core[a]
        # Trailing blanks are ignored only after the last word of the body. Elsewhere they are text.
        new[b] = (text if b == len(texts) - 1 else texts[b], own or end)
    return new


def pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index pairs of equal lines in two texts, unordered. No two pairs cross.

    The common head and tail are matched first because the general matching is quadratic.
    """
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    room = least - head
    tail = next((n for n in range(room) if old[-1 - n] != new[-1 - n]), room)
    yield from ((n, n) for n in range(head))
    yield from ((len(old) - n, len(new) - n) for n in range(1, tail + 1))
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, *middle, autojunk=len(middle[1]) > _MANY_LINES)
    for block in matcher.get_matching_blocks():
        for n in range(head, head + block.size):
            yield block.a + n, block.b + n


MAX_BYTES = headers.MAX_BYTES


class CodecError(MemrepoError):
    """Raised when a file cannot be decoded or edited, or a memory cannot be encoded.

    `problem` is the first cause, and `problems` also has warnings.
    """

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        errors = [problem for problem in problems if problem.severity == "error"]
        self.problem = errors[0]
        super().__init__("\n".join(map(str, errors)), fix=self.problem.fix)


def _refusal(rule: str, path: str, message: str, fix: str, line: int = 1) -> CodecError:
    """Return the error of a file that cannot be read from a line on."""
    column = min(line, 1)
    found = Problem(path=path, rule=rule, message=message, fix=fix, line=line, column=column)
    return CodecError(found)


def decode(path: str, data: bytes) -> tuple[Memory | None, tuple[Problem, ...]]:
    """Decode a memory file. Return None as the memory if any problem is an error. Never raises."""
    try:
        found = _decode(path, data)
    except CodecError as error:
        return None, error.problems
    return found.memory, found.problems


def encode(memory: Memory) -> bytes:
    """Encode a memory as a new canonical file.

    Raise CodecError if `decode` would reject the file.
    """
    return written(memory)[0]


def written(memory: Memory) -> tuple[bytes, Memory]:
    """Encode a memory. Return the bytes and the memory decoded from them.

    The result is cached because every stage of a run calls this.
    """
    data, read = memory.made(_written)
    return data, read or memory


def _written(memory: Memory) -> tuple[bytes, Memory | None]:
    body = normal_body(memory.body)
    lines = ["---", *_spelled(memory), "---", "", *([body, ""] if body else [])]
    data, read = _checked(memory, "\n".join(lines))
    return data, None if read == memory else read


def edit(data: bytes, memory: Memory) -> bytes:
    """Return the file `data`, edited to contain `memory`. Only lines that differ are changed.

    Raise CodecError if `data` does not decode, or if the result would not decode to `memory`.
    """
    return rewritten(data, memory)[0]


def rewritten(data: bytes, memory: Memory) -> tuple[bytes, Memory]:
    """Edit a file as `edit` does. Return the new bytes and the memory decoded from them."""
    found = _decode(memory.path, data)
    old, header = found.memory, found.header
    edits = {key: spelled(key, memory) for key in changed_keys(old.fields, memory.fields)}
    body = normal_body(memory.body)
    lines = split_lines(found.text)
    head, rest = lines[: header.body_line - 1], lines[header.body_line - 1 :]
    if edits:
        head = headers.edit(head, header, edits, ORDER)
    if body != old.body:
        closed = bool(lines[-1][1])
        rest = edit_body(rest, body, dominant_end(rest, head), closed=closed)
        head[-1] = (head[-1][0], head[-1][1] or dominant_end(head))
    edited, after = _checked(memory, join_lines(head + rest))
    same = after.fields == memory.fields or _spelled(after) == _spelled(memory)
    if after.body != body or not same:
        raise CodecError(
            Problem(
                path=memory.path,
                rule="frontmatter-value",
                message="found values that are not canonical, such as the same list item twice",
            )
        )
    return edited, after


def normal_body(text: str) -> str:
    r"""Normalize a body to `\n` line endings, without blank lines at the start or end.

    The indentation of the first text line is preserved. Trailing white space is removed.
    """
    text = unix(text).rstrip()
    start = 0
    while (end := text.find("\n", start)) >= 0 and not text[start:end].strip():
        start = end + 1
    return text[start:]


def _checked(memory: Memory, text: str) -> tuple[bytes, Memory]:
    """Return the UTF-8 bytes of an encoded memory, and the memory decoded from these bytes.

    Raise CodecError if decoding fails.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CodecError(
            Problem(
                path=memory.path,
                rule="file-not-utf8",
                message="found an unpaired surrogate in the memory, expected text",
                fix="decode the original text correctly",
            )
        ) from error
    return data, _decode(memory.path, data).memory


class _Decoded(NamedTuple):
    """A memory, and the text and the header that it was decoded from, with warnings."""

    memory: Memory
    text: str
    header: Header
    problems: tuple[Problem, ...]


def _decode(path: str, data: bytes) -> _Decoded:
    """Decode a file. Raise CodecError if any problem is an error."""
    text = _text(path, data)
    if conflict := find_conflict(text):
        found = "found git's conflict markers, expected a resolved merge"
        fix = "choose one of the two sides, and delete the marker lines"
        raise _refusal("file-conflict", path, found, fix, conflict)
    header = headers.read(text, path)
    if not header.present and not header.unclosed:
        found = "found no header, expected --- on line 1"
        raise _refusal("frontmatter-missing", path, found, "`memrepo check --fix FILE` writes one")
    fields, found_in_fields = _fields(path, header)
    problems = [*header.problems, *found_in_fields, *_second_header(path, header, text)]
    if any(problem.severity == "error" for problem in problems):
        raise CodecError(*problems)
    memory = Memory.of(path, fields, normal_body(text[header.body_offset :]))
    return _Decoded(memory, text, header, tuple(problems))


def _text(path: str, data: bytes) -> str:
    """Return the text of a file. Raise CodecError if it is too large, an LFS pointer or no text."""
    if len(data) > MAX_BYTES:
        found = f"found {len(data)} bytes, expected at most {MAX_BYTES}"
        fix = "split the memory, or move the text to sources/"
        raise _refusal("file-too-large", path, found, fix, 0)
    if data.startswith(LFS_POINTER):
        found = "found a Git LFS pointer, expected the text itself"
        fix = "remove the file from LFS with `git lfs migrate export`: git has to store the text"
        raise _refusal("file-lfs-pointer", path, found, fix)
    nul = data.find(b"\0")
    if nul >= 0:
        line = len(split_lines(data[:nul].decode("latin-1") + "x"))
        found = f"found a NUL byte at offset {nul}, expected text"
        raise _refusal("file-nul", path, found, "remove it", line)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CodecError(headers.not_utf8(path, data, error.start)) from error


def _second_header(path: str, header: Header, text: str) -> list[Problem]:
    """Reject a body that begins with a second header, which would be treated as text."""
    body = unix(text[header.body_offset :])
    first = re.match(r"(?:[^\S\n]*\n)*(?=---[ \t]*\n)", body)
    if first is None:
        return []
    inner = headers.read(body[first.end() :], path)
    if not inner.entries:
        return []
    return [
        Problem(
            path=path,
            rule="frontmatter-second-header",
            message="found a second header, expected text",
            fix="join the two headers into one",
            line=header.body_line + first[0].count("\n"),
            column=1,
        )
    ]


def _fields(path: str, header: Header) -> tuple[dict[str, object], list[Problem]]:
    """Return the schema fields read from a header, and the problems found in the header."""
    fields: dict[str, object] = {}
    problems: list[Problem] = []
    for entry in header.entries:
        field = BY_NAME.get(entry.key)
        if field is None:
            problems += _near_key(path, entry)
            continue
        try:
            value = field.read(entry.value)
        except ValueMismatch as bad:
            problems.append(_mismatch(path, header, entry, bad))
            continue
        if value != field.default:
            fields[entry.key] = value
    has_type = any(entry.key == "type" for entry in header.entries)
    if not has_type and not header.problems:  # a broken block may be that of the type
        problems.append(
            Problem(
                path=path,
                rule="frontmatter-missing-type",
                message="found no type, expected one",
                fix="add a line such as type: fact",
                line=1,
                column=1,
                key="type",
            )
        )
    return fields, problems


@lru_cache(maxsize=1024)
def _similar_keys(key: str) -> tuple[str, ...]:
    from difflib import get_close_matches

    # A first letter is rarely misspelt: `related` is no `created`.
    known = [name for name in BY_NAME if name[0] == key[:1].lower()]
    return tuple(get_close_matches(key.lower(), known, n=1, cutoff=0.8))


def _near_key(path: str, entry: Entry) -> Iterator[Problem]:
    """Yield a warning if a foreign key is probably a misspelt schema key."""
    for similar in _similar_keys(entry.key):
        yield Problem(
            path=path,
            rule="frontmatter-near-key",
            message=f"found the key {shown(entry.key)}, which is ignored; did you mean {similar}?",
            line=entry.first,
            column=1,
            key=entry.key,
            fix=f"rename it to {similar}",
            severity="warning",
        )


def _mismatch(path: str, header: Header, entry: Entry, bad: ValueMismatch) -> Problem:
    """Return the problem for an invalid field value, with the line and column of the value."""
    steps = (entry.key, *bad.path)
    line, column = header.place(steps)
    return Problem(
        path=path,
        rule="frontmatter-value",
        message=str(bad),
        line=line,
        column=column,
        key=".".join(map(str, steps)),
        fix=bad.fix,
    )
