"""Rank the statements of files.

The shelf is the set of chosen statements. The rank depends on the kinds of file and section, and on
the signs in the statement's text. A file contributes at most the share of its kind. The total
number of claims is limited to what a person can read. Statements that are not chosen remain in
their source or note, where search finds them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from memrepo.core.patterns import regex
from memrepo.policies.rules import Size
from memrepo.read.kinds import (
    AGENTS,
    FileKind,
    is_profile,
    kinds,
    newest_states,
    points_to,
    section_kind,
    signs_of,
    state_of,
)
from memrepo.read.learned import features, worth
from memrepo.read.sources import default_type
from memrepo.read.thoughts import Unit, field_of, is_field, is_negative
from memrepo.text.dates import is_time_heading
from memrepo.text.words import patterns

GOOD, CLEAR, PLAIN, FAIR = 2.5, 3.0, 1.0, -0.8
"""Minimum ranks to choose a statement: of a file that is kept for what lasts; of another file; of
what a daily log settles, and of another file while there are hardly any claims; and of a file about
a person, and of a kept file and a daily log while there are few.
"""
POOR = -4.0
"""Rank at or below which a statement is rejected instead of deferred."""
SMALL_FILE = 6
"""A memory or profile file with at most so many statements is kept whole: few facts, not none."""
DETAIL_COST = 2.0
"""The cost in rank of what follows the memory in a file with a memory's header."""
CLAIM_LENGTH, ENTRY_LENGTH = 700, 1600
"""Maximum lengths of a statement that may become a claim, and of an entry of a file that is kept
for what lasts. Whole files and sections have no limit.
"""
LEARNED, LOGIT_LIMIT = 1.4, 4.0
"""The weight of the model's logit relative to structure, and the limit of that logit."""
NEWS = 1.5
"""The bonus for a line of a daily log that states a decision, a correction or similar news."""
OWNERS, MIN_SHIPPED = 1.5, 1 / 3
"""The bonus for what an owner added to instructions of which at least this share was shipped."""
STATE = 4.5
"""The bonus for a statement of the newest of several dated states."""
PROPERTIES = {"project": 5.0, "profile": 1.0}
"""The rank of a note's properties, by the kind of its file."""
SECTION_COST = 0.12
"""The cost in rank of each earlier statement of the same section."""
_STATED = (("decided", "decision"), ("prefers", "preference"), ("commits", "commitment"))
"""Rows of the sentence tables whose matches state a type, most certain first."""
_FIELDS = (("decision", "decision"), ("lesson", "lesson"))
_RULES = ("ban", "ruled", "allowed")
_LABELS = (*_FIELDS, *((row, "constraint") for row in _RULES), ("preference", "preference"))
"""Rows of the heading tables that are labels of a line, with the type that each gives."""
MAX_FIELDS = 8
"""The number of lines in which a block of fields is searched for such a label."""
FACT = "fact"
_PASSING = frozenset(("done", "now"))
_STANDING = frozenset(("where", "identity", "relation"))
_SETTLED = frozenset(("constraint", "ban", "decision", "preference"))
"""Types and signs of what a day settles for later ones."""
OPENING, EARLY = 200, 40
"""The numbers of leading characters that determine a statement's type, and where a modal rules."""


