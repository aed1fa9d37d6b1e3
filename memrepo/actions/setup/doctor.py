"""`memrepo doctor`: named checks of repository, configuration, index, hooks and judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.pending import all_waiting, broken_branches
from memrepo.actions.recall.recall import index_of
from memrepo.actions.request import option
from memrepo.actions.run.gate import PAID
from memrepo.actions.run.judge_choice import Choice, kind_of, refuse_unable, usable_judges
from memrepo.actions.run.timetable import timetable
from memrepo.actions.setup import clone_checks, history_checks
from memrepo.actions.setup.finding import Check, Finding
from memrepo.actions.setup.schedule import install, out_of_step
from memrepo.actions.work import Work
from memrepo.assets import asset
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import AREAS
from memrepo.core.messages import counted
from memrepo.purify.manifest import read_manifests
from memrepo.store import embedder, hooks, settings
from memrepo.store.audit import git_version, interrupted, object_problems, obstacle
from memrepo.store.drivers import driver_state, install_drivers, is_adopted
from memrepo.store.index import Filter
from memrepo.store.settings import person
from memrepo.store.tree import NoContent

MIN_GIT = (2, 34)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `doctor`."""

    fix: Annotated[bool, option("mend what can be mended safely", "--fix")] = False
    quick: Annotated[
        bool, option("leave out the checks that read every memory or every commit", "--quick")
    ] = False


class Result(result.Result, frozen=True, kw_only=True):
    """What each check found."""

    checks: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()
    """The checks that were not made: their time grows with the store."""


def do(work: Work, request: Request) -> Result:
    """Run every check; answer 1 when one is not ok."""
    left = tuple(name for name in names() if name in WHOLE) if request.quick else ()
    found: list[Finding] = []
    for check in (*CHECKS, _schedule):
        if _name(check) in left:
            continue
        try:
            found.append(_guarded(check, work, request.fix))
        except _Unreadable:  # said once, by the check of objects
            left = (*left, _name(check))
    exit_ = Exit.DONE if all(f.ok for f in found) else Exit.NO
    return Result(checks=tuple(found), left_out=left, exit=exit_)


def _name(check: Check) -> str:
    return check.__name__.removeprefix("_")


class _Unreadable(Exception):
    """A check needs an object that the check of objects names as missing."""


def _guarded(check: Check, work: Work, fix: bool) -> Finding:
    """Let one check fail without taking the others with it; raises _Unreadable."""
    try:
        return check(work, fix)
    except MemrepoError as error:
        if check is not _objects and _missing(work):
            raise _Unreadable from error
        return Finding(name=_name(check), ok=False, message=error.message)


def _missing(work: Work) -> dict[str, str]:
    """Return the objects of HEAD's files that are not here, by path."""
    return work.store.repo.light.objects.missing(work.tree.commit)


def _git(work: Work, fix: bool) -> Finding:
    del fix
    version = git_version(work.store.repo)
    said = ".".join(map(str, version))
    wanted = ".".join(map(str, MIN_GIT))
    return Finding(
        name="git",
        ok=version >= MIN_GIT,
        message=f"version {said}" + ("" if version >= MIN_GIT else f", {wanted} is needed"),
    )


def _objects(work: Work, fix: bool) -> Finding:
    del fix
    problems = object_problems(work.store.repo)
    if lost := _missing(work):
        (path, blob), *_ = lost.items()
        error = NoContent(blob, path)
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        return Finding(name="objects", ok=False, message=f"{error.message}{more}; {error.fix}")
    return Finding(
        name="objects",
        ok=not problems,
        message=f"git fsck says: {problems[0]}" if problems else "git fsck finds nothing",
    )


