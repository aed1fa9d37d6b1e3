"""Files of this clone outside of history: uses of memories, logged events, results, kept answers.

A retrieval or the start of a session waits in a file, the buffer. A run closes the buffer into a
segment, and its manifest has the segments that no earlier manifest has, so they travel with the
history. A segment is counted once by its name: its number in this clone, and a hash of its content,
since the name is in a commit, and equal input gives equal commits in any folder at any time.

Each answer of a judge is on disk before the next question is sent, so a killed process loses only
the current question. A run that completes removes the answers that it used.

Of a folder of notes that this clone imports, `imports.json` has the ids of its memories under its
URI. While a private session works in a project, `before <uri>` has the digests of the lines that
its notes had before, and `private <uri>` has those that private sessions wrote, never their texts.
`scope <uri>` is the scope of a project in which memrepo is installed.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import blob_id, digest
from memrepo.core.judge import Usage
from memrepo.core.manifest import Accesses, Event, fold, united
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.times import format_time
from memrepo.store.git import keep_newest, lock, lock_file, scratch
from memrepo.store.repo import Repository

BUFFER = "access.jsonl"
FULL_BYTES = 10_000
"""Size of the buffer at which `record` closes it. An event has about 100 bytes."""
KEPT = 100
"""Number of closed segments that this clone keeps, for the case that a run is reverted."""
WAIT_S = 10.0
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Sum(msgspec.Struct, kw_only=True):
    """The names and the sum of the segments in the manifests of a tree."""

    names: set[str] = msgspec.field(default_factory=set)
    total: Accesses = msgspec.field(default_factory=Accesses)


class _Manifest(msgspec.Struct):
    used: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


class Ledger:
    """The access ledger of an open repository."""

    def __init__(self, store: Repository) -> None:
        self._store, self.folder = store, store.folder

    def record(self, events: Iterable[Event]) -> None:
        """Append events to the buffer. They are on disk when the call returns.

        Raises Locked if another process locks the ledger for too long, or OSError if the buffer
        cannot be written.
        """
        data = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
        if not data:
            return
        with lock(self.folder, "access", wait_s=WAIT_S):
            with (self.folder / BUFFER).open("ab") as buffer:
                # The line end first: a crash may have left half a line, and empty ones are skipped.
                os.write(buffer.fileno(), b"\n" + data)
                is_full = buffer.seek(0, os.SEEK_END) >= FULL_BYTES
            if is_full:
                self._close()

    def close(self) -> None:
        """Close the buffer, so that the next manifest has its events."""
        if (self.folder / BUFFER).exists():
            with lock(self.folder, "access", wait_s=WAIT_S):
                self._close()

    def _close(self) -> None:
        with suppress(FileNotFoundError):  # another process has just closed it
            last = max((int(path.stem[5:13]) for path in self._closed()), default=0)
            name = f"{last + 1:08d}-{blob_id((self.folder / BUFFER).read_bytes())[:16]}"
            (self.folder / BUFFER).rename(self.folder / f"used-{name}.jsonl")
            keep_newest(self.folder, "used-*.jsonl", KEPT)

    def _closed(self) -> list[Path]:
        return sorted(self.folder.glob("used-*-*.jsonl"))

    def unrecorded(self) -> dict[str, object]:
        """Return {name: segment} of the closed segments that no manifest at HEAD has, as JSON."""
        found = self._waiting(self._recorded().names if self._closed() else set())
        return {name: msgspec.to_builtins(segment) for name, segment in found.items()}

    def _waiting(self, known: set[str]) -> dict[str, Accesses]:
        names = {path.stem[5:]: path for path in self._closed()}
        return {name: _read_events(path) for name, path in names.items() if name not in known}

    def accesses(self) -> Accesses:
        """Return the current accounts of all memories, recorded or not."""
        known = self._recorded()
        waiting = self._waiting(known.names).values()
        return united([known.total, *waiting, _read_events(self.folder / BUFFER)])

    def _recorded(self) -> _Sum:
        """Return the sum of the segments in the manifests at HEAD, from the cache if possible."""
        tree = self._store.snapshot(self._store.head())
        area = tree.layout.area("runs")

        def count() -> _Sum:
            manifests = tree.files.many(tree.files.below(area).values()).values()
            found = dict(pair for data in manifests for pair in segments_of(data or b"{}"))
            return _Sum(names={*found}, total=united(found.values()))

        runs = tree.files.id_of(area.rstrip("/"))
        return self._store.cache.answer("accesses", runs, _Sum, count) if runs else _Sum()


def _read_events(path: Path) -> Accesses:
    """Count the events in a file of this clone, skipping incomplete lines."""
    found = []
    with suppress(OSError):
        for line in path.read_bytes().splitlines():
            with suppress(*_UNREADABLE):
                found.append(msgspec.json.decode(line, type=Event))
    return fold(found)


def segments_of(manifest: bytes) -> Iterator[tuple[str, Accesses]]:
    """Yield the name and content of each segment in a manifest, leaving out damaged ones."""
    used: Mapping[str, Any] = {}
    with suppress(*_UNREADABLE):
        used = msgspec.json.decode(manifest, type=_Manifest).used
    for name, segment in used.items():
        with suppress(*_UNREADABLE):
            yield name, msgspec.json.decode(segment, type=Accesses)


_LOCK_WAIT_S = 2.0


def append_event(
    folder: Path, day: date, record: Mapping[str, object], *, within: Path | None
) -> None:
    """Append an event to its day's log, `memory-log-YYYY-MM-DD.jsonl`.

    `within` is the work tree if the folder is inside it. In that case no symlink is followed.
    """
    path = folder / f"memory-log-{day.isoformat()}.jsonl"
    _refuse_links(path, within)
    folder.mkdir(parents=True, exist_ok=True)
    line = json.dumps(record, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags | (os.O_NOFOLLOW if within else 0), 0o644)
    try:
        if not lock_file(descriptor, _LOCK_WAIT_S):
            raise OSError(errno.EAGAIN, "another program holds its lock", str(path))
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line  # ends the incomplete line of another writer
        remaining = memoryview(line)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
    finally:
        os.close(descriptor)


def write_file(path: Path, text: str, *, within: Path | None, draft_in: Path | None = None) -> None:
    """Write a file atomically, so that readers see either the old or the new text.

    The draft is next to the file, or in `draft_in`, where a crash leaves it.
    """
    _refuse_links(path, within)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = scratch(draft_in or path.parent, f".{path.name}.", text.encode("utf-8", "replace"))
    try:
        new.chmod(0o644)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def load_json(path: Path, *, within: Path | None) -> dict[str, object]:
    """Return the JSON object in a file, or {} if the file is missing, damaged or a symlink."""
    try:
        _refuse_links(path, within)
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse_links(path: Path, within: Path | None) -> None:
    if within is None:
        return
    for part in (path, *path.parents):
        if part == within:
            return
        if part.is_symlink():
            raise OSError(errno.ELOOP, "a symlink is not followed", str(part))
    raise OSError(errno.EXDEV, f"it is not in {within}", str(path))


def to_json(record: Mapping[str, object]) -> str:
    """Format a record as the text of a JSON file, with sorted keys."""
    return json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n"


# -- answers of interrupted runs -------------------------------------------------------------

ANSWERS = "answers"
"""Folder with the paid answers that no run has used to the end, one file each."""
MAX_ANSWERS = 1000
"""Maximum number of answers to store. The newest are kept."""


class SavedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The text of an answer, None if it was unusable, and its cost.

    `billed` is whether a manifest has recorded the cost.
    """

    text: str | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    billed: bool = False


