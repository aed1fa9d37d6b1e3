"""Tell whether a statement changes another: by rules over words, in ten languages, without harm.

Both are read as a row of items: a listed predicate becomes one item (`lives in`, `moved to`),
articles, prepositions and words for now fall away. Two rows that differ in one value after the
predicate are a change where the predicate has one value at a time; a row that ends, cancels,
negates or corrects another must hold nothing that the other does not. Questions, hypotheses,
plans, reports of others, quotes and irony change nothing. Docs: docs/change.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from sys import intern

import msgspec
from msgspec import structs

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.policies import matching
from memrepo.policies.changes_retold import (
    come_about,
    ended_for_some,
    gone,
    handed_on,
    kept_after_all,
    retold,
)
from memrepo.policies.changes_told import (
    Change,
    Strength,
    another_day,
    disproved,
    given_up,
    handed_over,
    holds_now,
    left,
    opening,
    plan_off,
    reshaped,
    set_anew,
    set_otherwise,
    upgraded,
    value_over,
)
from memrepo.policies.rows import (
    KEY,
    SELF,
    Row,
    groups,
    has_date,
    is_date,
    is_negated,
    is_past_only,
    kind_of,
    read_row,
    row_of,
    tells_change,
)
from memrepo.policies.slots import bound_of, has_one, is_behind, other_value, slot_of
from memrepo.policies.speech import Language, language_of, sentences

LONGEST = 400
"""Characters of a statement that is compared; a longer one says too many things."""
_MOST = 4
"""The most words that one exchanged value or one exception has."""
_LOOSE = 0.6
_BOTH, _PART = 2, 0.3
"""Of a correction, how many words and which share of them the older statement holds."""
_HEADS = 2
"""With one of so many words a statement begins that another of its frame begins with."""
_SAID = 3
"""The most sentences of a statement; more are a paragraph."""
_LISTED = regex(r"\n|[;；].*[;；]")
_QUOTED = regex(
    r"[\"“„«「『](?:[^\"”“»」』\s]++\s++){2}[^\"”“»」』]*[\"”“»」』]|[「『][^」』]{5,}[」』]"
)
_JOIN = " – "
_LEAD = regex(r"([^\n:–]{1,120}?)(?: – |: )(?=\S)")
_SCHEME = regex(r"\bhttps?://(?=\S)")
_ORDER: tuple[Strength, ...] = ("stated", "restated", "doubt")


@lru_cache(maxsize=16_384)  # of two that are compared each is, and soon after the other
def change_of(old: str, new: str) -> Change | None:
    """Return what a newer statement does to an older one; None where both may well hold."""
    if max(len(old), len(new)) > LONGEST or are_apart(old, new):
        return None
    if normalise(old) == normalise(new):
        return None
    old, new = _SCHEME.sub("", old), _SCHEME.sub("", new)  # an address is one word
    bare = _without_lead(old, new)
    if bare and (_JOIN in old[: -len(bare[0])] or _JOIN in new[: -len(bare[1])]):
        old, new = bare
    if _is_long(old) or _is_long(new):
        return None
    language = language_of(old, new)
    if _unsaid(language, new) or _unsaid(language, old):
        return None
    found = _found(language, old, new, _between)
    if not found and bare and bare != (old, new):
        found = _found(language, *bare, _told_anew)
    if not found:
        return None
    best = min(found, key=lambda one: (_ORDER.index(one.strength), -one.cover))
    # What says several things is not replaced for one of them.
    return structs.replace(best, strength="doubt") if len(sentences(old)) > 1 else best


def _found(
    language: Language, old: str, new: str, rule: Callable[[Row, Row], Change | None]
) -> list[Change]:
    """Return what each sentence of one text does to each of the other."""
    pairs = ((other, one) for one in sentences(new) for other in sentences(old))
    found = (rule(read_row(language, other), read_row(language, one)) for other, one in pairs)
    return [change for change in found if change]


def _without_lead(old: str, new: str) -> tuple[str, str] | None:
    """Return two statements without what both stand under; None where that is not the same."""
    lead, other = _LEAD.match(old), _LEAD.match(new)
    if lead is None or other is None or lead[1] != other[1]:
        return None
    return old[lead.end() :], new[other.end() :]


class _Outline(msgspec.Struct, frozen=True, gc=False):
    """What is kept of a statement to tell at once that another does not change it."""

    language: str
    firsts: tuple[str, ...]
    """The first word that matters of its sentences, also without what they stand under."""
    heads: tuple[str, ...]
    """The first such words: of two that differ in a verb, one may say its noun before."""
    is_plain: bool
    is_held: bool


@lru_cache(maxsize=262_144)  # of a large store each is compared with dozens of others
def _outline(text: str) -> _Outline:
    """Return the outline of a statement."""
    text = _SCHEME.sub("", text)
    language, lead = language_of(text), _LEAD.match(text)
    texts = (text, text[lead.end() :]) if lead else (text,)
    rows = [read_row(language, part) for one in texts for part in sentences(one)]
    held = {f"§{n}" for n, group in language.predicates.items() if group.get("kind") == "held"}
    held |= {f"§{group['passive']}" for group in language.predicates.values() if "passive" in group}
    return _Outline(
        language=language.code if not {"letters", "order"} & {*language.lists} else "",
        firsts=tuple({intern(head): None for row in rows for head in _heads(row, 1)}),
        heads=tuple({intern(head): None for row in rows for head in _heads(row, _HEADS)}),
        is_plain=all(row.is_plain for row in rows),
        is_held=any(not held.isdisjoint(row.marks) for row in rows),
    )


def _heads(row: Row, most: int) -> list[str]:
    """Return the first words that matter of a sentence, and of what a colon announces."""
    keys = [item.key for item in row.items]
    told = keys.index(KEY) + 1 if KEY in keys else 0
    return ["§" if key[0] == "§" else key for key in (*keys[:most], *keys[told : told + most])]


def are_apart(one: str, other: str) -> bool:
    """Tell whether two statements say nothing of a change, and begin with other words.

    Without a word that tells of a change they have to have one frame, and its value is not first.
    This costs next to nothing where `change_of` would find nothing.
    """
    if max(len(one), len(other)) > LONGEST:
        return False
    old, new = _outline(one), _outline(other)
    if not (old.is_plain and new.is_plain) or (old.is_held and new.is_held):
        return False
    same = old.language == new.language != ""
    return same and not (_any_in(old.firsts, new.heads) or _any_in(new.firsts, old.heads))


def _any_in(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Tell whether two short lists have a word in common; there are too many of them for sets."""
    return any(one in others for one in some)


