"""`memrepo status`, `sources` and `config`: a repository's state, source files and configuration.

A key is set in `memrepo.toml` itself, or with `git config` if it must not be in a repository.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import hot_rules
from memrepo.actions.pending import (
    Budgets,
    all_waiting,
    broken_branches,
    budgets,
    marked_memories,
    needs,
    requests_waiting,
    uncommitted_problems,
    unknown_person,
)
from memrepo.actions.run.ingest import Unmatched, find_unmatched, texts_at
from memrepo.actions.run.record import timetable, unhooked_problems
from memrepo.actions.work import (
    VerbResult,
    Work,
    config_data,
    driver_notices,
    option,
    outside,
    purge_notices,
)
from memrepo.config import (
    DEFAULTS,
    KEYS,
    OUTSIDE,
    git_name,
    line_of,
    nearest_key,
)
from memrepo.core.errors import Exit, Problem, UsageError, problem
from memrepo.core.layout import asset, hot_path
from memrepo.core.manifest import Manifest
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.core.patterns import regex
from memrepo.core.times import format_time
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.upkeep import Timetable
from memrepo.store import settings
from memrepo.store.history import newest_in_effect
from memrepo.store.run_files import SavedAnswers, asked

if TYPE_CHECKING:
    from memrepo.read.intake import Reader


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


class Survey(VerbResult, frozen=True, kw_only=True):
    """What the state of a repository says of its last commit's memories and sources."""

    unlisted = ("hot",)

    memories: Mapping[str, int]
    """The number of memories by status."""
    types: Mapping[str, int]
    """The number of active memories except notes, by type."""
    tiers: Mapping[str, int]
    """The number of active notes, by tier."""
    hot: int | msgspec.UnsetType
    """The number of memories in the hot cache."""
    apart: int
    """How many of these are of one of several projects: only its sessions show them."""
    marked: tuple[str, ...]
    """The memories that runs marked for removal."""
    contradictions: int
    problems: tuple[Problem, ...]
    requests: tuple[Problem, ...]
    """Requests to the memory found in sources."""
    sources: int
    unread: tuple[str, ...]
    """Sources with text that no run has read yet."""


class Result(Survey, frozen=True, kw_only=True):
    """The state of the repository, pending runs, and problems."""

    path: str
    branch: str
    commit: str
    profile: str
    timezone: str
    workspace: str
    waiting: tuple[str, ...]
    """Branches of pending runs."""
    answers: int
    """Paid answers of a run that was not completed. The next run uses them."""
    uncommitted: tuple[str, ...]
    runs: int
    last_run: LastRun | None
    schedule: Timetable
    unmatched: Unmatched
    budgets: Budgets
    hot_cache: str
    """The path of the hot cache, if another file occupies its configured path."""
    hot_place: str
    """The configured path of the hot cache."""
    hooks: str
    """The reason that the hooks do not run, or an empty string."""
    asked: tuple[str, ...] = ()
    """What agents asked of memories of a person, who has not decided since."""
    needs: tuple[str, ...] = ()
    """What needs a person: waiting runs, marked memories, failed or missed runs, contradictions,
    nearly spent budgets, and what agents asked."""


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
    store, layout = work.store, work.tree.layout
    found = work.answer("status", Survey, lambda: _survey(work))
    manifests, damaged = work.tree.manifests
    waits, dirty = all_waiting(work), store.work.dirty()
    workspace = settings.workspace(store.repo)
    last = newest_in_effect(work.landed())
    times, left = timetable(work, work.call.now), budgets(work, found.hot or 0, work.call.now)
    corrections = tuple(
        f"{memory.id}: {text} (`memrepo supersede` or `forget`, or `confirm` to keep it)"
        for memory, text in asked(store.folder, lambda: work.tree.state().memories)
    )
    wanted = (*needs(waits, times, found.contradictions, left, len(found.marked)), *corrections)
    problems = (*found.problems, *damaged, *_problems(work, dirty))
    exit_ = Exit.NO if request.exit_code and wanted else Exit.DONE
    surveyed = {name: getattr(found, name) for name in Survey.__struct_fields__}
    return Result(
        **{**surveyed, "problems": problems, "notices": problems, "exit": exit_},
        needs=wanted,
        asked=corrections,
        path=str(store.root),
        branch=store.branch_or_none.removeprefix("refs/heads/"),
        commit=work.tree.commit,
        profile=work.config.profile,
        timezone=work.config.zone.key,
        workspace=str(workspace) if workspace else "",
        waiting=tuple(w.branch for w in waits),
        answers=len(SavedAnswers(store.folder)),
        uncommitted=tuple(sorted(p for p in dirty if layout.owns(p))),
        runs=len(manifests),
        last_run=LastRun(run=last.run, when=format_time(last.when), subject=last.subject)
        if last
        else None,
        schedule=times,
        unmatched=find_unmatched(work),
        budgets=left,
        hot_cache=_moved_cache(work),
        hot_place=work.config.rules.hot.path,
        hooks=settings.wrong_hooks(store.repo, asset("hooks", "shim")),
    )


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _survey(work: Work) -> Survey:
    # An answer is stored, so that most calls do without these.
    from memrepo.actions.run.known import kept_unstated
    from memrepo.merge import states
    from memrepo.policies.hotcache import hot_of
    from memrepo.policies.latest import latest
    from memrepo.policies.standing import counted_as, open_contradictions
    from memrepo.views.hot import of_projects

    state = work.tree.state()
    broken = (p for p in states.closure(state) if p.rule != "memory-same-id")
    sources, unread, reader = _sources(work, work.tree.manifests[0])
    hot = [memory for memory in state.active if hot_of(memory) is not None]
    rules = hot_rules(work)
    logs = [memory for memory in state.active if memory.is_note and rules.composed]
    read = [memory for memory in state.active if unread.isdisjoint(memory.files)]
    found = Survey(
        memories=_counts(map(counted_as, state.every)),
        types=_counts(m.type for m in state.active if not m.is_note),
        tiers=_counts(m.tier for m in state.active if m.is_note),
        hot=len(hot) + len(latest(state, logs, hot, rules.budget - len(hot))),
        apart=len(of_projects(hot)),
        marked=tuple(memory.id for memory in marked_memories(state)),
        contradictions=len(open_contradictions(state)),
        problems=(
            *state.problems,
            *tombstones_in(state).problems,
            *(replace(p, severity="warning") for p in broken),
            *kept_unstated(read, tombstones_in(state).changes, reader),
        ),
        requests=tuple(requests_waiting(work)),
        sources=sources,
        unread=tuple(map(work.tree.layout.source_name, sorted(unread))),
    )
    work.tree.cache_memories()
    return found


