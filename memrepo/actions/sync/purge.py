"""`memrepo purge`: remove a value from history and all derived files, and record a receipt.

The value is the text of a memory, or is read from standard input. It is never an argument, since
shells store command lines and other users can see them. docs/erasing.md describes the procedure.

A clone that purges a value pushes the record first. Then it replaces the old history on the hub,
ref by ref, if the hub still has the replaced commit. A clone that receives a record finds the value
by its key, purges its own history, and acknowledges this in the record.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import DryRun, Reason, VerbResult, option
from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Call, Work
from memrepo.core.errors import Exit, UsageError
from memrepo.core.ids import visible
from memrepo.core.layout import Layout
from memrepo.core.messages import counted
from memrepo.core.needles import Keyed, Needle, fold, keyed, known_again, mac, needles_of
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.merge.purging import WORD, Edit, File, is_page, with_ids, with_words
from memrepo.store import purges, quarantine, settings
from memrepo.store.errors import HubUnreachable, StoreError, UnfitRemote, problem
from memrepo.store.git import Git, names
from memrepo.store.local import replaced_commits
from memrepo.store.purges import Count, PurgeReceipt
from memrepo.store.quarantine import FullHistory, HistoryObject, RewritePlan, read_history
from memrepo.store.remote import OWN, RECORDS, Hub, carry, hub_of
from memrepo.store.settings import clone_id

_CHECKS = ("objects", "state", "memories", "manifests", "history", "runs", "format", "ledger")
"""The checks of `doctor` that concern the history, not this machine."""
_AREAS = {
    "sources": "source",
    "memories": "memory",
    "corrections": "correction",
    "views": "view",
    "candidates": "candidate",
    "runs": "manifest",
    "tombstones": "tombstone",
    "threads": "thread",
}
CLASSES = (
    *_AREAS.values(),
    *("hot page", "configuration", "other file", "file name", "commit message", "tag", "author"),
    *("ref name", "reflog", "index", "work tree", "cache", "git folder", "unreachable"),
)
"""The classes of places that are searched and cleaned."""
OUTSIDE = ("git configuration", "workspace")
"""The classes of places that are searched but left to their owner to clean."""


def verify(work: Work, word: str) -> Result:
    """Search for purged values again to verify their receipts.

    If standard input has a value, search for this value and choose the matching receipts.
    """
    repo = work.store.repo
    known = [r for r in purges.receipts(repo) if r.id.startswith(word)]
    if not known:
        raise UsageError(
            f"no receipt {word!r} is on record here"
            if word
            else "no purge was recorded in this clone",
            fix="`memrepo sync` fetches the records of other clones",
        )
    given = work.call.read().strip()
    if given:
        needles = needles_of([given])
        known = [r for r in known if _is_about(r, needles)] or known[-1:]
        _, found = _search(work, _history(work), Edit(needles=needles, seed=""))
    else:
        history = _history(work)
        keys = {r.id: _key(r) for r in known}
        needles = tuple(n for r in known for n in recognised(work, history, r.values, keys[r.id]))
        listed = (recognised_words(work, history, r.words, keys[r.id]) for r in known)
        edit = Edit(needles=needles, seed="", words=frozenset().union(*listed))
        found = places(work, edit, history) if needles or edit.words else []
    result = _result(
        found, receipt=", ".join(r.id for r in known), clones=clones(work, known[-1].id)
    )
    return replace(result, verified=not result.hits, exit=Exit.NO if result.hits else Exit.DONE)


def _history(work: Work) -> FullHistory:
    return read_history(work.store.repo, quarantine.tips_of(work.store.repo))


def _search(work: Work, history: FullHistory, edit: Edit) -> tuple[Edit, list[ValuePlace]]:
    """Return the edit with words that only the value has, and the places that contain them."""
    edit = with_words(edit, files_of(work, history), work.tree.layout)
    return edit, places(work, edit, history)


def _result(found: Sequence[ValuePlace], **more: Any) -> Result:
    return Result(places=tuple(found), hits=hits_of(found), left=outside(found), **more)


def _is_about(receipt: PurgeReceipt, needles: tuple[Needle, ...]) -> bool:
    key = purges.key_of(receipt.key)
    return key is not None and any(keyed(n, key) in receipt.values for n in needles)


def _key(receipt: PurgeReceipt) -> bytes:
    key = purges.key_of(receipt.key)
    if key is None:
        path = purges.keys_folder() / receipt.key
        raise StoreError("key-missing", purge=receipt.id, key=receipt.key, path=path)
    return key


VERIFY = "verify"
COLLECT = "git reflog expire --expire=now --all && git repack -a -d -q && git prune --expire=now"
"""The command that removes the old objects from a hub."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo purge`."""

    what: Annotated[
        str,
        option(
            "the memory whose text to purge, or `verify`; without it, the value is read from "
            "standard input",
            metavar="ID|verify",
        ),
    ] = ""
    receipt: Annotated[
        str,
        option("verify only this receipt, by its key (default: all)", "--receipt", metavar="ID"),
    ] = ""
    dry_run: DryRun = False
    reason: Reason = ""


class ValuePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place that contains the value, with its class, its location and the number of hits."""

    kind: str
    where: str
    hits: int
    via: str = ""
    """The ref by which the place was reached first."""


class Clone(msgspec.Struct, frozen=True, kw_only=True):
    """A known clone, and whether it has repeated the purge."""

    clone: str
    acknowledged: bool


class Result(VerbResult, frozen=True, kw_only=True):
    """The places with the value, the changes made, and the clones that must repeat the purge."""

    receipt: str = ""
    places: tuple[ValuePlace, ...] = ()
    hits: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of hits by class, before the purge."""
    left: dict[str, int] = msgspec.field(default_factory=dict)
    """The remaining hits by class. After a dry run, only hits that are left to the user."""
    commits: int = 0
    """The number of rewritten commits."""
    clones: tuple[Clone, ...] = ()
    verified: bool | None = None
    collect: str = ""
    """The command that removes the old objects from a hub."""


def do(work: Work, request: Request) -> Result:
    """Purge a value, list the places that contain it (dry run), or verify receipts."""
    if request.what == VERIFY:
        return verify(work, request.receipt)
    work.require_writable()
    needles = needles_of(_values(work, request.what))
    if request.dry_run:
        _, found = _search(work, _history(work), Edit(needles=needles, seed=""))
        return _result(found)
    with work.store.running(), work.store.syncing(), work.store.writing():
        work.store.refuse_unfit()
        quarantine.refuse_unfit(work.store.repo)
        notices = fetch_unknown(work)
        key_id, key = purges.key_for(work.store.repo)
        hidden = tuple(keyed(needle, key) for needle in needles)
        words = (clone_id(work.store.repo), format_time(work.call.now), *(h.mac for h in hidden))
        receipt = PurgeReceipt(
            id=f"pg-{mac(key, 'receipt', ' '.join(words))[:16]}",
            at=work.call.now,
            by=work.actor,
            key=key_id,
            values=hidden,
            reason=request.reason,
            searched=(*CLASSES, *OUTSIDE),
        )
        return purge(work, receipt, needles, key).after(notices)


