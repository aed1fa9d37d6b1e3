"""`memrepo status`, `sources` and `config`: a repository's state, source files and configuration.

A key is set in `memrepo.toml` itself, or with `git config` if it must not be in a repository.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions import check
from memrepo.actions.commits import find_damage
from memrepo.actions.landing import hot_rules, missing_pages, stale_pages
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
from memrepo.actions.recall.recall import index_of
from memrepo.actions.run.ingest import Unmatched, find_unmatched, texts_at
from memrepo.actions.run.judge import (
    JudgeChoice,
    estimate_of,
    refuse_unable,
    usable_judges,
)
from memrepo.actions.run.record import timetable, unhooked_problems
from memrepo.actions.schedule import install, out_of_step
from memrepo.actions.work import (
    VerbResult,
    Work,
    config_data,
    driver_notices,
    option,
    outside,
    purge_notices,
)
from memrepo.assets import asset
from memrepo.checks import find_problems
from memrepo.checks.rules import all_rules
from memrepo.config import (
    DEFAULTS,
    KEYS,
    OUTSIDE,
    git_name,
    line_of,
    nearest_key,
)
from memrepo.core.errors import Exit, MemrepoError, Problem, UsageError
from memrepo.core.layout import AREAS, hot_path
from memrepo.core.manifest import Manifest
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.times import format_time
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.cadence import Timetable
from memrepo.store import settings
from memrepo.store.database import damage_of
from memrepo.store.errors import Missing, problem
from memrepo.store.git import git_version, object_problems
from memrepo.store.history import newest_in_effect
from memrepo.store.repo import load_journal, obstacle
from memrepo.store.run_files import SavedAnswers
from memrepo.store.settings import driver_state, install_drivers, is_adopted

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
    stale_views: tuple[str, ...]
    unmatched: Unmatched
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
    store, layout = work.store, work.tree.layout
    found = work.answer("status", Survey, lambda: _survey(work))
    manifests, damaged = work.tree.manifests
    waits, dirty = all_waiting(work), store.work.dirty()
    workspace = settings.workspace(store.repo)
    last = newest_in_effect(work.landed())
    times, left = timetable(work, work.call.now), budgets(work, found.hot or 0, work.call.now)
    wanted = needs(waits, times, found.contradictions, left, len(found.marked))
    problems = (*found.problems, *damaged, *_problems(work, dirty))
    # Without views, no run has made any yet.
    has_views = bool(work.tree.files.below(layout.area("views")))
    exit_ = Exit.NO if request.exit_code and wanted else Exit.DONE
    surveyed = {name: getattr(found, name) for name in Survey.__struct_fields__}
    return Result(
        **{**surveyed, "problems": problems, "notices": problems, "exit": exit_},
        needs=wanted,
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
        stale_views=stale_pages(work) if has_views else (),
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
    from memrepo.core.corrections import corrections_of
    from memrepo.merge import closure
    from memrepo.policies.hotcache import hot_of
    from memrepo.policies.standing import conflicts, counted_as

    state = work.tree.state()
    cases = corrections_of(state)
    broken = (p for p in closure.closure(state) if p.rule != "memory-same-id")
    sources, unread, reader = _sources(work, work.tree.manifests[0])
    found = Survey(
        memories=_counts(map(counted_as, state.every)),
        types=_counts(m.type for m in state.active if not m.is_note),
        tiers=_counts(m.tier for m in state.active if m.is_note),
        hot=sum(hot_of(m) is not None for m in state.active),
        marked=tuple(memory.id for memory in marked_memories(state)),
        contradictions=sum(case.status == "open" for case in conflicts(state, cases)),
        problems=(
            *state.problems,
            *tombstones_in(state).problems,
            *cases.problems,
            *(replace(p, severity="warning") for p in broken),
            *kept_unstated(state.active, tombstones_in(state).changes, reader),
        ),
        requests=tuple(requests_waiting(work)),
        sources=sources,
        unread=unread,
    )
    work.tree.cache_memories()
    return found


def _problems(work: Work, dirty: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of this clone, beyond those of the commit's files."""
    yield from uncommitted_problems(work)
    yield from unhooked_problems(work)
    yield from _open_merge(work, dirty)
    yield from driver_notices(work)
    yield from unknown_person(work)
    yield from purge_notices(work)
    yield from broken_branches(work)


