"""Read a question, order the blocks that a search found, and decide whether any answers.

A question has search terms and days, and may ask for a kind of answer, such as a time or a name: a
text that contains the kind is a likelier answer. A question about what an assistant stated asks for
its turns. The phrases are in the sections `cues` and `speakers` of the tables (docs/languages.md).

An assistant's turn is long, has markup, begins with a typical phrase, and does not name the
assistant. In an English conversation, a person who uses "you" but not "I" speaks about the other.

FTS5 scores the words of all phrasings by BM25. The rest is what measurements support: the subject
of a text, who speaks, replies to questions, and the kind of answer. Recency, retrievals and
importance count whatever is asked.
Lineage: engram (recency, importance); its bonus for retrievals was largest at the first one.

Scores are relative: the best of many poor hits has a high score too. Whether a hit answers is
decided by the words of the question in its text, which does not depend on the other hits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache, cached_property

import msgspec
from msgspec.structs import replace

from memrepo.core.manifest import seconds
from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.policies.rules import Weights
from memrepo.text.words import (
    ENGLISH,
    LANGUAGES,
    asked_terms,
    entries,
    faint_pairs,
    fold,
    is_spaceless,
    pattern,
    small_words,
    stems,
    table,
    words,
)

Span = tuple[str, str]
"""The first and the last day of a time span, as ISO dates."""
_LONGEST = 60
"""Longer questions, in characters, ask for more than a kind."""
KINDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "me": (("identity",), ""),
    "people": (("relationship",), "person"),
    "projects": ((), "project"),
    "rules": (("constraint",), ""),
    "preferences": (("preference",), ""),
    "decisions": (("decision",), ""),
    "promises": (("commitment",), ""),
    "open": (("open_question", "commitment"), ""),
    "lessons": (("lesson",), ""),
    "procedures": (("procedure", "method"), ""),
    "goals": (("aspiration",), ""),
    "milestones": (("milestone",), ""),
}
"""Map each kind that can be asked for to its types and its kind of heading.

Memories of one of the types belong to the kind. So do all memories under such a heading.
"""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed question with its other phrasings."""

    terms: Mapping[str, tuple[str, ...]]
    """Map each search term to its forms in texts of other languages."""
    words: tuple[str, ...] = ()
    faint: frozenset[str] = frozenset()
    """The terms that only frame the question or name a kind of answer, such as `number`."""
    phrasings: tuple[tuple[str, ...], ...] = ()
    """The terms of each phrasing: of the question, then of its other phrasings."""
    spans: tuple[Span, ...] = ()
    """The days that it names, as in `last week`, if the current date is known."""
    timed: frozenset[str] = frozenset()
    """The terms that only name such days."""
    wanted: str = ""
    """The kinds of answer that the question asks for (`cues_of`)."""
    of_assistant: bool = False
    """Whether the question asks for what an assistant stated."""


def question_of(
    text: str,
    today: date | None = None,
    also: Sequence[str] = (),
    languages: Collection[str] = (),
) -> Question:
    """Parse a question with its other phrasings, for texts of the given languages."""
    own = tuple(sorted({*languages, ENGLISH}))
    terms: dict[str, tuple[str, ...]] = {}
    faint, phrasings = set[str](), list[tuple[str, ...]]()
    for one in (text, *also):
        separated = _without_small_words(one, own)
        asked = dict(asked_terms(separated, languages))
        light = faint_pairs(words(separated)) | _light(words(separated), own)
        faint |= light & asked.keys() if asked.keys() - light else set()
        terms = {**asked, **terms}
        phrasings.append(tuple(asked))
    found = words(_without_small_words(text, own))
    spans, timed = _days(text, today, terms) if today else ((), frozenset[str]())
    return Question(
        terms=terms,
        words=tuple(found),
        faint=frozenset(faint),
        phrasings=tuple(filter(None, phrasings)),
        spans=spans,
        timed=timed,
        wanted=wanted(found, own),
        of_assistant=asks_assistant(found, own),
    )


