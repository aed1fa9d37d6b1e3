"""Rank the statements of files, and choose the statements that become memories.

The shelf is the set of chosen statements. The rank depends on the kinds of file and section, and on
the signs in the statement's text. A file contributes at most the share of its kind. The total
number of claims is limited to what a person can read. Statements that are not chosen remain in
their source or note, where search finds them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import Candidate
from memrepo.core.memory import CLAIM_TYPES, Memory, Stamp, of_types
from memrepo.core.patterns import regex
from memrepo.core.state import State
from memrepo.policies.rules import SHELF_SIZES, Size
from memrepo.read.kinds import (
    FileKind,
    kinds,
    mark_of,
    plain_line,
    points_to,
    section_kind,
    signs_of,
)
from memrepo.read.learned import FACT, Features, features, stated_type, type_scores, worth
from memrepo.read.sources import default_type
from memrepo.read.thoughts import Unit, field_of
from memrepo.text.languages import patterns
from memrepo.text.words import content_words

GOOD, FAIR = 1.0, -0.8
"""Minimum rank to choose a statement, and the lower minimum while there are few claims."""
STRONG = 6.0
"""Minimum rank to choose a statement when the shelf is full, up to twice its size."""
POOR = -4.0
"""Rank at or below which a statement is rejected instead of deferred."""
SMALL_FILE = 6
"""A memory or profile file with at most this many statements is kept whole: few facts, not none."""
THIN, FILLED = 30, 0.7
"""A shelf accepts fair statements below this number of claims, or below this share of its size."""
BASE, PER_ROOT_FILE = 40, 8
"""The shelf's size is BASE claims plus PER_ROOT_FILE times the square root of the file count."""
CLAIM_LENGTH = 1500
"""Maximum length of a statement that may become a claim, except for whole files and sections."""
LEARNED, LOGIT_LIMIT = 1.4, 4.0
"""The weight of the model's logit relative to structure, and the limit of that logit."""
NEWS = 1.5
"""The bonus for a line of a daily log that states a decision, a correction or similar news."""
SECTION_COST = 0.12
"""The cost in rank of each earlier statement of the same section."""
_STATED = (("decided", "decision"), ("prefers", "preference"), ("commits", "commitment"))
"""Rows of the sentence tables whose matches state a type, most certain first."""
OPENING = 200
"""The number of leading characters that determine a statement's type."""


class RankedUnit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The rank and type of a statement, with the reasons for the rank.

    `fits` is whether the file's share includes it: "good", "fair" (only while there are few claims)
    or "".
    """

    rank: float
    type: str
    file_kind: str
    section: str = ""
    signs: frozenset[str] = frozenset()
    fits: Literal["good", "fair", ""] = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return codes for the criteria that determined the rank, for use in a rationale."""
        section = (f"section_{self.section}",) if self.section else ()
        return (f"file_{self.file_kind.replace(' ', '_')}", *section, *sorted(self.signs))


