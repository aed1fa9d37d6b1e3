"""Rank the thoughts of a file, and choose the share of them that becomes memories.

Structure ranks: what the file is, what its section is, what the thought's own text shows. A file
gives at most its kind's share, and a repository holds about as many claims as a person reads. What
is not chosen loses nothing: it stays in its source or note, where search finds it.
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
from memrepo.read.kinds import FileKind, kinds, mark_of, points_to, section_kind, signs_of
from memrepo.read.learned import FACT, Features, features, stated_type, type_scores, worth
from memrepo.read.thoughts import Unit, field_of
from memrepo.text.tables import patterns
from memrepo.text.tokens import content_words

GOOD, FAIR = 1.0, -0.8
"""Ranks from which a thought is chosen, and from which a thin repository still chooses it."""
STRONG = 6.0
"""From this rank on a thought is chosen although the shelf is full, up to twice its size."""
POOR = -4.0
"""Below this rank a thought is rejected rather than deferred."""
THIN, FILLED = 30, 0.7
"""A shelf of fewer claims, or one that is filled less than so far, takes what is fair as well."""
BASE, PER_ROOT_FILE = 40, 8
"""A shelf holds BASE claims, and PER_ROOT_FILE times the square root of the number of files."""
CLAIM_LENGTH = 1500
"""A longer thought stays in its source, unless its file or section is one by its kind."""
LEARNED, LOGIT_LIMIT = 1.4, 4.0
"""The weight of the model's logit next to structure, and the largest that counts."""
NEWS = 1.5
"""What a line of a day's log gains that states a decision, a correction or the like."""
SECTION_COST = 0.12
"""What each further thought of one section costs."""
_GENEROUS = frozenset(
    ("profile", "memory", "rules", "decisions", "tools", "instruction", "project", "procedures")
)
"""Kinds of files of which a thin repository takes what is fair."""
_LOOSE = ("day log", "plan", "article", "page", "catalogue", "transcript")
"""Kinds of files of which only what states something lasting is worth a claim."""
_VOID_SIGNS = frozenset(("unset", "pointer"))
"""A thought with one of these promotes nothing."""
_EMPTY_SIGNS = frozenset(("placeholder", "meta", "dangling", "code")) | _VOID_SIGNS
_LASTING_SIGNS = frozenset(("ban", "preference", "decision", "lesson", "mark"))
_LASTING_SECTIONS = frozenset(("rule", "ban", "preference", "decision", "lesson", "person"))
_SECTION_TYPES = {"ban": "constraint", "rule": "constraint", "preference": "preference"}
"""The type of what is under such a heading and states no other by itself."""
_STATED = (("decided", "decision"), ("prefers", "preference"), ("commits", "commitment"))
"""Rows of the tables of sentences whose entries state a type, the surest first."""
_UNSETTLED = ("option", "closed", "example", "status", "plan")
"""Kinds of sections in which no sentence states a preference, a decision or a commitment."""
_OF_RULES = ("profile", "instruction", "rules")
"""Kinds of files in which what is below any heading about how to act is a rule."""
OPENING = 200
"""The type of a thought shows in so many characters."""
_KIND_TYPES = {"episode": "episode", "procedures": "method"}
_HINTS: Mapping[str, str] = {
    "RTMEMORY.md": "lesson",
    "CHRONICLES.md": "milestone",
    "DREAMS.md": "aspiration",
}