class RankedUnit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The rank and type of a statement, with the reasons for the rank.

    `fits` is whether the file's share includes it: "good", "fair" (while there are few claims) or
    "".
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
    sources: Collection[str] = (),
) -> dict[str, RankedUnit]:
    """Rank the statements of a file. Return the ranks by unit hash.

    `names` are the names of the people and agents in the profile files. `open_` contains the hashes
    of new statements, and the file's share is computed from these only, so a long file still
    contributes news. With `size` "all", only meaningless statements are excluded. Statements that
    only link to one of `sources` are never promoted.
    """
    ranked: dict[str, RankedUnit] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    is_headed = [unit.kind for unit in units[:1]] == ["memory"]
    every = [_rank(kind, unit, names) for unit in units]
    shipped = sum("template" in one.signs for one in every)
    states = newest_states((unit.resource, unit.headings[-1]) for unit in units if unit.headings)
    is_form = kind.kind.name == "instruction" and shipped >= MIN_SHIPPED * len(every)
    for unit, one in zip(units, every, strict=True):
        if is_form and not one.signs & ({"template"} | kinds().groups["empty_signs"]):
            one = msgspec.structs.replace(one, rank=one.rank + OWNERS)
        if states and is_in(kind.kind.name, "kept"):
            one = _with_state(one, unit, states)
        is_rule = is_in(kind.kind.name, "of_rules") and "ban" in one.signs  # a rule for a file
        if not is_rule and points_to(unit, sources):
            one = msgspec.structs.replace(one, signs=one.signs | {"pointer"})
        if unit.kind == "properties" and kind.kind.name in PROPERTIES:
            one = msgspec.structs.replace(one, rank=PROPERTIES[kind.kind.name])
        elif unit.kind == "properties" and not unit.headings:
            one = msgspec.structs.replace(one, signs=one.signs | {"unset"})
        if one.signs & kinds().groups["void_signs"]:
            one = msgspec.structs.replace(one, rank=min(one.rank, POOR))
        cost = SECTION_COST * seen[unit.headings]
        cost += DETAIL_COST * (is_headed and unit.kind != "memory")
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
                ranked[hash_] = msgspec.structs.replace(one, fits="good")
    else:
        _fit_share(kind, units, ranked, order)
    return ranked


def _with_state(one: RankedUnit, unit: Unit, states: Mapping[tuple[str, str], str]) -> RankedUnit:
    """Return the rank of a statement below a dated state: a fact of the newest, void of others."""
    title, day = state_of(unit.headings[-1]) if unit.headings else ("", "")
    if not day:
        return one
    if day < states[unit.resource, title]:
        return msgspec.structs.replace(one, signs=one.signs | {"over"})
    return msgspec.structs.replace(one, rank=one.rank + STATE)


def _fit_share(
    kind: FileKind,
    units: Sequence[Unit],
    ranked: dict[str, RankedUnit],
    order: Sequence[str],
) -> None:
    """Mark in `ranked` the best statements of a file that fit, up to the file's share."""
    share = min(kind.kind.cap, max(kind.kind.floor, math.ceil(kind.kind.share * len(order))))
    is_small = kind.kind.name in ("memory", "profile") and len(units) <= SMALL_FILE
    whole = ("section", "document", "memory")
    lengths = {unit.hash: len(unit.text) * (unit.kind not in whole) for unit in units}
    longest = ENTRY_LENGTH if is_in(kind.kind.name, "kept") else CLAIM_LENGTH
    for hash_ in order[:share]:
        if lengths[hash_] > longest or ranked[hash_].signs & kinds().groups["void_signs"]:
            continue
        fits = _fits(kind.kind.name, ranked[hash_], is_small=is_small)
        if fits:
            ranked[hash_] = msgspec.structs.replace(ranked[hash_], fits=fits)


def _fits(name: str, one: RankedUnit, *, is_small: bool) -> Literal["good", "fair", ""]:
    """Return whether a statement of a kind of file may be chosen, as in `RankedUnit.fits`."""
    groups = kinds().groups
    is_log = name == "day log"
    is_of_day = one.type == FACT and (name in groups["loose"] or one.section == "log")
    if one.section in groups["dead_sections"] or (is_of_day and _PASSING & one.signs):
        return ""  # what never held, or held on its day only
    is_kept = name in groups["kept"]
    is_settling = is_log and _is_settled(one.type, one.signs)
    least = FAIR if name == "profile" else GOOD if is_kept else PLAIN if is_settling else CLEAR
    if one.rank >= least and not is_of_day:
        return "good"
    if one.section in groups["passing_sections"] and not is_of_day:
        return ""
    is_plain = is_kept and is_small and one.signs <= groups["plain_signs"]
    least = POOR if is_plain else FAIR if is_kept or is_log else PLAIN
    return "fair" if one.rank >= least else ""


