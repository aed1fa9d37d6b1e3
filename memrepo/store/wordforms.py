"""Find indexed words that are spelled similarly to a word which no memory contains.

Trigrams of the words in Latin letters find typos, inflected or transliterated names, and parts of
compounds. Trigrams are collected on first use. Later, only the words of new rows are added.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from memrepo.core.patterns import regex
from memrepo.text.words import is_spaceless

LEAST = 0.45
"""Minimum Dice similarity of two words' trigrams for one to match the other."""
CHARACTER = 0.05
"""Weight of a character of a pair that is not in the index."""
_PART = 0.6
"""Similarity of a word to a compound that begins or ends with this word, and vice versa."""
_LETTERS = 5
"""Minimum number of letters in a part of a compound."""
_LONG = 8
"""Number of letters from which two typos in a word are likely."""
_SHORT = 4
"""Maximum length of words in which replacing a letter gives another word: golf, gold."""
_ENDING = 3
"""Maximum number of letters in an inflectional ending."""
_VOWELS = frozenset("aeiouy")
_MOST = 4
_NEAR = 0.8
"""Minimum similarity of a match, as a share of the best match's similarity."""
_PROPOSED = 100
_WORD = regex(r"[^\W\d_]{4,40}")
_KEY = "wordforms"


def alike(base: sqlite3.Connection, term: str, *, inflects: bool) -> Mapping[str, float]:
    """Return {word: similarity} of indexed words that are spelled similarly to a term.

    If `inflects` is set, the language inflects or compounds words more than English, and trigrams
    decide. Otherwise only typos count as similar, except for words in another script.
    """
    if is_spaceless(term):
        return dict.fromkeys(term, CHARACTER) if len(term) > 1 else {}
    wanted = latin(term)
    if not _WORD.fullmatch(wanted):
        return {}
    try:
        _gather(base)
    except sqlite3.OperationalError:
        return {}  # the file is not writable, or another process writes
    either = " OR ".join(f'"{gram}"' for gram in sorted(_grams(wanted)))
    rows = base.execute(
        "SELECT latin, term FROM wordforms WHERE wordforms MATCH ? ORDER BY rank LIMIT ?",
        (either, _PROPOSED),
    )
    found = {
        other: _likeness(wanted, written[1:-1])
        for written, other in rows
        if other != term
        and (
            term.isascii() != other.isascii()  # another script is evidence enough
            or _is_near(wanted, written[1:-1], inflects=inflects or not term.isascii())
        )
    }
    best = max(found.values(), default=0.0)
    near = sorted((-value, other) for other, value in found.items() if value >= LEAST)
    return {other: -value for value, other in near[:_MOST] if -value >= _NEAR * best}


def _is_near(one: str, other: str, *, inflects: bool) -> bool:
    """Return whether two Latin-script words may be the same word with a typo or another ending.

    A part of a compound must be long enough, because a short word ends many others.
    """
    if _is_slip(one, other):
        return True
    short, long = sorted((one, other), key=len)
    is_part = long.startswith(short) or long.endswith(short)
    if is_part and len(short) < _LETTERS and len(long) - len(short) > _ENDING:
        return False
    return inflects and not _share_a_head_alone(one, other)


def _share_a_head_alone(one: str, other: str) -> bool:
    """Return whether two words share only their beginning, such as unicorn and Unicode.

    Endings are short and contain a vowel. The endings of one word may differ completely.
    """
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return False  # one begins with the other
    if not at:  # a prefix, as of a participle, or different words with the same end
        return not (one.endswith(other) or other.endswith(one))
    rest, others = one[at:], other[at:]
    endings = all(len(tail) <= _ENDING and not _VOWELS.isdisjoint(tail) for tail in (rest, others))
    return not endings and _ends(rest).isdisjoint(_ends(others))


def _ends(tail: str) -> frozenset[str]:
    """Return the trigrams of the end of a word, including a mark for the word's end."""
    written = f"{tail}$"
    return frozenset(written[i : i + 3] for i in range(max(1, len(written) - 2)))


def _is_slip(one: str, other: str) -> bool:
    """Return whether two words differ only by a typo: a missing, added, wrong or swapped letter.

    Long words may have two typos. The first letter is rarely wrong. In a short word, a replaced
    letter makes another word.
    """
    if len(one) == len(other) <= _SHORT and sorted(one) != sorted(other):
        return False
    slips = 1 + (min(len(one), len(other)) >= _LONG)
    if abs(len(one) - len(other)) > slips or one[:1] not in other[:2]:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1] <= slips


def latin(term: str) -> str:
    """Convert a word to lower-case Latin letters."""
    if term.isascii():
        return term
    from anyascii import anyascii

    return anyascii(term).lower()


def _likeness(one: str, other: str) -> float:
    a, b = _grams(one), _grams(other)
    dice = 2 * len(a & b) / (len(a) + len(b))
    short, long = sorted((one, other), key=len)
    part = len(short) >= _LETTERS and (long.startswith(short) or long.endswith(short))
    return max(dice, _PART if part else 0.0)


def _grams(word: str) -> frozenset[str]:
    edged = f"^{word}$"
    return frozenset(edged[i : i + 3] for i in range(len(edged) - 2))


def _gather(base: sqlite3.Connection) -> None:
    """Add the words from index rows that were added since the last call."""
    row = base.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    (last,) = base.execute("SELECT coalesce(max(number), 0) FROM memory").fetchone()
    upto = int(row[0]) if row else 0
    if upto == last:
        return
    if upto:
        rows = base.execute("SELECT terms FROM memory WHERE number > ?", (upto,))
        new = {term for (terms,) in rows for term in terms.split()}
        known = (
            new & {t for (t,) in base.execute("SELECT term FROM wordforms")} if new else frozenset()
        )
        _take(base, new - known)
    else:
        _take(base, (term for (term,) in base.execute("SELECT term FROM vocabulary").fetchall()))
    base.execute("REPLACE INTO meta VALUES (?, ?)", (_KEY, str(last)))


def _take(base: sqlite3.Connection, found: Iterable[str]) -> None:
    rows = ((latin(term), term) for term in sorted(found))
    base.executemany(
        "INSERT INTO wordforms VALUES (?, ?)",
        [
            (f"^{written}$", term)
            for written, term in rows
            if _WORD.fullmatch(written) and not is_spaceless(term)
        ],
    )
