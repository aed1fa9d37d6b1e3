"""The hub: fetch from it, push to it, merge its records; and replace a history by a purged one.

The hub is a named git remote. It is accessed without force and without prompts. Fetched objects go
to refs below `refs/memrepo/remote/<remote>/`. `incoming/<branch>` is the result of the last fetch,
and `seen/<branch>` is the last accepted tip. Files that memrepo does not own are merged entry by
entry. If only one side changed an entry, that version is used with its mode.

A purge rewrites history by git-filter-repo in its own repository, `.git/memrepo-purge/new.git`.
As long as `ready.json` is not next to it, an interrupted purge has changed nothing. As soon as it
is, the next command that writes finishes the purge. `.git/memrepo/purged/` maps the commits before
each purge to those after it.
"""

from __future__ import annotations

import gc
import io
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.core.errors import GitFailed, StoreError, one_line
from memrepo.core.patterns import regex
from memrepo.merge.purging import Edit, File
from memrepo.store.git import Git, git_alive, purged_folder, scratch
from memrepo.store.history import commits_with_files
from memrepo.store.objects import TreeEntry

if TYPE_CHECKING:
    from memrepo.store.git import Repo
    from memrepo.store.repo import Repository


OWN = "refs/memrepo/remote/"
_NAME = regex(r"[A-Za-z0-9_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_HELPER = regex(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_RACES = ("lock", "failed to update ref", "already exists", "incorrect old value")
_PAUSE_S = 0.1
_LONGEST_S = 2.0


class Hub(msgspec.Struct, frozen=True):
    """A git remote, and the branch on it that our branch is synced with."""

    repo: Repo
    name: str
    branch: str

    @property
    def head(self) -> str:
        """Return the full name of the synced branch on the hub."""
        return f"refs/heads/{self.branch}"

    def own(self, kind: str) -> str:
        """Return the local ref that tracks the hub's branch. `kind` is `incoming` or `seen`."""
        return f"{OWN}{self.name}/{kind}/{self.branch}"

    @property
    def tracking(self) -> str:
        """Return git's remote-tracking ref for the synced branch."""
        return f"refs/remotes/{self.name}/{self.branch}"

    def seen(self) -> str:
        """Return the last known commit of the hub's branch, or an empty string."""
        return self.tip(self.own("seen")) or self.tip(self.tracking)

    def tip(self, ref: str) -> str:
        """Return the id of the commit at a local ref, or "" if there is no such ref."""
        return self.repo.objects.commit(ref)

    def remember(self, commit: str) -> None:
        """Record the hub's newest branch commit, also in git's remote-tracking ref if present."""
        self.repo.call("update-ref", self.own("seen"), commit)
        if self.tip(self.tracking):
            self.repo.call("update-ref", self.tracking, commit)

    def follow(self, branch: str, commit: str) -> None:
        """Make the hub's branch the upstream of a branch that has none, as `git pull` needs it."""
        short = branch.removeprefix("refs/heads/")
        if not self.repo.config.get(f"branch.{short}.remote"):
            self.repo.call("update-ref", self.tracking, commit)
            self.repo.call("config", "--local", f"branch.{short}.remote", self.name)
            self.repo.call("config", "--local", f"branch.{short}.merge", self.head)
            self.repo.config.forget()

    def forget(self, *refs: str) -> None:
        """Delete refs of this clone, and ignore those that do not exist."""
        for ref in refs:
            self.repo.call("update-ref", "-d", ref)

    def tips(self, *refs: str) -> dict[str, str]:
        """Return {ref: id} of the given refs on the hub, without those that do not exist there."""
        found = self._listed(self.name, *refs)
        return {ref: found[ref] for ref in refs if ref in found}

    def every_tip(self) -> dict[str, str]:
        """Return {ref: id} of all refs on the hub. A tag's id is that of its tag object."""
        return self._listed("--refs", self.name)

    def _listed(self, *words: str) -> dict[str, str]:
        lines = self._call("ls-remote", "--quiet", *words).splitlines()
        return {ref: tip for tip, _, ref in (line.partition("\t") for line in lines)}

    def fetch(self, refs: Mapping[str, str]) -> dict[str, str]:
        """Fetch refs of the hub into local refs, and return {hub ref: fetched commit}."""
        there = self.tips(*refs)
        if there:
            options = "--quiet --no-tags --no-write-fetch-head --no-auto-maintenance --no-prune"
            own = ("--no-recurse-submodules", "--refmap=", self.name)
            self._call("fetch", *options.split(), *own, *(f"+{r}:{refs[r]}" for r in there))
        self.forget(*(own for ref, own in refs.items() if ref not in there))
        return {ref: self.tip(refs[ref]) for ref in there}

    def push(self, commit: str, ref: str) -> bool:
        """Push a commit without force. Return False if the hub's ref moved in the meantime."""
        status, out, err = self._push(
            "--no-force", "--no-follow-tags", self.name, f"{commit}:{ref}"
        )
        if status == 0:
            return True
        for line in out.splitlines():
            flag, _, rest = line.partition("\t")
            if flag == "!":
                why = rest.partition("\t")[2]
                if why.startswith("[rejected]") or any(word in why for word in _RACES):
                    return False
                raise self._refusal(ref, why)
        raise StoreError("hub-unreachable", name=self.name, cause=one_line(err))

    def replace(self, ref: str, old: str, new: str) -> bool:
        """Replace a ref's object on the hub after a purge. Return False if the hub's ref moved.

        This is the only push that is not a fast-forward. It names the object to replace and pushes
        nothing else. Raises StoreError.
        """
        status, out, err = self._push(f"--force-with-lease={ref}:{old}", self.name, f"{new}:{ref}")
        if status == 0:
            return True
        text = next((line for line in out.splitlines() if line.startswith("!")), err)
        if "stale info" in text:
            return False
        raise self._refusal(ref, text)

    def _refusal(self, ref: str, text: str) -> StoreError:
        return StoreError(
            "push-checked-out" if "checked out" in text else "push-refused",
            name=self.name,
            ref=ref,
            cause=one_line(text),
        )

    @contextmanager
    def visit(self, *refs: str) -> Iterator[tuple[Callable[..., str], dict[str, str]]]:
        """Fetch refs of the hub into a folder that is deleted at the end, next to no objects here.

        Yield a function that calls git with what was fetched, and {ref: id}.
        """
        import tempfile

        tips = self.tips(*refs) if refs else {}
        ours = str((self.repo.common_dir / "objects").resolve())
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": ours}
            if tips:
                options = "--quiet --no-tags --no-write-fetch-head --no-auto-maintenance"
                own = ("--no-recurse-submodules", "--refmap=", self.name)
                self._call("fetch", *options.split(), *own, *tips, env=env)
            yield partial(self.repo.call, env=env), tips

    def _call(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        """Call git against the hub. Raises StoreError if git fails."""
        try:
            return self.repo.call(*words, env={**self._unasked(), **(env or {})})
        except GitFailed as error:
            raise StoreError("hub-unreachable", name=self.name, cause=error.cause) from error

    def _unasked(self) -> dict[str, str]:
        """Return variables with which git asks for no password and no host key."""
        env = {"GIT_TERMINAL_PROMPT": "0"}
        own = os.environ.get("GIT_SSH_COMMAND") or os.environ.get("GIT_SSH")
        if not own and not self.repo.config.get("core.sshCommand"):
            env["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=30"
        return env

    def _push(self, *words: str) -> tuple[int, str, str]:
        options = ("--porcelain", "--no-verify", "--recurse-submodules=no", *words)
        setting = ("-c", f"remote.{self.name}.mirror=false")
        try:
            return self.repo.ask(*setting, "push", *options, env=self._unasked())
        except GitFailed as error:
            raise StoreError("hub-unreachable", name=self.name, cause=error.cause) from error


def hub_of(repo: Repo, word: str, branch: str) -> Hub:
    """Return the hub of a branch: the named remote, else the branch's upstream, else `origin`.

    Raises StoreError. `word` must be a remote's name, not an address. Addresses that
    start a program are refused.
    """
    names = repo.call("remote").splitlines()
    short = branch.removeprefix("refs/heads/")
    upstream = repo.config.get(f"branch.{short}.remote")
    if not word and not names:
        raise StoreError("remote-none")
    name = word or (upstream if upstream in names else "origin")
    if name not in names:
        raise _unknown_remote(name, names)
    if not _NAME.fullmatch(name) or name.endswith(".lock"):
        raise StoreError("remote-name", name=name)
    for kind in ("--all", "--push"):
        for url in repo.call("remote", "get-url", kind, name).splitlines():
            if _HELPER.match(url):
                raise StoreError("remote-helper", name=name, helper=url.partition("::")[0])
    merged = repo.config.get(f"branch.{short}.merge") if name == upstream else ""
    return Hub(repo, name, merged.removeprefix("refs/heads/") or short)


def _unknown_remote(name: str, names: list[str]) -> StoreError:
    known = f"; known remotes: {', '.join(names)}" if names else ""
    if re.search(r"[:/\\]", name):
        return StoreError("remote-address", name=one_line(name), known=known)
    return StoreError("remote-unknown", name=name, known=known)


def pause(commit: str, turn: int) -> None:
    """Wait before a retry. The wait grows with each attempt and differs between clones."""
    share = 1 + int(commit[:2], 16) / 0xFF
    time.sleep(min(_PAUSE_S * 2 ** (turn - 1) * share, _LONGEST_S))


class TreeMerge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge of two trees by git, relative to the first tree.

    `picks` are the merged entries that differ, None if removed. `open` has the paths that git
    cannot merge, with their versions: in the merge base, in the first and in the second tree.
    """

    picks: Mapping[str, TreeEntry | None]
    open: Mapping[str, tuple[TreeEntry | None, ...]]


def merge_trees(repo: Repo, bases: Sequence[str], first: str, second: str) -> TreeMerge:
    """Merge two commits with git in a separate index. Renames are not followed."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        repo.call("read-tree", "-i", "-m", "--aggressive", *bases, first, second, env=index)
        unmerged = repo.call("ls-files", "--unmerged", "-z", env=index)
        words = ("diff-index", "--cached", "--no-renames", "--raw", "-z", first, "--")
        changed = repo.call(*words, env=index).split("\0")
    open_: dict[str, list[TreeEntry | None]] = {}
    for row in unmerged.split("\0")[:-1]:
        head, path = row.split("\t", 1)
        mode, blob, stage = head.split(" ")
        open_.setdefault(path, [None, None, None])[int(stage) - 1] = TreeEntry(mode, blob)
    picks: dict[str, TreeEntry | None] = {}
    for row, path in zip(changed[0::2], changed[1::2], strict=False):
        _, mode, _, blob, _ = row.split(" ")
        if path not in open_:
            picks[path] = TreeEntry(mode, blob) if blob.strip("0") else None
    return TreeMerge(picks=picks, open={path: tuple(row) for path, row in open_.items()})


def count(repo: Repo, tip: str, *without: str) -> int:
    """Count the commits reachable from `tip` but not from the other commits."""
    return int(repo.call("rev-list", "--count", tip, *(f"^{one}" for one in without if one)))


FOLDER = "memrepo-purge"
READY = "ready.json"
NEW = "new.git"
_FIRST, _LAST = ("refs/memrepo/remote/",), ("refs/notes/",)
"""Refs whose commits others name, and refs whose paths name the commits of others."""
_STALE = """
    ORIG_HEAD FETCH_HEAD AUTO_MERGE COMMIT_EDITMSG MERGE_MSG SQUASH_MSG TAG_EDITMSG NOTES_EDITMSG
    gitk.cache
""".split()
_OF_GIT = ("config", "index", "packed-refs", "HEAD")
_DERIVED = (".sqlite3", "vectors-", "index-", "memrepo/clean", "memrepo/idle")
"""Files in memrepo's folder that a purge deletes, because they can be made again."""


class RewritePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What takes the old history's place, also after a restart."""

    edit: Edit
    before: Mapping[str, str]
    """The refs of the old history."""
    after: Mapping[str, str]
    """The refs of the new history."""
    commits: Mapping[str, str]
    """The changed ids of commits and tags."""

    def rename(self, word: str) -> str:
        """Return the new id of a commit or an abbreviation of it, and any other word as it is."""
        if word in self.commits:
            return self.commits[word]
        found = [new for old, new in self.commits.items() if old.startswith(word)]
        return found[0][: len(word)] if len(found) == 1 else word


def folder_of(repo: Repo) -> Path:
    """Return the folder that contains the new history until it has taken the old one's place."""
    return repo.common_dir / FOLDER


def refuse_unfit(store: Repository, edit: Edit) -> None:
    """Raise StoreError if a purge could miss objects or refs, or lose what is not committed."""
    common = store.repo.common_dir
    if (common / "objects" / "info" / "alternates").exists():
        raise StoreError("alternates")
    if any((common / "worktrees").glob("*")):
        raise StoreError("work-trees")
    if not store.repo.branch:
        raise StoreError("detached")
    if store.repo.ref("refs/stash"):
        raise StoreError("purge-stash")
    if named := [edit.path(name) for name in refs_of(store.repo) if edit.spans(name)]:
        raise StoreError("purge-refs", named=", ".join(named[:5]))
    edited = [path for path, state in store.work.dirty().items() if state != "??"]
    if edited:
        raise StoreError("purge-edits", named=", ".join(sorted(edited)[:5]))


def refs_of(git: Git) -> dict[str, str]:
    """Return {name: id} of all refs that are rewritten. Symbolic ones are left out."""
    form = "--format=%(objectname) %(objecttype) %(symref) %(refname)"
    rows = (line.split(" ", 3) for line in git.call("for-each-ref", form).splitlines())
    found = {}
    for id_, kind, symbolic, name in rows:
        if symbolic:
            continue
        if kind not in ("commit", "tag"):
            raise StoreError("cannot-rewrite", name=name, kind=kind)
        found[name] = id_
    return found


def files_of(repo: Repo) -> Iterator[File]:
    """Yield every version of every file in history, once under each path that it had."""
    every = (
        file for entry in commits_with_files(repo, "--all", "-m", "--root") for file in entry.files
    )
    ordered = sorted({(f.new, f.path) for f in every if f.new and f.mode != "160000"})
    blobs = list(dict.fromkeys(blob for blob, _ in ordered))
    found = zip(blobs, repo.objects.each(blobs), strict=True)
    data = next(found, None)
    for blob, path in ordered:
        while data is not None and data[0] != blob:
            data = next(found, None)
        if data is not None and data[1] is not None:
            yield File(path, blob, data[1].data)


# -- the new history ---------------------------------------------------------------------------


def rewrite(repo: Repo, edit: Edit) -> RewritePlan:
    """Write the new history next to the old one, and return the plan to take its place."""
    folder = folder_of(repo)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    new = folder / NEW
    form = repo.call("rev-parse", "--show-object-format").strip()
    repo.call("init", "--quiet", "--bare", f"--object-format={form}", str(new))
    before = refs_of(repo)
    commits: dict[str, str] = {}
    first = [name for name in before if name.startswith(_FIRST)]
    last = [name for name in before if name.startswith(_LAST)]
    rest = [name for name in before if name not in first and name not in last]
    for refs in (first, rest, last):
        if refs:
            _filter(repo, new, edit, refs, commits)
    with Git(new) as git:
        (new / "HEAD").write_text(f"ref: {repo.branch}\n", "utf-8")
        after = refs_of(git)
        git.call("repack", "-a", "-d", "-q")
    tags = {id_: after.get(name, id_) for name, id_ in before.items()}
    changed = {old: new_ for old, new_ in {**tags, **commits}.items() if old != new_}
    return RewritePlan(edit=edit, before=before, after=after, commits=changed)


def _filter(repo: Repo, new: Path, edit: Edit, refs: list[str], commits: dict[str, str]) -> None:
    """Run git-filter-repo over some refs, and add the commits' new ids to `commits`."""
    import git_filter_repo as filtering

    def renamed(metadata: Mapping[str, Any]) -> Any:
        rename = metadata["commit_rename_func"]
        return lambda word: commits.get(word) or rename(word.encode()).decode()

    def blob(found: Any, metadata: Mapping[str, Any]) -> None:
        found.data = edit.file(found.data, renamed(metadata))

    def words(found: Any, metadata: Mapping[str, Any]) -> None:
        found.message = edit.message(found.message, renamed(metadata))
        for change in getattr(found, "file_changes", ()):  # a note's path is the commit's id
            whole = change.filename.replace(b"/", b"").decode("utf-8", "surrogateescape")
            if noted := commits.get(whole):
                at = change.filename.find(b"/")
                change.filename = (
                    f"{noted[:at]}/{noted[at:]}".encode() if at > 0 else noted.encode()
                )

    def path(name: bytes) -> bytes:
        return os.fsencode(edit.path(os.fsdecode(name)))

    def ref(name: bytes) -> bytes:
        return name.replace(b"refs/noted/", b"refs/notes/", 1)

    options = "--force --quiet --prune-empty never --prune-degenerate never"
    options += " --preserve-commit-hashes --replace-refs update-no-add"
    places = ("--source", str(repo.top), "--target", str(new))
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        # git-filter-repo leaves its pipes to the collector.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            args = filtering.FilteringOptions.parse_args([*options.split(), *places])
            # It would not look at commits on refs/notes/.
            args.refs, args.repack = ["--refspec=refs/notes/*:refs/noted/*", *refs], False
            filtering.RepoFilter(
                args,
                blob_callback=blob,
                commit_callback=words,
                tag_callback=words,
                filename_callback=path,
                refname_callback=ref,
                name_callback=edit.name,
                email_callback=edit.name,
            ).run()
        except (SystemExit, OSError) as error:
            raise StoreError("purge-engine", cause=error) from error
        finally:
            gc.collect()
    rows = (new / "filter-repo" / "commit-map").read_text("ascii").splitlines()[1:]
    commits.update(tuple(row.split()) for row in rows)  # type: ignore[misc]
    shutil.rmtree(new / "filter-repo")


def make_ready(repo: Repo, plan: RewritePlan) -> None:
    """Mark the new history as complete: from now on, it will take the old one's place."""
    draft = scratch(folder_of(repo), f"{READY}.", msgspec.json.encode(plan))
    with draft.open("rb") as handle:
        os.fsync(handle.fileno())
    draft.replace(folder_of(repo) / READY)


def abandon(repo: Repo) -> None:
    """Delete the new history, unless it is marked as complete."""
    if not (folder_of(repo) / READY).exists():
        shutil.rmtree(folder_of(repo), ignore_errors=True)


# -- taking the old one's place ----------------------------------------------------------------


def resume(store: Repository) -> bool:
    """Finish an interrupted purge, if any. Return whether there was one."""
    try:
        data = (folder_of(store.repo) / READY).read_bytes()
    except FileNotFoundError:
        return False
    finish(store, msgspec.json.decode(data, type=RewritePlan))
    return True


def finish(store: Repository, plan: RewritePlan) -> None:
    """Let the new history take the old one's place, and keep the new ids. Can be repeated."""
    repo = store.repo
    _drop_locks(repo)
    _add_objects(repo)
    _move_refs(repo, plan)
    repo.call("reset", "--hard", "--quiet")
    _clean_files(store.root, plan)
    _clean_git_folder(repo, plan)
    keep_map(repo, plan.edit.mixed("purge")[:16], plan.commits)
    _drop_objects(repo)
    shutil.rmtree(folder_of(repo))


def _drop_locks(repo: Repo) -> None:
    """Remove lock files of git processes that were killed. Raises StoreError if git is running."""
    common = repo.common_dir
    for path in [*common.glob("*.lock"), *common.glob("refs/**/*.lock")]:
        if git_alive(repo):
            raise StoreError("git-at-work", name=path.name, path=path)
        path.unlink(missing_ok=True)


def _add_objects(repo: Repo) -> None:
    new = folder_of(repo) / NEW / "objects" / "pack"
    there = repo.common_dir / "objects" / "pack"
    there.mkdir(exist_ok=True)
    for ending in ("pack", "rev", "idx"):  # git reads a pack as soon as it has an index
        for path in new.glob(f"*.{ending}"):
            if not (there / path.name).exists():
                os.link(path, there / path.name)


def _move_refs(repo: Repo, plan: RewritePlan) -> None:
    """Move all refs in one transaction. Raises StoreError if another process changed a ref."""
    there = refs_of(repo)
    none = "0" * len(repo.head)
    lines = []
    for name, id_ in plan.after.items():
        if there.get(name) != id_:
            lines.append(f"update {name} {id_} {plan.before.get(name, none)}\n")
    try:
        if lines:
            words = ("-c", "core.logAllRefUpdates=false", "update-ref", "--no-deref", "--stdin")
            repo.call(*words, lines=lines)
    except GitFailed as error:
        if not any(
            there.get(name) == id_ != plan.before.get(name) for name, id_ in plan.after.items()
        ):
            (folder_of(repo) / READY).unlink()  # the old history is complete and remains
            abandon(repo)
        raise StoreError("refs-moved", cause=error.cause) from error


def _clean_files(root: Path, plan: RewritePlan) -> None:
    """Remove the value from files that git does not track, and from their names."""
    for path, is_folder in [*work_files(root)][::-1]:
        if not is_folder:
            _clean_file(root, path, plan)
        elif plan.edit.path(path.name) != path.name and not any(path.iterdir()):
            path.rmdir()


def _clean_file(root: Path, path: Path, plan: RewritePlan) -> None:
    if path.is_symlink():
        target = os.fsencode(path.readlink())
        if (edited := plan.edit.file(target, plan.rename)) != target:
            path.unlink()
            path.symlink_to(os.fsdecode(edited))
    elif path.is_file():
        data = path.read_bytes()
        if (edited := plan.edit.file(data, plan.rename)) != data:
            draft = scratch(path.parent, ".memrepo-", edited)
            draft.chmod(path.stat().st_mode & 0o7777)
            draft.replace(path)
    new = root / plan.edit.path(path.relative_to(root).as_posix())
    if new != path:
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)


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


def git_files(repo: Repo) -> Iterator[tuple[Path, str]]:
    """Yield (path, name) of the files of the git directory, without objects and the new history."""
    for folder, folders, files in os.walk(repo.common_dir):
        here = Path(folder)
        if here == repo.common_dir:
            folders[:] = [name for name in folders if name not in ("objects", "modules", FOLDER)]
        yield from ((here / n, (here / n).relative_to(repo.common_dir).as_posix()) for n in files)


def is_derived(name: str) -> bool:
    """Return whether a file of the git directory can be made again, or has no use any more."""
    made = name.startswith("memrepo/") and any(part in name for part in _DERIVED)
    return made or name in _STALE or name.startswith(("logs/", "rr-cache/"))


def _clean_git_folder(repo: Repo, plan: RewritePlan) -> None:
    """Remove the value from journals and captured texts. Delete reflogs, and what is derived."""
    for path, name in [*git_files(repo)]:
        if is_derived(name):
            path.unlink(missing_ok=True)
        elif name not in _OF_GIT and not name.startswith("refs/"):
            _clean_file(repo.common_dir, path, plan)


def _drop_objects(repo: Repo) -> None:
    """Delete every unreachable object from the repository."""
    objects = repo.common_dir / "objects"
    for path in (*(objects / "pack").glob("*.keep"), objects / "pack" / "multi-pack-index"):
        path.unlink(missing_ok=True)
    (objects / "info" / "commit-graph").unlink(missing_ok=True)
    shutil.rmtree(objects / "info" / "commit-graphs", ignore_errors=True)
    repo.call("pack-refs", "--all", "--prune")
    repo.call("repack", "-a", "-d", "-q")
    repo.call("prune", "--expire=now")
    repo.stop()  # running processes hold packs open that are gone


def keep_map(repo: Repo, purge: str, commits: Mapping[str, str]) -> None:
    """Store the new ids of replaced commits, so that old commit ids can be resolved later."""
    purged_folder(repo).mkdir(parents=True, exist_ok=True, mode=0o700)
    text = "".join(f"{old} {new}\n" for old, new in sorted(commits.items()))
    scratch(purged_folder(repo), f".{purge}.", text.encode()).replace(
        purged_folder(repo) / f"{purge}.map"
    )