def _days(
    text: str, today: date, terms: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Span, ...], frozenset[str]]:
    """Return the days that a question names, and the terms that do no more than name them."""
    from memrepo.text.dates import timespans  # has the tables of all languages

    named = timespans(text, today)
    if not named:
        return (), frozenset()
    spelled = {word for span in named for word in span.words}
    only = {term for term, _ in asked_terms(" ".join(sorted(spelled)))}
    other = {*entries("dates", "events"), *spelled}
    only |= {term for term, forms in terms.items() if not other.isdisjoint((term, *forms))}
    return tuple(sorted({span.days for span in named})), frozenset(only)


def _light(found: Sequence[str], own: Sequence[str]) -> frozenset[str]:
    """Return the terms of the words that only frame a question, or name a kind of answer."""
    frame, kinds = _frames(own), _kind_words(own)
    light = [word for word in found if word in frame or word in kinds]
    return frozenset(stem for language in own for stem in stems(light, language))


@cache
def _frames(own: Sequence[str]) -> frozenset[str]:
    return frozenset(map(fold, entries("asking", "frame", own)))


@cache
def _kind_words(own: Sequence[str]) -> frozenset[str]:
    found = (entries("cues", kind, own) for kind in KINDS_OF_ANSWER)
    return frozenset(fold(w) for one in found for e in one for w in e.replace("/", " ").split())


def _without_small_words(text: str, own: Sequence[str]) -> str:
    """Replace the function words of languages without blanks between words, such as Chinese."""
    if text.isascii():
        return text
    small = {word for word in entries("asking", "small", own) if len(word) > 1}
    if not small:
        return text
    longest = sorted(small, key=lambda word: (-len(word), word))
    separated = re.sub("|".join(map(re.escape, longest)), "  ", text)
    left = " ".join(run for run in separated.split() if len(run) > 1 or not is_spaceless(run))
    return left if words(left) else text


def kind_asked(text: str, languages: Collection[str] = LANGUAGES) -> str:
    """Return the kind of memory (`KINDS`) that a question asks for, or an empty string."""
    if len(text) > _LONGEST:
        return ""
    own = tuple(sorted({*languages, ENGLISH}))
    kinds, frame, small = _asking(own), _frames(own), _small(own)
    written = re.findall(r"\w+", fold(text))
    left = [word for word in written if word not in frame and word not in small]
    run = "".join(written)  # for scripts without blanks
    for part in sorted((f for f in frame if not f.isascii()), key=len, reverse=True):
        run = run.replace(part, "")
    forms = (" ".join(written), " ".join(left), run)
    return next((kinds[form] for form in forms if form in kinds), "")


@cache
def _asking(own: Sequence[str]) -> Mapping[str, str]:
    """Map the words and phrases that ask for a kind of memory to the kind."""
    kinds: dict[str, str] = {}
    for language in own:
        for kind, phrases in table(language, "asking").get("kinds", {}).items():
            kinds |= {" ".join(re.findall(r"\w+", fold(entry))): kind for entry in phrases}
    return kinds


@cache
def _small(own: Sequence[str]) -> frozenset[str]:
    small = small_words()  # folded by language: word by word takes a tenth of a search
    return frozenset[str]().union(*(small[one] for one in own if one in small))


ASKS, SELF = "?", "i"
"""The text is a question, or says something about its speaker."""
_ASKS = regex("[?\uff1f\u061f]")
_DIGIT = regex(r"\d")
_CLOCK = regex(r"\b\d\d?:\d\d\b")
_PROPER_NAME = regex(r"(?<=[^\W\d_A-Z] |[,;:\"] )[\"(]?[A-Z\u00c0-\u00de][^\W\d_]{2}")
_TITLE = regex('"[^"]|[\u201c\u00ab]')
_WORD = regex(r"\w+")
KINDS_OF_ANSWER = "tnpq"
"""Times, numbers, proper names and quoted titles."""


@cache
def _phrases(
    section: str, key: str, own: Sequence[str] = LANGUAGES, *, start: bool = False
) -> re.Pattern[str]:
    return pattern(entries(section, key, own), start=start)


@cache
def _times() -> frozenset[str]:
    from memrepo.text.dates import WEEKDAYS

    return frozenset((*entries("cues", "times"), *WEEKDAYS, *MONTHS)) - {"may"}


