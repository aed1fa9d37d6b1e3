"""Changes told in a frame of their own: another value of one kind, an end of what was open.

The older statement may be a record (`Physio: Dr. Lang, Tuesdays 17:30`) or have another verb. What
both are about has to be named whole, the newer one has to say that something changed, and nothing
may say that it is about another. All of these are doubts. Docs: docs/change.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memrepo.core.patterns import regex
from memrepo.policies.changes_told import Change
from memrepo.policies.rows import (
    CLOCK,
    IS,
    KEY,
    SELF,
    Item,
    Row,
    is_date,
    is_negated,
    row_of,
)

_PLAIN = 12
"""Of a plain statement of a change, the most words that matter."""
_SHORT = 8
"""With so few words a sentence is about whatever it names."""
_MATTER = 5
"""The most words that name what a statement is about."""
_VALUES = 3
"""The most words of one value."""
_HALF = 0.5
_BOTH = 2
_MOSTLY = 0.66
_MOST = 3
"""So many words at most stand in a clause that only says what ended."""
_PHONE = 6
"""Digits from which a row of numbers is a number to call."""
_TELLS = ("now", "changed", "turned", "instead", "again", "fresh", "ended", "cancelled", "gives_up")
"""The lists of which a word says that something else held before."""

_NUMBER = regex(r"[v$€£¥]?\d[\d.,]*[a-z%]{0,3}")
_ADDRESS = regex(r"[^@]+@[^@]+|(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|[\w.-]+\.[a-z]{2,}(?:[:/].*)?|/.*")

_SIGNS = regex(r"[._/@+#]")


def retold(old: Row, new: Row) -> Change | None:
    """The newer one says of the matter of the older one that a value of it is another."""
    new = new.without("reason")
    if len(new.items) > _PLAIN or len(old.items) > _PLAIN:
        return None
    if new.has("negation") or is_negated(old) or _for_a_time(new):
        return None
    if old.has("was", "changed", "plan"):
        return None
    told = _tells(new)
    if not told and not any(w.stem in new.language.turning for w in new.words):
        return None
    for matter in _matters(old):
        if not (told or _sure(old, matter.named)) or not _names_it(old, new, matter.named):
            continue
        if not told:
            return _doubt("it tells the opposite") if _turns(matter, old, new) else None
        if matter.is_keyed and (other := _matter(new)) and other.is_keyed and _alike(matter, other):
            if _same_key(matter, other, new):
                return _doubt("it tells what the key changed to")
            continue  # what both stand under
        if _set_to(matter, new):
            return _doubt("it tells to what it was changed")
        if _turns(matter, old, new) and not _of_another(old, new, matter, (), for_some=True):
            return _doubt("it tells the opposite")
        for theirs in _others(matter, old, new):
            if not _of_another(old, new, matter, theirs):
                return _doubt("it tells of another value")
    return None


def _doubt(reason: str) -> Change:
    return Change(kind="retold", strength="doubt", reason=reason)


def _for_a_time(new: Row) -> bool:
    """Tell whether a sentence holds for a stretch of time: not what was `extended until May`."""
    told = {n for name in ("changed", "fresh") for s in new.spans(name) for n in s}
    spans = [s for s in new.spans("temporary") if not told & {*s}]
    return bool(spans) and not new.has("now", "again")


def _names_it(old: Row, new: Row, named: Sequence[Item]) -> bool:
    """Tell whether a sentence names a matter: by all its names, or by all of its words."""
    said = _said(new)
    sure = _sure(old, named)
    if not all(i.key in said for i in sure or named):
        held = [i for i in named if i.key in said]
        signs = [i for i in sure if i.words[0].is_number]
        if len(held) < max(_BOTH, _MOSTLY * len(named)) or held[0] is not named[0] or signs:
            return False
    own = {i.key for i in named}
    if len(new.items) > _SHORT and sum(key in said for key in own) < _BOTH:
        told = {id(new.words[n]) for name in _TELLS for s in new.spans(name) for n in s}
        if next((i.key for i in new.items if id(i.words[0]) not in told), "") not in own:
            return False
    return not any(
        word.stem in own and after.text == "s"
        for word, after in zip(new.words, new.words[1:], strict=False)
    )  # Ana's sister is not Ana


def _sure(read: Row, named: Sequence[Item]) -> list[Item]:
    """Return the names and numbers among the words of a matter."""
    plain = read.language.code != "de"  # where every noun has a capital
    return [
        i
        for i in named
        if i.words[0].is_number
        or (_kind(read, i) == "name" if plain else _SIGNS.search(i.words[0].text))
    ]


def _turns(matter: _Matter, old: Row, new: Row) -> bool:
    """Tell whether a word of the older one stands in the newer one as its opposite."""
    words = [{w.stem for w in read.words} for read in (old, new)]
    said = {i.key for i in matter.rest} | {w.stem for w in old.words[-2:]}
    undone = {f"un{stem}" for stem in said} & words[1] if old.language.code == "en" else set()
    for pair in (*old.language.opposites, *({one, one[2:]} for one in undone)):
        mine, theirs = pair & words[0], pair & words[1]
        if len(mine) == len(theirs) == 1 and mine != theirs and mine <= said:
            rest = {i.key for i in matter.rest} - mine
            return matter.is_keyed or rest <= _said(new)
    return False


def _tells(new: Row) -> bool:
    """Tell whether a sentence says that something is otherwise than before; an arrow is a way."""
    spans = (span for name in _TELLS for span in new.spans(name))
    if any(new.words[span[0]].text != "→" for span in spans):
        return True
    return any(new.tells(mark[1:], "change") for mark in new.marks if mark not in (IS, KEY, SELF))


def _alike(one: _Matter, other: _Matter) -> bool:
    return [i.key for i in one.named] == [i.key for i in other.named]


def _same_key(matter: _Matter, other: _Matter, new: Row) -> bool:
    """Tell whether the newer one gives the same key a value that it says is another."""
    head = tuple(word for item in matter.named for word in item.words)
    longest = max(len(matter.rest), len(other.rest))
    if new.language.spans(head, "lists") or not other.rest or longest > _MATTER:
        return False
    return not (matter.has_verb or {i.key for i in matter.rest} & {i.key for i in other.rest})


def _set_to(matter: _Matter, new: Row) -> bool:
    """Tell whether the newer one says to what a key was changed: `Changed the topic to kilns`."""
    onto = new.spans("onto")
    if not (matter.is_keyed and onto and new.has("changed")) or matter.is_named:
        return False
    at = {id(word): n for n, word in enumerate(new.words)}
    about, old = {i.key for i in matter.named}, {i.key for i in matter.rest}
    before = {i.key for i in new.items if at[id(i.words[0])] < onto[-1][0]}
    value = [i.key for i in new.items if at[id(i.words[0])] > onto[-1][-1] and not i.is_mark]
    told = {w.stem for s in new.spans("changed") for w in (new.words[n] for n in s)}
    if not about <= before <= about | told | {SELF}:
        return False
    return bool(value) and not {*value} & old


class _Matter(msgspec.Struct, frozen=True):
    """What an older statement is about, and what it says of that."""

    named: Sequence[Item]
    rest: Sequence[Item]
    is_keyed: bool
    has_verb: bool = False
    is_named: bool = False
    """Whether what is said of it is a name, though it opens the sentence."""


def _matters(old: Row) -> Iterator[_Matter]:
    """Yield what an older statement may be about: `Uwe is our baker` is about the baker too."""
    matter = _matter(old)
    if matter is None:
        return
    yield matter
    at = old.predicate
    if matter.is_keyed or not 0 < at == len(matter.named) or old.items[at].key != IS:
        return
    if all(i.words[0].is_name for i in matter.named) and 0 < len(matter.rest) <= _MATTER:
        yield _Matter(matter.rest, matter.named, True, is_named=True)


def _matter(old: Row) -> _Matter | None:
    """Return the key of a record, or the subject; without one it is all that is no value."""
    items = [i for i in old.items if i.key != SELF]
    keyed = next((n for n, i in enumerate(items[: _MATTER + 1]) if i.key == KEY), -1)
    marks = [n for n, i in enumerate(items) if i.is_mark]
    at = keyed if keyed > 0 else next(iter(marks), -1)
    held = {n for s in old.spans("temporary") for n in s}
    timed = {id(old.words[n]) for n in held}
    named = [i for i in items[: max(at, 0)] if not (i.key in old.times or id(i.words[0]) in timed)]
    if len(named) > _MATTER:
        return None
    rest = [i for i in items[at + 1 :] if not i.is_mark]
    if named:
        return _Matter(named, rest, keyed > 0, any(n > at for n in marks))
    values = {id(i) for i in rest if _kind(old, i)}
    named = [i for i in rest if id(i) not in values]
    return _Matter(named[:_MATTER], rest, False) if named else None


def _said(read: Row) -> set[str]:
    """Return the stems that a sentence says, those of its verbs too."""
    return {i.key for i in read.items} | {w.stem for i in read.items for w in i.words}


def _kind(read: Row, item: Item) -> str:
    """Return of which kind of value a word is, or an empty string."""
    word = item.words[0]
    if item.is_mark or len(item.words) > 1:
        return ""
    if CLOCK.fullmatch(word.text):
        return "clock"
    if is_date(read.language, [item]):
        return "day"
    if _ADDRESS.fullmatch(word.text):
        return "address"
    if _NUMBER.fullmatch(word.text) or read.language.spans(item.words, "numbers"):
        return "number"
    capital = word.raw[:1].isupper() and word is not read.words[0]
    return "name" if capital or word.is_number or _SIGNS.search(word.text) else ""


def _others(matter: _Matter, old: Row, new: Row) -> Iterator[list[Item]]:
    """Yield the values of the newer one that are not the older one's, the surest kinds first."""
    about = {i.key for i in matter.named}
    said = _said(old)
    values = [i for i in new.items if i.key not in about and not i.is_mark]
    found = False
    for kind in ("address", "clock", "day"):
        mine = [i for i in matter.rest if _kind(old, i) == kind]
        theirs = [i for i in values if _kind(new, i) == kind]
        apart = not {i.key for i in mine} & {i.key for i in theirs}
        most = 1 if kind == "address" else _VALUES
        if mine and theirs and apart and max(len(mine), len(theirs)) <= most:
            found = True
            yield theirs
    for theirs in _numbers(matter, old, new):
        found = True
        yield theirs
    if not found and (matter.is_keyed or {i.key for i in matter.rest} & {i.key for i in values}):
        shown = [i for i in values if _kind(new, i) == "name" and i.key not in said]
        mine = [i for i in matter.rest if matter.is_named or _kind(old, i) == "name"]
        renamed = new.predicate > 0 and new.tells(new.items[new.predicate].key[1:], "change")
        gone = [i for i in mine if renamed or i.key not in _said(new)]
        if len(new.items) > _SHORT:
            return
        if gone and 0 < len(shown) <= _VALUES and (renamed or _stands_for(old, new, matter)):
            yield shown