def forget() -> None:
    """Hold no text that was read or compared any more: a large run has no room for them twice."""
    for known in (change_of, _outline, _unsaid, read_row, sentences, matching.tokens):
        known.cache_clear()


def _is_long(text: str) -> bool:
    """Tell whether a text is a list, a record or a paragraph: a part of it is no statement."""
    return len(sentences(text)) > _SAID or _LISTED.search(text.strip()) is not None


@lru_cache(maxsize=32_768)
def _unsaid(language: Language, text: str) -> bool:
    """Tell whether a text asks, quotes, jests, or leaves open what is: it says nothing of it."""
    if "?" in text or "？" in text or _QUOTED.search(text):
        return True
    return read_row(language, text).has("sarcasm", "open")


def _supposes(read: Row) -> bool:
    """Tell whether a sentence supposes or plans, in other words than those of its predicate."""
    if not read.has("hypothesis", "plan"):
        return False
    marked = {id(word) for item in read.items if item.is_mark for word in item.words}
    spans = (*read.spans("hypothesis"), *read.spans("plan"))
    return any(not {id(read.words[n]) for n in span} <= marked for span in spans)


# -- the rules -----------------------------------------------------------------------------------


def _between(old: Row, new: Row) -> Change | None:
    apart = "letters" not in old.language.lists and not set(old.keys) & set(new.keys)
    if apart:
        return None
    if _supposes(old):
        return None if _supposes(new) or old.has("hypothesis") else plan_off(old, new)
    own = _of_itself(old, new)
    if own is None or _supposes(own.without("correction", "cancelled", "ended")):
        return None
    corrected = own.has("correction")
    new = own.without("correction")
    plain = old.is_plain and own.is_plain
    rules = _FRAMES if plain else _RULES
    found = next(filter(None, (rule(old, new) for rule in rules)), None)
    if corrected and found is None:
        found = _put_right(old, new) or _taken_back(old, new) or _touched(old, own)
    elif corrected and found is not None:
        found = structs.replace(found, strength="stated", reason=f"corrected: {found.reason}")
    doubts = _FRAMED_DOUBTS if plain else _DOUBTS
    found = found or next(filter(None, (rule(old, new) for rule in doubts)), None)
    found = found or _first_said(old, new)
    if found is None:
        return None
    first = old.items[0].key if old.items else ""
    bare = found.kind == "keyed" or (first.startswith("§") and first != SELF)
    return structs.replace(found, bare=bare)


