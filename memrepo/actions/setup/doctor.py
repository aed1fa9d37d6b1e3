"""`memrepo doctor`: run named checks of repository, configuration, history, hooks and judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias
from weakref import WeakKeyDictionary

import msgspec

from memrepo.actions.check import scenes
from memrepo.actions.hand_merges import rejected_again, validated
from memrepo.actions.landing import derived_files
from memrepo.actions.pending import all_waiting, broken_branches
from memrepo.actions.recall.recall import index_of
from memrepo.actions.request import VerbResult, option
from memrepo.actions.run.judge_choice import PAID, Choice, kind_of, refuse_unable, usable_judges
from memrepo.actions.run.preconditions import emptied
from memrepo.actions.run.timetable import timetable
from memrepo.actions.setup.schedule import install, out_of_step
from memrepo.actions.setup.survey import hot_budget
from memrepo.actions.work import Work
from memrepo.assets import asset
from memrepo.checks.integrity import CommitFacts, history_problems
from memrepo.checks.rules import all_rules
from memrepo.core.changes import Delete, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import AREAS, HOT_NAMES
from memrepo.core.manifest import read_manifests
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.keys import FORMAT
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.store import history, settings, stream, trace, vectors
from memrepo.store.index import Filter
from memrepo.store.ledger import ledger_of
from memrepo.store.remote import RECORDS
from memrepo.store.run_files import interrupted_runs
from memrepo.store.settings import driver_state, install_drivers, is_adopted, person
from memrepo.store.trace import git_version, interrupted, object_problems, obstacle
from memrepo.store.tree import NoContent
from memrepo.views.hot import hot_path


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check.

    `fixed` is set if --fix fixed the problem, `problems` has every case.
    """

    name: str
    ok: bool
    message: str
    fixed: bool = False
    problems: tuple[Problem, ...] = ()


Check: TypeAlias = Callable[[Work, bool], Finding]
"""A check of an open repository. If the second argument is true, the check fixes what it can."""


SIGNATURES = 200
"""The number of newest runs whose signatures are verified. Each verification starts a program."""


def _history(work: Work, fix: bool) -> Finding:
    area, words = work.tree.layout.area("runs"), ("--reverse", "--topo-order", work.tree.commit)
    facts = [
        CommitFacts(
            commit=a.commit,
            tree=a.tree,
            parents=a.parents,
            subject=a.subject,
            trailers=a.trailers,
            added=_runs_in(a, area, added=True),
            changed=_runs_in(a, area, added=False),
        )
        for a in history.commits_with_files(work.store.repo, *words)
    ]
    problems = history_problems(facts)
    ours = sum(bool(f.op) for f in facts)
    said = counted(len(facts), "commit is what it says", "commits are what they say")
    message = f"{said}, {ours} of them memrepo's"
    errors = [p for p in problems if p.severity == "error"]
    if errors:
        first = errors[0]
        message = (
            f"{counted(len(errors), 'finding', 'findings')}; the first bad commit is"
            f" {first.path[:10]}: {first.rule} {first.message}"
        )
    elif problems:
        changed = counted(len({p.path for p in problems}), "commit was", "commits were")
        message = f"{changed} amended or rebased with git, first {problems[0].path[:10]}"
    return Finding(name="history", ok=not errors, message=message, problems=problems)


def _runs_in(entry: history.LogEntry, area: str, *, added: bool) -> tuple[str, ...]:
    """Return the runs whose manifests a commit added, or changed."""
    files = (file for file in entry.files if file.new and added is not bool(file.old))
    return tuple(
        file.path.rsplit("/", 1)[-1].removesuffix(".json")
        for file in files
        if file.path.startswith(area)
    )


