"""Combine statements of equal meaning, and choose those that become memories without a model.

Exact duplicates become one candidate with all places. In real workspaces, 14.6 % of the longer
bullets are exact repetitions. Statements that are not chosen remain in their sources.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta

import msgspec

from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.policies.claims import find_reflecting
from memrepo.policies.rules import SHELF_SIZES, Size
from memrepo.read.intake import Placed, meaning_key
from memrepo.read.kinds import is_profile
from memrepo.read.shelf import CLEAR, POOR, is_in
from memrepo.read.thoughts import are_of_two_things
from memrepo.text.words import content_words

ALWAYS_JUDGED = 9.0
"""The rank of candidates that are judged in any case."""

STRONG = 6.0
"""Minimum rank to choose a statement when the shelf is full, up to twice its size."""
THIN, HARDLY_ANY = 30, 10
"""A shelf accepts fair statements below this number of claims, and those of other documents than
logs and files that are kept for what lasts while there are hardly any.
"""
BASE, PER_ROOT_FILE = 40, 5
"""The shelf's size is BASE claims plus PER_ROOT_FILE times the square root of the file count."""
_INSTRUCTION = "file_instruction"
"""The sign of a statement in a file of the kind `instruction`."""
_DAY_LOG = "file_day_log"
_SHARES = {_INSTRUCTION: 0.1, _DAY_LOG: 0.25}
MAX_OF_FILE = 0.05
"""Maximum shares of the shelf for statements of instructions, for those of all daily logs, and for
those of one file that no agent keeps for what lasts. Where the others leave room, clear rules of
instructions have twice their share."""
OWN_BONUS = 1.5
"""How much a full shelf prefers what the agent's memory and the owner's profile say."""


NEWS_DAYS, NEWS_BONUS = 30, 3.0
"""How many days before the newest daily log a full shelf prefers what is dated, and how much:
what a curated file says without a day may be over since.
"""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A distinct text that a run may promote, with all its places.

    `text` has no list marker or checkbox. `rank`, `fits` and `signs` are those of the best place
    (`read.shelf`).
    """

    candidate_id: str
    text: str
    type_hint: str = "fact"
    rank: float = 0.0
    fits: str = ""
    signs: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    placed: tuple[Placed, ...] = ()

    @property
    def captured(self) -> str:
        """Return the newest ISO date among the candidate's sources, or an empty string."""
        return max((s.captured for s in self.sources), default="")

    @property
    def context(self) -> tuple[str, ...]:
        """Return the headings above the text, outermost first, and the line that introduces it."""
        first = self.placed[0].unit
        return (*first.headings, *filter(None, (first.lead,)))


def candidates_of(placed: Iterable[Placed]) -> list[Candidate]:
    """Combine units of equal meaning into candidates, in order of first mention."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        groups[meaning_key(one.unit)].append(one)
    return [_candidate(key, members) for key, members in groups.items()]


def _candidate(key: str, members: list[Placed]) -> Candidate:
    first = members[0].unit
    sources = tuple(dict.fromkeys(m.source() for m in members))
    reflecting = find_reflecting(sources)
    stating = [m for m in members if m.resource not in reflecting]
    ranks = [m.ranked for m in stating if m.ranked is not None]
    best = max(ranks, key=lambda r: r.rank, default=None)
    hint = next(filter(None, (*(m.hint for m in stating), first.hint)), "")
    return Candidate(
        candidate_id=f"cand-{key[:16]}",
        text=first.text,
        type_hint=hint or (best.type if best else "fact"),
        rank=best.rank if best else ALWAYS_JUDGED,
        fits=max((r.fits for r in ranks), key=("", "fair", "good").index, default="good"),
        signs=best.reasons if best else (),
        sources=sources,
        placed=tuple(members),
    )


class ShelfChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The ids of the candidates on the shelf, and those of near duplicates with the better one."""

    shelf: frozenset[str]
    same: Mapping[str, str]


NOTHING = ShelfChoice(shelf=frozenset(), same={})
"""The choice from no candidates."""


def shelf_size(files: int, size: Size = "normal") -> float:
    """Return how many claims a repository with `files` source files may have, possibly infinite."""
    return SHELF_SIZES[size] * (BASE + PER_ROOT_FILE * math.sqrt(files))


def choose(
    candidates: Sequence[Candidate],
    *,
    size: float,
    existing: int,
    always: Collection[str] = (),
    again: bool = False,
) -> ShelfChoice:
    """Choose the candidates that become memories. Candidates in `always` are always chosen.

    `existing` is the number of claims the repository already has. Later runs may always add a tenth
    of the shelf's size, except when they read the same statements `again`.
    """
    order = sorted(candidates, key=lambda c: (-c.rank, c.candidate_id))
    same = _same(order)
    room = max(size - existing, 0 if again else size / 10)
    shelf = {c.candidate_id for c in candidates if c.candidate_id in always}
    own = [c for c in order if c.candidate_id not in same and c.candidate_id not in shelf]
    newest = max((c.captured for c in candidates if _DAY_LOG in c.signs), default="")
    since = str(date.fromisoformat(newest[:10]) - timedelta(days=NEWS_DAYS)) if newest else ""

    def weight(one: Candidate) -> float:
        is_news = bool(newest) and _is_dated(one) and one.captured >= since
        return one.rank + OWN_BONUS * _is_own(one) + NEWS_BONUS * is_news

    own.sort(key=weight, reverse=True)
    taken = 0
    counts: Counter[str] = Counter()
    covers, curated = _Covers(), _Covers()
    for one in order:
        if one.candidate_id in shelf:
            covers.add(one)
        if _is_curated(one):
            curated.add(one)
    for fits, shares in (("good", 1), ("good", 2), ("fair", 1)):
        for one in own:
            is_strong = shares == 1 and one.rank >= STRONG and existing + taken < 2 * size
            if one.fits != fits or one.candidate_id in shelf or (taken >= room and not is_strong):
                continue
            place = _shared_place(one)
            known = (covers, curated) if place == _DAY_LOG else (covers,)
            if size < math.inf and any(chosen.holds(one) for chosen in known):
                continue
            is_ruling = place == _INSTRUCTION and one.type_hint != "fact" and one.rank >= CLEAR
            if shares > 1 and not is_ruling:
                continue
            limit = THIN if place in ("", _INSTRUCTION, _DAY_LOG) else HARDLY_ANY
            if fits == "fair" and existing + taken >= limit:
                continue
            if place:
                share = shares * _SHARES.get(place, MAX_OF_FILE)
                if counts[place] >= max(2, size * share):
                    continue
                counts[place] += 1
            shelf.add(one.candidate_id)
            covers.add(one)
            taken += 1
    return ShelfChoice(shelf=frozenset(shelf), same=same)