def _told_anew(old: Row, new: Row) -> Change | None:
    """Return what is told of the same matter in another frame."""
    own = None if _supposes(old) else _of_itself(old, new)
    if own is None or _supposes(own.without("cancelled", "ended")):
        return None
    return next(filter(None, (rule(old, own) for rule in _ANEW)), None)


def _of_itself(old: Row, new: Row) -> Row | None:
    """Return what somebody says of themselves as their own statement; None for hearsay.

    What somebody asks for is no hearsay.
    """
    new = new.without("asked")
    report = new.without("correction").report and new.report
    if report is None:  # "forget what I said" reports nothing
        return new
    speaker, own = report
    return own if speaker.keys and speaker.keys == old.keys[: len(speaker.keys)] else None


def _narrowed(old: Row, new: Row) -> Change | None:
    """The newer one says all of the older one, with an exception."""
    if not new.has("except") or old.has("except"):
        return None
    said, more = old.keys, new.without("except").keys
    extra = [key for key in more if key not in said]
    if extra and len(extra) <= _MOST and all(key in more for key in said):
        return Change(kind="narrowed", strength="stated", reason="the same with an exception")
    return None


def _turned(old: Row, new: Row) -> Change | None:
    """The same words in another order around "over": `tabs over spaces`, `spaces over tabs`."""
    keys = old.keys, new.keys
    if keys[0] == keys[1] or sorted(keys[0]) != sorted(keys[1]):
        return None
    if old.has("over") and new.has("over"):
        return Change(kind="turned", strength="restated", reason="the same choice the other way")
    return None


def _exchanged(old: Row, new: Row) -> Change | None:
    """The newer one names the old value and another in its place: `6380 instead of 6379`."""
    if not new.has("instead", "changed") or is_negated(old):
        return None
    if sum(word.text == "→" for word in new.words) > 1:
        return None  # a way, or steps
    said = [i for i in old.items if not i.is_mark]
    rest = new.without("instead", "changed")
    mine = {i.key for i in said}
    if len(said) < 2 or not mine <= {i.key for i in rest.items}:
        return None
    named = groups(rest, lambda item: item.key not in mine)
    named = [g for g in named if not is_date(rest.language, g) or len(named) == 1]
    if len(named) != 1 or len(named[0]) > _MOST:
        return None
    kind = kind_of(rest.language, named[0])
    if any(kind_of(rest.language, [item]) == kind for item in said[1:]):
        return Change(kind="exchanged", strength="stated", reason="the old value is named as left")
    return None


def _ended(old: Row, new: Row) -> Change | None:
    """The newer one says of the very same matter that it is over."""
    if is_negated(old):
        return None
    for kind, reason in _ENDS:
        if new.has(kind):
            rest = new.without(kind, "reason")
            return _over(old, rest, kind, reason)
    for name in new.language.predicates if old.marks else ():
        if f"§{name}" in old.marks and new.tells(name, "end"):
            spans = new.language.found(new.words, new.language.group(name, "end"))
            gone = {n for span in spans for n in span}
            words = tuple(w for n, w in enumerate(new.words) if n not in gone)
            rest = row_of(new.language, words).without("reason")
            return _over(old, rest, "ended", "it is said to be over")
    return None


_ENDS = (("cancelled", "it was called off"), ("ended", "it is said to be over"))