class Ranked(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the shelf makes of one thought: its rank, its type, and why.

    `fits` says whether its file's share includes it: "good", "fair" for a thin repository, or "".
    """

    rank: float
    type: str
    file_kind: str
    section: str = ""
    signs: frozenset[str] = frozenset()
    fits: Literal["good", "fair", ""] = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the codes of what decided, for a rationale."""
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
) -> dict[str, Ranked]:
    """Rank the thoughts of a file by unit hash.

    `names` are those of the people and agents of the house. `open_` are the hashes of the thoughts
    that are new: the file's share is that of these, so that a long file still takes news. With
    `size` "all" nothing is left out but what says nothing. `taste` is what the owner's decisions
    say, who knows the file as `resource`. What only points to one of `sources` promotes nothing.
    """
    ranked: dict[str, Ranked] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for unit in units:
        one = _rank(kind, unit, names)
        is_rule = kind.kind.name in _OF_RULES and "ban" in one.signs  # on how to use a file
        if not is_rule and points_to(unit, sources):
            one = msgspec.structs.replace(one, signs=one.signs | {"pointer"})
        if one.signs & _VOID_SIGNS:
            one = msgspec.structs.replace(one, rank=min(one.rank, POOR))
        if taste:
            # What the owner's decisions on similar statements add.
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
            passing = kind.kind.name == "day log" and not one.signs & _LASTING_SIGNS
            if not passing and not one.signs & _EMPTY_SIGNS:
                ranked[hash_] = msgspec.structs.replace(ranked[hash_], fits="good")
        return ranked
    share = min(kind.kind.cap, max(kind.kind.floor, math.ceil(kind.kind.share * len(order))))
    whole = ("section", "document", "memory")
    lengths = {unit.hash: len(unit.text) * (unit.kind not in whole) for unit in units}
    for hash_ in order[:share]:
        rank = ranked[hash_].rank
        if lengths[hash_] > CLAIM_LENGTH or ranked[hash_].signs & _VOID_SIGNS:
            continue
        lasts = ranked[hash_].section not in ("option", "closed", "example", "log", "status")
        fair = lasts and rank >= FAIR and kind.kind.name in _GENEROUS
        fits = "good" if rank >= GOOD else "fair" if fair else ""
        if fits:
            ranked[hash_] = msgspec.structs.replace(ranked[hash_], fits=fits)
    return ranked


def _rank(kind: FileKind, unit: Unit, names: Collection[str]) -> Ranked:
    table = kinds()
    signs = signs_of(unit)
    section = (section_kind([unit.key]) if unit.key else "") or section_kind(unit.headings)
    name = kind.kind.name
    if name in _LOOSE and not _teaches(unit):
        signs -= {"lesson"}  # a list of what was looked at teaches nothing by one word
    weight = table.sections.get(section, 0.0)
    if name == "profile" and section in ("log", "status"):
        weight *= 0.5
    if "dated" in signs and weight > 0:
        weight *= 0.3  # what is appended with a date under a heading is rarely of its kind
    rank = kind.kind.prior + weight + sum(table.signs.get(sign, 0.0) for sign in signs)
    if name in ("memory", "profile") and "tiny" in signs:
        rank -= table.signs["tiny"]  # a word in such a file may be a fact: "vegan"
    stated = name != "day log" or signs & {"rule", "identity"}  # of a day's log not all lasts
    lasting = signs & _LASTING_SIGNS or (section in _LASTING_SECTIONS and stated)
    if name == "day log" and section not in _UNSETTLED and _is_news(unit, signs):
        lasting, rank = True, rank + NEWS
    if name in _LOOSE and not lasting:
        rank -= 1.2
    if name == "instruction" and not any(n in unit.text for n in names):
        rank -= 0.6
    seen = features(unit, name, section, signs)
    rank += LEARNED * max(-LOGIT_LIMIT, min(LOGIT_LIMIT, worth(seen)))
    return Ranked(
        rank=rank,
        type=type_of(unit, name, section, signs, seen),
        file_kind=name,
        section=section,
        signs=signs,
    )


