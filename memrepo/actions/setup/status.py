"""`memrepo status` and `memrepo sources`: the state of a repository, and its source files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import derived_contents, hot_rules
from memrepo.actions.pending import (
    Budgets,
    all_waiting,
    broken_branches,
    budgets,
    marked_memories,
    needs,
    requests_waiting,
    uncommitted_rejected,
    unhooked_problems,
    unknown_person,
)
from memrepo.actions.request import VerbResult, option
from memrepo.actions.run.ingest import Unmatched, find_unmatched, texts_at
from memrepo.actions.run.record import timetable
from memrepo.actions.work import Work, driver_notices, purge_notices
from memrepo.assets import asset
from memrepo.core.corrections import corrections_of
from memrepo.core.errors import Exit
from memrepo.core.layout import hot_path
from memrepo.core.manifest import Manifest
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.cadence import Timetable
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import conflicts, counted_as
from memrepo.read.choice import shelf_size
from memrepo.read.intake import Reader, cursors, take_in
from memrepo.read.sources import is_text
from memrepo.store import settings
from memrepo.store.errors import problem
from memrepo.store.history import newest_in_effect
from memrepo.store.run_files import SavedAnswers


class StatusRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo status`."""

    exit_code: Annotated[
        bool, option("exit with status 1 if something needs you, else 0", "--exit-code")
    ] = False


class LastRun(msgspec.Struct, frozen=True, kw_only=True):
    """The newest run in effect, and the subject of its merge commit."""

    run: str
    when: str
    subject: str


class Result(VerbResult, frozen=True, kw_only=True):
    """The state of the repository, pending runs, and problems."""

    path: str
    branch: str
    commit: str
    profile: str
    timezone: str
    workspace: str
    memories: Mapping[str, int]
    """The number of memories by status."""
    types: Mapping[str, int]
    """The number of active memories except notes, by type."""
    tiers: Mapping[str, int]
    """The number of active notes, by tier."""
    unread: tuple[str, ...]
    """Sources with text that no run has read yet."""
    sources: int
    waiting: tuple[str, ...]
    """Branches of pending runs."""
    marked: tuple[str, ...]
    """The memories that runs marked for removal."""
    answers: int
    """Paid answers of a run that was not completed. The next run uses them."""
    """Interrupted runs whose answers are stored and will be reused."""
    uncommitted: tuple[str, ...]
    runs: int
    last_run: LastRun | None
    contradictions: int
    problems: tuple[Problem, ...]
    schedule: Timetable
    stale_views: tuple[str, ...]
    unmatched: Unmatched
    requests: tuple[Problem, ...]
    """Requests to the memory found in sources."""
    budgets: Budgets
    hot_cache: str
    """The path of the hot cache, if another file occupies its configured path."""
    hot_place: str
    """The configured path of the hot cache."""
    hooks: str
    """The reason that the hooks do not run, or an empty string."""
    needs: tuple[str, ...] = ()
    """What needs a person: waiting runs, marked memories, failed or missed runs, contradictions,
    nearly spent budgets."""


_OPEN_MARK = regex(rb"(?m)^<{7,} ")