def rank_file(
    kind: FileKind,
    units: Sequence[Unit],
    *,
    names: Collection[str] = (),
    open_: Collection[str] | None = None,
    size: Size = "normal",
    taste: Taste | None = None,
    resource: str = "",
    sources: Collection[str] = (),
) -> dict[str, RankedUnit]:
    """Rank the statements of a file. Return the ranks by unit hash.

    `names` are the names of the people and agents in the profile files. `open_` contains the hashes
    of new statements, and the file's share is computed from these only, so a long file still
    contributes news. With `size` "all", only meaningless statements are excluded. `taste` is
    derived from the owner's decisions and knows the file as `resource`. Statements that only link
    to one of `sources` are never promoted.
    """
    ranked: dict[str, RankedUnit] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    repeated = _repeated(units) if _is_in(kind.kind.name, "returning") else frozenset[str]()
    for unit in units:
        one = _rank(kind, unit, names)
        if unit.hash in repeated:
            one = msgspec.structs.replace(one, signs=one.signs | {"repeated"})
        is_rule = _is_in(kind.kind.name, "of_rules") and "ban" in one.signs  # a rule for a file
        if not is_rule and points_to(unit, sources):
            one = msgspec.structs.replace(one, signs=one.signs | {"pointer"})
        if one.signs & kinds().groups["void_signs"]:
            one = msgspec.structs.replace(one, rank=min(one.rank, POOR))
        if taste:
            # Adjust the rank by the owner's decisions on similar statements.
            groups = groups_of(unit, resource, one.file_kind, one.section, one.type)
            delta = taste.delta(groups)
            signs = one.signs | {code} if (code := taste.code(delta, groups)) else one.signs
            one = msgspec.structs.replace(one, rank=one.rank + delta, signs=signs)
        cost = SECTION_COST * seen[unit.headings]
        seen[unit.headings] += open_ is None or unit.hash in open_
        ranked.setdefault(unit.hash, msgspec.structs.replace(one, rank=round(one.rank - cost, 3)))
    order = [hash_ for hash_ in ranked if open_ is None or hash_ in open_]
    order.sort(key=lambda hash_: -ranked[hash_].rank)
    if size == "all":
        for hash_ in order:
            one = ranked[hash_]
            passing = (
                kind.kind.name == "day log" and not one.signs & kinds().groups["lasting_signs"]
            )
            if not passing and not one.signs & kinds().groups["empty_signs"]:
                ranked[hash_] = msgspec.structs.replace(ranked[hash_], fits="good")
        return ranked
    share = min(kind.kind.cap, max(kind.kind.floor, math.ceil(kind.kind.share * len(order))))
    is_small = kind.kind.name in ("memory", "profile") and len(units) <= SMALL_FILE
    whole = ("section", "document", "memory")
    lengths = {unit.hash: len(unit.text) * (unit.kind not in whole) for unit in units}
    for hash_ in order[:share]:
        rank = ranked[hash_].rank
        if lengths[hash_] > CLAIM_LENGTH or ranked[hash_].signs & kinds().groups["void_signs"]:
            continue
        lasts = not _is_in(ranked[hash_].section, "passing_sections")
        least = POOR if is_small and ranked[hash_].signs <= kinds().groups["plain_signs"] else FAIR
        fair = lasts and rank >= least and _is_in(kind.kind.name, "generous")
        fits = "good" if rank >= GOOD else "fair" if fair else ""
        if fits:
            ranked[hash_] = msgspec.structs.replace(ranked[hash_], fits=fits)
    return ranked


MIN_REPEATS = 5
"""From this many lines of a log that differ only in their numbers, only the last counts."""


def _repeated(units: Sequence[Unit]) -> frozenset[str]:
    """Return the hashes of lines that return in their section with other numbers, but the last."""
    found: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for unit in units:
        if "\n" not in unit.text:
            found[unit.headings, plain_line(unit.text)].append(unit.hash)
    runs = (hashes for (_, line), hashes in found.items() if line and len(hashes) >= MIN_REPEATS)
    return frozenset(hash_ for hashes in runs for hash_ in hashes[:-1] if hash_ != hashes[-1])


def _is_in(name: str, group: str) -> bool:
    """Return whether a kind of file or section belongs to a group of `kinds.toml`."""
    return name in kinds().groups[group]


def _rank(kind: FileKind, unit: Unit, names: Collection[str]) -> RankedUnit:
    table = kinds()
    signs = signs_of(unit)
    section = (section_kind([unit.key]) if unit.key else "") or section_kind(unit.headings)
    name = kind.kind.name
    if _is_in(name, "loose") and not _teaches(unit):
        signs -= {"lesson"}  # in a list of observations, one word does not make a lesson
    weight = table.sections.get(section, 0.0)
    if name == "profile" and section in ("log", "status"):
        weight *= 0.5
    if "dated" in signs and weight > 0:
        weight *= 0.3  # a dated entry appended under a heading is rarely of the heading's kind
    rank = kind.kind.prior + weight + sum(table.signs.get(sign, 0.0) for sign in signs)
    if name in ("memory", "profile") and "tiny" in signs:
        rank -= table.signs["tiny"]  # one word in such a file may be a fact: "vegan"
    stated = name != "day log" or signs & {"rule", "identity"}  # some of a daily log is passing
    lasting = signs & kinds().groups["lasting_signs"] or (
        _is_in(section, "lasting_sections") and stated
    )
    if name == "day log" and not _is_in(section, "unsettled_sections") and _is_news(unit, signs):
        lasting, rank = True, rank + NEWS
    if _is_in(name, "loose") and not lasting:
        rank -= 1.2
    if name == "instruction" and not any(n in unit.text for n in names):
        rank -= 0.6
    seen = features(unit, name, section, signs)
    rank += LEARNED * max(-LOGIT_LIMIT, min(LOGIT_LIMIT, worth(seen)))
    return RankedUnit(
        rank=rank,
        type=type_of(unit, name, section, signs, seen),
        file_kind=name,
        section=section,
        signs=signs,
    )