def _stands_for(old: Row, new: Row, matter: _Matter) -> bool:
    """Tell whether a name may be the value: the record has one, or the same is said of it."""
    if matter.is_keyed:
        if matter.is_named:
            return True
        names = [n for n, i in enumerate(matter.rest) if _kind(old, i) == "name"]
        return names == [*range(names[0], names[0] + len(names))] and len(names) <= _VALUES
    said = _said(new)
    plain = [i for i in matter.rest if not _kind(old, i)]
    return bool(plain) and all(i.key in said for i in plain)


def _numbers(matter: _Matter, old: Row, new: Row) -> Iterator[list[Item]]:
    """Yield numbers that stand beside the same word: `Ubuntu 22`, `24 euros`, `12 March`."""
    calls = [_call(read) for read in (old, new)]
    if all(calls) and not {i.key for i in calls[0]} >= {i.key for i in calls[1]}:
        yield calls[1]
    sides = [list(_beside(read)) for read in (old, new)]
    behind = {id(i) for i in matter.rest}
    for mine, word in sides[0]:
        if id(mine) not in behind:
            continue
        theirs = [i for i, beside in sides[1] if beside == word]
        if theirs and mine.key not in _said(new) and not {i.key for i in theirs} & _said(old):
            yield theirs


def _call(read: Row) -> list[Item]:
    """Return the first row of numbers that one can call."""
    run: list[Item] = []
    for item in (*read.items, None):
        if item is not None and item.words[0].text.replace("-", "").isdigit():
            run.append(item)
        elif len(run) > 1 and sum(len(i.key) for i in run) >= _PHONE:
            return run
        else:
            run = []
    return []


