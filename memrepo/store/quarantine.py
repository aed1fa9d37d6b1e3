"""A rewritten repository beside the one it is to replace, and how it takes its place.

Everything new is made in `memrepo-purge/` in the git directory, where nothing looks. Once it is
whole and was tried, `ready.json` says so, and from then on the repository is the new one: whoever
writes next finishes what a kill left. Before, a kill leaves the old one, and the folder is swept.

Objects are added first and refs move in one transaction of git's; then index, work tree, reflogs
and what memrepo keeps beside history follow, and at last the old objects go.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.merge.purging import Edit
from memrepo.store.door import Door
from memrepo.store.light import FILES, GitFailed
from memrepo.store.lock import CannotWork, GitAtWork, git_alive, scratch
from memrepo.store.rewrite import History, Rewriter, Tip
from memrepo.store.travel import RECORDS

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo
    from memrepo.store.repo import Repository

FOLDER = "memrepo-purge"
READY = "ready.json"
NEW = "new.git"
_KEPT = "refs/purge/"
_GONE = """
    ORIG_HEAD FETCH_HEAD AUTO_MERGE COMMIT_EDITMSG MERGE_MSG
    SQUASH_MSG TAG_EDITMSG NOTES_EDITMSG gitk.cache
""".split()
_DERIVED = (".sqlite3", "vectors-", "index-", "kept/", "memrepo/clean")
"""What memrepo makes again from history: it is thrown away, not edited."""
_LINK = "120000"


class Moved(MemrepoError):
    """Somebody moved a ref while the history was rewritten."""

    exit_code = Exit.DECIDE

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the repository changed while its history was rewritten; nothing was changed ({why})",
            fix="run the command again when nobody else works here",
        )


class Ref(msgspec.Struct, frozen=True, kw_only=True):
    """A ref before and after: its name and the object that it names."""

    name: str
    id: str
    new_name: str
    new_id: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to put a rewritten repository in its place, whenever that goes on.

    `commits`, `blobs` and `tags` hold those that are others now.
    """

    edit: Edit
    refs: tuple[Ref, ...]
    head: str
    logs: Mapping[str, str]
    commits: Mapping[str, str]
    blobs: Mapping[str, str]
    tags: Mapping[str, str]
    receipt: bytes = b""
    """What is written down of it at the end, as the caller spells it."""

    def new(self, id_: str) -> str:
        """Return what stands now in place of an object."""
        return self.commits.get(id_) or self.blobs.get(id_) or self.tags.get(id_) or id_

    def new_short(self, digits: str) -> str:
        """Return the first digits of what stands in place of a commit named by its first."""
        found = [new for old, new in self.commits.items() if old.startswith(digits)]
        return found[0][: len(digits)] if len(found) == 1 else digits


def folder_of(repo: Repo) -> Path:
    """Return where a rewritten repository waits."""
    return Path(repo.common_dir) / FOLDER


def is_ready(repo: Repo) -> bool:
    """Tell whether a rewritten repository was cut short while it took its place."""
    return (folder_of(repo) / READY).exists()


def refuse_unfit(repo: Repo) -> None:
    """Raise CannotWork where objects lie elsewhere, or another work tree has its own index."""
    common = Path(repo.common_dir)
    if (common / "objects" / "info" / "alternates").exists():
        raise CannotWork(
            "this repository borrows objects from another one, which would keep them",
            fix="`git repack -a -d` and remove .git/objects/info/alternates",
        )
    if any((common / "worktrees").glob("*")):
        raise CannotWork(
            "other work trees belong to this repository",
            fix="`git worktree list` names them, `git worktree remove` takes them away",
        )


# -- what there is ---------------------------------------------------------------------------


