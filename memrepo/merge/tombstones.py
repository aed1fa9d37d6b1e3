"""The list of what was decided against, and the one question about it: is this decided against?

A tombstone (`tombstones/<key>.md`) is a readable file: the statement, who rejected it, when and
why. It never expires. Undoing a rejection deletes its file, and git merges both. What a person
reverted or discarded has a file too, which lists the `changes` that no run proposes again. What was
corrected is on the list (`decided_against`), but does not bind the sources that corrected it.

A rejection applies to titles and to statements: a paragraph, a line, an item, a row, or sentences
within one of these. The split depends on no language, so a rejection matches however the text is
split. `look` folds texts that a reader cannot distinguish: it extends `ids.normal_claim` by
look-alike letters of other scripts, invisible characters, quotes, dashes, emphasis and the final
full stop. Digits are never folded into letters: `O1` and `01` are different values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar
from zlib import crc32

import msgspec
from msgspec.structs import replace

from memrepo.core.codec import entry_lines, split_header
from memrepo.core.errors import Problem, problem
from memrepo.core.ids import digest, normal_claim, strip_marker, text_hash, visible
from memrepo.core.layout import Layout, below
from memrepo.core.memory import Memory, having
from memrepo.core.messages import SUBJECT_LENGTH, words_of
from memrepo.core.patterns import regex
from memrepo.core.state import Update
from memrepo.core.times import EARLIEST
from memrepo.text.words import index_terms, roots, turning_words

if TYPE_CHECKING:
    from memrepo.core.state import State


_LETTERS = (
    # Cyrillic and Greek (lower case because case is folded first), Armenian, Cherokee, small
    # capitals.
    ("авекмнорстухіјѕһԁԛԝ", "abekmhopctyxijshdqw"),
    ("αβεζηικνορτυχ", "abezhikvoptyx"),
    ("օսոհցզյ", "ounhgqj"),
    ("ꭰꭱꭲꭺꭻꭼꮃꮇꮋꮐꮓꮢꮤꮥꮩꮪꮮꮯꮲꮶᏼ", "drtajewmhgzrwsvslcpkb"),
    ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏒᏔᏕᏙᏚᏞᏟᏢᏦ", "drtajewmhgzrwsvslcpk"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    ("ıɑɡⲟո", "iagon"),
    ("‘’‚‛ʼʹ′´", "'" * 8),
    ("“”„‟″«»", '"' * 7),
    ("‐‑‒–—―−⁃", "-" * 8),
)
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0*`"
_TABLE: dict[int, str | None] = {
    ord(one): other
    for letters, latin in _LETTERS
    for one, other in zip(letters, latin, strict=True)
}
_TABLE |= dict.fromkeys(map(ord, _BLANK))
_TABLE |= dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
_ENDS = regex(r"^[\"'\s]+|[\"'\s.!;,:]+$")


def look(text: str) -> str:
    """Fold a text to what a reader sees. Texts that look the same have equal results."""
    if not text.isascii():
        text = text.translate(_TABLE)  # could separate a letter from its accent
    folded = normal_claim(text).translate(_TABLE)
    return _ENDS.sub("", " ".join(folded.split()))


_ACCENTS = regex(r"(?<=[A-Za-z])[\u0300-\u036f]+")
_MARKED = regex(r"[#>_~<\[&。｡।۔։]")
_LINK = regex(r"\[([^\[\]\n]{1,300})\]\([^()\s]{0,500}\)")
_PAIR = regex(r"(?<!\w)(_{1,2}|~~)(?=[^\s_~])([^_~\n]{1,300})\1(?!\w)")
_MARKUP = regex(
    r"^(?:[ \t]{0,3}(?:#{1,6}(?=[ \t])|>))+"
    r"|</?(?:a|b|br|code|del|em|font|i|mark|p|s|small|span|strong|sub|sup|u)(?:\s[^<>]{0,300})?/?>"
    r"|<!--[^<>]{0,300}-->"
    r"|[。｡।۔։]{1,9}[ \t]{0,9}$",
    re.MULTILINE | re.IGNORECASE,
)


def plain(text: str) -> str:
    """Remove formatting and invisible parts of a text.

    These are accents on Latin letters, headings, block quotes, emphasis, tags, links, and full
    stops of other scripts.
    """
    if _MARKED.search(text):
        from html import unescape

        text = _MARKUP.sub("", _PAIR.sub(r"\2", _LINK.sub(r"\1", unescape(text))))
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))


_WORDS = regex(r"[^\W_]+")
_WIDE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def tokens(text: str) -> frozenset[str]:
    """Return the words in a text. Han, Kana and Hangul are split into character pairs."""
    words: set[str] = set()
    for word in _WORDS.findall(look(text)):
        for run in _WIDE.findall(word):
            words.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        words.update(filter(None, _WIDE.split(word)))
    return frozenset(words)


def similarity(one: Collection[str], other: Collection[str]) -> float:
    """Return the similarity of two sets of words, from 0 to 1 (Dice coefficient)."""
    common = len(frozenset(one) & frozenset(other))
    return 2 * common / (len(one) + len(other)) if common else 0.0


def text_key(text: str) -> str:
    """Return a hash of a text without formatting, equal for texts that look the same."""
    return f"tx-{digest([look(plain(text))])[:32]}"


MAX_SENTENCES = 4
"""The maximum number of consecutive sentences compared as one. Abbreviations also end with a stop.
"""
_OWN_LINE = regex(r"[ \t]*(?:[-*+•][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||[-*_=]{3,}[ \t]*$)")
_DIVIDER = regex(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*$")
_HEADING = regex(r"[ \t]*#{1,6}[ \t]")
_LABEL_ONLY = regex(r"[:\uff1a][*_\s]*$")
_SENTENCE_END = regex(r"(?<=[.!?…;؟।۔])[\"'”’»)\]*_]*\s+|(?<=[。！？；])")
_LABEL = regex(r"[^:\uff1a\n|.!?;。！？；]{1,80}(?::[*_]*\s|\uff1a)\s*")
_CLOCK = regex(r"(?:[-*+•][ \t]+)?[\[(*]*\d{1,2}[:.]\d{2}(?::\d{2})?[\])*]*[ \t]*[-–—:]*[ \t]+")
_KEYED = regex(r"(?P<key>[^:\uff1a\n]{1,80})[:\uff1a](?P<value>.+)$", re.DOTALL)


class Statement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A part of a text that states something. `is_run` is true if it spans several sentences."""

    start: int
    end: int
    text: str
    is_run: bool = False

    @property
    def key(self) -> str:
        """Return the hash of the statement without formatting."""
        return text_key(self.text)

    @property
    def pair(self) -> tuple[str, str]:
        """Return the key and value of a statement such as `key: value`, or two empty strings."""
        found = _KEYED.match(strip_marker(plain(self.text)))
        return (found["key"], found["value"]) if found else ("", "")


