"""Pack source files into questions: order them, number their lines, hide what says nothing new.

Profile files and MEMORY come first, then other pages, then logs from oldest to newest. A question
has at most a given number of tokens, and a file that is larger gets questions of its own. Hidden
are lines of a shipped template, passages that repeat an earlier file, encoded files, and rows
without a word. What is hidden depends on all files, never on what an earlier run has read, so equal
sources give equal questions. With a document, the known memories are found that a model must see.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from heapq import nlargest
from math import log

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.judge.grounding import literals_of
from memrepo.read.documents import read_lines
from memrepo.read.learned import line_hash, weights
from memrepo.text.dates import date_of_path
from memrepo.text.words import bare, content_words, language_of, small_words, stems

FIRST = (
    "IDENTITY.md",
    "USER.md",
    "PROFILE.md",
    "MEMORY.md",
    "TOOLS.md",
    "AGENTS.md",
    "SOUL.md",
    "CLAUDE.md",
)
"""Names of the files that are read first, in this order."""
CONTEXT_LINES = 2
"""Lines shown around a changed line of a page."""
MIN_REPEATED_LINES, MIN_REPEATED_LENGTH = 3, 120
"""Lines and characters from which a passage that is in an earlier file is hidden."""
MIN_CUT_SHARE = 0.7
"""How full a question must be to end at a heading of a file that needs several."""
DAY = regex(r"(\d{4}-\d\d-\d\d)")
"""A day in the name of a file or in a line."""
_CLOCK = regex(r"\d?\d:\d\d")
_HEADING = regex(r"(#{1,6})\s")
_HEAD_LINES = 8
_ENCODED = regex(r"[A-Za-z0-9+/=_-]{200,}")
"""A file in a line, such as an image. No word and no address is as long."""
_LEAD_IN = regex(r"[:：]\W*$")
_ITEM = regex(r"\s*(?:[-*+]|\d+[.)])\s")


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A file to read: all its lines, and the numbers of those that are new.

    `as_of` is the day on which the file says that it was updated. `removed` maps the number of
    a line to the lines that were removed before it. `since` is the day of the last change,
    which for a new file is only that of its first copy, unless `is_dated`. `hidden` has the numbers
    of lines that no judge may see. `stating` has the lines of statements, and is empty if unknown.
    """

    resource: str
    name: str
    kind: str
    lines: tuple[str, ...]
    new: frozenset[int]
    since: str = ""
    is_dated: bool = False
    as_of: str = ""
    removed: Mapping[int, tuple[str, ...]] = msgspec.field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    stating: frozenset[int] = frozenset()

    @property
    def day(self) -> str:
        """Return the day in the file's name, or an empty string."""
        return date_of_path(self.name)

    @property
    def changed(self) -> str:
        """Return the day of the last change, or an empty string if only its first copy is known."""
        return "" if self.is_whole and not self.is_dated else self.since

    @property
    def head(self) -> tuple[str, ...]:
        """Return the lines above the second heading, which say what the file is about."""
        found: list[str] = []
        for line in self.lines[:_HEAD_LINES]:
            if _HEADING.match(line) and found:
                break
            found += [line] if line.strip() else []
        return tuple(found)

    @property
    def is_whole(self) -> bool:
        """Return whether the file is read for the first time."""
        return len(self.new) == len(self.lines)

    def headings(self, number: int) -> list[str]:
        """Return the headings, parent items and lead-in line above a line, innermost first.

        Lines of code introduce nothing outside of their block.
        """
        found: list[str] = []
        own, code = self.lines[number - 1], _code_lines(self.lines)
        level = len(match[1]) if (match := _HEADING.match(own)) and number not in code else 7
        depth = _depth(own) if _LEAD_IN.search(own) else max(_depth(own), 1)
        is_item = bool(_ITEM.match(own))
        for above in range(number - 1, 0, -1):
            line = self.lines[above - 1]
            if above in code:
                continue
            heading = _HEADING.match(line)
            # An item that is one blank further in than another is its sibling.
            near = 2 if is_item and _ITEM.match(line) else 0
            if not is_item and _ITEM.match(line) and _depth(own) < _depth(line) <= depth:
                depth = _depth(line) - 1  # what introduces that list does not introduce this line
            if heading and len(heading[1]) < level:
                found.append(line)
                level = len(heading[1])
            elif level == 7 and not heading and _depth(line) < depth - near and _introduces(line):
                found.append(line)
                depth = _depth(line)
        return found


