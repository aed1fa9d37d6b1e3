"""The checks of `doctor` that look at how a clone is set up, and at all rules of `check`."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakKeyDictionary

from memrepo.actions.check import whole
from memrepo.actions.run.derived import derived_files
from memrepo.actions.setup.budgets import hot_budget
from memrepo.actions.setup.finding import Check, Finding
from memrepo.actions.work import Work
from memrepo.checks import registry
from memrepo.config import FORMAT
from memrepo.core.changes import Delete, Write
from memrepo.core.layout import HOT_NAMES
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.store import history, hooks, settings, trust
from memrepo.store.answers import broken_runs
from memrepo.store.drivers import is_adopted
from memrepo.store.ledger import ledger_of
from memrepo.store.travel import RECORDS
from memrepo.views.hot import hot_path


def _format(work: Work, fix: bool) -> Finding:
    del fix
    found = work.config.get("format")
    how = "upgrade memrepo" if found > FORMAT else "`memrepo upgrade` migrates it"
    message = f"format {found}" + (
        f", this memrepo writes {FORMAT}: {how}" if found != FORMAT else ""
    )
    return Finding(name="format", ok=found == FORMAT, message=message)


def _branch(work: Work, fix: bool) -> Finding:
    del fix
    branch = work.store.branch_or_none.removeprefix("refs/heads/")
    said = branch or "HEAD is detached: nothing can be written (`git switch` to a branch)"
    return Finding(name="branch", ok=bool(branch), message=said)


def _program(work: Work, fix: bool) -> Finding:
    repo = work.store.repo
    known = settings.get(repo, hooks.PROGRAM)
    if known and not Path(known).is_file():
        if fix:
            settings.drop(repo, hooks.PROGRAM)
            hooks.name_program(repo)
            known = settings.get(repo, hooks.PROGRAM)
            return Finding(
                name="program", ok=True, fixed=True, message=known or "looked for on the PATH"
            )
        message = f"{known} is gone: hooks cannot start it ({hooks.PROGRAM})"
        return Finding(name="program", ok=False, message=message)
    return Finding(name="program", ok=True, message=known or "looked for on the PATH")


def _hookspath(work: Work, fix: bool) -> Finding:
    del fix
    path = hooks.in_tree(work.store.repo)
    message = f"core.hooksPath is {path}, which whoever can push may write" if path else "outside"
    return Finding(name="hookspath", ok=not path, message=message)


def _trust(work: Work, fix: bool) -> Finding:
    del fix
    why = trust.untrusted(work.store.repo)
    return Finding(name="trust", ok=not why, message=why or "no program that you did not see")


def _attributes(work: Work, fix: bool) -> Finding:
    del fix
    adopted = is_adopted(work.store.repo, work.store.layout)
    known = settings.workspace(work.store.repo) == work.store.root or bool(work.store.layout.prefix)
    said = "git leaves the text of memories alone"
    if adopted and not known:
        said = ".gitattributes lacks `*.md -merge -text`: git may rewrite memories' line ends"
    return Finding(name="attributes", ok=known or not adopted, message=said)


def _rules(work: Work, fix: bool) -> Finding:
    del fix
    found, _LOOKED[work] = _held(work)
    message = f"{len(registry.RULES)} rules hold"
    if found:
        message = f"{counted(len(found), 'finding', 'findings')}, first {found[0]}"
    return Finding(name="rules", ok=not found, message=message, problems=found)


def _secrets(work: Work, fix: bool) -> Finding:
    del fix
    looked = _LOOKED.pop(work, None)
    found = _held(work)[1] if looked is None else looked
    message = "none in the tree (`memrepo check --history` looks at the past)"
    if found:
        message = f"{counted(len(found), 'finding', 'findings')}, first {found[0]}"
    return Finding(name="secrets", ok=not found, message=message, problems=found)


_LOOKED: WeakKeyDictionary[Work, tuple[Problem, ...]] = WeakKeyDictionary()
"""The secrets that were met when the other rules were asked: no file is read twice for them."""


def _held(work: Work) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Hold the work tree against all rules at once; those about secrets are told apart."""
    looked = whole.look(work.store.root)
    found = [p for p in looked.problems if p.severity == "error"]
    early = tuple(p for p in looked.early if p.severity == "error")
    secrets = {name for name, rule in registry.RULES.items() if rule.group == "secrets"}
    others = tuple(p for p in found if p.rule not in secrets)
    return (*early, *others), tuple(p for p in found if p.rule in secrets)


