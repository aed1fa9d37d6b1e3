"""A value taken out of texts, names and messages, with everything that was hashed from it.

Pure: what is given is bytes as history holds them, what comes back is what a rewritten history
holds in their place. Lines keep their number, and what has no trace of the value its bytes.

Ids are hashes of texts. One that was made from the value would confirm a guess of it, and so each
such id has another one (`Edit.ids`), wherever it is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Protocol

import msgspec

from memrepo.core.layout import Kind, stamped, standing_of
from memrepo.core.needles import LEAST, Needle, cut_short, find, fold, replaced
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import Span
from memrepo.core.secrets import MARK

NAME_MARK = "purged"
_ID = regex(r"\b(?:mem|th|un|cand|con|cl|ts|tx|tk)-[0-9a-f]{16}(?:[0-9a-f]{16})?\b")
_OBJECT = regex(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])")
_SHORT = regex(r"(?<![0-9a-zA-Z-])[0-9a-f]{7,39}(?![0-9a-zA-Z-])")
_HASHED = regex(r"(?<![0-9a-zA-Z])[0-9a-f]{12,64}(?![0-9a-zA-Z])|-[0-9a-f]{6}(?=\.md)")
_PRINT = regex(r"(mem-[0-9a-f]{16}):([0-9a-f]{12})(?![0-9a-f])")
_PAIR = regex(r"(?<=\")[0-9a-f]{16}(?=\")")
_STEM = regex(r"(?<![a-z0-9-])[a-z0-9][a-z0-9-]*-[0-9a-f]{6}(?![0-9a-zA-Z-])")
_TOKENS = regex(r"^tokens:.*\n(?:[ -].*\n)*", re.MULTILINE)
_WORD = regex(r"(?<![0-9a-z])[0-9a-f]{4}(?![0-9a-z])")
_TOMBSTONE = regex(r"^key: (ts-[0-9a-f]{16})$", re.MULTILINE)
_FOLDER = regex(r"[0-9a-f]{2}")
_WAS = regex(r"\(was: ([^\n]*?)…?(?: and \d+ more)?[)…](?=\n|$)")
"""The old words in the subject of a supersession (`core.messages`)."""

_KINDS: tuple[Kind, ...] = ("hot", "view")
WORD = regex(r"[^\W_]+")
_FIELD = regex(
    r"^(?:title|description|entities|tags|subject|object|key|value):.*\n(?:[ -].*\n)*", re.MULTILINE
)
"""Fields of a header that are words of the memory's text."""