def is_heading(line: str) -> bool:
    """Return whether a line is a Markdown heading."""
    return bool(_HEADING.match(line))


@lru_cache(maxsize=64)
def _code_lines(lines: tuple[str, ...]) -> frozenset[int]:
    """Return the numbers of the lines in fenced blocks, with their marks."""
    return read_lines("", "\n".join(lines).encode()).fenced


def _depth(line: str) -> int:
    """Return how deep a line is below others: an item is deeper than a line that introduces it."""
    return 2 * (len(line) - len(line.lstrip())) + bool(_ITEM.match(line))


def _introduces(line: str) -> bool:
    """Return whether a line says what deeper lines below it are about."""
    return bool(_ITEM.match(line) or _LEAD_IN.search(line))


def compare(old: Sequence[str], new: Sequence[str]) -> tuple[set[int], dict[int, tuple[str, ...]]]:
    """Return the numbers of new lines, and the removed lines by the line that they stood before."""
    added: set[int] = set()
    removed: dict[int, tuple[str, ...]] = {}
    blocks = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in blocks.get_opcodes():
        if tag != "equal":
            added.update(range(j1 + 1, j2 + 1))
            if gone := tuple(line for line in old[i1:i2] if line.strip()):
                removed[j1 + 1] = gone
    return added, removed


def kind_of_name(name: str) -> str:
    """Return whether a file is a log, a profile or another page, by its name."""
    base = name.rpartition("/")[2]
    day = date_of_path(name).replace("-", "")
    is_log = bool(day) and base.replace("-", "").startswith(day)
    return "log" if is_log else "profile" if base in FIRST else "page"