def _beside(read: Row) -> Iterator[tuple[Item, str]]:
    """Yield each number with a word that stands beside it, or with nothing where it is a value."""
    items = read.items
    for n, item in enumerate(items):
        if _kind(read, item) != "number":
            continue
        if n and items[n - 1].key in (IS, KEY):
            yield item, ""
        near = [*items[max(n - 1, 0) : n], *items[n + 1 : n + 2]]
        for other in near:
            plain = not other.is_mark and _kind(read, other) in ("", "name", "day")
            if plain and not read.language.spans(other.words, "index"):
                yield item, other.key


def _of_another(
    old: Row, new: Row, matter: _Matter, theirs: Sequence[Item], *, for_some: bool = False
) -> bool:
    """Tell whether a word of the newer one says that it is about another: `Ben's`, `for Ben`.

    Where it may be `for_some`, only another owner or name makes it another.
    """
    known = _said(old)
    told = {id(new.words[n]) for name in _TELLS for s in new.spans(name) for n in s}
    fill = {n for s in new.spans("fill") for n in s}
    articles = {n for s in new.spans("articles") for n in s}
    values = {id(i) for i in theirs}
    about = {i.key for i in matter.named}
    at = {id(word): n for n, word in enumerate(new.words)}
    first = min((at[id(i.words[0])] for i in new.items if i.key in about), default=0)
    last = min((at[id(i.words[0])] for i in new.items if id(i) in values), default=len(new.words))
    ends = max((at[id(i.words[0])] for i in new.items if i.key in about), default=0)
    capitals = new.language.code != "de"
    for item in new.items:
        word, here = item.words[0], at[id(item.words[0])]
        if id(item) in values or item.is_mark or item.key in known or id(word) in told:
            continue
        if item.key in new.times or _kind(new, item) in ("number", "clock"):
            continue
        if here and new.words[here - 1].is_number:
            continue  # a unit
        after = new.words[here + 1].text if here + 1 < len(new.words) else ""
        if after == "s" or first - 1 <= here < ends:
            return True  # whose it is, or which
        if capitals and here and word.raw[:1].isupper():
            return True
        before = next((n for n in range(here - 1, -1, -1) if n not in articles), -1)
        if not for_some and first < here < last and before in fill:
            return True
    return False


