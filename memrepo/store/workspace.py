"""Reading an agent's workspace from disk: no link is followed, nothing is guessed, all is named."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from memrepo.core.problems import Problem
from memrepo.core.secrets import find_secrets, is_clean, name_without_purged, redact
from memrepo.purify.sources import (
    OWN,
    UNMATCHED,
    SourceRules,
    is_text,
    kind_of,
    matches,
    may_hold,
    why_denied,
)
from memrepo.views.hot import standing_of

MAX_BYTES = 4 * 1024 * 1024
_LARGEST = 256 * 1024 * 1024
"""Of a file that is imported as a whole: an export may hold everything that there is."""
_DEEPEST = 6
_INSTALLED = ("node_modules", "site-packages", "venv", "__pycache__")
_MOST = 20_000
"""Entries that are looked at for files that no pattern names: a home folder has no end."""


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a workspace that runs may read, by name, and what was refused.

    `refused` names files that exist but were not read (a folder ends in a slash, an empty name is
    everything): their last snapshot is kept. `unmatched` names text files that no pattern names,
    where they were asked for. `clean` are the SHA-256 of the texts without a secret, in hex.
    """

    files: dict[str, bytes]
    refused: frozenset[str]
    problems: tuple[Problem, ...]
    unmatched: tuple[str, ...] = ()
    clean: frozenset[str] = frozenset()

    def keeps(self, name: str) -> bool:
        """Tell whether a file's last snapshot stays because the file could not be read."""
        return name in self.refused or any(
            name.startswith(folder) for folder in self.refused if not folder or folder[-1] == "/"
        )


def not_followed(folder: str, only: str = "") -> Workspace:
    """Refuse a whole folder that is reached through a symlink; every last snapshot is kept."""
    problem = _refusal(
        folder,
        "source-not-a-file",
        "found a symlink, expected a folder: it is never followed",
        "replace it by the folder it stands for",
    )
    return Workspace(files={}, refused=frozenset({only}), problems=(problem,))


def _readable(root: Path, rules: SourceRules) -> Iterator[tuple[str, os.DirEntry[str] | OSError]]:
    """Yield each file below a folder that runs may read, and what stands in place of one."""
    for name, entry in _walk(root, "", _DEEPEST, enters=lambda folder: may_hold(folder, rules)):
        folder = not name or name.endswith("/")
        if kind_of(name + "any.md" if folder else name, rules) is not None:
            yield name, entry


def readable_sizes(root: Path, rules: SourceRules) -> Iterator[int]:
    """Yield the size of each file below a folder that runs may read; none is read here."""
    for _, entry in _readable(root, rules):
        if not isinstance(entry, OSError) and entry.is_file(follow_symlinks=False):
            yield entry.stat().st_size


def read_workspace(root: Path, rules: SourceRules, *, only: str = "") -> Workspace:
    """Read every allowed file below a folder; with `only`, those below that subfolder."""
    files: dict[str, bytes] = {}
    clean: set[str] = set()
    refused: set[str] = set()
    problems: list[Problem] = []
    for name, entry in _readable(root, rules):
        if only and not name.startswith(only):
            continue
        name = name_without_purged(name)  # as history has it: this file's name says it still
        data, problem = _read(name, entry)
        if data is not None and standing_of(data) != "foreign":
            continue  # our own page of the hot cache, where the workspace is the repository
        if data is not None and not is_clean(data):
            data, problem = _without_secrets(name, data)
        if data is not None and is_clean(data):
            clean.add(hashlib.sha256(data).hexdigest())
        if problem is not None:
            problems.append(problem)
        if data is None:
            refused.add(name)
        else:
            files[name] = data
    return Workspace(
        files=files,
        refused=frozenset(refused),
        problems=tuple(problems),
        clean=frozenset(clean),
    )


class LeftAlone(msgspec.Struct, frozen=True, kw_only=True):
    """A text file that runs do not read, or a denied folder of them: its size, and why."""

    name: str
    size: int
    """Bytes."""
    why: str
    denied: bool


def left_alone(root: Path, rules: SourceRules, *, only: str = "") -> tuple[LeftAlone, ...]:
    """Return the text files that runs do not read, in order; their bytes are not read here.

    What lies in one denied folder is one entry. Hidden and installed folders, what is memrepo's
    own, links, and repositories inside the workspace are passed over.
    """
    found: list[LeftAlone] = []
    shut: dict[str, int] = {}
    folders = [(root / only.rstrip("/"), only, 0, "")]
    seen = 0
    while folders and seen < _MOST:
        folder, prefix, depth, above = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue  # told as unreadable where it is one that runs read
        seen += len(entries)
        if depth and any(entry.name == ".git" for entry in entries):
            continue
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST and not _passed_over(entry.name):
                    denied = above or (f"{name}/" if _is_denied(name, rules) else "")
                    folders.append((folder / entry.name, name + "/", depth + 1, denied))
            elif entry.is_file(follow_symlinks=False) and name.isprintable() and is_text(name):
                if above:
                    shut[above] = shut.get(above, 0) + entry.stat().st_size
                elif why := why_denied(name, rules):
                    size, denied_too = entry.stat().st_size, why != UNMATCHED
                    found.append(LeftAlone(name=name, size=size, why=why, denied=denied_too))
    found += [
        LeftAlone(name=name, size=size, why=why_denied(f"{name}any.md", rules), denied=True)
        for name, size in shut.items()
        if name not in OWN
    ]
    return tuple(sorted(found, key=lambda one: one.name))


