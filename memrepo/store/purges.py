"""Rewrite history without certain values by git-filter-repo, and replace the old one.

The new history is written to a repository of its own, `.git/memrepo-purge/new.git`. As long as
`ready.json` is not next to it, an interrupted purge has changed nothing. As soon as it is, the next
command that writes finishes the purge.

`.git/memrepo/purged/` maps the commits before each purge to those after it.
"""

from __future__ import annotations

import gc
import io
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.merge.purging import TABLES, Edit, File
from memrepo.store.errors import GitFailed, StoreError
from memrepo.store.git import Git, git_alive, purged_folder, scratch

if TYPE_CHECKING:
    from memrepo.store.git import Repo
    from memrepo.store.repo import Repository

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
    words = ("log", "--all", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z")
    shown = repo.call(*words, "--format=", "--").split("\0")
    rows: dict[tuple[str, str], None] = {}
    for head, path in zip(shown[0::2], shown[1::2], strict=False):
        mode, blob = head.split()[1], head.split()[3]
        if blob.strip("0") and mode != "160000":
            rows[blob, path] = None
    ordered = sorted(rows)
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
        is_table = found.original_id.decode() in edit.tables
        found.data = edit.file(found.data, renamed(metadata), is_table=is_table)

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
        is_table = path.suffix == TABLES
        if (edited := plan.edit.file(data, plan.rename, is_table=is_table)) != data:
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
