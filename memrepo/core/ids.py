"""Normalised text, ids, slugs and paths: the identity of a memory, fixed at birth.

Ids are sha-256 over a JSON array of normalised parts; there is no stemming and no folding of
plurals or articles here (those belong to reuse keys only).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterable
from datetime import datetime
from itertools import count

from memrepo.core.patterns import regex
from memrepo.core.times import format_time

ID_PATTERN = regex(r"mem-[0-9a-f]{16}")
TEXT_HASH_PATTERN = regex(r"th-[0-9a-f]{16}")
SLUG_LENGTH = 60

_MARKER = regex(r"^(?:[-*+•]|\d{1,9}[.)])\s+")
_CHECKBOX = regex(r"^\[[ xX]\]\s+")
_LEADING_DATE = regex(r"^[\[(]?\d{4}-\d{2}-\d{2}[\])]?(?:\s*[:–—-])?\s+")
_BLANKS = regex(r"\s+")
_NOT_SLUG = regex(r"[^a-z0-9]+")
TAG_PATTERN = r"\w[\w./:+#-]*"
"""What a tag looks like by default: one word, such as `garden`, `project/shed` or `c++`."""
_NOT_TAG = regex(r"[^\w./:+#]+")


def visible(text: str) -> str:
    """Drop invisible characters: format controls (zero width, bidi), other controls but blanks."""
    if text.isprintable() or "".join(text.split()).isprintable():
        return text  # as nearly all: what is dropped is neither blank nor printable
    return "".join(
        ch
        for ch in text
        if ch.isprintable()
        or ch.isspace()
        or unicodedata.category(ch) not in ("Cf", "Cc", "Cs", "Co")
    )


def normalise(text: str) -> str:
    """Fold to NFKC, lower case and single blanks, without invisible characters."""
    if text.isascii():  # most text is, and runs fold all of it: the same, without the tables
        return " ".join(visible(text).lower().split())
    folded = unicodedata.normalize("NFKC", visible(text)).casefold()
    # Case folding can leave a decomposable sequence behind; a second pass makes this idempotent.
    folded = unicodedata.normalize("NFKC", visible(folded))
    return _BLANKS.sub(" ", folded).strip()


def strip_marker(text: str) -> str:
    """Drop a leading list marker, checkbox and date, in this order."""
    text = text.strip()
    for pattern in (_MARKER, _CHECKBOX, _LEADING_DATE):
        text = pattern.sub("", text, count=1)
    return text.strip()


def normal_claim(text: str) -> str:
    """Normalise a claim's text for comparison: without list marker, checkbox or leading date."""
    return normalise(strip_marker(text))


def digest(parts: Iterable[object]) -> str:
    """Return the sha-256 hex of a JSON array of parts (compact, non-ASCII kept)."""
    import hashlib
    import json

    blob = json.dumps(list(parts), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()


def text_hash(text: str) -> str:
    """Return `th-<16 hex>` of a normalised text: equal texts meet whatever file they stand in."""
    return f"th-{digest([normal_claim(text)])[:16]}"


def claim_id(*, scope: str, subject: str, predicate: str, object_: str, text: str) -> str:
    """Return the id of a claim: `mem-<16 hex>` over scope, triple and text, all normalised."""
    parts = [normalise(scope), *(normalise(p) for p in (subject, predicate, object_))]
    return f"mem-{digest([*parts, normal_claim(text)])[:16]}"


def note_id(*, resource: str, text: str, occurrence: int) -> str:
    """Return the id of a note: over resource, normalised text and n-th occurrence (from 0)."""
    return f"mem-{digest(['note', resource, normalise(text), occurrence])[:16]}"


def manual_id(
    *, created: datetime, text: str, scope: str = "", type_: str = "", taken: Container[str] = ()
) -> str:
    """Return the id of a hand-made memory: over creation time, text, scope and type.

    An id among those `taken` is passed over: the same was written, and forgotten, in one second.
    """
    parts = ["manual", format_time(created), normal_claim(text), normalise(scope), type_]
    turns = (f"mem-{digest([*parts, turn] if turn else parts)[:16]}" for turn in count())
    return next(id_ for id_ in turns if id_ not in taken)


def stem_of(text: str) -> str:
    """Return the words of a text as a file name that every file system holds, in their own script.

    A letter beyond ASCII takes the room of two.
    """
    plain = strip_marker(text)
    if plain.isascii():
        return slugify(plain)
    kept = "".join(ch if unicodedata.category(ch)[0] in "LMN" else "-" for ch in normalise(plain))
    words = [word for part in kept.split("-") if (word := _unmarked(part))]
    stem, room = "", SLUG_LENGTH
    for word in words:
        wide = sum(1 + (ch > "\x7f") for ch in word) + bool(stem)
        if wide > room:
            stem = stem or _narrowed(word)
            break
        stem, room = f"{stem}-{word}".lstrip("-"), room - wide
    return stem or "memory"


def _unmarked(word: str) -> str:
    """Return a word without the marks at its beginning, which would sit on what is before."""
    while word and unicodedata.category(word[0])[0] == "M":
        word = word[1:]
    return word


def _narrowed(word: str) -> str:
    """Return the beginning of a word without spaces, as of Chinese, that has no room."""
    end, room = 0, SLUG_LENGTH
    for end, ch in enumerate(word):  # noqa: B007 - where it stops is asked for
        room -= 1 + (ch > "\x7f")
        if room < 0:
            break
    return word[:end]


def slugify(text: str) -> str:
    """Make a slug `[a-z0-9-]{1,60}` from the birth text; other scripts are transliterated."""
    plain = strip_marker(text)
    if not plain.isascii():
        from anyascii import anyascii

        plain = anyascii(unicodedata.normalize("NFKC", visible(plain)))
    slug = _NOT_SLUG.sub("-", plain.lower()).strip("-")
    if len(slug) > SLUG_LENGTH:
        cut = slug[: SLUG_LENGTH + 1].rfind("-")
        slug = slug[: cut if cut >= SLUG_LENGTH // 2 else SLUG_LENGTH].strip("-")
    return slug or "memory"


def as_tag(text: str) -> str:
    """Return a text as a tag: hyphens for what no tag holds; empty where nothing is left."""
    return _NOT_TAG.sub("-", text.strip()).lstrip("-./:+#").rstrip("-")
