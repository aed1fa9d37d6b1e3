"""What one place says and another says more fully: long texts that go the same way, word by word.

Deliberately narrow, as `judges.sameness` is. All words of the shorter text stand in the longer one
in their order, and what the longer adds is little: no number, no name, no code, no negation and
nothing that binds it to a case. Neighbours of one list are told apart on purpose, and so are lines
that stand under two subjects of one file. The longer text then speaks for both places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.judge import Candidate
from memrepo.core.patterns import regex
from memrepo.judges.wording import tidy
from memrepo.policies.faithful import Evidence, unfaithful
from memrepo.policies.matching import tokens

FEWEST_WORDS = 10
"""Shorter texts have too little of their own: one more word may make another thing of them."""
MOST_ADDED = 1 / 5
"""What the longer text may add, as a share of the words of the shorter one."""
NEIGHBOURS = 3
"""Lines of one file that stand so close together are told apart on purpose."""
LOOKED = 32
"""With so many texts that hold its rarest word one is compared."""

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = regex(f"[{_WIDE}]|[^\\W_{_WIDE}]+")
_MARKED = regex(r"`([^`\n]*)`|[^\s`]+")


class _Said(msgspec.Struct, frozen=True):
    """A text as it is compared: its words in order, and those that may not be added."""

    candidate: Candidate
    text: str
    words: tuple[str, ...]
    fixed: frozenset[str]


def fuller_texts(candidates: Sequence[Candidate], asked: Collection[str]) -> dict[str, str]:
    """Return for each candidate that is said more fully elsewhere the one that does so.

    Only `asked` ids are compared. Each is looked up by the rarest of its words, so the cost follows
    the matches.
    """
    every = [_read(c) for c in candidates if c.candidate_id in asked]
    every = [one for one in every if len(one.words) >= FEWEST_WORDS]
    count = Counter(word for one in every for word in set(one.words))
    holders: dict[str, list[_Said]] = {}
    for one in every:
        for word in set(one.words):
            if count[word] <= LOOKED:
                holders.setdefault(word, []).append(one)
    found: dict[str, str] = {}
    for one in every:
        rarest = min(one.words, key=lambda word: (count[word], word))
        fuller = [o for o in holders.get(rarest, ()) if _says_all(o, one)]
        if fuller:
            best = max(fuller, key=lambda o: (len(o.words), o.candidate.candidate_id))
            found[one.candidate.candidate_id] = best.candidate.candidate_id
    return found


def _read(candidate: Candidate) -> _Said:
    text = tidy(candidate.text)
    words = tuple(_WORD.findall(normalise(text)))
    return _Said(candidate, text, words, frozenset(_fixed(text)))


def _fixed(text: str) -> Iterator[str]:
    """Yield the words of code, of names and of numbers; a sentence's first word is no name."""
    opens = True
    for match in _MARKED.finditer(text):
        part = match[0]
        name = any(ch.isupper() for ch in part[1:]) or (part[:1].isupper() and not opens)
        if match[1] is not None or name or any(ch.isdigit() for ch in part):
            yield from _WORD.findall(normalise(part))
        opens = not part[-1:].isalnum() or not any(ch.isalnum() for ch in part)


def _says_all(fuller: _Said, one: _Said) -> bool:
    """Tell whether a text says all that another says, in its order, and little more."""
    added = len(fuller.words) - len(one.words)
    longer = (len(fuller.words), fuller.candidate.candidate_id)
    if longer <= (len(one.words), one.candidate.candidate_id):
        return False
    if added > MOST_ADDED * len(one.words) or fuller.candidate.task != one.candidate.task:
        return False
    if added and sum(_weight(word) for word in one.words) < FEWEST_WORDS:
        return False
    if not fuller.fixed <= set(one.words) or not _in_order(one.words, fuller.words):
        return False
    if _told_apart(one.candidate, fuller.candidate):
        return False
    return not unfaithful(one.text, Evidence(texts=(fuller.text,)))


def _weight(word: str) -> float:
    """Return how much of a word one is: a character of a script without blanks is half of one."""
    return 0.5 if word >= _WIDE[0] else 1


def _in_order(words: Sequence[str], among: Sequence[str]) -> bool:
    rest = iter(among)
    return all(word in rest for word in words)


def _told_apart(one: Candidate, other: Candidate) -> bool:
    """Tell whether two texts stand near each other in one file, or under two of its subjects.

    What has a key says it of what it stands under, in whatever file.
    """
    if one.key and not tokens(" ".join(one.context)) & tokens(" ".join(other.context)):
        return True
    for s in one.sources:
        for t in other.sources:
            if s.resource == t.resource and (
                one.context[-1:] != other.context[-1:] or abs(s.lines[0] - t.lines[0]) <= NEIGHBOURS
            ):
                return True
    return False
