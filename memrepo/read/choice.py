"""Combine statements of equal meaning, and choose those that become memories without a model.

Exact duplicates become one candidate with all places. In real workspaces, 14.6 % of the longer
bullets are exact repetitions. Statements that are not chosen remain in their sources.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from memrepo.core.ids import digest, normal_claim, normalise
from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.policies.claims import find_reflecting
from memrepo.policies.phrases import are_apart, read, stem
from memrepo.policies.rules import SHELF_SIZES, Size
from memrepo.read.intake import Placed, meaning_key
from memrepo.read.kinds import is_profile
from memrepo.read.shelf import CLEAR, is_in
from memrepo.read.thoughts import are_of_two_things, function_words
from memrepo.text.dates import due_day
from memrepo.text.words import content_words, cut_folded, entries, fold

ALWAYS_JUDGED = 9.0
"""The rank of candidates that are judged in any case."""

THIN, HARDLY_ANY = 30, 10
"""A shelf accepts fair statements below this number of claims, and while there are hardly any those
of pages and plans."""
BASE, PER_ROOT_FILE = 50, 2
"""The shelf's size is BASE claims plus PER_ROOT_FILE times the square root of the file count."""
_INSTRUCTION = "file_instruction"
"""The sign of a statement in a file of the kind `instruction`."""
_DAY_LOG, _OTHER_AGENT = "file_day_log", "file_other_agent"
_NO_DUTY = frozenset(
    f"{_DAY_LOG} {_OTHER_AGENT} file_template file_archive file_article file_catalogue "
    "file_transcript file_machine_log code row question template".split()
)
"""Signs of what binds nobody, or is shown from its log."""
MAX_DUE = 5
"""How many statements of what is due next are chosen in any case."""
_PASSES = (
    *(("good", 1, True), ("good", 1, False), ("good", 2, False)),
    *(("fair", 1, True), ("fair", 1, False)),
)
"""What is chosen in order: how well it fits, how many times the share of its place it may have, and
whether what is like the chosen waits, unless it is the owner's."""
_SHARES = {_INSTRUCTION: 0.1, _DAY_LOG: 0.25}
MAX_OF_FILE = 0.05
"""Maximum shares of the shelf for statements of instructions, for those of all daily logs, and for
those of one file that no agent keeps for what lasts. Where the others leave room, clear rules of
instructions have twice their share."""
OWN_BONUS = 2.5
"""How much a full shelf prefers what the agent's memory and the owner's profile say."""


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
        key, under = meaning_key(one.unit), one.unit.headings
        first = next(iter(groups.get(key, ())), one)
        if first.resource == one.resource and are_apart(
            *(" › ".join(heads) for heads in (first.unit.headings, under))
        ):
            key = digest([key, *under])  # one file states it of two things
        groups[key].append(one)
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
    today: str = "",
) -> ShelfChoice:
    """Choose the candidates that become memories. Candidates in `always` are always chosen.

    So is what is due next from `today` on, unless a log says it: the page shows it from there.
    `existing` is the number of claims the repository already has. Later runs may always add a tenth
    of the shelf's size. Those that read the same statements `again` add none of this, and count
    what earlier runs chose of each file.
    """
    order = sorted(candidates, key=lambda c: (-c.rank, c.candidate_id))
    same, like = _same(order)
    room = max(size - existing, 0 if again else size / 10)
    due = sorted((day, c.candidate_id) for c in candidates if (day := _due(c)) >= (today or "z"))
    waiting = {id_ for _, id_ in due[: 0 if again else MAX_DUE]}
    shelf = {c.candidate_id for c in candidates if c.candidate_id in {*always, *waiting}}
    weights: dict[str, float] = {}
    for one in order:
        weight = one.rank + OWN_BONUS * _is_own(one)
        for id_ in {one.candidate_id, same.get(one.candidate_id, one.candidate_id)}:
            weights[id_] = max(weight, weights.get(id_, weight))
    own = sorted(order, key=lambda c: (-weights[c.candidate_id], c.candidate_id in same))
    taken = 0
    counts = Counter(_shared_place(c) for c in candidates if again and c.candidate_id in shelf)
    for fits, shares, is_other in _PASSES:
        for one in own:
            if is_other and not (_is_own(one) or shelf.isdisjoint(like[one.candidate_id])):
                continue  # what says something else comes first
            if one.fits != fits or one.candidate_id in shelf or taken >= room:
                continue
            place = _shared_place(one)
            fuller = same.get(one.candidate_id)
            if fuller and (fuller in shelf or place == _DAY_LOG):
                continue
            is_ruling = place == _INSTRUCTION and one.type_hint != "fact" and one.rank >= CLEAR
            if shares > 1 and not is_ruling:
                continue
            limit = THIN if place in ("", *_SHARES) else HARDLY_ANY
            if fits == "fair" and existing + taken >= limit:
                continue
            if place:
                share = shares * _SHARES.get(place, MAX_OF_FILE)
                if counts[place] >= max(2, size * share):
                    continue
                counts[place] += 1
            shelf.add(one.candidate_id)
            taken += 1
    return ShelfChoice(shelf=frozenset(shelf), same=same)