def type_of(
    unit: Unit, file_kind: str, section: str, signs: Collection[str], seen: Features
) -> str:
    """Return the type that a statement expresses, or `fact` if it expresses no type."""
    by_name = default_type(unit.resource)
    by_file = kinds().file_types.get(file_kind) or (by_name if by_name != FACT else "")
    if fixed := unit.hint or by_file or mark_of(unit.text):
        return fixed
    if "link" in signs and not ("ban" in signs and _is_in(file_kind, "of_rules")):
        return FACT
    key = field_of(unit.text.partition("\n")[0].lstrip("-*+ "))[0]
    if unit.kind == "card" and key.lower() in patterns().names:
        return "identity"
    if unit.kind == "steps":  # numbered rules are not steps
        if _opens_as_rule(unit, file_kind, section, ("ban",)):
            return "constraint"
        if section == "lesson":
            return FACT if _is_in(file_kind, "loose") and not _teaches(unit) else "lesson"
        return "procedure"
    if "question" in signs:
        return "open_question"
    passing = bool({"done", "now", "ticked"} & set(signs)) or _is_in(section, "unsettled_sections")
    if not passing and (stated := _stated(unit, signs)):
        return stated
    is_personal = section in ("preference", "person") or file_kind == "profile"
    if "preference" in signs and "ban" not in signs and is_personal and not passing:
        return "preference"
    found = stated_type(seen, type_scores(seen))
    unstated = (
        (found == "constraint" and not _opens_as_rule(unit, file_kind, section))
        or (found == "procedure" and "\n" not in unit.text)  # a single line has no steps
        or (found == "lesson" and "lesson" not in signs)
        or (found == "identity" and "identity" not in signs)
    )
    learned = found == "constraint" and section == "lesson" and _teaches(unit)
    found = ("lesson" if learned else FACT) if unstated else found
    plain = {"path", "link", "code", "row", "identifier", "numbers", "dated"} & set(signs)
    if found == FACT and not passing and not plain and unit.kind not in ("table", "code"):
        is_ruled = any(map(patterns().headings["ruled"].search, unit.headings))
        if section == "rule" and not is_ruled and not _is_in(file_kind, "of_rules"):
            return FACT  # a heading such as "Workflow" or "Security" also has facts below it
        headed = kinds().section_types.get(section, FACT)
        says = headed != "constraint" or _opens_as_rule(unit, file_kind, section)
        return headed if says else FACT
    return found


def _stated(unit: Unit, signs: Collection[str]) -> str:
    """Return the type that a statement's first sentence makes explicit, or an empty string."""
    opening, table = _opening(unit), patterns().sentences
    is_sentence = not {"question", "row", "code", "link", "path", "dangling"} & set(signs)
    if not is_sentence or unit.kind in ("table", "code", "steps", "row"):
        return ""
    key = field_of(opening.partition("\n")[0])[0]
    if key and patterns().headings["decision"].fullmatch(key):
        return "decision"
    found = (type_ for row, type_ in _STATED if table[row].search(opening))
    type_ = next(found, "")
    is_ban = "ban" in signs and table["ban"].search(opening)
    return "" if type_ != "decision" and is_ban else type_


def _is_news(unit: Unit, signs: Collection[str]) -> bool:
    """Return whether a statement of a daily log reports a change that affects later days."""
    if {"done", "ticked", "question", "code", "row"} & set(signs):
        return False
    return bool(_stated(unit, signs) or patterns().sentences["corrects"].search(_opening(unit)))


def _opens_as_rule(
    unit: Unit, file_kind: str, section: str, rows: Sequence[str] = ("ban", "rule")
) -> bool:
    """Return whether a statement's file, heading or opening marks it as a rule."""
    table, text = patterns().sentences, unit.text[:OPENING]
    says = any(table[row].search(text) for row in rows)
    headed = section in ("ban", "rule")
    if not _is_in(file_kind, "loose"):
        return says or headed or file_kind == "rules"
    clauses = _CLAUSE.split(text)
    return (headed and says) or any(table[r].match(one) for r in rows for one in clauses)


