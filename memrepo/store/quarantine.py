"""Rewrite history without certain values in a separate repository, then replace the old one.

An interrupted purge leaves either the old history or the new one. `ready.json` in the quarantine
means that the rewritten history was complete, and the next command finishes the purge.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from git.exc import GitCommandError

from memrepo.core.errors import MemrepoError
from memrepo.merge.purging import Edit
from memrepo.store.door import Door
from memrepo.store.errors import CannotWork, StoreError
from memrepo.store.git import ABSENT, FILES, GitFailed, Object, TreeEntry
from memrepo.store.lock import git_alive, scratch
from memrepo.store.remote import RECORDS
from memrepo.store.stream import quoted
from memrepo.store.worktree import index_entries

if TYPE_CHECKING:
    from memrepo.store.local import Repo
    from memrepo.store.repo import Repository

_REF = b"refs/rewritten"
_GITLINK = "160000"
_SHORTEST = 7
_LEDGERS = ("refs/memrepo/access", "refs/memrepo/remote/")
_BROKE = "git fast-import ended before all was written"


class Tip(NamedTuple):
    """A named starting point of history, such as a ref, with the id of the object it refers to."""

    name: str
    id: str


class HistoryObject(msgspec.Struct, frozen=True, kw_only=True):
    """The headers and message of a commit or tag, and the name of a tip that reaches it."""

    id: str
    kind: str
    headers: dict[str, list[bytes]]
    message: bytes
    via: str
    changes: tuple[tuple[str, TreeEntry, TreeEntry], ...] = ()
    """For a commit: (path, entry before, entry after) compared with its first parent."""

    def ids(self, header: str) -> list[str]:
        """Return the object ids in the header with a given name."""
        return [value.decode() for value in self.headers.get(header, ())]


class FullHistory(msgspec.Struct, kw_only=True):
    """All objects reachable from some tips, ordered so that each follows the objects it names.

    `paths` contains every file by id, with all its paths in history.
    """

    objects: list[HistoryObject] = msgspec.field(default_factory=list)
    paths: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)


def read_history(repo: Repo, tips: Sequence[Tip]) -> FullHistory:
    """Read all objects reachable from the tips. Raises StoreError for unsupported objects."""
    history, seen = FullHistory(), set[str]()
    objects = repo.objects
    for part in _in_order(tips):
        commits: dict[str, str] = {}
        tags: list[HistoryObject] = []
        for tip in part:
            found, below = objects.find(tip.id), list[HistoryObject]()
            while found is not None and found.kind == "tag":
                below.append(_parsed(found, tip.name))
                found = objects.find(below[-1].ids("object")[0])
            tags += reversed(below)
            if found is None or found.kind == "tree":
                kind = "tree" if found else "thing that is missing"
                raise StoreError("cannot-rewrite", name=tip.name, kind=kind)
            if found.kind == "commit":
                commits.setdefault(found.id, tip.name)
            else:
                history.paths.setdefault(found.id, {})
        for name, id_ in _commits(repo, commits, seen):
            history.objects.append(_read(repo, id_, name, history.paths))
        for tag in tags:
            if tag.id not in seen:
                seen.add(tag.id)
                history.objects.append(tag)
    return history


def _in_order(tips: Sequence[Tip]) -> Iterator[list[Tip]]:
    """Yield the tips in groups, ordered so that each group follows the groups it refers to."""
    ledgers = [t for t in tips if t.name.startswith(_LEDGERS)]
    notes = [t for t in tips if t.name.startswith("refs/notes/")]
    yield ledgers
    yield [tip for tip in tips if tip not in ledgers and tip not in notes]
    yield notes


def _commits(repo: Repo, tips: dict[str, str], seen: set[str]) -> Iterator[tuple[str, str]]:
    for tip, name in tips.items():
        if tip in seen:
            continue
        for commit in repo.git.rev_list("--topo-order", "--reverse", tip, "--").split():
            if commit not in seen:
                seen.add(commit)
                yield name, commit


def _read(repo: Repo, id_: str, name: str, paths: dict[str, dict[str, None]]) -> HistoryObject:
    objects = repo.objects
    commit = _parsed(Object(id_, "commit", objects.read(id_)), name)
    base = next(iter(commit.ids("parent")), "")
    changes = tuple(objects.differences(base, id_))
    for path, _, after in changes:
        if after != ABSENT and after.mode != _GITLINK:
            paths.setdefault(after.id, {})[path] = None
    return msgspec.structs.replace(commit, changes=changes)


def _parsed(found: Object, name: str) -> HistoryObject:
    """Parse the headers and message of a commit or tag, joining continued header lines."""
    head, _, message = found.data.partition(b"\n\n")
    headers: dict[str, list[bytes]] = {}
    for line in head.replace(b"\n ", b"\0").split(b"\n"):
        key, _, value = line.partition(b" ")
        headers.setdefault(key.decode("ascii", "replace"), []).append(value)
    return HistoryObject(id=found.id, kind=found.kind, headers=headers, message=message, via=name)


class Rewriter:
    """Write a history into another repository, and record the new id of each object.

    `commits`, `blobs` and `tags` map old ids to new ids.
    """

    def __init__(self, repo: Repo, into: Door, edit: Edit) -> None:
        self._objects, self._into, self.edit = repo.objects, into, edit
        self.commits: dict[str, str] = {}
        self.blobs: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._known: frozenset[str] = frozenset()
        self._marks = 0
        self._marked: dict[str, str] = {}
        self._process: Any = None

    def write(self, history: FullHistory) -> None:
        """Write every object that the purge changes to the other repository."""
        self._known = frozenset(history.paths)
        options = ("--quiet", "--done", "--force", "--date-format=raw-permissive")
        self._process = self._into.fast_import(*options, istream=subprocess.PIPE, as_process=True)
        try:
            self._send(b"feature done\nfeature get-mark\n")
            for found in history.objects:
                if found.kind == "commit":
                    self._commit(found)
                else:
                    self._tag(found)
            for blob in history.paths:
                self._blob(blob)
            self._send(b"done\n")
            self._process.stdin.close()
            self._process.wait()
        except (BrokenPipeError, GitCommandError):
            raise MemrepoError(_BROKE) from None
        finally:
            self._process = None  # GitPython ends the process if it is still running

    def new(self, id_: str) -> str:
        """Return the new id of a commit, tag or file, given its old id."""
        if found := self.commits.get(id_) or self.tags.get(id_):
            return found
        return self._blob(id_) if id_ in self._known else id_

    def new_short(self, digits: str) -> str:
        """Return the new id of a commit in abbreviated form, given its abbreviated old id."""
        old = self._short.get(digits[:_SHORTEST], "")
        return self.commits[old][: len(digits)] if old and old.startswith(digits) else digits

    def _blob(self, id_: str) -> str:
        if id_ not in self.blobs:
            self.blobs[id_] = id_  # prevents endless recursion: a file may contain its own id
            data = self._objects.read(id_)
            new = self.edit.file(data, self)
            if new != data:
                self._marks += 1
                self._send(b"blob\nmark :%d\n" % self._marks, _data(new))
                self.blobs[id_] = self._last_id()
        return self.blobs[id_]

    def _commit(self, old: HistoryObject) -> None:
        parents = old.ids("parent")
        same = all(self.commits[parent] == parent for parent in parents)
        removed: dict[str, None] = {}
        present: dict[str, TreeEntry] = {}
        for path, _, after in old.changes:
            new = self._path(path)
            if after == ABSENT:
                removed[new] = None
                continue
            id_ = after.id if after.mode == _GITLINK else self._blob(after.id)
            present[new] = TreeEntry(after.mode, id_)
            same = same and new == path and id_ == after.id
            if new != path:
                removed.setdefault(new)
        author, committer = old.headers["author"][0], old.headers["committer"][0]
        message = self.edit.message(old.message, self)
        who = self.edit.who(author), self.edit.who(committer)
        if same and message == old.message and who == (author, committer):
            self._settle(old.id, old.id)
            return
        self._marks += 1
        out = [] if parents else [b"reset " + _REF + b"\n\n"]
        out += [b"commit " + _REF + b"\nmark :%d\n" % self._marks]
        out += [b"author " + who[0] + b"\ncommitter " + who[1] + b"\n"]
        out += [b"encoding " + value + b"\n" for value in old.headers.get("encoding", ())]
        out += [_data(message)]
        for word, parent in zip((b"from", *[b"merge"] * len(parents)), parents, strict=False):
            out += [word + b" " + self._name(self.commits[parent]) + b"\n"]
        out += [b"D " + quoted(path) + b"\n" for path in removed if path not in present]
        for path, entry in present.items():
            out += [f"M {entry.mode} {entry.id} ".encode() + quoted(path) + b"\n"]
        self._send(*out, b"\n")
        self._settle(old.id, self._last_id())

    def _path(self, path: str) -> str:
        """Return the new path of a file. A git note's path is the id of its commit."""
        new = self.commits.get(path.replace("/", ""), "")
        if not new:
            return self.edit.path(path)
        at, parts = 0, []
        for part in path.split("/"):
            parts.append(new[at : at + len(part)])
            at += len(part)
        return "/".join(parts)

    def _settle(self, old: str, new: str) -> None:
        self.commits[old] = new
        self._short[old[:_SHORTEST]] = "" if old[:_SHORTEST] in self._short else old

    def _tag(self, old: HistoryObject) -> None:
        (target,), (name,) = old.ids("object"), old.headers["tag"]
        (tagger,) = old.headers.get("tagger", [b""])
        new = self.new(target), self.edit.message(old.message, self), self.edit.who(tagger)
        called = self.edit.path(name.decode("utf-8", "surrogateescape"))
        named = called.encode("utf-8", "surrogateescape")
        if (*new, named) == (target, old.message, tagger, name):
            self.tags[old.id] = old.id
            return
        self._marks += 1
        self._send(
            b"tag " + named + b"\nmark :%d\nfrom " % self._marks + self._name(new[0]) + b"\n",
            b"tagger " + new[2] + b"\n" if tagger else b"",
            _data(new[1].partition(b"-----BEGIN ")[0]),
        )
        self.tags[old.id] = self._last_id()

    # -- the child process -------------------------------------------------------------------

    def _send(self, *parts: bytes) -> None:
        self._process.stdin.write(b"".join(parts))

    def _last_id(self) -> str:
        """Request the id of the last written object from fast-import, and return it."""
        self._send(b"get-mark :%d\n" % self._marks)
        self._process.stdin.flush()
        id_: str = self._process.stdout.readline().decode().strip()
        if not id_:
            raise MemrepoError(_BROKE)
        self._marked[id_] = f":{self._marks}"
        return id_

    def _name(self, id_: str) -> bytes:
        """Return an object's name for fast-import: its mark if just written, otherwise its id."""
        return self._marked.get(id_, id_).encode()


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"


