"""Split a text into statements, and recognise texts that look the same to a reader.

A statement is a paragraph, a line, a list item, a table row, or sentences within one of these. The
split does not depend on the language or the units of a source. A rejection therefore matches its
statement however the text is split.

`look` folds texts that a reader cannot distinguish. It extends `ids.normal_claim` (NFKC, case,
blanks, controls, list marker). It also folds look-alike letters of other scripts, invisible
characters, quotes, dashes, emphasis markers and the final full stop. Digits are never folded into
letters: `O1` and `01` are different values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from html import unescape

import msgspec

from memrepo.core.ids import digest, normal_claim, strip_marker
from memrepo.core.patterns import regex

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