def purge(work: Work, receipt: PurgeReceipt, needles: Sequence[Needle], key: bytes) -> Result:
    """Remove the value from history and files. The caller must hold the locks."""
    store = work.store
    repo = store.repo
    tips = quarantine.tips_of(repo)
    history = read_history(repo, tips)
    edit = Edit(needles=tuple(needles), seed=purges.seed_of(receipt.values, key))
    edit, found = _search(work, history, edit)
    if not hits_of(found):
        return _result(found, exit=Exit.NO)
    edit = with_ids(edit, files_of(work, history), work.tree.layout)
    try:
        before = count(repo, edit, hits_of(found))
        plan = quarantine.build(repo, tips, history, edit)
        with Git(quarantine.folder_of(repo) / quarantine.NEW) as git:
            after = count(git, edit)
        if left := sum(after.hits.values()):
            raise StoreError("purge-incomplete", places=counted(left, "place", "places"))
        _refuse_broken(work, plan)
        receipt = replace(
            receipt,
            words=tuple(sorted(mac(key, "word", word) for word in edit.words)),
            before=before,
            after=after,
            tips_before=tuple(sorted({mac(key, "tip", tip.id) for tip in tips})),
            tips_after={ref.new_name: ref.new_id for ref in plan.refs},
        )
        plan = replace(plan, receipt=msgspec.json.encode(receipt))
        quarantine.make_ready(repo, plan)
    finally:
        quarantine.abandon(repo)
    purges.finish(store, plan)
    work.refresh()
    return _result(
        found,
        receipt=receipt.id,
        commits=len(plan.commits),
        clones=clones(work, receipt.id),
        collect=COLLECT if repo.git.remote().strip() else "",
    )


def _values(work: Work, word: str) -> list[str]:
    if not word:
        given = work.call.read().strip()
        if not given:
            fix = "name a memory, or pipe the value to the command"
            raise UsageError("standard input is empty", fix=fix)
        return [given]
    memory = work.tree.state().memories.get(word)
    if memory is None:
        raise UsageError(
            "no memory has this id, and a value must not be an argument",
            fix="`memrepo purge` reads the value from standard input: `memrepo purge < file`,"
            " or type it and end with Ctrl-D",
        )
    return [memory.body]


def _refuse_broken(work: Work, plan: RewritePlan) -> None:
    """Check the new history in a temporary work tree. Raise if any `doctor` check newly fails."""
    repo, where = work.store.repo, quarantine.folder_of(work.store.repo)
    old_refs = {ref.name: ref.id for ref in plan.refs}
    new_refs = {ref.new_name: ref.new_id for ref in plan.refs}
    head = repo.refs.branch or repo.refs.head
    before = _failing(work, where / "before", repo.common_dir, old_refs, head)
    after = _failing(work, where / "after", where / quarantine.NEW, new_refs, plan.head)
    if broken := after - before:
        raise StoreError("purge-harmful", checks=", ".join(sorted(broken)))


def _failing(
    work: Work, where: Path, lender: Path, refs: Mapping[str, str], head: str
) -> frozenset[str]:
    """Return the `doctor` checks that fail for given refs, in a work tree with borrowed objects."""
    try:
        git = quarantine.borrower(where, lender, bare=False)
        quarantine.create_refs(git, refs.items(), head)
        git.reset("--hard", "--quiet")
        doctor = VERBS["doctor"].load()
        with Work(Call(where=where, now=work.call.now)) as copy:
            found: Any = doctor.do(copy, doctor.Request())
    finally:
        shutil.rmtree(where, ignore_errors=True)
    return frozenset(c.name for c in found.checks if c.name in _CHECKS and not c.ok)


def files_of(work: Work, history: FullHistory) -> Iterable[File]:
    """Yield every version of every file, once under each path that it had."""
    objects = work.store.repo.objects
    for blob, paths in history.paths.items():
        data = objects.read(blob)
        yield from (File(path, data) for path in paths)


def hits_of(found: Iterable[ValuePlace]) -> dict[str, int]:
    """Return the number of hits per class of place that a purge cleans."""
    return _sums(place for place in found if place.kind not in OUTSIDE)


def outside(found: Iterable[ValuePlace]) -> dict[str, int]:
    """Return the number of hits per class of place that the user must clean."""
    return _sums(place for place in found if place.kind in OUTSIDE)


