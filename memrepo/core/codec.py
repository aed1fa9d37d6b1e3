"""From the bytes of a memory file to a Memory and back; the only writer of memory files.

`decode` tells what is wrong as Problems, `encode` makes a new file, `edit` changes only the lines
it means to: comments, foreign keys, key order, line ends and final newline of a person survive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from memrepo.core import edits, refusals
from memrepo.core import header as headers
from memrepo.core.entries import Entry
from memrepo.core.errors import MemrepoError
from memrepo.core.fields import Kind, ListOf, ValueMismatch, shown
from memrepo.core.header import Header
from memrepo.core.lines import dominant_end, join_lines, split_lines, unix
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.core.refusals import refusal
from memrepo.core.schema import BY_NAME, FIELDS, Field

RULES = refusals.RULES
MAX_BYTES = refusals.MAX_BYTES


class CodecError(MemrepoError):
    """A file that cannot be edited, or a memory that no file can hold; see `problem`."""

    def __init__(self, *problems: Problem) -> None:
        self.problem = problems[0]
        self.problems = problems
        super().__init__("\n".join(map(str, problems)), fix=problems[0].fix)


def decode(path: str, data: bytes) -> tuple[Memory | None, tuple[Problem, ...]]:
    """Read a memory file; the memory is None when a problem is an error. Never raises."""
    memory, _, _, problems = _decode(path, data)
    return memory, problems


def encode(memory: Memory) -> bytes:
    """Write a new file in canonical form; raises CodecError where `decode` would refuse it."""
    return written(memory)[0]


def written(memory: Memory) -> tuple[bytes, Memory]:
    """Encode a memory and return what a reader makes of it beside the bytes."""
    body = normal_body(memory.body)
    lines = ["---", *_spelled(memory), "---", "", *([body, ""] if body else [])]
    return _checked(memory, "\n".join(lines))


def edit(data: bytes, memory: Memory) -> bytes:
    """Return `data` changed to hold `memory` (same path), touching only lines that differ.

    Raises CodecError when `data` does not decode or the result would not decode to `memory`.
    """
    return rewritten(data, memory)[0]


def rewritten(data: bytes, memory: Memory) -> tuple[bytes, Memory]:
    """Edit a file and return what a reader makes of it beside the bytes."""
    old, text, header, problems = _decode(memory.path, data)
    if old is None:
        raise CodecError(*(p for p in problems if p.severity == "error"))
    keys = edits.changed_keys(old.fields, memory.fields)
    body = normal_body(memory.body)
    lines = split_lines(text)
    head, rest = lines[: header.body_line - 1], lines[header.body_line - 1 :]
    if keys:
        head = edits.edit_header(head, header, keys, memory.fields)
    if body != old.body:
        closed = bool(lines[-1][1])
        rest = edits.edit_body(rest, body, dominant_end(rest, head), closed=closed)
        head[-1] = (head[-1][0], head[-1][1] or dominant_end(head))
    edited, after = _checked(memory, join_lines(head + rest))
    same = after.fields == memory.fields or _spelled(after) == _spelled(memory)
    if after.body != body or not same:
        raise CodecError(
            refusal(
                "frontmatter-value",
                memory.path,
                "found a memory that reads differently once "
                "it is written, expected canonical values (no list item twice)",
            )
        )
    return edited, after


def normal_body(text: str) -> str:
    r"""Return a body as `Memory` holds it: `\n` line ends, no outer blank lines.

    The indentation of the first line stays; white space after the last word goes.
    """
    text = unix(text).rstrip()
    start = 0
    while (end := text.find("\n", start)) >= 0 and not text[start:end].strip():
        start = end + 1
    return text[start:]


def _spelled(memory: Memory) -> list[str]:
    return [line for field in FIELDS for line in edits.spelled(field.name, memory.fields)]


def _checked(memory: Memory, text: str) -> tuple[bytes, Memory]:
    """Return the text's bytes and what a reader makes of them; raises CodecError."""
    unknown = sorted(memory.fields.keys() - BY_NAME.keys())
    if unknown:
        raise CodecError(
            refusal(
                "frontmatter-value",
                memory.path,
                f"found the field {shown(unknown[0])}, expected a field of the schema",
                key=unknown[0],
            )
        )
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CodecError(
            refusal(
                "file-not-utf8",
                memory.path,
                "found half a surrogate pair in the memory, expected text",
                fix="decode the text that it was made of",
            )
        ) from error
    read, problems = decode(memory.path, data)
    if read is None:
        raise CodecError(*(p for p in problems if p.severity == "error"))
    return data, read


_Decoded = tuple[Memory | None, str, Header, tuple[Problem, ...]]