def _sources(work: Work, manifests: Sequence[Manifest]) -> tuple[int, tuple[str, ...], Reader]:
    """Return the number of sources, the names of those with unread text, and their reader."""
    from memrepo.read.intake import Reader, cursors, take_in

    cursor = cursors(manifests)
    texts = texts_at(work, cursor)
    reader = Reader(texts, work.store.repo.read)
    unread = {entry.resource for entry in take_in(texts, cursor, reader, whole=False).consumed}
    open_ = tuple(t.name for t in texts if t.resource in unread)
    return sum(bool(t.blob) for t in texts), open_, reader


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
    workspace = settings.workspace(work.store.repo)
    yield KeyRow(
        key=settings.WORKSPACE,
        value=str(workspace) if workspace else None,
        from_=".git/config" if workspace else "not set",
        doc="The agent workspace that sources/ mirrors in this clone.",
        set_in=f"`git config {settings.WORKSPACE} DIR`",
    )


MIN_GIT = (2, 34)


class CheckFinding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check.

    `fixed` is set if --fix fixed the problem, `problems` has every case.
    """

    name: str = ""
    ok: bool
    message: str
    fixed: bool = False
    problems: tuple[Problem, ...] = ()


class DoctorRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo doctor`."""

    fix: Annotated[bool, option("fix what is safe to fix", "--fix")] = False


class DoctorResult(VerbResult, frozen=True, kw_only=True):
    """The findings of all checks."""

    checks: tuple[CheckFinding, ...]
    left_out: tuple[str, ...] = ()
    """The names of checks that a missing object prevents."""


Check: TypeAlias = Callable[[Work, bool], CheckFinding]
"""A check of an open repository. If the second argument is true, the check fixes what it can."""


def doctor(work: Work, request: DoctorRequest) -> DoctorResult:
    """Run all checks. Exit with status 1 if any check fails.

    An error in a check is a finding. If an object is missing, only the check of objects reports it.
    """
    found: list[CheckFinding] = []
    skipped: list[str] = []
    for name, examine in CHECKS.items():
        try:
            found.append(replace(examine(work, request.fix), name=name))
        except MemrepoError as error:
            if name != "objects" and _missing_objects(work):
                skipped.append(name)
            else:
                found.append(CheckFinding(name=name, ok=False, message=error.message))
    exit_ = Exit.DONE if all(f.ok for f in found) else Exit.NO
    return DoctorResult(checks=tuple(found), left_out=tuple(skipped), exit=exit_)


def _finding(
    problem: str, fine: str, *, fixed: bool = False, problems: tuple[Problem, ...] = ()
) -> CheckFinding:
    """Return a finding that reports a problem or, if that is empty, that all is fine."""
    return CheckFinding(ok=not problem, message=problem or fine, fixed=fixed, problems=problems)


def _listed(problems: tuple[Problem, ...], fine: str) -> CheckFinding:
    """Return a finding that counts problems, and quotes the first one."""
    count = counted(len(problems), "finding", "findings")
    return _finding(f"{count}, first {problems[0]}" if problems else "", fine, problems=problems)


# -- the clone -------------------------------------------------------------------------------------


def _git(work: Work, fix: bool) -> CheckFinding:
    version = git_version(work.store.repo)
    text = f"version {'.'.join(map(str, version))}"
    wanted = ".".join(map(str, MIN_GIT))
    return _finding("" if version >= MIN_GIT else f"{text}, {wanted} is needed", text)


def _objects(work: Work, fix: bool) -> CheckFinding:
    problems = object_problems(work.store.repo)
    if missing := _missing_objects(work):
        (path, blob), *_ = missing.items()
        error = Missing(name=blob, path=path or "a file")
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        return _finding(f"{error.message}{more}; {error.fix}", "")
    return _finding(
        f"git fsck reports: {problems[0]}" if problems else "", "git fsck finds nothing"
    )


def _missing_objects(work: Work) -> dict[str, str]:
    """Return the missing objects of files at HEAD, by file path."""
    return work.store.repo.objects.missing(work.tree.commit)


