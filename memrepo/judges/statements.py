"""Statements that stand alone: a text parted, each with the words that it stood under.

Part a text that says several things: by rules that never cut inside a statement.

1. The value of a bold key that is a list with semicolons: one part an entry, under the same key.
2. Sentences of which each next one opens with another name and a listed verb.
3. A text of more than 400 characters: as few parts as hold it, cut at the ends of sentences.
4. A procedure of more than 400 characters: the same, cut at the ends of lines, so of steps.

Parts are the text's own words in their order, and nothing of it is left out but blanks.

What a text stands under, as the words that make it readable alone.

"Description: tall, short hair" under the heading "Ana (CTO)" becomes "Ana (CTO) – Description:
tall, short hair". The words are those of the context, in its language; what the text says already
is not said again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normalise, strip_marker
from memrepo.core.judge import Candidate
from memrepo.core.patterns import regex, spelled
from memrepo.judges import wordlists
from memrepo.judges.lasting import traits
from memrepo.judges.successions import SINGLE
from memrepo.judges.wording import (
    EXTRACT_LENGTH,
    HAPPENED_HEADING,
    HEADING_TYPES,
    LASTING_HEADING,
    cap,
    clean,
    extract,
    is_date,
    is_wrapped,
    lead_of,
    plain,
    read_triple,
    sentence_ends,
    split_title,
    telling,
    tidy,
    title_of,
)
from memrepo.policies.matching import normal_predicate, normal_subject, tokens
from memrepo.purify.gather import ON_PERSON
from memrepo.purify.groups import TERSE_MOST

_ENTRIES = regex(r"\s*[;；]\s*")
_CLOSED = regex(r"`[^`]*`|\([^()]*\)|https?://\S+")


class Part(msgspec.Struct, frozen=True):
    """One statement of a candidate, as a candidate of its own, and its words in the whole."""

    candidate: Candidate
    quote: str


def parts_of(candidate: Candidate) -> list[Part]:
    """Return the parts of a candidate; none where it says one thing."""
    return _distinct(_entries(candidate) or _subjects(candidate) or _sentences(candidate))


def steps_of(candidate: Candidate) -> list[Part]:
    """Return a procedure in parts; none where it is short."""
    title, body = split_title(tidy(candidate.text))
    if len(body) <= EXTRACT_LENGTH:
        return []
    found = packed(body, [m.end() for m in re.finditer("\n", body)])
    head = f"## {title}\n" if title else ""
    return _distinct([Part(replace(candidate, text=head + part), part) for part in found])


def _distinct(parts: list[Part]) -> list[Part]:
    """Leave out what is said twice; what then is one statement is none of several."""
    found = list({normalise(part.quote): part for part in reversed(parts)}.values())[::-1]
    return found if len(parts) > 1 else []


def packed(text: str, ends: Sequence[int], limit: int = EXTRACT_LENGTH) -> list[str]:
    """Cut a text at some of these ends, so that few parts hold it; at a blank where none helps."""
    parts, start = [], 0
    while len(text[start:].strip()) > limit:
        start += len(text[start:]) - len(text[start:].lstrip())
        fit = [e for e in ends if start < e and len(text[start:e].strip()) <= limit]
        end = max(fit) if fit and text[start : max(fit)].strip() else _within(text, start, limit)
        parts.append(text[start:end].strip())
        start = end
    tail = text[start:].strip()
    if parts and _TAG_ONLY.fullmatch(tail):  # who wrote it, and no statement of its own
        return [*parts[:-1], f"{parts[-1]} {tail}"]
    return [part for part in (*parts, tail) if part]


def _within(text: str, start: int, limit: int) -> int:
    """Return where a sentence that is too long is cut: at a clause, else at a blank."""
    shown = text[start : start + limit]
    for pattern in _CLAUSES:
        ends = [m.end() for m in pattern.finditer(shown, limit // 2)]
        if ends:
            return start + ends[-1]
    blank = max(shown.rfind(ch) for ch in " \n\t")
    return start + (blank if blank > 0 else limit)


_CLAUSES = (
    regex(r"[;\uff1b]\s*|\s(?=\(\d{1,2}\)\s)"),
    regex(r"\s[—–]\s|[:\uff1a](?=\s)\s*|[\uff0c\u3001]|,\s+(?![^()]{0,200}\))"),
)
"""Where a clause ends: an entry of a list in the text, then a part of the sentence."""
_TAG_ONLY = regex(r"(?:[\[(][^\[\]()\n]{1,40}[\])]\W*)+")


def _entries(candidate: Candidate) -> list[Part]:
    key, value = lead_of(candidate)
    if not (key and value) or is_date(key) or normal_predicate(key) in SINGLE:
        return []
    if normalise(key) in wordlists.GENERIC_KEYS or _CLOSED.search(value):
        return []
    found = [part for part in _ENTRIES.split(value) if part]
    if len(found) < 2 or not all(any(ch.isalnum() for ch in part) for part in found):
        return []
    return [_valued(candidate, key, part) for part in found]


def _subjects(candidate: Candidate) -> list[Part]:
    text = tidy(candidate.text)
    if lead_of(candidate)[0] or candidate.task:
        return []
    cuts, names = [0], [_name(candidate, text)]
    for end in sentence_ends(text):
        name = _name(candidate, text[end:])
        if name and name != names[-1]:
            cuts.append(end)
            names.append(name)
    if len(cuts) < 2 or not names[0]:
        return []
    rows = [text[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]
    made = [Part(replace(candidate, text=row, key="", value=""), row) for row in rows]
    return [part for one in made for part in _sentences(one.candidate) or [one]]


def _name(candidate: Candidate, text: str) -> str:
    """Return the name that a text opens with before a verb, or an empty string."""
    triple = read_triple(replace(candidate, text=text.strip(), key="", value=""))
    return normal_subject(triple.subject) if triple.shape == 2 else ""


def _sentences(candidate: Candidate) -> list[Part]:
    text = tidy(candidate.text)
    if len(text) <= EXTRACT_LENGTH:
        return []
    key, value = lead_of(candidate)
    if not key and (named := _NAMED.match(text)):  # each part is said of what the line names
        key, value = named["key"], text[named.end() :]
    if key and value:
        room = EXTRACT_LENGTH - len(f"{key}: ")
        found = packed(value, sentence_ends(value), room) if room > len(key) else []
        return [_valued(candidate, key, part) for part in found]
    found = packed(text, sentence_ends(text))
    return [Part(replace(candidate, text=part, key="", value=""), part) for part in found]


_NAMED = regex(r"(?P<key>[^\W\d_][^:\uff1a\n.!?;]{0,39})(?:: |\uff1a)(?=\S)")


def _valued(candidate: Candidate, key: str, value: str) -> Part:
    return Part(replace(candidate, text=f"**{key}:** {value}", key=key, value=value), value)


SEGMENT_LENGTH = 60
NEAREST_LENGTH = 100
"""Characters of a segment, and of the innermost: it is what a text hangs on, so it stays whole."""
MOST_SEGMENTS = 5
LEAD_LENGTH = 150
"""Characters of a lead that names all that a text stands under; a longer one skips the middle."""
SHORTEST = 12
PROFILES = {"MEMORY.md", "USER.md", "IDENTITY.md", "TOOLS.md"}
JOIN = " – "


def whole(candidate: Candidate) -> tuple[str, str]:
    """Return what its context adds to a text, and the text that can be read alone.

    A long text is cut to the length of a claim; a procedure without words of its own is named by
    what it stands under.
    """
    text = _row(candidate, _joined(plain(tidy(candidate.text)))).rstrip(" \t:\uff1a,;")
    lead = _dated(candidate, lead_words(candidate))
    if not text:
        return lead, lead or title_of(candidate) or _named(candidate)
    if not lead:
        return "", extract(text)
    join = JOIN if lead_of(candidate)[0] or _KEYED.match(text) or _COLON.search(lead) else ": "
    return lead, f"{lead}{join}{extract(text)}"


def _named(candidate: Candidate) -> str:
    """Return what a list without words and without a telling heading is called after all."""
    under = (clean(heading) for heading in candidate.context[::-1])
    first = strip_marker(candidate.detail.split("\n")[0])
    return next(filter(None, under), "") or extract(plain(first))


_KEYED = regex(r"[^\s:\uff1a][^:\uff1a\n]{0,40}(?:: |\uff1a)\S")


_COLON = regex(r":\s|\uff1a")


def _joined(text: str) -> str:
    """Return a list of a few words an item on one line; a line that was wrapped is no list."""
    rows = [row.strip() for row in text.split("\n")]
    if is_wrapped(rows):
        return " ".join(rows)
    terse = len(rows) > 1 and all(row and len(row) <= TERSE_MOST for row in rows)
    if not terse:
        return text
    goes_on = [row.endswith(_GOES_ON) for row in rows]
    said = (row if on else f"{row.rstrip(' ;,.')};" for row, on in zip(rows, goes_on, strict=True))
    return " ".join(said).rstrip(" ;")


_GOES_ON = (":", "\uff1a", "。", "!", "\uff01", "?", "\uff1f", "，")


def _row(candidate: Candidate, text: str) -> str:
    """Return a table row with what it is about first, without the header of that column."""
    lead = candidate.context[-1] if candidate.context else ""
    name, colon, rest = text.partition(": ")
    if not (lead and colon and rest.startswith(plain(lead))) or ";" in name:
        return text
    others = rest[len(plain(lead)) :]
    return (
        text
        if others and not others.startswith("; ")
        else plain(lead) + others.replace("; ", JOIN, 1)
    )


def _dated(candidate: Candidate, lead: str) -> str:
    """Add its day to what a daily log says of that day only: it is read on others."""
    days = [s.captured[:10] for s in candidate.sources if s.captured_from != "commit"]
    day = max(days, default="")
    if not (candidate.daily and day) or day in candidate.text:
        return lead
    if _OF_ITS_DAY.isdisjoint(traits(candidate)):
        return lead
    return f"{lead} ({day})" if lead else day


_OF_ITS_DAY = frozenset(("happened", "momentary", "open_task", "turned", "ticked"))
"""Signs of a statement that holds from its day on, or held then."""


def lead_words(candidate: Candidate) -> str:
    """Return the words that a candidate's text needs before it, or an empty string."""
    if named := _name_line(candidate):
        return named
    said = set(tokens(plain(candidate.text)))
    found: list[str] = []
    segments = _segments(candidate, who=_says_who(candidate))
    for at, segment in enumerate(segments):
        words = tokens(segment)
        after = set().union(*map(tokens, segments[at + 1 :]))
        if words - said and words - after:
            found.append(segment)
            said |= words
    return JOIN.join(found)