def come_about(old: Row, new: Row) -> Change | None:
    """What was open is done: `waiting for review`, `planned`, `fails`; `merged`, `shipped`."""
    days = [{i.key for i in r.items if is_date(r.language, [i])} for r in (old, new)]
    if old.has("unfinished") and not is_negated(new) and days[0] <= days[1]:
        left = old.without("unfinished", "negation")
        keys = [i.key for i in left.items if not i.is_mark and i.key not in left.times]
        if len(keys) > 1 and {*keys} <= _said(new) and not new.has("hypothesis", "plan"):
            return Change(kind="retold", strength="doubt", reason="it is said to be done")
    if not old.has("pending") or not new.has("done") or old.has("done") or is_negated(new):
        return None
    if new.has("temporary", "hypothesis") or len(new.items) > _PLAIN or len(old.items) > _PLAIN:
        return None
    start = old.spans("pending")[0][0]
    before = row_of(old.language, old.words[:start])
    rest = new.without("done", "now", "turned", "reason")
    matter = _matter(old)
    items = matter.named if matter and matter.is_keyed else before.items
    named = [i for i in items if not i.is_mark and i.key not in before.times]
    keys = [i.key for i in rest.items if not i.is_mark and i.key not in rest.times]
    said = _said(old)
    shared = [key for key in keys if key in {i.key for i in named}]
    days = [{i.key for i in r.items if is_date(r.language, [i])} for r in (before, new)]
    if all(days) and not days[0] & days[1]:
        return None  # that of another month
    sure = {i.key for i in named[1:] if i.words[0].is_name}
    sure |= {i.key for i in named if i.words[0].is_number}
    if not named or not shared or not sure <= {*keys}:
        return None
    if len(shared) < _HALF * len(named) or (len(shared) < len({*keys}) and len(shared) < 2):
        return None
    if len({*keys}) > _MOST and len(shared) < _HALF * len({*keys}):
        return None
    foreign = [
        i
        for i in rest.items[1:]
        if i.key not in said and not i.is_mark and (i.words[0].is_name or i.words[0].is_number)
    ]
    capitals = new.language.code != "de"
    if capitals and any(i.key not in rest.times for i in foreign):
        return None
    return Change(kind="retold", strength="doubt", reason="what was open is said to be done")