def _problems(work: Work, dirty: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of this clone, beyond those of the commit's files."""
    yield from uncommitted_problems(work, dirty)
    yield from unhooked_problems(work)
    yield from _open_merge(work, dirty)
    yield from driver_notices(work)
    yield from unknown_person(work)
    yield from purge_notices(work)
    yield from broken_branches(work)


def _sources(work: Work, manifests: Sequence[Manifest]) -> tuple[int, set[str], Reader]:
    """Return the number of sources, the paths of those with unread text, and their reader."""
    from memrepo.read.intake import Reader, cursors, take_in

    cursor = cursors(manifests)
    texts = texts_at(work, cursor)
    reader = Reader(texts, work.store.repo.read)
    unread = {entry.resource for entry in take_in(texts, cursor, reader, whole=False).consumed}
    return sum(bool(t.blob) for t in texts), unread, reader


def _moved_cache(work: Work) -> str:
    """Return the hot cache's path if another file occupies the configured path, otherwise ""."""
    rules, layout, files = hot_rules(work), work.tree.layout, work.tree.files
    place = layout.prefix + rules.path
    blob = files.regular(place)
    there = {place: files.of(place, blob)} if blob else {}
    path = hot_path(there, layout, rules.path)
    return "" if path == work.tree.layout.prefix + work.config.rules.hot.path else path


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
    from memrepo.read.choice import shelf_size
    from memrepo.read.intake import Reader, cursors
    from memrepo.read.sources import is_text

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


class ConfigRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo config`."""

    key: Annotated[str, option("explain one key, such as run.max_usd", metavar="KEY")] = ""


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A key, its value and default as JSON, where the value is from, and what it may be."""

    key: str
    value: Any
    from_: str = msgspec.field(name="from")
    doc: str
    expected: str = "a text"
    default: Any = None
    set_in: str
    """Where the key is set: a line for a file, or a command."""


class Configured(VerbResult, frozen=True, kw_only=True):
    """Configuration keys, and the settings stored outside the repository."""

    keys: tuple[KeyRow, ...]


def config(work: Work, request: ConfigRequest) -> Configured:
    """Return all keys, or the one that was named."""
    rows = [row for row in _key_rows(work) if request.key in ("", row.key)]
    if not request.key:
        rows = [row for row in rows if row.from_ != "not set"]
    if not rows:
        raise UsageError(f"{request.key} is not a configuration key", fix=nearest_key(request.key))
    return Configured(keys=tuple(rows))


def _key_rows(work: Work) -> Iterator[KeyRow]:
    path, text = work.tree.layout.config, config_data(work.store, work.tree).decode()
    for key in KEYS.values():
        line = line_of(text, key.name)
        section, _, name = key.name.rpartition(".")
        yield KeyRow(
            key=key.name,
            value=key.spell(work.config.value(key)),
            from_=f"{path}:{line}" if key.name in work.config.given else "default",
            doc=key.doc,
            expected=key.expected,
            default=key.spell(DEFAULTS[key.name]),
            set_in=f"{path}: {f'[{section}], ' if section else ''}{name} = ...",
        )
    found = outside(work)
    for name in OUTSIDE:
        yield KeyRow(
            key=name,
            value=found[name].value if name in found else None,
            from_=found[name].origin if name in found else "not set",
            doc="A personal setting; it is never read from a repository.",
            set_in=f"`git config memrepo.{git_name(name)} ...`, or with --global",
        )
    repo = work.store.repo
    values = settings.workspace(repo), settings.folder(repo)
    for name, value, doc in zip(
        (settings.WORKSPACE, settings.FOLDER), values, _OF_CLONE, strict=True
    ):
        yield KeyRow(
            key=name,
            value=str(value) if value else None,
            from_=".git/config" if value else "not set",
            doc=doc,
            set_in=f"`git config {name} DIR`",
        )


_OF_CLONE = (
    "The agent workspace that sources/ mirrors in this clone.",
    "The folder of sources/ that has the copy of this clone's workspace, if it is not all of it.",
)