@lru_cache(maxsize=4096)
def statements(text: str) -> tuple[Statement, ...]:
    """Split a text into statements, which may overlap. At each position, longer ones come first."""
    return tuple(one for start, end in _blocks(text) for one in _in_block(text, start, end))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each paragraph, list item, heading and table row of a text."""
    begun = last = at = 0
    for line in text.splitlines(keepends=True):
        if last > begun and (not line.strip() or _OWN_LINE.match(line)):
            yield begun, last
            begun = last = at
        if line.strip():
            begun, last = begun if last > begun else at, at + len(line.rstrip())
        at += len(line)
        if last > begun and (_HEADING.match(line) or line.lstrip().startswith("|")):
            yield begun, last
            begun = last = at
    if last > begun:
        yield begun, last


def _in_block(text: str, start: int, end: int) -> Iterator[Statement]:
    yield Statement(start=start, end=end, text=text[start:end])
    if text[start:end].lstrip().startswith("|"):
        cells = [cell.strip() for cell in text[start:end].strip().strip("|").split("|")]
        texts = [*cells, ": ".join(cells)] if len(cells) == 2 else cells
        yield from (Statement(start=start, end=end, text=text) for text in texts if text)
        return
    for begins, ends in _cut(text, start, end, "\n"):
        if (begins, ends) != (start, end):
            yield Statement(start=begins, end=ends, text=text[begins:ends])
        yield from _unlabelled(text, begins, ends)
    cuts = [*_sentences(text, start, end)]
    for first in range(len(cuts)):
        for last in range(first, min(first + MAX_SENTENCES, len(cuts))):
            begins, ends = cuts[first][0], cuts[last][1]
            if (begins, ends) != (start, end):
                part = text[begins:ends]
                yield Statement(start=begins, end=ends, text=part, is_run=last > first)
        yield from _unlabelled(text, *cuts[first])


def _cut(text: str, start: int, end: int, by: str) -> Iterator[tuple[int, int]]:
    at = start
    for part in text[start:end].split(by):
        if part.strip():
            yield at + len(part) - len(part.lstrip()), at + len(part.rstrip())
        at += len(part) + len(by)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for found in _SENTENCE_END.finditer(text, start, end):
        if text[at : found.end()].strip():
            yield at, found.start()
            at = found.end()
    if text[at:end].strip():
        yield at, end


def _unlabelled(text: str, start: int, end: int) -> Iterator[Statement]:
    """Yield a sentence without the label or clock time at the start: `Note: …`, `09:15 – …`."""
    for form in (_CLOCK, _LABEL):
        if (found := form.match(text, start, end)) and found.end() < end:
            yield Statement(start=start, end=end, text=text[found.end() : end])


def leave_out(text: str, found: Iterable[Statement]) -> str:
    """Remove statements from a text. Return an empty string if no other statement remains.

    The rest is unchanged. A block is removed completely if only its marker or a label would remain.
    """
    spans = sorted({(one.start, one.end) for one in found})
    parts: list[str] = []
    at = 0
    for start, end in _blocks(text):
        inside = [span for span in spans if start <= span[0] and span[1] <= end]
        if not inside:
            continue
        rest, here = "", start
        for begins, ends in inside:
            rest += text[here : max(here, begins)]
            here = max(here, ends)
        rest += text[here:end]
        rest = rest.lstrip() if inside[0][0] == start else rest
        lines = [line.rstrip() for line in rest.split("\n") if line.strip()]
        rest = re.sub(r"(?<=\S)[ \t]{2,}", " ", "\n".join(lines))
        parts.append(text[at:start])
        at = end
        if look(rest) and not _LABEL_ONLY.search(rest):
            parts.append(rest)
        else:
            at += len(text[end:]) - len(text[end:].lstrip(" \t\r")) + text[end:].startswith("\n")
    left = re.sub(r"\n{3,}", "\n\n", "".join((*parts, text[at:]))).strip("\n").rstrip()
    return left if states(left) else ""


def states(text: str) -> bool:
    """Return whether a text contains anything except headings, labels and table headers."""
    blocks = [*_blocks(text)]
    for (start, end), (after, until) in zip(blocks, [*blocks, (0, 0)][1:], strict=True):
        one = text[start:end]
        is_head = one.lstrip().startswith("|") and _DIVIDER.match(text[after:until])
        bare = _HEADING.match(one) or _LABEL_ONLY.search(one) or _DIVIDER.match(one)
        if look(one) and not (is_head or bare):
            return True
    return False


KEY_PATTERN = regex(r"ts-[0-9a-f]{16}")
SIMILAR = 0.85
"""The similarity (Dice coefficient of the words) from which a run leaves a text out."""
STANDS_ALONE_WORDS = 5
"""The number of words from which a statement has the same meaning under any heading."""
MIN_WORDS, MIN_PART_WORDS = 2, 4
"""The minimum number of words of a statement in a larger text, and of a part of a rejected one.
Shorter texts such as "None" or "vim" are too general."""
REJECTED = "rejected-value"
"""The rule for a file that contains a rejected statement."""
_NAME = regex(r"[^\W\d_]{2}")
"""Matches a heading that names something. A date does not."""


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """A rejected statement, as stored in a tombstone file. The statement is the file's text.

    `heading` is what the statement is about. `memory` is the id of the rejected memory, and
    `forgotten` are the ids that the rejection removed from recall. `units` are the hashes of its
    source texts and former wordings. `changes` are what was reverted or discarded
    (`core.changes.traits`): the text describes these, and only these are barred.
    """

    matches_without_heading: ClassVar[bool] = True
    """Whether a short statement matches if it has no heading, or the rejected one had none."""

    key: Annotated[str, msgspec.Meta(pattern=f"^{KEY_PATTERN.pattern}$")]
    statement: str = ""
    scope: str = ""
    heading: str = ""
    memory: str = ""
    units: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    reason: str = ""
    by: str
    at: datetime

    @property
    def summary(self) -> str:
        """Return who rejected the statement, the date, and the tombstone's key, as a text."""
        return f"{visible(self.by)} rejected on {self.at:%Y-%m-%d} ({self.key})"

    @property
    def why(self) -> tuple[str, str]:
        """Return why the statement is barred, such as `rejected as ts-…`, and how to lift that."""
        fix = f"`memrepo reject {self.key} --undo`, if it is right after all"
        return f"rejected as {self.key}", fix

    @property
    def text_key(self) -> str:
        """Return the hash of the statement as a whole, or an empty string without a statement."""
        return text_key(self.statement) if self.statement else ""

    def is_in_scope(self, scope: str) -> bool:
        """Return whether the rejection applies in a scope: in its own, and without one."""
        return not (scope and self.scope) or look(scope) == look(self.scope)

    def is_same(self, one: Statement, names: Iterable[str]) -> bool:
        """Return whether a statement with the same words is about the same.

        `names` is what it is about: `status: green` under two headings is two statements.
        """
        words = len(tokens(one.text))
        if words >= STANDS_ALONE_WORDS or (words > MIN_WORDS and not one.pair[0]):
            return True
        named = {look(name) for name in names if _NAME.search(name)}
        if not named or not self.heading:
            return self.matches_without_heading
        return look(self.heading) in named