def _is_settled(type_: str, signs: Collection[str]) -> bool:
    """Return whether a statement is a rule, a decision or a preference, by its type or words."""
    return not _SETTLED.isdisjoint((type_, *signs))


def is_in(name: str, group: str) -> bool:
    """Return whether a kind of file or section belongs to a group of `kinds.toml`."""
    return name in kinds().groups[group]


def _rank(kind: FileKind, unit: Unit, names: Collection[str]) -> RankedUnit:
    table = kinds()
    signs = signs_of(unit)
    section = section_kind(unit.headings)
    if unit.key and section != "closed":
        section = section_kind([unit.key]) or section
    name = kind.kind.name
    last = unit.headings[-1] if unit.headings[1:] else ""
    # The owner of a file that is kept for one type chose each of its lines.
    is_own = default_type(unit.resource) != FACT
    if (name == "day log" or is_own) and section == "log" and (not last or is_time_heading(last)):
        section = ""  # all of the file is a log: its title or a time says nothing of a line
    if is_in(name, "kept") and unit.text.startswith("["):
        signs -= {"italic"}  # who keeps a file writes no asides in it
    if is_in(name, "loose") and not _teaches(unit):
        signs -= {"lesson"}  # in a list of observations, one word does not make a lesson
    weight = table.sections.get(section, 0.0)
    if name == "profile" and section in ("log", "status"):
        weight *= 0.5
    if "dated" in signs and weight > 0:
        weight *= 0.3  # a dated entry appended under a heading is rarely of the heading's kind
    rank = kind.kind.prior + weight + math.fsum(table.signs.get(sign, 0.0) for sign in signs)
    stated = name != "day log" or signs & {"rule", "identity"}  # some of a daily log is passing
    lasting = signs & kinds().groups["lasting_signs"] or (
        is_in(section, "lasting_sections") and stated
    )
    if name == "day log" and not is_in(section, "unsettled_sections") and _is_news(unit, signs):
        lasting, rank = True, rank + NEWS
    is_placed = name == "day log" and _STANDING & signs and not _PASSING & signs
    if is_in(name, "loose") and not lasting and not is_placed:
        rank -= 1.2
    if name == "instruction" and not any(n in unit.text for n in names):
        rank -= 0.6
    if not is_own:
        logit = worth(features(unit, name, section, signs))
        rank += LEARNED * max(-LOGIT_LIMIT, min(LOGIT_LIMIT, logit))
    return RankedUnit(
        rank=rank,
        type=type_of(unit, name, section, signs),
        file_kind=name,
        section=section,
        signs=signs,
    )


