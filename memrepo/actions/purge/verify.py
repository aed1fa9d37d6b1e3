"""`memrepo purge verify`: search everything once more, for the value or by its keyed hash."""

from __future__ import annotations

from memrepo.actions.purge.places import hits_of, places
from memrepo.actions.purge.purge import (
    Result,
    clones,
    files_of,
    outside,
    recognised,
    recognised_words,
)
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, UsageError
from memrepo.core.needles import Needle, keyed, mac, needles_of
from memrepo.merge.purged_ids import with_words
from memrepo.merge.purging import Edit
from memrepo.store import purges, quarantine
from memrepo.store.purges import KeyMissing, Receipt
from memrepo.store.rewrite import History, read_history


class NoReceipt(UsageError):
    """There is no purge on record of that name, or none at all."""

    def __init__(self, word: str) -> None:
        super().__init__(
            f"no receipt {word!r} is on record here" if word else "no purge is on record here",
            fix="`memrepo sync` brings the records of other clones",
        )


def verify(work: Work, word: str) -> Result:
    """Search for what receipts are about; one that standard input names by its value, by that."""
    repo = work.store.repo
    known = [r for r in purges.receipts(repo) if r.id.startswith(word)]
    if not known:
        raise NoReceipt(word)
    history = read_history(repo, quarantine.tips_of(repo))
    given = work.call.read().strip()
    if given:
        needles = needles_of([given])
        known = [r for r in known if _is_about(r, needles)] or known[-1:]
        edit = Edit(needles=needles, seed="")
        edit = with_words(edit, files_of(work, history), work.tree.layout)
    else:
        needles = tuple(n for r in known for n in _again(work, history, r))
        words = {w for r in known for w in recognised_words(work, history, r.words, _key(r))}
        edit = Edit(needles=needles, seed="", words=frozenset(words))
    found = places(work, edit, history) if needles or edit.words else []
    hits = hits_of(found)
    old = [tip for r in known for tip in _old_tips(work, r)]
    fine = not hits and not old
    left = {**outside(found), **({"old tip": len(old)} if old else {})}
    return Result(
        receipt=", ".join(r.id for r in known),
        places=tuple(found),
        hits=hits,
        left=left,
        verified=fine,
        clones=clones(work, known[-1].id),
        exit=Exit.DONE if fine else Exit.NO,
    )


def _is_about(receipt: Receipt, needles: tuple[Needle, ...]) -> bool:
    key = purges.key_of(receipt.key)
    return key is not None and any(keyed(n, key) in receipt.values for n in needles)


def _again(work: Work, history: History, receipt: Receipt) -> list[Needle]:
    return recognised(work, history, receipt.values, _key(receipt))


def _key(receipt: Receipt) -> bytes:
    key = purges.key_of(receipt.key)
    if key is None:
        raise KeyMissing(receipt.id, receipt.key)
    return key


def _old_tips(work: Work, receipt: Receipt) -> list[str]:
    """Return the refs here that are still at what they were before."""
    key = purges.key_of(receipt.key)
    rows = work.store.repo.git.for_each_ref("--format=%(objectname) %(refname)").splitlines()
    kept = set(receipt.tips_after.values())
    before = set(receipt.tips_before)
    return [
        name
        for id_, name in (row.split(" ", 1) for row in rows)
        if key is not None and id_ not in kept and mac(key, "tip", id_) in before
    ]
