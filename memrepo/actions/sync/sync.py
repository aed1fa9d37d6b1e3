"""`memrepo sync`: merge this clone with the hub field by field, without ever force-pushing.

Git merges files that are not memrepo's. Memories are merged field by field, as the merge driver
does, and pages are rendered again. The hub's tip is the first parent, so that the first-parent line
is the same in every clone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import hot_rules
from memrepo.actions.pending import unknown_person
from memrepo.actions.work import DryRun, OtherFormat, VerbResult, Work, option, side_of
from memrepo.config import FORMAT, parse_config
from memrepo.core.errors import Exit, Problem
from memrepo.core.ids import visible
from memrepo.core.messages import PREFIX, counted, message
from memrepo.core.state import State, Step, play
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import MergeConflict, Side
from memrepo.store import history
from memrepo.store.errors import (
    BranchMoved,
    StoreError,
    problem,
)
from memrepo.store.git import purged_folder
from memrepo.store.objects import FILES, SYNC, Chain, NewCommit, TreeEntry
from memrepo.store.remote import (
    Hub,
    count,
    hub_of,
    merge_texts,
    merge_trees,
    pause,
)
from memrepo.store.tree import is_text
from memrepo.views.hot import hot_changes
from memrepo.views.pages import render_views

TRIES = 10
"""The maximum number of attempts if the hub or the branch moves during a sync."""
MAX_TOLD = 20
"""The maximum number of syncs of other clones whose clashes are shown."""
CLASHING = (
    "--ours uses this clone's version of these, --theirs the hub's; "
    "`git show COMMIT` shows each side"
)


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that both sides changed, and its current path, which is empty if it was removed."""

    id: str
    path: str