def type_of(unit: Unit, file_kind: str, section: str, signs: Collection[str]) -> str:
    """Return the type that a statement's form expresses, or `fact` if it expresses none.

    A label decides first, then the opening sentence, then the heading, and last a word.
    """
    by_name = default_type(unit.resource)
    by_file = kinds().file_types.get(file_kind) or (by_name if by_name != FACT else "")
    if fixed := unit.hint or by_file or _labelled(unit):
        return fixed
    if "row" in signs or unit.kind == "code":
        return FACT
    if "open_box" in signs:  # a task is no promise of the person
        return "commitment" if "promise" in signs or _stated(unit, signs) else FACT
    is_single = "\n" not in unit.text
    if "question" in signs and is_single and sum(unit.text.count(mark) for mark in "?？") == 1:
        return "open_question"
    name = unit.resource.rpartition("/")[2]
    is_told = name == "AGENTS.md" or (name == "SOUL.md" and unit.text.startswith("**"))
    is_instruction = is_told and section != "person" and not is_field(unit.text)
    is_kept = is_instruction or (
        is_in(file_kind, "of_rules") and section in ("ban", "rule", "preference")
    )
    is_passing = bool(_PASSING & set(signs)) or is_in(section, "unsettled_sections")
    if not is_kept and is_passing:
        if file_kind == "day log" and _stated(unit, signs) == "decision":
            return "decision"  # what was decided outlasts the day
        return "constraint" if not is_in(file_kind, "loose") and _is_loud(unit) else FACT
    is_loose = is_in(file_kind, "loose") and file_kind != "day log"
    stated = "" if is_loose else _stated(unit, signs)
    if stated and not (is_instruction and stated == "decision"):  # it says what to record
        return stated
    key = unit.key if file_kind == "day log" else ""
    own = section_kind([key]) or section_kind(unit.headings[-1:])
    if not own and not unit.headings[1:] and {"ban", "rule", "lesson", "decision"} & set(signs):
        named = {section_kind([word]) for word in _NO_WORD.split(name.rpartition(".")[0])}
        own = named.pop() if len(named) == 1 else ""  # below its title, as the file's name says
    is_record = own == "lesson" or (own == "decision" and unit.kind != "steps")
    is_taught = own == "lesson" and file_kind == "page" and "lesson" in signs
    is_record &= not is_loose or is_taught
    if is_record and not (is_single and _orders(unit, 2)):
        return own
    names = (unit.key or field_of(unit.text)[0], *unit.headings[-1:])
    if any(map(patterns().headings["finding"].search, names)) and not _orders(unit, 2):
        return FACT  # what must be so, as far as one saw
    if is_instruction or _is_rule(unit, file_kind, section, signs):
        return "constraint"
    if _is_preference(file_kind, section, signs):
        return "preference"
    is_guide = is_in(section, "step_sections") or file_kind in ("rules", "tools")
    if unit.kind == "steps" and is_guide:
        return "procedure"
    if "lesson" in signs and section == "lesson" and not is_loose:
        return "lesson"
    if (
        name == "SOUL.md"
        and section != "person"
        and not patterns().sentences["self"].search(unit.text)
    ):
        return "preference"  # it says how to be, but not who the agent is
    return "identity" if name in (*AGENTS, "SOUL.md") else FACT


def _labelled(unit: Unit) -> str:
    """Return the type that the label of a statement's first line names, or an empty string.

    A block of fields about one thing has the type of its field `Decision` or `Lesson`.
    """
    table, found = patterns().headings, ""
    lines = [line for line in unit.text.split("\n") if not line.lstrip().startswith("#")]
    for number, line in enumerate(lines[:MAX_FIELDS]):
        key = field_of(line.lstrip("-*+ "))[0]
        if not key:
            continue
        is_first = not number or is_profile(unit.resource)
        if is_first and key.lower() in patterns().names:
            is_card = unit.kind in ("card", "item", "memory") or "\n" in unit.text
            return "identity" if is_card else ""
        rows = _LABELS if not number else _FIELDS
        found = found or next((type_ for row, type_ in rows if table[row].fullmatch(key)), "")
    return found


def _stated(unit: Unit, signs: Collection[str]) -> str:
    """Return the type that a statement's first sentence makes explicit, or an empty string."""
    opening, table = _opening(unit), patterns().sentences
    if {"question", "path", "dangling"} & set(signs) or unit.kind == "steps":
        return ""
    found = (type_ for row, type_ in _STATED if table[row].search(opening))
    type_ = next(found, "")
    is_ban = "ban" in signs and table["ban"].search(opening)
    return "" if type_ == "decision" and is_ban else type_