def _says_who(candidate: Candidate) -> bool:
    """Tell whether a text names whom it is about before its verb; "Template" is no name."""
    triple = read_triple(candidate)
    who = normalise(triple.subject)
    return triple.shape == 2 and who not in ("i", "ich") and who not in wordlists.COMMON_NOUNS


def _name_line(candidate: Candidate) -> str:
    """Return whose name a profile gives, in the language of its key; nothing for other texts."""
    match = _NAMES.match(plain(candidate.text))
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources} - {"MEMORY.md"}
    if match is None or len(files) != 1 or not files <= _OF_ONE.keys():
        return ""
    return OWNERS[normalise(match["key"])][_OF_ONE[files.pop()]]


_OF_ONE = {"IDENTITY.md": 0, "USER.md": 1}
OWNERS = {
    "name": ("Agent", "User"),
    "full name": ("Agent", "User"),
    "what to call you": ("Agent", "User"),
    "what to call them": ("Agent", "User"),
    "what to call him": ("Agent", "User"),
    "what to call her": ("Agent", "User"),
    "preferred name": ("Agent", "User"),
    "anrede": ("Agent", "Nutzer"),
    "nombre completo": ("Agente", "Usuario"),
    "cómo llamar": ("Agente", "Usuario"),
    "nome completo": ("Agente", "Usuário"),
    "como chamar": ("Agente", "Usuário"),
    "nom complet": ("Agent", "Utilisateur"),
    "полное имя": ("Агент", "Пользователь"),
    "как обращаться": ("Агент", "Пользователь"),
    "称呼": ("智能体", "用户"),
    "呼び方": ("エージェント", "ユーザー"),
    "호칭": ("에이전트", "사용자"),
    "nombre": ("Agente", "Usuario"),
    "nome": ("Agente", "Usuário"),
    "nom": ("Agent", "Utilisateur"),
    "prénom": ("Agent", "Utilisateur"),
    "имя": ("Агент", "Пользователь"),
    "名前": ("エージェント", "ユーザー"),
    "名字": ("智能体", "用户"),
    "姓名": ("智能体", "用户"),
    "이름": ("에이전트", "사용자"),
}
"""What an agent and its person are called, by the word for a name."""
_NAMES = spelled(lambda: rf"(?P<key>{'|'.join(OWNERS)})[ \t]*[:\uff1a]", re.IGNORECASE)


