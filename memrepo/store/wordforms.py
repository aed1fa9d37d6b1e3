"""Words of the index that are spelled nearly like one that no memory holds.

A typo, an inflected or transliterated name, a part of a compound: trigrams of the words in Latin
letters tell. They are gathered when they are first asked for, and then those of new rows alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from memrepo.core.patterns import regex
from memrepo.text.tokens import is_spaceless

LEAST = 0.45
"""Dice's likeness of the trigrams of two words, from which on one may stand for the other."""
CHARACTER = 0.05
"""What a character of a pair counts that nothing holds."""
_PART = 0.6
"""How far a word stands for a compound that begins or ends with it, or for a part of it."""
_LETTERS = 5
"""Letters that a part of a compound has at least."""
_LONG = 8
"""Letters of a word from which on two slips are likely."""
_SHORT = 4
"""Letters of a word up to which another letter in it makes another word: golf, gold."""
_ENDING = 3
"""Letters that an ending has at most by which two words are forms of one."""
_VOWELS = frozenset("aeiouy")
_MOST = 4
_NEAR = 0.8
"""Words less like than this share of the likest do not count."""
_PROPOSED = 100
_WORD = regex(r"[^\W\d_]{4,40}")
_KEY = "wordforms"


def alike(base: sqlite3.Connection, term: str, *, inflects: bool) -> Mapping[str, float]:
    """Return words that are spelled nearly like a term, by likeness; it may be none itself.

    Where the language inflects and joins its words more than English does, trigrams tell; else
    only what a slip of the finger makes of a word is alike, unless letters of another script are.
    """
    if is_spaceless(term):
        return dict.fromkeys(term, CHARACTER) if len(term) > 1 else {}
    wanted = latin(term)
    if not _WORD.fullmatch(wanted):
        return {}
    try:
        _gather(base)
    except sqlite3.OperationalError:
        return {}  # it cannot be written, or another process writes
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
            term.isascii() != other.isascii()  # letters of another script are their own proof
            or _is_near(wanted, written[1:-1], inflects=inflects or not term.isascii())
        )
    }
    best = max(found.values(), default=0.0)
    near = sorted((-value, other) for other, value in found.items() if value >= LEAST)
    return {other: -value for value, other in near[:_MOST] if -value >= _NEAR * best}


def _is_near(one: str, other: str, *, inflects: bool) -> bool:
    """Return whether two words in Latin letters may be one: by a slip, or by their endings.

    A part of a compound is a word of its own; what is shorter is the end of many.
    """
    if _is_slip(one, other):
        return True
    short, long = sorted((one, other), key=len)
    is_part = long.startswith(short) or long.endswith(short)
    if is_part and len(short) < _LETTERS and len(long) - len(short) > _ENDING:
        return False
    return inflects and not _share_a_head_alone(one, other)


def _share_a_head_alone(one: str, other: str) -> bool:
    """Return whether two words begin alike and go on as different words do: unicorn, Unicode.

    Endings are short and hold a vowel: those of one word may differ altogether.
    """
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return False  # one begins with the other
    if not at:  # a syllable before, as of a participle, or other words with the same end
        return not (one.endswith(other) or other.endswith(one))
    rest, others = one[at:], other[at:]
    endings = all(len(tail) <= _ENDING and not _VOWELS.isdisjoint(tail) for tail in (rest, others))
    return not endings and _ends(rest).isdisjoint(_ends(others))


def _ends(tail: str) -> frozenset[str]:
    """Return the trigrams of what a word goes on with, its end among them."""
    written = f"{tail}$"
    return frozenset(written[i : i + 3] for i in range(max(1, len(written) - 2)))


def _is_slip(one: str, other: str) -> bool:
    """Return whether two words are a letter apart: left out, added, another, or two in turn.

    Of long words two such slips are one too. The first letter is seldom wrong, and of a short word
    another letter makes another word.
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
    """Return a word in Latin letters."""
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
    """Take in the words of rows that came since the last time."""
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