def cues_of(text: str) -> str:
    """Return the kinds of answer that a text may give, and `?` if the text is a question."""
    words = _WORD.findall(text.lower())
    shown = {
        ASKS: _ASKS.search(text),
        "t": not _times().isdisjoint(words) or (":" in text and _CLOCK.search(text)),
        "n": _DIGIT.search(text) or _phrases("cues", "numbers").search(text),
        "p": _PROPER_NAME.search(text),
        "q": _TITLE.search(text),
    }
    return "".join(kind for kind, found in shown.items() if found)


def wanted(words: Sequence[str], own: Sequence[str] = LANGUAGES) -> str:
    """Return the kinds of answer that a question, given as folded words, asks for."""
    text, found = " ".join(words), ""
    for kind in KINDS_OF_ANSWER:
        opens = entries("cues", f"{kind}_start", own)
        if (opens and _phrases("cues", f"{kind}_start", own, start=True).match(text)) or (
            entries("cues", kind, own) and _phrases("cues", kind, own).search(text)
        ):
            found += kind
    return found


# -- who speaks ------------------------------------------------------------------------------------

USER, ASSISTANT = "u", "a"
_LABEL = regex(r"\s*[*_>#]*\s*([^\W\d_]{2,20})[*_]*\s*[:：]")
"""The speaker's name and a colon at the beginning of a text."""
_MARKUP = regex(r"(?m)^[^\S\n]*(?:#{1,6} |\d{1,3}\. \*\*|[-*] \*\*|```)")
ANSWER_LENGTH = 400
"""The minimum length in characters of a text that its markup and opening identify as an answer."""
OPENING_LENGTH = 80
"""The length in characters of the opening, where a text may name its subject."""
_ADDRESSED = frozenset(("you", "your"))
_SELF = frozenset("i im ive my me mine myself we our us".split())
"""Words by which speakers refer to themselves, with informal spellings."""


def role_of(subject: str, text: str) -> str:
    """Return the speaker of a text: `u` for a user, `a` for an assistant, or an empty string."""
    label = _LABEL.match(text)
    speaker = label[1].casefold() if label and not subject else subject
    name = speaker.rpartition(" ")[2]
    is_user, is_assistant = (name in entries("speakers", k) for k in ("users", "assistants"))
    is_about = name in text[:OPENING_LENGTH].casefold().split()[:3]
    if (is_user or is_assistant) and (label or not is_about):
        return USER if is_user else ASSISTANT
    is_long = len(text) >= ANSWER_LENGTH and _MARKUP.search(text)
    return ASSISTANT if is_long and _phrases("speakers", "opens", start=True).match(text) else ""


def of_self(terms: Collection[str]) -> bool:
    """Return whether a text with these terms refers to its own speaker, as with `I` or `my`."""
    return not _SELF.isdisjoint(terms)


def asks_assistant(words: Sequence[str], own: Sequence[str] = LANGUAGES) -> bool:
    """Return whether a question, given as folded words, asks for something an assistant stated."""
    # Compile the pattern only if needed, because compiling takes longer than the search.
    question = " ".join(words)
    return not _ADDRESSED.isdisjoint(words) and bool(
        _phrases("speakers", "asked", own).search(question)
    )


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph of a memory or of a source that a search found.

    A block of a source has no id. It has lines, and its text lacks the statements that are not in
    effect.
    """

    number: int
    path: str
    part: int = 0
    """The number of the paragraph. A memory has the score of its best paragraph."""
    blob: str = ""
    id: str = ""
    status: str = "active"
    thread: str = ""
    place: int = 0
    subject: str = ""
    """The folded subject. It matters for questions that name it."""
    day: str = ""
    """The newest date of the evidence, YYYY-MM-DD."""
    seen: int = 0
    """When the memory was last confirmed, in seconds since 1970, or 0 if unknown."""
    importance: float | None = None
    cues: str = ""
    """The kinds of answer that the text may give, and whether it is a question (`cues_of`)."""
    is_record: bool = False
    """Whether the memory records a whole day or session, as notes and episodes do."""
    words: float = 0.0
    """The BM25 score of its words."""
    lines: tuple[int, int] = (0, 0)
    context: str = ""
    text: str = ""
    members: tuple[str, ...] = ()
    """The paths of the active memories that state a part of a block of a source."""

    @property
    def place_key(self) -> str:
        """Return the key by which blocks with equal scores are sorted."""
        return self.path if self.id else f"{self.path}:{self.part:07}"


class Held(msgspec.Struct, frozen=True):
    """What a text contains of a question: the weighted share of the words of its best phrasing.

    A text answers if it contains enough of a phrasing, and one statement in it half of the rarest
    words that any text contains.
    """

    share: float = 1.0
    answers: bool = True
    count: int = 2
    """The number of words contained. A single word is no sure answer."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A block that a search found, with its score and what it contains of the question."""

    block: Block
    score: float = 0.0
    """Higher is better."""
    parts: Mapping[str, float] = msgspec.field(default_factory=dict)
    """The contribution of each signal to the score."""
    around: Block | None = None
    """The block of a source that contains the statement of a memory."""
    held: Held = msgspec.field(default_factory=Held)
    nearby: str = ""
    """The lines around a memory's own in its source."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a question, and a function that counts a memory's earlier retrievals."""

    now: datetime
    retrievals: Callable[[str], int] = lambda _: 0