def _views(work: Work, fix: bool) -> Finding:
    del fix
    area = work.tree.layout.area("views")
    stale: list[str] = []
    if any(path.startswith(area) for path in work.tree.blobs):
        changes = derived_files(work, work.tree.state(), afresh=True)
        stale = sorted(c.path for c in changes if isinstance(c, Write | Delete))
    # Single writes leave them behind on purpose: that is how things stand, and nothing is wrong.
    said = counted(len(stale), "page is", "pages are")
    message = f"{said} behind until the next run" if stale else "in step with the memories"
    return Finding(name="views", ok=True, message=message)


def _pages(work: Work, fix: bool) -> Finding:
    """Look for pages that somebody deleted and git still has: what reads them finds nothing."""
    layout, tree, files = work.tree.layout, work.tree.files, work.store.work
    hot = (p for name in HOT_NAMES if tree.regular(p := layout.prefix + name))
    gone = files.gone([*tree.below(layout.area("views")), *hot])
    if not gone:
        return Finding(name="pages", ok=True, message="none is gone from the work tree")
    said = f"{counted(len(gone), 'page is', 'pages are')} gone from the work tree, first {gone[0]}"
    if fix:
        files.restore(gone)
        return Finding(name="pages", ok=True, message=f"{said}: put back", fixed=True)
    return Finding(name="pages", ok=False, message=f"{said}; --fix puts them back")


def _hot(work: Work, fix: bool) -> Finding:
    del fix
    state = work.tree.state()
    hot = hot_budget(work, state)
    ok = hot.bullets <= hot.budget
    path = hot_path(state.files, state.layout, work.config.rules.hot)
    message = f"{hot.bullets} of {hot.budget} bullets in {path}"
    if not ok:
        message += ": more than the budget; `memrepo promote ID --off` or `pin ID --off` some"
    return Finding(name="hot", ok=ok, message=message)


def _ledger(work: Work, fix: bool) -> Finding:
    ledger, repo = ledger_of(work.store), work.store.repo
    ledger.accesses()
    tip, known = ledger.tip(), history.decided_from(repo, work.tree.commit)
    if not known or known == tip or ledger.reaches(known):
        return Finding(name="ledger", ok=True, message=f"at {tip[:10]}" if tip else "empty")
    said = f"lacks {known[:10]}, which the newest run decided from"
    if not work.store.resolve(known):
        return Finding(name="ledger", ok=False, message=f"{said}: `memrepo sync` brings it")
    if not fix:
        return Finding(name="ledger", ok=False, message=f"{said}; --fix puts it back")
    ledger.join(known, work.store.commit_time(work.tree.commit))
    return Finding(name="ledger", ok=True, message=f"{said}: put back", fixed=True)


def _broken(work: Work, fix: bool) -> Finding:
    del fix
    left = [b.run for b in broken_runs(work.store.folder)]
    message = f"{', '.join(left)} broke off (`memrepo run --resume`)" if left else "none broke off"
    return Finding(name="broken", ok=not left, message=message)


def _purged(work: Work, fix: bool) -> Finding:
    """Look for purges that this clone cannot know again, or has not repeated."""
    del fix
    repo = work.store.repo
    if not repo.refs.id(RECORDS):
        return Finding(name="purged", ok=True, message="nothing was purged")
    from memrepo.store import purges

    known = purges.receipts(repo)
    said = counted(len(known), "purge", "purges") + " on record"
    if missing := sorted({r.key for r in known if purges.key_of(r.key) is None}):
        where = purges.keys_folder()
        message = f"{said}; {where} lacks {', '.join(missing)}: what was purged may come back here"
        return Finding(name="purged", ok=False, message=message)
    if left := [r.id for r in known if not purges.is_done(repo, r.id)]:
        message = f"{said}; `memrepo sync` repeats {', '.join(left)} here"
        return Finding(name="purged", ok=False, message=message)
    return Finding(name="purged", ok=True, message=f"{said}, and none comes back")


CHECKS: tuple[Check, ...] = (
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
