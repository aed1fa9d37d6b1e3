"""Repair the effects of manual git commands before memrepo writes anything else.

Merges made by git are settled, broken rules are reported, and tombstones that were removed or
changed are put back. `<git common dir>/memrepo/validated` names the last commit that this clone
checked. The file is a cache that each clone builds for itself. A settling commit lists the merges
it settles, so that no other clone settles them again (docs/merging.md, "Merging by hand").
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePath
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import derived_contents, prepare, retried
from memrepo.actions.sync.join import sides_of
from memrepo.actions.work import MACHINE, Work
from memrepo.checks.rules import Group
from memrepo.core import codec
from memrepo.core.changes import Plan, Step, Write
from memrepo.core.messages import Context, counted, message
from memrepo.core.problems import Problem
from memrepo.core.state import Effect, apply
from memrepo.merge import closure
from memrepo.merge.git_merges import Made, settle
from memrepo.merge.states import SideFacts, merge_states
from memrepo.merge.tombstones import (
    REJECTED,
    Tombstone,
    brought_back,
    changed_by_hand,
    has_seal,
    is_tombstone,
    read_tombstone,
    sweep,
    tombstone_bytes,
)
from memrepo.store import history
from memrepo.store.errors import CannotWork, FilesInTheWay, NotARepository
from memrepo.store.history import GIT_REVERTS, changes, hand_commits
from memrepo.store.stream import SYNC, Chain, NewCommit

SETTLES = "Settles"
_NAME = "validated"


class GitMerge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge made by git without memrepo: its commit, and the changes needed to settle it."""

    merge: str
    memories: tuple[str, ...]
    what: tuple[str, ...]