def unmatched(root: Path, rules: SourceRules, *, only: str = "") -> tuple[str, ...]:
    """Return the names of text files that no pattern names, in order."""
    return tuple(one.name for one in left_alone(root, rules, only=only) if not one.denied)


def read_folder(root: Path, wants: Callable[[str], bool]) -> tuple[dict[str, bytes], list[Problem]]:
    """Read the text files below a folder that are wanted by name, or one file; follow no link.

    A folder that is hidden or installed is entered only where a file right in it is wanted.
    """
    problems: list[Problem] = []

    def enters(name: str) -> bool:
        if wants(name):
            said = "found a folder, expected a file: what lies in it is read by itself"
            told = _refusal(name, "source-not-a-file", said, "rename the folder")
            problems.append(told)
        return not _is_shut(root / name, name, wants)

    if not root.is_dir():
        name = root.name
        entries: Iterable[tuple[str, os.DirEntry[str] | OSError]] = (
            (entry.name, entry) for entry in os.scandir(root.parent) if entry.name == name
        )
    else:
        entries = _walk(root, "", _DEEPEST, enters=enters)
    files: dict[str, bytes] = {}
    for name, entry in entries:
        if root.is_dir() and not wants(name) and not isinstance(entry, OSError):
            continue
        data, problem = _read(name, entry, _LARGEST)
        if problem is not None:
            problems.append(problem)
        if data is not None:
            files[name] = data
    return files, problems


def _passed_over(folder: str) -> bool:
    """Tell whether nothing in a folder was written by a person: it is hidden or installed."""
    return folder.startswith(".") or folder in _INSTALLED


def _is_denied(name: str, rules: SourceRules) -> bool:
    return any(matches(f"{name}/any.md", p) for p in rules.deny if p.endswith("/"))


def _walk(
    root: Path, prefix: str, depth: int, *, enters: Callable[[str], bool]
) -> Iterator[tuple[str, os.DirEntry[str] | OSError]]:
    """Yield files, and folders that cannot be listed with the reason, in name order."""
    try:
        with os.scandir(root) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield prefix, error
        return
    for entry in entries:
        name = prefix + entry.name
        if entry.name == ".git":
            continue
        if not entry.is_dir(follow_symlinks=False):
            # A link to a folder is named as the folder it pretends to be, and refused there.
            yield name + "/" if _leads_to_folder(entry) else name, entry
        elif depth and enters(name):
            yield from _walk(root / entry.name, name + "/", depth - 1, enters=enters)


def _is_shut(folder: Path, name: str, wants: Callable[[str], bool]) -> bool:
    """Tell whether nothing in a folder concerns anybody: it is hidden or installed."""
    if not folder.name.startswith(".") and folder.name not in _INSTALLED:
        return False
    try:
        return not any(wants(f"{name}/{inner.name}") for inner in folder.iterdir())
    except OSError:
        return True


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _refusal(name: str, rule: str, message: str, fix: str) -> Problem:
    return Problem(path=name, rule=rule, message=message, fix=fix)


def _unreadable(name: str, error: OSError) -> Problem:
    return _refusal(
        name,
        "source-unreadable",
        f"could not be read: {error.strerror}",
        "make it readable for the user that memrepo runs as",
    )


def _read(
    name: str, entry: os.DirEntry[str] | OSError, most: int = MAX_BYTES
) -> tuple[bytes | None, Problem | None]:
    if isinstance(entry, OSError):
        return None, _unreadable(name, entry)
    if not name.isprintable():
        return None, _refusal(
            ascii(name)[1:-1],
            "source-name",
            "found a name that is not plain UTF-8 text",
            "rename the file: no control characters, no broken encoding",
        )
    if not entry.is_file(follow_symlinks=False):
        what = "a symlink" if entry.is_symlink() else "something that is not a file"
        return None, _refusal(
            name,
            "source-not-a-file",
            f"found {what}, expected a file: it is never followed",
            "replace it by a copy of the file",
        )
    try:
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as handle:
            data = handle.read(most + 1)
    except OSError as error:
        return None, _unreadable(name, error)
    return _text_only(name, data, most)


def _text_only(name: str, data: bytes, most: int) -> tuple[bytes | None, Problem | None]:
    if len(data) > most:
        return None, _refusal(
            name,
            "source-too-large",
            f"found more than {most} bytes",
            "split the file, or put it on sources.deny",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, _refusal(
            name,
            "source-not-utf8",
            f"found a byte that is not UTF-8 at offset {error.start}",
            "save the file as UTF-8",
        )
    if "\0" in text:
        return None, _refusal(
            name, "source-binary", "found a NUL byte, expected text", "remove it from the file"
        )
    return data, None


def _without_secrets(name: str, data: bytes) -> tuple[bytes | None, Problem | None]:
    """Replace secrets in a snapshot; an inbox file with one is refused, never rewritten."""
    text = data.decode("utf-8")
    if not name.startswith("inbox/"):
        clean, secrets = redact(text)
        data = clean.encode("utf-8")
    else:
        secrets = find_secrets(text)
    if not secrets:
        return data, None
    kinds = ", ".join(sorted({s.kind for s in secrets}))
    where = secrets[0]
    if name.startswith("inbox/"):
        return None, Problem(
            path=name,
            line=where.line,
            column=where.column,
            rule="source-secret",
            message=f"found a secret ({kinds}): an inbox file with one is not taken in",
            fix="remove the secret from the file",
        )
    return data, Problem(
        path=name,
        line=where.line,
        column=where.column,
        rule="source-secret-redacted",
        message=f"found a secret ({kinds}): the snapshot holds a placeholder instead",
        fix="remove the secret from the workspace too",
        severity="warning",
    )