COVERED, MIN_COVERED = 0.7, 5
"""The share of a statement's words in another from which that makes it superfluous, and the number
of shared words that this takes."""


class _Covers(msgspec.Struct):
    """The statements chosen so far, by their words."""

    chosen: list[Candidate] = msgspec.field(default_factory=list)
    holding: dict[str, list[int]] = msgspec.field(default_factory=lambda: defaultdict(list))

    def add(self, one: Candidate) -> None:
        """Add a statement that is chosen."""
        for word in content_words(one.text):
            self.holding[word].append(len(self.chosen))
        self.chosen.append(one)

    def holds(self, one: Candidate) -> bool:
        """Return whether a chosen statement says most of what another does, with the same names.

        Statements of one file that differ in a word are about two things: a list of crates. A line
        of a log that differs in a word tells news, and so does a decision.
        """
        is_log = _DAY_LOG in one.signs
        if is_log and one.type_hint == "decision":
            return False
        words = content_words(one.text)
        files = {source.resource for source in one.sources}
        shared = Counter(at for word in words for at in self.holding.get(word, ()))
        return any(
            count >= MIN_COVERED
            and count
            >= (1 if is_log or files & {s.resource for s in known.sources} else COVERED)
            * len(words)
            and self._is_told(one.text, known.text)
            for at, count in shared.most_common(3)
            if (known := self.chosen[at])
        )

    def _is_told(self, text: str, known: str) -> bool:
        from memrepo.policies.phrases import read  # most runs compare nothing

        if are_of_two_things(text, known):
            return False
        mine, theirs = read(text), read(known)
        numbers = set(_NUMBERS.findall(text)) - set(_NUMBERS.findall(known))
        is_alike = mine.negations % 2 == theirs.negations % 2 and mine.times == theirs.times
        return not (numbers or mine.is_news) and is_alike and mine.names <= theirs.names


def _is_dated(one: Candidate) -> bool:
    """Return whether a statement's day is stated, and not only that of a commit."""
    return any(p.unit.captured_from not in ("", "commit") for p in one.placed[:1])


def _is_own(one: Candidate) -> bool:
    """Return whether a statement is in the agent's memory, or in a profile."""
    return "file_memory" in one.signs or any(is_profile(s.resource) for s in one.sources)


def _is_curated(one: Candidate) -> bool:
    """Return whether a statement is in a file whose statements last."""
    kinds = (sign.removeprefix("file_").replace("_", " ") for sign in one.signs)
    return any(is_in(kind, "kept") for kind in kinds)


def _shared_place(one: Candidate) -> str:
    """Return what shares its places on the shelf with others: the file, or all instructions.

    Rules and lessons in a folder of their own are a handbook, which has the places of one file.
    """
    sign = next((s for s in one.signs if s.startswith("file_")), "")
    if sign in _SHARES:
        return sign
    kind = sign.removeprefix("file_")
    if not (kind and one.sources):
        return ""
    resource = one.sources[0].resource
    folder = resource.rpartition("/")[0]
    if kind in ("rules", "decisions") and folder.removeprefix("sources/").count("/"):
        return folder
    return "" if is_in(kind.replace("_", " "), "kept") else resource


_NUMBERS = regex(r"\d+")


def _same(order: Sequence[Candidate]) -> dict[str, str]:
    """Map near duplicates to better candidates with nearly equal words and equal numbers."""
    kept: list[tuple[Candidate, frozenset[str], list[str]]] = []
    holding: dict[str, list[int]] = defaultdict(list)
    same: dict[str, str] = {}

    def alike(at: int, count: int, words: frozenset[str], numbers: list[str]) -> bool:
        _, other, others = kept[at]
        return count / len(words | other) > 0.6 and count >= 3 and numbers == others

    for one in order:
        words, numbers = content_words(one.text), sorted(_NUMBERS.findall(one.text))
        shared = Counter(at for word in words for at in holding[word]).most_common(3)
        twins = [kept[at][0] for at, count in shared if alike(at, count, words, numbers)]
        if twins:
            from memrepo.policies.change import says_the_same  # most runs compare nothing

            twins = [
                twin
                for twin in twins
                if not are_of_two_things(twin.text, one.text) and says_the_same(twin.text, one.text)
            ]
        if twins:
            same[one.candidate_id] = twins[0].candidate_id
        elif one.rank > POOR:
            for word in words:
                if len(holding[word]) < 200:
                    holding[word].append(len(kept))
            kept.append((one, words, numbers))
    return same