class Settling(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to commit on top of HEAD to settle all merges made by git."""

    found: tuple[GitMerge, ...] = ()
    effect: Effect = Effect(files={})
    problems: tuple[Problem, ...] = ()


def _warning(path: str, rule: str, message: str, fix: str, key: str = "") -> Problem:
    return Problem(path=path, rule=rule, key=key, message=message, fix=fix, severity="warning")


def settle_first(work: Work) -> tuple[Problem, ...]:
    """Settle merges made by git in one commit, and return the problems to report.

    If the repository does not accept writes, return nothing. The next command reports the reason.
    """
    try:
        since, head = validated(work), work.tree.commit
        if work.config.read_only or since == head:
            return ()
        walk = history.entries(work.store.repo, f"{since}..{head}") if since else ()
        if since and all(entry.trailer("Op") for entry in walk):
            _remember(work, head)  # memrepo made every commit, so none needs a check
            return ()
        work.store.refuse_unfit()
        work.store.recover()
        return (*restore_tombstones(work, since), *retried(work.store, lambda: _settle(work)))
    except (NotARepository, CannotWork):
        return ()


def _settle(work: Work) -> tuple[Problem, ...]:
    at = work.refreshed()
    plan = unsettled(at)
    notices = (*plan.problems, *unseen_problems(at))
    try:
        tip = _land(at, plan) if plan.effect.files else at.tree.commit
    except FilesInTheWay as error:
        waiting = _warning(
            error.paths[0],
            "git-merge-unsettled",
            f"a merge made by git ({plan.found[0].merge[:10]}) is not repaired yet: "
            "one of its files has uncommitted changes",
            "commit or undo them; the next command that writes then repairs the merge",
        )
        return (*notices, waiting)
    _remember(at, tip)
    settled = (
        _warning(
            one.merge[:10],
            "git-merge-settled",
            f"git made this merge without memrepo; repaired in {tip[:10]}: {', '.join(one.what)}",
            f"nothing; `memrepo revert {tip[:10]}` reverts it",
        )
        for one in plan.found
    )
    return (*notices, *settled)


def unsettled(at: Work) -> Settling:
    """Return the changes that settle all merges made by git since the last validated commit."""
    found, problems = list[GitMerge](), list[Problem]()
    head = at.tree.state()
    state = head
    for merge in merges_by_hand(at):
        if len(merge.parents) != 2:
            problems.append(
                _warning(
                    merge.commit[:10],
                    "git-merge-of-many",
                    f"found a merge of {len(merge.parents)} branches at once, expected two",
                    "check its result (`git show`), or merge the branches one by one",
                )
            )
            continue
        made = _made(at, merge)
        settled = settle(made)
        problems += [
            _warning(
                losing.path,
                "git-merge-gave-way",
                "the merge contains two wordings; one of them is current",
                "`git show <commit>:<path>` has the other, the commit being one of "
                + ", ".join(parent[:10] for parent in merge.parents),
                losing.key,
            )
            for losing in made.united.kept
            if losing.path in settled.edits
        ]
        if settled.edits:
            found.append(
                GitMerge(merge=merge.commit, memories=settled.memories, what=settled.summary)
            )
            later = frozenset(at.store.work.changed(merge.commit, at.tree.commit))
            state = merge_states(
                made.left,
                state,
                settled.state,
                our_facts=SideFacts(paths=later | frozenset(state.files.edits)),
                their_facts=SideFacts(paths=settled.edits),
            ).state
    if not found:
        return Settling(problems=tuple(problems))
    files = {p: d for p, d in state.files.edits.items() if d != head.files.get(p)}
    effect = Effect(files={**files, **derived_contents(at, state)})
    return Settling(found=tuple(found), effect=effect, problems=tuple(problems))


def merges_by_hand(at: Work) -> list[history.LogEntry]:
    """Return the unsettled merges since the last validated commit, oldest first."""
    repo, head = at.store.repo, at.tree.commit
    since = validated(at)
    born = "" if since else history.first_commit(at.store.repo, head, at.tree.layout.config)
    span = [head, f"^{since}"] if since else [head]
    if born:
        span = [f"{born}..{head}", "--ancestry-path"]  # ignore earlier history
    walk = list(history.entries(repo, "--merges", "--topo-order", "--reverse", *span))
    hands = [e for e in walk if not e.trailer("Op")]
    if not hands:
        return []
    done = history.entries(repo, "--grep", f"^Memrepo-{SETTLES}: ", *span)
    known = {commit for e in done for commit in e.trailers.get(SETTLES, ())}
    return [e for e in hands if e.commit not in known and _concerns(at, e)]


def _concerns(at: Work, merge: history.LogEntry) -> bool:
    """Return whether both sides of a merge changed files that memrepo owns."""
    bases = at.store.common_ancestors(merge.parents[:2])
    return not bases or all(
        any(at.tree.layout.owns(path) for path in at.store.work.changed(bases[0], parent))
        for parent in merge.parents
    )


def _made(at: Work, merge: history.LogEntry) -> Made:
    store, (ours, theirs) = at.store, merge.parents
    sides = sides_of(store, ours, theirs, at.config.human_authors)
    paths = {path for facts in sides.facts for path in facts.paths or ()}
    return Made(
        base=sides.base,
        ours=sides.states[0],
        theirs=sides.states[1],
        united=sides.merged(),
        left=store.snapshot(merge.commit).state(),
        paths=frozenset({*paths, *store.work.changed(ours, merge.commit)}),
    )


def _land(at: Work, plan: Settling) -> str:
    merges = tuple(one.merge for one in plan.found)
    counts = [what for one in plan.found for what in one.what]
    step = Step(
        op="sync",
        what=f"Repair merge {', '.join(commit[:10] for commit in merges[:3])}, made by git",
        memories=tuple(sorted({id_ for one in plan.found for id_ in one.memories})),
        reason=f"git merged without memrepo; repaired: {', '.join(counts)}",
    )
    when = at.store.not_before(at.call.now, at.tree.commit)
    text = message(step, Context(actor=MACHINE, settles=merges))
    commit = NewCommit(message=text, effect=plan.effect)
    chain = Chain(base=at.tree.commit, commits=[commit], author=SYNC, when=when)
    return at.store.land(chain, f"settle-{at.tree.commit[:10]}")


# -- the last validated commit -------------------------------------------------------------------


def validated(at: Work) -> str:
    """Return the last commit that this clone validated, or an empty string."""
    try:
        found = (at.store.folder / _NAME).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return at.store.resolve(found) if found.isalnum() else ""


def _remember(at: Work, commit: str) -> None:
    path = at.store.folder / _NAME
    with suppress(OSError):  # the cost is only that the next call validates again
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{commit}\n", encoding="ascii")


def unseen_problems(at: Work) -> tuple[Problem, ...]:
    """Return the rules that unvalidated commits broke, because no hook checked those commits."""
    since = validated(at)
    if since == at.tree.commit:
        return ()
    state = at.tree.state()
    known = closure.known_in(*([at.store.snapshot(since).state()] if since else []))
    found = [f.problem for f in closure.findings(state) if f.name not in known]
    between = (replace(problem, severity="warning") for problem in found)
    return (*between, *broken_rules(at, since))


_GROUPS: tuple[Group, ...] = ("schema", "tags", "secrets", "derived", "size")
"""The rules to check.

References are checked on the whole tree; the order of keys is not checked.
"""


def broken_rules(at: Work, since: str) -> tuple[Problem, ...]:
    """Return the errors that manual commits made since a given commit and that are still present.

    Hooks do not run with `--no-verify`, for edits on a web page, for rebases, or in clones without
    hooks.
    """
    if since in ("", at.tree.commit):
        return ()
    git = at.store.repo
    walk = hand_commits(git, f"{since}..{at.tree.commit}")
    # `git revert` of a run takes its manifest away, as a revert by memrepo does.
    hands = [hand.commit for hand in walk if not hand.subject.startswith(GIT_REVERTS)]
    if not hands:
        return ()
    from memrepo.actions.check.commits import problems_of

    known = {(p.path, p.rule) for p in at.tree.state().problems}  # reported for the tree itself
    return tuple(
        replace(p, severity="warning", message=f"{p.message} (commit {commit[:10]})")
        for commit, p in problems_of(git, at.tree, hands, _GROUPS)
        if p.severity == "error" and (p.path, p.rule) not in known
    )


def announced(plan: Settling) -> tuple[Problem, ...]:
    """Return the warnings that `status` shows for unsettled merges."""
    notices = (
        _warning(
            one.merge[:10],
            "git-merge-unsettled",
            f"git made this merge without memrepo: {', '.join(one.what)} to settle",
            "nothing to do: the next command that writes repairs it in a separate commit",
        )
        for one in plan.found
    )
    return (*notices, *plan.problems)


# -- rejections that were removed or undone by hand ----------------------------------------------


def rejected_again(work: Work, since: str) -> tuple[Problem, ...]:
    """Return a problem for each file that repeats a rejected statement, committed or not.

    Tombstones removed or changed by hand are included. `since` is the last commit that this clone
    validated.
    """
    found = [p for p in work.tree.state().problems if p.rule == REJECTED]
    found += uncommitted(work)
    found += [
        _warning(
            path,
            "tombstone-edited",
            "was removed or changed by a commit by hand: the next write or sync puts it back",
            f"`memrepo reject {PurePath(path).stem} --undo` lifts it, if it is right after all",
        )
        for path, _ in _weakened(work, since)
    ]
    return tuple({p.path: p for p in found}.values())


def uncommitted(work: Work) -> Iterator[Problem]:
    """Yield problems for uncommitted files that bring back a rejected statement."""
    stones = work.tree.stones
    if not stones:
        return
    layout = work.tree.layout
    yield from _changed_stones(work)
    for path, data in work.store.work.edits(layout.area("memories")).items():
        if data is None or not layout.is_memory(path):
            continue
        memory = codec.decode(path, data)[0]
        if memory is None or memory.status == "forgotten":
            continue
        if (stone := stones.bar(memory)) is not None:
            yield brought_back(memory, stone)


def _changed_stones(work: Work) -> Iterator[Problem]:
    """Yield problems for tombstones with uncommitted changes."""
    area = work.tree.layout.area("tombstones")
    for path, data in work.store.work.edits(area).items():
        if not is_tombstone(work.tree.layout, path):
            continue
        if data is None and path in work.tree.blobs:
            yield _warning(
                path,
                "tombstone-edited",
                "was removed by a manual commit: its rejection remains in effect",
                f"`git restore {path}`",
            )
        elif data is not None:
            before = work.tree.files.get(path, b"")
            problem = read_tombstone(path, data)
            if isinstance(problem, Problem):
                yield replace(problem, severity="warning")
            elif has_seal(before) and not has_seal(data):
                yield replace(changed_by_hand(path), severity="warning")


def restore_tombstones(work: Work, since: str) -> tuple[Problem, ...]:
    """Restore tombstones that manual commits removed or changed since a commit; return warnings.

    Only `reject --undo` lifts a rejection. Otherwise a removal committed without hooks would bring
    the statement back on every machine that pulls it.
    """
    at = work.refreshed()
    lost = dict(_weakened(at, since))
    if not lost:
        return ()
    before = at.tree.state()
    writes = tuple(Write(path=path, data=data) for path, data in lost.items())
    step = Step(
        op="reject",
        what=f"Put back {counted(len(lost), 'rejection', 'rejections')}",
        reason="a commit by hand removed or changed them; only `memrepo reject --undo` lifts one",
        changes=(*writes, *sweep(apply(before, writes))),
    )
    plan = Plan(base=at.tree.commit, steps=(step,))
    landing = prepare(at.store, before, plan, at.context(), work.call.now)
    commit = at.store.land(landing.chain, f"stones-{at.tree.commit[:10]}")
    return tuple(
        _warning(
            path,
            REJECTED,
            f"a commit by hand took this tombstone away or changed it; put back in {commit[:10]}",
            f"`memrepo reject {PurePath(path).stem} --undo` lifts it, if it is right after all",
        )
        for path in lost
    )


def _weakened(at: Work, since: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path, bytes) for each tombstone that commits removed or weakened since a given one.

    Of several versions, the one with the highest rank and a seal is restored. Only a manual edit,
    or a merge that took one side as a whole, can lose it.
    """
    if since in ("", at.tree.commit):
        return
    layout, git = at.tree.layout, at.store.repo
    area = layout.area("tombstones")
    words = ("rev-list", "--full-history", "--no-merges", f"{since}..{at.tree.commit}")
    seen = {
        (path, blob)
        for _, path, old, new in changes(git, git.call(*words, "--", area).split())
        for blob in filter(None, (old, new))
    }
    # Include older tombstones that were removed only by a merge, or replaced by a symbolic link.
    for base in at.store.common_ancestors([since, at.tree.commit]):
        before = at.store.snapshot(base).files.below(area)
        seen |= before.items() - at.tree.files.below(area).items()
    best: dict[str, tuple[_Weight, Tombstone]] = {}
    for path, blob in sorted(seen):
        if is_tombstone(layout, path) and (one := _read_weight(path, git.read(blob))) is not None:
            best[path] = max(one, best.get(path, one), key=lambda known: known[0])
    for path, (weight, stone) in best.items():
        here = _read_weight(path, at.tree.files.get(path, b""))
        if here is None or here[0] < weight:
            yield path, tombstone_bytes(stone)


_Weight: TypeAlias = tuple[bool, tuple[int, bool, str]]


def _read_weight(path: str, data: bytes) -> tuple[_Weight, Tombstone] | None:
    stone = read_tombstone(path, data)
    return ((has_seal(data), stone.rank), stone) if isinstance(stone, Tombstone) else None