def _open_merge(work: Work, dirty: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a warning for each memory that a merge by git left with a conflict.

    A file has no conflict marks if one side deleted it, or if git has no merge driver.
    """
    for path, state in sorted(dirty.items()):
        if work.tree.layout.owns(path) and ("U" in state or state in ("AA", "DD")):
            has_marks = _OPEN_MARK.search(work.store.work.read(path) or b"") is not None
            yield problem("merge-open", path, "" if has_marks else "unmarked")


def status(work: Work, request: StatusRequest) -> Result:
    """Collect the state of the repository."""
    store, layout, state = work.store, work.tree.layout, work.tree.state()
    manifests, damaged = work.tree.manifests
    waits, dirty = all_waiting(work), store.work.dirty()
    sources, unread = _sources(work, manifests)
    workspace = settings.workspace(store.repo)
    last = newest_in_effect(work.landed())
    hot = sum(hot_of(m) is not None for m in state.active)
    times, left = timetable(work, work.call.now), budgets(work, hot, work.call.now)
    marked = tuple(memory.id for memory in marked_memories(state))
    undecided = sum(case.status == "open" for case in conflicts(state, corrections_of(state)))
    wanted = needs(waits, times, undecided, left.spent, len(marked))
    problems, stale = _problems(work, state, damaged, dirty), _stale_views(work)
    work.tree.cache_memories()
    return Result(
        exit=Exit.NO if request.exit_code and wanted else Exit.DONE,
        needs=wanted,
        path=str(store.root),
        branch=store.branch_or_none.removeprefix("refs/heads/"),
        commit=work.tree.commit,
        profile=work.config.profile,
        timezone=work.config.zone.key,
        workspace=str(workspace) if workspace else "",
        memories=_counts(map(counted_as, state.every)),
        types=_counts(m.type for m in state.active if not m.is_note),
        tiers=_counts(m.tier for m in state.active if m.is_note),
        unread=unread,
        sources=sources,
        waiting=tuple(w.branch for w in waits),
        marked=marked,
        answers=len(SavedAnswers(store.folder)),
        uncommitted=tuple(sorted(p for p in dirty if layout.owns(p))),
        runs=len(manifests),
        last_run=LastRun(
            run=last.run, when=format_time(last.entry.when), subject=last.entry.subject
        )
        if last
        else None,
        contradictions=undecided,
        problems=problems,
        schedule=times,
        stale_views=stale,
        unmatched=find_unmatched(work),
        requests=tuple(requests_waiting(work)),
        budgets=left,
        hot_cache=_moved_cache(work),
        hot_place=work.config.rules.hot.path,
        hooks=settings.wrong_hooks(store.repo, asset("hooks", "shim")),
        notices=problems,
    )


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _problems(
    work: Work, state: State, damaged: Sequence[Problem], dirty: Mapping[str, str]
) -> tuple[Problem, ...]:
    broken = (p for p in closure.closure(state) if p.rule != "memory-same-id")
    return (
        *state.problems,
        *uncommitted_rejected(work),
        *tombstones_in(state).problems,
        *damaged,
        *corrections_of(state).problems,
        *(replace(p, severity="warning") for p in broken),
        *unhooked_problems(work),
        *_open_merge(work, dirty),
        *driver_notices(work),
        *unknown_person(work),
        *purge_notices(work),
        *broken_branches(work),
    )


def _sources(work: Work, manifests: Sequence[Manifest]) -> tuple[int, tuple[str, ...]]:
    """Return the number of sources, and the names of those with text that no run has read."""
    cursor = cursors(manifests)
    texts = texts_at(work, cursor)
    reader = Reader(texts, work.store.repo.read)
    unread = {entry.resource for entry in take_in(texts, cursor, reader, whole=False).consumed}
    open_ = tuple(t.name for t in texts if t.resource in unread)
    return sum(bool(t.blob) for t in texts), open_


def _moved_cache(work: Work) -> str:
    """Return the hot cache's path if another file occupies the configured path, otherwise ""."""
    rules, layout, files = hot_rules(work), work.tree.layout, work.tree.files
    place = layout.prefix + rules.path
    blob = files.regular(place)
    there = {place: files.of(place, blob)} if blob else {}
    path = hot_path(there, layout, rules.path)
    return "" if path == work.tree.layout.prefix + work.config.rules.hot.path else path


def _stale_views(work: Work) -> tuple[str, ...]:
    """Return the views that individual writes left stale; none before the first run."""
    if not work.tree.files.below(work.tree.layout.area("views")):
        return ()
    return tuple(sorted(derived_contents(work, work.tree.state())))


class SourcesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`memrepo sources` has no arguments."""


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A source with its kind, the reason for the kind, and its numbers of thoughts and memories."""

    path: str
    kind: str
    reason: str
    thoughts: int
    claims: int
    share: float
    """The share of its thoughts that may become memories, 0 to 1."""


class SourceList(VerbResult, frozen=True, kw_only=True):
    """The sources in path order, and the limit on the total number of memories."""

    files: tuple[SourceFile, ...]
    thoughts: int
    claims: int
    shelf: int | None
    """The maximum number of memories from all sources, or None if there is no limit."""
    searched: tuple[str, ...]
    """Other sources, in which search finds passages and from which runs distil nothing."""


def sources(work: Work, request: SourcesRequest) -> SourceList:
    """List the sources with their kinds, thoughts and memories."""
    del request
    texts = [t for t in texts_at(work, cursors(work.tree.manifests[0])) if t.blob]
    reader = Reader(texts, work.store.repo.read)
    claims: Counter[str] = Counter()
    for memory in of_types(work.tree.state().active, CLAIM_TYPES):
        claims.update({source.resource for source in memory.sources})
    files = []
    for text in texts:
        found = reader.file_kind(text)
        files.append(
            SourceFile(
                path=text.name,
                kind=found.kind.name,
                reason=found.reason,
                thoughts=len(reader.claims(text.name, text.blob).units),
                claims=claims[text.resource],
                share=found.kind.share,
            )
        )
    size = shelf_size(len(files), work.config.run.shelf)
    layout, read = work.tree.layout, {text.resource for text in texts}
    others = {*work.tree.files.below(layout.area("sources"))} - read
    return SourceList(
        files=tuple(files),
        thoughts=sum(f.thoughts for f in files),
        claims=sum(f.claims for f in files),
        shelf=None if size == float("inf") else round(size),
        searched=tuple(sorted(layout.source_name(p) for p in others if is_text(p))),
    )
