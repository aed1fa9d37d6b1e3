"""Index and work tree: differences, conflicting files, and files already up to date."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from memrepo.store.errors import FilesInTheWay, StoreError
from memrepo.store.git import index_lock
from memrepo.store.objects import ABSENT, TreeEntry
from memrepo.store.tree import is_text

if TYPE_CHECKING:
    from memrepo.store.git import Repo

_PATHS_PER_CALL = 10_000
_FEW_PATHS = 100
_NEW_FILES = ".memrepo/next"
"""Folder that git ignores, on the file system of the work tree."""
_SUBMODULE = "160000"


class ChangedFile(msgspec.Struct, frozen=True):
    """A path before and after a change: blob ids, empty for an absent file, and the old mode."""

    old: str
    new: str
    mode: str = "100644"


class WorkTree:
    """The work tree and index of one repository. Symlinks are never followed."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.root = repo.top
        self._env: Mapping[str, str] = {}

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Run the block while holding git's index lock, and yield a copy of the index.

        Git reads an index before it locks the index, so an index written in between would be lost.
        """
        own = self.repo.git_dir
        copy = own / "memrepo" / "next-index"
        with index_lock(own):
            for left in (copy, copy.with_name(f"{copy.name}.lock")):
                left.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                times = (own / "index").stat()
                copy.write_bytes((own / "index").read_bytes())
                # Git compares file times with the time of the index.
                os.utime(copy, ns=(times.st_mtime_ns, times.st_mtime_ns))
            self._env = {"GIT_INDEX_FILE": str(copy)}
            try:
                yield copy
            finally:
                self._env = {}
                copy.unlink(missing_ok=True)

    def move(
        self, base: str, tip: str, changed: Mapping[str, ChangedFile], held: tuple[int, ...]
    ) -> None:
        """Update the index and the `changed` files from one commit to another.

        Raises GitFailed or FilesInTheWay, and leaves all files unchanged, if one of them differs
        from the first commit.
        """
        if edited := [path for path in changed if not self._is_before(path, changed)]:
            raise FilesInTheWay(edited)
        words = ("read-tree", "-i", "-m", base or self._empty, tip)
        self.repo.call(*words, inherited=held, env=self._env)
        for path in (path for path, sides in changed.items() if not sides.new):
            self.remove(path)
        self.restore([path for path, sides in changed.items() if sides.new], held)

    def changed(self, base: str, tip: str) -> dict[str, ChangedFile]:
        """Return {path: sides} of the files that differ between two commits. "" means no files."""
        found = self.repo.objects.differences(base, tip)
        return {path: ChangedFile(old=a.id, new=b.id, mode=a.mode) for path, a, b in found}

    def staged_since(self, commit: str) -> Mapping[str, str]:
        """Return {path: status letter} of the differences between the index and a commit."""
        words = ("diff-index", "--cached", "--no-renames", "--name-status", "-z")
        parts = self.repo.call(*words, commit or self._empty, "--").split("\0")
        rows = list(zip(parts[1::2], parts[0::2], strict=False))
        return {**dict(rows), **{path: letter for path, letter in rows if letter == "U"}}

    def dirty(self, folder: str = "") -> Mapping[str, str]:
        """Return {path: two-letter status} of uncommitted files (`??` untracked), or of a folder's.

        A nested untracked repository is a path that ends in a slash.
        """
        words = "status --porcelain -z --untracked-files=all --no-renames --ignore-submodules=none"
        raw = self.repo.call(*words.split(), "--", *filter(None, [folder]))
        return {entry[3:]: entry[:2] for entry in raw.split("\0") if len(entry) > 3}

    def edits(self, folder: str) -> dict[str, bytes | None]:
        """Return {path: uncommitted content} below a folder (`x/`), None for a deleted file."""
        inside = (path for path in self.dirty(folder) if path.startswith(folder))
        return {path: self.read(path) for path in inside if is_text(path)}

    def missing(self, paths: Iterable[str]) -> list[str]:
        """Return the sorted paths of files that are in the index but not in the work tree."""
        missing = [path for path in paths if self._stat(path) is None]
        if not missing:
            return []
        found = self.repo.call("ls-files", "--deleted", "-z", "--", *missing)
        return sorted(filter(None, found.split("\0")))

    def index(self, paths: Collection[str] = ()) -> dict[str, TreeEntry]:
        """Return the entries of the index by path. If few paths are given, only theirs."""
        some = ("--", *paths) if len(paths) < _FEW_PATHS else ()
        listed = self.repo.call("ls-files", "--stage", "-z", *some, env=self._env)
        rows = (line.split("\t", 1) for line in listed.split("\0")[:-1])
        entries = ((path, *head.split(" ")[:2]) for head, path in rows)
        return {path: TreeEntry(mode, blob) for path, mode, blob in entries}

    def clear_way(
        self, changed: Mapping[str, ChangedFile]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files that already have the new content: those to stage, those staged already.

        Raise FilesInTheWay for other changes. `changed` lists the differences from HEAD. A path
        whose staged content differs from both sides is a user's work and is left alone.
        """
        blocked = set(self._obstacles(changed))
        adopted, kept = [], []
        index, intended = self.index(changed), self.blob_id(b"")  # of `git add --intent-to-add`
        for path, sides in changed.items():
            entry = index.get(path, ABSENT)
            staged = entry.id
            has_mode = not staged or _is_program(entry.mode) == _is_program(sides.mode)
            if staged == sides.old and has_mode and self._is_before(path, changed):
                continue
            if not self.is_at(path, sides.new):
                blocked.add(path)
            elif staged == sides.new:
                kept.append(path)
            elif staged in (sides.old, intended):
                adopted.append(path)
            else:
                blocked.add(path)
        if left_out := self._left_out(blocked):
            folders = sorted({str(PurePosixPath(path).parent) for path in left_out})
            raise StoreError("left-out", path=left_out[0], folders=shlex.join(folders[:5]))
        if blocked:
            raise FilesInTheWay(sorted(blocked))
        return tuple(adopted), tuple(kept)

    def _left_out(self, paths: Iterable[str]) -> list[str]:
        """Return the sorted paths of files that a sparse checkout leaves out of the work tree."""
        missing = [path for path in paths if self._stat(path) is None]
        if not missing:
            return []
        some = ("--", *missing) if len(missing) < _FEW_PATHS else ()
        listed = self.repo.call("ls-files", "-t", "-z", *some, env=self._env).split("\0")
        return sorted({line[2:] for line in listed if line.startswith("S ")}.intersection(missing))

    def _is_before(self, path: str, changed: Mapping[str, ChangedFile]) -> bool:
        """Return whether a path is as before a change. Folders that the change empties are free."""
        sides, found = changed[path], self._stat(path)
        if found and _is_folder(found):
            return sides.mode == _SUBMODULE or not (sides.old or self._has_files(path, changed))
        if found and stat.S_ISREG(found.st_mode) and self._has_modes:
            is_program = bool(found.st_mode & stat.S_IXUSR)
            if sides.old and is_program != _is_program(sides.mode):
                return False
        return self.is_at(path, sides.old)

    def _has_files(self, folder: str, changed: Mapping[str, ChangedFile]) -> bool:
        """Return whether a folder contains any files, even ignored ones, not in `changed`."""
        inside = (
            (Path(place) / name).relative_to(self.root).as_posix()
            for place, _, names in os.walk(self.root / folder)
            for name in names
        )
        return any(name not in changed for name in inside)

    def _obstacles(self, changed: Mapping[str, ChangedFile]) -> Iterator[str]:
        """Yield files, links and repositories in place of needed folders."""
        for folder in {folder for path in changed for folder in _folders(path)}:
            found = self._stat(folder)
            if found and not _is_folder(found) and folder not in changed:
                yield folder
            if self._stat(f"{folder}/.git"):
                yield f"{folder}/"

    def stage(self, blobs: Mapping[str, str], modes: Mapping[str, str] | None = None) -> None:
        """Set the blobs of index entries. An empty blob removes the path from the index."""
        modes = modes or {}
        none = "0" * len(self.blob_id(b""))
        lines = [
            f"{modes.get(path, '100644')} {blob}\t{path}\0" if blob else f"0 {none}\t{path}\0"
            for path, blob in blobs.items()
        ]
        if lines:
            self.repo.call("update-index", "-z", "--index-info", lines=lines, env=self._env)

    def restore(self, paths: Collection[str], held: tuple[int, ...] = ()) -> None:
        """Write files to the work tree with the content that they have in the index.

        Git writes them into a folder of their own, and each is then moved into place. A crash
        therefore leaves a file as it was or as it is to be, and never a part of it.
        """
        import shutil

        folder = self.root / _NEW_FILES
        if os.path.lexists(folder.parent) and not _is_folder(folder.parent.lstat()):
            folder = self.repo.git_dir / "memrepo" / "next"  # a file or a link is in the way
        shutil.rmtree(folder, ignore_errors=True)
        if not paths:
            return
        folder.mkdir(parents=True)
        words = ("checkout-index", "-q", "-z", "--stdin", f"--prefix={folder}/")
        lines = (f"{path}\0" for path in paths)
        self.repo.call(*words, lines=lines, inherited=held, env=self._env)
        for path in paths:
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if _is_folder((folder / path).lstat()):  # a submodule
                target.mkdir(exist_ok=True)
            else:
                try:
                    (folder / path).replace(target)
                except OSError as error:  # without the name of the file that nobody knows
                    raise OSError(error.errno, error.strerror, str(target)) from error
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()  # if it was made for this
        # The index has to know the new times and sizes, or git reads each of these files again. To
        # add them would convert line ends, where the attribute `text` is set.
        refresh = ("update-index", "-q", "--refresh")
        self.repo.call(*refresh, inherited=held, env=self._env, check=False)

    def remove(self, path: str) -> None:
        """Delete a file, and any parent folders that become empty."""
        (self.root / path).unlink(missing_ok=True)
        for folder in _folders(path):
            try:
                (self.root / folder).rmdir()
            except OSError:
                return

    def filtered(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield (path, filter name) for each path to which a git filter applies."""
        asked = [*paths]
        # In batches, because git's output for all paths of a first run is large.
        for at in range(0, len(asked), _PATHS_PER_CALL):
            lines = (f"{path}\0" for path in asked[at : at + _PATHS_PER_CALL])
            raw = self.repo.call("check-attr", "-z", "--stdin", "filter", lines=lines)
            parts = raw.split("\0")
            for path, value in zip(parts[0::3], parts[2::3], strict=False):
                if value not in ("unspecified", "unset"):
                    yield path, value

    # -- files -------------------------------------------------------------------------------

    def _stat(self, path: str) -> os.stat_result | None:
        try:
            return (self.root / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def linked(self, path: str) -> bool:
        """Return whether a path is a symlink or is inside a symlinked folder."""
        return any((self.root / part).is_symlink() for part in (path, *_folders(path)))

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None if it is not a regular file. Links are not followed."""
        if self.linked(path):
            return None
        try:
            # O_NONBLOCK: opening a named pipe must not wait for a writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            with os.fdopen(os.open(self.root / path, flags), "rb") as handle:
                regular = stat.S_ISREG(os.fstat(handle.fileno()).st_mode)
                return handle.read() if regular else None
        except OSError:
            return None

    def is_at(self, path: str, blob: str) -> bool:
        """Return whether a work tree file has a blob's content. An empty blob means no file."""
        if not blob:
            return self._stat(path) is None
        data = self.read(path)
        if data is None:
            return self._link(path) == blob
        if self.blob_id(data) == blob or "\n" in path:
            return self.blob_id(data) == blob
        # `git add` may convert line endings (core.autocrlf).
        clean = self.repo.call("hash-object", "--stdin-paths", lines=[f"{path}\n"], check=False)
        return clean.strip() == blob

    def _link(self, path: str) -> str:
        """Return the blob id of a symlink, or "" if the path is none or is below one."""
        place = self.root / path
        if any((self.root / folder).is_symlink() for folder in _folders(path)):
            return ""
        return self.blob_id(os.fsencode(place.readlink())) if place.is_symlink() else ""

    def blob_id(self, data: bytes) -> str:
        """Compute the id that git assigns to a blob with these bytes in this repository."""
        import hashlib

        digest = hashlib.sha1 if self._is_sha1 else hashlib.sha256
        return digest(b"blob %d\0" % len(data) + data).hexdigest()

    @cached_property
    def _empty(self) -> str:
        return self.repo.call("hash-object", "-t", "tree", os.devnull).strip()

    @cached_property
    def _has_modes(self) -> bool:
        """Return whether git compares the modes of files with those in the index."""
        return self.repo.config.get("core.filemode") not in ("false", "no", "off", "0")

    @cached_property
    def _is_sha1(self) -> bool:
        words = ("rev-parse", "--show-object-format")
        head = self.repo.head
        return len(head) == 40 if head else self.repo.call(*words).strip() == "sha1"


def _is_folder(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode)


def _is_program(mode: str) -> bool:
    """Return whether a mode of git is that of a file that can be run."""
    return mode == "100755"


def _folders(path: str) -> Iterator[str]:
    yield from (str(part) for part in list(PurePosixPath(path).parents)[:-1])