class Corrected(Tombstone, frozen=True, kw_only=True):
    """A superseded text, or a former wording of one, which must not return from other files.

    `by` is the memory that corrected it, and `sources` are the files that stated the correction:
    they may revert it.
    """

    matches_without_heading: ClassVar[bool] = False
    key: str
    sources: tuple[str, ...] = ()

    @property
    def why(self) -> tuple[str, str]:
        """Return which memory corrected the text, and how to lift that."""
        verb = "restore" if self.statement else "edit"
        fix = f"`memrepo {verb} {self.key.rpartition(':')[2]}`, if it is right after all"
        return f"corrected by {self.key.partition(':')[0]}", fix


def binds(stone: Tombstone, resource: str, captured: str, *, whole: bool) -> bool:
    """Return whether a statement is barred in a source: what was corrected, not in later evidence.

    `captured` is the date of the statement, or empty. If `whole`, the complete source is read
    again, including content from before the correction.
    """
    if not isinstance(stone, Corrected):
        return True
    later = captured[:10] > stone.at.date().isoformat()
    return not later and (whole or resource not in stone.sources)


def tombstone_of(
    memory: Memory, *, reason: str, by: str, at: datetime, forgotten: Iterable[str] = ()
) -> Tombstone:
    """Create a tombstone for the text of a memory. It applies in the scope of the memory."""
    scope = memory.scope
    place = [look(scope), text_key(memory.body), ""]
    return Tombstone(
        key=f"ts-{digest(place)[:16]}",
        statement=memory.body,
        scope=scope,
        heading=next(reversed(_names(memory)), ""),
        units=tuple(sorted(_hashes(memory))),
        memory=memory.id,
        forgotten=tuple(forgotten),
        reason=reason,
        by=by,
        at=at,
    )


