"""Merges that a person made with git are settled before memrepo writes anything else.

What was looked at is remembered as a commit in `<git common dir>/memrepo/validated`: a cache, which
any clone builds for itself. A settling commit names the merges that it settles, so that no other
clone does it again. (docs/merging.md, "Merging by hand")
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from memrepo.actions.brought_back import put_back
from memrepo.actions.derived import derived_contents
from memrepo.actions.landing import TRIES
from memrepo.actions.sync.hand_commits import broken_rules
from memrepo.actions.sync.unite import unite
from memrepo.actions.work import MACHINE, Work
from memrepo.core.changes import Step
from memrepo.core.messages import Context, message
from memrepo.core.problems import Problem
from memrepo.core.state import Effect, State
from memrepo.merge import closure
from memrepo.merge.git_merges import Made, Settled, settle
from memrepo.merge.states import Facts, merge_states
from memrepo.merge.versions import Kept
from memrepo.store import history
from memrepo.store.gitenv import NotARepository
from memrepo.store.lock import CannotWork
from memrepo.store.repo import BranchMoved, FilesInTheWay
from memrepo.store.stream import SYNC, Chain, Commit

SETTLES = "Settles"
_NAME = "validated"


class Unsettled(msgspec.Struct, frozen=True, kw_only=True):
    """One merge that git made, and what it should have left."""

    merge: history.Entry
    settled: Settled
    kept: tuple[Kept, ...] = ()

    def told(self) -> GitMerge:
        """Return what is told of it."""
        return GitMerge(
            merge=self.merge.commit, memories=self.settled.memories, what=self.settled.told
        )


class GitMerge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge that git made without memrepo: its commit, and what settling it will change."""

    merge: str
    memories: tuple[str, ...]
    what: tuple[str, ...]


