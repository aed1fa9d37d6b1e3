"""Changes that a statement tells in words of its own: what was given up, moved, raised, holds now.

The older statement need not have the same frame: a log says `Raised the limit to 50 MB` of `The
limit is 20 MB`. Most of these are doubts, since what they mean is told by few words. The record of
a change is here too. Docs: docs/change.md.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.policies.rows import IS, KEY, Item, Row, is_negated, is_when, kind_of, row_of
from memrepo.policies.slots import slot_of
from memrepo.policies.speech import Word

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
    if len(new.items) > _PLAIN or not new.has("changed"):
        return None
    if is_negated(old) or old.has("changed", "instead", "was"):
        return None
    said = {i.key for i in old.items if not i.is_mark}
    first = {i.key for i in old.items[:_FIRST]}
    for span in new.spans("instead"):
        near = new.words[span[0] : span[-1] + _MOST]
        moved = span[-1] - span[0] >= len(span) and new.words[span[0]].text != "→"
        from_ = new.words[span[0] : span[-1]]
        value = {w.stem for w in from_ if w.is_name or w.is_number} & said
        matter = {i.key for i in new.items if not i.is_mark and i.words[0] not in near} & first
        if moved and ((value and matter) or _is_value(old, from_[1:])):
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
    matter = [i.key for i in _items_of(new, new.words[:at]) if not is_when(new, i.key)]
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
