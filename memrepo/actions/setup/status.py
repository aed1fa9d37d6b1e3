"""`memrepo status`: where the repository stands, what waits, and what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions import result
from memrepo.actions.brought_back import uncommitted
from memrepo.actions.hand_merges import GitMerge, announced, unsettled, validated
from memrepo.actions.needs import Need, needs, tell
from memrepo.actions.pending import all_waiting, requests_waiting, wishes
from memrepo.actions.request import option
from memrepo.actions.review.disputes import disputes
from memrepo.actions.run.derived import hot_rules, stale_files
from memrepo.actions.run.ingest import Unmatched, passed_over, unmatched_of
from memrepo.actions.run.source_texts import texts_at
from memrepo.actions.run.timetable import Schedule, timetable
from memrepo.actions.setup.budgets import Budgets, budgets
from memrepo.actions.sync.hand_commits import broken_rules
from memrepo.actions.work import Work
from memrepo.assets import asset
from memrepo.core.errors import Exit
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.doubt import counted_as
from memrepo.purify.intake import Reader, cursors, take_in
from memrepo.purify.manifest import Recorded, Removal, read_manifests
from memrepo.store import hooks, settings, trust
from memrepo.store.answers import BATCHES, broken_runs
from memrepo.store.landings import newest
from memrepo.store.tree import read_blob
from memrepo.views.hot import hot_path


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `status`."""

    exit_code: Annotated[
        bool, option("answer 1 where something needs you, else 0", "--exit-code")
    ] = False
    notify: Annotated[
        bool,
        option("tell of what needs you by notify.command or notify.url, once", "--notify"),
    ] = False


class LastRun(msgspec.Struct, frozen=True, kw_only=True):
    """The newest run in effect, and the subject of its merge."""

    run: str
    when: str
    subject: str


class Result(result.Result, frozen=True, kw_only=True):
    """Where the repository stands, what waits, and what is wrong."""

    path: str
    branch: str
    commit: str
    profile: str
    timezone: str
    workspace: str
    memories: Mapping[str, int]
    """By status."""
    types: Mapping[str, int]
    """The active memories but notes, by type."""
    tiers: Mapping[str, int]
    """The active notes, by tier."""
    unread: tuple[str, ...]
    """Sources that are not taken in yet."""
    sources: int
    waiting: tuple[str, ...]
    """Branches of runs that wait for review."""
    asked: Mapping[str, str]
    """Those of them that are what an agent asked of a person's memory, in words."""
    held: tuple[Removal, ...]
    """What they would take away, as their manifests list it."""
    broken_off: tuple[str, ...]
    """Runs that left answers which are not asked for again."""
    batches: tuple[str, ...]
    """Questions to a judge that are being answered, for a later run to take."""
    uncommitted: tuple[str, ...]
    runs: int
    last_run: LastRun | None
    contradictions: int
    problems: tuple[Problem, ...]
    schedule: Schedule
    stale_views: tuple[str, ...]
    unmatched: Unmatched
    unsettled: tuple[GitMerge, ...]
    """Merges that git made without memrepo."""
    requests: tuple[Problem, ...]
    """What texts that were taken in asked of the memory."""
    budgets: Budgets
    hot_cache: str
    """Where the hot cache stands when somebody else's file has its place."""
    hot_place: str
    """Its place."""
    hooks: str
    """What keeps the hooks from running."""
    trust: str
    """Why the programs that the repository names are not trusted."""
    needs: tuple[Need, ...] = ()
    """What needs a person: what waits, failed, was missed, is contested, or costs nearly all."""
    notified: bool = False
    """Whether a person was told of that now."""


def do(work: Work, request: Request) -> Result:
    """Gather what a person wants to know first."""
    store, state, layout = work.store, work.tree.state(), work.tree.layout
    manifests, damaged = read_manifests(state.files, layout)
    open_cases, cases = disputes(state)
    waits, plan = all_waiting(work), unsettled(work)
    broken = (replace(p, severity="warning") for p in closure.closure(state))
    problems = (
        *state.problems,
        *uncommitted(work),
        *tombstones_in(state).problems,
        *damaged,
        *cases.problems,
        *announced(plan),
        *(p for p in broken if p.rule != "memory-same-id"),
        *broken_rules(work, state, validated(work)),
    )
    sources, unread = _sources(work, manifests)
    workspace = settings.workspace(store.repo)
    last = newest(work.landed())
    times, left = timetable(work, work.call.now), budgets(work, state, work.call.now)
    found = needs(waits, times, open_cases, left.spent)
    notified, untold = tell(work, found) if request.notify else (False, ())
    return Result(
        exit=Exit.NO if request.exit_code and found else Exit.DONE,
        needs=found,
        notified=notified,
        path=str(store.root),
        branch=store.branch_or_none.removeprefix("refs/heads/"),
        commit=work.tree.commit,
        profile=work.config.profile,
        timezone=work.config.zone.key,
        workspace=str(workspace) if workspace else "",
        memories=_counts(map(counted_as, state.memories.values())),
        types=_counts(m.type for m in state.active if not m.is_note),
        tiers=_counts(m.text("tier") or "hot" for m in state.active if m.is_note),
        unread=unread,
        sources=sources,
        waiting=tuple(w.branch for w in waits),
        asked=wishes(work, waits),
        held=tuple(removal for w in waits for removal in w.removals(work)),
        broken_off=tuple(b.run for b in broken_runs(store.folder)),
        batches=_batches(work),
        uncommitted=tuple(sorted(p for p in store.work.dirty() if layout.owns(p))),
        runs=len(manifests),
        last_run=LastRun(
            run=last.run, when=format_time(last.entry.when), subject=last.entry.subject
        )
        if last
        else None,
        contradictions=sum(c.status == "open" for c in open_cases),
        problems=problems,
        schedule=times.told(),
        stale_views=_stale_views(work, state),
        unmatched=unmatched_of(passed_over(work)),
        unsettled=tuple(one.told() for one in plan.found),
        requests=tuple(requests_waiting(work)),
        budgets=left,
        hot_cache=_moved_cache(work, state),
        hot_place=work.config.rules.hot.path,
        hooks=hooks.wrong(store.repo, asset("hooks", "shim")),
        trust=trust.untrusted(store.repo),
        notices=(*problems, *untold),
    )


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _sources(work: Work, manifests: Sequence[Recorded]) -> tuple[int, tuple[str, ...]]:
    """Return how many sources there are, and which of them hold what is not taken in yet."""
    cursor = cursors(manifests)
    texts = texts_at(work, cursor)
    reader = Reader(texts, lambda blob: read_blob(work.store.repo, blob))
    unread = {entry.resource for entry in take_in(texts, cursor, reader, whole=False).consumed}
    open_ = tuple(t.name for t in texts if t.resource in unread)
    return sum(bool(t.blob) for t in texts), open_


def _moved_cache(work: Work, state: State) -> str:
    """Return where the hot cache stands when somebody else's file has its place, else nothing."""
    path = hot_path(state, hot_rules(work))
    return "" if path == work.tree.layout.prefix + work.config.rules.hot.path else path


def _stale_views(work: Work, state: State) -> tuple[str, ...]:
    """Return the views that single writes left behind; none before a run has made the first."""
    area = work.tree.layout.area("views")
    if not any(path.startswith(area) for path in work.tree.blobs):
        return ()
    stale = stale_files(work, state)
    work.tree.keep()
    return stale


def _batches(work: Work) -> tuple[str, ...]:
    if not (work.store.folder / BATCHES).exists():
        return ()
    from memrepo.store.batches import under_way

    return under_way(work.store.folder)