def _state(work: Work, fix: bool) -> Finding:
    if said := obstacle(work.store):
        return Finding(name="state", ok=False, message=said)
    if gone := _folders_gone(work):
        count = sum(len(work.tree.files.below(f"{folder}/")) for folder in gone)
        message = (
            f"{', '.join(f'{folder}/' for folder in gone)}: gone from the work tree, with"
            f" {counted(count, 'file', 'files')} that HEAD has; `git restore {' '.join(gone)}`"
            " puts that back"
        )
        return Finding(name="state", ok=False, message=message)
    left = interrupted(work.store)
    if left and fix:
        with work.store.writing():
            pass
        return Finding(name="state", ok=not interrupted(work.store), message=left, fixed=True)
    work.store.refuse_unfit()
    if out := _taken_out(work):
        these = "it" if len(out) == 1 else "them"
        message = (
            f"git would take out {counted(len(out), 'file', 'files')} that still"
            f" {'lies' if len(out) == 1 else 'lie'} there, first {out[0]}: unless somebody wants"
            f" that, `git restore --staged .` keeps {these}"
        )
        return Finding(name="state", ok=False, message=message)
    message = f"{left}; the next write settles it, or --fix now" if left else "ready to be written"
    return Finding(name="state", ok=not left, message=message)


def _folders_gone(work: Work) -> list[str]:
    """Return the folders of memrepo's that HEAD has and the work tree lacks."""
    layout, root = work.tree.layout, work.store.root
    areas = (layout.area(name).rstrip("/") for name in AREAS)
    return [a for a in areas if work.tree.files.below(f"{a}/") and not (root / a).is_dir()]


def _taken_out(work: Work) -> list[str]:
    """Return files that the next commit would take out and that lie there as HEAD has them.

    Git leaves that where two of it wrote the index at one time, and `git rm --cached` does.
    """
    files = work.store.work
    out = [p for p, do in files.staged_since(work.tree.commit).items() if do == "D"]
    blobs = work.tree.blobs if out else {}  # of every file: listed where it is needed alone
    return [p for p in out if p in blobs and files.is_at(p, blobs[p])]


def _identity(work: Work, fix: bool) -> Finding:
    del fix
    email = person(work.store.repo)[1]
    if not email:
        return Finding(name="identity", ok=False, message="git knows no user.email: set it")
    known = email in work.config.human_authors
    return Finding(
        name="identity",
        ok=known,
        message=email if known else f"{email} is not among human_authors in memrepo.toml",
    )


def _workspace(work: Work, fix: bool) -> Finding:
    del fix
    path = settings.workspace(work.store.repo)
    if path is None:
        return Finding(name="workspace", ok=True, message="none: sources/ itself is the input")
    there = path.is_dir()
    return Finding(
        name="workspace",
        ok=there,
        message=str(path) if there else f"{path} does not exist: `git config {settings.WORKSPACE}`",
    )


def _memories(work: Work, fix: bool) -> Finding:
    del fix
    state = work.tree.state()
    errors = [p for p in state.problems if p.severity == "error"]
    if errors:
        return Finding(
            name="memories",
            ok=False,
            message=f"{len(errors)} that cannot be read, first {errors[0]} (`memrepo check`)",
        )
    return Finding(name="memories", ok=True, message=f"{len(state.memories)} read without error")


def _manifests(work: Work, fix: bool) -> Finding:
    del fix
    found, damaged = read_manifests(work.tree.files, work.tree.layout)
    if damaged:
        return Finding(name="manifests", ok=False, message=str(damaged[0]))
    return Finding(
        name="manifests", ok=True, message=f"{counted(len(found), 'run', 'runs')} on record"
    )


def _index(work: Work, fix: bool) -> Finding:
    del fix  # a damaged index is built again whenever it is opened
    index_of(work).count(["memory"], Filter())
    return Finding(name="index", ok=True, message="in step with HEAD")


def _meaning(work: Work, fix: bool) -> Finding:
    del work, fix
    if not embedder.is_installed():
        return Finding(name="meaning", ok=True, message="no model: search goes by words")
    try:
        name = embedder.load().name
    except embedder.NoModelError as error:
        return Finding(name="meaning", ok=False, message=f"search goes by words alone: {error}")
    return Finding(name="meaning", ok=True, message=f"model {name}")