def type_of(
    unit: Unit, file_kind: str, section: str, signs: Collection[str], seen: Features
) -> str:
    """Return the type that a thought states by itself; what states none is a fact."""
    name = unit.resource.rpartition("/")[2]
    fixed = unit.hint or _KIND_TYPES.get(file_kind) or _HINTS.get(name) or mark_of(unit.text)
    if fixed:
        return fixed
    if "link" in signs and not ("ban" in signs and file_kind in _OF_RULES):
        return FACT
    key = field_of(unit.text.partition("\n")[0].lstrip("-*+ "))[0]
    if unit.kind == "card" and key.lower() in patterns().names:
        return "identity"
    if unit.kind == "steps":  # numbered rules are no steps
        if _opens_as_rule(unit, file_kind, section, ("ban",)):
            return "constraint"
        if section == "lesson":
            return FACT if file_kind in _LOOSE and not _teaches(unit) else "lesson"
        return "procedure"
    if "question" in signs:
        return "open_question"
    passing = bool({"done", "now", "ticked"} & set(signs)) or section in _UNSETTLED
    if not passing and (stated := _stated(unit, signs)):
        return stated
    told = section in ("preference", "person") or file_kind == "profile"
    if "preference" in signs and "ban" not in signs and told and not passing:
        return "preference"
    found = stated_type(seen, type_scores(seen))
    unstated = (
        (found == "constraint" and not _opens_as_rule(unit, file_kind, section))
        or (found == "procedure" and "\n" not in unit.text)  # one line has no steps
        or (found == "lesson" and "lesson" not in signs)
        or (found == "identity" and "identity" not in signs)
    )
    learned = found == "constraint" and section == "lesson" and _teaches(unit)
    found = ("lesson" if learned else FACT) if unstated else found
    plain = {"path", "link", "code", "row", "identifier", "numbers", "dated"} & set(signs)
    if found == FACT and not passing and not plain and unit.kind not in ("table", "code"):
        is_ruled = any(map(patterns().headings["ruled"].search, unit.headings))
        if section == "rule" and not is_ruled and file_kind not in _OF_RULES:
            return FACT  # a heading such as "Workflow" or "Security" has facts below it too
        headed = _SECTION_TYPES.get(section, FACT)
        says = headed != "constraint" or _opens_as_rule(unit, file_kind, section)
        return headed if says else FACT
    return found


def _stated(unit: Unit, signs: Collection[str]) -> str:
    """Return the type that a thought's first sentence states in so many words, or nothing."""
    opening, table = _opening(unit), patterns().sentences
    is_told = not {"question", "row", "code", "link", "path", "dangling"} & set(signs)
    if not is_told or unit.kind in ("table", "code", "steps", "row"):
        return ""
    key = field_of(opening.partition("\n")[0])[0]
    if key and patterns().headings["decision"].fullmatch(key):
        return "decision"
    found = (type_ for row, type_ in _STATED if table[row].search(opening))
    type_ = next(found, "")
    is_ban = "ban" in signs and table["ban"].search(opening)
    return "" if type_ != "decision" and is_ban else type_


def _is_news(unit: Unit, signs: Collection[str]) -> bool:
    """Return whether a thought of a day states what changes for the days after it."""
    if {"done", "ticked", "question", "code", "row"} & set(signs):
        return False
    return bool(_stated(unit, signs) or patterns().sentences["corrects"].search(_opening(unit)))


def _opens_as_rule(
    unit: Unit, file_kind: str, section: str, rows: Sequence[str] = ("ban", "rule")
) -> bool:
    """Return whether a thought's file, heading or beginning says that it is a rule.

    In a file that holds few rules the beginning alone must be imperative.
    """
    table, text = patterns().sentences, unit.text[:OPENING]
    says = any(table[row].search(text) for row in rows)
    headed = section in ("ban", "rule")
    if file_kind not in _LOOSE:
        return says or headed or file_kind == "rules"
    clauses = _CLAUSE.split(text)
    return (headed and says) or any(table[r].match(one) for r in rows for one in clauses)


def _teaches(unit: Unit) -> bool:
    """Return whether most lines of a thought say what was learned, or what to do or not to do."""
    lines, table = unit.text.split("\n"), patterns().sentences
    rows = [table[row] for row in ("lesson", "ban", "rule")]
    return 2 * sum(any(row.search(line) for row in rows) for line in lines) > len(lines)


def _opening(unit: Unit) -> str:
    """Return the beginning of a thought, as far as its first sentence goes."""
    text = unit.text[:OPENING]
    end = _SENTENCE_END.search(text, 20)
    return text[: end.end()] if end else text


# -- the whole repository --------------------------------------------------------------------------


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What a run judges: candidate ids on the shelf, those next to it, and what says the same.

    `same` leads from a candidate to the better one that says nearly the same.
    """

    shelf: frozenset[str]
    beside: frozenset[str]
    same: Mapping[str, str]


def shelf_size(files: int, size: Size = "normal") -> float:
    """Return how many claims a repository of so many source files holds; infinite for all."""
    return SHELF_SIZES[size] * (BASE + PER_ROOT_FILE * math.sqrt(files))


def choose(
    candidates: Sequence[Candidate], *, size: float, existing: int, always: Collection[str] = ()
) -> Choice:
    """Choose candidates for the shelf; `always` are those that are judged in any case.

    `existing` counts the claims that the repository holds already. On later nights a tenth of the
    shelf is open whatever it holds.
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
    beside = frozenset(more[: math.ceil(max(room, taken))] if room < math.inf else more)
    followed = {id_ for id_, better in same.items() if better in shelf}
    return Choice(shelf=frozenset(shelf), beside=beside | followed, same=same)