def _over(old: Row, rest: Row, kind: str, reason: str) -> Change | None:
    said = old.keys
    left = [part for key in rest.keys for part in _parts(rest, key, said)]
    left = [key for key in left if key in said or key not in rest.times]
    if said[:1] == [SELF] and SELF not in left:  # "We use it", "It is no longer used"
        done = {w.stem for i in old.items if i.is_mark for w in i.words}
        said = [i.key for i in old.items if not i.is_mark]
        left = [key for key in left if key in said or key not in done]
        said.sort(key=lambda key: key not in left[:1])
    shared = [key for key in said if key in left]
    if not shared or not set(left) <= set(said) or shared[0] != said[0]:
        return None
    cover = len(shared) / len(said)
    plain = len(shared) >= 2 or len(shared) == len(said)
    listed = cover < 1 and old.has("and")
    repeated = kind == "cancelled" and old.has("every") and not rest.has("every")
    strength: Strength = "stated" if plain and not listed and not repeated else "doubt"
    if not plain and not (kind == "cancelled" and has_date(old)):
        return None
    return Change(kind=kind, strength=strength, reason=reason, cover=cover)


def _parts(read: Row, key: str, said: Sequence[str]) -> Sequence[str]:
    """Part a word of a script without blanks into words that the other statement holds."""
    if key in said or "letters" not in read.language.lists:
        return (key,)
    parts: list[str] = []
    tail = key
    while tail:
        part = next((s for s in said if s and tail.startswith(s)), "")
        if not part:
            return (key,)
        parts.append(part)
        tail = tail[len(part) :]
    return parts


def _back(old: Row, new: Row) -> Change | None:
    """Somebody who was away is back."""
    if not (new.has("back") and old.has("away")) or is_negated(new):
        return None
    found = _over(old, new.without("back", "reason"), "back", "what was away is back")
    if found is not None:
        return structs.replace(found, strength="stated")
    left = new.without("back", "away", "reason").keys
    left = [key for key in left if key not in new.times]
    if left and left == old.keys[: len(left)]:
        cover = len(left) / len(old.keys)
        return Change(kind="back", strength="stated", reason="what was away is back", cover=cover)
    return None


def _negated(old: Row, new: Row) -> Change | None:
    """The same statement, once negated and once not."""
    if is_negated(old) == is_negated(new):
        return None
    one, other = old.without("negation", "ended"), new.without("negation", "ended", "again")
    said, left = one.keys, other.keys
    if is_negated(old) and new.has("permitted") and not one.has("permitted"):
        said = [i.key for i in one.items if not i.is_mark]
        left = other.without("permitted").keys
    if "letters" in old.language.lists and "".join(said) == "".join(left):
        left = said  # the same text, cut elsewhere
    if not left or not set(left) <= set(said) or left[0] != said[0]:
        return None
    if len(left) < 2 and "letters" not in old.language.lists:
        return None
    cover = len(set(left)) / len(set(said))
    if cover < 1 and is_negated(old):
        return None  # what is denied may be just that which the other does not say
    if cover < 1:
        doubt = "it negates a part"
        return Change(kind="negated", strength="doubt", reason=doubt, cover=cover)
    strength: Strength = "stated" if new.has("again") else "restated"
    return Change(kind="negated", strength=strength, reason="the same statement, once negated")


def _opposed(old: Row, new: Row) -> Change | None:
    """The same statement with the opposite word."""
    if is_negated(old) != is_negated(new) or is_past_only(old, new):
        return None
    keys = _turning(_bound_off(old)), _turning(_told_off(new))
    if keys[0] ^ keys[1] in old.language.opposites and len(keys[0] & keys[1]) > 0:
        reason = "the same statement with the opposite word"
        return Change(kind="opposed", strength=_told(old, new), reason=reason)
    return None


def _turning(read: Row) -> frozenset[str]:
    """Return the keys of a sentence, and the small words that turn one round: `on`, `off`."""
    turns = (word.stem for word in read.words if word.stem in read.language.turning)
    return frozenset((*read.keys, *turns))


def _bound_off(old: Row) -> Row:
    """Return an older statement without the time for which it held: `closed until April 3`."""
    return _timeless(old.without("temporary")) if old.has("temporary") else old


def _told_off(new: Row) -> Row:
    """Return a newer statement without `again`, and without when it came about."""
    told = new.without("again", "turned")
    return _timeless(told) if new.has("turned") else told


def _timeless(read: Row) -> Row:
    """Return a sentence without its days, and the numbers beside them."""
    dated = [is_date(read.language, [item]) for item in read.items]
    beside = [any(dated[max(n - 1, 0) : n + 2]) for n in range(len(dated))]
    kept = tuple(
        item
        for item, near in zip(read.items, beside, strict=True)
        if item.is_mark
        or not (item.key in read.times or (near and kind_of(read.language, [item]) == "number"))
    )
    return structs.replace(read, items=kept)


