"""Text normalization, ids, slugs and file names. The id of a memory is never changed.

Ids are SHA-256 hashes of a JSON array of normalized parts. Words are not stemmed, and plurals and
articles are not folded here. Only reuse keys do that.
"""

from __future__ import annotations

import re
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
TAG_PATTERN = r"\w[\w./:+#-]*"
"""The default pattern of a tag: one word, such as `garden`, `project/shed` or `c++`."""
_NOT_TAG = regex(r"[^\w./:+#]+")


def visible(text: str) -> str:
    """Remove invisible characters: format characters (zero width, bidi) and non-blank controls."""
    if text.isprintable() or "".join(text.split()).isprintable():
        return text  # the common case: nothing to remove
    return "".join(
        ch
        for ch in text
        if ch.isprintable()
        or ch.isspace()
        or unicodedata.category(ch) not in ("Cf", "Cc", "Cs", "Co")
    )


_DECEPTIVE = regex(
    "[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
    "\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]"
)
"""Characters that hide text or show it in another order. Written as escapes: they deceive here too.
"""
# The flag of a region (such as England) is a black flag followed by tag characters.
_FLAG = regex("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")


def find_deceptive(text: str) -> list[re.Match[str]]:
    """Return the deceptive characters of a text: its bidi controls, tags, and invisible ones.

    A byte order mark at the start, joiners between letters, and tags in flags are needed.
    """
    if text.isascii():
        return []
    flags = [match.span() for match in _FLAG.finditer(text)]
    return [
        m
        for m in _DECEPTIVE.finditer(text)
        if not (m.start() == 0 and m[0] == "\ufeff")
        and not any(a <= m.start() < b for a, b in flags)
    ]


def strip_deceptive(text: str) -> str:
    """Return a text without deceptive characters."""
    parts, at = [], 0
    for match in find_deceptive(text):
        parts.append(text[at : match.start()])
        at = match.end()
    return "".join((*parts, text[at:])) if parts else text


def normalise(text: str) -> str:
    """Normalize a text to case-folded NFKC with single blanks and without invisible characters."""
    if text.isascii():  # the common case: the same result without Unicode tables, which is faster
        return " ".join(visible(text).lower().split())
    folded = unicodedata.normalize("NFKC", visible(text)).casefold()
    # Case folding can produce a decomposed sequence. A second pass makes this function idempotent.
    folded = unicodedata.normalize("NFKC", visible(folded))
    return " ".join(folded.split())


def strip_marker(text: str) -> str:
    """Remove a leading list marker, then a checkbox, then a date, each if present."""
    text = text.strip()
    for pattern in (_MARKER, _CHECKBOX, _LEADING_DATE):
        text = pattern.sub("", text, count=1)
    return text.strip()


def normal_claim(text: str) -> str:
    """Normalize a claim for comparison. List marker, checkbox and leading date are removed."""
    return normalise(strip_marker(text))


def digest(parts: Iterable[object]) -> str:
    """Return the SHA-256 hex digest of the parts as compact JSON. Non-ASCII is not escaped."""
    import hashlib
    import json

    blob = json.dumps(list(parts), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()


def blob_id(data: bytes, digits: int = 40) -> str:
    """Return the id that git gives to a blob, in a repository whose ids have so many digits."""
    import hashlib

    made = hashlib.sha1 if digits == 40 else hashlib.sha256
    return made(b"blob %d\0" % len(data) + data).hexdigest()


def text_hash(text: str) -> str:
    """Return the hash `th-<16 hex>` of a text after normalization.

    Equal texts in any file have equal hashes.
    """
    return f"th-{digest([normal_claim(text)])[:16]}"


def claim_id(*, scope: str, subject: str, predicate: str, object_: str, text: str) -> str:
    """Return the id `mem-<16 hex>` of a claim, a hash of its normalized scope, triple and text."""
    parts = [normalise(scope), *(normalise(p) for p in (subject, predicate, object_))]
    return f"mem-{digest([*parts, normal_claim(text)])[:16]}"


def note_id(*, resource: str, text: str, occurrence: int) -> str:
    """Return the id of a note, a hash of its resource, normalized text and occurrence (from 0)."""
    return f"mem-{digest(['note', resource, normalise(text), occurrence])[:16]}"


def manual_id(
    *, created: datetime, text: str, scope: str = "", type_: str = "", taken: Container[str] = ()
) -> str:
    """Return the id of a memory added by hand, a hash of its creation time, text, scope and type.

    Skip ids in `taken`: the same text may have been added and forgotten in the same second.
    """
    parts = ["manual", format_time(created), normal_claim(text), normalise(scope), type_]
    turns = (f"mem-{digest([*parts, turn] if turn else parts)[:16]}" for turn in count())
    return next(id_ for id_ in turns if id_ not in taken)


def slugify(text: str) -> str:
    """Build a slug from the words of a text, in the script of the text.

    The length is limited to what every file system supports. A non-ASCII character counts as two.
    """
    plain = normalise(strip_marker(text))
    kept = "".join(ch if unicodedata.category(ch)[0] in "LMN" else "-" for ch in plain)
    words = [word for part in kept.split("-") if (word := _unmarked(part))]
    slug, room = "", SLUG_LENGTH
    for word in words:
        wide = sum(1 + (ch > "\x7f") for ch in word) + bool(slug)
        if wide > room:
            slug = slug or _narrowed(word)
            break
        slug, room = f"{slug}-{word}".lstrip("-"), room - wide
    return slug or "memory"


def _unmarked(word: str) -> str:
    """Remove leading combining marks, which would attach to the character before the text."""
    while word and unicodedata.category(word[0])[0] == "M":
        word = word[1:]
    return word


def _narrowed(word: str) -> str:
    """Truncate a word too long for a slug, such as Chinese text without blanks."""
    end, room = 0, SLUG_LENGTH
    for end, ch in enumerate(word):  # noqa: B007 - the loop variable is used after the loop
        room -= 1 + (ch > "\x7f")
        if room < 0:
            break
    return word[:end]


def as_tag(text: str) -> str:
    """Convert a text to a tag.

    Replace invalid characters with hyphens. Return an empty string if nothing remains.
    """
    return _NOT_TAG.sub("-", text.strip()).lstrip("-./:+#").rstrip("-")