def _hook(work: Work, fix: bool) -> Finding:
    repo, shim = work.store.repo, asset("hooks", "shim")
    wrong, fixed = hooks.wrong(repo, shim), False
    if wrong and fix and not hooks.other_path(repo):
        hooks.install(repo, shim)
        wrong, fixed = hooks.wrong(repo, shim), True
    return Finding(
        name="hook",
        ok=not wrong,
        fixed=fixed and not wrong,
        message=wrong or f"{len(hooks.HOOKS)} hooks run",
    )


def _drivers(work: Work, fix: bool) -> Finding:
    repo, layout = work.store.repo, work.store.layout
    others = is_adopted(repo, layout)
    said, fixed = driver_state(repo, layout, adopted=others), False
    if said and fix:
        said, fixed = install_drivers(repo, layout, adopted=others), True
    return Finding(
        name="drivers",
        ok=not said,
        fixed=fixed and not said,
        message=said or "`git merge` joins memories field by field",
    )


def _waiting(work: Work, fix: bool) -> Finding:
    del fix
    if broken := broken_branches(work):
        message = f"{broken[0].message}; {broken[0].fix}"
        return Finding(name="waiting", ok=False, message=message, problems=broken)
    names = [w.branch for w in all_waiting(work)]
    message = f"for review: {', '.join(names)}" if names else "nothing waits for review"
    return Finding(name="waiting", ok=not names, message=message)


def _judge(work: Work, fix: bool) -> Finding:
    del fix
    name = refuse_unable(work)
    cost = _next_run(work)
    return Finding(name="judge", ok=True, message=f"{name}; {cost}" if cost else name)


def _judges(work: Work, fix: bool) -> Finding:
    del fix
    found = [f"{u.judge}: {'usable, ' if u.ready else ''}{u.message}" for u in usable_judges(work)]
    return Finding(name="judges", ok=True, message="; ".join(found))


def _next_run(work: Work) -> str:
    """Say what the next run would cost; empty for a judge that costs nothing."""
    choice = Choice(now=work.call.now)
    if kind_of(work, choice) not in PAID:
        return ""
    from memrepo.actions.run.estimate import roughly

    try:
        return roughly(work.refreshed(), choice)
    except MemrepoError as error:
        return f"what the next run would cost is not known: {error.message}"


def _schedule(work: Work, fix: bool) -> Finding:
    times, zone = timetable(work, work.call.now), work.config.zone.key
    said, fixed = "; ".join(times.complaints), False
    if times.by == "crontab" and (wrong := out_of_step(work, work.call.now)):
        if fix:
            install(work, work.call.now)
            fixed = True
        else:
            said = "; ".join(filter(None, (said, wrong)))
    due = times.told().next if times.by else None
    ahead = f"next run {due.said(zone)}" if due else "not scheduled"
    return Finding(name="schedule", ok=not said, message=said or ahead, fixed=fixed)


CHECKS: tuple[Check, ...] = (
    _git,
    _objects,
    _state,
    _identity,
    _workspace,
    _memories,
    _manifests,
    _index,
    _meaning,
    _hook,
    _drivers,
    _waiting,
    _judge,
    _judges,
    *clone_checks.CHECKS,
    *history_checks.CHECKS,
)
WHOLE = frozenset(
    (
        *("objects", "memories", "manifests", "index", "rules", "secrets"),
        *("views", "hot", "ledger", "broken", "history", "runs", "references", "tombstones"),
        *("rejected", "signatures", "size"),
    )
)
"""What reads every memory, every run or every object."""


def names() -> Iterator[str]:
    """Yield the names of all checks, for the documentation."""
    yield from map(_name, CHECKS)
    yield "schedule"
