"""Claude's memory tool for the `anthropic` client, with its files stored as memories.

The SDK's own tool keeps plain files. A command is carried out by it on a temporary copy of the
files, and what it changed there becomes one commit. White space around a text is not kept: a file
ends with one line end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from anthropic.types.beta import BetaCacheControlEphemeralParam

from memrepo.actions.landing import Unchanged, refuse_hidden, write
from memrepo.actions.verbs import refuse_private
from memrepo.actions.work import Call, Wish, Work, as_program
from memrepo.actions.write import Drafts, Entry, rewording
from memrepo.core.codec import CodecError, normal_body
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory, Stamp
from memrepo.core.patterns import regex
from memrepo.core.secrets import harmless, without_secrets
from memrepo.core.state import Change, Create, Op, State, Step, Update
from memrepo.faces.python import session

__all__ = ("MemoryTool",)

ROOT = "/memories"
TAG = "memory-tool"
MAX_FILE = 100_000
"""Maximum characters of a file."""
_SEGMENT = regex(r"[^\W_][\w .,@+()=-]{0,99}")
_DEEPEST = 10
_LINE_BREAK = regex("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Characters other than line feeds that a reader may show as line ends, which breaks numbering."""
_OPS: Mapping[str, Op] = {
    "create": "create",
    "str_replace": "reword",
    "insert": "reword",
    "delete": "forget",
    "rename": "edit",
}
"""The operation that a commit records, by command."""
_UNFIT = {
    "frontmatter-second-header": "a file cannot begin with a header between lines of ---,"
    " begin it with a heading instead",
    "file-nul": "a file cannot hold a NUL character, leave it out",
}
"""Explanations of invalid file contents for the model, by rule."""


class FileRefused(MemrepoError):
    """Raised for an invalid path or text in a command. The model reads the message."""

    exit_code = Exit.USAGE


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
        self._now: Callable[[], Call] = lambda: as_program(
            Call(where=folder, now=clock(), actor=actor, scope=scope, id=session()), "claude"
        )

    def view(self, command: Any) -> str:
        """Carry out a command of any kind, and return what the SDK's own tool answers."""
        try:
            with Work(self._now()) as work:
                refuse_private(work)
                text = _LINE_BREAK.sub(" ", _answer(work, command))
            return "\r\n".join(map(harmless, text.split("\r\n")))
        except ToolError as error:
            raise ToolError(harmless(f"{error}")) from error
        except CodecError as error:
            unfit = _UNFIT.get(error.problem.rule, error.problem.message)
            raise ToolError(f"Nothing was written: {harmless(unfit)}.") from error
        except MemrepoError as error:
            more = f". {error.fix}." if error.fix else ""
            raise ToolError(harmless(f"{error.message}{more}")) from error
        except UnicodeEncodeError as error:
            message = "a file cannot hold half a surrogate pair, write the whole character"
            raise ToolError(f"Nothing was written: {message}.") from error
        except OSError as error:
            raise ToolError(f"Nothing was changed: {error.strerror}.") from error

    create = str_replace = insert = delete = rename = view


def _answer(work: Work, command: Any) -> str:
    """Carry out a command, commit what it changed, and return the answer."""
    names = [name_of(getattr(command, key)) for key in _PATHS if hasattr(command, key)]
    if command.command == "view":
        shown = {n: without_secrets(text_of(m)) for n, m in _files(work.tree.state()).items()}
        return _carried_out(command, shown)[0]
    answer = ""

    def draft(state: State) -> Step | Unchanged:
        nonlocal answer
        files = _files(state)
        answer, after = _carried_out(command, {n: text_of(m) for n, m in files.items()})
        changes = _changes(work, state, files, after, names)
        where = " to ".join(getattr(command, key) for key in _PATHS if hasattr(command, key))
        reason = f"{command.command} {where}, by the memory tool"
        return (
            Step(op=_OPS[command.command], reason=reason, changes=tuple(changes))
            if changes
            else Unchanged()
        )

    write(work, Wish(), draft)
    return answer


_PATHS = ("path", "old_path", "new_path")
_TEXTS = ("old_str", "new_str", "insert_text")


def _carried_out(command: Any, files: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Let the SDK's tool carry out a command on files. Return its answer, and the files then."""
    # The text of a memory has LF only, so that an old text with CRLF would never be found.
    texts = {k: v.replace("\r\n", "\n") for k in _TEXTS if (v := getattr(command, k, None))}
    command = command.model_copy(update=texts)
    with TemporaryDirectory(prefix="memrepo-") as folder:
        root = Path(folder, *ROOT.split("/"))
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode())
        answer = str(BetaLocalFilesystemMemoryTool(folder).execute(command))
        paths = (path for path in root.rglob("*") if path.is_file())
        return answer, {p.relative_to(root).as_posix(): p.read_bytes().decode() for p in paths}


def _changes(
    work: Work,
    state: State,
    files: Mapping[str, Memory],
    after: Mapping[str, str],
    names: list[str],
) -> list[Change]:
    """Return the changes of memories that make the files as a command left them.

    `names` are the files that the command names: two if it renamed one.
    """
    changes = list[Change]()
    drafts, moved = Drafts(work, state), dict[str, str]()
    for name, memory in files.items():
        if name in after:
            changes += _reworded(work, memory, after[name])
        elif len(names) > 1:
            moved[name] = names[1] + name.removeprefix(names[0])
            changes.append(Update(id=memory.id, fields={"title": moved[name]}))
        else:
            changes.append(Update(id=memory.id, fields={"status": "forgotten"}))
    for name in sorted(after.keys() - files.keys() - {*moved.values()}):
        entry = Entry(text=_body_of(after[name]), title=name, tags=(TAG,), cls="permanent")
        changes.append(Create(memory=drafts.make(entry)))
    return changes


def _reworded(work: Work, memory: Memory, text: str) -> Iterator[Update]:
    """Yield the update that gives a memory another text, if it is another."""
    if text == text_of(memory):
        return
    body = _body_of(text)
    if body == memory.body:
        return
    worded = rewording(memory, body) if memory.body else {}
    stamp = Stamp(by=work.actor, at=work.call.now)
    yield Update(id=memory.id, fields={**worded, "generated": stamp}, body=body)


def _body_of(text: str) -> str:
    """Return the body of a memory for the text of a file. Raise FileRefused or SecretInText."""
    if len(text) > MAX_FILE:
        raise FileRefused(f"a file has at most {MAX_FILE} characters, found {len(text)}")
    refuse_hidden(text, "the file")
    return normal_body(text)


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
    """Return the memory of each file by file name. If two memories share a name, the older wins.

    A name that is a folder of another file is left out.
    """
    found: dict[str, Memory] = {}
    for memory in sorted(state.active, key=lambda m: (str(m.fields.get("created", "")), m.id)):
        if TAG in memory.tags:
            with suppress(FileRefused):
                found.setdefault(name_of(f"{ROOT}/{memory.title}"), memory)
    folders = {str(above) for name in found for above in Path(name).parents}
    return {name: found[name] for name in sorted(found) if name and name not in folders}


def text_of(memory: Memory) -> str:
    """Return the text of a memory's file: its body, with one line end behind it."""
    return f"{memory.body}\n" if memory.body else ""