def tombstone_of_changes(
    what: str,
    changes: Iterable[str],
    memories: Iterable[Memory],
    *,
    reason: str,
    by: str,
    at: datetime,
) -> Tombstone:
    """Create the record of changes that no run may propose again. `what` names what was undone."""
    lines = [f"- {m.id}: {words_of(m, SUBJECT_LENGTH)}" for m in memories]
    return Tombstone(
        key=f"ts-{digest(['changes', what])[:16]}",
        statement="\n".join((what, "", *lines)),
        changes=tuple(sorted(changes)),
        reason=reason,
        by=by,
        at=at,
    )


def _hashes(memory: Memory) -> set[str]:
    """Return the hashes of the source texts and former wordings of a memory."""
    return {s.text_hash for s in memory.sources if s.text_hash} | {*memory.former}


def _names(memory: Memory) -> list[str]:
    """Return the names of the subject of a memory, taken from its fields, outermost first."""
    shown = (memory.title, *memory.context.split("›"))
    return [name for name in (*shown, memory.subject) if _NAME.search(name)]


def _whole(text: str) -> Statement:
    return Statement(start=0, end=len(text), text=text)


def _wholes(memory: Memory) -> Iterator[Statement]:
    """Yield the text of a memory, and its title if it is long enough to state something."""
    yield _whole(memory.body)
    title = memory.title
    if title and len(tokens(title)) > MIN_WORDS:
        yield _whole(title)