def _teaches(unit: Unit) -> bool:
    """Return whether most lines of a statement express a lesson, a rule or a ban."""
    lines, table = unit.text.split("\n"), patterns().sentences
    rows = [table[row] for row in ("lesson", "ban", "rule")]
    return 2 * sum(any(row.search(line) for row in rows) for line in lines) > len(lines)


def _opening(unit: Unit) -> str:
    """Return the first sentence of a statement, truncated to OPENING characters."""
    text = unit.text[:OPENING]
    end = _SENTENCE_END.search(text, 20)
    return text[: end.end()] if end else text


# -- the whole repository
# --------------------------------------------------------------------------


class ShelfChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of candidates in a run: those on the shelf, those next in rank, and duplicates."""

    shelf: frozenset[str]
    next_best: frozenset[str]
    same: Mapping[str, str]


def shelf_size(files: int, size: Size = "normal") -> float:
    """Return how many claims a repository with `files` source files may have, possibly infinite."""
    return SHELF_SIZES[size] * (BASE + PER_ROOT_FILE * math.sqrt(files))


def choose(
    candidates: Sequence[Candidate], *, size: float, existing: int, always: Collection[str] = ()
) -> ShelfChoice:
    """Choose the candidates that become memories. Candidates in `always` are always chosen.

    `existing` is the number of claims the repository already has. Later runs may always add a tenth
    of the shelf's size.
    """
    order = sorted(candidates, key=lambda c: (-c.rank, c.candidate_id))
    same = _same(order)
    room = max(size - existing, size / 10)
    shelf = {c.candidate_id for c in candidates if c.candidate_id in always}
    own = [c for c in order if c.candidate_id not in same and c.candidate_id not in shelf]
    taken = 0
    for fits in ("good", "fair"):
        for one in own:
            full = taken >= room and not (one.rank >= STRONG and existing + taken < 2 * size)
            if one.fits != fits or full:
                continue
            if fits == "fair" and existing + taken >= max(THIN, FILLED * size):
                break
            shelf.add(one.candidate_id)
            taken += 1
    more = [c.candidate_id for c in own if c.candidate_id not in shelf and c.rank > POOR]
    next_best = frozenset(more[: math.ceil(max(room, taken))] if room < math.inf else more)
    followed = {id_ for id_, better in same.items() if better in shelf}
    return ShelfChoice(shelf=frozenset(shelf), next_best=next_best | followed, same=same)


_CLAUSE = regex(r"(?:^|[.!?:=;(。：；]|\s[–—-]\s|\n)[^\w\n]{0,12}")
_SENTENCE_END = regex(r"[.!?](?=\s)|[。！？]|\n\s*\n")
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

            twins = [twin for twin in twins if says_the_same(twin.text, one.text)]
        if twins:
            same[one.candidate_id] = twins[0].candidate_id
        elif one.rank > POOR:
            for word in words:
                if len(holding[word]) < 200:
                    holding[word].append(len(kept))
            kept.append((one, words, numbers))
    return same


FEWEST = 3
"""Minimum number of decisions for an adjustment."""
LIMIT = 1.5
"""Maximum adjustment of a rank."""
STATED_TWICE = 0.3
"""Minimum adjustment that a rationale mentions."""
SLOW = 3
"""Number of decisions at which half of the adjustment applies."""
BALANCE = 0.25
"""Minimum share assumed for each side.

If an owner only rejects, that is little evidence about the remaining statements.
"""
ALIKE = 0.4
"""Share of common words from which statements are similar, whatever their file."""
_GROUPS: Mapping[str, tuple[float, float]] = {
    "kind": (0.5, 12.0),
    "file": (0.5, 12.0),
    "section": (0.5, 6.0),
    "type": (0.5, 12.0),
    "shape": (0.5, 12.0),
    "under": (1.0, 3.0),
    "words": (1.0, 3.0),
}
"""The weight of each feature group, and the decisions on one feature at which half of it applies.