def tips_of(repo: Repo) -> list[Tip]:
    """Return everything that keeps an object: refs, a detached HEAD, reflogs and the index."""
    form = "--format=%(objectname) %(symref) %(refname)"
    rows = (line.split(" ", 2) for line in repo.git.for_each_ref(form).splitlines())
    tips = [Tip(name, id_) for id_, symbolic, name in rows if not (symbolic or is_record(name))]
    if not repo.refs.branch and repo.refs.head:
        tips.append(Tip("HEAD", repo.refs.head))
    known = {tip.id for tip in tips}
    logged = {id_ for _, text in logs(repo) for id_ in _logged(text)} - known
    here = filter(None, repo.light.objects.each(sorted(logged)))
    tips += [Tip("reflog", found.id) for found in here]
    for mode, blob, _, _ in staged(repo):
        if mode in (*FILES, _LINK):
            tips.append(Tip("index", blob))
    return tips


def is_record(name: str) -> bool:
    """Tell whether a ref holds the records of purges: they stay as they are written."""
    return name == RECORDS or (name.startswith("refs/memrepo/remote/") and name.endswith("/purges"))


def staged(repo: Repo) -> Iterator[tuple[str, str, str, str]]:
    """Yield mode, blob, stage and path of each entry of the index."""
    for entry in filter(None, repo.git.ls_files("--stage", "-z", "--full-name").split("\0")):
        head, path = entry.split("\t", 1)
        mode, blob, stage = head.split(" ")
        yield mode, blob, stage, path


def logs(repo: Repo) -> Iterator[tuple[str, str]]:
    """Yield every reflog by its name below `logs/`."""
    folder = Path(repo.common_dir) / "logs"
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        yield path.relative_to(folder).as_posix(), text


