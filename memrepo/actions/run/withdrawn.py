"""Decisions that were taken back, by memrepo or by git: they are not taken again by themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memrepo.actions.work import Work
from memrepo.core.changes import BULK_OPS
from memrepo.purify.holds import fingerprints, prints_between
from memrepo.store import history, landings
from memrepo.store.history import Entry


def taken_back(work: Work) -> frozenset[str]:
    """Return fingerprints of decisions that were taken back and are not in effect again.

    A revert of memrepo's names them. One of git's took the manifest of a run out of the tree, and
    what the run had decided with it; where it brought back one that a revert had taken out, that
    revert counts no more.
    """
    found: set[str] = set()
    repo, head, layout = work.store.repo, work.tree.commit, work.tree.layout
    removed = landings.removals(repo, head, layout)
    void = frozenset(e.commit for e, paths in removed if work.tree.blobs.keys() >= {*paths})
    for commit, gone in history.taken_back(repo, head, void).items():
        for entry in history.chain_of(repo, commit):
            found |= _prints(work, entry, gone)
    for entry in _git_took(work, removed, void):
        found |= _prints(work, entry, None)
    return frozenset(found)


def _git_took(
    work: Work, removed: Collection[tuple[Entry, tuple[str, ...]]], void: Collection[str]
) -> Iterator[Entry]:
    """Yield the steps of runs whose manifests another commit than a revert of ours took away."""
    repo, layout = work.store.repo, work.tree.layout
    for entry, paths in removed:
        if entry.op == "revert" or entry.commit in void:
            continue
        before = work.store.snapshot(work.store.parents(entry.commit)[0])
        away = {landings.run_of(path) for path in paths if path not in work.tree.blobs}
        for landing in landings.landings(repo, before.commit, layout, before.blobs):
            if landing.run in away:
                yield from landing.steps(repo)


def _prints(work: Work, entry: Entry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of what one commit decided of some memories; None: of all."""
    ids = entry.trailers.get("Memory", ())
    if not ids and len(entry.parents) == 1 and entry.op in ("edit", "run"):
        return _unsaid(work, entry, gone)
    mine = [id_ for id_ in ids if gone is None or id_ in gone]
    if not mine:
        return frozenset()
    if entry.op not in BULK_OPS:
        return fingerprints(entry.op, ids, entry.prints)
    return fingerprints(entry.op, mine, [p for p in entry.prints if p.split(":")[1] in mine])


def _unsaid(work: Work, entry: Entry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of a whole run in one commit, whose words git lost."""
    if entry.subject == f"run: {landings.RECORD}":
        return frozenset()
    before, after = (work.store.snapshot(c).state() for c in (entry.parents[0], entry.commit))
    by_id = prints_between(before, after).items()
    return frozenset().union(*(found for id_, found in by_id if gone is None or id_ in gone))
