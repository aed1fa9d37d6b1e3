"""Memory as a folder of files, and as a memory tool for the `anthropic` client."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memrepo.actions.guard import refuse_secret
from memrepo.actions.request import Wish
from memrepo.actions.work import Call, Work, as_program
from memrepo.actions.write.add import Drafts, Entry
from memrepo.actions.write.change import rewording
from memrepo.actions.write.commit import Asked, Unchanged, write
from memrepo.core.changes import Change, Create, Op, Step, Update
from memrepo.core.codec import CodecError, normal_body
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.lines import split_lines, unix
from memrepo.core.memory import Edges, Memory, Stamp
from memrepo.core.patterns import regex
from memrepo.core.secrets import harmless, without_secrets
from memrepo.core.state import State

ROOT = "/memories"
TAG = "memory-tool"
MAX_FILE = 100_000
"""Maximum characters of a file."""
_SEGMENT = regex(r"[^\W_][\w .,@+()=-]{0,99}")
_DEEPEST = 10
_LINE_BREAK = regex("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Characters other than line feeds that a reader may show as line ends, which breaks numbering."""


class FileRefused(MemrepoError):
    """Raised for an invalid path or text in a command. The model reads the message."""

    exit_code = Exit.USAGE


class MemoryFiles:
    """The files below `/memories`, with the operations of Claude's memory tool.

    `now` returns the context of one command.
    """

    def __init__(self, now: Callable[[], Call]) -> None:
        self._now = now

    def view(self, path: str, lines: Sequence[int] = ()) -> str:
        """Return the numbered lines of a file, or a list of the files in a directory.

        `lines` are the first and the last line to show. A last line of -1 is the end of the file.
        """
        name = name_of(path)
        with Work(self._now()) as here:
            files = _files(here.tree.state())
        if name in files:
            return _numbered(path, without_secrets(text_of(files[name])).split("\n"), lines)
        below = {n: m for n, m in files.items() if not name or n.startswith(f"{name}/")}
        if name and not below:
            raise _missing(path)
        return _listing(path, name, below)

    def create(self, path: str, text: str) -> str:
        """Create a file, and return a message that confirms it."""
        name = name_of(path)
        if not name:
            raise FileRefused(f"File {path} already exists")
        _refuse_long(text)

        def draft(work: Work, state: State) -> Step:
            _refuse_existing(_files(state), name, f"File {path}")
            refuse_secret(text, "file_text")
            body, edges = split_text(text)
            entry = Entry(text=body, title=name, tags=(TAG,), cls="permanent")
            memory = Drafts(work, state).make(entry).with_fields({"edges": edges})
            return _step("create", "create", path, [Create(memory=memory)])

        return self._write(draft) or f"File created successfully at: {path}"

    def replace(self, path: str, old: str, new: str) -> str:
        """Replace a text that occurs exactly once in a file, and return the changed lines."""
        line = [0]

        def reword(text: str) -> str:
            found = text.count(old)
            if found == 1:
                line[0] = text.count("\n", 0, text.find(old))
                return text.replace(old, new)
            raise FileRefused(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines:"
                f" {', '.join(map(str, _lines_of(old, text)))}. Please ensure it is unique"
                if found
                else f"No replacement was performed, old_str `{old}` did not appear verbatim in"
                f" {path}."
            )

        waits, text = self._reword("str_replace", path, reword)
        if waits:
            return waits
        first = max(line[0] - 2, 0)
        rows = _rows(text.split("\n")[first : line[0] + 3], first + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change"
            f" (with line numbers):\n{rows}"
        )

    def insert(self, path: str, line: int, text: str) -> str:
        """Insert a text after a line of a file. Line 0 is the beginning of the file.

        The resulting file ends with a line feed.
        """

        def reword(before: str) -> str:
            lines = before.removesuffix("\n").split("\n") if before else []
            if not 0 <= line <= len(lines):
                raise FileRefused(
                    f"Invalid `insert_line` parameter: {line}."
                    f" It should be within the range [0, {len(lines)}]."
                )
            after = "\n".join([*lines[:line], text.rstrip("\n"), *lines[line:]])
            return after if after.endswith("\n") else f"{after}\n"

        waits, _ = self._reword("insert", path, reword)
        return waits or f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file or a directory, by forgetting its memories. History retains them."""
        name = name_of(path)
        if not name:
            raise FileRefused(f"Cannot delete the {ROOT} directory itself")

        def draft(_: Work, state: State) -> Step:
            found = _at(_files(state), name, path)
            changes = [Update(id=m.id, fields={"status": "forgotten"}) for m in found.values()]
            return _step("forget", "delete", path, changes)

        return self._write(draft) or f"Successfully deleted {path}"

    def rename(self, path: str, to: str) -> str:
        """Rename a file or a directory. Raise FileRefused if the new name is already in use."""
        name, new = name_of(path), name_of(to)
        if not name or not new:
            raise FileRefused(f"Cannot rename the {ROOT} directory itself")

        def draft(_: Work, state: State) -> Step:
            files = _files(state)
            _refuse_existing(files, new, f"The destination {to}")
            found = _at(files, name, path)
            if new.startswith(f"{name}/"):
                raise FileRefused(f"{to} is in {path} itself")
            changes = [
                Update(id=m.id, fields={"title": new + n.removeprefix(name)})
                for n, m in found.items()
            ]
            return _step("edit", "rename", f"{path} to {to}", changes)

        return self._write(draft) or f"Successfully renamed {path} to {to}"

    def _reword(self, command: str, path: str, reword: Callable[[str], str]) -> tuple[str, str]:
        """Change the text of a file by applying the function `reword` to it.

        Return the message for a change that waits for a person, if any, and the new text of the
        file.
        """
        name, after = name_of(path), [""]

        def draft(work: Work, state: State) -> Step | Unchanged:
            files = _files(state)
            memory = files.get(name)
            if memory is None:
                if not name or any(n.startswith(f"{name}/") for n in files):
                    raise FileRefused(f"The path {path} is not a file.")
                raise _missing(path)
            after[0] = text = reword(text_of(memory))
            _refuse_long(text)
            refuse_secret(text, "the file")
            body, edges = split_text(text)
            if (body, edges) == (memory.body, memory.fields.get("edges")):
                return Unchanged()
            stamp = Stamp(by=work.actor, at=work.call.now)
            worded = rewording(memory, body) if memory.body else {}
            fields = {**worded, "edges": edges, "generated": stamp}
            new = body if body != memory.body else None
            return _step("reword", command, path, [Update(id=memory.id, fields=fields, body=new)])

        return self._write(draft), after[0]

    def _write(self, draft: Callable[[Work, State], Step | Unchanged]) -> str:
        """Commit a change to files. Return a message if the change awaits a person, or else ""."""
        with Work(self._now()) as work:
            done = write(work, Wish(), partial(draft, work))
        return (
            f"Nothing was changed yet: {done.id} {done.unchanged}."
            if isinstance(done, Asked)
            else ""
        )


def name_of(path: str) -> str:
    """Convert a path below `/memories` to a file name, and `/memories` to an empty string.

    Raise FileRefused if the path is outside the directory or ambiguous.
    """
    if path.rstrip("/") == ROOT:
        return ""
    segments = path.removesuffix("/").split("/")
    if segments[:2] != ROOT.split("/"):
        raise FileRefused(f"Path must start with {ROOT}, got: {path[:200]}")
    if unquote(path) != path or {".", ".."} & set(segments):
        raise FileRefused(f"Path {path[:200]} would escape {ROOT} directory")
    names = segments[2:]
    if len(names) > _DEEPEST or any(
        not _SEGMENT.fullmatch(n) or n != n.rstrip(" .") for n in names
    ):
        raise FileRefused(
            f"{path[:200]!r}: names begin with a letter or a digit and hold letters, digits, blanks"
            f" and . , _ @ + ( ) = -; at most {_DEEPEST} deep"
        )
    return "/".join(names)


def _files(state: State) -> dict[str, Memory]:
    """Return the memory of each file by file name. If two memories share a name, the older wins."""
    found: dict[str, Memory] = {}
    for memory in sorted(state.active, key=lambda m: (str(m.fields.get("created", "")), m.id)):
        if TAG in memory.texts("tags"):
            with suppress(FileRefused):
                found.setdefault(name_of(f"{ROOT}/{memory.text('title')}"), memory)
    return {name: found[name] for name in sorted(found) if name}


def _at(files: dict[str, Memory], name: str, path: str) -> dict[str, Memory]:
    """Select a file, or all files of a directory. Raise FileRefused if the path does not exist."""
    found = {n: m for n, m in files.items() if n == name or n.startswith(f"{name}/")}
    if not found:
        raise FileRefused(f"The path {path[:200]} does not exist")
    return found


_LETTERS = {"\n": "n", "\r\n": "c", "\r": "r"}
_ENDS = {letter: end for end, letter in _LETTERS.items()}


def split_text(text: str) -> tuple[str, Edges | None]:
    """Split a file's text into the body of a memory and the rest, for `text_of` to reassemble."""
    ends = "".join(_LETTERS[end] for _, end in split_lines(text) if end) if "\r" in text else ""
    plain, body = unix(text), normal_body(text)
    at = plain.find(body) if body else 0
    edges = Edges(
        before=plain[:at],
        after=plain[at + len(body) :],
        ends=ends[: len(ends.rstrip(ends[-1:])) + 1],
    )
    return body, edges if edges != Edges() else None