K1, B, HEAD = 1.2, 0.5, 0.5
"""BM25's constants, and the weight of a word in the headings of a block."""


Around = Callable[[Block], tuple[int, int]]
"""Return the numbers of the blocks before and after a block in its source, or 0."""
Load = Callable[[int], Block | None]
"""Return the block with a number."""
_MATCHES = ("words", "reply", "date", "meaning")
"""The signals of which a hit has at least one, unless a block of its source has."""
MAX_LENDING = 200
"""The number of best hits that lend a score to the text before or after them."""
_DOUBLINGS = 5
"""How often the number of retrievals must double to reach the maximum bonus."""
_USUAL = 0.4
"""The minimum importance of a memory of normal level. It adds nothing to the score."""


def rank(
    question: Question,
    blocks: Iterable[Block],
    count: int,
    weights: Weights,
    moment: Moment | None = None,
    *,
    around: Around = lambda _: (0, 0),
    load: Load = lambda _: None,
    likeness: Mapping[int, float] | None = None,
    whole: float = 0.0,
) -> list[Found]:
    """Return the `count` best hits for a question, best first. Ties are sorted by path.

    A memory has the score of its best paragraph. Without a moment, only the match with the question
    counts. `likeness` has cosines by number. Meaning gets what the words of the best block leave
    open of `whole`, the score of a text with all of them.
    """
    found = {block.number: block for block in blocks}
    lowered = 0.0 if question.of_assistant else weights.answers.assistant
    words = {n: b.words * (1 - lowered * (ASSISTANT in b.cues)) for n, b in found.items()}
    lent, replies = _lent(found, words, weights, around, load)
    found |= replies
    most = max((words.get(n, 0.0) + lent.get(n, 0.0) for n in found), default=0.0)
    top = max(most, whole if likeness else 0.0) or 1.0
    words, lent = ({n: value / top for n, value in one.items()} for one in (words, lent))
    subject = _named_subject(question, found)
    closest = max((likeness or {}).values(), default=0.0) or 1.0
    scored = []
    for n, block in found.items():
        value = words.get(n, 0.0) + lent.get(n, 0.0)
        parts = {
            "words": words.get(n, 0.0),
            "reply": lent.get(n, 0.0),
            "subject": weights.subject * (subject != "" and block.subject == subject),
            "answer": _by_cues(question, block, weights) * value,
            "date": weights.span * any(a <= block.day <= b for a, b in question.spans),
        }
        if likeness and n in likeness:
            left = weights.meaning * (1 - most / top)
            parts["meaning"] = left * max(0.0, likeness[n]) / closest
        one = Found(block=block, score=sum(parts.values()), parts=parts)
        scored.append(_with_merits(one, weights, moment) if moment else one)
    scored.sort(key=lambda one: (one.score, -one.block.part))
    merits = weights if moment else None
    every = _without_repeats({one.block.place_key: one for one in scored}, merits)
    best = [one for one in every if one.around or any(map(one.parts.get, _MATCHES))]
    return sorted(best, key=lambda one: (-one.score, one.block.place_key))[:count]