def _logged(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for id_ in line.split(" ", 2)[:2]:
            if id_.strip("0"):
                yield id_


# -- the copy --------------------------------------------------------------------------------


def build(repo: Repo, tips: list[Tip], history: History, edit: Edit) -> Plan:
    """Write the history anew beside the old one and return how it is to take its place."""
    folder = folder_of(repo)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    form = "sha256" if len(tips[0].id) == 64 else "sha1"
    repo.git.init("--quiet", "--bare", f"--object-format={form}", str(folder / NEW))
    borrowed = folder / NEW / "objects" / "info" / "alternates"
    borrowed.write_text(f"{Path(repo.common_dir).resolve() / 'objects'}\n", encoding="utf-8")
    git = Door(folder / NEW)
    rewriter = Rewriter(repo, git, edit)
    rewriter.write(history)
    plan = _plan(repo, tips, rewriter)
    for name in git.for_each_ref("--format=%(refname)").split():
        git.update_ref("-d", name)
    kept = [rewriter.new(tip.id) for tip in tips if not tip.name.startswith("refs/")]
    lines = [f"create {ref.new_name} {ref.new_id}\n" for ref in plan.refs]
    lines += [f"create {_KEPT}{n} {id_}\n" for n, id_ in enumerate(dict.fromkeys(kept))]
    lines = [line for line in lines if not line.startswith("create HEAD ")]
    git.update_ref("--stdin", istream="".join(lines))
    if plan.head.startswith("refs/"):
        git.symbolic_ref("HEAD", plan.head)
    git.repack("-a", "-d", "-q")
    borrowed.unlink()
    git.rev_list("--objects", "--all", "--quiet")  # every one of them is there
    return plan


def _plan(repo: Repo, tips: list[Tip], done: Rewriter) -> Plan:
    edit = done.edit
    refs = tuple(
        Ref(name=tip.name, id=tip.id, new_name=edit.path(tip.name), new_id=done.new(tip.id))
        for tip in tips
        if tip.name.startswith("refs/") or tip.name == "HEAD"
    )
    logged = {edit.path(name): _translated(text, done) for name, text in logs(repo)}
    return Plan(
        edit=edit,
        refs=refs,
        head=edit.path(repo.refs.branch) or done.new(repo.refs.head),
        logs=logged,
        commits={old: new for old, new in done.commits.items() if old != new},
        blobs={old: new for old, new in done.blobs.items() if old != new},
        tags={old: new for old, new in done.tags.items() if old != new},
    )


def _translated(log: str, done: Rewriter) -> str:
    """Return a reflog of the new history; what git has thrown away already is left out."""
    lines = []
    for line in log.splitlines():
        head, tab, message = line.partition("\t")
        old, new, who = head.split(" ", 2)
        ids = [done.new(id_) if id_.strip("0") else id_ for id_ in (old, new)]
        if any(id_.strip("0") and id_ not in done.commits for id_ in (old, new)):
            continue
        name = done.edit.who(who.encode("utf-8", "surrogateescape"))
        said = done.edit.message(message.encode("utf-8", "surrogateescape"), done)
        parts = (part.decode("utf-8", "surrogateescape") for part in (name, said))
        lines.append(f"{' '.join((*ids, next(parts)))}{tab}{next(parts)}\n")
    return "".join(lines)


def abandon(repo: Repo) -> None:
    """Throw away a rewritten repository that has not taken its place."""
    if not is_ready(repo):
        shutil.rmtree(folder_of(repo), ignore_errors=True)


def make_ready(repo: Repo, plan: Plan) -> None:
    """Say that the rewritten repository is the one that counts: it is finished, come what may."""
    folder = folder_of(repo)
    draft = scratch(folder, f"{READY}.", msgspec.json.encode(plan))
    with draft.open("rb") as handle:
        os.fsync(handle.fileno())
    draft.replace(folder / READY)


def waiting(repo: Repo) -> Plan | None:
    """Return the plan that a kill has cut short, if there is one."""
    try:
        data = (folder_of(repo) / READY).read_bytes()
    except FileNotFoundError:
        return None
    return msgspec.json.decode(data, type=Plan)


# -- taking its place ------------------------------------------------------------------------


def take_place(store: Repository, plan: Plan) -> None:
    """Put the rewritten repository in place of the old one; done again it does what is left."""
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
    """Remove the lock files that a git of ours left when it was killed; raises GitAtWork."""
    common = Path(repo.common_dir)
    found = [p for p in common.glob("*.lock") if p.is_file()] + [*common.glob("refs/**/*.lock")]
    for path in found:
        if git_alive(repo):
            raise GitAtWork(path)
        path.unlink(missing_ok=True)


def _add_objects(repo: Repo) -> None:
    there = Path(repo.common_dir) / "objects"
    for path in sorted((folder_of(repo) / NEW / "objects").rglob("*")):
        place = there / path.relative_to(folder_of(repo) / NEW / "objects")
        if path.is_file() and path.parent.name != "info" and not place.exists():
            place.parent.mkdir(exist_ok=True)
            os.link(path, place)


def _move_refs(repo: Repo, plan: Plan) -> None:
    """Move every ref in one transaction; raises Moved where somebody moved one meanwhile."""
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
            (folder_of(repo) / READY).unlink()  # the old repository is whole, and stays
            abandon(repo)
        raise Moved(error.said) from error
    if plan.head.startswith("refs/"):
        repo.git.symbolic_ref("HEAD", plan.head)
    else:
        repo.git.update_ref("--no-deref", "HEAD", plan.head)


def _stage(repo: Repo, plan: Plan) -> None:
    """Write the index anew: every entry under the name and with the content that it has now."""
    lines = [
        f"{mode} {plan.blobs.get(blob, blob)} {stage}\t{plan.edit.path(path)}\0"
        for mode, blob, stage, path in staged(repo)
    ]
    index = Path(repo.git_dir) / "index"
    draft = folder_of(repo) / "index"
    draft.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(draft)}
    repo.git.update_index("-z", "--index-info", istream="".join(lines), env=env)
    if draft.exists():
        draft.replace(index)