def ended_for_some(old: Row, new: Row) -> Change | None:
    """Most of the older one is said to be over, or a ban of it lifted, for somebody."""
    lifted = is_negated(old) and new.has("permitted") and not is_negated(new)
    if not lifted and (not new.has("ended") or is_negated(old)):
        return None
    if len(new.items) > _PLAIN or new.has("except", "hypothesis"):
        return None
    old, new = old.without("negation"), new.without("ended", "permitted")
    every = {i.key for i in old.items if old.language.spans(i.words, "every")}
    keys = [i.key for i in old.items if not i.is_mark and i.key not in every]
    shared = [key for key in keys if key in _said(new)]
    if len(shared) < _BOTH or len(shared) < _MOSTLY * len(keys) or shared[0] != keys[0]:
        return None
    named = (matter := _matter(old)) and [i for i in matter.named if i.key in keys]
    if named and not _names_it(old, new, [i for i in named if i.words[0].is_name] or named[:1]):
        return None
    rest = [i for i in old.items if not i.is_mark and i.key not in keys[:1]]
    about = _Matter(old.items[:1], rest, False)
    if _of_another(old, new, about, (), for_some=True):
        return None
    return Change(kind="retold", strength="doubt", reason="it is said to be over in part")


def handed_on(old: Row, new: Row) -> Change | None:
    """Who has a thing passes it on: `Uwe owns the press`, `Uwe passed the press on to Vera`."""
    spans = new.spans("hands_on")
    if not spans or is_negated(old) or is_negated(new) or old.has("was"):
        return None
    at = {id(word): n for n, word in enumerate(new.words)}
    items = [i for i in new.items if not i.is_mark and at[id(i.words[0])] not in spans[0]]
    before = {i.key for i in items if at[id(i.words[0])] < spans[0][0]}
    thing = {i.key for i in items if spans[0][0] < at[id(i.words[0])] < spans[0][-1]}
    behind = {i.key for i in items if at[id(i.words[0])] > spans[0][-1]}
    said = {i.key for i in old.items if not i.is_mark}
    if not (before and thing and behind) or not before | thing <= said or behind & said:
        return None
    return Change(kind="restated", strength="doubt", reason="another has it")


def gone(old: Row, new: Row) -> Change | None:
    """What the older one is about was given out of the house: `We sold the kiln`."""
    if not new.has("gone") or is_negated(old) or new.has("negation") or len(new.items) > _SHORT:
        return None
    matter, rest = _matter(old), new.without("gone", "ended", "now", "reason")
    if old.has("gone", "was") or matter is None:
        return None
    thing = [i.key for i in rest.items if not i.is_mark and i.key not in rest.times]
    of = matter.named if matter.is_keyed or old.predicate > 0 else old.items[:1]
    said, named = _said(old), {i.key for i in of}
    if thing and thing[0] not in said and rest.items[0].words[0].is_name:
        thing = thing[1:]  # who did it
    if not thing or not named <= {*thing} <= said:
        return None
    if any(i.words[0].text.endswith("s") for i in of if old.language.code == "en"):
        return None  # some of many
    return Change(kind="retold", strength="doubt", reason="it is said to be gone")


def kept_after_all(old: Row, new: Row) -> Change | None:
    """What was to change is said to stay: `The fee goes up in May`, `The fee stays at 25`."""
    spans = new.spans("stays")
    if not spans or is_negated(old) or is_negated(new) or old.has("stays"):
        return None
    moves = {old.language.stem(word) for word in str(old.language.lists["changed"]).split(", ")}
    told = any(word.stem in moves for word in old.words)
    if not (told or old.has("changed", "plan", "planned") or old.is_moved):
        return None
    matter = {i.key for i in row_of(new.language, new.words[: spans[0][0]]).items if not i.is_mark}
    value = _items_behind(new, spans[0][-1])
    said = _said(old)
    if not matter or not matter <= said or not value or {i.key for i in value} <= said:
        return None
    return Change(kind="retold", strength="doubt", reason="it is said to stay as it was")


def _items_behind(new: Row, at: int) -> list[Item]:
    rest = row_of(new.language, new.words[at + 1 :]).without("again")
    return [i for i in rest.items if not i.is_mark][:1]