def _without_repeats(best: Mapping[str, Found], merits: Weights | None) -> Iterable[Found]:
    """Give the score of each block of a source to the best memory that states a part of it.

    A memory that does not match itself gets none: the match is in other lines of the block.
    """
    found = dict(best)
    for key, one in best.items():
        members = [found[member] for member in one.block.members if member in found]
        members = [member for member in members if any(map(member.parts.get, _MATCHES))]
        if members:
            memory = max(members, key=lambda member: member.score)
            parts = dict(memory.parts)
            score = max(_as_note(one.score, memory.block, merits), memory.score)
            if score > memory.score:
                parts["passage"] = score - memory.score
            found[memory.block.path] = replace(memory, score=score, parts=parts, around=one.block)
            del found[key]
    return found.values()


# -- what the question says ------------------------------------------------------------------


def _named_subject(question: Question, found: Mapping[int, Block]) -> str:
    """Return the subject that the question names, or an empty string if none or several."""
    asked = frozenset(question.words)
    subjects = {block.subject for block in found.values()} - {""}
    named = {subject for subject in subjects if asked.issuperset(subject.split())}
    return named.pop() if len(named) == 1 else ""


def _lent(
    found: Mapping[int, Block],
    words: Mapping[int, float],
    weights: Weights,
    around: Around,
    load: Load,
) -> tuple[dict[int, float], dict[int, Block]]:
    """Return the scores that turns of a conversation get from the turns before or after them.

    The second value has replies that no word of the question found.

    Adjacent hits lend to each other. A question lends to the reply of another speaker, which often
    has none of its words and is added. An assistant's answer lends to the user's turn, because it
    repeats much of it. A user's turn lends nothing to the answer, because every turn is answered.
    """
    lent: dict[int, float] = {}
    replies: dict[int, Block] = {}
    best = sorted(words, key=lambda n: (-words[n], n))[:MAX_LENDING]
    turns = (b for b in (found[n] for n in best) if b.subject or {USER, ASSISTANT} & {*b.cues})
    for one in (turn for turn in turns if turn.thread):
        before, after = around(one)
        asks = ASKS in one.cues and USER not in one.cues
        for number in filter(None, (before, after)):
            other = (
                found.get(number)
                or replies.get(number)
                or (load(number) if asks and number == after else None)
            )
            if other is None:
                continue
            share, answers = weights.neighbour, weights.answers
            is_turn = ASSISTANT in one.cues and USER in other.cues
            is_reply = asks and ASSISTANT not in other.cues and other.subject != one.subject
            if number == before and is_turn:
                share = answers.question
            elif number == after and is_reply:
                share = answers.reply
                replies[number] = other
            elif (number == after and USER in one.cues) or not words.get(number):
                continue
            lent[number] = lent.get(number, 0.0) + share * words[one.number]
    return lent, replies


def _by_cues(question: Question, block: Block, weights: Weights) -> float:
    """Return the share of its score that a text gains or loses for what it is.

    It gains for the kinds of answer it contains. A question loses, half if it also says something
    about its speaker.
    """
    answers, cues = weights.answers, block.cues
    share = answers.fits * sum(kind in cues for kind in question.wanted)
    if ASKS in cues and USER not in cues:
        share -= answers.asks / 2 if SELF in cues and ASSISTANT not in cues else answers.asks
    return share


# -- what counts whatever is asked -----------------------------------------------------------


def _with_merits(one: Found, merits: Weights, moment: Moment) -> Found:
    """Add the bonuses that do not depend on the question to a block's score."""
    block = one.block
    share = merits.recency
    parts = {name: value * (1 - share) for name, value in one.parts.items()}
    age = max(0, seconds(moment.now) - block.seen)
    parts["recency"] = share * float(0.5 ** (age / merits.half_life.total_seconds()))
    count = moment.retrievals(block.id) if block.id else 0
    parts["access"] = min(merits.access, merits.access / _DOUBLINGS * math.log2(1 + count))
    # A record covers a whole day, so words in it do not show how important it is.
    if block.importance is not None and not block.is_record:
        parts["importance"] = (block.importance - _USUAL) * merits.importance
    if block.is_record:
        score = sum(parts.values())
        parts["note"] = _as_note(score, block, merits) - score
    return Found(block=block, score=sum(parts.values()), parts=parts)