class MergeClash(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict that a person must decide: one side removed or rewrote what the other changed.

    `ours` and `theirs` are the last commits of each side that changed it.
    """

    kind: str
    memory: str
    path: str
    ours: str
    theirs: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo sync`."""

    remote: Annotated[
        str,
        option("name of the remote (default: the branch's upstream, or origin)", metavar="REMOTE"),
    ] = ""
    ours: Annotated[
        bool, option("in a conflict, keep what this clone has", "--ours", group="side")
    ] = False
    theirs: Annotated[
        bool, option("in a conflict, take what the hub has", "--theirs", group="side")
    ] = False
    accept_rewritten: Annotated[
        bool, option("join a hub whose history was rewritten", "--accept-rewritten")
    ] = False
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The outcome of a sync. If there are conflicts, nothing was written or pushed."""

    remote: str = ""
    branch: str = ""
    commit: str = ""
    """The new commit of both sides, or an empty string if nothing was written."""
    pulled: int = 0
    pushed: int = 0
    merged: tuple[Merged, ...] = ()
    """The memories that both sides changed."""
    conflicts: tuple[MergeClash, ...] = ()
    fix: str = ""
    """How to resolve the clashes."""


def do(work: Work, request: Request) -> Result:
    """Fetch, merge, push and land, with retries."""
    work.require_writable()
    work.store.refuse_unfit()
    hub = hub_of(work.store.repo, request.remote, work.store.branch)
    with work.store.syncing():
        purged: tuple[Problem, ...] = ()
        if not request.dry_run:
            work.store.recover()
            purged = _settle_purges(work, hub)
        found = replace(_converge(work, hub, request), remote=hub.name, branch=hub.branch)
        if found.conflicts:
            return replace(found, fix=CLASHING, exit=Exit.DECIDE)
        unreadable: tuple[Problem, ...] = ()
        if found.pulled and not request.dry_run:
            unreadable = work.refreshed().tree.state().problems
            work.store.maintain()
    notices = (
        *purged,
        *dict.fromkeys((*found.notices, *unreadable)),
        *unknown_person(work.refreshed()),
        *work.store.notices,
    )
    return replace(found, notices=notices)


def _settle_purges(work: Work, hub: Hub) -> tuple[Problem, ...]:
    if not purged_folder(work.store.repo).is_dir():
        return ()
    from memrepo.actions.sync.purge import settle_purges

    return settle_purges(work, hub)


def _converge(first: Work, hub: Hub, request: Request) -> Result:
    """Bring both sides to the same commit. Retry if the hub or the branch moves."""
    sent = 0
    for turn in range(1, TRIES + 1):
        # After half of the attempts, lock out other writers here for one fetch and push.
        patient = first.store.writing() if turn > TRIES // 2 else nullcontext()
        tip = _fetch_tip(hub, first, request)
        try:
            with patient:
                at = first.refreshed()
                found, head = _merge(at, hub, tip, request), at.tree.commit
                if request.dry_run or not found.commit:
                    return found
                if found.commit == tip or hub.push(found.commit, hub.head):
                    hub.remember(found.commit)
                    sent += found.pushed
                    if found.commit != head:
                        first.store.advance(head, found.commit, f"sync-{hub.name}")
                    return replace(found, pushed=sent)
        except BranchMoved:
            # If the hub already has this merge, the next attempt adds the new local commits.
            continue
        pause(first.store.head(), turn)
    raise StoreError("hub-busy", name=hub.name, tries=TRIES)


def _refuse_broken(state: State, sent: Collection[str]) -> None:
    """Raise StoreError if a memory file that would be sent to the hub cannot be read."""
    broken = [p for p in state.problems if p.severity == "error" and p.path in sent]
    if broken:
        one, rest = broken[0], counted(len(broken) - 1, "other problem", "other problems")
        raise StoreError(
            "push-broken",
            path=visible(one.path),
            line=one.line or 1,
            what=one.message,
            more=f" (and {rest}, see `memrepo check`)" if len(broken) > 1 else "",
            fix=one.fix,
        )


def _fetch_tip(hub: Hub, at: Work, request: Request) -> str:
    """Return the hub's tip, or "" if the branch is missing. Raise if its history was rewritten."""
    own = hub.own("trial" if request.dry_run else "incoming")
    tip = hub.fetch({hub.head: own}).get(hub.head, "")
    if request.dry_run:
        hub.forget(own)
    if tip and (old := history.purged_elsewhere(hub.repo, tip)):
        hub.forget(own)
        raise StoreError("purged-elsewhere", commit=old[:10])
    if tip and not at.store.common_ancestors([at.tree.commit, tip]):
        hub.forget(own)
        raise StoreError("history-unrelated", hub=hub.name, branch=hub.branch, tip=tip)
    known = hub.seen()
    if known and not request.accept_rewritten and not (tip and at.store.is_ancestor(known, tip)):
        lost = counted(count(hub.repo, known, tip), "commit", "commits")
        name = f"{hub.name}/{hub.branch}"
        raise StoreError("history-lost", hub=name, commit=known[:10], lost=lost)
    if tip and not request.dry_run:
        hub.remember(tip)
    return tip


def _merge(at: Work, hub: Hub, tip: str, request: Request) -> Result:
    """Return the result of a merge. Its commit is empty if a person must decide first."""
    head, repo = at.tree.commit, at.store.repo
    if not tip or at.store.is_ancestor(tip, head):
        sent = at.store.work.changed(tip, head) if tip else at.tree.files
        _refuse_broken(at.tree.state(), sent)
        return Result(commit=head, pushed=count(repo, head, tip))
    pulled = count(repo, tip, head)
    clashes = tuple(_clashes_elsewhere(at, head, tip))
    if at.store.is_ancestor(head, tip):
        return Result(commit=tip, pulled=pulled, notices=clashes)
    taken = side_of(ours=request.ours, theirs=request.theirs)
    found, chain = join(at, tip, hub.name, taken=taken, reason=request.reason)
    if chain is None:
        return found
    found = replace(found, notices=(*clashes, *found.notices))
    if request.dry_run:
        return replace(found, pulled=pulled, pushed=count(repo, head, tip) + 1)
    new = at.store.prepare(chain)
    return replace(found, commit=new, pulled=pulled, pushed=count(repo, new, tip))


# -- the merge of two histories ------------------------------------------------------------------


def join(
    work: Work, hub: str, name: str, *, taken: Side = "", reason: str = ""
) -> tuple[Result, Chain | None]:
    """Merge this clone's HEAD onto the hub's tip. The side `taken` wins all conflicts.

    Return no chain if a person must decide. Raises StoreError or OtherFormat.
    """
    store, head = work.store, work.tree.commit
    bases = sorted(store.common_ancestors([head, hub]))
    if work.tree.layout.config not in store.snapshot(hub).files:
        raise StoreError("no-config", name=name, config=work.tree.layout.config)
    base, first, second = states = [store.snapshot(c).state() for c in (bases[0], hub, head)]
    changed = frozenset(store.work.changed(bases[0], head))
    picks, texts, open_ = _merge_others(work, bases, hub, taken)
    result = merge_states(base, first, second, changed=changed)
    decide = [c for c in result.conflicts if _is_for_a_person(work, states, bases, hub, c)]
    if (open_ or decide) and not taken:
        found = (MergeConflict(kind="both-changed", path=path) for path in open_)
        clashes = (_clash(work, states, bases, hub, c) for c in (*decide, *found))
        return Result(conflicts=tuple(clashes)), None
    if decide:
        side: Side = "theirs" if taken == "ours" else "ours"  # the hub is first
        result = merge_states(
            base, first, second, changed=changed, settle=lambda c: side if c in decide else ""
        )
    config = parse_config(result.state.files[first.layout.config].decode("utf-8", "replace"))
    if config.read_only:
        raise OtherFormat(first.layout.config, config.format, FORMAT)
    pages = (
        *render_views(result.state, config.is_personal),
        *hot_changes(result.state, hot_rules(work)),
    )
    step = Step(op="sync", what="", changes=pages)
    effects, after = play(result.state, (step,))
    effect = {**texts, **result.effect, **effects[0]}
    _refuse_broken(after, effect)
    notices = tuple(_notices(result, states, head, hub))
    merged = tuple(
        Merged(id=id_, path=after.memories[id_].path if id_ in after.memories else "")
        for id_ in result.both
    )
    commit = NewCommit(message="", effect=effect, picks=picks)
    chain = _chain(work, hub, result, commit, reason)
    return Result(merged=merged, notices=notices), chain


def _merge_others(
    work: Work, bases: Sequence[str], hub: str, taken: Side
) -> tuple[dict[str, TreeEntry | None], dict[str, bytes | None], list[str]]:
    """Merge the files that are not memrepo's: entries to use, merged texts, and open paths."""
    layout, repo = work.tree.layout, work.store.repo
    tree = merge_trees(repo, bases, hub, work.tree.commit)

    def is_own(path: str, versions: Sequence[TreeEntry | None]) -> bool:
        regular = all(v is None or v.mode in FILES for v in versions)
        return regular and layout.owns(path) and is_text(path)

    picks = {path: pick for path, pick in tree.picks.items() if not is_own(path, (pick,))}
    texts: dict[str, bytes | None] = {}
    open_: list[str] = []
    for path, versions in tree.open.items():
        base, first, second = versions
        if base is None and (first is None or second is None):
            raise StoreError("file-and-folder", path=visible(path))
        if is_own(path, versions):
            continue
        if (text := merge_texts(repo, base, first, second)) is not None:
            texts[path] = text
        elif taken == "ours":
            picks[path] = second
        elif not taken:
            open_.append(path)
    return picks, texts, open_


def _is_for_a_person(
    work: Work, states: Sequence[State], bases: Sequence[str], hub: str, conflict: MergeConflict
) -> bool:
    """Return whether a person must decide a conflict, rather than the safe result being used."""
    if conflict.kind != "removed-and-edited":
        return conflict.kind == "manifest-differs" or conflict.path == work.tree.layout.config
    tip = hub if conflict.id not in states[1].memories else work.tree.commit
    paths = [s.memories[conflict.id].path for s in states if conflict.id in s.memories]
    last = history.last_change(work.store.repo, tip, bases, paths)
    return last is not None and last.is_by_person


def _clash(
    work: Work, states: Sequence[State], bases: Sequence[str], hub: str, conflict: MergeConflict
) -> MergeClash:
    """Describe a conflict for a person, with the last commit of each side."""
    paths = [s.memories[conflict.id].path for s in states if conflict.id in s.memories]
    sides = (hub, work.tree.commit)
    last = [
        history.last_change(work.store.repo, tip, bases, (conflict.path, *paths)) for tip in sides
    ]
    there, here = (one.commit if one else tip for one, tip in zip(last, sides, strict=True))
    return MergeClash(
        kind=conflict.kind, memory=conflict.id, path=conflict.path, ours=here, theirs=there
    )


def _clashes_elsewhere(at: Work, head: str, tip: str) -> Iterator[Problem]:
    """Yield the notices of syncs that joined this clone's work elsewhere, oldest first.

    Only the clone that joined both sides showed them.
    """
    pairs = ("--merges", "--max-parents=2", f"-{MAX_TOLD}", f"{head}..{tip}")
    found = history.entries(at.store.repo, f"--grep=^{PREFIX}Op: sync$", *pairs)
    for commit, (here, there) in reversed([(entry.commit, entry.parents) for entry in found]):
        bases = sorted(at.store.common_ancestors([here, there]))[:1]
        if not bases:
            continue  # a shallow clone
        states = [at.store.snapshot(commit).state() for commit in (*bases, here, there)]
        changed = frozenset(at.store.work.changed(bases[0], there))
        result, actual = merge_states(*states, changed=changed), at.store.snapshot(commit).state()
        # Where the commit differs, a person chose a side.
        lost = {
            path: advantage
            for path, advantage in result.lost.items()
            if actual.files.get(path) == result.state.files.get(path)
        }
        sides = "one clone's", "the other's"
        yield from _notices(replace(result, lost=lost, state=actual), states, here, there, sides)


def _notices(
    result: MergeResult,
    states: Sequence[State],
    here: str,
    hub: str,
    sides: tuple[str, str] = ("this clone's", "the hub's"),
) -> Iterator[Problem]:
    """Yield what a merge decided between two sides. `states` are those of the base and the sides.

    `here` and `hub` are the commits of this clone and of the hub, which messages call by `sides`.
    """
    for path, advantage in result.lost.items():
        one, other = sides
        yield problem(
            "sync-gave-way", path, advantage,
            name=path, here=here[:10], hub=hub[:10], one=one, other=other,
        )  # fmt: skip
    for id_ in result.both:
        known = [state.memories.get(id_) for state in states]
        old, *new = ({*memory.superseded_by} if memory else set() for memory in known)
        if all(one - old for one in new) and new[0] != new[1] and known[0] is not None:
            yield problem("sync-gave-way", known[0].path, "replaced")
    yield from result.problems
    yield from _forgotten(result, *states)


def _forgotten(result: MergeResult, base: State, *sides: State) -> Iterator[Problem]:
    """Yield a notice for each forgotten memory that only one of the sides forgot or restored."""
    known = result.state.memories
    before = {id_ for id_, memory in base.memories.items() if memory.status == "forgotten"}
    for id_ in sorted((before | {*result.both}) & known.keys()):
        former = {side.memories[id_].status for side in sides if id_ in side.memories}
        if known[id_].status == "forgotten" and former != {"forgotten"}:
            barred = tombstones_in(result.state).find_barring(known[id_]) is not None
            yield problem("sync-forgotten", known[id_].path, "rejected" if barred else "", id=id_)


def _chain(work: Work, hub: str, result: MergeResult, commit: NewCommit, reason: str) -> Chain:
    store, head = work.store, work.tree.commit
    here, there = count(store.repo, head, hub), count(store.repo, hub, head)
    step = Step(
        op="sync",
        what=f"Merge {counted(here, 'commit', 'commits')} of this clone and {there} of the hub",
        reason=reason,
        memories=result.both,
    )
    commit = replace(commit, message=message(step, work.context()))
    when = store.not_before(store.not_before(work.call.now, hub), head)
    return Chain(base=head, first=hub, author=SYNC, when=when, commits=[commit])