def _runs(work: Work, fix: bool) -> Finding:
    runs = work.landed()
    here = sum(run.in_effect for run in runs)
    said = [f"{counted(here, 'run', 'runs')} in effect"]
    said += [
        f"{run.run} was rewritten by git as {run.entry.commit[:10]}" for run in runs if run.changed
    ]
    gone = len(runs) - here
    said += [f"{gone} reverted"] if gone else []
    hand = emptied(work)
    if hand is not None:
        said.insert(0, f"{hand.commit[:10]} removed every memory from the tree, by hand")
    return Finding(name="runs", ok=hand is None, message="; ".join(said))


def _references(work: Work, fix: bool) -> Finding:
    return _since(work, "references", closure.closure, "every reference and supersession holds")


def _tombstones(work: Work, fix: bool) -> Finding:
    return _since(work, "tombstones", tombstone_problems, "every tombstone can be read")


def tombstone_problems(state: State) -> tuple[Problem, ...]:
    """Return the problems with tombstones. An unreadable tombstone blocks no memory."""
    return tombstones_in(state).problems


def _rejected(work: Work, fix: bool) -> Finding:
    found = rejected_again(work, validated(work))
    what = counted(len(found), "file says", "files say") + " what a person rejected"
    return Finding(
        name="rejected",
        ok=not found,
        problems=found,
        message=f"{what}, first {found[0]}" if found else "nothing rejected came back",
    )


def _since(
    work: Work, name: str, problems_of: Callable[[State], tuple[Problem, ...]], well: str
) -> Finding:
    """Report the problems at HEAD, and the commit that introduced the first of them."""
    problems = problems_of(work.tree.state())
    if not problems:
        return Finding(name=name, ok=True, message=well)
    first = problems[0]

    def is_bad(state: State) -> bool:
        return any(_same(first, other) for other in problems_of(state))

    commit = first_bad(work, is_bad)
    return Finding(
        name=name,
        ok=False,
        problems=problems,
        message=f"{counted(len(problems), 'finding', 'findings')}, first {first};"
        f" since commit {commit[:10]}",
    )


def _same(one: Problem, other: Problem) -> bool:
    return (one.rule, one.key, one.message) == (other.rule, other.key, other.message)


def first_bad(work: Work, is_bad: Callable[[State], bool]) -> str:
    """Return the commit that introduced a problem found at HEAD, by binary search.

    Search along first parents, then within the chain of the run that the commit merged.
    """
    store = work.store
    born = history.first_commit(store.repo, work.tree.commit, store.layout.config)
    line = [*filter(None, [born]), *trace.first_parents(store.repo, born, work.tree.commit)]
    commit = _halved(work, line, is_bad)
    parents = store.parents(commit)
    if len(parents) == 2:
        inside = trace.first_parents(store.repo, parents[0], parents[1])
        if inside and is_bad(store.snapshot(inside[-1]).state()):
            return _halved(work, inside, is_bad)
    return commit


def _halved(work: Work, line: Sequence[str], is_bad: Callable[[State], bool]) -> str:
    low, high = 0, len(line) - 1  # the last commit is bad
    while low < high:
        middle = (low + high) // 2
        if is_bad(work.store.snapshot(line[middle]).state()):
            high = middle
        else:
            low = middle + 1
    return line[high]


def _signatures(work: Work, fix: bool) -> Finding:
    repo = work.store.repo
    newest = [e.commit for e in islice(history.runs(repo, work.tree.commit), SIGNATURES)]
    found = stream.verdicts(repo, newest)
    bad = [commit for commit, letter in found.items() if letter in stream.BAD]
    open_ = sum(letter in stream.UNCHECKED for letter in found.values())
    verified = counted(len(found) - open_ - len(bad), "merge of a run", "merges of runs")
    message = f"{verified} verified" if found else "none"
    if open_:
        message += f", {open_} cannot be checked here (no key, or no program)"
    if bad:
        message = f"{len(bad)} do not fit their commits, the first bad commit is {bad[-1][:10]}"
    return Finding(name="signatures", ok=not bad, message=message)