Features that few statements share need fewer decisions.
"""
Groups = Mapping[str, frozenset[Hashable]]


class Taste:
    """The owner's preferences, learned from decisions.

    False in a boolean context if there are too few decisions.
    """

    def __init__(self, decided: Sequence[tuple[Groups, bool]]) -> None:
        """Count how often statements with each feature were accepted and rejected."""
        self._decided = decided
        self._counts: tuple[Counter[tuple[str, Hashable]], ...] = (Counter(), Counter())
        for groups, kept in decided:
            self._counts[kept].update(
                (name, one) for name, group in groups.items() for one in group
            )
        share = (sum(kept for _, kept in decided) + 1) / (len(decided) + 2)
        self._share = min(1 - BALANCE, max(BALANCE, share))

    def __bool__(self) -> bool:
        return len(self._decided) >= FEWEST

    def delta(self, groups: Groups) -> float:
        """Return the adjustment to the rank of a statement with the given features."""
        if not self:
            return 0.0
        total = sum(
            weight
            * sum(sorted(self._odds(name, one, slow) for one in groups[name]))
            / math.sqrt(len(groups[name]))
            for name, (weight, slow) in _GROUPS.items()
            if groups[name]
        )
        total *= len(self._decided) / (len(self._decided) + SLOW)
        return round(max(-LIMIT, min(LIMIT, total)), 3)

    def _odds(self, name: str, one: Hashable, slow: float) -> float:
        """Return how a single feature changes the log odds that a statement is accepted."""
        gone, kept = (counts[name, one] for counts in self._counts)
        odds = (kept / self._share + slow) / (gone / (1 - self._share) + slow)
        return math.log(odds)

    def code(self, delta: float, groups: Groups) -> str:
        """Return a code that explains an adjustment, with the number of similar decisions."""
        if abs(delta) < STATED_TWICE:
            return ""
        similar = sum(kept == (delta > 0) and _alike(groups, had) for had, kept in self._decided)
        return f"owner_{'prefers' if delta > 0 else 'rejects'}" + (f"_{similar}" if similar else "")


def _alike(one: Groups, other: Groups) -> bool:
    """Return whether two statements have the same file and heading, or enough common words."""
    shared = len(one["words"] & other["words"])
    is_same_file = one["file"] == other["file"] and bool(one["under"] & other["under"])
    return is_same_file or shared >= ALIKE * max(1, len(one["words"]))


def groups_of(unit: Unit, resource: str, file_kind: str, section: str, type_: str) -> Groups:
    """Return the features used to compare a statement with statements already decided on."""
    inner = [*unit.headings, *filter(None, (unit.lead,))][-1:]
    seen = features(replace(unit, headings=(*inner,), lead=""), file_kind, section, ())
    return {
        "kind": frozenset(filter(None, (file_kind,))),
        "file": frozenset((resource,)),
        "section": frozenset(filter(None, (section,))),
        "type": frozenset((type_,)),
        "shape": frozenset(("\n" in unit.text, bool(unit.key))),
        "under": seen.context,
        "words": seen.text,
    }


def taste_of(state: State, kind_of: Callable[[str], str]) -> Taste:
    """Learn the owner's preferences from the decisions in a state.

    `kind_of` returns the kind of a source, or an empty string. Memories without a decision are
    excluded (`is_decided`).
    """
    of = [memory for memory in of_types(state.every, CLAIM_TYPES) if is_decided(memory)]
    if len(of) < FEWEST:
        return Taste(())
    return Taste([(_groups(m, kind_of(m.first[0])), m.status != "forgotten") for m in of])


def is_decided(memory: Memory) -> bool:
    """Return whether a person decided on a memory that has a source."""
    if not memory.sources:
        return False
    stamps: list[Stamp | None] = [memory.fields.get("generated")]
    stamps += memory.fields.get("verified", ())
    return (
        memory.status == "forgotten"
        or any(map(memory.flag, ("pinned", "critical", "user_marked")))
        or any(stamp is not None and stamp.by.startswith("human:") for stamp in stamps)
    )


def _groups(memory: Memory, file_kind: str) -> Groups:
    """Return the features of the statement behind a memory, using the memory's fields only."""
    resource, _ = memory.first
    name = resource.rpartition("/")[2].removesuffix(".md")
    parts = memory.text("context").split(" › ")
    under = tuple(parts[parts.index(name) + 1 :] if name in parts else parts)
    key = memory.text("predicate")
    unit = Unit(
        resource=resource, kind="item", text=memory.body, lines=(1, 1), headings=under, key=key
    )
    section = (section_kind([key]) if key else "") or section_kind(("", *under))
    return groups_of(unit, resource, file_kind, section, memory.type)