def _due(one: Candidate) -> str:
    """Return the day on which a statement outside logs says that something is due, or nothing."""
    return "" if _NO_DUTY.intersection(one.signs) else due_day(one.text, one.captured[:10])


def _is_own(one: Candidate) -> bool:
    """Return whether a statement is in the agent's memory, or in a profile."""
    return "file_memory" in one.signs or any(is_profile(s.resource) for s in one.sources)


def _is_curated(one: Candidate) -> bool:
    """Return whether a statement is in a file whose statements last."""
    kinds = (sign.removeprefix("file_").replace("_", " ") for sign in one.signs)
    return any(is_in(kind, "kept") for kind in kinds)


def _shared_place(one: Candidate) -> str:
    """Return what shares its places on the shelf with others: the file, or all instructions."""
    sign = next((s for s in one.signs if s.startswith("file_")), "")
    if sign in _SHARES:
        return sign
    kind = sign.removeprefix("file_")
    if not (kind and one.sources):
        return ""
    return "" if is_in(kind.replace("_", " "), "kept") else one.sources[0].resource


COVERED, COVERED_LOG, COVERED_HERE = 0.72, 0.8, 1.0
"""The share of a statement's words, by weight, in another one from which both say the same: of any
statement, of a line of a log, and of two in one section, where a word makes the difference."""
MIN_NEAR, MIN_SHARED, MIN_WORDS, SHORT_WORDS = 0.5, 5, 3, 4
"""The share that is in one sentence and not in its headings, the fewest words of a sentence that
make up for those it has alone, the fewest of a statement that is compared, and of one that headings
may complete."""
MAX_HOLDERS, MAX_COMPARED, MAX_BETWEEN = 200, 8, 3
"""The most statements that have a word by which others are found, the most that are compared, and
how many shared words make up for another between them."""
_PARTS = regex(r"\n|[.!?][*_\"')”]*\s+|[。！？]")
_CLAUSES = regex(r"[,;()|](?!\d)|[，；、（）]|\s(?:[–—-]|&)\s")
_CODE = regex(r"`[^`]+`")
_NUMBERS = regex(r"\d+(?:[.,:]\d+)*")


class _Text(msgspec.Struct, frozen=True):
    """What a statement says: the clauses of its sentences, its words and those of its headings."""

    by: Candidate
    parts: tuple[tuple[tuple[str, frozenset[str]], ...], ...]
    words: frozenset[str]
    above: frozenset[str]

    @classmethod
    def of(cls, one: Candidate) -> _Text:
        """Read a candidate."""
        parts = tuple(found for text in _PARTS.split(one.text) if (found := tuple(_clauses(text))))
        words = frozenset[str]().union(*(held for part in parts for _, held in part))
        above = _words(" ".join((*one.context, one.placed[0].about)) if one.placed else "")
        return cls(one, parts, words, above)