HISTORY_CHECKS: tuple[Check, ...] = (
    _history,
    _runs,
    _references,
    _tombstones,
    _rejected,
    _signatures,
)


def _format(work: Work, fix: bool) -> Finding:
    found = work.config.get("format")
    how = "upgrade memrepo" if found > FORMAT else "`memrepo upgrade` migrates it"
    message = f"format {found}" + (
        f", this memrepo writes {FORMAT}: {how}" if found != FORMAT else ""
    )
    return Finding(name="format", ok=found == FORMAT, message=message)


def _branch(work: Work, fix: bool) -> Finding:
    branch = work.store.branch_or_none.removeprefix("refs/heads/")
    said = branch or "HEAD is detached: nothing can be written (`git switch` to a branch)"
    return Finding(name="branch", ok=bool(branch), message=said)


def _program(work: Work, fix: bool) -> Finding:
    repo = work.store.repo
    known = settings.get(repo, settings.PROGRAM)
    if known and not Path(known).is_file():
        if fix:
            settings.drop(repo, settings.PROGRAM)
            settings.name_program(repo)
            known = settings.get(repo, settings.PROGRAM)
            return Finding(
                name="program", ok=True, fixed=True, message=known or "looked up on the PATH"
            )
        message = f"{known} is gone: hooks cannot start it ({settings.PROGRAM})"
        return Finding(name="program", ok=False, message=message)
    return Finding(name="program", ok=True, message=known or "looked up on the PATH")


def _hookspath(work: Work, fix: bool) -> Finding:
    path = settings.hooks_in_tree(work.store.repo)
    message = (
        f"core.hooksPath is {path}, which anyone who can push can change" if path else "outside"
    )
    return Finding(name="hookspath", ok=not path, message=message)


def _trust(work: Work, fix: bool) -> Finding:
    why = settings.untrusted(work.store.repo)
    return Finding(name="trust", ok=not why, message=why or "no unreviewed program")


def _attributes(work: Work, fix: bool) -> Finding:
    adopted = is_adopted(work.store.repo, work.store.layout)
    known = settings.workspace(work.store.repo) == work.store.root or bool(work.store.layout.prefix)
    said = "git does not merge the text of memories"
    if adopted and not known:
        said = ".gitattributes lacks `*.md -merge -text`: git may rewrite memories' line ends"
    return Finding(name="attributes", ok=known or not adopted, message=said)


def _rules(work: Work, fix: bool) -> Finding:
    found, _LOOKED[work] = _held(work)
    message = f"{len(all_rules())} rules hold"
    if found:
        message = f"{counted(len(found), 'finding', 'findings')}, first {found[0]}"
    return Finding(name="rules", ok=not found, message=message, problems=found)


def _secrets(work: Work, fix: bool) -> Finding:
    looked = _LOOKED.pop(work, None)
    found = _held(work)[1] if looked is None else looked
    message = "none in the tree (`memrepo check --history` looks at the past)"
    if found:
        message = f"{counted(len(found), 'finding', 'findings')}, first {found[0]}"
    return Finding(name="secrets", ok=not found, message=message, problems=found)


_LOOKED: WeakKeyDictionary[Work, tuple[Problem, ...]] = WeakKeyDictionary()
"""Secrets found by the check of rules, cached so that the check of secrets reads no file again."""


