"""Find what a statement changes among those that stand, and say which of two is the newer one.

What changes is told by words (`policies.change`); which one is newer by evidence: a day that
stands in a text, heading or file name is sure, a later line or a later commit only says in which
order two lines were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from memrepo.core.judge import Finding, Newer, PriorClaim
from memrepo.policies.change import Change, change_of
from memrepo.policies.evidence import Basis, newer_of, same_place
from memrepo.policies.matching import normal_subject, tokens

SURE, UNSURE = 0.95, 0.5
_EXAMINED = 1000
"""So many are looked at for one statement, those of its rarest words first: a word that stands
everywhere says little."""
LOOKED = 24
"""With so many statements one is compared, those that share its rarest words first."""
_SHARED = 1 / 3
"""The least share of the words of the shorter of two that both hold."""
_SHARED_PAIRS = 1 / 8
"""The same where words are pairs of characters: one name makes few of them."""
LISTED = 5
"""More statements than these that each give another value in one frame are lines of a list."""
_WIDE = "\u2e80"
"""From here on stand the scripts that are cut into pairs."""


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """What one of two statements does to the other, which one is newer, and what says so."""

    change: Change
    newer: Newer
    basis: Basis

    @property
    def finding(self) -> Finding:
        """Return it as the answer to a question: sure where nobody has to look.

        A statement that says itself that another is over is believed where it was written later;
        one that only gives another value where a date says so.
        """
        sure = self.change.strength == "stated" and self.basis != ""
        sure = sure or (self.change.strength == "restated" and self.basis == "dated")
        return Finding(
            is_contradiction=True,
            confidence=SURE if sure else UNSURE,
            reasoning=self.change.reason,
            newer=self.newer if sure else "unknown",
        )


def noticed(first: PriorClaim, second: PriorClaim) -> Noticed | None:
    """Return what one of two statements changes about the other; None where both may hold.

    Where nothing says which is newer, either may be: then the first that is found counts.
    """
    if same_place(first.sources, second.sources):
        return None
    newer, basis = newer_of(first.sources, second.sources)
    pairs: tuple[tuple[PriorClaim, PriorClaim, Newer], ...] = (
        (second, first, "first"),
        (first, second, "second"),
    )
    for old, new, side in pairs:
        if newer not in (side, "unknown"):
            continue
        change = change_of(old.text, new.text)
        if change is not None and not _apart(change, old, new):
            return Noticed(change=change, newer=newer, basis=basis)
    return None


def _apart(change: Change, old: PriorClaim, new: PriorClaim) -> bool:
    """Tell whether texts that do not name their subject stand under two."""
    subjects = normal_subject(old.subject), normal_subject(new.subject)
    return change.bare and subjects[0] != subjects[1]


class Near:
    """Statements by their words: what one may change is found without a look at all others."""

    def __init__(self, priors: Iterable[PriorClaim] = ()) -> None:
        """Take statements; each id once."""
        self._priors: dict[str, PriorClaim] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._by_word: dict[str, list[str]] = {}
        for prior in priors:
            self._priors[prior.memory_id] = prior
            words = self._words[prior.memory_id] = tokens(prior.text)
            for word in words:
                self._by_word.setdefault(word, []).append(prior.memory_id)

    def changed(self, claim: PriorClaim) -> Mapping[str, Noticed]:
        """Return by id what a statement and those near it change about each other.

        Several standing values of one key are a list, and nothing is changed by one more; what was
        taken back, cancelled or came back is the one thing that is covered best, or nothing.
        """
        found = {
            id_: one
            for id_ in self._near(claim)
            if (one := noticed(claim, self._priors[id_])) is not None
        }
        return _no_list(_one_key(_covered_best(found), self._priors))

    def around(self, ids: Iterable[str]) -> set[str]:
        """Return all statements that share enough words with one of some."""
        return {
            other
            for id_ in ids
            for word in self._words.get(id_, frozenset())
            for other in self._by_word[word]
            if self._shared(self._words[other], id_)
        }

    def _near(self, claim: PriorClaim) -> list[str]:
        words = tokens(claim.text)
        looked = {claim.memory_id}
        near: list[str] = []
        for word in sorted(words, key=lambda w: (len(self._by_word.get(w, ())), w)):
            for id_ in self._by_word.get(word, ()):
                if id_ in looked:
                    continue
                looked.add(id_)
                if self._shared(words, id_):
                    near.append(id_)
                if len(near) == LOOKED or len(looked) > _EXAMINED:
                    return near
        return near

    def _shared(self, words: frozenset[str], id_: str) -> bool:
        other = self._words[id_]
        least = _SHARED_PAIRS if any(word >= _WIDE for word in words) else _SHARED
        return len(words & other) >= least * min(len(words), len(other))


def _covered_best(found: Mapping[str, Noticed]) -> dict[str, Noticed]:
    """Of several that one statement may mean keep the best; of equals none is meant for sure."""
    loose = {id_: one for id_, one in found.items() if one.change.cover < 1}
    if len(loose) < 2:
        return dict(found)
    best = max(one.change.cover for one in loose.values())
    meant = [id_ for id_, one in loose.items() if one.change.cover == best]
    return {
        id_: one
        for id_, one in found.items()
        if id_ not in loose or (len(meant) == 1 and id_ == meant[0])
    }


def _one_key(found: dict[str, Noticed], priors: Mapping[str, PriorClaim]) -> dict[str, Noticed]:
    """Leave out values of a key that has several already; those in dispute are no list."""
    keyed = [id_ for id_, one in found.items() if one.change.kind == "keyed"]
    if len(keyed) < 2 or all(priors[id_].standing == "contested" for id_ in keyed):
        return found
    return {id_: one for id_, one in found.items() if id_ not in keyed}


def _no_list(found: dict[str, Noticed]) -> dict[str, Noticed]:
    """Leave out other values of one frame where so many stand: one more line of a list."""
    valued = [id_ for id_, one in found.items() if one.change.strength == "restated"]
    if len(valued) <= LISTED:
        return found
    return {id_: one for id_, one in found.items() if id_ not in valued}