def _state(work: Work, fix: bool) -> CheckFinding:
    if problem := obstacle(work.store):
        return _finding(problem, "")
    if folders := _missing_folders(work):
        count = sum(len(work.tree.files.below(f"{folder}/")) for folder in folders)
        message = (
            f"{', '.join(f'{folder}/' for folder in folders)}: gone from the work tree, with"
            f" {counted(count, 'file', 'files')} that HEAD has; `git restore {' '.join(folders)}`"
            " puts that back"
        )
        return _finding(message, "")
    is_unfinished = load_journal(work.store.journals) is not None
    unfinished = "a write was interrupted" if is_unfinished else ""
    if unfinished and fix:
        with work.store.writing():
            pass  # as every write begins: the journal is gone
        return CheckFinding(ok=True, message=unfinished, fixed=True)
    work.store.refuse_unfit()
    if removed := _unstaged_files(work):
        verb, these = ("lies", "it") if len(removed) == 1 else ("lie", "them")
        message = (
            f"the next commit would delete {counted(len(removed), 'file', 'files')} that still"
            f" {verb} there, first {removed[0]}: unless that is"
            f" intended, `git restore --staged .` keeps {these}"
        )
        return _finding(message, "")
    return _finding(
        f"{unfinished}; the next write takes it back, or --fix now" if unfinished else "",
        "ready for writing",
    )


def _missing_folders(work: Work) -> list[str]:
    """Return the folders of memrepo that exist at HEAD but not in the work tree."""
    layout, root = work.tree.layout, work.store.root
    areas = (layout.area(name).rstrip("/") for name in AREAS)
    return [a for a in areas if work.tree.files.below(f"{a}/") and not (root / a).is_dir()]


def _unstaged_files(work: Work) -> list[str]:
    """Return files that are staged for deletion but unchanged in the work tree.

    Two git processes that write the index concurrently leave this state, and so does `git rm
    --cached`.
    """
    files = work.store.work
    removed = [p for p, doctor in files.staged_since(work.tree.commit).items() if doctor == "D"]
    blobs = work.tree.blobs if removed else {}  # lists every file, so only if needed
    return [p for p in removed if p in blobs and files.is_at(p, blobs[p])]


def _index(work: Work, fix: bool) -> CheckFinding:
    index = index_of(work)
    damage = damage_of(index.folder / index.name)
    if damage and not fix:  # a question would build it again, without a word
        message = f"the search index is damaged: {damage}; the next search builds it again"
        return _finding(f"{message}, or --fix now", "")
    index.follow()
    built = f"the search index was damaged: {damage}; built again"
    return _finding("", built if damage else "up to date with HEAD", fixed=bool(damage))


def _hook(work: Work, fix: bool) -> CheckFinding:
    repo, shim = work.store.repo, asset("hooks", "shim")
    problem = settings.wrong_hooks(repo, shim)
    can_fix = bool(problem) and fix and not settings.other_hooks_path(repo)
    if can_fix:
        settings.install_hooks(repo, shim)
        problem = settings.wrong_hooks(repo, shim)
    return _finding(problem, f"{len(settings.HOOKS)} hooks run", fixed=can_fix and not problem)


def _workspace(work: Work, fix: bool) -> CheckFinding:
    path = settings.workspace(work.store.repo)
    if path is None:
        return _finding("", "none: sources/ itself is the input")
    problem = f"{path} does not exist: `git config {settings.WORKSPACE}`"
    return _finding("" if path.is_dir() else problem, str(path))


def _drivers(work: Work, fix: bool) -> CheckFinding:
    repo, layout = work.store.repo, work.store.layout
    adopted = is_adopted(repo, layout)
    problem = driver_state(repo, layout, adopted=adopted)
    can_fix = bool(problem) and fix
    if can_fix:
        problem = install_drivers(repo, layout, adopted=adopted)
    fine = "`git merge` joins memories field by field"
    return _finding(problem, fine, fixed=can_fix and not problem)


def _judge(work: Work, fix: bool) -> CheckFinding:
    name = refuse_unable(work)
    if name == "offline":
        ready = [one.judge for one in usable_judges(work) if one.ready]
        return _finding("", f"{name}; ready on this machine: {', '.join(ready) or 'none'}")
    try:
        cost = estimate_of(work.refreshed(), JudgeChoice()).estimated
    except MemrepoError as error:
        cost = f"the cost of the next run is unknown: {error.message}"
    return _finding("", f"{name}; {cost}" if cost else name)