def _as_note(score: float, block: Block, merits: Weights | None) -> float:
    """Return a score without the share that a memory of a whole day or session loses."""
    return score - merits.note * max(0.0, score) if merits and block.is_record else score


# -- whether a text answers ------------------------------------------------------------------

CONFIDENCES = ("high", "medium", "low", "very low")
ENOUGH = 0.35
"""The minimum share of a phrasing's words in a text that answers."""
ALIKE = 0.35
"""The minimum cosine for a text that answers by its meaning, whatever its words."""
SURE = 0.75
"""The minimum share for a high confidence."""
_UNSURE = 0.74
_BAR, _PHRASINGS = 0.575, 4
"""The minimum score of an answer per phrasing, in logarithms of the number of blocks, and the
number of phrasings from which it stays the same. Of eighteen questions without an answer, eleven
stay below it, and of 61 found answers two."""
_LONG = 6
"""This many matching words are sufficient for a long question, such as a whole prompt."""
_SMALLEST = 50
"""The minimum corpus size for rarities. In a smaller corpus every word would look common."""
_RARE = 0.9
"""Words with at least this share of the weight of the rarest one are as rare: counts are chance."""
MAX_HOLDERS, MAX_SHARE = 16, 50
"""A telling word is in at most this many blocks, or one of this many of all blocks."""
_FAINT = 0.2
"""The weight of a word that only names a kind of answer, such as `name` and `number`."""