def _topic(heading: str) -> bool:
    """Tell whether a heading names what is below it, and not only what kind of thing that is."""
    kinds = (LASTING_HEADING, HAPPENED_HEADING, *(pattern for _, pattern in HEADING_TYPES))
    return not any(pattern.search(heading) for pattern in kinds)


def _segments(candidate: Candidate, *, who: bool) -> list[str]:
    """Return whom or what it is about first, then the innermost of what it stands under.

    A text that says who it is about needs only the nearest heading that names a thing.
    """
    context = candidate.context[1:] if is_profile(candidate) else candidate.context
    path = list(telling(context, dated=not candidate.daily))
    if tokens(candidate.about) - tokens(candidate.text):  # who that is has a name
        path = [segment for segment in path if not ON_PERSON.search(segment)]
    if who:
        near = [segment for segment in path[-1:] if _topic(segment)]
        own = [candidate.about] if candidate.about and not near else []
        return [_short(segment, NEAREST_LENGTH) for segment in (*own, *near)]
    whose = "" if _said_by_heading(candidate, path) else candidate.about
    about = whose or (path.pop(0) if len(path) > 1 else "")
    if not (about or path):
        about = title_of(candidate)
    inner = [_short(s) for s in path[-(MOST_SEGMENTS - bool(about)) : -1]]
    inner += [_short(s, NEAREST_LENGTH) for s in path[-1:]]
    while len(inner) > 1 and len(about) + sum(map(len, inner)) > LEAD_LENGTH:
        if not about or whose or len(inner) > 2 or len(tokens(inner[-1])) > 1:
            inner = inner[1:]
        else:
            about = ""
    return [s for s in (_short(about), *inner) if s]