class Settling(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be written on HEAD to settle all merges that were made by hand."""

    found: tuple[Unsettled, ...]
    effect: Effect
    problems: tuple[Problem, ...] = ()


def settle_first(work: Work) -> tuple[Problem, ...]:
    """Settle what git merged by hand, in one commit; what stands in the way is a Problem.

    A repository in which nothing may be written is left to the command that comes next.
    """
    try:
        if work.config.read_only or validated(work) == work.tree.commit:
            return ()
        if _only_ours(work):
            _remember(work, work.tree.commit)
            return ()
        work.store.refuse_unfit()
        work.store.recover()
        return (*put_back(work, validated(work)), *_settled(work))
    except (NotARepository, CannotWork):
        return ()


def _only_ours(at: Work) -> bool:
    """Tell whether memrepo made every commit since the validated one; each was validated then."""
    since = validated(at)
    if not since:
        return False
    walk = history.entries(at.store.repo, f"{since}..{at.tree.commit}")
    return all(entry.trailer("Op") for entry in walk)


def _settled(at: Work) -> tuple[Problem, ...]:
    for turn in range(1, TRIES + 1):
        at = at.refreshed()
        plan, unseen = unsettled(at), unseen_problems(at)
        told = (*plan.problems, *unseen)
        try:
            tip = _land(at, plan) if plan.effect.files else at.tree.commit
        except FilesInTheWay as error:
            return (*told, _in_the_way(error, plan))
        except BranchMoved:
            if turn == TRIES:
                raise
            continue
        _remember(at, tip)
        return (*told, *(_told(one, tip) for one in plan.found))
    raise AssertionError("unreachable")


def unsettled(at: Work) -> Settling:
    """Compute what settles the merges made by hand since the last validated commit."""
    merges, found, problems = merges_by_hand(at), list[Unsettled](), list[Problem]()
    if not merges:
        return Settling(found=(), effect=Effect(files={}))
    state = at.tree.state()
    for merge in merges:
        if len(merge.parents) != 2:
            problems.append(_octopus(merge))
            continue
        one, made = _one(at, merge)
        if one.settled.edits:
            found.append(one)
            facts = Facts(paths=one.settled.edits)
            later = frozenset(at.store.work.changed(merge.commit, at.tree.commit))
            state = merge_states(
                made.left,
                state,
                one.settled.state,
                our_facts=Facts(paths=later | frozenset(state.files.edits)),
                their_facts=facts,
            ).state
        problems += [_gave_way(merge, kept) for kept in one.kept]
    effect = _effect(at, state) if found else Effect(files={})
    return Settling(found=tuple(found), effect=effect, problems=tuple(problems))


def merges_by_hand(at: Work) -> list[history.Entry]:
    """Return the merges since the last validated commit that nobody settled, oldest first."""
    repo, head = at.store.repo, at.tree.commit
    since = validated(at)
    born = "" if since else history.birth(at.store.repo, head, at.tree.layout.config)
    span = [head, f"^{since}"] if since else [head]
    if born:
        span = [f"{born}..{head}", "--ancestry-path"]  # what came before us is not ours
    walk = list(history.entries(repo, "--merges", "--topo-order", "--reverse", *span))
    hands = [e for e in walk if not e.trailer("Op")]
    if not hands:
        return []
    done = history.entries(repo, "--grep", f"^Memrepo-{SETTLES}: ", *span)
    known = {commit for e in done for commit in e.trailers.get(SETTLES, ())}
    return [e for e in hands if e.commit not in known and _concerns(at, e)]


def _concerns(at: Work, merge: history.Entry) -> bool:
    """Tell whether both sides of a merge brought something of memrepo's."""
    bases = at.store.common_ancestors(merge.parents[:2])
    return not bases or all(
        any(at.tree.layout.owns(path) for path in at.store.work.changed(bases[0], parent))
        for parent in merge.parents
    )


def _one(at: Work, merge: history.Entry) -> tuple[Unsettled, Made]:
    store, (ours, theirs) = at.store, merge.parents
    united = unite(store, ours, theirs, at.config.human_authors)
    left = store.snapshot(merge.commit).state()
    paths = united.paths | frozenset(store.work.changed(ours, merge.commit))
    made = Made(
        base=united.base,
        ours=united.ours,
        theirs=united.theirs,
        united=united.result,
        left=left,
        paths=paths,
    )
    settled = settle(made)
    lost = tuple(k for k in united.result.kept if k.path in settled.edits)
    return Unsettled(merge=merge, settled=settled, kept=lost), made


def _effect(at: Work, state: State) -> Effect:
    """Return what turns HEAD into a state, pages included."""
    old = at.tree.state()
    files = {p: d for p, d in state.files.edits.items() if d != old.files.get(p)}
    return Effect(files={**files, **derived_contents(at, state)})


def _land(at: Work, plan: Settling) -> str:
    merges = [one.merge.commit for one in plan.found]
    told = [what for one in plan.found for what in one.settled.told]
    ids = tuple(sorted({id_ for one in plan.found for id_ in one.settled.memories}))
    names = ", ".join(commit[:10] for commit in merges[:3])
    step = Step(
        op="sync",
        what=f"Repair merge {names}, made by git",
        memories=ids,
        reason=f"git merged without memrepo; {', '.join(told)}",
    )
    context = Context(actor=MACHINE, settles=tuple(merges))
    when = at.store.not_before(at.call.now, at.tree.commit)
    commit = Commit(message=message(step, context), effect=plan.effect)
    chain = Chain(base=at.tree.commit, commits=[commit], author=SYNC, when=when)
    return at.store.land(chain, f"settle-{at.tree.commit[:10]}")


# -- what was validated ----------------------------------------------------------------------


def validated(at: Work) -> str:
    """Return the commit up to which this clone looked at everything, or an empty string."""
    try:
        found = (at.store.folder / _NAME).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return at.store.resolve(found) if found.isalnum() else ""


def _remember(at: Work, commit: str) -> None:
    path = at.store.folder / _NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{commit}\n", encoding="ascii")
    except OSError:
        pass  # it is looked at again, that is all


def unseen_problems(at: Work) -> tuple[Problem, ...]:
    """Return what commits since the validated one, which no hook saw, broke.

    Files that cannot be read are findings of the tree itself, at every command that reads it.
    """
    since = validated(at)
    if since == at.tree.commit:
        return ()
    state = at.tree.state()
    known = closure.known_in(*([at.store.snapshot(since).state()] if since else []))
    found = [f.problem for f in closure.findings(state) if f.name not in known]
    between = (replace(problem, severity="warning") for problem in found)
    return (*between, *broken_rules(at, since))


# -- what a person is told -------------------------------------------------------------------


def announced(plan: Settling) -> tuple[Problem, ...]:
    """Return what `status` says of merges that wait to be settled."""
    told = (
        Problem(
            path=one.merge.commit[:10],
            rule="git-merge-unsettled",
            severity="warning",
            message=f"git made this merge without memrepo: {', '.join(one.settled.told)} to settle",
            fix="nothing: the next command that writes does it in a commit of its own",
        )
        for one in plan.found
    )
    return (*told, *plan.problems)


def _told(one: Unsettled, commit: str) -> Problem:
    return Problem(
        path=one.merge.commit[:10],
        rule="git-merge-settled",
        severity="warning",
        message=f"git made this merge without memrepo; settled in {commit[:10]}: "
        + ", ".join(one.settled.told),
        fix=f"nothing; `memrepo revert {commit[:10]}` takes it back",
    )


def _gave_way(merge: history.Entry, kept: Kept) -> Problem:
    return Problem(
        path=kept.path,
        rule="git-merge-gave-way",
        severity="warning",
        key=kept.key,
        message="found two wordings in one merge, and one of them stands",
        fix="`git show <commit>:<path>` has the other, the commit being one of "
        + ", ".join(parent[:10] for parent in merge.parents),
    )


def _octopus(merge: history.Entry) -> Problem:
    return Problem(
        path=merge.commit[:10],
        rule="git-merge-of-many",
        severity="warning",
        message=f"found a merge of {len(merge.parents)} branches at once, expected two",
        fix="look at what it left (`git show`), or merge the branches one by one",
    )


def _in_the_way(error: FilesInTheWay, plan: Settling) -> Problem:
    return Problem(
        path=error.paths[0],
        rule="git-merge-unsettled",
        severity="warning",
        message=f"a merge made by git ({plan.found[0].merge.commit[:10]}) is not settled yet: "
        "found uncommitted changes on a file that it concerns",
        fix="commit or undo them: the next command that writes settles the merge",
    )