def _is_rule(unit: Unit, file_kind: str, section: str, signs: Collection[str]) -> bool:
    """Return whether heading and form make a statement a rule.

    An imperative is one anywhere. Where rules are kept, a word such as "must" or a heading such as
    "Rules" is enough. Elsewhere a heading needs such a word, and the word is not enough.
    """
    is_wish = section == "preference"
    if _orders(unit, 2 if is_wish else 3) or (_is_loud(unit) and not is_wish):
        return True
    says = bool({"ban", "rule"} & set(signs)) and not _QUOTE.match(unit.text)
    is_headed = section in ("ban", "rule")
    if is_in(file_kind, "loose"):
        return is_headed and says
    if section == "ban" or ("\n" in unit.text and _teaches(unit, ("ban", "rule"))):
        return True
    if is_in(file_kind, "of_rules"):
        is_told = file_kind != "profile" and (section != "person" or _says_in(_opening(unit)))
        return is_headed or (says and is_told)
    rows = map(patterns().headings.__getitem__, ("ruled", "allowed"))
    is_ruled = any(row.search(heading) for row in rows for heading in unit.headings)
    is_ruled |= any(map(is_negative, unit.headings))
    return (is_headed and (says or is_ruled)) or (says and _says_in(_opening(unit), EARLY))


def _says_in(text: str, end: int = OPENING) -> bool:
    """Return whether a word of a ban or a rule begins before a place in a text."""
    found = (patterns().sentences[row].search(text) for row in ("ban", "rule"))
    return any(match is not None and match.start() < end for match in found)


def _is_preference(file_kind: str, section: str, signs: Collection[str]) -> bool:
    """Return whether a statement is a person's habit: where a person is described, or wished."""
    if section == "preference":
        is_wish = file_kind in ("memory", "day log") and "where" not in signs
        return is_wish or file_kind in ("profile", "rules")
    return file_kind == "profile" and "preference" in signs


def _is_news(unit: Unit, signs: Collection[str]) -> bool:
    """Return whether a statement of a daily log reports a change that affects later days."""
    if {"done", "question", "code", "row"} & set(signs):
        return False
    return bool(_stated(unit, signs) or patterns().sentences["corrects"].search(_opening(unit)))


def _orders(unit: Unit, count: int = 3) -> bool:
    """Return whether one of the first clauses of a statement is an order or a ban.

    It opens with a word of one, or with a condition, and the word is in the same sentence. The
    first part is the text before the first clause.
    """
    table, text = patterns().sentences, unit.text[:OPENING]
    starts = [0, *(match.end() for match in _CLAUSE.finditer(text))][:count]
    if any(table[row].match(text[at:]) for row in ("ban", "rule") for at in starts):
        return True
    found = ((text[at:], table["condition"].match(text[at:])) for at in starts)
    sentences = (_SENTENCE_END.split(text[one.end() :], 1)[0] for text, one in found if one)
    return any(map(_says_in, sentences))


def _is_loud(unit: Unit) -> bool:
    """Return whether a statement has a word of a ban or a rule in capitals."""
    loud = [word for word in _LETTERS.findall(unit.text[:OPENING]) if word.isupper()]
    return bool(loud) and _says_in(" ".join(loud))


def _teaches(unit: Unit, rows: Sequence[str] = ("lesson", "ban", "rule")) -> bool:
    """Return whether most lines of a statement express a lesson, a rule or a ban."""
    lines, table = unit.text.split("\n"), patterns().sentences
    lines = lines[lines[0].startswith("#") :]
    return 2 * sum(any(table[row].search(line) for row in rows) for line in lines) > len(lines)


def _opening(unit: Unit) -> str:
    """Return the first sentence of a statement, truncated to OPENING characters."""
    text = unit.text[:OPENING]
    end = _SENTENCE_END.search(text, 20)
    return text[: end.end()] if end else text


_LETTERS = regex(r"[^\W\d_]{2,}")
_NO_WORD = regex(r"[\W_]+")
_QUOTE = regex(r"^\W{0,4}[\"“„«‘]")
_CLAUSE = regex(r"(?:^|[.!?:=;(。：；]|\s[–—-]\s|\n)[^\w\n]{0,12}")
_SENTENCE_END = regex(r"[.!?](?=\s)|[。！？]|\n\s*\n")