def _said_by_heading(candidate: Candidate, path: Sequence[str]) -> bool:
    """Tell whether a line of an agent's memory stands under a heading that names its subject.

    Whose memory it is says nothing more of it: "Orchard: gate code lives in the shed".
    """
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources}
    named = (one for one in path if _topic(one) and not _CLAUSE.match(one))
    return files == {"MEMORY.md"} and next(named, None) is not None


_CLAUSE = regex(
    r"(?:what|how|when|where|why|who|which|o que|como|quando|onde|por que|qu[ée]|c[óo]mo|cu[áa]ndo"
    r"|d[óo]nde|por qué|ce qu\w*|comment|quand|où|pourquoi|was|wie|wann|wo|warum|wer|cosa|come|che"
    r"|dove|perché|wat|hoe|wanneer|waar|waarom|что|как|когда|где|почему)\b|什么|如何|怎么|何|どう|어떻게|무엇",
    re.IGNORECASE,
)
"""A heading that asks or tells how, and names nothing: whose memory it is still has to be said."""


def _short(segment: str, most: int = SEGMENT_LENGTH) -> str:
    """Cut a long heading where its second half begins, or at a word."""
    if len(segment) > SEGMENT_LENGTH:  # which change or day that was
        segment = _ASIDE_LAST.sub("", segment)
    if len(segment) <= most:
        return segment
    ends = [m.start() for m in _HALVES.finditer(segment) if m.start() > SHORTEST]
    cut = max((end for end in ends if end <= SEGMENT_LENGTH), default=0)
    short = segment[:cut] if cut else cap(segment, SEGMENT_LENGTH)
    head, opened, rest = short.partition(" (")
    return head if opened and ")" not in rest else short


_ASIDE_LAST = regex(r"(?<=\S)\s*(?:\([^()]*\)|\uff08[^\uff08\uff09]*\uff09)$")
_HALVES = regex(r"[:\uff1a,;\uff0c](?=\s|[^\x00-\x7f])|\s+(?:[–—|/+-]|\()|[\uff08\u3002.](?=\s|$)")


def is_profile(candidate: Candidate) -> bool:
    """Tell whether the title above a text only names the kind of its file."""
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources}
    return (
        bool(files) and files <= PROFILES and len(candidate.context) > 0 and bool(candidate.about)
    )