def text_of(memory: Memory) -> str:
    """Restore the exact original text of a file from its memory."""
    edges: Edges | None = memory.fields.get("edges")
    if edges is None:
        return memory.body
    text = f"{edges.before}{memory.body}{edges.after}"
    if not edges.ends:
        return text
    lines = split_lines(text)
    ends = [_ENDS[letter] for letter in edges.ends.ljust(len(lines), edges.ends[-1])]
    return "".join(line + (end and own) for (line, end), own in zip(lines, ends, strict=False))


def _lines_of(text: str, body: str) -> list[int]:
    """Return the numbers of the lines in which a text begins, once per occurrence."""
    places = re.finditer(rf"(?={re.escape(text)})", body)
    return [body.count("\n", 0, place.start()) + 1 for place in places]


def _refuse_existing(files: dict[str, Memory], name: str, what: str) -> None:
    parents = {name[:at] for at in range(len(name)) if name[at] == "/"}
    if name in files or any(n.startswith(f"{name}/") for n in files):
        raise FileRefused(f"{what} already exists")
    if parents & set(files):
        raise FileRefused(f"{what} is below a file")


def _refuse_long(text: str) -> None:
    if len(text) > MAX_FILE:
        raise FileRefused(f"a file has at most {MAX_FILE} characters, found {len(text)}")


