"""The one value in which two rows differ, and whether there can be but one such value at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec.structs import replace

from memrepo.policies.rows import (
    IS,
    KEY,
    TOPIC,
    Item,
    Row,
    is_date,
    is_index,
    kind_of,
    tells_change,
)
from memrepo.policies.speech import Language

_SLOT, _KEYED = 4, 6
"""The most words of a value, in a sentence and behind a key."""
_OF_ANY = ("§scheduled", "§amount", "§live")
"""What was postponed or raised to a value may have been said to be something else before."""


def other_value(old: Row, new: Row) -> tuple[str, str]:
    """Return how two statements give one matter two values, as kind and words; empty if not."""
    if old.predicate < 0 and new.predicate < 0:
        if _number_slot(old, new):
            return "restated", "another number"
        named = any(i.key == TOPIC for i in old.items) and _fits(old, new, IS)
        return ("restated", "another value of the same statement") if named else ("", "")
    if old.predicate < 0 <= new.predicate:
        old = _with_copula(old, new)
    if old.predicate < 0 or new.predicate < 0:
        return "", ""
    new = _with_topic(old, _without_noun(old, new))
    mine, name = old.items[old.predicate].key, new.items[new.predicate].key
    if mine == name == KEY:
        return ("keyed", "another value of the key") if _keyed(old, new) else ("", "")
    if mine != name and _is_change_of(old, new):
        new, name = new.with_predicate(mine), mine
    elif mine == IS and name in _OF_ANY and (name != "§live" or _is_somewhere(old, new)):
        old, mine = old.with_predicate(name), name
    if mine == name and _fits(old, new, name):
        return "restated", "another value of the same statement"
    return "", ""


def _with_copula(old: Row, new: Row) -> Row:
    """Return an older statement without a predicate with that of the newer one.

    Where nothing stands for "is", only a change has a predicate: `стажёр`, `стал инженером`.
    """
    if not _is_sov(old) and "omits_copula" not in old.language.lists:
        return old
    at = len(old.items) if _is_sov(old) else new.predicate
    added = replace(new.items[new.predicate], key=IS)
    return replace(old, items=(*old.items[:at], added, *old.items[at:]))


def _without_noun(old: Row, new: Row) -> Row:
    """Return a newer statement without the noun of the older one's verb: `the start moved to 9`."""
    verb = {w.stem for w in old.items[old.predicate].words}
    ahead, rest = new.items[: new.predicate], new.items[new.predicate :]
    kept = tuple(i for i in ahead if i.is_mark or i.key not in verb)
    return replace(new, items=(*kept, *rest)) if kept and len(kept) < len(ahead) else new


def _with_topic(old: Row, new: Row) -> Row:
    """Return a newer statement with the topic of the older one: a change has it as its object."""
    topics = [[n for n, i in enumerate(r.items) if i.key == TOPIC] for r in (old, new)]
    at = topics[0][0] if topics[0] else 0
    if topics[1] or not at or [i.key for i in old.items[:at]] != [i.key for i in new.items[:at]]:
        return new
    return replace(new, items=(*new.items[:at], old.items[at], *new.items[at:]))


def _fits(old: Row, new: Row, name: str) -> bool:
    """Tell whether the one value in which two statements differ is one that a predicate has."""
    slot = slot_of(old, new)
    if slot is None:
        return name == IS and (_reordered(old, new) or _grown(old, new))
    if not is_behind(old, slot.start):
        return False
    kind = "copula" if name == IS else old.language.predicates[name[1:]].get("kind", "single")
    if kind == "copula" and _promoted(old, new, slot):
        return True
    if len(slot.types) > 1 and kind != "single":
        return False
    if kind == "use" and new.tells(name[1:], "change") and _adjacent(old, slot):
        return all(any(w.is_name for w in side[0].words) for side in (slot.mine, slot.theirs))
    return _FITS[kind](old, slot)


class Slot(NamedTuple):
    """Where a value stands in the older statement, both values, and of what kinds they are."""

    start: int
    end: int
    mine: Sequence[Item]
    theirs: Sequence[Item]
    types: frozenset[str]


def slot_of(old: Row, new: Row) -> Slot | None:
    """Return the one place in which two rows differ, or None."""
    if abs(len(old.items) - len(new.items)) >= _SLOT:
        return None
    keys = [i.key for i in old.items], [i.key for i in new.items]
    if _differ_widely(*keys):
        return None
    codes = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    other = [code for code in codes if code[0] != "equal"]
    if len(other) == 2 and other[0][2] + 1 == other[1][1] and not _is_wide(old, other):
        # One word that both values share, as in "May 12" and "12 June".
        other = [("replace", other[0][1], other[1][2], other[0][3], other[1][4])]
    if len(other) != 1 or other[0][0] != "replace":
        return None
    _, i1, i2, j1, j2 = other[0]
    mine, theirs = old.items[i1:i2], new.items[j1:j2]
    if max(len(mine), len(theirs)) > _SLOT or any(i.is_mark for i in (*mine, *theirs)):
        return None
    types = frozenset(kind_of(old.language, side) for side in (mine, theirs))
    return Slot(i1, i2, mine, theirs, types)