class SavedAnswers:
    """Paid answers by key, each saved to disk at once. Implements `judge.ask.AnswerStore`."""

    def __init__(self, store: Path) -> None:
        self._folder = store / ANSWERS
        self._used: set[str] = set()
        self._new: set[str] = set()
        self._there: dict[str, SavedAnswer] = {}
        for path in sorted(self._folder.glob("*.json")):
            try:
                self._there[path.stem] = msgspec.json.decode(path.read_bytes(), type=SavedAnswer)
            except (OSError, msgspec.MsgspecError):
                continue  # the question is asked again

    def __len__(self) -> int:
        return sum(answer.text is not None for answer in self._there.values())

    @property
    def unbilled(self) -> Usage:
        """Return the usage of all answers that are not yet recorded in a manifest."""
        usages = (answer.usage for answer in self._there.values() if not answer.billed)
        return reduce(add, usages, Usage())

    @property
    def used(self) -> int:
        """Return how many answers this process reused from an earlier one."""
        return len(self._used - self._new)

    def find(self, key: str) -> str | None:
        """Return the stored answer to a question, or None if there is none."""
        answer = self._there.get(key)
        if answer is None or answer.text is None:
            return None
        self._used.add(key)
        return answer.text

    def keep(self, key: str, text: str | None, usage: Usage) -> None:
        """Save an answer and its usage to disk. An unusable answer costs too, but has no text."""
        if text is None and not usage.calls:
            return
        before = self._there.get(key)
        if before is not None and not before.billed:
            usage += before.usage
        self._new.add(key)
        self._write(key, SavedAnswer(text=text, usage=usage))

    def _write(self, key: str, answer: SavedAnswer) -> None:
        self._there[key] = answer
        self._folder.mkdir(parents=True, exist_ok=True)
        new = scratch(self._folder, f".{key}.", msgspec.json.encode(answer))
        new.replace(self._folder / f"{key}.json")

    def billed(self) -> None:
        """Mark all usage as recorded, once a manifest contains it. Keep the answers."""
        for key, answer in list(self._there.items()):
            if answer.text is None:
                self._remove(key)
            elif not answer.billed:
                self._write(key, replace(answer, billed=True))
        keep_newest(self._folder, "*.json", MAX_ANSWERS)

    def remove_used(self) -> None:
        """Delete the answers that this process used, because all their results have landed."""
        for key in (self._used | self._new) & self._there.keys():
            self._remove(key)
        self.billed()

    def _remove(self, key: str) -> None:
        del self._there[key]
        (self._folder / f"{key}.json").unlink(missing_ok=True)