def _program(work: Work, fix: bool) -> CheckFinding:
    repo = work.store.repo
    known = settings.get(repo, settings.PROGRAM)
    is_missing = bool(known) and not Path(known).is_file()
    if is_missing and fix:
        settings.drop(repo, settings.PROGRAM)
        settings.name_program(repo)
        known = settings.get(repo, settings.PROGRAM)
    problem = f"{known} is gone: hooks cannot start it ({settings.PROGRAM})"
    fine = known or "looked up on the PATH"
    return _finding(problem if is_missing and not fix else "", fine, fixed=is_missing and fix)


def _attributes(work: Work, fix: bool) -> CheckFinding:
    repo, layout = work.store.repo, work.store.layout
    is_known = settings.workspace(repo) == work.store.root or bool(layout.prefix)
    problem = ".gitattributes lacks `*.md -merge -text`: git may rewrite memories' line ends"
    is_wrong = is_adopted(repo, layout) and not is_known
    return _finding(problem if is_wrong else "", "git does not merge the text of memories")


def _rules(work: Work, fix: bool) -> CheckFinding:
    """Check all files against all rules, and uncommitted memories against what was rejected."""
    with check.at_head(work.store.root) as checked:
        problems = (*checked.early, *find_problems(checked.scene))
    found = [p for p in problems if p.severity == "error" or p.rule == "page-edited"]
    past = "`memrepo check --history` searches the past for secrets"
    fine = f"{len(all_rules())} rules hold ({past})"
    return _listed((*found, *uncommitted_problems(work)), fine)


def _damage(work: Work, fix: bool) -> CheckFinding:
    others = ("page-lost", "index-damaged")  # `pages` and `index` report these
    found = tuple(p for p in find_damage(work) if p.rule not in others)
    return _listed(found, "no record is lost, no copy forged, no object replaced")


def _pages(work: Work, fix: bool) -> CheckFinding:
    """Check for pages that were deleted from the work tree but are still in git."""
    missing = missing_pages(work)
    if not missing:
        return _finding("", "none is missing from the work tree")
    count = counted(len(missing), "page is", "pages are")
    message = f"{count} missing from the work tree, first {missing[0]}"
    if fix:
        work.store.work.restore(missing)
        return _finding("", f"{message}: put back", fixed=True)
    return _finding(f"{message}; --fix puts them back", "")


# -- history ---------------------------------------------------------------------------------------


def _runs(work: Work, fix: bool) -> CheckFinding:
    runs, memories = work.landed(), work.tree.state().memories
    in_effect = sum(run.in_effect for run in runs)
    parts = [f"{counted(in_effect, 'run', 'runs')} in effect"]
    if len(runs) > in_effect:
        parts.append(f"{len(runs) - in_effect} reverted")
    is_empty = bool(in_effect) and not memories
    parts += ["no memory is left in the tree (`git log -- memories`)"] if is_empty else []
    return CheckFinding(ok=not is_empty, message="; ".join(parts))


def _schedule(work: Work, fix: bool) -> CheckFinding:
    times, zone = timetable(work, work.call.now), work.config.zone.key
    complaints, fixed = [*times.complaints], False
    if times.by == "crontab" and (wrong := out_of_step(work)):
        if fix:
            fixed = install(work)
        else:
            complaints.append(wrong)
    due = times.next if times.by else None
    ahead = f"next run {due.describe(zone)}" if due else "not scheduled"
    return _finding("; ".join(complaints), ahead, fixed=fixed)


CHECKS: dict[str, Check] = {
    "git": _git,
    "objects": _objects,
    "state": _state,
    "workspace": _workspace,
    "index": _index,
    "hook": _hook,
    "drivers": _drivers,
    "judge": _judge,
    "program": _program,
    "attributes": _attributes,
    "rules": _rules,
    "damage": _damage,
    "pages": _pages,
    "runs": _runs,
    "schedule": _schedule,
}
"""The checks by name, in the order of their output."""
