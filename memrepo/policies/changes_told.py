"""Changes that a statement tells in words of its own: what was given up, moved, raised, holds now.

The older statement need not have the same frame: a log says `Raised the limit to 50 MB` of `The
limit is 20 MB`. Most of these are doubts, since what they mean is told by few words. The record of
a change is here too. Docs: docs/change.md.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.core.patterns import regex
from memrepo.policies.rows import (
    IS,
    KEY,
    SELF,
    Item,
    Row,
    is_date,
    is_negated,
    kind_of,
    row_of,
    tells_change,
)
from memrepo.policies.slots import slot_of
from memrepo.policies.speech import Language, Word

_MOST = 4
"""The most words that a value has."""
_PLAIN = 12
"""Of a plain statement of a change, the most words that matter."""
_REST = 0.6
"""Which share of the other words of a statement stands beside a value that is given up."""
_FIRST = 3
"""So many words at the beginning of a statement name its matter."""

Strength = Literal["stated", "restated", "doubt"]
"""`stated`: the newer one says itself that the older one is over. `restated`: it gives another
value where there can be one. `doubt`: both may hold in part, and a person has to look."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a statement does to an older one.

    `cover` is the share of the older one's words that the newer one repeats: of several that a
    cancellation may mean, it means the one that it covers best.
    """

    kind: str
    strength: Strength
    reason: str
    cover: float = 1.0
    bare: bool = False
    """Whether the older one does not name its subject: what it is about stands elsewhere."""


def given_up(old: Row, new: Row) -> Change | None:
    """The newer one names the old value as given up: `markdown instead of PDF`, `not on Friday`.

    It has to stand right behind the word, and most of the rest of the older statement beside it.
    """
    said = [i.key for i in old.items if not i.is_mark]
    if is_negated(old) or not said or len(new.items) > _PLAIN:
        return None
    held = {i.key for i in new.items}
    for name in ("instead", "negation", "gives_up"):
        for span in new.spans(name):
            if span[-1] - span[0] >= len(span) or new.words[span[0]].text == "→":
                continue  # a way, or steps
            if name == "negation" and (not span[0] or new.words[span[0] - 1].text != ","):
                continue
            behind = _items_of(new, new.words[span[-1] + 1 :])
            gone = behind[0].key if behind else ""
            rest = [key for key in said if key != gone]
            shared = [key for key in rest if key in held]
            if gone not in (said[1:] or said) or len(shared) < _REST * len(rest):
                continue
            if said[0] in (*shared, gone) and (name == "gives_up" or len(new.keys) > len(said)):
                strength: Strength = "stated" if len(shared) > 1 else "doubt"
                reason = "the old value is named as given up"
                return Change(kind="exchanged", strength=strength, reason=reason)
    return None


def left(old: Row, new: Row) -> Change | None:
    """The newer one says what a thing moved from, and the older one has that thing there.

    "from Riga to Oslo" alone is a way; two that tell of a change tell of the same one.
    """
    if len(new.items) > _PLAIN or not new.has("changed", "exchanged"):
        return None
    if is_negated(old) or old.has("changed", "instead", "was"):
        return None
    said = {i.key for i in old.items if not i.is_mark}
    first = {i.key for i in old.items[:_FIRST]}
    for span in (*new.spans("instead"), *new.spans("exchanged")):
        near = new.words[span[0] : span[-1] + _MOST]
        moved = span[-1] - span[0] >= len(span) and new.words[span[0]].text != "→"
        from_ = new.words[span[0] : span[-1]]
        value = {w.stem for w in from_ if w.is_name or w.is_number} & said
        matter = {i.key for i in new.items if not i.is_mark and i.words[0] not in near} & first
        to = {w.stem for w in new.words[span[-1] + 1 : span[-1] + _MOST] if w.is_name}
        named = not to <= {w.stem for w in old.words} and _is_value(old, from_[1:])
        if moved and ((value and matter) or named):
            return Change(kind="left", strength="doubt", reason="it names the old value as left")
    return None


def _is_value(old: Row, words: tuple[Word, ...]) -> bool:
    """Tell whether the older one gives a name of several words as the value of its key."""
    stems = [word.stem for word in words]
    said = [word.stem for word in old.words]
    if len(stems) < 2 or not all(w.is_name or w.is_number for w in words) or ":" not in said:
        return False
    at = said.index(":") + 1
    return said[at : at + len(stems)] == stems


def set_anew(old: Row, new: Row) -> Change | None:
    """A log says what was done to a thing: `Raised the limit to 50 MB`, `Moved the kiln to bay 2`.

    What stands before the word for "to" is the matter, what stands behind it the value; of the
    older one the matter is the subject, and its last words are a value of the same kind.
    """
    if len(new.items) > _PLAIN or is_negated(old) or is_negated(new):
        return None
    told, onto = new.spans("changed"), new.spans("onto")
    if not told or not onto or new.predicate >= 0 or old.has("changed", "instead", "was", "plan"):
        return None
    at = onto[-1][0]
    matter = [i.key for i in _items_of(new, new.words[:at]) if i.key not in new.times]
    value = _items_of(new, new.words[onto[-1][-1] + 1 :])
    said = [i for i in old.items if not i.is_mark]
    keys = [i.key for i in said]
    rest = [i for i in said if i.key not in matter]
    if not (matter and rest and value) or len(value) > _MOST or not set(matter) <= set(keys):
        return None
    if keys[0] not in matter or {i.key for i in value} <= set(keys):
        return None
    kind = kind_of(old.language, value[:1])
    if kind != "word" and kind not in {kind_of(old.language, [i]) for i in rest}:
        return None
    if kind == "word" and not _is_set_off(old, rest[-1]):
        return None
    same = kind != "word" or old.predicate >= 0
    reason = "it tells to what it was changed"
    return Change(kind="set anew", strength="stated" if same else "doubt", reason=reason)


def _is_set_off(old: Row, value: Item) -> bool:
    """Tell whether a preposition or a listed predicate stands before a value."""
    if old.predicate >= 0 and old.items[old.predicate].key not in (IS, KEY):
        return True
    if old.predicate >= 0 and value.words[0].is_name:
        return True
    at = next(n for n, word in enumerate(old.words) if word is value.words[0])
    articles = {n for span in old.spans("articles") for n in span}
    before = next((n for n in range(at - 1, -1, -1) if n not in articles), -1)
    return any(before in span for span in old.spans("fill"))


def holds_now(old: Row, new: Row) -> Change | None:
    """The newer one says what holds now, and differs in one place: `uses vite now`."""
    if not new.has("now") or old.has("now", "was") or is_negated(old) != is_negated(new):
        return None
    colon = _colon(new)
    told = row_of(new.language, new.words[colon + 1 :]) if colon >= 0 > _colon(old) else new
    slot = slot_of(old.without("every"), told.without("every"))
    if slot is None or slot.start < 1 or new.has("temporary"):
        return None
    if is_date(old.language, slot.mine) and not is_date(old.language, slot.theirs):
        return None  # something that was done on a day, and is done today
    often = [{r.words[n].stem for s in r.spans("every") for n in s} for r in (old, told)]
    if all(often) and not often[0] & often[1]:
        return None  # another thing on another day
    return Change(kind="restated", strength="doubt", reason="it says what holds now")


def _colon(read: Row) -> int:
    return next((n for n, word in enumerate(read.words) if word.text == ":"), -1)


def another_day(old: Row, new: Row) -> Change | None:
    """What happens on one day of each week is said to happen on another one."""
    slot = slot_of(old, new) if is_negated(old) == is_negated(new) else None
    if slot is None or slot.start < 1 or slot.types != {"date"}:
        return None
    weekly = all(
        old.language.spans(i.words, "every") for side in (slot.mine, slot.theirs) for i in side
    )
    return Change(kind="restated", strength="doubt", reason="another day") if weekly else None


def _items_of(read: Row, words: tuple[Word, ...]) -> list[Item]:
    """Return what matters of a part of a sentence, without the words that tell of a change."""
    part = row_of(read.language, words).without("changed")
    return [i for i in part.items if not i.is_mark]


# -- several clauses -----------------------------------------------------------------------------


def clauses(read: Row) -> list[Row]:
    """Return the clauses of a sentence: it is cut at commas, and before a verb behind "and".

    A sentence is compared with many others, and cut once.
    """
    if "clauses" not in read.cut:
        read.cut["clauses"] = _clauses(read)
    return read.cut["clauses"]


def _clauses(read: Row) -> list[Row]:
    cuts = _cuts(read)
    starts = [-1, *cuts]
    parts = [read.words[a + 1 : b] for a, b in zip(starts, [*cuts, len(read.words)], strict=True)]
    return [row_of(read.language, part) for part in parts if part]


def _cuts(read: Row) -> list[int]:
    """Return the places of the words at which a sentence is cut."""
    joins = {span[0] for span in read.spans("and")}
    verbs = {id(item.words[0]) for item in read.items if item.key[0] == "§" and item.key != SELF}
    verbs |= {id(read.words[s[0]]) for name in _VERBS for s in read.spans(name)}
    return [
        n
        for n, word in enumerate(read.words)
        if word.text == ","
        or (n in joins and any(id(w) in verbs for w in read.words[n + 1 : n + 2]))
    ]


_VERBS = ("ended", "changed", "cancelled")


def opening(read: Row) -> Row:
    """Return what a sentence says first: without what announces it, and without later clauses.

    It stays whole where what follows is a condition of it.
    """
    if "opening" not in read.cut:
        found = _opening(read)
        # What held itself would never be let go of: a run collects no circles.
        read.cut["opening"] = [] if found is read else [found]
    return next(iter(read.cut["opening"]), read)


def _opening(read: Row) -> Row:
    colon = _colon(read)
    if 0 < colon <= _MOST and read.language.spans(read.words[:1], "preamble"):
        read = row_of(read.language, read.words[colon + 1 :])
    # Most sentences are one clause, of which no row has to be made for that.
    parts = clauses(read) if KEY not in read.marks and _cuts(read) else []
    rest = parts[1:]
    if not rest or len(parts[0].items) < 2 or any(_limits(r) for r in rest):
        return read
    return parts[0]


def _limits(read: Row) -> bool:
    """Tell whether a clause says when, or for whom, what stands before it holds."""
    return read.has("except", "temporary", "hypothesis", "bounds") and not read.has("now")


def value_over(old: Row, new: Row) -> Change | None:
    """One clause is about the same matter, another says that the old value is over."""
    parts = clauses(new)
    if len(parts) < 2 or is_negated(old) or KEY in new.marks or len(old.items) > _PLAIN:
        return None
    first = next((i.key for i in old.items if not i.is_mark), "")
    values = {i.key for i in old.items[1:] if not i.is_mark and any(map(_names, i.words))}
    for part in parts:
        if not part.has("ended", "cancelled"):
            continue
        keys = part.without("ended", "cancelled").keys
        others = {key for one in parts if one is not part for key in one.keys[:_FIRST]}
        gone = values & {*keys}
        extra = [key for key in keys if key not in old.keys]
        if gone and first in others and first not in gone and len(extra) <= 1:
            return Change(kind="left", strength="doubt", reason="it says the old value is over")
    return None


def _names(word: Word) -> bool:
    return word.is_name or word.is_number


def set_otherwise(old: Row, new: Row) -> Change | None:
    """The newer one says that the one such thing was changed, and then what holds now."""
    parts = clauses(new)
    if len(parts) < 2 or not parts[0].has("changed") or parts[0].spans("onto"):
        return None
    if is_negated(old) or is_negated(new) or not any(p.has("now") for p in parts[1:]):
        return None
    matter = [i.key for i in _items_of(new, parts[0].words) if i.key not in new.times]
    keys = [i.key for i in old.items if not i.is_mark]
    plain = old.predicate > 0 and old.items[old.predicate].key in (IS, KEY)
    if not (plain and matter and set(matter) <= set(keys) and keys[0] in matter):
        return None
    return Change(kind="set anew", strength="doubt", reason="it was changed to another")


# -- one matter, told with other verbs -----------------------------------------------------------


def reshaped(old: Row, new: Row) -> Change | None:
    """The newer one tells of a change, and has another value of the same shape.

    An address, a version, a quantity or days; the other words of the older one stand in it too.
    """
    if is_negated(old) or is_negated(new) or len(new.items) > _PLAIN or new.has("temporary"):
        return None
    if len(old.items) > _PLAIN or old.has("now", "was", "changed") or not tells_change(old, new):
        return None
    old = old.without("reason")
    for shape in _SHAPES:
        mine, theirs = _of_shape(old, shape), _of_shape(new, shape)
        if not mine or not theirs or {i.key for i in mine} & {i.key for i in theirs}:
            continue
        if shape != "date" and max(len(mine), len(theirs)) > 1:
            continue
        if KEY in old.marks and old.items.index(mine[0]) != old.predicate + 1:
            continue
        if _is_of(old, new, mine, theirs):
            return Change(kind="restated", strength="doubt", reason="another value of one kind")
    return None


_SHAPES = ("address", "version", "date", "quantity")
_ADDRESS = regex(
    r"(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|(?:[\w-]+\.)+[a-z]{2,}:\d+|(?:[\w-]+\.){2,}[a-z]{2,}"
)
_VERSION = regex(r"v?\d+(?:\.\d+){1,3}")
_QUANTITY = regex(r"\d[\d.,]*[a-z%]{0,3}")


def _shape(language: Language, item: Item) -> str:
    text = item.words[0].text
    if is_date(language, [item]):
        return "date"
    if item.is_mark or len(item.words) > 1:
        return ""
    if _ADDRESS.fullmatch(text):
        return "address"
    if _VERSION.fullmatch(text):
        return "version"
    return "quantity" if _QUANTITY.fullmatch(text) else ""


def _of_shape(read: Row, shape: str) -> list[Item]:
    return [i for i in read.items if _shape(read.language, i) == shape]


def _is_of(old: Row, new: Row, mine: list[Item], theirs: list[Item]) -> bool:
    """Tell whether two values are of one matter: no other word says of what else they are.

    Either the older one's words stand in the newer one, or all that the newer one says before its
    value stands in the older one.
    """
    keyed = old.predicate > 0 and old.items[old.predicate].key == KEY
    named = old.items[: old.predicate] if keyed else old.items
    matter = [i for i in named if not i.is_mark and i not in mine and not _shape(old.language, i)]
    said = {i.key for i in new.items} | {w.stem for i in new.items if i.is_mark for w in i.words}
    if not matter or matter[0].key not in said:
        return False
    at = next(n for n, word in enumerate(new.words) if word is theirs[0].words[0])
    start = max((n for n in range(at) if new.words[n].text == ","), default=-1)
    before = _items_of(new, new.words[start + 1 : at])
    known = {*old.keys} | {w.stem for i in old.items if i.is_mark for w in i.words}
    if any(i.key not in known and i.key not in new.times for i in before):
        return False
    missing = [i for i in matter if i.key not in said]
    opens = bool(before) and before[0].key == matter[0].key and start < 0
    return (
        opens or not missing or (len(missing) == 1 < len(matter) and not _is_scope(old, *missing))
    )


def _is_scope(read: Row, item: Item) -> bool:
    """Tell whether a preposition stands before a word: it says of what, where or for whom."""
    at = next(n for n, word in enumerate(read.words) if word is item.words[0])
    articles = {n for span in read.spans("articles") for n in span}
    before = next((n for n in range(at - 1, -1, -1) if n not in articles), -1)
    return any(before in span for span in read.spans("fill"))


def upgraded(old: Row, new: Row) -> Change | None:
    """A log says to which kind a thing was changed, and the older one names it with another.

    `Switched the blog to the free plan`, `The blog is on the team plan`: plan is what both end in.
    """
    told, onto = new.spans("changed"), new.spans("onto")
    if not told or not onto or is_negated(old) or is_negated(new) or len(new.items) > _PLAIN:
        return None
    if old.has("changed", "instead", "was", "plan"):
        return None
    at = onto[0]
    matter = [i.key for i in _items_of(new, new.words[: at[0]]) if i.key not in new.times]
    value = [i.key for i in _items_of(new, new.words[at[-1] + 1 :])]
    keys = [i.key for i in old.items if not i.is_mark]
    if not matter or not set(matter) <= set(keys) or not 1 < len(value) <= _MOST:
        return None
    if value[-1] not in keys or value[-1] in matter or set(value[:-1]) & set(keys):
        return None
    return Change(kind="set anew", strength="doubt", reason="it tells to what it was changed")


def handed_over(old: Row, new: Row) -> Change | None:
    """What one had another has now: `Uwe owns the press`, `The press was handed over to Vera`."""
    if is_negated(old) or is_negated(new) or new.has("temporary") or old.has("was"):
        return None
    for name, group in new.language.predicates.items():
        if group.get("kind") != "held":
            continue
        one, other = _held(old, name, group["passive"]), _held(new, name, group["passive"])
        if not one or not other or not (one.active or other.active):
            continue  # two in the passive differ in their value
        if one.active and other.active and not tells_change(old, new):
            continue  # both may have it
        things = {*one.thing}, {*other.thing}
        same = things[0] == things[1] or (min(map(len, things)) > 1 and things[1] < things[0])
        if things[0] and same and not {*one.holder} & {*other.holder}:
            return Change(kind="restated", strength="doubt", reason="another has it")
    return None


class _Held(msgspec.Struct, frozen=True):
    """Who has what, as a sentence says, and whether it says so in the active voice."""

    active: bool
    holder: tuple[str, ...]
    thing: tuple[str, ...]


def _held(read: Row, name: str, passive: str) -> _Held | None:
    at = next((n for n, i in enumerate(read.items) if i.key in (f"§{name}", f"§{passive}")), -1)
    if at < 0:
        return None
    sides = [
        tuple(i.key for i in side if i.key == SELF or not (i.is_mark or i.key in read.times))
        for side in (read.items[:at], read.items[at + 1 :])
    ]
    if not all(sides) or max(map(len, sides)) > _MOST:
        return None
    active = read.items[at].key == f"§{name}"
    return _Held(active, *sides) if active else _Held(active, sides[1], sides[0])


# -- what was planned, what was wrong ------------------------------------------------------------


def plan_off(old: Row, new: Row) -> Change | None:
    """A plan is called off by another word for it: `Flying to Riga`, `The Riga trip is off`."""
    if not new.has("cancelled") or is_negated(old) or len(new.items) > _PLAIN:
        return None
    rest = opening(new).without("cancelled", "reason")
    if len(rest.items) == len(opening(new).items):
        return None
    keys = [key for key in rest.keys if key not in rest.times]
    shared = [i for i in rest.items if i.key in old.keys and i.key not in rest.times]
    named = any(w.is_name for i in shared for w in i.words)
    said = [key for key in old.keys if key not in old.times]
    apart = len(keys) - len(shared) > 1 or len(shared) < _REST * len(said)
    if len(shared) < 2 or not named or apart:
        return None
    return Change(kind="cancelled", strength="doubt", reason="it was called off")


def disproved(old: Row, new: Row) -> Change | None:
    """The newer one says of the same matter that it turned out not to be so."""
    if not new.has("disproved") or is_negated(old):
        return None
    said = [i.key for i in old.items if not i.is_mark]
    shared = [key for key in said if key in new.keys]
    if len(shared) < 2 or said[0] not in shared or len(shared) < _REST * len(said):
        return None
    return Change(kind="taken back", strength="doubt", reason="it turned out not to be so")