_RECORD = "imports.json"


def load(folder: Path) -> dict[str, set[str]]:
    """Return the record in memrepo's folder of a clone."""
    with suppress(OSError, UnicodeDecodeError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _RECORD).read_bytes(), type=dict[str, set[str]])
    return {}


def save(folder: Path, record: Mapping[str, set[str]]) -> None:
    """Store the record, if it has changed."""
    if record != load(folder):
        data = msgspec.json.encode(record, order="deterministic")
        with suppress(OSError):  # the folder is not writable: the next import ends nothing
            scratch(folder, f".{_RECORD}.", data).replace(folder / _RECORD)


def bind(folder: Path, project: Path, scope: str) -> None:
    """Record the scope of a project in which memrepo is installed, or with "" that it has none."""
    key = f"scope {project.as_uri()}"
    rest = {name: value for name, value in load(folder).items() if name != key}
    save(folder, {**rest, key: {scope}} if scope else rest)


_ASKED = "asked "


def ask(folder: Path, memories: Iterable[Memory], text: str) -> None:
    """Record that an agent wanted to take memories away, and what it wanted instead."""
    with lock(folder, "notes", wait_s=_LOCK_WAIT_S):
        record = load(folder)
        keys = [_ASKED + _print(one) for one in memories]
        save(folder, {**record, **{key: {*record.get(key, ()), text} for key in keys}})


def asked(folder: Path, known: Callable[[], Mapping[str, Memory]]) -> Iterator[tuple[Memory, str]]:
    """Yield what `ask` recorded of memories that nobody decided about since: `known` loads them."""
    for key, texts in sorted(load(folder).items()):
        if key.startswith(_ASKED) and (memory := _waiting(key, known())):
            yield from ((memory, text) for text in sorted(texts))


def drop_decided(folder: Path, known: Mapping[str, Memory]) -> None:
    """Delete what `ask` recorded of memories that were decided about since."""

    def is_over(key: str) -> bool:
        return key.startswith(_ASKED) and _waiting(key, known) is None

    if any(map(is_over, load(folder))):
        with lock(folder, "notes", wait_s=_LOCK_WAIT_S):
            save(folder, {k: texts for k, texts in load(folder).items() if not is_over(k)})