def _differ_widely(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Tell whether two rows have more than a value between their common beginning and end."""
    least = min(len(mine), len(theirs))
    same = next((n for n in range(least) if mine[n] != theirs[n]), least)
    same += next((n for n in range(least) if mine[-1 - n] != theirs[-1 - n]), least)
    return max(len(mine), len(theirs)) - same > _SLOT


def _is_wide(old: Row, codes: Sequence[tuple[str, int, int, int, int]]) -> bool:
    """Tell whether what lies between two differences is more than a part of one date."""
    between = old.items[codes[0][2] : codes[1][1]]
    return not is_date(old.language, [*old.items[codes[0][1] : codes[1][2]], *between])


def _is_somewhere(old: Row, new: Row) -> bool:
    """Tell whether a copula says where something is, as in `The office is in Ulm`."""
    slot = slot_of(old.with_predicate("§live"), new)
    return slot is not None and _is_set_off(old, slot) and tells_change(old, new)


def _is_change_of(old: Row, new: Row) -> bool:
    """Tell whether one phrase tells of a change of several predicates, the older one's too."""
    name = old.items[old.predicate].key[1:]
    if name not in old.language.predicates:
        return False
    words = new.items[new.predicate].words
    return bool(new.language.found(words, new.language.group(name, "change")))


def _is_sov(read: Row) -> bool:
    return read.language.lists.get("order") == "sov"


def is_behind(old: Row, start: int) -> bool:
    """Tell whether a value stands where values stand: behind the predicate, or behind the topic."""
    if _is_sov(old):
        topics = [n for n, i in enumerate(old.items) if i.key == TOPIC]
        return bool(topics) and start > topics[0]
    return start > old.predicate


def _adjacent(old: Row, slot: Slot) -> bool:
    """The value stands next to its predicate."""
    start, end = slot.start, slot.end
    if slot.types & {"date", "number"}:  # a day and its month are one value
        while start > 0 and _is_day(old, start - 1):
            start -= 1
        while end < len(old.items) and _is_day(old, end):
            end += 1
    if _is_sov(old):
        last = len(old.items) if old.predicate < 0 else old.predicate
        return end == last or start == old.predicate + 1
    return start == old.predicate + 1


def _is_day(old: Row, at: int) -> bool:
    return kind_of(old.language, [old.items[at]]) in ("date", "number")


def _reordered(old: Row, new: Row) -> bool:
    """Another role told as a change, in another order: `Koch bei X`, `wurde bei X zum Chef`."""
    told = new.tells("is", "change")
    keys = set(old.keys), set(new.keys)
    shared = (keys[0] & keys[1]) - {*old.keys[:1]}
    alike = old.keys[:1] == new.keys[:1] and len(keys[0] ^ keys[1]) == 2
    return bool(told and shared) and alike and len(keys[0]) == len(keys[1])


def _grown(old: Row, new: Row) -> bool:
    """Another role told as a change, that holds the old one: `a nurse`, `became head nurse`."""
    added = set(new.keys) - set(old.keys)
    return new.tells("is", "change") and set(old.keys) < set(new.keys) and len(added) < _SLOT


def _promoted(old: Row, new: Row, slot: Slot) -> bool:
    """Two roles at one place: both with an article, or the newer one told as a change."""
    told = new.tells("is", "change")
    roles = told or all(side[0].after_article for side in (slot.mine, slot.theirs))
    return roles and (told or _adjacent(old, slot)) and _of_one_kind(old, slot)


def _for_one_use(old: Row, slot: Slot) -> bool:
    """The value stands next to its predicate, and both say what for."""
    shared = [i for i in old.items if not i.is_mark][:-1]
    subject = old.items[: old.predicate] if old.language.lists.get("order") != "sov" else ()
    others = [i for i in shared if i not in subject and i not in slot.mine]
    beyond = [i for i in old.items[slot.end :] if not i.is_mark]
    return _adjacent(old, slot) and bool(beyond or (not subject and len(others) > 1))


def _of_one_kind(old: Row, slot: Slot) -> bool:
    """Both values are of one kind: a word beside them and the subject is shared."""
    start, end = slot.start, slot.end
    if _is_sov(old):
        topic = next(n for n, i in enumerate(old.items) if i.key == TOPIC)
        shared = old.items[topic + 1 : start] + old.items[end:]
    else:
        shared = old.items[old.predicate + 1 : start] + old.items[end:]
    return any(not item.is_mark for item in shared) or _share_an_end(old, slot)


def _share_an_end(old: Row, slot: Slot) -> bool:
    """Tell whether two values written without blanks end in the same word."""
    ends = [side[-1].key[-2:] for side in (slot.mine, slot.theirs)]
    return "letters" in old.language.lists and len(ends[0]) == 2 and ends[0] == ends[1]


def _dated(old: Row, slot: Slot) -> bool:
    """The value is a day or a number, next to its predicate."""
    return slot.types <= {"date", "number"} and _adjacent(old, slot)


def _counted(old: Row, slot: Slot) -> bool:
    """Both values are numbers of one thing."""
    return slot.types == {"number"} and not is_index(old, slot.start)


def _copula(old: Row, slot: Slot) -> bool:
    """What something is: a date, a number, or the one thing that bears a title."""
    start, mine, theirs = slot.start, slot.mine, slot.theirs
    if slot.types == {"date"}:
        mixed = any(kind_of(old.language, [i]) == "word" for i in (*mine, *theirs))
        return _adjacent(old, slot) and not (mixed and _is_set_apart(old.language, mine, theirs))
    if slot.types == {"number"}:
        return not is_index(old, start)
    if not _adjacent(old, slot) or all(i.after_article for i in (mine[0], theirs[0])):
        return False
    subject = _subject(old)
    if any(_is_attribute(old.language, i) for i in subject):
        return True
    definite = old.language.spans(old.words[:1], "articles") or len(subject) > 1
    named = all(any(w.is_name for w in i.words) for i in (mine[0], theirs[0]))
    return bool(definite) and (named or "letters" in old.language.lists)


def _is_set_apart(language: Language, mine: Sequence[Item], theirs: Sequence[Item]) -> bool:
    """Tell whether two values with a day in each turn on words that are opposites."""
    keys = [{i.key for i in side} for side in (mine, theirs)]
    return any(len(pair & keys[0]) == len(pair & keys[1]) == 1 for pair in language.opposites)


def _named(old: Row, slot: Slot) -> bool:
    """The value is a name or an address: an errand or a pastime is one of many."""
    values = slot.mine[0], slot.theirs[0]
    names = all(any(w.is_name for w in i.words) for i in values)
    definite = all(i.after_article for i in values) and slot.end < len(old.items)
    return (names or definite) and _adjacent(old, slot)


_FITS: dict[str, Callable[[Row, Slot], bool]] = {
    "copula": _copula,
    "single": _adjacent,
    "date": _dated,
    "use": _for_one_use,
    "choice": _of_one_kind,
    "many": _counted,
    "named": _named,
    "held": lambda _old, _slot: False,
}


def _is_attribute(language: Language, item: Item) -> bool:
    """Tell whether an item names what a thing has one of: `owner`, `Standard-Branch`."""
    listed = language.phrases("attributes")
    ends = tuple(a for a in listed if len(a) > 3) if language.lists.get("compounds") else ()
    parts = (part for word in item.words for part in word.text.split("-"))
    return any(part in listed or (ends and part.endswith(ends)) for part in parts)


def _subject(old: Row) -> Sequence[Item]:
    ends = [n for n, i in enumerate(old.items) if i.key in (TOPIC, IS)]
    return [i for i in old.items[: min(ends, default=0)] if not i.is_mark]


def _keyed(old: Row, new: Row) -> bool:
    """The same key with another short value, and no key of a list."""
    sides = [(r.items[: r.predicate], r.items[r.predicate + 1 :]) for r in (old, new)]
    (key, mine), (other, theirs) = sides
    if not key or [i.key for i in key] != [i.key for i in other] or len(key) > _KEYED:
        return False
    if not (mine and theirs) or max(len(mine), len(theirs)) > _KEYED:
        return False
    head = tuple(word for item in key for word in item.words)
    if old.language.spans(head, "lists") or is_date(old.language, key):
        return False
    if any(r.has("and") or any(w.text in (",", "、") for w in r.words) for r in (old, new)):
        return False
    added = {i.key for i in mine} < {i.key for i in theirs}
    return not added


def has_one(read: Row) -> bool:
    """Tell whether a key names what a thing has one of."""
    return any(_is_attribute(read.language, item) for item in read.items[: read.predicate])


def bound_of(read: Row) -> tuple[str, ...]:
    """Return when, where or for whom a key's value holds: from the first joining word on."""
    colon = next(n for n, word in enumerate(read.words) if word.text == ":")
    joins = [span[0] for name in ("fill", "temporary", "bounds") for span in read.spans(name)]
    start = min((n for n in joins if n > colon + 1), default=len(read.words))
    return tuple(word.stem for word in read.words[start:])


def _number_slot(old: Row, new: Row) -> bool:
    """Without a known predicate only a number late in the sentence is a value."""
    slot = slot_of(old, new)
    if slot is None or slot.start < 1 or slot.types != {"number"} or is_index(old, slot.start):
        return False
    if any(i.key == TOPIC for i in old.items[: slot.start]):
        return True
    apart = slot.start > 1 or _is_set_off(old, slot) or "omits_copula" in old.language.lists
    return apart and slot.start >= len(old.items) - 3


def _is_set_off(old: Row, slot: Slot) -> bool:
    """Tell whether a word without matter of its own stands before a value: `werden 30 Tage`."""
    before = old.items[slot.start - 1].words[-1]
    at = next(n for n, word in enumerate(old.words) if word is slot.mine[0].words[0])
    return at > 0 and old.words[at - 1] is not before