def _sums(found: Iterable[ValuePlace]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for place in found:
        counts[place.kind] += place.hits
    return dict(sorted(counts.items()))


def clones(work: Work, purge_id: str) -> tuple[Clone, ...]:
    """Return the clones that the ledgers name, and whether each has repeated a purge."""
    repo = work.store.repo
    done = {one.clone for one in purges.acknowledged(repo, purge_id)}
    known = set(done)
    for ref in ("refs/memrepo/access", *repo.refs.below(OWN)):
        if (ref.endswith("/access") or "/" not in ref[len(OWN) :]) and (tip := repo.refs.id(ref)):
            paths = (path for path, _ in repo.objects.files(tip))
            known.update(path.partition("/")[0] for path in paths if path.endswith(".jsonl"))
    return tuple(Clone(clone=visible(c), acknowledged=c in done) for c in sorted(known))


def recognised(
    work: Work, history: FullHistory, hidden: Sequence[Keyed], key: bytes
) -> list[Needle]:
    """Return search patterns for the keyed values, found by searching all texts in this clone."""
    found: dict[str, Needle] = {}
    repo = work.store.repo
    objects = repo.objects
    texts = (one.data for one in objects.every() if one.kind != "tree")
    on_disk = (
        *(p for p in quarantine.git_files(repo) if not p.is_symlink()),
        *(p for p, is_folder in quarantine.work_files(work.store.root) if not is_folder),
    )
    disk = (path.read_bytes() for path in on_disk if path.is_file())
    names = (path.encode("utf-8", "surrogateescape") for p in history.paths.values() for path in p)
    for source in (texts, names, disk):
        for data in source:
            text = data.decode("utf-8", "surrogateescape")
            for needle in known_again(text, hidden, key):
                found[needle.letters] = needle
    return sorted(found.values(), key=lambda n: (-len(n.letters), n.letters))


def recognised_words(
    work: Work, history: FullHistory, hidden: Sequence[str], key: bytes
) -> set[str]:
    """Return the words in pages and headers that came only from a purged value."""
    objects = work.store.repo.objects
    listed = set[str]()
    for blob in history.paths if hidden else ():
        data = objects.read(blob)
        if is_page(data) or data.startswith(b"---\n"):
            listed.update(map(fold, WORD.findall(data.decode("utf-8", "surrogateescape"))))
    return {word for word in listed if mac(key, "word", word) in hidden}


# -- where the value is ----------------------------------------------------------------------


def places(work: Work, edit: Edit, history: FullHistory) -> list[ValuePlace]:
    """Return every place that contains the value: in history, in other files and outside."""
    searches = (_in_history(work, edit, history), _in_files(work, edit), _outside(work, edit))
    return [place for found in searches for place in found if place.hits]


def class_of(layout: Layout, path: str) -> str:
    """Return the class of a file according to its path in the repository."""
    if layout.is_hot(path):
        return "hot page"
    if path == layout.config:
        return "configuration"
    area = path.removeprefix(layout.prefix).partition("/")[0]
    return _AREAS.get(area, "other file") if path.startswith(layout.prefix) else "other file"


def _in_history(work: Work, edit: Edit, history: FullHistory) -> Iterator[ValuePlace]:
    objects, layout = work.store.repo.objects, work.tree.layout
    via_of: dict[str, str] = {}
    known_names = set[str]()
    for one in history.objects:
        yield from _in_words(edit, one)
        for path, _, after in one.changes:
            via_of.setdefault(after.id, one.via)
            if path not in known_names:
                known_names.add(path)
                hits = len(edit.spans(path)) or int(edit.path(path) != path)
                yield ValuePlace(kind="file name", where=edit.path(path), hits=hits, via=one.via)
    for blob, paths in history.paths.items():
        hits = edit.holds(objects.read(blob))
        path = next(iter(paths), "")
        kind = class_of(layout, path) if path else "index"
        where = f"{edit.path(path)} {blob[:10]}".strip()
        yield ValuePlace(kind=kind, where=where, hits=hits, via=via_of.get(blob, ""))
    known = {one.id for one in history.objects} | history.paths.keys()
    for found in objects.every():
        if found.id not in known and found.kind != "tree":
            yield ValuePlace(kind="unreachable", where=found.id[:10], hits=edit.holds(found.data))
    for name in work.store.repo.git.for_each_ref("--format=%(refname)").split():
        yield ValuePlace(kind="ref name", where=edit.path(name), hits=len(edit.spans(name)))
    for name, text in quarantine.logs(work.store.repo):
        yield ValuePlace(kind="reflog", where=edit.path(name), hits=edit.holds(text.encode()))


def _in_words(edit: Edit, one: HistoryObject) -> Iterator[ValuePlace]:
    kind = "commit message" if one.kind == "commit" else "tag"
    where = one.id[:10]
    yield ValuePlace(
        kind=kind,
        where=where,
        hits=edit.holds(one.message) + edit.excerpts(one.message),
        via=one.via,
    )
    who = [line for key in ("author", "committer", "tagger") for line in one.headers.get(key, ())]
    hits = sum(edit.who(line) != line for line in who)
    yield ValuePlace(kind="author", where=where, hits=hits, via=one.via)


def _in_files(work: Work, edit: Edit) -> Iterator[ValuePlace]:
    repo = work.store.repo
    for path in quarantine.git_files(repo):
        name = path.relative_to(repo.common_dir).as_posix()
        if name.startswith("logs/"):
            continue
        kind = "cache" if quarantine.is_derived(repo, path) else "git folder"
        if name == "config":
            kind = "git configuration"
        yield ValuePlace(
            kind=kind, where=f".git/{edit.path(name)}", hits=_in_file(edit, path, name)
        )
    root = work.store.root
    for path, is_folder in quarantine.work_files(root):
        name = path.relative_to(root).as_posix()
        hits = len(edit.spans(path.name)) if is_folder else _in_file(edit, path, name)
        yield ValuePlace(kind="work tree", where=edit.path(name), hits=hits)


def _in_file(edit: Edit, path: Path, name: str) -> int:
    named = len(edit.spans(name))
    if path.is_symlink():
        return named + edit.holds(str(path.readlink()).encode())
    return named + (edit.holds(path.read_bytes()) if path.is_file() else 0)


def _outside(work: Work, edit: Edit) -> Iterator[ValuePlace]:
    """Yield the places in the workspace that contain the value."""
    root = settings.workspace(work.store.repo)
    if root is None or not root.is_dir() or root.resolve() == work.store.root.resolve():
        return
    for path, is_folder in quarantine.work_files(root):
        if not is_folder:
            name = path.relative_to(root).as_posix()
            hits = _in_file(edit, path, name)
            yield ValuePlace(kind="workspace", where=edit.path(name), hits=hits)


def count(git: Git, edit: Edit, hits: Mapping[str, int] | None = None) -> Count:
    """Count all objects of a repository, and the hits in them unless `hits` is given."""
    objects = size = commits = 0
    found: Counter[str] = Counter(hits or {})
    for one in git.objects.every():
        objects += 1
        size += len(one.data)
        commits += one.kind == "commit"
        if hits is None:
            named = "\n".join(names(one)) if one.kind == "tree" else ""
            data = named.encode("utf-8", "surrogateescape") or one.data
            found[one.kind] += edit.holds(data)
    sums = {kind: number for kind, number in sorted(found.items()) if number}
    return Count(objects=objects, bytes=size, commits=commits, hits=sums)


# -- other clones ----------------------------------------------------------------------------

_MESSAGE = "Merge purge records\n"
_OURS = ("refs/heads/", "refs/tags/", "refs/notes/", "refs/memrepo/")
"""The refs that a clone may push. A host has other refs, such as those of pull requests."""


def fetch_unknown(work: Work) -> tuple[Problem, ...]:
    """Fetch the refs that only the hub contains, so that their history is purged too."""
    repo = work.store.repo
    try:
        hub = hub_of(repo, "", work.store.branch)
        there = hub.every_tip()
        known = {one.id for one in repo.objects.each(set(there.values())) if one is not None}
        missing = {ref for ref, id_ in there.items() if id_ not in known and ref != RECORDS}
        if missing:
            hub.fetch({ref: f"{OWN}{hub.name}/other/{ref[5:]}" for ref in sorted(missing)})
    except UnfitRemote:
        return ()
    except HubUnreachable as error:
        return (problem("purge-hub-unreached", work.store.branch, cause=error.message),)
    return ()


def repeat_recorded(work: Work, hub: Hub) -> tuple[Problem, ...]:
    """Repeat recorded purges in this clone before fetching anything else, and update the hub.

    Raises StoreError before anything is fetched or pushed.
    """
    store = work.store
    carry(store, hub, RECORDS, _MESSAGE, work.call.now, ref=RECORDS)
    purges.keep_values(store.repo)
    repeated = [
        _repeat(work, one)
        for one in purges.receipts(store.repo)
        if not purges.is_done(store.repo, one.id)
    ]
    if repeated:
        carry(store, hub, RECORDS, _MESSAGE, work.call.now, ref=RECORDS)
    return (*repeated, *_replaced(work, hub))


def _repeat(work: Work, receipt: PurgeReceipt) -> Problem:
    repo, now = work.store.repo, work.call.now
    key = _key(receipt)
    needles = recognised(work, _history(work), receipt.values, key)
    hits = 0
    if needles:
        with work.store.running(), work.store.writing():
            work.store.refuse_unfit()
            quarantine.refuse_unfit(repo)
            hits = sum(purge(work, replace(receipt, at=now), needles, key).hits.values())
    if not hits:
        purges.keep_map(repo, receipt.id, {})
        purges.record(work.store, purges.acknowledgement(repo, receipt, now, 0), now)
    where = counted(hits, "place", "places") if hits else "no place"
    return problem(
        "purge-repeated", RECORDS, purge=receipt.id, by=receipt.by, at=receipt.at, where=where
    )


def _replaced(work: Work, hub: Hub) -> tuple[Problem, ...]:
    """Replace the old history on the hub, ref by ref, and return notices. Skip changed refs."""
    repo = work.store.repo
    moved = replaced_commits(repo)
    changed, left = 0, list[str]()
    watched = purges.watching(work.store.folder)
    there = hub.every_tip() if moved else {}
    for ref, old in there.items():
        new = moved.get(old, old)
        name = watched.name(ref) if watched is not None else ref
        if (new, name) == (old, ref):
            continue
        if not ref.startswith(_OURS):
            left.append(ref)
            continue
        if name != ref:
            hub.replace(name, "", new)
            changed += hub.replace(ref, old, "")
        else:
            changed += hub.replace(ref, old, new)
    hub.forget(*repo.refs.below(f"{OWN}{hub.name}/other/"))
    problems = []
    if changed:
        refs = counted(changed, "ref", "refs")
        moved_refs = problem("purge-hub", hub.name, refs=refs, name=hub.name, collect=COLLECT)
        problems.append(moved_refs)
    if left:
        named = ", ".join(left[:5])
        problems.append(problem("purge-hub-keeps", hub.name, name=hub.name, refs=named))
    return tuple(problems)


def refuse_old(work: Work, hub: Hub, tip: str, fetched: str) -> None:
    """Raise if the fetched history, whose ref is `fetched`, contains a purged commit."""
    repo = work.store.repo
    moved: Mapping[str, str] = replaced_commits(repo)
    if not moved or not tip:
        return
    new = repo.git.rev_list(tip, "--not", "HEAD").split()
    old = [commit for commit in new if commit in moved]
    if old:
        hub.forget(fetched)
        repo.git.prune("--expire=now")
        commits = counted(len(old), "commit", "commits")
        raise StoreError("history-purged", hub=f"{hub.name}/{hub.branch}", commits=commits)