def _waiting(key: str, known: Mapping[str, Memory]) -> Memory | None:
    """Return the memory of a row that `ask` wrote, as it was then, or None."""
    memory = known.get(key.removeprefix(_ASKED).partition(" ")[0])
    return memory if memory is not None and key == _ASKED + _print(memory) else None


def _print(memory: Memory) -> str:
    return f"{memory.id} {digest([memory.body, memory.status, str(memory.verified)])[:16]}"


def project_name(project: Path) -> str:
    """Return the name under which Claude Code keeps its files of a project."""
    return regex("[^A-Za-z0-9]").sub("-", str(project.resolve()))


def bound(folder: Path) -> dict[Path, str]:
    """Return the scopes of the projects in which this clone was installed, by folder."""
    found = {key.removeprefix("scope file://"): value for key, value in load(folder).items()}
    return {Path(unquote(key)): min(value) for key, value in found.items() if key[:1] == "/"}


BROKEN_OFF = timedelta(days=1)
"""The time after its last event from which a session counts as ended."""
_PRIVATE, _BESIDE = "private", "beside"
"""The keys of lines that private sessions wrote, and of those that another may have written."""


def watch(
    folder: Path, notes: Path, session: str, event: str, now: datetime, *, is_private: bool
) -> None:
    """Record at each event of a session which lines of a folder of notes private sessions wrote.

    New lines are of the sessions at work, from a prompt to its answer, or else of all that are
    open. Those of a private one are left out, and counted apart if another was at work too.
    """
    with lock(folder, "notes", wait_s=_LOCK_WAIT_S):
        record, place = load(folder), notes.resolve().as_uri()
        rows = (one.split(" ") for one in record.pop(f"open {place}", ()))
        opened = {(kind, id_): (state, at) for kind, id_, state, at in rows}
        since = format_time(now - BROKEN_OFF)
        opened = {who: (state, at) for who, (state, at) in opened.items() if at >= since}
        before = record.pop(f"before {place}", None)
        here = _lines(_files(notes)) if is_private or before is not None else set[str]()
        at_work = {who for who, (state, _) in opened.items() if state == "prompt"}
        kinds = {kind for kind, _ in at_work or opened}
        if before is not None and _PRIVATE in kinds:
            key = f"{_PRIVATE if len(kinds) == 1 else _BESIDE} {place}"
            record[key] = record.get(key, set()) | (here - before)
        own = (_PRIVATE if is_private else "open", digest([session])[:16])
        opened.pop(own, None)
        if event != "end":
            opened[own] = (event, format_time(now))
        if any(kind == _PRIVATE for kind, _ in opened):
            record[f"before {place}"] = here
        if opened:
            record[f"open {place}"] = {" ".join((*who, *at)) for who, at in opened.items()}
        save(folder, record)


def without_private_sessions(
    folder: Path, notes: Path, files: Mapping[str, bytes]
) -> tuple[dict[str, bytes], int]:
    """Return the files of a folder of notes without the lines that private sessions wrote.

    Also return how many of these another session may have written.
    """
    record, place = load(folder), notes.resolve().as_uri()
    there, before = _lines(files), record.get(f"before {place}")
    unsure = record.get(f"{_BESIDE} {place}", set()) & there
    private = record.get(f"{_PRIVATE} {place}", set()) | unsure
    private |= set[str]() if before is None else there - before
    public = {
        name: b"".join(b"\n" if _mark(line) in private else line for line in data.splitlines(True))
        for name, data in files.items()
    }
    return public, len(unsure)


def _files(notes: Path) -> dict[str, bytes]:
    found = dict[str, bytes]()
    for path in notes.rglob("*.md"):
        with suppress(OSError):
            found[path.relative_to(notes).as_posix()] = path.read_bytes()
    return found


def _lines(files: Mapping[str, bytes]) -> set[str]:
    return {_mark(line) for data in files.values() for line in data.splitlines()} - {""}


_OF_ALL = regex(r"\W*|metadata:|(?:node_)?type: *\w+")
"""A line that the notes of every session have, as in their headers."""


def _mark(line: bytes) -> str:
    """Return the digest of a line in whatever file it is, or "" if it says nothing."""
    text = line.strip().decode("utf-8", "replace")
    return "" if _OF_ALL.fullmatch(text) else digest([text])[:16]
