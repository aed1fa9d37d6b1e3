"""`memrepo doctor`: run named checks of repository, configuration, history, hooks and judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions import scenes
from memrepo.actions.commits import find_damage
from memrepo.actions.landing import missing_pages
from memrepo.actions.pending import uncommitted_problems
from memrepo.actions.recall.recall import index_of
from memrepo.actions.run.judge import (
    JudgeChoice,
    estimate_of,
    refuse_unable,
    usable_judges,
)
from memrepo.actions.run.record import timetable
from memrepo.actions.schedule import install, out_of_step
from memrepo.actions.work import VerbResult, Work, option
from memrepo.checks import find_problems
from memrepo.checks.rules import all_rules
from memrepo.core.errors import Exit, MemrepoError, Missing, Problem
from memrepo.core.layout import AREAS, asset
from memrepo.core.messages import counted
from memrepo.store import settings
from memrepo.store.database import damage_of
from memrepo.store.git import git_version, object_problems
from memrepo.store.repo import load_journal, obstacle
from memrepo.store.settings import driver_state, install_drivers, is_adopted

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


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo doctor`."""

    fix: Annotated[bool, option("fix what is safe to fix", "--fix")] = False


class Result(VerbResult, frozen=True, kw_only=True):
    """The findings of all checks."""

    checks: tuple[CheckFinding, ...]
    left_out: tuple[str, ...] = ()
    """The names of checks that a missing object prevents."""


Check: TypeAlias = Callable[[Work, bool], CheckFinding]
"""A check of an open repository. If the second argument is true, the check fixes what it can."""


def do(work: Work, request: Request) -> Result:
    """Run all checks. Exit with status 1 if any check fails.

    An error in a check is a finding. If an object is missing, only the check of objects reports it.
    """
    found: list[CheckFinding] = []
    skipped: list[str] = []
    for name, check in CHECKS.items():
        try:
            found.append(replace(check(work, request.fix), name=name))
        except MemrepoError as error:
            if name != "objects" and _missing_objects(work):
                skipped.append(name)
            else:
                found.append(CheckFinding(name=name, ok=False, message=error.message))
    exit_ = Exit.DONE if all(f.ok for f in found) else Exit.NO
    return Result(checks=tuple(found), left_out=tuple(skipped), exit=exit_)


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
    removed = [p for p, do in files.staged_since(work.tree.commit).items() if do == "D"]
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
    with scenes.at_head(work.store.root) as checked:
        problems = (*checked.early, *find_problems(checked.scene))
    found = [p for p in problems if p.severity == "error" or p.rule == "page-edited"]
    past = "`memrepo check --history` searches the past for secrets"
    fine = f"{len(all_rules())} rules hold ({past})"
    return _listed((*found, *uncommitted_problems(work, work.store.work.dirty())), fine)


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
