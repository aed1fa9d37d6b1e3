"""What a line says of those below or beside it: leads, names, lines that only introduce."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memrepo.core.ids import strip_marker
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.read.markdown import Block

DETAIL_LENGTH = 2000
"""Characters of the detail that stays with its statement; a longer body is several units."""
INTRO_LENGTH = 120
HEADING_READ = 1000
"""Characters of a heading that are read: every line below it is judged by them."""
COLONS = (":", "\uff1a", ":**", "\uff1a**", "**:", "**\uff1a", ":__")


def heading_path(
    blocks: Iterable[Block], *, talks: bool = False
) -> Iterator[tuple[Block, tuple[str, ...]]]:
    """Pair each block with the headings it stands under, outermost first; a heading with itself.

    With `talks`, the headings of a transcript's turns stand under the talk that they were said in.
    """
    path: list[tuple[int, str]] = []
    deep = 0
    for block in blocks:
        if block.kind == "heading":
            if deep and _SESSION.match(block.text):
                deep = 0
            while path and path[-1][0] >= block.level + deep:
                path.pop()
            path.append((block.level + deep, block.text[:HEADING_READ]))
        elif talks and not deep and _is_transcript(block, path):
            deep = path[-1][0]
        yield block, tuple(text for _, text in path)


_SESSION = regex(r"\W*session\W+\d", re.IGNORECASE)
_TALK = regex(r"\W*(?:session|conversation|chat)\b", re.IGNORECASE)
_TURN = regex(r"(?:user|assistant)[ \t]*:", re.IGNORECASE)


def _is_transcript(block: Block, path: Sequence[tuple[int, str]]) -> bool:
    """Tell whether a paragraph is a turn right below the headings of the log of one session."""
    if block.kind != "paragraph" or not path or not _TURN.match(block.text):
        return False
    return _SESSION.match(path[0][1]) is not None and _TALK.match(path[-1][1]) is not None


_ITALIC = regex(r"\*(?![*\s])[^*]+(?<!\s)\*$|_(?![_\s])[^_]+(?<!\s)_$")


def without_sign_offs(blocks: Sequence[Block]) -> Iterator[Block]:
    """Leave out the words in italics that close a file, or a part of it between two rules.

    They say when the file was made, who made it, or good night.
    """
    kinds = ["", *(block.kind for block in blocks), ""]
    for block, before, after in zip(blocks, kinds, kinds[2:], strict=False):
        closes = before not in ("", "heading") if not after else before == "rule"
        closes = closes and after in ("", "rule", "heading")
        if not (closes and block.kind == "paragraph" and _ITALIC.match(block.text)):
            yield block


def has_words(text: str) -> bool:
    """Tell whether a text holds a letter or a digit."""
    return any(ch.isalnum() for ch in text)


def width(text: str) -> int:
    """Return about how much a text says: a wide character is half a word."""
    return sum(3 if ord(ch) >= 0x2E80 else 1 for ch in text)


_BOLD_LEAD = regex(r"(?P<mark>\*\*|__)(?P<key>[^*\n]{1,200}?)(?P<inside>[:\uff1a]?)(?P=mark)")
_COLON = regex(r"[ \t]*[:\uff1a]")


def bold_lead(text: str) -> tuple[str, str]:
    """Return key and value of `**Key:** value` or `**Key**: value`; two empty strings otherwise."""
    plain = strip_marker(text)
    match = _BOLD_LEAD.match(plain)
    if match is None:
        return "", ""
    colon = None if match["inside"] else _COLON.match(plain, match.end())
    if not match["inside"] and colon is None:
        return "", ""
    return match["key"].strip(), plain[(colon or match).end() :].strip()


_PLAIN_KEY = regex(r"([^\W_][^:\uff1a\n]{0,40})(?::(?=\s)|\uff1a)")


def key_of(text: str) -> str:
    """Return the key that an item opens with, bold or plain, or an empty string."""
    plain = _PLAIN_KEY.match(text)
    return bold_lead(text)[0] or (plain[1].strip() if plain else "")


def only_introduces(text: str) -> bool:
    """Tell whether a text says nothing but that something follows."""
    only = text.endswith(COLONS) or _BOLD_ONLY.fullmatch(text) is not None
    return only and "\n" not in text and len(text) <= INTRO_LENGTH


_BOLD_ONLY = regex(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


def says_before(text: str) -> bool:
    """Tell whether a sentence stands before the one that introduces: "The belt slips. Causes:"."""
    return _SENTENCE.match(text) is not None


_SENTENCE = regex(
    r"[^\n]{12,}?(?:[a-z\d)\"'”»à-ÿа-я][.!?]\s+|[。\uff01\uff1f])(?=[^\s\d])|[^\n]{12,}\n",
    re.IGNORECASE,
)


def is_listed(following: Sequence[Block]) -> bool:
    """Tell whether a list or a table follows; its header is a block without text."""
    kinds = [block.kind for block in following]
    return kinds[:1] == ["item"] or kinds[:2] == ["other", "row"]


def owner(text: str) -> str:
    """Return what a line says that owns the list or table below it, or an empty string.

    Such a line ends in a colon, or it opens with a short bold lead: `**Acme** - notes`. Of a long
    one its last sentence owns it.
    """
    if text.endswith(COLONS):
        return text[before_list(text) :]
    match = _OWNING_LEAD.match(text)
    return match["key"] if match and "\n" not in text and len(text) <= INTRO_LENGTH else ""


_OWNING_LEAD = regex(
    r"(?:\*\*|__)(?P<key>[^*\n]{1,80}?)[:\uff1a]?(?:\*\*|__)[:\uff1a]?(?:[ \t(—–-]|$)"
)


def before_list(text: str) -> int:
    """Return where the sentence begins that ends a long text and leads to a list; 0 if all does.

    What is before it says something of its own: `It failed twice. Before every merge:`.
    """
    if len(text) <= INTRO_LENGTH or not text.endswith(COLONS):
        return 0
    starts = [match.end() for match in _NEXT_SENTENCE.finditer(text)]
    last = starts[-1] if starts else 0
    return 0 if refers_back(text[last:]) or len(text) - last > INTRO_LENGTH else last


_NEXT_SENTENCE = regex(r"(?<=[^\s\d][.!?])[ \t\n]+(?=[^\W\d_a-zа-я]\w)|(?<=[。!?])\s*(?=\w)")


def defined(blocks: Sequence[Block]) -> dict[int, str]:
    """Return by list what its first item says the rest is about: `Orchard is a web shop ...`."""
    first: dict[int, Block] = {}
    for block in blocks:
        if block.kind == "item":
            first.setdefault(block.list, block)
    found = {number: _DEFINES.match(block.text) for number, block in first.items()}
    return {number: match["name"] for number, match in found.items() if match}


_DEFINES = regex(
    r"(?:\*\*)?(?P<name>[^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,3})(?:\*\*)?"
    r" (?:is an?|ist eine?|es una?|é uma?|est une?|— это|это) (?:[\w.'’-]+,? ){0,5}?"
    r"(?i:system|tool|app|application|project|platform|service|library|framework|agent|bot|website"
    r"|site|repository|package|plugin|cli|api|server|game|company|startup|shop|product|sistema"
    r"|herramienta|ferramenta|aplicación|aplicativo|proyecto|projeto|plataforma|servicio|serviço"
    r"|empresa|système|outil|projet|plateforme|entreprise|werkzeug|projekt|plattform|dienst|firma"
    r"|система|инструмент|проект|платформа|сервис|приложение|компания)\b"
)
"""A sentence that says what a thing is; the lines after it are about that thing."""


def names_row(block: Block) -> bool:
    """Tell whether the first cell of a row is what the others are about: no number, no mark."""
    return has_words(block.lead) and not _ORDINAL.fullmatch(block.lead)


_ORDINAL = regex(r"[#№]?\d[\d.,:/-]*")


def refers_back(text: str) -> bool:
    """Tell whether a text opens with a word for what was said before: "This was ...", "Isso ...".

    Alone it says nothing of anything.
    """
    return _REFERS.match(text) is not None


_REFERS = regex(
    r"\W*(?:(?:This|That|These|Those|It|They)\s+(?:also\s+)?(?:is|are|was|were|has|have|had|will|would"
    r"|can|could|should|may|must|do|does|did|mean|include|apply|[a-z]{2,}(?:ed|[^su'’]s)"
    r"|(?:rule|permission|fix|change|decision|approach) (?:is|was|has|applies))\b"
    r"|(?:Esto|Eso|Ello|Isto|Isso|Ceci|Cela|Ça|C['’]est|Dies|Ciò|Dit is|Dat is)\b"
    r"|(?:Das|Questo) (?:ist|war|gilt|heißt|bedeutet|è|era|vale)\b"
    r"|Это (?:правило|значит|позволяет)\b"
    r"|这(?:是|让|意味|已|说明|样)|(?:これ|それ)(?:は|が|により|で)|(?:이것|그것)은|이는)"
)


def leads_of(block: Block) -> list[tuple[str, tuple[int, int]]]:
    """Split a paragraph where several lines open with a bold lead or a date, and the first does."""
    rows = block.text.split("\n")
    first, last = block.lines
    starts = [n for n, row in enumerate(rows) if bold_lead(row)[0] or _DATED_ENTRY.match(row)]
    # Line numbers only fit when no line was taken out of the paragraph.
    if len(starts) < 2 or starts[0] or len(rows) != last - first + 1:
        return [(block.text, block.lines)]
    ends = [*starts[1:], len(rows)]
    return [
        ("\n".join(rows[a:b]).strip(), (first + a, first + b - 1))
        for a, b in zip(starts, ends, strict=True)
    ]


def sentences_of(block: Block) -> list[tuple[str, tuple[int, int]]]:
    """Split a paragraph in which each line is a sentence or more; one that is wrapped stays whole.

    A line in italics that follows them is one of its own too, whatever it ends in.
    """
    rows = block.text.split("\n")
    first, last = block.lines
    whole = all(_SENTENCE_LINE.match(row) or _ITALIC.match(row) for row in rows)
    if len(rows) < 2 or not whole or len(rows) != last - first + 1:
        return [(block.text, block.lines)]
    return [(row.strip(), (first + at, first + at)) for at, row in enumerate(rows)]


_SENTENCE_LINE = regex(r"\W*(?:[^\W\d_a-zß-öø-ÿ]|\d)[^\n]*[.!?。\uff01\uff1f][)\]\"'”»*_ ]*$")
_DATED_ENTRY = regex(r"(?:[*_\[(]{0,3})(?P<day>\d{4}-\d{2}-\d{2})\b")


def days_of(
    rows: Sequence[tuple[str, tuple[int, int]]],
) -> Iterator[list[tuple[str, tuple[int, int]]]]:
    """Yield the entries of a paragraph by their days; what opens with no date is by itself."""
    last = ""
    run: list[tuple[str, tuple[int, int]]] = []
    for row in rows:
        dated = _DATED_ENTRY.match(row[0])
        if run and not (dated and dated["day"] == last):
            yield run
            run = []
        run.append(row)
        last = dated["day"] if dated else ""
    yield run


def below_title(text: str) -> str:
    """Return what stands below the bold first line of a paragraph: it only explains the title."""
    match = _TITLE_LINE.match(text)
    rest = text[match.end() :].strip() if match else ""
    return rest if has_words(rest) and len(rest) <= DETAIL_LENGTH else ""


_TITLE_LINE = regex(r"(?:\*\*[^*\n]{8,200}\*\*|__[^_\n]{8,200}__)(?:[ \t]*\[[^\]\n]*\])*[ \t]*\n")
SELF_NAMED = regex(
    r"(?:\*\*)?(?:I am|I['’]m|My name is|Ich bin|Soy|Me llamo|Eu sou|Meu nome é|Je suis"
    r"|Je m['’]appelle|Я|Меня зовут|我是|我叫|私は)\s?(?:\*\*)?(?P<name>[^\W\d_][\w-]{1,30})"
    r"(?=\*|[,.。\uff0c]| [-–—]|です|$)"
)


def answer_of(text: str) -> str | None:
    """Return the answer that a text below a question gives, up to a blank line; None for none."""
    match = _ANSWER.match(text)
    return match and match["answer"].split("\n\n")[0].strip()


def asks(text: str) -> bool:
    """Tell whether a text ends as a question does."""
    return text.rstrip(" *_)\"'”»」").endswith(("?", "\uff1f"))


_ANSWER = regex(
    r"\W*(?:answers?|a|r|respuesta|resposta|réponse|antwort|risposta|antwoord|ответ|回答|答案?|答え"
    r"|답변?)\W{0,4}[:\uff1a]\W*(?P<answer>\S.*)",
    re.I | re.S,
)