_CLAUSE = regex(r"(?:^|[.!?:=;(。：；]|\s[–—-]\s|\n)[^\w\n]{0,12}")
_SENTENCE_END = regex(r"[.!?](?=\s)|[。！？]|\n\s*\n")
_NUMBERS = regex(r"\d+")


def _same(order: Sequence[Candidate]) -> dict[str, str]:
    """Map each candidate to a better one that has nearly its words and all its numbers."""
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
"""Fewer decisions say nothing."""
LIMIT = 1.5
"""The most that a rank moves."""
TOLD = 0.3
"""From here on a rationale names it."""
SLOW = 3
"""With so many decisions half of what they say counts."""
BALANCE = 0.25
"""Neither side counts as rarer than this, for one who only rejects says little of the rest."""
ALIKE = 0.4
"""Statements that share such a part of their words are similar wherever they stand."""
_GROUPS: Mapping[str, tuple[float, float]] = {
    "kind": (0.5, 12.0),
    "file": (0.5, 12.0),
    "section": (0.5, 6.0),
    "type": (0.5, 12.0),
    "shape": (0.5, 12.0),
    "under": (1.0, 3.0),
    "words": (1.0, 3.0),
}
"""How much a group of features counts, and how many decisions of one feature are needed for half
of it: fewer of what few statements share.
"""
Groups = Mapping[str, frozenset[Hashable]]


class Taste:
    """What some decisions say of statements; false where they are too few to say anything."""

    def __init__(self, decided: Sequence[tuple[Groups, bool]]) -> None:
        """Take the features of each statement that was decided on, and whether it was kept."""
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
        """Return by how much the rank of a statement moves."""
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
        """Return how the odds that a statement is kept change with one feature."""
        gone, kept = (counts[name, one] for counts in self._counts)
        odds = (kept / self._share + slow) / (gone / (1 - self._share) + slow)
        return math.log(odds)

    def code(self, delta: float, groups: Groups) -> str:
        """Return why a rank moved, with the number of similar decisions; empty if it hardly did."""
        if abs(delta) < TOLD:
            return ""
        similar = sum(kept == (delta > 0) and _alike(groups, had) for had, kept in self._decided)
        return f"owner_{'prefers' if delta > 0 else 'rejects'}" + (f"_{similar}" if similar else "")


def _alike(one: Groups, other: Groups) -> bool:
    """Return whether two statements are similar for a reader: by context or by words."""
    shared = len(one["words"] & other["words"])
    is_same_file = one["file"] == other["file"] and bool(one["under"] & other["under"])
    return is_same_file or shared >= ALIKE * max(1, len(one["words"]))


def groups_of(unit: Unit, resource: str, file_kind: str, section: str, type_: str) -> Groups:
    """Return the features of a statement by which decisions on others speak for or against it."""
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
    """Return what the decisions of a state say; `kind_of` tells the kind of a source, or nothing.

    Memories without a decision are left out (`is_decided`).
    """
    of = [memory for memory in of_types(state.every, CLAIM_TYPES) if is_decided(memory)]
    if len(of) < FEWEST:
        return Taste(())
    return Taste([(_groups(m, kind_of(m.first[0])), m.status != "forgotten") for m in of])


def is_decided(memory: Memory) -> bool:
    """Return whether a person decided on what was read from a source."""
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
    """Return the features of the statement that a memory was made of, by the memory alone."""
    resource, _ = memory.first
    name = resource.rpartition("/")[2].removesuffix(".md")
    parts = memory.text("context").split(" › ")
    under = tuple(parts[parts.index(name) + 1 :] if name in parts else parts)
    key = memory.text("predicate")
    unit = Unit(
        resource=resource, kind="item", text=memory.said, lines=(1, 1), headings=under, key=key
    )
    section = (section_kind([key]) if key else "") or section_kind(("", *under))
    return groups_of(unit, resource, file_kind, section, memory.type)