class Corpus(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A question's words among `size` blocks. `holders` counts the blocks with each of their forms.

    All forms of a word count as one.
    """

    question: Question
    holders: Mapping[str, int]
    size: int

    def bm25(
        self,
        asked: Sequence[str],
        blocks: Sequence[Block],
        held: Mapping[int, tuple[Sequence[str], Sequence[str]]],
    ) -> list[Block]:
        """Return blocks with the BM25 scores of the words asked for.

        `held` has the terms of each block: of its headings, and of its text.
        """
        average = sum(len(terms) for _, terms in held.values()) / (len(held) or 1) or 1.0
        word_of: dict[str, str] = {}
        for term in asked:
            for form in (term, *self.question.terms[term]):
                if form in self.holders:
                    word_of.setdefault(form, term)
        rarity = {term: self._rarity(term) * (K1 + 1) for term in asked}
        scored = []
        for block in blocks:
            head, terms = held[block.number]
            counts: dict[str, float] = {}
            for found, weight in ((head, HEAD), (terms, 1.0)):
                for form in found:
                    if (term := word_of.get(form, "")) != "":
                        counts[term] = counts.get(term, 0.0) + weight
            base = K1 * (1 - B + B * len(terms) / average)
            score = sum(rarity[term] * n / (n + base) for term, n in sorted(counts.items()))
            scored.append(replace(block, words=score))
        return scored

    @property
    def whole(self) -> float:
        """Return the BM25 score of a text of average length with each word of the question."""
        return math.fsum(map(self._rarity, self.question.terms))

    def _rarity(self, term: str) -> float:
        count = self._count(term)
        return math.log(1 + (self.size - count + 0.5) / (count + 0.5))

    def _count(self, term: str) -> int:
        forms = (term, *self.question.terms[term])
        return max((self.holders.get(form, 0) for form in forms), default=0)

    @cached_property
    def _weights(self) -> dict[str, float]:
        """Return the weight of each term: the fewer blocks contain it, the higher.

        A pair of characters that no block contains counts if no other pair has its characters.
        """
        faint, found = self.question.faint, dict[str, float]()
        pairs = [term for term in self.question.terms if is_spaceless(term)]
        known = frozenset("".join(filter(self._count, pairs)))
        for term in self.question.terms:
            held = self._count(term)
            is_torn = not held and (term in faint or not known.isdisjoint(term))
            if term not in self.question.timed and not (is_torn and is_spaceless(term)):
                weight = math.log(1 + max(self.size, _SMALLEST) / max(held, 0.5))
                found[term] = weight * (_FAINT if term in faint else 1.0)
        return found

    @cached_property
    def _shares(self) -> dict[str, float]:
        """Return the weights, of which pairs of characters that overlap, as one word, have one."""
        found, word = dict(self._weights), list[str]()
        for term in self._weights:
            goes_on = word and is_spaceless(term) and word[-1][-1] == term[0]
            word = [*(word if goes_on else ()), term] if term not in self.question.faint else []
            found |= {part: self._weights[part] / len(word) for part in word}
        return found

    def held(
        self, own: Callable[[], Iterable[Collection[str]]], text: Collection[str], words: float
    ) -> Held:
        """Return what a text contains of the question, by its terms and the score of its words.

        `own` returns the terms of each statement of the hit, without the lines around it that are
        in `text`: one statement must hold half of the rarest words.
        The more phrasings a question has, the likelier a text contains enough of one by chance. So
        its score must grow with them, unless the text has nearly all words of one.
        """
        question = self.question
        alone = cache(lambda: [*map(self._asked_in, own())])
        mine = self._asked_in(text)
        phrasings = ([t for t in one if t in self._weights] for one in question.phrasings)
        every = [self._held(phrasing, mine, alone) for phrasing in phrasings if phrasing]
        best = max(every, key=lambda one: (one.answers, one.share), default=Held())
        count = min(len(question.phrasings), _PHRASINGS)
        bar = _BAR * count * math.log(1 + self.size)
        is_whole = best.answers and best.share >= SURE and best.count > 1
        if count < 2 or is_whole or words >= 1.6 * bar:
            return best
        return Held(min(best.share, _UNSURE), best.answers and words >= bar, best.count)

    def share(self, text: Collection[str]) -> float:
        """Return the share of a phrasing that a text has, of the words that any text contains."""
        known = {term: weight for term, weight in self._weights.items() if self._count(term)}
        every = max((sum(known.get(t, 0.0) for t in p) for p in self.question.phrasings), default=0)
        return math.fsum(known.get(t, 0.0) for t in self._asked_in(text)) / (every or 1.0)

    def telling(self, text: Collection[str]) -> set[str]:
        """Return the words asked for that a text has, and few texts."""
        most = max(MAX_HOLDERS, self.size // MAX_SHARE)
        return {term for term in self._asked_in(text) if self._count(term) <= most}

    def rarest_missing(self, text: Collection[str]) -> frozenset[str]:
        """Return the forms of words asked for that a text lacks, as rare as the rarest it has."""
        held, forms = self._asked_in(text), self.question.terms
        asked = {t: self._weights[t] for t in self.question.phrasings[0] if t in self._weights}
        least = _RARE * max((asked[term] for term in held & asked.keys()), default=0.0)
        missing = [t for t, weight in asked.items() if weight >= least and t not in held]
        return frozenset(form for term in missing for form in (term, *forms[term]))

    def _asked_in(self, text: Collection[str]) -> set[str]:
        """Return the words asked for that a text has, by its terms."""
        asked = self.question.terms.items()
        return {term for term, forms in asked if any(form in text for form in (term, *forms))}

    def _held(
        self, phrasing: Sequence[str], held: set[str], alone: Callable[[], list[set[str]]]
    ) -> Held:
        weights, shares = self._weights, self._shares
        count = min(len(phrasing), _LONG)
        every = sum(shares[term] for term in phrasing) * count / len(phrasing)
        mine = [term for term in phrasing if term in held]
        share = min(1.0, sum(shares[term] for term in mine) / every)
        known = {term: weights[term] for term in phrasing if self._count(term)}
        least = _RARE * max(known.values(), default=math.inf)
        rarest = {term for term, weight in known.items() if weight >= least}

        def decides(found: set[str]) -> bool:
            return 0 < len(rarest) <= 2 * len(rarest & found)

        is_long = len(phrasing) > _LONG
        answers = is_long or (decides(held) and any(map(decides, alone())))
        return Held(share, answers and share >= ENOUGH, len(mine))


def sureness(held: Held, *others: str) -> str:
    """Return the lowest of several confidences: the one for what a text holds, and `others`."""
    is_sure = held.answers and held.share >= SURE and held.count > 1
    word = "high" if is_sure else "medium" if held.answers else "low"
    return max((word, *others), key=CONFIDENCES.index)