def _check_out(store: Repository, plan: Plan) -> None:
    """Bring the files of the work tree to the new history; what a person changed stays changed."""
    new = {path: blob for mode, blob, _, path in staged(store.repo) if mode in FILES}
    folders = []
    for path, is_folder in work_files(store.root):
        if is_folder:
            folders.append(path)
            continue
        said = plan.edit.path(path.relative_to(store.root).as_posix())
        _put_right(store, path, new.get(said, ""), plan)
    for path in reversed(folders):
        if path.is_dir() and not any(path.iterdir()):
            _drop_renamed(store.root, path, plan.edit)
    store.repo.git.update_index("-q", "--refresh", with_exceptions=False)


def work_files(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yield what lies in a work tree, ignored files too, and whether it is a folder.

    Another repository within it is passed over: it is none of this one's.
    """
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
    said = folder.relative_to(root).as_posix()
    if edit.path(said) != said:
        folder.rmdir()


def _put_right(store: Repository, path: Path, blob: str, plan: Plan) -> None:
    if path.is_symlink():
        target = os.fsencode(path.readlink())
        edited = plan.edit.file(target, plan)
        if edited != target:
            path.unlink()
            path.symlink_to(os.fsdecode(edited))
    elif path.is_file():
        data = path.read_bytes()
        if blob and plan.blobs.get(store.work.blob_id(data)) == blob:
            edited = store.repo.light.objects.read(blob)
        else:
            edited = plan.edit.file(data, plan)
        _replace(path, data, edited)
    _rename(store.root, path, plan.edit)


def _replace(path: Path, before: bytes, after: bytes) -> None:
    """Write a file that holds something else now, in one step, with the rights that it has."""
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


def _keep_logs(repo: Repo, plan: Plan) -> None:
    folder = Path(repo.common_dir) / "logs"
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        if path.relative_to(folder).as_posix() not in plan.logs:
            path.unlink()
    for name, text in plan.logs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def git_files(repo: Repo) -> Iterator[Path]:
    """Yield the files of the git directory beside objects, refs and what is the quarantine's."""
    common = Path(repo.common_dir)
    for folder, folders, files in os.walk(common):
        here = Path(folder)
        if here == common:
            skipped = ("objects", "refs", FOLDER, "modules", "worktrees")
            folders[:] = [name for name in folders if name not in skipped]
        for name in files:
            if here != common or name not in ("index", "packed-refs"):
                yield here / name


def is_derived(repo: Repo, path: Path) -> bool:
    """Tell whether a file of memrepo's is made again from history by whoever needs it."""
    name = path.relative_to(repo.common_dir).as_posix()
    return name.startswith("memrepo/") and any(part in name for part in _DERIVED)


def clean_git_folder(repo: Repo, edit: Edit, plan: Plan) -> None:
    """Take the value out of journals and captured texts, and what can be made again away."""
    common = Path(repo.common_dir)
    shutil.rmtree(common / "rr-cache", ignore_errors=True)
    for path in [*git_files(repo)]:
        if is_derived(repo, path) or (path.parent == common and path.name in _GONE):
            path.unlink(missing_ok=True)
        elif path.name != "config" and not path.is_symlink():
            data = path.read_bytes()
            _replace(path, data, edit.file(data, plan))
            _rename(common, path, edit)


def drop_objects(repo: Repo) -> None:
    """Let git forget every object that nothing keeps any more."""
    objects = Path(repo.common_dir) / "objects"
    for path in (objects / "pack").glob("*.keep"):
        path.unlink()
    (objects / "info" / "commit-graph").unlink(missing_ok=True)
    shutil.rmtree(objects / "info" / "commit-graphs", ignore_errors=True)
    (objects / "pack" / "multi-pack-index").unlink(missing_ok=True)
    repo.git.pack_refs("--all", "--prune")
    repo.git.repack("-a", "-d", "-q")
    repo.git.prune("--expire=now")
    repo.light.close()  # what stands holds packs that are gone
    repo.__dict__.pop("light", None)


def done(repo: Repo) -> None:
    """Forget the quarantine, and the value with it."""
    shutil.rmtree(folder_of(repo))