FOLDER = "memrepo-purge"
READY = "ready.json"
NEW = "new.git"
_KEPT = "refs/purge/"
_STALE = """
    ORIG_HEAD FETCH_HEAD AUTO_MERGE COMMIT_EDITMSG MERGE_MSG
    SQUASH_MSG TAG_EDITMSG NOTES_EDITMSG gitk.cache
""".split()
_DERIVED = (".sqlite3", "vectors-", "index-", "kept/", "memrepo/clean")
"""Files that a purge deletes instead of editing them.

memrepo can rebuild them from history, except the answers in `kept/`, which are requested again.
"""
_LINK = "120000"


class Ref(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a ref, with its object id before and after the rewrite."""

    name: str
    id: str
    new_name: str
    new_id: str


class RewritePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to replace a repository with its rewritten copy, even after a restart.

    `commits`, `blobs` and `tags` map old ids to new ids of changed objects.
    """

    edit: Edit
    refs: tuple[Ref, ...]
    head: str
    logs: Mapping[str, str]
    commits: Mapping[str, str]
    blobs: Mapping[str, str]
    tags: Mapping[str, str]
    receipt: bytes = b""
    """The record to store at the end, encoded by the caller."""

    def new(self, id_: str) -> str:
        """Return the new id of an object, given its old id."""
        return self.commits.get(id_) or self.blobs.get(id_) or self.tags.get(id_) or id_

    def new_short(self, digits: str) -> str:
        """Return the new id of a commit in abbreviated form, given its abbreviated old id."""
        found = [new for old, new in self.commits.items() if old.startswith(digits)]
        return found[0][: len(digits)] if len(found) == 1 else digits


def folder_of(repo: Repo) -> Path:
    """Return the folder that contains the rewritten repository."""
    return repo.common_dir / FOLDER


def refuse_unfit(repo: Repo) -> None:
    """Raise CannotWork if the repository borrows objects or has additional work trees."""
    common = repo.common_dir
    if (common / "objects" / "info" / "alternates").exists():
        raise CannotWork("alternates")
    if any((common / "worktrees").glob("*")):
        raise CannotWork("work-trees")


# -- objects to rewrite ----------------------------------------------------------------------


def tips_of(repo: Repo) -> list[Tip]:
    """Return everything that keeps objects reachable: refs, detached HEAD, reflogs and index."""
    form = "--format=%(objectname) %(symref) %(refname)"
    rows = (line.split(" ", 2) for line in repo.git.for_each_ref(form).splitlines())
    tips = [Tip(name, id_) for id_, symbolic, name in rows if not (symbolic or is_record(name))]
    if not repo.refs.branch and repo.refs.head:
        tips.append(Tip("HEAD", repo.refs.head))
    known = {tip.id for tip in tips}
    logged = {id_ for _, text in logs(repo) for id_ in _logged(text)} - known
    here = filter(None, repo.objects.each(sorted(logged)))
    tips += [Tip("reflog", found.id) for found in here]
    tips += [Tip("index", e.blob) for e in index_entries(repo) if e.mode in (*FILES, _LINK)]
    return tips


def is_record(name: str) -> bool:
    """Return whether a ref contains records of purges, which must not be rewritten."""
    return name == RECORDS or (name.startswith("refs/memrepo/remote/") and name.endswith("/purges"))


def logs(repo: Repo) -> Iterator[tuple[str, str]]:
    """Yield (name below `logs/`, text) of every reflog."""
    folder = repo.common_dir / "logs"
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        yield path.relative_to(folder).as_posix(), text


def _logged(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for id_ in line.split(" ", 2)[:2]:
            if id_.strip("0"):
                yield id_


# -- the rewritten copy ----------------------------------------------------------------------


def borrower(where: Path, lender: Path, *, bare: bool) -> Door:
    """Create a repository that borrows the objects of another one's git directory."""
    form = Door(lender).rev_parse("--show-object-format")
    Door(where.parent).init("--quiet", *["--bare"] * bare, f"--object-format={form}", str(where))
    info = where / ("" if bare else ".git") / "objects" / "info"
    (info / "alternates").write_text(f"{(lender / 'objects').resolve()}\n", encoding="utf-8")
    return Door(where)


def create_refs(git: Door, refs: Iterable[tuple[str, str]], head: str) -> None:
    """Create refs in a new repository. `head` is a branch, or a commit if HEAD is detached."""
    lines = (f"create {name} {id_}\n" for name, id_ in refs if name != "HEAD")
    git.update_ref("--stdin", istream="".join(lines))
    if head.startswith("refs/"):
        git.symbolic_ref("HEAD", head)
    else:
        git.update_ref("--no-deref", "HEAD", head)


def build(repo: Repo, tips: list[Tip], history: FullHistory, edit: Edit) -> RewritePlan:
    """Write the rewritten history next to the old one. Return the plan to replace the old one."""
    folder = folder_of(repo)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    git = borrower(folder / NEW, repo.common_dir, bare=True)
    rewriter = Rewriter(repo, git, edit)
    rewriter.write(history)
    plan = _plan(repo, tips, rewriter)
    for name in git.for_each_ref("--format=%(refname)").split():
        git.update_ref("-d", name)
    others = dict.fromkeys(rewriter.new(tip.id) for tip in tips if not tip.name.startswith("refs/"))
    refs = [(ref.new_name, ref.new_id) for ref in plan.refs]
    refs += [(f"{_KEPT}{number}", id_) for number, id_ in enumerate(others)]
    create_refs(git, refs, plan.head)
    git.repack("-a", "-d", "-q")
    (folder / NEW / "objects" / "info" / "alternates").unlink()
    git.rev_list("--objects", "--all", "--quiet")  # fails if an object is missing
    return plan


def _plan(repo: Repo, tips: list[Tip], done: Rewriter) -> RewritePlan:
    edit = done.edit
    refs = tuple(
        Ref(name=tip.name, id=tip.id, new_name=edit.path(tip.name), new_id=done.new(tip.id))
        for tip in tips
        if tip.name.startswith("refs/") or tip.name == "HEAD"
    )
    logged = {edit.path(name): _translated(text, done) for name, text in logs(repo)}
    return RewritePlan(
        edit=edit,
        refs=refs,
        head=edit.path(repo.refs.branch) or done.new(repo.refs.head),
        logs=logged,
        commits={old: new for old, new in done.commits.items() if old != new},
        blobs={old: new for old, new in done.blobs.items() if old != new},
        tags={old: new for old, new in done.tags.items() if old != new},
    )


def _translated(log: str, done: Rewriter) -> str:
    """Convert a reflog to the new history. Omit lines whose objects git has already pruned."""
    lines = []
    for line in log.splitlines():
        head, tab, message = line.partition("\t")
        old, new, who = head.split(" ", 2)
        ids = [done.new(id_) if id_.strip("0") else id_ for id_ in (old, new)]
        if any(id_.strip("0") and id_ not in done.commits for id_ in (old, new)):
            continue
        name = done.edit.who(who.encode("utf-8", "surrogateescape"))
        text = done.edit.message(message.encode("utf-8", "surrogateescape"), done)
        parts = (part.decode("utf-8", "surrogateescape") for part in (name, text))
        lines.append(f"{' '.join((*ids, next(parts)))}{tab}{next(parts)}\n")
    return "".join(lines)


def abandon(repo: Repo) -> None:
    """Delete a rewritten repository, unless it is marked as ready."""
    if not (folder_of(repo) / READY).exists():
        shutil.rmtree(folder_of(repo), ignore_errors=True)


def make_ready(repo: Repo, plan: RewritePlan) -> None:
    """Mark the rewritten repository as ready, so that the purge will be completed."""
    folder = folder_of(repo)
    draft = scratch(folder, f"{READY}.", msgspec.json.encode(plan))
    with draft.open("rb") as handle:
        os.fsync(handle.fileno())
    draft.replace(folder / READY)


def waiting(repo: Repo) -> RewritePlan | None:
    """Return the plan of an interrupted replacement, or None if there was no interruption."""
    try:
        data = (folder_of(repo) / READY).read_bytes()
    except FileNotFoundError:
        return None
    return msgspec.json.decode(data, type=RewritePlan)


# -- replacing the old repository ------------------------------------------------------------


def take_place(store: Repository, plan: RewritePlan) -> None:
    """Replace the old repository with the rewritten one, or resume an interrupted replacement."""
    repo = store.repo
    _drop_locks(repo)
    _add_objects(repo)
    _move_refs(repo, plan)
    _stage(repo, plan)
    _check_out(store, plan)
    _keep_logs(repo, plan)
    clean_git_folder(repo, plan.edit, plan)
    drop_objects(repo)


def _drop_locks(repo: Repo) -> None:
    """Remove lock files of git processes that we killed. Raises StoreError if git is running."""
    common = repo.common_dir
    found = [p for p in common.glob("*.lock") if p.is_file()] + [*common.glob("refs/**/*.lock")]
    for path in found:
        if git_alive(repo):
            raise StoreError("git-at-work", name=path.name, path=path)
        path.unlink(missing_ok=True)


def _add_objects(repo: Repo) -> None:
    there = repo.common_dir / "objects"
    for path in sorted((folder_of(repo) / NEW / "objects").rglob("*")):
        place = there / path.relative_to(folder_of(repo) / NEW / "objects")
        if path.is_file() and path.parent.name != "info" and not place.exists():
            place.parent.mkdir(exist_ok=True)
            os.link(path, place)


def _move_refs(repo: Repo, plan: RewritePlan) -> None:
    """Move all refs in one transaction. Raises StoreError if another process changed a ref."""
    form = "--format=%(objectname) %(refname)"
    rows = (line.split(" ", 1) for line in repo.git.for_each_ref(form).splitlines())
    there = {name: id_ for id_, name in rows}
    lines = []
    for ref in plan.refs:
        if ref.name == "HEAD":
            continue
        if ref.name != ref.new_name and ref.name in there:
            lines.append(f"delete {ref.name} {ref.id}\n")
        if there.get(ref.new_name) != ref.new_id:
            old = ref.id if ref.name == ref.new_name else "0" * len(ref.id)
            lines.append(f"update {ref.new_name} {ref.new_id} {old}\n")
    try:
        if lines:
            quiet = repo.git(c="core.logAllRefUpdates=false")
            quiet.update_ref("--stdin", istream="".join(lines))
    except GitFailed as error:
        if not any(there.get(r.new_name) == r.new_id for r in plan.refs if r.id != r.new_id):
            (folder_of(repo) / READY).unlink()  # the old repository is complete and remains
            abandon(repo)
        raise StoreError("refs-moved", cause=error.cause) from error
    if plan.head.startswith("refs/"):
        repo.git.symbolic_ref("HEAD", plan.head)
    else:
        repo.git.update_ref("--no-deref", "HEAD", plan.head)


def _stage(repo: Repo, plan: RewritePlan) -> None:
    lines = [
        f"{e.mode} {plan.blobs.get(e.blob, e.blob)} {e.stage}\t{plan.edit.path(e.path)}\0"
        for e in index_entries(repo)
    ]
    index = repo.git_dir / "index"
    draft = folder_of(repo) / "index"
    draft.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(draft)}
    repo.git.update_index("-z", "--index-info", istream="".join(lines), env=env)
    if draft.exists():
        draft.replace(index)


def _check_out(store: Repository, plan: RewritePlan) -> None:
    """Update the work tree to the new history, and keep the user's changes."""
    new = {e.path: e.blob for e in index_entries(store.repo) if e.mode in FILES}
    folders = []
    for path, is_folder in work_files(store.root):
        if is_folder:
            folders.append(path)
            continue
        name = plan.edit.path(path.relative_to(store.root).as_posix())
        _edit_file(store, path, new.get(name, ""), plan)
    for path in reversed(folders):
        if path.is_dir() and not any(path.iterdir()):
            _drop_renamed(store.root, path, plan.edit)
    store.repo.git.update_index("-q", "--refresh", with_exceptions=False)


def work_files(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yield (path, is_folder) of every entry in a work tree, including ignored files."""
    for above, folders, files in os.walk(root):
        here = Path(above)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [
            name
            for name in folders
            if name != ".git" and name not in links and not (here / name / ".git").exists()
        ]
        yield from ((here / name, True) for name in folders)
        yield from ((here / name, False) for name in (*files, *links) if name != ".git")


def _drop_renamed(root: Path, folder: Path, edit: Edit) -> None:
    name = folder.relative_to(root).as_posix()
    if edit.path(name) != name:
        folder.rmdir()


def _edit_file(store: Repository, path: Path, blob: str, plan: RewritePlan) -> None:
    if path.is_symlink():
        target = os.fsencode(path.readlink())
        edited = plan.edit.file(target, plan)
        if edited != target:
            path.unlink()
            path.symlink_to(os.fsdecode(edited))
    elif path.is_file():
        data = path.read_bytes()
        if blob and plan.blobs.get(store.work.blob_id(data)) == blob:
            edited = store.repo.objects.read(blob)
        else:
            edited = plan.edit.file(data, plan)
        _replace(path, data, edited)
    _rename(store.root, path, plan.edit)


def _replace(path: Path, before: bytes, after: bytes) -> None:
    if after == before:
        return
    mode = path.stat().st_mode
    draft = scratch(path.parent, ".memrepo-", after)
    draft.chmod(mode & 0o7777)
    draft.replace(path)


def _rename(root: Path, path: Path, edit: Edit) -> None:
    new = root / edit.path(path.relative_to(root).as_posix())
    if new != path:
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)


def _keep_logs(repo: Repo, plan: RewritePlan) -> None:
    folder = repo.common_dir / "logs"
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        if path.relative_to(folder).as_posix() not in plan.logs:
            path.unlink()
    for name, text in plan.logs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def git_files(repo: Repo) -> Iterator[Path]:
    """Yield the files of the git directory, except for objects, refs, index and quarantine."""
    common = repo.common_dir
    for folder, folders, files in os.walk(common):
        here = Path(folder)
        if here == common:
            skipped = ("objects", "refs", FOLDER, "modules", "worktrees")
            folders[:] = [name for name in folders if name not in skipped]
        for name in files:
            if here != common or name not in ("index", "packed-refs"):
                yield here / name


def is_derived(repo: Repo, path: Path) -> bool:
    """Return whether a file in memrepo's git folder can be rebuilt from history."""
    name = path.relative_to(repo.common_dir).as_posix()
    return name.startswith("memrepo/") and any(part in name for part in _DERIVED)


def clean_git_folder(repo: Repo, edit: Edit, plan: RewritePlan) -> None:
    """Remove purged values from journals and captured texts. Delete files that can be rebuilt."""
    common = repo.common_dir
    shutil.rmtree(common / "rr-cache", ignore_errors=True)
    for path in [*git_files(repo)]:
        if is_derived(repo, path) or (path.parent == common and path.name in _STALE):
            path.unlink(missing_ok=True)
        elif path.name != "config" and not path.is_symlink():
            data = path.read_bytes()
            _replace(path, data, edit.file(data, plan))
            _rename(common, path, edit)


def drop_objects(repo: Repo) -> None:
    """Delete every unreachable object from the repository."""
    objects = repo.common_dir / "objects"
    for path in (objects / "pack").glob("*.keep"):
        path.unlink()
    (objects / "info" / "commit-graph").unlink(missing_ok=True)
    shutil.rmtree(objects / "info" / "commit-graphs", ignore_errors=True)
    (objects / "pack" / "multi-pack-index").unlink(missing_ok=True)
    repo.git.pack_refs("--all", "--prune")
    repo.git.repack("-a", "-d", "-q")
    repo.git.prune("--expire=now")
    repo.stop()  # running processes hold packs open that are gone


def done(repo: Repo) -> None:
    """Delete the quarantine folder, which contains the purged values."""
    shutil.rmtree(folder_of(repo))