def _missing(path: str) -> FileRefused:
    return FileRefused(f"The path {path[:200]} does not exist. Please provide a valid path.")


def _step(op: Op, command: str, path: str, changes: Sequence[Change]) -> Step:
    return Step(op=op, reason=f"{command} {path}, by the memory tool", changes=tuple(changes))


def _listing(path: str, name: str, files: dict[str, Memory]) -> str:
    sizes: dict[str, int] = {"": 0}
    for file, memory in sorted(files.items(), key=lambda found: found[0].split("/")):
        parts = file.removeprefix(f"{name}/" if name else "").split("/")
        size = len(text_of(memory).encode())
        sizes[""] += size
        for depth in range(1, min(len(parts), 2) + 1):
            whole = depth == len(parts)
            key = "/".join(parts[:depth]) + ("" if whole else "/")
            sizes[key] = sizes.get(key, 0) + size
    root = path.rstrip("/")
    rows = [f"{_size(size)}\t{root}{f'/{key}' if key else ''}" for key, size in sizes.items()]
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    return "\n".join([head, *rows])


def _size(count: int) -> str:
    if count < 1024:
        return f"{count}B"
    size = count / 1024
    return f"{size:.0f}K" if size.is_integer() else f"{size:.1f}K"


def _numbered(path: str, lines: Sequence[str], span: Sequence[int]) -> str:
    first, last = 1, len(lines)
    if len(span) == 2:
        first = max(span[0], 1)
        last = min(last, span[1]) if span[1] != -1 else last
    rows = _rows(lines[first - 1 : last], first)
    return f"Here's the content of {path} with line numbers:\n{rows}"


def _rows(lines: Sequence[str], first: int) -> str:
    return "\n".join(
        f"{number:6}\t{_LINE_BREAK.sub(' ', line)}"
        for number, line in enumerate(lines, start=first)
    )


__all__ = ("MemoryTool",)


_UNFIT = {
    "frontmatter-second-header": "a file cannot begin with a header between lines of ---,"
    " begin it with a heading instead",
    "file-nul": "a file cannot hold a NUL character, leave it out",
    "file-not-utf8": "a file cannot hold half a surrogate pair, write the whole character",
}
"""Explanations of invalid file contents for the model, by rule."""


class MemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool, with its directory stored in a memory repository.

    `clock` returns the current time with its time zone. `actor` is the author of the commits and is
    never a person. With a `scope`, Claude reads and writes only memories of that scope. A refused
    command is reported to Claude as the tool's error. Examples are a path outside the directory, a
    secret, and a text that a person rejected.
    """

    def __init__(
        self,
        where: str | Path,
        *,
        clock: Callable[[], datetime],
        actor: str = "process:claude",
        scope: str = "",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        folder = Path(where).absolute()
        self._files = MemoryFiles(
            lambda: as_program(Call(where=folder, now=clock(), actor=actor, scope=scope), "claude")
        )

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the numbered lines of a file, or a list of the files in a directory."""
        return _report_errors(lambda: self._files.view(command.path, command.view_range or ()))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file, and return a message that confirms it."""
        return _report_errors(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs exactly once in a file."""
        return _report_errors(
            lambda: self._files.replace(command.path, command.old_str, command.new_str or "")
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        return _report_errors(
            lambda: self._files.insert(command.path, command.insert_line, command.insert_text)
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a directory, by forgetting its memories. History retains them."""
        return _report_errors(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a directory."""
        return _report_errors(lambda: self._files.rename(command.old_path, command.new_path))


def _report_errors(work: Callable[[], str]) -> str:
    try:
        return "\r\n".join(map(harmless, work().split("\r\n")))
    except CodecError as error:
        unfit = _UNFIT.get(error.problem.rule, error.problem.message)
        raise ToolError(f"Nothing was written: {harmless(unfit)}.") from error
    except MemrepoError as error:
        more = f". {error.fix}." if error.fix else ""
        raise ToolError(harmless(f"{error.message}{more}")) from error