def _held(work: Work) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Check the work tree against all rules. Return other problems and secrets as a pair."""
    looked = scenes.check_tree(work.store.root)
    found = [p for p in looked.problems if p.severity == "error"]
    early = tuple(p for p in looked.early if p.severity == "error")
    secrets = {name for name, rule in all_rules().items() if rule.group == "secrets"}
    others = tuple(p for p in found if p.rule not in secrets)
    return (*early, *others), tuple(p for p in found if p.rule in secrets)


def _views(work: Work, fix: bool) -> Finding:
    area = work.tree.layout.area("views")
    stale: list[str] = []
    if any(path.startswith(area) for path in work.tree.blobs):
        changes = derived_files(work, work.tree.state(), afresh=True)
        stale = sorted(c.path for c in changes if isinstance(c, Write | Delete))
    # Single writes leave stale pages behind by design, so stale pages are not a failure.
    said = counted(len(stale), "page is", "pages are")
    message = f"{said} out of date until the next run" if stale else "up to date"
    return Finding(name="views", ok=True, message=message)


def _pages(work: Work, fix: bool) -> Finding:
    """Check for pages that were deleted from the work tree but are still in git."""
    layout, tree, files = work.tree.layout, work.tree.files, work.store.work
    hot = (p for name in HOT_NAMES if tree.regular(p := layout.prefix + name))
    gone = files.missing([*tree.below(layout.area("views")), *hot])
    if not gone:
        return Finding(name="pages", ok=True, message="none is missing from the work tree")
    said = (
        f"{counted(len(gone), 'page is', 'pages are')} missing from the work tree, first {gone[0]}"
    )
    if fix:
        files.restore(gone)
        return Finding(name="pages", ok=True, message=f"{said}: put back", fixed=True)
    return Finding(name="pages", ok=False, message=f"{said}; --fix puts them back")


def _hot(work: Work, fix: bool) -> Finding:
    state = work.tree.state()
    hot = hot_budget(work, state)
    ok = hot.bullets <= hot.budget
    path = hot_path(state.files, state.layout, work.config.rules.hot)
    message = f"{hot.bullets} of {hot.budget} bullets in {path}"
    if not ok:
        message += ": over budget; remove some with `memrepo promote ID --off` or `pin ID --off`"
    return Finding(name="hot", ok=ok, message=message)


def _ledger(work: Work, fix: bool) -> Finding:
    ledger, repo = ledger_of(work.store), work.store.repo
    ledger.accesses()
    tip, known = ledger.tip(), history.ledger_base(repo, work.tree.commit)
    if not known or known == tip or ledger.contains(known):
        return Finding(name="ledger", ok=True, message=f"at {tip[:10]}" if tip else "empty")
    said = f"lacks {known[:10]}, which the newest run used"
    if not work.store.resolve(known):
        return Finding(name="ledger", ok=False, message=f"{said}: `memrepo sync` brings it")
    if not fix:
        return Finding(name="ledger", ok=False, message=f"{said}; --fix puts it back")
    ledger.join(known, work.store.commit_time(work.tree.commit))
    return Finding(name="ledger", ok=True, message=f"{said}: put back", fixed=True)


def _broken(work: Work, fix: bool) -> Finding:
    left = [b.run for b in interrupted_runs(work.store.folder)]
    message = (
        f"{', '.join(left)} interrupted (`memrepo run --resume`)" if left else "none interrupted"
    )
    return Finding(name="broken", ok=not left, message=message)


def _purged(work: Work, fix: bool) -> Finding:
    """Check for purges whose key is missing or that this clone has not repeated."""
    repo = work.store.repo
    if not repo.refs.id(RECORDS):
        return Finding(name="purged", ok=True, message="nothing was purged")
    from memrepo.store import purges

    known = purges.receipts(repo)
    said = counted(len(known), "purge", "purges") + " on record"
    if missing := sorted({r.key for r in known if purges.key_of(r.key) is None}):
        where = purges.keys_folder()
        message = (
            f"{said}; {where} lacks {', '.join(missing)}: purged values may return in this clone"
        )
        return Finding(name="purged", ok=False, message=message)
    if left := [r.id for r in known if not purges.is_done(repo, r.id)]:
        message = f"{said}; `memrepo sync` repeats {', '.join(left)} here"
        return Finding(name="purged", ok=False, message=message)
    return Finding(name="purged", ok=True, message=f"{said}, and no purged value returned")


CLONE_CHECKS: tuple[Check, ...] = (
    _format,
    _branch,
    _program,
    _hookspath,
    _trust,
    _attributes,
    _rules,
    _secrets,
    _views,
    _pages,
    _hot,
    _ledger,
    _broken,
    _purged,
)


MIN_GIT = (2, 34)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo doctor`."""

    fix: Annotated[bool, option("fix what is safe to fix", "--fix")] = False
    quick: Annotated[
        bool, option("skip checks that read every memory or every commit", "--quick")
    ] = False