def _place(document: Document) -> tuple[int, str, str]:
    base = document.name.rpartition("/")[2]
    match document.kind:
        case "profile":
            return 0, f"{FIRST.index(base)}", document.name
        case "log":
            titles = (line for line in document.head if _HEADING.match(line))
            first = _CLOCK.search("\n".join(titles))  # two sessions of one day
            return 2, document.day + (first[0].zfill(5) if first else ""), document.name
    return 1, "", document.name


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text: four characters each, or 0.7 per wide character."""
    wide = sum(ch > "\u2e80" for ch in text)
    return round((len(text) - wide) / 4 + wide * 0.7)


Part = tuple[Document, Sequence[tuple[int, str]]]
"""A document, with the rows to show of it as (line number, text). Other rows have number 0."""


class Batch(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The documents of one question."""

    parts: tuple[Part, ...]

    @property
    def files(self) -> dict[str, Document]:
        """Return the documents by the id that the question gives them."""
        return {f"F{n}": document for n, (document, _) in enumerate(self.parts, start=1)}

    @property
    def shown(self) -> dict[str, frozenset[int]]:
        """Return the numbers of the lines that are shown, by document id."""
        return {
            f"F{n}": frozenset(number for number, _ in rows if number)
            for n, (_, rows) in enumerate(self.parts, start=1)
        }

    @cached_property
    def terms(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """Return the terms of each shown line, by the number of its document and its own."""
        return {
            (at, n): self.terms_of(document.lines[n - 1])
            for at, (document, rows) in enumerate(self.parts)
            for n in (number for number, _ in rows if number)
        }

    def terms_of(self, text: str) -> frozenset[str]:
        """Return the stems of a text's words, by the rules of the documents' language."""
        small = small_words().get(self._language, frozenset())
        found = [word for word in content_words(text) if bare(word) not in small]
        return frozenset(stems(found, self._language))

    @cached_property
    def _language(self) -> str:
        text = "\n".join(self.topics)
        return language_of([word.casefold() for word in text.split()], text, 1)

    @cached_property
    def rarity(self) -> Mapping[str, float]:
        """Return the terms of the shown lines with their weights: rare terms count more."""
        count = Counter(term for terms in self.terms.values() for term in terms)
        return {term: log(1 + len(self.terms) / times) for term, times in count.items()}

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Return all headings and shown lines, which may name what a statement is about."""
        lines = [line for document, _ in self.parts for line in document.lines if is_heading(line)]
        lines += [d.lines[n - 1] for d, rows in self.parts for n, _ in rows if n]
        return tuple(dict.fromkeys(lines))

    @property
    def text(self) -> str:
        """Return the documents as the question shows them."""
        found: list[str] = []
        for id_, (document, rows) in zip(self.files, self.parts, strict=True):
            found += ["", _head(id_, document), *(row for _, row in rows)]
        return "\n".join(found).strip()

    def excerpt(self, wanted: Mapping[str, Collection[int]]) -> str:
        """Return some of the shown lines by document id, with the headings above them.

        Documents and lines have the numbers that they have in the whole question.
        """
        found: list[str] = []
        for (id_, document), (_, rows) in zip(self.files.items(), self.parts, strict=True):
            kept = [(n, row) for n, row in rows if n in wanted.get(id_, ())]
            found += ["", _head(id_, document)] if kept else []
            shown = {document.lines[n - 1] for n, _ in kept}
            for n, row in kept:
                above = [line for line in reversed(document.headings(n)) if line not in shown]
                shown.update(above)
                found += (*above, row)
        return "\n".join(found).strip()

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the resources of the documents, in order."""
        return tuple(document.resource for document, _ in self.parts)

    def halves(self) -> tuple[Batch, ...]:
        """Split the question into two, or return nothing if only one line is shown."""
        if len(self.parts) > 1:
            at = len(self.parts) // 2
            found = self.parts[:at], self.parts[at:]
        else:
            ((document, rows),) = self.parts
            at = len(rows) // 2
            if not at:
                return ()
            found = ((document, rows[:at]),), ((document, rows[at:]),)
        return tuple(Batch(parts=part) for part in found)


def pack(documents: Sequence[Document], limit: int) -> tuple[Batch, ...]:
    """Pack the new lines of documents into questions of at most `limit` tokens each.

    `documents` are all files, because a passage is hidden where an earlier file has it.
    """
    seen: dict[str, int] = {}
    parts: list[list[Part]] = []
    now: list[Part] = []
    size = 0
    for document in sorted(documents, key=_place):
        rows = [*_rows(document, seen)]
        if not any(number in document.new for number, _ in rows):
            continue
        cost = tokens_of("\n".join((_head("F99", document), *(text for _, text in rows))))
        if now and size + cost > limit:
            parts.append(now)
            now, size = [], 0
        if cost <= limit:
            now.append((document, rows))
            size += cost
            continue
        parts += [[(document, chunk)] for chunk in _chunks(rows, limit)]
    if now:
        parts.append(now)
    return tuple(Batch(parts=tuple(part)) for part in parts)


def _head(id_: str, document: Document) -> str:
    is_stated = document.kind == "log" or (document.as_of and document.is_whole)
    day = "" if is_stated else document.changed
    changed = f", as of {document.as_of}" if document.as_of else ""
    changed += f", changed {day}" if day else ""
    part = "" if document.is_whole else ", new lines" if document.kind == "log" else ", edited"
    return f"=== {id_} {document.name} ({document.kind}{part}{changed})"


def _chunks(rows: list[tuple[int, str]], limit: int) -> Iterator[list[tuple[int, str]]]:
    """Split the rows of a file that is too large, at headings if possible."""
    chunk: list[tuple[int, str]] = []
    size = 0
    for number, text in rows:
        cost = tokens_of(text + "\n")
        at_heading = re.match(r"\d+ #{1,2} ", text) and size > limit * MIN_CUT_SHARE
        if chunk and (size + cost > limit or at_heading):
            yield chunk
            chunk, size = [], 0
        chunk.append((number, text))
        size += cost
    yield chunk


def _rows(document: Document, seen: dict[str, int]) -> Iterator[tuple[int, str]]:
    """Yield the rows to show of a document as (line number, text). Other rows have number 0."""
    lines = document.lines
    visible = [
        n
        for n, line in enumerate(lines, start=1)
        if any(map(str.isalnum, line)) and n not in document.hidden
    ]
    template = template_lines(lines)
    visible = [n for n in visible if n not in template]
    broken = {n for n in visible if _ENCODED.search(lines[n - 1])}
    visible = [n for n in visible if n not in broken]
    again = _repeated(lines, visible, seen)
    wanted = _wanted(document, visible)
    last = 0
    if left_out := sorted(broken & document.new):
        yield 0, f"({left_out[0]}-{left_out[-1]}: {len(left_out)} encoded lines are left out)"
    for n in visible:
        if n in again or n not in wanted:
            continue
        gap = [m for m in range(last + 1, n) if m in again and m in document.new]
        if gap:
            yield 0, f"({gap[0]}-{gap[-1]}: {len(gap)} lines repeat earlier ones)"
        elif last and n > last + 1 and not document.is_whole:
            yield 0, "..."
        for m in range(last + 1, n + 1):
            for line in document.removed.get(m, ()):
                yield 0, f"- {line.strip()}"
        mark = "+ " if not document.is_whole and n in document.new else ""
        yield n, f"{n} {mark}{lines[n - 1].rstrip()}"
        last = n
    for m in sorted(m for m in document.removed if m > last):
        for line in document.removed[m]:
            yield 0, f"- {line.strip()}"


def _wanted(document: Document, visible: Sequence[int]) -> set[int]:
    """Return the lines to show: all of a new file, else the new ones with what is around them."""
    if document.is_whole:
        return set(visible)
    found = set(document.new)
    for number in (*document.new, *document.removed):
        if document.kind != "log":
            found.update(range(number - CONTEXT_LINES, number + CONTEXT_LINES + 1))
        above = 7
        for n in range(min(number - 1, len(document.lines)), 0, -1):
            heading = _HEADING.match(document.lines[n - 1])
            if heading and len(heading[1]) < above:
                above = len(heading[1])
                found.add(n)
    return found


def template_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines that many workspaces have from a shipped template.

    A label belongs to its own value, which may be on the line below it.
    """
    known = weights().templates
    shipped = ((n, line) for n, line in enumerate(lines, start=1) if line_hash(line) in known)
    return frozenset(n for n, line in shipped if not _LEAD_IN.search(line))


def _repeated(lines: Sequence[str], visible: Sequence[int], seen: dict[str, int]) -> set[int]:
    """Return the lines of passages that were shown before, and remember the new lines."""
    found: set[int] = set()
    run: list[int] = []

    def end() -> None:
        length = sum(len(lines[n - 1]) for n in run)
        if len(run) >= MIN_REPEATED_LINES and length > MIN_REPEATED_LENGTH:
            found.update(run)
        run.clear()

    for n in visible:
        key = " ".join(lines[n - 1].split())
        if key in seen or len(key) < 4:
            run.append(n)
        else:
            seen[key] = n
            end()
    end()
    return found


def blocks_of(batch: Batch) -> Iterator[str]:
    """Yield the shown text of each heading's block, with the heading and the file's name."""
    for document, rows in batch.parts:
        block: list[str] = [document.name]
        for n in (number for number, _ in rows if number):
            line = document.lines[n - 1]
            if _HEADING.match(line) and len(block) > 1:
                yield "\n".join(block)
                block = [document.name]
            block.append(line)
        yield "\n".join(block)


# -- the memories to show with a document ----------------------------------------------------------

PER_BLOCK, PER_LINE, PER_NAME = 5, 2, 5
"""Memories shown for the text under each heading, for each of its lines, and for each subject that
a line, a heading or the name of a file has, and of open ends."""
MIN_SHARED, MIN_COVER = 2, 0.25
"""Words, and share of a memory's weight, that a text must have in common with the memory."""
MAX_SHOWN = 120
"""Maximum memories shown with one question."""
SHOWN_SHARE = 0.5
"""Share of a question's length up to which more memories about the same subjects are shown."""
OPEN_TYPES = ("open_question", "commitment")
"""Types of memories that may be over without a word."""
SUBJECT_WEIGHT = 2.0
"""How much more a word of a memory's subject counts than another word."""

PAIR, MEMORIES_PER_PAIR = 0.3, 6
"""Share of their weight that two memories of a named pair have in common, and one pair of so many
memories is named."""
CROWD = 100
"""Number of memories up to which a word that they have makes two of them a pair."""


class Vocabulary:
    """The words of some memories with their weights: rare words and subjects count more.

    Words that more than `most` memories have find nothing by themselves.
    """

    def __init__(self, memories: Mapping[str, Memory], most: float = math.inf) -> None:
        subjects = {id_: content_words(m.subject) for id_, m in memories.items()}
        words = {id_: content_words(m.body) | subjects[id_] for id_, m in memories.items()}
        self._holders: dict[str, list[str]] = defaultdict(list)
        for id_, some in words.items():
            for word in some:
                self._holders[word].append(id_)
        self._crowd = {word for word, ids in self._holders.items() if len(ids) > most}
        self._every = len(words)
        self._weights = {
            id_: {
                word: self._rarity(word) * (SUBJECT_WEIGHT if word in subjects[id_] else 1.0)
                for word in some
            }
            for id_, some in words.items()
        }
        self._whole = {id_: math.fsum(weights.values()) for id_, weights in self._weights.items()}

    def _rarity(self, word: str) -> float:
        return math.log(1 + self._every / max(1, len(self._holders.get(word, ()))))

    def _shared(self, words: frozenset[str]) -> dict[str, list[float]]:
        """Return the weights of the words that each memory has in common with some words."""
        found: dict[str, list[float]] = defaultdict(list)
        for word in words - self._crowd:
            for id_ in self._holders.get(word, ()):
                found[id_].append(self._weights[id_][word])
        crowd = words & self._crowd
        for id_, common in found.items() if crowd else ():
            common += [self._weights[id_][word] for word in crowd & self._weights[id_].keys()]
        return found

    def covered(self, text: str) -> Iterator[tuple[float, str]]:
        """Yield (score, id) for the memories that share enough words with a text.

        The score is the weight of the shared words times their share of the memory's weight, so a
        memory that a text repeats comes before one that has a few words of a long text.
        """
        for id_, common in self._shared(content_words(text)).items():
            weight, whole = math.fsum(common), self._whole[id_]
            enough = len(common) >= min(MIN_SHARED, len(self._weights[id_]))
            if enough and weight >= MIN_COVER * whole:
                yield weight * weight / whole, id_

    def alike(self, memory: Memory) -> Iterator[tuple[float, str]]:
        """Yield (share, id) for the memories whose weights have the most in common with another."""
        subject = content_words(memory.subject)
        words = content_words(memory.body) | subject
        own = math.fsum(self._rarity(w) * (SUBJECT_WEIGHT if w in subject else 1.0) for w in words)
        for id_, common in self._shared(words).items():
            yield math.fsum(common) / math.sqrt(own * self._whole[id_]), id_


def pairs_alike(memories: Mapping[str, Memory]) -> list[tuple[str, str]]:
    """Return the pairs of memories that have most in common, in the order of the memories."""
    vocabulary, order = Vocabulary(memories, CROWD), {id_: n for n, id_ in enumerate(memories)}
    found = (
        (share, order[id_], order[other], id_, other)
        for id_, memory in memories.items()
        for share, other in vocabulary.alike(memory)
        if share >= PAIR and order[id_] < order[other]
    )
    best = nlargest(len(memories) // MEMORIES_PER_PAIR + 1, found)
    return [pair[3:] for pair in sorted(best, key=lambda one: one[1:3])]


def related(
    memories: Iterable[Memory],
    batch: Batch,
    citing: Collection[str] = (),
    names: Collection[str] = (),
) -> dict[str, Memory]:
    """Return the memories to show with a question, by short id.

    These are memories that cite removed lines (`citing` has their ids), those that contain a
    removed value, for each block of the text and each of its lines those that share most of their
    rare words with it, the newest about each subject that the text names, and the newest open ends.
    As far as there is room follow the others that have a value of the text, its subjects, or an
    open end. Who owner and agent are, by their `names`, is always shown: texts call them "he", "I".
    """
    every = {memory.id: memory for memory in memories}
    wanted: dict[str, float] = {id_: math.inf for id_ in citing if id_ in every}
    removed = [row for d in batch.files.values() for rows in d.removed.values() for row in rows]
    for value in {normalise(v) for row in removed for v in literals_of(row)}:
        wanted |= {i: math.inf for i, m in every.items() if value in normalise(m.body)}
    vocabulary = Vocabulary(every)
    blocks = [*blocks_of(batch), *removed]
    lines = {line for block in blocks for line in block.splitlines()[1:]}
    for texts, most in ((blocks, PER_BLOCK), (sorted(lines), PER_LINE)):
        for text in texts:
            found = sorted(vocabulary.covered(text), key=lambda one: (-one[0], every[one[1]].body))
            for score, id_ in found[:most]:
                wanted[id_] = max(score, wanted.get(id_, 0.0))
    named = _named(every, batch)
    newest = [id_ for some in named for id_ in some[:PER_NAME]]
    late = sorted(every.values(), key=lambda m: (m.captured, m.body), reverse=True)
    ends = [m.id for m in late if m.type in OPEN_TYPES]
    for id_ in (*newest, *ends[:PER_NAME], *_persons(every, names)):
        wanted.setdefault(id_, 0.0)
    chosen = sorted(wanted, key=lambda id_: (-wanted[id_], every[id_].body))
    values = {normalise(value) for line in lines for value in literals_of(line)}
    valued = (
        i for i, m in every.items() if not values.isdisjoint(map(normalise, literals_of(m.body)))
    )
    others = [*valued, *(id_ for some in named for id_ in some[PER_NAME:]), *ends]
    room = SHOWN_SHARE * tokens_of(batch.text)
    room -= sum(tokens_of(every[id_].body) for id_ in chosen)
    for id_ in (one for one in dict.fromkeys(others) if one not in wanted):
        room -= tokens_of(every[id_].body)
        if room < 0:
            break
        chosen.append(id_)
    return short_ids(every[id_] for id_ in chosen[:MAX_SHOWN])


def _named(memories: Mapping[str, Memory], batch: Batch) -> list[list[str]]:
    """Return the memories about each subject that a line or file name has, the newest first."""
    lines = {document.name for document in batch.files.values()}
    for document, rows in batch.parts:
        for number in (n for n, _ in rows if n):
            lines.update((document.lines[number - 1], *document.headings(number)))
    named = [content_words(line) for line in lines]
    about: dict[frozenset[str], list[Memory]] = defaultdict(list)
    for memory in sorted(memories.values(), key=lambda m: m.body):
        if words := content_words(memory.subject):
            about[words].append(memory)
    return [
        [m.id for m in sorted(some, key=lambda m: m.captured, reverse=True)]
        for words, some in about.items()
        if any(words <= line for line in named)
    ]


def _persons(memories: Mapping[str, Memory], names: Collection[str]) -> Iterator[str]:
    """Yield the memories that say who the owner or the agent is, at most some of each."""
    for words in filter(None, map(content_words, names)):
        mine = (m for m in memories.values() if m.type == "identity" and m.subject)
        found = sorted((m.body, m.id) for m in mine if content_words(m.subject) <= words)
        yield from (id_ for _, id_ in found[:PER_NAME])


def day_of(memory: Memory) -> str:
    """Return the day on which a memory was last stated, or an empty string if no text dates it."""
    dated = (s.captured[:10] for s in memory.sources if s.captured_from not in ("", "commit"))
    return max(dated, default="")


def short_ids(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return memories by short ids, in order of subject and day, else of their texts."""
    ordered = sorted(memories, key=lambda m: (m.subject, m.captured[:10], m.body, m.type))
    return {f"m{n}": memory for n, memory in enumerate(ordered, start=1)}
