"""A sentence as a row of items: its predicate once, and the words that matter, each by its stem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache

import msgspec
from msgspec.structs import replace

from memrepo.core.patterns import regex
from memrepo.policies.speech import Language, Word

IS, KEY, TOPIC, SELF = "§is", "§:", "§topic", "§i"
"""Keys of items that stand for the copula, the colon of a key, the topic and the speaker."""


_SIGNS = (
    *("again", "back", "cancelled", "changed", "correction", "disproved", "done", "ended"),
    *("except", "exchanged", "fresh", "gives_up", "gone", "hands_on", "instead", "negation", "now"),
    *("permitted", "stays", "turned", "unfinished", "wrong"),
)
"""The lists of which a word says that something else held, or that something does not."""


class Item(msgspec.Struct, frozen=True, gc=False):
    """One word that matters, or a predicate in its place."""

    key: str
    words: tuple[Word, ...]
    after_article: bool = False

    @property
    def is_mark(self) -> bool:
        """Tell whether it stands for a predicate, a topic or the speaker."""
        return self.key[0] == "§"


class Row(msgspec.Struct, frozen=True, dict=True):
    """One sentence as rules see it."""

    language: Language
    words: tuple[Word, ...]
    items: tuple[Item, ...]

    def has(self, *names: str) -> bool:
        """Tell whether a phrase of any of some lists stands in it."""
        return not self._listed.isdisjoint(names) and any(map(self.spans, names))

    def spans(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Return where the phrases of a list stand; each list is looked for once."""
        if name not in self._listed:
            return ()
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
    def is_plain(self) -> bool:
        """Tell whether no word of it says that something is otherwise than before.

        Such a sentence changes another only where both have one frame.
        """
        turns = any(word.stem in self.language.turning for word in self.words)
        return not (turns or self.is_moved or self.has(*_SIGNS))

    @cached_property
    def is_moved(self) -> bool:
        """Tell whether a phrase by which a predicate tells of a change or an end stands in it."""
        return bool(self.language.found(self.words, self.language.moving))

    @cached_property
    def _listed(self) -> frozenset[str]:
        return self.language.listed(self.words)

    @cached_property
    def _spans(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        return {}

    @cached_property
    def cut(self) -> dict[str, list[Row]]:
        """Return the parts that rules cut it into, by name, once they were asked for."""
        return {}

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of all items but the copula and other marks that say nothing alone."""
        return [i.key for i in self.items if i.key not in (IS, KEY, TOPIC)]

    @cached_property
    def times(self) -> frozenset[str]:
        """Return the keys of items that only say when: a day, a year, or a word like "last"."""
        return frozenset(
            item.key
            for item in self.items
            if is_date(self.language, (item,)) or self.language.spans(item.words, "when")
        )

    @cached_property
    def marks(self) -> frozenset[str]:
        """Return the keys of its predicates and other marks."""
        return frozenset(i.key for i in self.items if i.is_mark)

    @cached_property
    def predicate(self) -> int:
        """Return the place of the predicate, or -1."""
        marks = [n for n, i in enumerate(self.items) if i.is_mark and i.key not in (TOPIC, SELF)]
        named = [n for n in marks if self.items[n].key not in (IS, KEY)]
        return next(iter(named or marks), -1)

    def with_predicate(self, key: str) -> Row:
        """Return the sentence with another key for its predicate."""
        items = list(self.items)
        items[self.predicate] = replace(items[self.predicate], key=key)
        return replace(self, items=tuple(items))

    def without(self, *names: str) -> Row:
        """Return the sentence without the phrases of some lists; each such one is made once."""
        gone = frozenset(n for name in names for span in self.spans(name) for n in span)
        if not gone:
            return self
        if gone not in self._less:
            words = tuple(word for n, word in enumerate(self.words) if n not in gone)
            self._less[gone] = row_of(self.language, words)
        return self._less[gone]

    @cached_property
    def _less(self) -> dict[frozenset[int], Row]:
        return {}

    @cached_property
    def report(self) -> tuple[Row, Row | None] | None:
        """Return who reports something, and what as their own statement; None without a report.

        "Ana said she prefers tea" is Ana's word about Ana; "Ben said Ana prefers tea" is hearsay.
        """
        spans = self.spans("report")
        if not spans:
            return None
        who, told = self.words[: spans[0][0]], self.words[spans[0][-1] + 1 :]
        that = self.language.spans(told, "that")
        start = len(that[0]) if that and that[0][0] == 0 else 0
        pronouns = {n for span in self.language.spans(told, "pronouns") for n in span}
        if "drops_pronouns" not in self.language.lists and start not in pronouns:
            return row_of(self.language, who), None
        rest = tuple(word for n, word in enumerate(told) if n not in pronouns)
        return row_of(self.language, who), row_of(self.language, (*who, *rest))


@lru_cache(maxsize=8192)  # what begins alike is compared together, and a row holds much
def read_row(language: Language, text: str) -> Row:
    """Return a sentence as a row; the latest are kept."""
    return row_of(language, language.cut(text))


def row_of(language: Language, words: tuple[Word, ...]) -> Row:
    """Return words as a row."""
    now = {n for span in language.spans(words, "now") for n in span}
    left = tuple(word for n, word in enumerate(words) if n not in now)
    return Row(language, words, tuple(_items(language, left)))


def _items(language: Language, words: tuple[Word, ...]) -> Iterator[Item]:
    """Yield what matters of a sentence: its predicate once, and its words without fillers."""
    marks = _marks(language, words)
    taken = {n for span, _ in marks for n in span}
    starts = {span[0]: (key, span) for span, key in marks}
    articles = {n for span in language.spans(words, "articles") for n in span}
    dropped = articles.union(*language.spans(words, "fill"))
    me = {n for span in language.spans(words, "self") for n in span}
    for n, word in enumerate(words):
        if n in starts:
            key, span = starts[n]
            yield Item(key, tuple(words[at] for at in span))
        elif n in me and n not in taken:
            yield Item(SELF, (word,))
        elif n not in taken and n not in dropped and word.text not in (",", "→"):
            yield Item(word.stem, (word,), n - 1 in articles)


def _marks(language: Language, words: tuple[Word, ...]) -> list[tuple[tuple[int, ...], str]]:
    """Return the spans of predicates, of the copula and the key's colon, none over another."""
    found = [*language.marks(words)]
    found += [(span, IS) for span in language.spans(words, "copula")]
    found += [(span, TOPIC) for span in language.spans(words, "topic")]
    found += [((n,), KEY) for n, word in enumerate(words) if word.text == ":"]
    found.sort(key=lambda one: (-len(one[0]), one[1] in (IS, TOPIC), one[0]))
    kept: list[tuple[tuple[int, ...], str]] = []
    taken: set[int] = set()
    for span, key in found:
        if not taken & set(span):
            taken |= set(span)
            kept.append((span, key))
    return kept


def is_negated(read: Row) -> bool:
    """Tell whether a sentence says that something is not."""
    return read.has("negation", "ended")


def is_past_only(old: Row, new: Row) -> bool:
    """Tell whether the newer one only tells of the past; a predicate of change may do so."""
    if not new.has("was") or old.has("was"):
        return False
    marked = {word for item in new.items if item.is_mark for word in item.words}
    return any(not {new.words[n] for n in span} <= marked for span in new.spans("was"))


def tells_change(old: Row, new: Row) -> bool:
    """Tell whether the newer one says itself that something else held before.

    A word for now does so, and a predicate of change.
    """
    if new.has("now", "changed") and not old.has("now"):
        return True
    name = new.items[new.predicate].key[1:] if new.predicate >= 0 else ""
    return new.tells(name, "change")


def groups(read: Row, wanted: Callable[[Item], bool]) -> list[list[Item]]:
    """Return the runs of items that are wanted; a predicate parts two runs."""
    groups: list[list[Item]] = [[]]
    for item in read.items:
        if (item.is_mark and item.key != SELF) or not wanted(item):
            groups.append([])
        else:
            groups[-1].append(item)
    return [group for group in groups if group]


def kind_of(language: Language, items: Sequence[Item]) -> str:
    """Return what kind of value some items are: date, number, numbers or word."""
    if is_date(language, items):
        return "date"
    numbers = [_is_number(language, i) for i in items]
    if not all(numbers):
        return "word"
    return "number" if len(numbers) == 1 else "numbers"  # two of them belong to two things


def _is_number(language: Language, item: Item) -> bool:
    word = item.words[0]
    if _YEAR.fullmatch(word.text):
        return False
    plain = word.text.replace(".", "").replace(",", "").replace(":", "").rstrip("%")
    return plain.isdigit() or bool(language.spans(item.words, "numbers"))


_YEAR = regex(r"(?:19|20)\d\d")
CLOCK = regex(r"\d{1,2}[:.h]\d{2}(?:am|pm)?|\d{1,2}(?:am|pm)|\d{4}-\d\d-\d\d")
"""A time of day as it is written, or a whole date."""


def is_date(language: Language, items: Sequence[Item]) -> bool:
    """Tell whether items name a day, a month or a time of day."""
    return any(_is_dated(language, word) for item in items for word in item.words)


@lru_cache(maxsize=32_768)
def _is_dated(language: Language, word: Word) -> bool:
    written = _YEAR.fullmatch(word.text) or CLOCK.fullmatch(word.text)
    return bool(written or language.spans((word,), "dates"))


def has_date(read: Row) -> bool:
    """Tell whether a sentence names a day, or says that something is planned."""
    return is_date(read.language, read.items) or read.has("planned")


def is_index(old: Row, at: int) -> bool:
    """Tell whether a number only says which one: `week 9`, `floor 2`, `9週`."""
    near = [*old.items[max(at - 1, 0) : at]]
    if old.language.lists.get("index_follows"):
        near += old.items[at + 1 : at + 2]
    return any(bool(old.language.spans(i.words, "index")) for i in near)