def _decode(path: str, data: bytes) -> _Decoded:
    """Read a file and keep what an edit needs: its text and header."""
    refused = _refused_bytes(path, data)
    if refused is not None:
        return None, "", Header(), (refused,)
    text = data.decode("utf-8")
    header = headers.read(text, path)
    if not header.present and not header.unclosed:
        problem = refusal(
            "frontmatter-missing",
            path,
            "found no header, expected --- on line 1",
            line=1,
            column=1,
            fix="begin the file with the lines ---, type: fact, ---",
        )
        return None, text, header, (problem,)
    if header.problems:
        return None, text, header, header.problems
    fields, problems = _fields(path, header, text)
    problems += _second_header(path, header, text)
    if any(problem.severity == "error" for problem in problems):
        return None, text, header, tuple(problems)
    body = normal_body(text[header.body_offset :])
    return Memory(path=path, fields=fields, body=body), text, header, tuple(problems)


def _refused_bytes(path: str, data: bytes) -> Problem | None:
    """Refuse a file for its size, a NUL byte or an encoding that is not UTF-8."""
    if len(data) > MAX_BYTES:
        return refusal(
            "file-too-large",
            path,
            f"found {len(data)} bytes, expected at most {MAX_BYTES}",
            fix="split the memory, or keep the text under sources/",
        )
    nul = data.find(b"\0")
    if nul >= 0:
        line = len(split_lines(data[:nul].decode("latin-1") + "x"))
        return refusal(
            "file-nul",
            path,
            f"found a NUL byte at offset {nul}, expected text",
            line=line,
            column=1,
            fix="remove it",
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return headers.not_utf8(path, data, error.start)
    return None


def _second_header(path: str, header: Header, text: str) -> list[Problem]:
    """Refuse a body that begins with another header: one of the two would be taken for text."""
    body = unix(text[header.body_offset :])
    first = re.match(r"(?:[^\S\n]*\n)*(?=---[ \t]*\n)", body)
    if first is None:
        return []
    inner = headers.read(body[first.end() :], path)
    if not inner.entries:
        return []
    return [
        refusal(
            "frontmatter-second-header",
            path,
            "found a second header, expected text",
            line=header.body_line + first[0].count("\n"),
            column=1,
            fix="join the two headers into one",
        )
    ]


def _fields(path: str, header: Header, text: str) -> tuple[dict[str, Any], list[Problem]]:
    """Read the schema's fields out of a header's entries."""
    fields: dict[str, Any] = {}
    problems: list[Problem] = []
    for entry in header.entries:
        field = BY_NAME.get(entry.key)
        if field is None:
            problems += _near_key(path, entry)
            continue
        try:
            value = field.kind.read(entry.value)
        except ValueMismatch as bad:
            problems.append(_mismatch(path, text, header, field, entry, bad))
            continue
        if value != field.default:
            fields[entry.key] = value
    if "type" not in fields and all(entry.key != "type" for entry in header.entries):
        problems.append(
            refusal(
                "frontmatter-missing-type",
                path,
                "found no type, expected one",
                line=1,
                column=1,
                key="type",
                fix="add a line such as type: fact",
            )
        )
    return fields, problems


@lru_cache(maxsize=1024)
def _meant(key: str) -> tuple[str, ...]:
    from difflib import get_close_matches

    return tuple(get_close_matches(key.lower(), BY_NAME, n=1, cutoff=0.8))


def _near_key(path: str, entry: Entry) -> Iterator[Problem]:
    """Warn of a foreign key that is probably a misspelt key of ours."""
    for meant in _meant(entry.key):
        yield refusal(
            "frontmatter-near-key",
            path,
            f"found the key {shown(entry.key)}, which is ignored; did you mean {meant}?",
            line=entry.first,
            column=1,
            key=entry.key,
            fix=f"rename it to {meant}",
            severity="warning",
        )


def _mismatch(
    path: str, text: str, header: Header, field: Field, entry: Entry, bad: ValueMismatch
) -> Problem:
    """Locate a value that is not of its field's kind."""
    from memrepo.core import yamlnodes

    steps = _steps(field.kind, entry.value, bad)
    inner = [line for line, _ in split_lines(text)[headers.FIRST_LINE - 1 : header.body_line - 2]]
    line, column = yamlnodes.locate(inner, headers.FIRST_LINE, entry.key, steps)
    dotted = ".".join([entry.key, *(str(step) for step in steps)])
    return refusal(
        "frontmatter-value",
        path,
        str(bad),
        line=line,
        column=column,
        key=dotted,
        fix=bad.fix,
    )


def _steps(kind: Kind, node: Any, bad: ValueMismatch) -> Sequence[str | int]:
    """Return the way from a field's value to the node that does not fit."""
    steps: list[str | int] = [step for step in bad.key.split(".") if step]
    if isinstance(kind, ListOf) and isinstance(node, list):
        for n, item in enumerate(node):
            try:
                kind.item.read(item)
            except ValueMismatch:
                return [n, *steps]
    return steps