class Result(VerbResult, frozen=True, kw_only=True):
    """The findings of all checks."""

    checks: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()
    """The names of skipped checks.

    The time of these checks grows with the size of the repository.
    """


def do(work: Work, request: Request) -> Result:
    """Run all checks. Exit with status 1 if any check fails."""
    left = tuple(name for name in names() if name in WHOLE) if request.quick else ()
    found: list[Finding] = []
    for check in (*CHECKS, _schedule):
        if _name(check) in left:
            continue
        try:
            found.append(_guarded(check, work, request.fix))
        except _Unreadable:  # reported once, by the check of objects
            left = (*left, _name(check))
    exit_ = Exit.DONE if all(f.ok for f in found) else Exit.NO
    return Result(checks=tuple(found), left_out=left, exit=exit_)


def _name(check: Check) -> str:
    return check.__name__.removeprefix("_")


class _Unreadable(Exception):
    """Raised when a check needs an object that the check of objects reports as missing."""


def _guarded(check: Check, work: Work, fix: bool) -> Finding:
    """Run one check, turning an error into a failed finding so that the other checks still run.

    Raises _Unreadable if an object is missing.
    """
    try:
        return check(work, fix)
    except MemrepoError as error:
        if check is not _objects and _missing(work):
            raise _Unreadable from error
        return Finding(name=_name(check), ok=False, message=error.message)


def _missing(work: Work) -> dict[str, str]:
    """Return the missing objects of files at HEAD, by file path."""
    return work.store.repo.objects.missing(work.tree.commit)


def _git(work: Work, fix: bool) -> Finding:
    version = git_version(work.store.repo)
    said = ".".join(map(str, version))
    wanted = ".".join(map(str, MIN_GIT))
    return Finding(
        name="git",
        ok=version >= MIN_GIT,
        message=f"version {said}" + ("" if version >= MIN_GIT else f", {wanted} is needed"),
    )


def _objects(work: Work, fix: bool) -> Finding:
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
            f"the next commit would delete {counted(len(out), 'file', 'files')} that still"
            f" {'lies' if len(out) == 1 else 'lie'} there, first {out[0]}: unless somebody wants"
            f" that, `git restore --staged .` keeps {these}"
        )
        return Finding(name="state", ok=False, message=message)
    message = f"{left}; the next write completes it, or --fix now" if left else "ready for writing"
    return Finding(name="state", ok=not left, message=message)


def _folders_gone(work: Work) -> list[str]:
    """Return the folders of memrepo that exist at HEAD but not in the work tree."""
    layout, root = work.tree.layout, work.store.root
    areas = (layout.area(name).rstrip("/") for name in AREAS)
    return [a for a in areas if work.tree.files.below(f"{a}/") and not (root / a).is_dir()]


def _taken_out(work: Work) -> list[str]:
    """Return files that are staged for deletion but unchanged in the work tree.

    Two git processes that write the index concurrently leave this state, and so does `git rm
    --cached`.
    """
    files = work.store.work
    out = [p for p, do in files.staged_since(work.tree.commit).items() if do == "D"]
    blobs = work.tree.blobs if out else {}  # lists every file, so only if needed
    return [p for p in out if p in blobs and files.is_at(p, blobs[p])]


