"""Tell whether a statement changes another: by rules over words, in ten languages, without harm.

Both are read as a row of items: a listed predicate becomes one item (`lives in`, `moved to`),
articles, prepositions and words for now fall away. Two rows that differ in one value after the
predicate are a change where the predicate has one value at a time; a row that ends, cancels,
negates or corrects another must hold nothing that the other does not. Questions, hypotheses,
plans, reports of others, quotes and irony change nothing. Docs: docs/change.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import msgspec
from msgspec import structs

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.policies.speech import Language, Word, language_of, sentences

Strength = Literal["stated", "restated", "doubt"]
"""`stated`: the newer one says itself that the older one is over. `restated`: it gives another
value where there can be one. `doubt`: both may hold in part, and a person has to look."""

LONGEST = 400
"""Characters of a statement that is compared; a longer one says too many things."""
_SLOT, _KEYED = 4, 6
_LOOSE = 0.6
_IS, _KEY, _TOPIC, _SELF = "§is", "§:", "§topic", "§i"
_OF_ANY = ("§scheduled", "§amount", "§live")
"""What was postponed or raised to a value may have been said to be something else before."""
_QUOTED = regex(
    r"[\"“„«「『](?:[^\"”“»」』\s]+\s+){2,}[^\"”“»」』]*[\"”“»」』]|[「『][^」』]{5,}[」』]"
)
_ORDER: tuple[Strength, ...] = ("stated", "restated", "doubt")


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


@dataclass(frozen=True, slots=True)
class _Item:
    """One word that matters, or a predicate in its place."""

    key: str
    words: tuple[Word, ...]
    after_article: bool = False

    @property
    def is_mark(self) -> bool:
        return self.key[0] == "§"


@dataclass(frozen=True)
class _Read:
    """One sentence as rules see it."""

    language: Language
    words: tuple[Word, ...]
    items: tuple[_Item, ...]

    def has(self, *names: str) -> bool:
        """Tell whether a phrase of any of some lists stands in it."""
        return any(self.spans(name) for name in names)

    def spans(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Return where the phrases of a list stand; each list is looked for once."""
        if name not in self._spans:
            self._spans[name] = self.language.spans(self.words, name)
        return self._spans[name]

    def tells(self, predicate: str, part: str) -> bool:
        """Tell whether a phrase of a predicate stands in it, such as one of its change."""
        key = f"{predicate}/{part}"
        if key not in self._spans:
            group = self.language.predicates.get(predicate, {})
            phrases = self.language.group(predicate, part) if part in group else {}
            self._spans[key] = self.language.found(self.words, phrases)
        return bool(self._spans[key])

    @cached_property
    def _spans(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        return {}

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of all items but the copula and other marks that say nothing alone."""
        return [i.key for i in self.items if i.key not in (_IS, _KEY, _TOPIC)]

    @cached_property
    def predicate(self) -> int:
        """Return the place of the predicate, or -1."""
        marks = [n for n, i in enumerate(self.items) if i.is_mark and i.key not in (_TOPIC, _SELF)]
        named = [n for n in marks if self.items[n].key not in (_IS, _KEY)]
        return next(iter(named or marks), -1)

    def with_predicate(self, key: str) -> _Read:
        """Return the sentence with another key for its predicate."""
        items = list(self.items)
        items[self.predicate] = replace(items[self.predicate], key=key)
        return replace(self, items=tuple(items))

    def without(self, *names: str) -> _Read:
        """Return the sentence without the phrases of some lists."""
        gone = {n for name in names for span in self.spans(name) for n in span}
        if not gone:
            return self
        words = tuple(word for n, word in enumerate(self.words) if n not in gone)
        return _read_words(self.language, words)


def change_of(old: str, new: str) -> Change | None:
    """Return what a newer statement does to an older one; None where both may well hold."""
    if max(len(old), len(new)) > LONGEST or normalise(old) == normalise(new):
        return None
    language = language_of(old, new)
    before, after = sentences(old), sentences(new)
    if _unsaid(language, new) or _unsaid(language, old):
        return None
    found = [
        change
        for one in after
        for other in before
        if (change := _between(_read(language, other), _read(language, one)))
    ]
    if not found:
        return None
    best = min(found, key=lambda one: (_ORDER.index(one.strength), -one.cover))
    # What says several things is not replaced for one of them.
    return structs.replace(best, strength="doubt") if len(before) > 1 else best


@lru_cache(maxsize=4096)
def _unsaid(language: Language, text: str) -> bool:
    """Tell whether a text asks, quotes, jests, or leaves open what is: it says nothing of it."""
    if "?" in text or "？" in text or _QUOTED.search(text):
        return True
    return _read(language, text).has("sarcasm", "open")


def _supposes(read: _Read) -> bool:
    """Tell whether a sentence supposes or plans, in other words than those of its predicate."""
    if not read.has("hypothesis", "plan"):
        return False
    marked = {id(word) for item in read.items if item.is_mark for word in item.words}
    spans = (*read.spans("hypothesis"), *read.spans("plan"))
    return any(not {id(read.words[n]) for n in span} <= marked for span in spans)


@lru_cache(maxsize=4096)
def _read(language: Language, text: str) -> _Read:
    return _read_words(language, language.cut(text))


def _read_words(language: Language, words: tuple[Word, ...]) -> _Read:
    now = {n for span in language.spans(words, "now") for n in span}
    left = tuple(word for n, word in enumerate(words) if n not in now)
    return _Read(language, words, tuple(_items(language, left)))


def _items(language: Language, words: tuple[Word, ...]) -> Iterator[_Item]:
    """Yield what matters of a sentence: its predicate once, and its words without fillers."""
    marks = _marks(language, words)
    taken = {n for span, _ in marks for n in span}
    starts = {span[0]: (key, span) for span, key in marks}
    dropped = {n for name in ("fill", "articles") for s in language.spans(words, name) for n in s}
    me = {n for span in language.spans(words, "self") for n in span}
    articles = {n for span in language.spans(words, "articles") for n in span}
    for n, word in enumerate(words):
        if n in starts:
            key, span = starts[n]
            yield _Item(key, tuple(words[at] for at in span))
        elif n in me and n not in taken:
            yield _Item(_SELF, (word,))
        elif n not in taken and n not in dropped and word.text not in (",", "→"):
            yield _Item(word.stem, (word,), n - 1 in articles)


def _marks(language: Language, words: tuple[Word, ...]) -> list[tuple[tuple[int, ...], str]]:
    """Return the spans of predicates, of the copula and the key's colon, none over another."""
    found: list[tuple[tuple[int, ...], str]] = []
    for name in language.predicates:
        for part in ("state", "change"):
            spans = language.found(words, language.group(name, part))
            found += [(span, f"§{name}") for span in spans]
    found += [(span, _IS) for span in language.spans(words, "copula")]
    found += [(span, _TOPIC) for span in language.spans(words, "topic")]
    found += [((n,), _KEY) for n, word in enumerate(words) if word.text == ":"]
    found.sort(key=lambda one: (-len(one[0]), one[1] in (_IS, _TOPIC), one[0]))
    kept: list[tuple[tuple[int, ...], str]] = []
    taken: set[int] = set()
    for span, key in found:
        if not taken & set(span):
            taken |= set(span)
            kept.append((span, key))
    return kept


# -- the rules -----------------------------------------------------------------------------------


def _between(old: _Read, new: _Read) -> Change | None:
    apart = "letters" not in old.language.lists and not set(old.keys) & set(new.keys)
    if apart or _supposes(old):
        return None
    own = _of_itself(old, new)
    if own is None or _supposes(own.without("correction", "cancelled", "ended")):
        return None
    corrected = own.has("correction")
    new = own.without("correction")
    found = next(filter(None, (rule(old, new) for rule in _RULES)), None)
    if corrected and found is None:
        found = _put_right(old, new) or _taken_back(old, new)
    elif corrected and found is not None:
        found = structs.replace(found, strength="stated", reason=f"corrected: {found.reason}")
    if found is None:
        return None
    first = old.items[0].key if old.items else ""
    bare = found.kind == "keyed" or (first.startswith("§") and first != _SELF)
    return structs.replace(found, bare=bare)


def _of_itself(old: _Read, new: _Read) -> _Read | None:
    """Return what somebody says of themselves as their own statement; None for reports of others.

    "Ana said she prefers tea" is Ana's word about Ana; "Ben said Ana prefers tea" is hearsay.
    """
    spans = new.language.spans(new.words, "report")
    if not spans:
        return new
    first = spans[0]
    speaker = _read_words(new.language, new.words[: first[0]]).keys
    told = new.words[first[-1] + 1 :]
    pronouns = {n for span in new.language.spans(told, "pronouns") for n in span}
    if not speaker or speaker != old.keys[: len(speaker)]:
        return None
    if "drops_pronouns" not in new.language.lists and 0 not in {
        n - _that(new, told) for n in pronouns
    }:
        return None
    rest = tuple(word for n, word in enumerate(told) if n not in pronouns)
    return _read_words(new.language, (*new.words[: first[0]], *rest))


def _that(new: _Read, told: tuple[Word, ...]) -> int:
    """Return how many words before what is told only introduce it."""
    spans = new.language.spans(told, "that")
    return len(spans[0]) if spans and spans[0][0] == 0 else 0


def _narrowed(old: _Read, new: _Read) -> Change | None:
    """The newer one says all of the older one, with an exception."""
    if not new.has("except") or old.has("except"):
        return None
    said, more = old.keys, new.without("except").keys
    extra = [key for key in more if key not in said]
    if extra and len(extra) <= _SLOT and all(key in more for key in said):
        return Change(kind="narrowed", strength="stated", reason="the same with an exception")
    return None


def _turned(old: _Read, new: _Read) -> Change | None:
    """The same words in another order around "over": `tabs over spaces`, `spaces over tabs`."""
    keys = old.keys, new.keys
    if keys[0] == keys[1] or sorted(keys[0]) != sorted(keys[1]):
        return None
    if old.has("over") and new.has("over"):
        return Change(kind="turned", strength="restated", reason="the same choice the other way")
    return None


def _exchanged(old: _Read, new: _Read) -> Change | None:
    """The newer one names the old value and another in its place: `6380 instead of 6379`."""
    if not new.has("instead", "changed") or _is_negated(old):
        return None
    said = [i for i in old.items if not i.is_mark]
    rest = new.without("instead", "changed")
    mine = {i.key for i in said}
    if len(said) < 2 or not mine <= {i.key for i in rest.items}:
        return None
    groups = _groups(rest, lambda item: item.key not in mine)
    groups = [g for g in groups if not _is_date(rest.language, g) or len(groups) == 1]
    if len(groups) != 1 or len(groups[0]) > _SLOT:
        return None
    kind = _type_of(rest.language, groups[0])
    if any(_type_of(rest.language, [item]) == kind for item in said[1:]):
        return Change(kind="exchanged", strength="stated", reason="the old value is named as left")
    return None


def _ended(old: _Read, new: _Read) -> Change | None:
    """The newer one says of the very same matter that it is over."""
    if _is_negated(old):
        return None
    for kind, reason in _ENDS:
        if new.has(kind):
            rest = new.without(kind, "reason")
            return _over(old, rest, kind, reason)
    for name in new.language.predicates:
        if new.tells(name, "end") and any(i.key == f"§{name}" for i in old.items):
            spans = new.language.found(new.words, new.language.group(name, "end"))
            gone = {n for span in spans for n in span}
            words = tuple(w for n, w in enumerate(new.words) if n not in gone)
            rest = _read_words(new.language, words).without("reason")
            return _over(old, rest, "ended", "it is said to be over")
    return None


_ENDS = (("cancelled", "it was called off"), ("ended", "it is said to be over"))


def _over(old: _Read, rest: _Read, kind: str, reason: str) -> Change | None:
    said = old.keys
    left = [part for key in rest.keys for part in _parts(rest, key, said)]
    left = [key for key in left if key in said or not _is_when(rest, key)]
    shared = [key for key in said if key in left]
    if not shared or not set(left) <= set(said) or shared[0] != said[0]:
        return None
    cover = len(shared) / len(said)
    plain = len(shared) >= 2 or len(shared) == len(said)
    listed = cover < 1 and old.has("and")
    repeated = kind == "cancelled" and old.has("every") and not rest.has("every")
    strength: Strength = "stated" if plain and not listed and not repeated else "doubt"
    if not plain and not (kind == "cancelled" and _has_date(old)):
        return None
    return Change(kind=kind, strength=strength, reason=reason, cover=cover)


def _parts(read: _Read, key: str, said: Sequence[str]) -> Sequence[str]:
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


def _back(old: _Read, new: _Read) -> Change | None:
    """Somebody who was away is back."""
    if not (new.has("back") and old.has("away")) or _is_negated(new):
        return None
    found = _over(old, new.without("back", "reason"), "back", "what was away is back")
    if found is not None:
        return structs.replace(found, strength="stated")
    left = new.without("back", "away", "reason").keys
    left = [key for key in left if not _is_when(new, key)]
    if left and left == old.keys[: len(left)]:
        cover = len(left) / len(old.keys)
        return Change(kind="back", strength="stated", reason="what was away is back", cover=cover)
    return None


def _negated(old: _Read, new: _Read) -> Change | None:
    """The same statement, once negated and once not."""
    if _is_negated(old) == _is_negated(new):
        return None
    one, other = old.without("negation", "ended"), new.without("negation", "ended", "again")
    said, left = one.keys, other.keys
    if "letters" in old.language.lists and "".join(said) == "".join(left):
        left = said  # the same text, cut elsewhere
    if not left or not set(left) <= set(said) or left[0] != said[0]:
        return None
    if len(left) < 2 and "letters" not in old.language.lists:
        return None
    cover = len(set(left)) / len(set(said))
    if cover < 1:
        doubt = "it negates a part"
        return Change(kind="negated", strength="doubt", reason=doubt, cover=cover)
    strength: Strength = "stated" if new.has("again") else "restated"
    return Change(kind="negated", strength=strength, reason="the same statement, once negated")


def _opposed(old: _Read, new: _Read) -> Change | None:
    """The same statement with the opposite word."""
    if _is_negated(old) != _is_negated(new) or _is_past_only(old, new):
        return None
    keys = frozenset(old.keys), frozenset(new.without("again").keys)
    if keys[0] ^ keys[1] in old.language.opposites and len(keys[0] & keys[1]) > 0:
        reason = "the same statement with the opposite word"
        return Change(kind="opposed", strength=_told(old, new), reason=reason)
    return None


def _restated(old: _Read, new: _Read) -> Change | None:
    """The same frame with another value where there is one at a time."""
    if new.has("temporary") or _is_past_only(old, new) or _is_negated(old) != _is_negated(new):
        return None
    kind, reason = _other_value(old, new)
    if not reason:
        return None
    bounded = old.has("temporary") or (kind == "keyed" and _bound(old) != _bound(new))
    strength: Strength = "doubt" if bounded else _told(old, new)
    return Change(kind=kind, strength=strength, reason=reason)


def _put_right(old: _Read, new: _Read) -> Change | None:
    """A correction of one value, whatever the predicate."""
    slot = _slot(old, new)
    if slot is None or slot.start < 1 or not (_is_behind(old, slot.start) or old.predicate < 0):
        return None
    if old.predicate < 0 and slot.end < len(old.items):
        return None
    return Change(kind="restated", strength="stated", reason="another value")


def _taken_back(old: _Read, new: _Read) -> Change | None:
    """A correction without a new value: most of what it names stands in the older one."""
    if not (new.has("wrong") or _is_negated(new)):
        return None
    rest = new.without("wrong", "negation", "ended")
    left = {key for key in rest.keys if key != _SELF}
    said = set(old.keys)
    shared = left & said
    if not left or len(shared) / len(left) < (_LOOSE if len(left) > 2 else 0.5):
        return None
    dropped = "drops_pronouns" in new.language.lists
    if not dropped and (_SELF in rest.keys) != (_SELF in said) and len(shared) < 2:
        return None
    cover = len(shared) / len(said)
    return Change(kind="taken back", strength="stated", reason="it was taken back", cover=cover)


_RULES: tuple[Callable[[_Read, _Read], Change | None], ...] = (
    _narrowed,
    _turned,
    _exchanged,
    _ended,
    _back,
    _negated,
    _opposed,
    _restated,
)


# -- one differing value -------------------------------------------------------------------------


def _other_value(old: _Read, new: _Read) -> tuple[str, str]:
    """Return how two statements give one matter two values, as kind and words; empty if not."""
    if old.predicate < 0 and new.predicate < 0:
        if _number_slot(old, new):
            return "restated", "another number"
        named = any(i.key == _TOPIC for i in old.items) and _fits(old, new, _IS)
        return ("restated", "another value of the same statement") if named else ("", "")
    if old.predicate < 0 <= new.predicate:
        old = _with_copula(old, new)
    if old.predicate < 0 or new.predicate < 0:
        return "", ""
    mine, name = old.items[old.predicate].key, new.items[new.predicate].key
    if mine == name == _KEY:
        return ("keyed", "another value of the key") if _keyed(old, new) else ("", "")
    if mine != name and _is_change_of(old, new):
        new, name = new.with_predicate(mine), mine
    elif mine == _IS and name in _OF_ANY and (name != "§live" or _is_somewhere(old, new)):
        old, mine = old.with_predicate(name), name
    if mine == name and _fits(old, new, name):
        return "restated", "another value of the same statement"
    return "", ""


def _with_copula(old: _Read, new: _Read) -> _Read:
    """Return an older statement without a predicate with that of the newer one.

    Where nothing stands for "is", only a change has a predicate: `стажёр`, `стал инженером`.
    """
    if not _is_sov(old) and "omits_copula" not in old.language.lists:
        return old
    at = len(old.items) if _is_sov(old) else new.predicate
    added = replace(new.items[new.predicate], key=_IS)
    return replace(old, items=(*old.items[:at], added, *old.items[at:]))


def _fits(old: _Read, new: _Read, name: str) -> bool:
    """Tell whether the one value in which two statements differ is one that a predicate has."""
    slot = _slot(old, new)
    if slot is None:
        return name == _IS and _reordered(old, new)
    if not _is_behind(old, slot.start):
        return False
    kind = "copula" if name == _IS else old.language.predicates[name[1:]].get("kind", "single")
    if kind == "copula" and _promoted(old, new, slot):
        return True
    if len(slot.types) > 1 and kind != "single":
        return False
    return _FITS[kind](old, slot)


class _Slot(NamedTuple):
    """Where a value stands in the older statement, both values, and of what kinds they are."""

    start: int
    end: int
    mine: Sequence[_Item]
    theirs: Sequence[_Item]
    types: frozenset[str]


def _slot(old: _Read, new: _Read) -> _Slot | None:
    """Return the one place in which two rows differ, or None."""
    if abs(len(old.items) - len(new.items)) >= _SLOT:
        return None
    keys = [i.key for i in old.items], [i.key for i in new.items]
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
    types = frozenset(_type_of(old.language, side) for side in (mine, theirs))
    return _Slot(i1, i2, mine, theirs, types)


def _is_wide(old: _Read, codes: Sequence[tuple[str, int, int, int, int]]) -> bool:
    """Tell whether what lies between two differences is more than a part of one date."""
    between = old.items[codes[0][2] : codes[1][1]]
    return not _is_date(old.language, [*old.items[codes[0][1] : codes[1][2]], *between])


def _is_somewhere(old: _Read, new: _Read) -> bool:
    """Tell whether a copula says where something is, as in `The office is in Ulm`."""
    slot = _slot(old.with_predicate("§live"), new)
    return slot is not None and _is_set_off(old, slot) and bool(_told(old, new) == "stated")


def _is_change_of(old: _Read, new: _Read) -> bool:
    """Tell whether one phrase tells of a change of several predicates, the older one's too."""
    name = old.items[old.predicate].key[1:]
    if name not in old.language.predicates:
        return False
    words = new.items[new.predicate].words
    return bool(new.language.found(words, new.language.group(name, "change")))


def _is_sov(read: _Read) -> bool:
    return read.language.lists.get("order") == "sov"


def _is_behind(old: _Read, start: int) -> bool:
    """Tell whether a value stands where values stand: behind the predicate, or behind the topic."""
    if _is_sov(old):
        topics = [n for n, i in enumerate(old.items) if i.key == _TOPIC]
        return bool(topics) and start > topics[0]
    return start > old.predicate


def _adjacent(old: _Read, slot: _Slot) -> bool:
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


def _is_day(old: _Read, at: int) -> bool:
    return _type_of(old.language, [old.items[at]]) in ("date", "number")


def _reordered(old: _Read, new: _Read) -> bool:
    """Another role told as a change, in another order: `Koch bei X`, `wurde bei X zum Chef`."""
    told = new.tells("is", "change")
    keys = set(old.keys), set(new.keys)
    shared = (keys[0] & keys[1]) - {old.keys[0]}
    alike = old.keys[0] == new.keys[0] and len(keys[0] ^ keys[1]) == 2
    return bool(told and shared) and alike and len(keys[0]) == len(keys[1])


def _promoted(old: _Read, new: _Read, slot: _Slot) -> bool:
    """Two roles at one place: both with an article, or the newer one told as a change."""
    told = new.tells("is", "change")
    roles = told or all(side[0].after_article for side in (slot.mine, slot.theirs))
    return roles and (told or _adjacent(old, slot)) and _of_one_kind(old, slot)


def _for_one_use(old: _Read, slot: _Slot) -> bool:
    """The value stands next to its predicate, and both say what for."""
    shared = [i for i in old.items if not i.is_mark][:-1]
    subject = old.items[: old.predicate] if old.language.lists.get("order") != "sov" else ()
    others = [i for i in shared if i not in subject and i not in slot.mine]
    beyond = [i for i in old.items[slot.end :] if not i.is_mark]
    return _adjacent(old, slot) and bool(beyond or (not subject and len(others) > 1))


def _of_one_kind(old: _Read, slot: _Slot) -> bool:
    """Both values are of one kind: a word beside them and the subject is shared."""
    start, end = slot.start, slot.end
    if _is_sov(old):
        topic = next(n for n, i in enumerate(old.items) if i.key == _TOPIC)
        shared = old.items[topic + 1 : start] + old.items[end:]
    else:
        shared = old.items[old.predicate + 1 : start] + old.items[end:]
    return any(not item.is_mark for item in shared) or _share_an_end(old, slot)


def _share_an_end(old: _Read, slot: _Slot) -> bool:
    """Tell whether two values written without blanks end in the same word."""
    ends = [side[-1].key[-2:] for side in (slot.mine, slot.theirs)]
    return "letters" in old.language.lists and len(ends[0]) == 2 and ends[0] == ends[1]


def _dated(old: _Read, slot: _Slot) -> bool:
    """The value is a day or a number, next to its predicate."""
    return slot.types <= {"date", "number"} and _adjacent(old, slot)


def _counted(old: _Read, slot: _Slot) -> bool:
    """Both values are numbers of one thing."""
    return slot.types == {"number"} and not _is_index(old, slot.start)


def _copula(old: _Read, slot: _Slot) -> bool:
    """What something is: a date, a number, or the one thing that bears a title."""
    start, mine, theirs = slot.start, slot.mine, slot.theirs
    if slot.types == {"date"}:
        return _adjacent(old, slot)
    if slot.types == {"number"}:
        return not _is_index(old, start)
    if not _adjacent(old, slot) or all(i.after_article for i in (mine[0], theirs[0])):
        return False
    subject = _subject(old)
    if any(_is_attribute(old.language, i) for i in subject):
        return True
    definite = old.language.spans(old.words[:1], "articles") or len(subject) > 1
    named = all(any(w.is_name for w in i.words) for i in (mine[0], theirs[0]))
    return bool(definite) and (named or "letters" in old.language.lists)


_FITS: dict[str, Callable[[_Read, _Slot], bool]] = {
    "copula": _copula,
    "single": _adjacent,
    "date": _dated,
    "use": _for_one_use,
    "choice": _of_one_kind,
    "many": _counted,
}


def _is_attribute(language: Language, item: _Item) -> bool:
    """Tell whether an item names what a thing has one of: `owner`, `Standard-Branch`."""
    listed = language.phrases("attributes")
    ends = tuple(a for a in listed if len(a) > 3) if language.lists.get("compounds") else ()
    parts = (part for word in item.words for part in word.text.split("-"))
    return any(part in listed or (ends and part.endswith(ends)) for part in parts)


def _subject(old: _Read) -> Sequence[_Item]:
    ends = [n for n, i in enumerate(old.items) if i.key in (_TOPIC, _IS)]
    return [i for i in old.items[: min(ends, default=0)] if not i.is_mark]


def _keyed(old: _Read, new: _Read) -> bool:
    """The same key with another short value, and no key of a list."""
    sides = [(r.items[: r.predicate], r.items[r.predicate + 1 :]) for r in (old, new)]
    (key, mine), (other, theirs) = sides
    if not key or [i.key for i in key] != [i.key for i in other] or len(key) > _KEYED:
        return False
    if not (mine and theirs) or max(len(mine), len(theirs)) > _KEYED:
        return False
    head = tuple(word for item in key for word in item.words)
    if old.language.spans(head, "lists") or _is_date(old.language, key):
        return False
    if any(r.has("and") or any(w.text in (",", "、") for w in r.words) for r in (old, new)):
        return False
    added = {i.key for i in mine} < {i.key for i in theirs}
    return not added


def _bound(read: _Read) -> tuple[str, ...]:
    """Return when, where or for whom a key's value holds: from the first joining word on."""
    colon = next(n for n, word in enumerate(read.words) if word.text == ":")
    joins = [span[0] for name in ("fill", "temporary") for span in read.spans(name)]
    start = min((n for n in joins if n > colon + 1), default=len(read.words))
    return tuple(word.stem for word in read.words[start:])


def _number_slot(old: _Read, new: _Read) -> bool:
    """Without a known predicate only a number late in the sentence is a value."""
    slot = _slot(old, new)
    if slot is None or slot.start < 1 or slot.types != {"number"} or _is_index(old, slot.start):
        return False
    if any(i.key == _TOPIC for i in old.items[: slot.start]):
        return True
    apart = slot.start > 1 or _is_set_off(old, slot) or "omits_copula" in old.language.lists
    return apart and slot.start >= len(old.items) - 3


def _is_set_off(old: _Read, slot: _Slot) -> bool:
    """Tell whether a word without matter of its own stands before a value: `werden 30 Tage`."""
    before = old.items[slot.start - 1].words[-1]
    at = next(n for n, word in enumerate(old.words) if word is slot.mine[0].words[0])
    return at > 0 and old.words[at - 1] is not before


# -- words ---------------------------------------------------------------------------------------


def _is_negated(read: _Read) -> bool:
    return read.has("negation", "ended")


def _is_past_only(old: _Read, new: _Read) -> bool:
    """Tell whether the newer one only tells of the past; a predicate of change may do so."""
    marked = {word for item in new.items if item.is_mark for word in item.words}
    past = [
        span
        for span in new.language.spans(new.words, "was")
        if not {new.words[n] for n in span} <= marked
    ]
    return bool(past) and not old.has("was")


def _told(old: _Read, new: _Read) -> Strength:
    """A word for now, or a predicate of change, says itself that something else held before."""
    if new.has("now", "changed") and not old.has("now"):
        return "stated"
    name = new.items[new.predicate].key[1:] if new.predicate >= 0 else ""
    moved = new.tells(name, "change")
    return "stated" if moved else "restated"


def _groups(read: _Read, wanted: Callable[[_Item], bool]) -> list[list[_Item]]:
    """Return the runs of items that are wanted; a predicate parts two runs."""
    groups: list[list[_Item]] = [[]]
    for item in read.items:
        if (item.is_mark and item.key != _SELF) or not wanted(item):
            groups.append([])
        else:
            groups[-1].append(item)
    return [group for group in groups if group]


def _type_of(language: Language, items: Sequence[_Item]) -> str:
    if _is_date(language, items):
        return "date"
    numbers = [_is_number(language, i) for i in items]
    if not all(numbers):
        return "word"
    return "number" if len(numbers) == 1 else "numbers"  # two of them belong to two things


def _is_number(language: Language, item: _Item) -> bool:
    word = item.words[0]
    if _YEAR.fullmatch(word.text):
        return False
    plain = word.text.replace(".", "").replace(",", "").replace(":", "").rstrip("%")
    return plain.isdigit() or bool(language.spans(item.words, "numbers"))


_YEAR = regex(r"(?:19|20)\d\d")
_CLOCK = regex(r"\d{1,2}[:.h]\d{2}(?:am|pm)?|\d{1,2}(?:am|pm)|\d{4}-\d\d-\d\d")


def _is_date(language: Language, items: Sequence[_Item]) -> bool:
    """Tell whether items name a day, a month or a time of day."""
    return any(
        bool(_YEAR.fullmatch(word.text) or _CLOCK.fullmatch(word.text))
        or bool(language.spans((word,), "dates"))
        for item in items
        for word in item.words
    )


def _is_when(read: _Read, key: str) -> bool:
    """Tell whether an item only says when: a day, a year, or a word like "last"."""
    items = [i for i in read.items if i.key == key]
    return _is_date(read.language, items) or any(
        read.language.spans(i.words, "when") for i in items
    )


def _has_date(read: _Read) -> bool:
    return _is_date(read.language, read.items) or read.has("planned")


def _is_index(old: _Read, at: int) -> bool:
    """Tell whether a number only says which one: `week 9`, `floor 2`, `9週`."""
    near = [*old.items[max(at - 1, 0) : at]]
    if old.language.lists.get("index_follows"):
        near += old.items[at + 1 : at + 2]
    return any(bool(old.language.spans(i.words, "index")) for i in near)