def _clauses(sentence: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the clauses of a sentence with their words, cut at commas and words like "and"."""
    clause: list[str] = []
    for part in _CLAUSES.split(sentence):
        for word in (*part.split(), ""):
            if word and word.casefold() not in _joining():
                clause.append(word)
            elif found := _words(text := " ".join(clause)):
                yield text, found
                clause = []


@cache
def _joining() -> frozenset[str]:
    return frozenset(entries("change", "joining"))


def _words(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(text)))


def _same(order: Sequence[Candidate]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Map the statements that others state, alone or among more, to the fuller one of them.

    Also map statements to those of other sections that share half of what the shorter one says.
    """
    texts = [_Text.of(one) for one in order]
    holders = Counter(word for one in texts for word in one.words)
    weights = {word: math.log(1 + len(texts) / count) for word, count in holders.items()}
    worth = [math.fsum(weights[word] for word in one.words) for one in texts]
    size = [len(one.words) for one in texts]
    holding: dict[str, list[int]] = defaultdict(list)
    same, like = dict[str, str](), defaultdict[str, set[str]](set)
    for n in sorted(range(len(texts)), key=lambda n: (_DAY_LOG in texts[n].by.signs, -size[n])):
        one, shared = texts[n], Counter[int]()
        rare = sorted(word for word in one.words if holders[word] <= MAX_HOLDERS)
        for word in rare:
            for at in holding[word]:
                shared[at] += weights[word]  # type: ignore[assignment]
        near = [at for at, held in shared.most_common(MAX_COMPARED) if held >= MIN_NEAR * worth[n]]
        for other in (texts[at].by for at in near if len(one.words) >= MIN_WORDS):
            if not _is_beside(one.by, other):
                like[one.by.candidate_id].add(other.candidate_id)
                like[other.candidate_id].add(one.by.candidate_id)
        fuller = next((at for at in near if _states(texts[at], one, weights)), None)
        if fuller is not None:
            same[one.by.candidate_id] = texts[fuller].by.candidate_id
        elif one.by.fits or _is_curated(one.by):
            for word in rare:
                holding[word].append(n)
    return same, like


def _is_beside(one: Candidate, other: Candidate) -> bool:
    """Return whether two statements are in one section, where a word makes the difference."""
    places = {(p.resource, p.unit.headings) for p in one.placed}
    return not places.isdisjoint((p.resource, p.unit.headings) for p in other.placed)


@cache
def _negations() -> frozenset[str]:
    return frozenset(map(fold, entries("marks", "negation")))


def _states(fuller: _Text, one: _Text, weights: Mapping[str, float]) -> bool:
    """Return whether each sentence of a statement is in one of another: words, names, numbers."""
    is_log = _DAY_LOG in one.by.signs
    if len(one.words) < (SHORT_WORDS if is_log else MIN_WORDS) or _are_apart(fuller.by, one.by):
        return False
    least = COVERED_HERE if _is_beside(one.by, fuller.by) else COVERED_LOG if is_log else COVERED
    above = fuller.above if len(one.words) >= SHORT_WORDS else frozenset[str]()
    known = total = 0.0
    for clauses in one.parts:
        text, words = _joined(clauses)
        whole = math.fsum(weights[word] for word in words)
        others = [
            _joined(part[at : at + len(clauses)])
            for part in fuller.parts
            for at in range(max(1, len(part) - len(clauses) + 1))
        ]
        near, best = max(
            (math.fsum(weights[word] for word in words & found), at)
            for at, (_, found) in enumerate(others)
        )
        found = others[best][1]
        # A heading names what the clause leaves out, unless the clause names something else.
        shared = words & (found | above if found <= words else found)
        share = math.fsum(weights[word] for word in shared)
        is_enough = share >= COVERED * whole and (shared == words or len(shared) >= MIN_SHARED)
        is_in = near >= MIN_NEAR * whole and is_enough
        if not (is_in and _agrees(text, others[best][0], fuller)):
            return False
        known, total = known + share, total + whole
    return known >= least * total - 1e-9


def _joined(clauses: Sequence[tuple[str, frozenset[str]]]) -> tuple[str, frozenset[str]]:
    return ", ".join(text for text, _ in clauses), frozenset[str]().union(*(w for _, w in clauses))


def _are_apart(fuller: Candidate, one: Candidate) -> bool:
    """Return whether two statements are of two people or things, or only the first is of a log.

    What two logs say under headings of two things is of these, and so is one text of two meanings.
    """
    about = {c.placed[0].about for c in (fuller, one) if c.placed} - {""}
    is_late = _DAY_LOG in fuller.signs and _DAY_LOG not in one.signs
    is_same = normal_claim(fuller.text) == normal_claim(one.text)  # and of two meanings
    is_late |= (is_same or _DAY_LOG in fuller.signs) and are_apart(*map(_under, (fuller, one)))
    is_others = _OTHER_AGENT in one.signs or _OTHER_AGENT in fuller.signs
    return len(about) > 1 or is_late or is_others or are_of_two_things(fuller.text, one.text)


def _under(one: Candidate) -> str:
    return " › ".join(one.placed[0].unit.headings) if one.placed else ""


def _agrees(text: str, known: str, by: _Text) -> bool:
    """Return whether a sentence that shares its words with clauses of another has no other meaning.

    They have the same words in the same order, with few others between them: who has which value.
    """
    mine, theirs = read(text), read(known)
    negated = [not _negations().isdisjoint(content_words(one)) for one in (text, known)]
    is_alike = negated[0] == negated[1] and mine.negations % 2 == theirs.negations % 2
    is_alike &= mine.times <= theirs.times
    numbers = set(_NUMBERS.findall(text)) <= set(_NUMBERS.findall(known))
    names = {word for name in mine.names for word in _words(name)}
    spans = all(span in by.by.text for span in _CODE.findall(text))
    is_alike &= numbers and spans and not mine.is_news and names <= by.words | by.above
    own, others = (_telling(one) for one in (text, known))
    shared = set(own) & set(others)
    at = [n for n, word in enumerate(others) if word in shared]
    is_one = not at or MAX_BETWEEN * (at[-1] - at[0] + 1 - len(at)) <= len(at)
    return is_alike and is_one and [w for w in own if w in shared] == [others[n] for n in at]


def _telling(text: str) -> list[str]:
    """Return the words of a text without function words, in order."""
    return [stem(word) for word in cut_folded(normalise(text)) if word not in function_words()]
