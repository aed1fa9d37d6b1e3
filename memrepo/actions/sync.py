"""`memrepo sync`: merge this clone with the hub field by field, without ever force-pushing.

Git merges files that are not memrepo's. Memories are merged field by field, as the merge driver
does, and pages are rendered again. The hub's tip is the first parent, so that the first-parent line
is the same in every clone.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import hot_rules
from memrepo.actions.pending import unknown_person
from memrepo.actions.work import DryRun, OtherFormat, VerbResult, Work, option
from memrepo.config import FORMAT, parse_config
from memrepo.core.errors import Problem
from memrepo.core.ids import visible
from memrepo.core.messages import PREFIX, counted, message
from memrepo.core.state import State, Step, play
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import merge_text
from memrepo.store import history
from memrepo.store.errors import BranchMoved, StoreError, problem
from memrepo.store.git import purged_folder
from memrepo.store.objects import FILE, FILES, SYNC, Chain, NewCommit, TreeEntry
from memrepo.store.remote import (
    Hub,
    count,
    hub_of,
    merge_trees,
    pause,
)
from memrepo.store.tree import is_text
from memrepo.views.hot import hot_changes
from memrepo.views.pages import render_views

TRIES = 10
"""The maximum number of attempts if the hub or the branch moves during a sync."""
MAX_REPORTED = 20
"""The maximum number of syncs of other clones that are reported."""

MAX_NAMED = 5
"""The maximum number of files that are named if both sides changed them differently."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that both sides changed, and its current path, which is empty if it was removed."""

    id: str
    path: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo sync`."""

    remote: Annotated[
        str,
        option("name of the remote (default: the branch's upstream, or origin)", metavar="REMOTE"),
    ] = ""
    accept_rewritten: Annotated[
        bool, option("join a hub whose history was rewritten", "--accept-rewritten")
    ] = False
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The outcome of a sync."""

    remote: str = ""
    branch: str = ""
    commit: str = ""
    """The new commit of both sides, or an empty string if nothing was written."""
    pulled: int = 0
    pushed: int = 0
    merged: tuple[Merged, ...] = ()
    """The memories that both sides changed."""


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
    from memrepo.actions.purge import settle_purges

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
                if request.dry_run:
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
    """Return the result of a merge. Its commit is the one that both sides are to have."""
    head, repo = at.tree.commit, at.store.repo
    if not tip or at.store.is_ancestor(tip, head):
        sent = at.store.work.changed(tip, head) if tip else at.tree.files
        _refuse_broken(at.tree.state(), sent)
        return Result(commit=head, pushed=count(repo, head, tip))
    found = Result(
        commit=tip, pulled=count(repo, tip, head), notices=tuple(_reported(at, head, tip))
    )
    if at.store.is_ancestor(head, tip):
        return found
    merged, notices, chain = join(at, hub, tip, request.reason)
    found = replace(found, merged=merged, notices=(*found.notices, *notices))
    if request.dry_run:
        return replace(found, pushed=count(repo, head, tip) + 1)
    new = at.store.prepare(chain)
    return replace(found, commit=new, pushed=count(repo, new, tip))


def _reported(at: Work, head: str, tip: str) -> Iterator[Problem]:
    """Yield what the syncs of other clones decided, oldest first, from their commit messages."""
    words = ("log", "--reverse", "--merges", f"-{MAX_REPORTED}", f"--grep=^{PREFIX}Op: sync$")
    for row in at.store.repo.call(*words, "--format=%x00%h%n%b", f"{head}..{tip}").split("\0")[1:]:
        commit, *lines = row.split("\n")
        for line in lines:
            if line.startswith("- "):
                path = shlex.quote(line[2:].partition(": ")[0])
                yield problem("sync-elsewhere", commit, commit=commit, what=line[2:], file=path)


# -- the merge of two histories ------------------------------------------------------------------


def join(
    work: Work, hub: Hub, tip: str, reason: str = ""
) -> tuple[tuple[Merged, ...], tuple[Problem, ...], Chain]:
    """Merge this clone's HEAD onto the hub's tip.

    Return the memories that both changed, what a person should know, and the merge. Raises
    StoreError or OtherFormat.
    """
    store, head, layout = work.store, work.tree.commit, work.tree.layout
    bases = sorted(store.common_ancestors([head, tip]))
    if layout.config not in store.snapshot(tip).files:
        raise StoreError("no-config", name=hub.name, config=layout.config)
    states = [store.snapshot(c).state() for c in (bases[0], tip, head)]
    changed = frozenset(store.work.changed(bases[0], head))
    picks, texts, open_ = _merge_others(work, bases, hub, tip)
    result = merge_states(*states, changed=changed)
    open_ += [c.path for c in result.conflicts if c.path == layout.config]
    if open_:
        named = ", ".join(map(visible, open_[:MAX_NAMED]))
        more = f" and {len(open_) - MAX_NAMED} more" if len(open_) > MAX_NAMED else ""
        raise StoreError("files-differ", name=hub.name, branch=hub.branch, paths=named + more)
    config = parse_config(result.state.files[layout.config].decode("utf-8", "replace"))
    if config.read_only:
        raise OtherFormat(layout.config, config.format, FORMAT)
    pages = (
        *render_views(result.state, config.is_personal),
        *hot_changes(result.state, hot_rules(work)),
    )
    effects, after = play(result.state, (Step(op="sync", what="", changes=pages),))
    effect = {**texts, **result.effect, **effects[0]}
    _refuse_broken(after, effect)
    notices = tuple(_notices(result, states, head, tip))
    merged = tuple(
        Merged(id=id_, path=after.memories[id_].path if id_ in after.memories else "")
        for id_ in result.both
    )
    here, there = count(store.repo, head, tip), count(store.repo, tip, head)
    step = Step(
        op="sync",
        what=f"Merge {counted(here, 'commit', 'commits')} of this clone and {there} of the hub",
        reason=reason,
        memories=result.both,
    )
    lines = tuple(f"{one.path}: {one.message}" for one in notices)
    text = message(step, work.context(lines=lines))
    commit = NewCommit(message=text, effect=effect, picks=picks)
    when = store.not_before(store.not_before(work.call.now, tip), head)
    chain = Chain(base=head, first=tip, author=SYNC, when=when, commits=[commit])
    return merged, notices, chain


def _merge_others(
    work: Work, bases: Sequence[str], hub: Hub, tip: str
) -> tuple[dict[str, TreeEntry | None], dict[str, bytes | None], list[str]]:
    """Merge the files that are not memrepo's: entries to use, merged texts, and open paths."""
    layout, repo = work.tree.layout, work.store.repo
    tree = merge_trees(repo, bases, tip, work.tree.commit)

    def is_own(path: str, versions: Sequence[TreeEntry | None]) -> bool:
        regular = all(v is None or v.mode in FILES for v in versions)
        return regular and layout.owns(path) and is_text(path)

    picks = {path: pick for path, pick in tree.picks.items() if not is_own(path, (pick,))}
    texts: dict[str, bytes | None] = {}
    open_: list[str] = []
    for path, versions in tree.open.items():
        base, *sides = versions
        if base is None and None in sides:
            file = next((p for p in tree.open if path.startswith(f"{p}/")), path)
            raise StoreError(
                "file-and-folder", name=hub.name, branch=hub.branch, path=visible(file)
            )
        if is_own(path, versions):
            continue
        datas = [repo.read(v.id) for v in versions if v is not None and v.mode == FILE]
        text = _joined_text(*datas) if len(datas) == 3 else None
        if text is None:
            open_.append(path)
        else:
            texts[path] = text
    return picks, texts, open_


def _joined_text(base: bytes, first: bytes, second: bytes) -> bytes | None:
    """Merge a text by line, with its line ends. Return None if a person must decide."""
    if b"\0" in base + first + second:
        return None
    try:
        o, a, b = (data.decode("utf-8") for data in (base, first, second))
    except UnicodeDecodeError:
        return None
    joined = merge_text(o, a, b)
    # If both sides added lines at the same place, the order is undefined.
    is_clear = not joined.overlap and joined == merge_text(o, b, a)
    return joined.text.encode("utf-8") if is_clear else None


def _notices(
    result: MergeResult, states: Sequence[State], here: str, hub: str
) -> Iterator[Problem]:
    """Yield what a merge decided between two sides. `states` are those of the base and the sides.

    `here` and `hub` are the commits of this clone and of the hub.
    """
    base, *sides = states
    for conflict in result.conflicts:
        if conflict.kind == "removed-and-edited":
            yield problem("sync-gave-way", conflict.path, "removed")
    for path in result.lost:
        yield problem("sync-gave-way", path, name=path, here=here[:10], hub=hub[:10])
    for id_ in result.both:
        old = base.memories.get(id_)
        if old is None:
            continue
        new = [
            {*side.memories[id_].superseded_by} - {*old.superseded_by}
            for side in sides
            if id_ in side.memories
        ]
        if len(new) == 2 and all(new) and new[0] != new[1]:
            yield problem("sync-gave-way", old.path, "replaced")
    yield from result.problems
    known = result.state.memories
    before = {id_ for id_, memory in base.memories.items() if memory.status == "forgotten"}
    for id_ in sorted((before | {*result.both}) & known.keys()):
        former = {side.memories[id_].status for side in sides if id_ in side.memories}
        if known[id_].status == "forgotten" and former != {"forgotten"}:
            barred = tombstones_in(result.state).find_barring(known[id_]) is not None
            yield problem("sync-forgotten", known[id_].path, "rejected" if barred else "", id=id_)
        elif known[id_].status == "active" and "forgotten" in former and id_ not in before:
            yield problem("sync-forgotten", known[id_].path, "edited", id=id_)