def _identity(work: Work, fix: bool) -> Finding:
    email = person(work.store.repo)[1]
    if not email:
        return Finding(name="identity", ok=False, message="user.email is not set in git: set it")
    known = email in work.config.human_authors
    return Finding(
        name="identity",
        ok=known,
        message=email if known else f"{email} is not among human_authors in memrepo.toml",
    )


def _workspace(work: Work, fix: bool) -> Finding:
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
    found, damaged = read_manifests(work.tree.files, work.tree.layout)
    if damaged:
        return Finding(name="manifests", ok=False, message=str(damaged[0]))
    return Finding(
        name="manifests", ok=True, message=f"{counted(len(found), 'run', 'runs')} on record"
    )


def _index(work: Work, fix: bool) -> Finding:
    index_of(work).count(["memory"], Filter())
    return Finding(name="index", ok=True, message="up to date with HEAD")


def _meaning(work: Work, fix: bool) -> Finding:
    if not vectors.is_installed():
        return Finding(name="meaning", ok=True, message="no model: search uses words only")
    try:
        name = vectors.load().name
    except vectors.NoModelError as error:
        return Finding(name="meaning", ok=False, message=f"search uses words only: {error}")
    return Finding(name="meaning", ok=True, message=f"model {name}")


def _hook(work: Work, fix: bool) -> Finding:
    repo, shim = work.store.repo, asset("hooks", "shim")
    wrong, fixed = settings.wrong_hooks(repo, shim), False
    if wrong and fix and not settings.other_hooks_path(repo):
        settings.install_hooks(repo, shim)
        wrong, fixed = settings.wrong_hooks(repo, shim), True
    return Finding(
        name="hook",
        ok=not wrong,
        fixed=fixed and not wrong,
        message=wrong or f"{len(settings.HOOKS)} hooks run",
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
    if broken := broken_branches(work):
        message = f"{broken[0].message}; {broken[0].fix}"
        return Finding(name="waiting", ok=False, message=message, problems=broken)
    names = [w.branch for w in all_waiting(work)]
    message = f"for review: {', '.join(names)}" if names else "nothing waits for review"
    return Finding(name="waiting", ok=not names, message=message)


def _judge(work: Work, fix: bool) -> Finding:
    name = refuse_unable(work)
    cost = _next_run(work)
    return Finding(name="judge", ok=True, message=f"{name}; {cost}" if cost else name)


def _judges(work: Work, fix: bool) -> Finding:
    found = [f"{u.judge}: {'usable, ' if u.ready else ''}{u.message}" for u in usable_judges(work)]
    return Finding(name="judges", ok=True, message="; ".join(found))


def _next_run(work: Work) -> str:
    """Return the estimated cost of the next run; empty if the judge is free."""
    choice = Choice(now=work.call.now)
    if kind_of(work, choice) not in PAID:
        return ""
    from memrepo.actions.run.judge_choice import estimate_of

    try:
        return estimate_of(work.refreshed(), choice).said
    except MemrepoError as error:
        return f"the cost of the next run is unknown: {error.message}"


def _schedule(work: Work, fix: bool) -> Finding:
    times, zone = timetable(work, work.call.now), work.config.zone.key
    said, fixed = "; ".join(times.complaints), False
    if times.by == "crontab" and (wrong := out_of_step(work, work.call.now)):
        if fix:
            install(work, work.call.now)
            fixed = True
        else:
            said = "; ".join(filter(None, (said, wrong)))
    due = times.next if times.by else None
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
    *CLONE_CHECKS,
    *HISTORY_CHECKS,
)
WHOLE = frozenset(
    (
        *("objects", "memories", "manifests", "index", "rules", "secrets"),
        *("views", "hot", "ledger", "broken", "history", "runs", "references", "tombstones"),
        *("rejected", "signatures"),
    )
)
"""Checks that read every memory, every run or every object."""


def names() -> Iterator[str]:
    """Yield the names of all checks, for the documentation."""
    yield from map(_name, CHECKS)
    yield "schedule"
