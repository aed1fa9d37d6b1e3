"""What this clone knows of the folders of notes that it imports, by the URI of the folder.

Under its URI, the record has the ids of a folder's memories. While a private session works in a
project, `before <uri>` has the digests of the lines that its notes had before, and `private <uri>`
has those that private sessions wrote. Their texts are not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from memrepo.core.ids import digest
from memrepo.store.git import scratch

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


def watch(folder: Path, notes: Path, *, is_private: bool) -> None:
    """Record what a private session finds in a folder of notes, and later what it wrote there.

    A session that is not private ends that, at its start.
    """
    record, place = load(folder), notes.resolve().as_uri()
    if is_private:
        record.setdefault(f"before {place}", _lines(_files(notes)))
    elif f"before {place}" in record:
        record[f"private {place}"] = _private(record, place, _files(notes))
        del record[f"before {place}"]
    save(folder, record)


def public(folder: Path, notes: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a folder of notes without the lines that private sessions wrote."""
    private = _private(load(folder), notes.resolve().as_uri(), files)
    return {
        name: b"".join(
            b"\n" if _mark(name, line) in private else line for line in data.splitlines(True)
        )
        for name, data in files.items()
    }


def _private(record: Mapping[str, set[str]], place: str, files: Mapping[str, bytes]) -> set[str]:
    before = record.get(f"before {place}")
    new = set[str]() if before is None else _lines(files) - before
    return record.get(f"private {place}", set()) | new


def _files(notes: Path) -> dict[str, bytes]:
    found = dict[str, bytes]()
    for path in notes.rglob("*.md"):
        with suppress(OSError):
            found[path.relative_to(notes).as_posix()] = path.read_bytes()
    return found


def _lines(files: Mapping[str, bytes]) -> set[str]:
    return {_mark(name, line) for name, data in files.items() for line in data.splitlines()}


def _mark(name: str, line: bytes) -> str:
    return digest([name, line.strip().decode("utf-8", "replace")])[:16] if line.strip() else ""