def _prints(memory: Memory) -> str:
    """Return short hashes of everything in a memory that a tombstone may match."""
    texts = (*_wholes(memory), *statements(memory.body))
    keys = {memory.id, *(one.key for one in texts)}
    return " ".join(sorted(map(_short, keys)))


def _short(key: str) -> str:
    return f"{crc32(key.encode('utf-8', 'surrogatepass')):x}"


class Tombstones:
    """What was decided against in one state. `problems` lists unreadable files."""

    def __init__(
        self, found: Mapping[str, Tombstone] | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        self.found = dict(sorted((found or {}).items()))
        self.rejected = [stone for stone in self.found.values() if not stone.changes]
        self.problems = problems
        self._exact: dict[str, list[Tombstone]] = {}
        self._stated: dict[str, list[Tombstone]] = {}
        self._former: dict[str, Tombstone] = {}
        self._units: dict[str, Tombstone] = {}
        for stone in self.rejected:
            for key in {stone.memory, stone.text_key} - {""}:
                self._exact.setdefault(key, []).append(stone)
            if len(tokens(stone.statement)) > MIN_WORDS or _whole(stone.statement).pair[0]:
                self._stated.setdefault(stone.text_key, []).append(stone)
            known = self._former if isinstance(stone, Corrected) else self._units
            known |= dict.fromkeys(stone.units, stone)

    def __bool__(self) -> bool:
        return bool(self.rejected)

    @cached_property
    def changes(self) -> frozenset[str]:
        """Return what was reverted or discarded, as `core.changes.traits` describes it."""
        return frozenset(one for stone in self.found.values() for one in stone.changes)

    @cached_property
    def undone(self) -> frozenset[str]:
        """Return the first words (`words_of`) of the texts that were reverted or discarded."""
        made = {one[: len("mem-") + 16] for one in self.changes if " " not in one}
        stones = (stone for stone in self.found.values() if stone.changes)
        rows = (row[2:].partition(": ") for s in stones for row in s.statement.split("\n"))
        return frozenset(text for id_, _, text in rows if id_ in made)

    def find_barring(self, memory: Memory) -> Tombstone | None:
        """Return a decision against a memory or one of its statements, or None."""
        return next(self.barring(memory), None)

    def barring(self, memory: Memory) -> Iterator[Tombstone]:
        """Yield the decisions against a memory or one of its statements."""
        yield from self.barring_whole(memory)
        yield from (stone for _, stone in self.stated_in(memory))

    def rewording(self, text_hash: str) -> Tombstone | None:
        """Return the decision by which a person reworded a statement of a source, or None."""
        return self._former.get(text_hash)

    def barring_whole(self, memory: Memory) -> Iterator[Tombstone]:
        """Yield the decisions against a memory, its text or its title."""
        if not self:
            return
        names, scope = _names(memory), memory.scope
        yield from self._exact.get(memory.id, ())
        for one in _wholes(memory):
            for stone in self._exact.get(one.key, ()):
                if stone.is_in_scope(scope) and stone.is_same(one, names):
                    yield stone

    def stated_in(self, memory: Memory) -> list[tuple[Statement, Tombstone]]:
        """Return the statements in the text of a memory that were decided against."""
        names = () if memory.is_note else _names(memory)
        return self.stated(memory.body, names, memory.scope)

    def stated(
        self, text: str, names: Iterable[str] = (), scope: str = ""
    ) -> list[tuple[Statement, Tombstone]]:
        """Return the statements in a text that were decided against, not the whole text itself.

        `names` is what the text is about. A log is about nothing.
        """
        found: list[tuple[Statement, Tombstone]] = []
        whole, names = text.strip(), tuple(names)
        for one in statements(text) if self else ():
            if one.text == whole:
                continue
            stones = {stone.key: stone for stone in self._stated.get(one.key, ())}
            if self._former and (former := self._former.get(text_hash(one.text))) is not None:
                stones[former.key] = former
            fitting = (s for s in stones.values() if s.is_in_scope(scope) and s.is_same(one, names))
            found += ((one, stone) for stone in fitting)
        return sorted(found, key=lambda pair: pair[1].key)

    def shortening(self, memory: Memory) -> Update | None:
        """Return an update that removes all rejected statements from a memory, or None without any.

        If nothing else remains, the update forgets the memory.
        """
        found = [one for one, _ in self.stated_in(memory)]
        if not found:
            return None
        rest = leave_out(memory.body, found)
        if not rest:
            return Update(id=memory.id, fields={"status": "forgotten"})
        fields: dict[str, object] = {"gist": None} if memory.gist else {}
        if memory.sources:  # because the source lines are unchanged
            fields["sources"] = memory.sources
        return Update(id=memory.id, fields=fields, body=rest)

    def suspected(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        """Return the memories that may match, selected by short hashes of their statements."""
        if not self:
            return memories[:0]
        wanted = {_short(key) for key in (*self._exact, *self._stated)}
        rule = "what a decision may be about"
        return [
            m for m in memories if not wanted.isdisjoint(m.once(rule, partial(_prints, m)).split())
        ]

    def near(self, memory: Memory) -> Tombstone | None:
        """Return a tombstone similar to a memory, which a person must then review, or None.

        Such a memory restates what was rejected, or shares at least `SIMILAR` of its words and
        none of the others may turn the statement. Of claims, each statement is also compared.
        """
        if not self:
            return None
        if (restated := self.restating(memory)) is not None:
            return restated
        best: tuple[float, int] = (0.0, 0)
        for place, text in enumerate(_spans(memory)):
            one, turning = tokens(text), turning_words(index_terms(text).language)
            for n, words in enumerate(self._words):
                same = one == words and len(one) >= MIN_WORDS
                is_enough = not place or same or min(len(one), len(words)) >= MIN_PART_WORDS
                if is_enough and turning.isdisjoint(one ^ words):
                    best = max(best, (similarity(one, words), -n))
        return self.rejected[-best[1]] if best[0] >= SIMILAR else None

    def restating(self, memory: Memory) -> Tombstone | None:
        """Return a tombstone of which a memory has the own words, or None.

        It has only sources of the rejected statement, equals a former wording of it, or has all its
        words, in whatever order or form, and hardly others.
        """
        units = {s.text_hash for s in memory.sources if s.text_hash}
        if units and units <= self._units.keys():
            return self._units[min(units)]
        if (former := self._units.get(text_hash(memory.body))) is not None:
            return former
        for text in _spans(memory) if self._roots else ():
            mine, said = roots(text), tokens(text)
            turning = turning_words(index_terms(text).language)
            for (own, words), stone in self._roots.items():
                is_whole = own <= mine and similarity(own, mine) >= SIMILAR
                if is_whole and turning.isdisjoint(said - words):
                    return stone
        return None

    def without(self, text: str, scope: str = "") -> str:
        """Return a text without what was rejected, in whatever order or form of its words.

        A log is the record of its day, so its note keeps them; but no answer shows them.
        """
        found = [one for one in statements(text) if not one.is_run] if self else []
        drafts = ((one, Memory.of("", {"scope": scope}, body=one.text)) for one in found)
        left = [s for s, draft in drafts if self.restating(draft) or self.find_barring(draft)]
        return leave_out(text, left) if left else text

    @cached_property
    def _roots(self) -> dict[tuple[frozenset[str], frozenset[str]], Tombstone]:
        """Return the tombstone of each rejected text by its roots and words, if enough."""
        found = ((roots(s.statement), tokens(s.statement), s) for s in self.rejected)
        return {(own, all_): s for own, all_, s in found if len(own) >= MIN_PART_WORDS}

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """Return the words of each rejected text."""
        return [tokens(stone.statement) for stone in self.rejected]


def _spans(memory: Memory) -> list[str]:
    """Return the text of a memory, and of a claim the text of each statement too."""
    parts = () if memory.is_note else statements(memory.body)
    return [memory.body, *(one.text for one in parts if not one.is_run)]


class Forgotten:
    """The texts of forgotten memories, which no note and no search result shows again."""

    def __init__(self, state: State) -> None:
        gone = [m for m in state.every if m.status == "forgotten" and not m.is_note]
        rest = (m for m in state.every if m.status != "forgotten") if gone else ()
        hashes = {h for m in gone for h in _hashes(m)}.difference(*map(_hashes, rest))
        self.keys = frozenset({text_key(m.body) for m in gone} | hashes)

    def stated(self, text: str) -> list[Statement]:
        """Return the statements within a text that are a forgotten text, or its source."""
        if not self.keys:
            return []
        every = statements(text)
        return [s for s in every if s.key in self.keys or text_hash(s.text) in self.keys]


def without_rejected(state: State, notes: Iterable[Memory]) -> Iterator[Memory]:
    """Yield notes without the statements that were rejected."""
    stones = tombstones_in(state)
    for note in notes:
        if rest := stones.without(note.body, note.scope):
            yield note if rest == note.body else note.with_fields({"gist": None}, rest)


def forgotten_in(state: State) -> Forgotten:
    """Return the texts of a state whose memory was forgotten."""
    return state.once(Forgotten)


def decided_against(state: State) -> Tombstones:
    """Return what was rejected, superseded or reworded by a person. The result is cached."""
    return state.once(_decided)


def _decided(state: State) -> Tombstones:
    corrected = {one.key: one for one in (*_superseded(state), *_reworded(state))}
    return Tombstones({**tombstones_in(state).found, **corrected}, tombstones_in(state).problems)


def _reworded(state: State) -> Iterator[Corrected]:
    """Yield the former texts of each memory that a person reworded, of which hashes are known."""
    for memory in having(state.every, ("former",)):
        stamp = memory.stamp
        if memory.status == "active" and stamp is not None and stamp.by.startswith("human:"):
            yield Corrected(
                key=f"{memory.id}:{memory.id}",
                heading=next(reversed(_names(memory)), ""),
                units=memory.former,
                by=stamp.by,
                at=stamp.at or EARLIEST,
            )


def _superseded(state: State) -> Iterator[Corrected]:
    for memory in (one for one in state.every if one.status == "superseded"):
        named = memory.superseded_by
        by = [state.memories[id_] for id_ in named if id_ in state.memories]
        if by and all(one.status == "forgotten" for one in by):
            continue  # the correction itself was wrong
        stone = tombstone_of(memory, reason="", by="", at=memory.superseded_at or EARLIEST)
        yield Corrected(
            key=f"{named[0] if named else ''}:{memory.id}",
            statement=stone.statement,
            scope=stone.scope,
            heading=stone.heading,
            sources=tuple(sorted({s.resource for one in by for s in one.sources})),
            by=named[0] if named else "",
            at=stone.at,
        )


def brought_back(memory: Memory, stone: Tombstone) -> Problem:
    """Return the problem to report for a memory file that contains a rejected statement."""
    return problem(REJECTED, memory.path, "recalled", summary=stone.summary, stone=stone.key)


def held_against(state: State) -> State:
    """Return a copy of a state in which all barred memories are forgotten. No file is changed."""
    stones = tombstones_in(state)
    suspected = [m for m in stones.suspected(state.every) if m.status != "forgotten"]
    found = [
        (memory, stone)
        for memory in suspected
        if (stone := stones.find_barring(memory)) is not None
    ]
    if not found:
        return state
    memories = dict(state.memories)
    memories.update((m.id, m.with_fields({"status": "forgotten"})) for m, _ in found)
    return replace(
        state,
        memories=MappingProxyType(memories),
        problems=(*state.problems, *(brought_back(*one) for one in found)),
    )


def sweep(state: State, stones: Tombstones | None = None) -> Iterator[Update]:
    """Yield updates that forget or shorten each memory that a tombstone matches.

    The tombstones are those of the state, unless others are given.
    """
    stones = tombstones_in(state) if stones is None else stones
    for memory in stones.suspected(state.every):
        if memory.status == "forgotten":
            continue
        if any(stones.barring_whole(memory)):
            yield Update(id=memory.id, fields={"status": "forgotten"})
        elif (update := stones.shortening(memory)) is not None:
            yield update


def path_of(layout: Layout, key: str) -> str:
    """Return the path of the tombstone with the given key."""
    return f"{layout.area('tombstones')}{key}.md"


def is_tombstone(layout: Layout, path: str) -> bool:
    """Return whether a path is a tombstone file."""
    return path.startswith(layout.area("tombstones")) and path.endswith(".md")


def tombstones_in(state: State) -> Tombstones:
    """Return the tombstones of a state. The result is cached."""
    return state.once(_in_state)


def _in_state(state: State) -> Tombstones:
    return read_tombstones(state.files, state.layout)


def read_tombstones(files: Mapping[str, bytes], layout: Layout) -> Tombstones:
    """Read all tombstones. One that cannot be read is a problem, and bars nothing."""
    paths = (p for p in below(files, layout.area("tombstones")) if is_tombstone(layout, p))
    read = [read_tombstone(path, files[path]) for path in paths]
    found = {one.key: one for one in read if isinstance(one, Tombstone)}
    return Tombstones(found, tuple(one for one in read if isinstance(one, Problem)))


def read_tombstone(path: str, data: bytes) -> Tombstone | Problem:
    """Decode a tombstone. Unknown keys are ignored."""
    head = split_header(data, path)
    errors = [p.message for p in head.problems if p.severity == "error"]
    values = {entry.key: entry.value for entry in head.entries}
    text = data.decode("utf-8", "replace")[head.body_offset :]
    values["statement"] = text.removeprefix("\n").removesuffix("\n")
    try:
        if not errors:
            return msgspec.convert(values, Tombstone, strict=False)
    except msgspec.ValidationError as error:
        errors = [str(error)]
    return problem("tombstone-unreadable", path, cause=errors[0])


def tombstone_bytes(stone: Tombstone) -> bytes:
    """Format a tombstone as a file that a person can read."""
    lines = ["---"]
    for name, value in msgspec.to_builtins(stone).items():
        if value and name != "statement":
            lines += entry_lines(name, [*value] if isinstance(value, (list, tuple)) else value)
    return "\n".join([*lines, "---", "", stone.statement, ""]).encode("utf-8", "surrogatepass")


def lifted_changes(state: State, ids: Collection[str]) -> dict[str, bytes | None]:
    """Return the files of the records of changes without those of some memories."""
    files: dict[str, bytes | None] = {}
    for stone in tombstones_in(state).found.values():
        rest = tuple(one for one in stone.changes if one[: len("mem-") + 16] not in ids)
        if rest != stone.changes:
            data = tombstone_bytes(replace(stone, changes=rest)) if rest else None
            files[path_of(state.layout, stone.key)] = data
    return files


def join_tombstones(one: Tombstone, other: Tombstone) -> Tombstone:
    """Merge two tombstones of the same statement: the later decision, with the evidence of both."""
    later, earlier = sorted((one, other), key=lambda s: (s.at, s.by, s.reason), reverse=True)
    return replace(
        later,
        memory=later.memory or earlier.memory,
        units=tuple(sorted({*one.units, *other.units})),
        forgotten=tuple(sorted({*one.forgotten, *other.forgotten})),
        changes=tuple(sorted({*one.changes, *other.changes})),
    )
