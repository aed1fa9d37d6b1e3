"""Read the tree of any commit, or of git's index, and read file contents by blob id.

Of a commit, nothing is read from the work tree. Symlinks and submodules are never followed. Each is
a Problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.errors import Missing, Problem, problem
from memrepo.core.ids import visible
from memrepo.core.layout import ADOPTED_PREFIX, AREAS, HOT_NAMES, Layout
from memrepo.store.git import Git
from memrepo.store.objects import FILES, FOLDER, TreeEntry

if TYPE_CHECKING:
    from memrepo.core.manifest import Manifest
    from memrepo.core.state import Decoded, State
    from memrepo.merge.tombstones import Tombstones
    from memrepo.store.database import MemoryCache
    from memrepo.store.git import Repo

_MANY = 8
"""Minimum number of files for which opening the cache saves time."""
_SPARE = 1000
"""Minimum number of cached files of other commits, in addition to twice the last commit's files."""


class BlobFiles(Mapping[str, bytes]):
    """The files of a commit by path, listed and read on first access."""

    def __init__(self, repo: Repo, commit: str, layout: Layout) -> None:
        self._repo, self.commit, self._layout = repo, commit, layout
        self._below: dict[str, Mapping[str, str]] = {}

    @cached_property
    def _listed(self) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
        return _listing(self._repo, self.commit, self._layout)

    @property
    def blobs(self) -> Mapping[str, str]:
        """Return {path: blob id} of the commit's files, sorted by path."""
        return self._listed[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return a problem for each refused file."""
        return self._listed[1]

    def below(self, folder: str) -> Mapping[str, str]:
        """Return {path: blob id} of the files below a folder (`x/`). List only this folder.

        Entries that are not regular files or have invalid names are omitted. `problems` reports
        them.
        """
        if "_listed" in self.__dict__:
            return {path: blob for path, blob in self.blobs.items() if path.startswith(folder)}
        found = self._below.get(folder)
        if found is None:
            objects = self._repo.objects
            entry = objects.at(self.commit, folder.rstrip("/"))
            inside = objects.files(entry.id) if entry is not None and entry.mode == FOLDER else ()
            files = {folder + path: one.id for path, one in inside if one.mode in FILES}
            found = self._below[folder] = {p: files[p] for p in sorted(files) if is_text(p)}
        return found

    def id_of(self, path: str) -> str:
        """Return the id of the object at a path (file, folder or other) without listing files."""
        entry = self._repo.objects.at(self.commit, path)
        return entry.id if entry is not None else ""

    def regular(self, path: str) -> str:
        """Return the blob id of the regular file at a path, or "" if there is none."""
        entry = self._repo.objects.at(self.commit, path)
        return entry.id if entry is not None and entry.mode in FILES else ""

    def of(self, path: str, blob: str) -> bytes:
        """Return the bytes of a file whose blob id is known, without listing files."""
        return self._repo.read(blob, path)

    def each(self, wanted: Sequence[tuple[str, str]]) -> Iterator[bytes]:
        """Yield the bytes of files whose blob ids are known, in order. Read ahead in batches."""
        each = self._repo.objects.each([blob for _, blob in wanted])
        for (path, name), found in zip(wanted, each, strict=True):
            if found is None:
                raise Missing(name=name, path=visible(path))
            yield found.data

    def many(self, blobs: Iterable[str]) -> Mapping[str, bytes | None]:
        """Return {blob id: bytes}. A blob that the repository lacks maps to None."""
        return self._repo.objects.contents(blobs)

    def changed_since(self, commit: str) -> Mapping[str, str] | None:
        """Return {path: blob} of the files changed since another commit, "" if deleted."""
        changed = self.differences(commit)
        return None if changed is None else {path: now for path, (_, now) in changed.items()}

    def differences(self, commit: str) -> Mapping[str, tuple[str, str]] | None:
        """Return {path: (old blob, new blob)} for the files changed since another commit."""
        try:
            changed = list(self._repo.objects.differences(commit, self.commit))
        except Missing:
            return None

        def blob(path: str, one: TreeEntry) -> str:
            return one.id if one.mode in FILES and is_text(path) else ""

        return {path: (blob(path, was), blob(path, now)) for path, was, now in changed}

    def __getitem__(self, path: str) -> bytes:
        return self._repo.read(self.blobs[path], path)

    def __contains__(self, path: object) -> bool:
        return path in self.blobs

    def __iter__(self) -> Iterator[str]:
        return iter(self.blobs)

    def __len__(self) -> int:
        return len(self.blobs)


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The files of one commit that memrepo owns, as {path: blob id}, and the refused files."""

    commit: str
    layout: Layout
    files: BlobFiles
    cache: Callable[[], MemoryCache] | None = None

    @property
    def blobs(self) -> Mapping[str, str]:
        """Return {path: blob id} of the snapshot's files."""
        return self.files.blobs

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return a problem for each refused file."""
        return self.files.problems

    @cached_property
    def decoded(self) -> Mapping[str, Decoded]:
        """Return the decoded memory files by path, from this process, the cache or git."""
        wanted = [*self.memory_files.items()]
        if len(_DECODED) > _SPARE + 3 * len(wanted):  # as in long-running servers
            for key in {*_DECODED}.difference(wanted):
                _DECODED.pop(key, None)
        found = {key: _DECODED[key] for key in wanted if key in _DECODED}
        fresh = [key for key in wanted if key not in found]
        if len(fresh) >= _MANY and self.cache is not None:
            stored = self.cache().read({blob: path for path, blob in fresh})
            for path, blob in fresh:
                if (memory := stored.get(blob)) is not None:
                    memory = memory if memory.path == path else replace(memory, path=path)
                    found[path, blob] = memory, ()
            fresh = [key for key in fresh if key not in found]
        for key, data in zip(fresh, self.files.each(fresh), strict=True):
            found[key] = codec.decode(key[0], data)
        _DECODED.update(found)
        return {path: found[path, blob] for path, blob in wanted}

    @cached_property
    def memory_files(self) -> Mapping[str, str]:
        """Return {path: blob id} of the memory files, sorted by path."""
        found = self.files.below(self.layout.area("memories"))
        paths = self.layout.memory_files(found)
        return found if len(paths) == len(found) else {path: found[path] for path in paths}

    def cache_memories(self) -> None:
        """Store the decoded memories in the memory cache for later runs."""
        if self.cache is None or "_state" not in self.__dict__:
            return
        files = self.memory_files
        known = {
            blob: memory
            for (path, blob), (memory, problems) in [*_DECODED.items()]
            if memory is not None and not problems and files.get(path) == blob
        }
        self.cache().store(known, {*files.values()})

    def state(self) -> State:
        """Return the state of all decoded memories. Problems of the tree come first."""
        return self._state

    @cached_property
    def stones(self) -> Tombstones:
        """Return the tombstones of rejected memories, without reading other files."""
        from memrepo.merge.tombstones import read_tombstones

        return read_tombstones(self.read_below(self.layout.area("tombstones")), self.layout)

    @cached_property
    def manifests(self) -> tuple[tuple[Manifest, ...], tuple[Problem, ...]]:
        """Return the records of all runs, oldest first, and the problems of unreadable records."""
        from memrepo.core.manifest import read_manifests

        return read_manifests(self.read_below(self.layout.area("runs")), self.layout)

    def read_below(self, folder: str) -> Mapping[str, bytes]:
        """Return {path: bytes} of all files below a folder such as `x/`."""
        blobs = self.files.below(folder)
        return dict(zip(blobs, self.files.each([*blobs.items()]), strict=True))

    def within(self, scope: str) -> Snapshot:
        """Return this snapshot limited to memories of one scope and of the whole repository."""
        known: dict[str, Snapshot] = self.__dict__.setdefault("_within", {})
        if scope not in known:
            known[scope] = Scoped(
                commit=self.commit,
                layout=self.layout,
                files=self.files,
                cache=self.cache,
                of=self,
                scope=scope,
            )
        return known[scope]

    @cached_property
    def _state(self) -> State:
        from memrepo.core.state import read_state

        problems = self.problems  # lists all files at once
        state = read_state(self.files, self.layout, self.decoded)
        return self._without_rejected(replace(state, problems=problems + state.problems))

    def _without_rejected(self, state: State) -> State:
        if not self.files.below(self.layout.area("tombstones")):
            return state
        from memrepo.merge.tombstones import held_against

        return held_against(state)


class Scoped(Snapshot, frozen=True, kw_only=True, dict=True):
    """A snapshot as seen by a caller limited to one scope. Memories of other scopes are absent."""

    of: Snapshot
    scope: str

    @cached_property
    def _state(self) -> State:
        state = self.of.state()
        mine = {m.id: m for m in state.every if m.scope in ("", self.scope)}
        # The paths of problems would reveal other memories.
        return replace(state, memories=mine, problems=())


_DECODED: dict[tuple[str, str], Decoded] = {}
"""Decoded memory files by path and blob. Commits of one history share most of them."""


def _listing(
    repo: Repo, commit: str, layout: Layout
) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    blobs: dict[str, str] = {}
    problems: list[Problem] = []
    reads = layout.reads
    entries = dict(repo.objects.files(commit))
    for path in sorted(entries):
        mode, blob = entries[path].mode, entries[path].id
        # With a slash: an area that is itself a link would silently hide all its files.
        if not (reads(path) or (mode not in FILES and layout.owns(path + "/"))):
            continue
        if not is_text(path):
            problems.append(problem("tree-name-not-utf8", ascii(path)[1:-1]))
        elif mode in FILES:
            blobs[path] = blob
        else:
            what = "a symlink" if mode == "120000" else "a submodule"
            problems.append(problem("tree-not-a-file", path, what=what))
    return blobs, tuple(problems)


def is_text(path: str) -> bool:
    """Return whether a file name is valid UTF-8. Git's invalid bytes appear as surrogates."""
    return path.isascii() or not any("\ud800" <= ch <= "\udfff" for ch in path)


# -- the files of git's index ----------------------------------------------------------------------


def staged(git: Git) -> Iterator[tuple[str, str, str, str]]:
    """Yield (path, mode, old blob, blob) of each file staged. A blob that is not there is empty."""
    options = "--cached --raw -z --no-abbrev --no-renames --no-relative --no-ext-diff".split()
    parts = git.call("diff", *options, "--ignore-submodules=none").split("\0")
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, old, blob, _ = head.split(" ")
        yield path, mode, old.strip("0") and old, blob.strip("0") and blob


def put_in_index(git: Git, old: str, new: str, data: bytes) -> None:
    """Add a file to the index of the commit in progress, and remove the file at the old path."""
    blob = git.call("hash-object", "-w", "--stdin", data=data).strip()
    lines = [f"0 {'0' * 40}\t{old}"] if old != new else []
    lines.append(f"100644 {blob}\t{new}")
    git.call("update-index", "-z", "--index-info", data="\0".join([*lines, ""]).encode())


class IndexFiles(Mapping[str, bytes]):
    """memrepo's files in the index or, with `loose`, those that git does not track.

    They are listed when one is needed, and each is read by itself.
    """

    def __init__(self, git: Git, layout: Layout, *, loose: bool = False) -> None:
        self.git, self.layout, self.loose = git, layout, loose

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """Return {path: blob}. A file that git does not track has none."""
        names = [f":(top,literal){self.layout.prefix}{name}" for name in (*AREAS, *HOT_NAMES)]
        which = ("-o", "--exclude-standard") if self.loose else ("-s",)
        return dict(_listed(self.git, *which, "--", *names))

    def __getitem__(self, path: str) -> bytes:
        if blob := self.blobs[path]:
            return self.git.read(blob, path)
        place = self.git.top / path
        return place.read_bytes() if place.is_file() and not place.is_symlink() else b""

    def __iter__(self) -> Iterator[str]:
        return iter(self.blobs)

    def __len__(self) -> int:
        return len(self.blobs)


def index_layout(git: Git) -> tuple[Layout | None, bytes]:
    """Return the layout of memrepo's files in the index and the configuration, if it is there."""
    layouts = [Layout(prefix) for prefix in ("", ADOPTED_PREFIX)]
    found = dict(_listed(git, "-s", "--", *(f":(top,literal){one.config}" for one in layouts)))
    layout = next((one for one in layouts if one.config in found), None)
    return layout, git.read(found[layout.config]) if layout is not None else b""


def _listed(git: Git, *words: str) -> Iterator[tuple[str, str]]:
    """Yield (path, blob) of regular files. The blob of one that git does not track is empty."""
    environment = {"GIT_LITERAL_PATHSPECS": "0"}
    raw = git.call("ls-files", "-z", "--full-name", *words, env=environment)
    for entry in filter(None, raw.split("\0")):
        head, tab, path = entry.partition("\t")
        if not tab:
            yield head, ""
        elif head.startswith(FILES):
            yield path, head.split(" ")[1]