class Objects(Protocol):
    """What an edit asks of the history that is rewritten."""

    def new(self, id_: str) -> str:
        """Return what is there now in place of an object; the same id where nothing is."""

    def new_short(self, digits: str) -> str:
        """Return the same for a commit that is named by its first digits."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken out, and what stands for what was hashed from it.

    `names` holds the names of files, without their ending, that end in the digits of an id, `parts`
    those of other files and folders; `seed` makes them differ, and tells nobody what they were.
    """

    needles: tuple[Needle, ...]
    seed: str
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    parts: Mapping[str, str] = msgspec.field(default_factory=dict)
    prints: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Fingerprints of changes and of pairs that were compared, which tell a text as an id does."""
    words: frozenset[str] = frozenset()
    """Folded words that only the value has: pages and a memory's header may hold them alone."""

    # -- texts -------------------------------------------------------------------------------

    def spans(self, text: str) -> list[Span]:
        """Return where the value stands; within a longer hash a number is none."""
        spans = find(text, self.needles)
        if not spans:
            return spans
        hashed = [match.span() for match in _HASHED.finditer(text)]
        return [
            (start, end)
            for start, end in spans
            if not any(a <= start and end <= b and b - a > end - start for a, b in hashed)
        ]

    def holds(self, data: bytes) -> int:
        """Return how often the value stands in some bytes, or a word that only it has."""
        text = _text(data)
        spans = self.spans(text)
        words = self._words_in(text, data)
        return len(spans) + sum(not any(a <= start < b for a, b in spans) for start, _ in words)

    def _words_in(self, text: str, data: bytes) -> list[Span]:
        """Return where words that only the value has stand in a page or beside the value."""
        parts: list[Span] = []
        if not self.words:
            return parts
        if is_page(data):
            parts = [(0, len(text))]
        elif text.startswith("---\n") and (MARK in text or self.spans(text)):
            head = text.find("\n---\n")
            parts = [match.span() for match in _FIELD.finditer(text, 0, max(head, 0) + 1)]
        words = (word for start, end in parts for word in WORD.finditer(text, start, end))
        return [word.span() for word in words if fold(word[0]) in self.words]

    def text(self, text: str, objects: Objects) -> str:
        """Return a text without the value, every id in it as it is called now."""
        if self.names:
            text = _STEM.sub(lambda m: self.names.get(m[0], m[0]), text)
        if self.parts:
            text = _any_of(tuple(self.parts)).sub(lambda m: self.parts[m[0]], text)
        if self.ids or self.prints:
            text = _PRINT.sub(lambda m: f"{m[1]}:{self._print(m[1], m[2])}", text)
            text = _PAIR.sub(lambda m: self.prints.get(m[0], m[0]), text)
            text = _ID.sub(lambda m: self.ids.get(m[0], m[0]), text)
        text = _OBJECT.sub(lambda m: objects.new(m[0]), text)
        spans = self.spans(text)
        return replaced(text, spans) if spans else text

    def file(self, data: bytes, objects: Objects) -> bytes:
        """Return a file without the value; a page of ours has its stamp anew."""
        before = _text(data)
        after = self.text(before, objects)
        if words := self._words_in(after, data):
            after = replaced(after, words, MARK if is_page(data) else NAME_MARK)
        if after == before:
            return data
        for kind in _KINDS:
            if standing_of(kind, data) == "ours":
                return stamped(kind, after.partition("\n")[2])
        if stone := _TOMBSTONE.search(before):
            return self._tombstone(data, after, mixed=stone[1] in self.ids)
        return after.encode("utf-8", "surrogateescape")

    def _tombstone(self, data: bytes, after: str, *, mixed: bool) -> bytes:
        """Return a tombstone under a seal of what it says now, if it was as memrepo wrote it."""
        from memrepo.merge.tombstones import Tombstone, read_tombstone, resealed

        if mixed:
            after = _TOKENS.sub(lambda m: _WORD.sub(lambda w: self.mixed(w[0])[:4], m[0]), after)
        made = after.encode("utf-8", "surrogateescape")
        name = _TOMBSTONE.search(_text(data))
        was = read_tombstone(f"{name[1]}.md" if name else "", data)
        return resealed(made) if isinstance(was, Tombstone) else made

    def message(self, data: bytes, objects: Objects) -> bytes:
        """Return a commit's or a tag's message without the value; short ids of commits too."""
        text = self.text(_text(data), objects)
        text = _SHORT.sub(lambda m: objects.new_short(m[0]), text)
        text = _WAS.sub(lambda m: f"(was: {MARK})" if self._is_part(m[1]) else m[0], text)
        return text.encode("utf-8", "surrogateescape")

    def _is_part(self, words: str) -> bool:
        """Tell whether words stand within the value: a subject has only the end of a text."""
        letters = fold(words)
        return len(letters) >= LEAST and any(letters in needle.letters for needle in self.needles)

    def who(self, line: bytes) -> bytes:
        """Return an author, tagger or committer without the value."""
        text = _text(line)
        name, mail, when = text.partition(" <")
        who, sign, rest = when.rpartition("> ")
        parts = (replaced(part, self.spans(part)) for part in (name, who))
        if not sign:
            return replaced(text, self.spans(text)).encode("utf-8", "surrogateescape")
        name, who = parts
        return f"{name}{mail}{who}{sign}{rest}".encode("utf-8", "surrogateescape")

    # -- names -------------------------------------------------------------------------------

    def path(self, path: str) -> str:
        """Return what a file is called now; the folder that repeats an id's digits goes with it."""
        parts: list[str] = []
        for part in path.split("/"):
            stem, dot, ending = part.rpartition(".")
            new = (
                self.names.get(stem, "") + dot + ending if stem in self.names else self._name(part)
            )
            if parts and new != part and _FOLDER.fullmatch(parts[-1]):
                parts[-1] = _folder(parts[-1], part, new)
            parts.append(new)
        return "/".join(parts)

    def _name(self, part: str) -> str:
        part = _ID.sub(lambda m: self.ids.get(m[0], m[0]), part)
        spans = self.spans(part)
        if not spans:
            return part
        # Two names that differed in the value alone still differ.
        return replaced(part, spans, f"{NAME_MARK}-{self.mixed(part)[:6]}")

    def stem(self, slug: str) -> str:
        """Return a slug without the value, or without what its bound left of it."""
        spans = find(slug, self.needles)
        cut = cut_short(slug, len(slug), self.needles)
        if cut is not None and not any(end == cut[1] for _, end in spans):
            spans = [span for span in spans if span[1] <= cut[0]] + [cut]
        return replaced(slug, spans, NAME_MARK)

    def another(self, id_: str) -> str:
        """Return another id of the same kind, for one that cannot be made from the new text."""
        kind, _, digits = id_.partition("-")
        return f"{kind}-{self.mixed(id_)[: len(digits)]}"

    def _print(self, memory: str, digits: str) -> str:
        found = self.prints.get(digits)
        if found is None:
            found = self.mixed(digits)[:12] if memory in self.ids else digits
        return found

    def mixed(self, said: str) -> str:
        """Return 64 hex digits that nobody can make who does not know the seed."""
        return sha256(f"{self.seed}\0{said}".encode("utf-8", "surrogateescape")).hexdigest()


def is_page(data: bytes) -> bool:
    """Tell whether some bytes are a page that memrepo drew, a hand's changes or none."""
    return any(standing_of(kind, data) != "foreign" for kind in _KINDS)


@lru_cache(maxsize=8)
def _any_of(parts: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds parts of paths: a file by its name and ending, a folder beside a slash."""
    longest = sorted(parts, key=lambda part: (-len(part), part))
    files = "|".join(re.escape(part) for part in longest if "." in part) or r"(?!)"
    folders = "|".join(re.escape(part) for part in longest if "." not in part) or r"(?!)"
    return re.compile(
        rf"(?<![\w.-])(?:{files})(?![\w.-])|(?<=/)(?:{folders})(?![\w.-])|(?<![\w.-])(?:{folders})(?=/)"
    )


def _folder(folder: str, before: str, after: str) -> str:
    """Return a folder of two digits: those of an id in the name of the file below it."""
    olds, news = (regex(r"-([0-9a-f]{6,})(?:\.\w+)?$").search(name) for name in (before, after))
    if olds and news and olds[1].startswith(folder):
        return news[1][:2]
    return folder


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
