"""Tidy a text without adding a word to it."""

from __future__ import annotations

import re
import unicodedata

from memrepo.core.ids import strip_marker
from memrepo.core.patterns import regex

EXTRACT_LENGTH = 400
_BOLD_LEAD = regex(
    r"^(?:\*\*(?P<star>[^*\n]{1,120}?)\*\*|__(?P<bar>[^\n]{1,119}?[:：])__)(?P<rest>.*)$", re.DOTALL
)
_COLON = regex(r"^\s*[:：]\s*")
_HEADING = regex(r"^ {0,3}#{1,6}\s+(?P<title>.*?)\s*#*\s*$")
_SENTENCE_END = regex(r"[.!?…](?=\s|$)|[。！？](?=.|$)|\n", re.DOTALL)
# A full stop after one of these ends no sentence.
_ABBREVIATION = regex(
    r"(?:^|[\s(])(?:e\.g|i\.e|z\.\s?B|d\.\s?h|dr|mr|mrs|ms|prof|st|vs|etc|no|nr|ca|bzw|usw|[A-Z])\.$",
    re.IGNORECASE,
)
_TAG = regex(r"\s*[(\[][A-Za-z]{0,4}\d+[:#]\d[\w:#,;\s]*[)\]]\s*$")


def weight(text: str) -> int:
    """Return the length of a text in characters, blanks folded; a wide character counts double."""
    plain = " ".join(text.split())
    return len(plain) + sum(unicodedata.east_asian_width(ch) in "WF" for ch in plain)


def bold_lead(text: str) -> tuple[str, str] | None:
    """Split `**Key:** value` or `**Key**: value` into key and value; None for another text."""
    match = _BOLD_LEAD.match(text)
    if match is None:
        return None
    key, rest = (match["star"] or match["bar"]).strip(), match["rest"]
    if key.endswith((":", "：")):
        return key.rstrip(":： ").strip(), rest.strip()
    colon = _COLON.match(rest)
    return (key, rest[colon.end() :].strip()) if colon else None


def tidy(text: str) -> str:
    """Drop a leading marker, checkbox and date, and the emphasis marks of a bold lead."""
    plain = strip_marker(text)
    lead = bold_lead(plain)
    if lead is None or not lead[0]:
        return plain
    return f"{lead[0]}: {lead[1]}".strip()


def plain(text: str) -> str:
    """Drop markdown's decoration: emphasis, comments, line breaks, and links but for their text.

    Code keeps its marks. A leading link to a file of notes is a pointer and no words.
    """
    text = _POINTER.sub("", _COMMENT.sub("", text))
    text = _LINK.sub(_unlinked, text)
    text = _BREAK.sub(" ", text)
    parts = _CODE.split(text)
    for at in range(0, len(parts), 2):
        for pattern in _EMPHASIS:
            parts[at] = pattern.sub(r"\1", parts[at])
    return "".join(parts).strip()


def _unlinked(match: re.Match[str]) -> str:
    said, target = match["said"].strip(), match["target"].strip()
    if target.startswith("http") and target.rstrip("/") not in said:
        return f"{said} ({target})" if said else target
    return said


_COMMENT = regex(r"<!--[^-]*+(?:-(?!->)[^-]*+)*-->")
_POINTER = regex(r"^\s*\[(?P<name>[^\]\n]{1,200})\]\([^()\s]{0,200}\.md\)\s*[—–:-]\s*(?=\S)")
_LINK = regex(r"!?\[(?P<said>[^\[\]\n]{0,300})\]\((?P<target>[^()\s]{1,500})\)")
_BREAK = regex(r"<br\s*/?>|[ \t]*\\\n|[ \t]{2,}\n", re.IGNORECASE)
_CODE = regex(r"(`[^`\n]*`)")
_EMPHASIS = (
    regex(r"\*\*\*?(?=\S)([^*\n]{1,500}?)\*\*\*?"),
    regex(r"(?<!\w)__(?=\S)([^_\n]{1,500}?)__(?!\w)"),
    regex(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500}?)\*(?![\w*])"),
    regex(r"(?<![\w_])_(?=[^\s_])([^_\n]{1,500}?)_(?![\w_])"),
)


def cap(text: str, limit: int) -> str:
    """Fold a text to one line and cut it at a word, with an ellipsis, where it is longer."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if not text[limit - 1].isspace():
        blank = head.rfind(" ")
        head = head[:blank] if blank >= limit // 2 else head
    return f"{head.rstrip()}…"


def extract(text: str, limit: int = EXTRACT_LENGTH) -> str:
    """Return the beginning of a long text, cut at the last sentence end within the limit.

    The whole stays reachable: the memory's source names the lines of the whole unit.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [end for end in sentence_ends(text[: limit + 1]) if end <= limit]
    if ends and text[: ends[-1]].strip():
        return text[: ends[-1]].strip()
    return cap(text[: limit * 2], limit)


def sentence_ends(text: str) -> list[int]:
    """Return where the sentences of a text end; the stop of an abbreviation ends none."""
    ends = (m.end() for m in _SENTENCE_END.finditer(text))
    return [end for end in ends if not _ABBREVIATION.search(text[max(end - 8, 0) : end])]


def split_title(text: str) -> tuple[str, str]:
    """Split leading heading lines off a document: the first heading's text, and the rest.

    A document of headings alone is its own body.
    """
    lines = text.strip().split("\n")
    title = ""
    at = 0
    while at < len(lines) and (not lines[at].strip() or _HEADING.match(lines[at])):
        heading = _HEADING.match(lines[at])
        title = title or (heading["title"] if heading else "")
        at += 1
    body = "\n".join(lines[at:]).strip()
    return (title, body) if body else ("", text.strip())


def bare_object(text: str) -> str:
    """Drop a trailing reference such as `(D1:3)` and a full stop from a value."""
    return _TAG.sub("", text.strip()).strip().rstrip(".。").strip()