def _restated(old: Row, new: Row) -> Change | None:
    """The same frame with another value where there is one at a time."""
    if new.has("temporary") or is_past_only(old, new) or is_negated(old) != is_negated(new):
        return None
    kind, reason = other_value(old, new)
    if not reason:
        return None
    doubtful = old.has("temporary")
    if kind == "keyed":  # a key may be a list, unless its name says that it has one value
        doubtful |= bound_of(old) != bound_of(new) or not has_one(old)
    strength: Strength = "doubt" if doubtful else _told(old, new)
    return Change(kind=kind, strength=strength, reason=reason)


def _told(old: Row, new: Row) -> Strength:
    return "stated" if tells_change(old, new) else "restated"


def _put_right(old: Row, new: Row) -> Change | None:
    """A correction of one value, whatever the predicate."""
    slot = slot_of(old, new)
    if slot is None or slot.start < 1 or not (is_behind(old, slot.start) or old.predicate < 0):
        return None
    if old.predicate < 0 and slot.end < len(old.items):
        return None
    return Change(kind="restated", strength="stated", reason="another value")


def _taken_back(old: Row, new: Row) -> Change | None:
    """A correction without a new value: most of what it names stands in the older one."""
    if not (new.has("wrong") or is_negated(new)):
        return None
    rest = new.without("wrong", "negation", "ended")
    left = {key for key in rest.keys if key != SELF}
    said = set(old.keys)
    shared = left & said
    if not left or not shared:
        return None
    if len(shared) / len(left) < (_LOOSE if len(left) > 2 else 0.5):
        opens = any(span[0] == 0 for span in new.spans("correction"))
        if not opens or old.keys[0] not in left:
            return None
    dropped = "drops_pronouns" in new.language.lists
    if not dropped and (SELF in rest.keys) != (SELF in said) and len(shared) < 2:
        return None
    cover = len(shared) / len(said)
    return Change(kind="taken back", strength="stated", reason="it was taken back", cover=cover)


def _touched(old: Row, new: Row) -> Change | None:
    """A correction, said first thing, of what the older one says among other things."""
    opens = any(span[0] == 0 for span in new.spans("correction"))
    said = {i.key for i in old.items if not i.is_mark}
    mine = [i.key for i in new.without("correction", "negation").items if not i.is_mark]
    shared = said & {*mine}
    named = bool(mine) and [i.key for i in old.items[:1]] == mine[:1] and old.predicate > 0
    if not opens or (not named and len(shared) < _BOTH) or len(shared) < _PART * len(mine):
        return None
    return Change(kind="touched", strength="doubt", reason="it corrects a part")


def _first_said(old: Row, new: Row) -> Change | None:
    """What both say first is a change, whatever they say of it then: a person has to look."""
    before, after = opening(old), opening(new)
    if before is old and after is new:
        return None
    plain = before.is_plain and after.is_plain
    rules = (_restated, handed_over) if plain else _OPENINGS
    found = next(filter(None, (rule(before, after) for rule in rules)), None)
    return structs.replace(found, strength="doubt") if found else None


_ANEW: tuple[Callable[[Row, Row], Change | None], ...] = (
    retold,
    come_about,
    handed_on,
    gone,
    kept_after_all,
)
_DOUBTS: tuple[Callable[[Row, Row], Change | None], ...] = (
    left,
    set_anew,
    holds_now,
    another_day,
    value_over,
    set_otherwise,
    upgraded,
    handed_over,
    reshaped,
    plan_off,
    disproved,
    ended_for_some,
    *_ANEW,
)
_RULES: tuple[Callable[[Row, Row], Change | None], ...] = (
    _narrowed,
    _turned,
    _exchanged,
    given_up,
    _ended,
    _back,
    _negated,
    _opposed,
    _restated,
)
_FRAMES, _FRAMED_DOUBTS = (_turned, _restated), (another_day, handed_over)
"""The rules for two sentences of which no word tells of a change: most pairs are such."""
_OPENINGS: tuple[Callable[[Row, Row], Change | None], ...] = (
    *(_ended, given_up, _opposed, _restated, set_anew, holds_now, upgraded, reshaped),
    *(handed_over, *_ANEW),
)
