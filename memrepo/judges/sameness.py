"""What says the same: a text reduced to what it says, and candidates folded by it.

Deliberately narrow, since what is folded away is read no more: plurals and persons, articles,
fillers, listed words of one meaning, and a part that moved to the front. Another noun, name,
number, tense, negation or direction ("from A to B") keeps two texts apart.

Texts that go the same way, word by word, where one adds a little, are one too: all words of the
shorter one stand in the longer one in their order, and what the longer adds is no number, no name,
no code, no negation and nothing that binds it to a case. Neighbours of one list are told apart on
purpose, and so are lines that stand under two subjects of one file.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.judge import About, Candidate, PriorClaim, PromotionScores, Shown, VerdictWord
from memrepo.core.patterns import regex
from memrepo.judges import pointers, wordlists
from memrepo.judges.statements import lead_words
from memrepo.judges.wording import bare_object, lead_of, read_triple, tidy
from memrepo.judges.wordlists import NEGATION, terms_of
from memrepo.policies.matching import INACTIVE_STANDINGS, normal_subject, tokens

FEWEST_WORDS = 5
"""Shorter texts have too little of their own: they are compared word by word only."""

_CODE = regex(r"`([^`]*)`")
_WIDE_STOPS = regex("[。、，！；：「」『』（）【】]")
_EDGES = "\"'*_.,;:!()[]{}<>«»„“”‘’。、，！；：「」『』（）【】…-–—"
_SHORT_FORMS = (
    (regex(r"\bcan['’]t\b"), "can not"),
    (regex(r"\bwon['’]t\b"), "will not"),
    (regex(r"(?<=\w)n['’]t\b"), " not"),
    (regex(r"(?<=\w)['’]re\b"), " are"),
    (regex(r"(?<=\w)['’]ve\b"), " have"),
    (regex(r"(?<=\w)['’]ll\b"), " will"),
    (regex(r"\bi['’]m\b"), "i am"),
    (regex(r"\b(he|she|it|that|there|who)['’]s\b"), r"\1 is"),
)
# "is planning to" and "plans to" say the same; "was planning to" is over.
_PROGRESS = regex(r"\b(?:is|are|am)\s+(?:currently\s+|now\s+)?(?=\w{3,}ing\b)")
_KEPT_LY = frozenset(("only", "barely", "hardly", "rarely", "nearly", "july", "family", "italy"))
_WHEN_WORDS = frozenset(
    ("yesterday", "today", "tomorrow", "recently", "lately", "currently", "now", "often", "soon")
)
# Endings of the past tense stay: whoever worked there works there no more.
_STEMS = (("ies", "y", 3), ("ing", "", 3), ("es", "", 3), ("s", "", 3))
_DOUBLED = regex(r"([b-df-hj-km-np-rtv-y])\1$")

# Words that add nothing to a statement when it is compared with another.
_FILLERS = terms_of("""
a, an, the, also, just, really, very, quite, so, then, even, das, der, die, den, dem, auch, sehr
""")
# Each line holds phrases that say the same in a note about people or work; the first stands for
# all. General English, nothing that turns a statement round or names a different thing.
_GROUPS = """
start, begin, commence
starts, begins, commences
started, began, commenced
buy, purchase
buys, purchases
bought, purchased
help, assist
helps, assists
helped, assisted
attend, go to
attends, goes to
attended, went to
participate in, take part in
participates in, takes part in
participated in, took part in
enjoy, like, is fond of
enjoys, likes
enjoyed, liked
want to, would like to, wish to, hope to
wants to, wishes to, hopes to
wanted to, wished to, hoped to
plan to, planning to, intend to, intending to
plans to, intends to
planned to, intended to
believe, think
believes, thinks
believed, thought
get, receive, obtain
gets, receives, obtains
got, received, obtained
makes, creates
made, created
told, informed
talk about, discuss
talks about, discusses
talked about, discussed
fixed, repaired
finished, completed
chose, picked, selected
chooses, picks, selects
uses, utilizes, utilises
used, utilized, utilised
need, require
needs, requires
needed, required
shows, displays
showed, displayed
met, encountered
live in, reside in
lives in, resides in
lived in, resided in
moved to, relocated to
work for, work at
works for, works at, is employed by
worked for, worked at, was employed by
happy, glad, pleased, delighted
thankful, grateful, appreciative
big, large, huge
little, small, tiny
important, significant, essential, crucial
hard, difficult, tough, challenging
quick, fast, rapid
beautiful, gorgeous, lovely
amazing, wonderful, fantastic, great, awesome
afraid of, scared of, frightened of
excited, thrilled
kids, children
kid, child
mom, mother, mum
dad, father
job, position
house, home
houses, homes
photo, picture, photograph
photos, pictures, photographs
movie, film
movies, films
often, frequently
recently, lately
currently, at the moment, at present, now
because, since, as a result of, due to, because of
due on, due by
about, regarding, concerning
during, throughout
many, numerous, a lot of, lots of
various, different
several, a number of
nearby, close by
also, as well, too
together with, along with, with
"""
_LINES = [[p.strip() for p in line.split(",")] for line in _GROUPS.strip().splitlines()]
_MEANING_OF = {phrase: line[0] for line in _LINES for phrase in line}
_SAME_MEANING = regex(
    r"(?<![\w-])(?:"
    + "|".join(
        re.escape(p).replace(r"\ ", r"\s+") for p in sorted(_MEANING_OF, key=len, reverse=True)
    )
    + r")(?!\w|-\w)"
)


def sense(text: str) -> tuple[str, ...]:
    """Return the words of a text in one form and order; empty for a text of under five words.

    Texts of one sense differ in nothing but what this module folds. Words in backticks and words
    with a digit stay as they are.
    """
    words = _plain_words(text)
    if len(words) < FEWEST_WORDS:
        return ()
    moved = sorted(word for word in words if _may_move(word))
    fixed = [_stem(word) for word in words if not _may_move(word)]
    return (*_first_rotation(fixed), "|", *moved)


def _plain_words(text: str) -> list[str]:
    parts = _CODE.split(_WIDE_STOPS.sub(" ", text))
    words: list[str] = []
    for at, part in enumerate(parts):
        if at % 2:
            words += [f"`{word}" for word in part.split()]
            continue
        plain = normalise(part)
        for pattern, long in _SHORT_FORMS:
            plain = pattern.sub(long, plain)
        plain = _SAME_MEANING.sub(_one_of_group, _PROGRESS.sub("", plain))
        found = (word.strip(_EDGES).replace("’", "'") for word in plain.split())
        words += [word for word in found if word and word not in _FILLERS]
    return words


def _one_of_group(match: re.Match[str]) -> str:
    return _MEANING_OF[" ".join(match[0].split())]


def _may_move(word: str) -> bool:
    """Tell whether a word says when or how and so stands anywhere in its sentence."""
    return word in _WHEN_WORDS or (
        len(word) > 4 and word.isalpha() and word.endswith("ly") and word not in _KEPT_LY
    )


def _stem(word: str) -> str:
    """Drop a plain inflection; a word that is not of ASCII letters alone stays as it is."""
    if not (word.isascii() and word.isalpha()) or word.endswith("ss"):
        return word
    for ending, instead, least in _STEMS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = _DOUBLED.sub(r"\1", word[: -len(ending)] + instead)
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _first_rotation(words: list[str]) -> list[str]:
    """Return the rotation that sorts first: "in May she sang" and "she sang in May" are one.

    A rotation swaps two parts of a whole sentence and so never who does what to whom.
    """
    doubled = [*words, *words]
    turns = (doubled[at : at + len(words)] for at in range(len(words)))
    return min(turns, default=[])


COMPRESS_PERSISTENCE = 0.6
_FOLD_FILLERS = frozenset(
    ("a", "an", "the", "also", "just", "really", "very", "der", "das", "den", "dem", "auch")
)
_FOLD_EDGES = "\"'`*_.,;:!()[]{}<>«»„“”‘’。、，！；：「」『』（）【】…-–—"

_Key = tuple[str, tuple[str, ...]]


def equal_groups(
    candidates: Sequence[Candidate], words: Mapping[str, VerdictWord]
) -> dict[str, tuple[str, ...]]:
    """Return, per candidate, the others that say the same in the same or in other words.

    Short texts are equal but for punctuation, case and fillers, longer ones in their sense
    (`judges.sameness`). They merge only under one subject and in one task state, and only where
    at least one of them is promoted by itself. Negation, questions, numbers and direction count.
    """
    groups: dict[_Key, dict[str, list[Candidate]]] = {}
    for candidate in candidates:
        text = bare_object(tidy(candidate.text))
        if said := sense(text) or content(text):
            same = groups.setdefault((candidate.task, said), {})
            same.setdefault(_unsaid_subject(candidate, text), []).append(candidate)
    found: dict[str, tuple[str, ...]] = {}
    for said_alike in groups.values():
        for one in _under_one(said_alike):
            ids = {c.candidate_id for c in one}
            if len(ids) > 1 and any(words[key] == "promote" for key in ids):
                found |= {key: tuple(sorted(ids - {key})) for key in ids}
    return found


def _under_one(said_alike: Mapping[str, list[Candidate]]) -> Iterator[list[Candidate]]:
    """Yield those that say the same of one subject, or under what reads the same before them.

    A log that names no subject says it of the one that there is.
    """
    if len(said_alike) == 1:
        yield from said_alike.values()
        return
    shown: dict[str, list[Candidate]] = {}
    for subject, same in said_alike.items():
        leads = {normalise(lead_words(c)) for c in same}
        shown.setdefault(leads.pop() if len(leads) == 1 else f"§{subject}", []).extend(same)
    bare = shown.get("", [])
    if len(shown) == 2 and bare and all(c.daily for c in bare):
        yield [c for same in shown.values() for c in same]
        return
    yield from shown.values()


def _unsaid_subject(candidate: Candidate, text: str) -> str:
    """Return the subject where the text does not name it itself, else an empty string."""
    triple = read_triple(candidate)
    if triple.shape == 2 or tokens(triple.subject) <= tokens(text):
        return ""
    return normal_subject(triple.subject)


def content(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, without fillers and punctuation at the edges."""
    spaced = _WIDE_STOPS.sub(" ", normalise(text))
    words = (word.strip(_FOLD_EDGES) for word in spaced.split())
    return tuple(word for word in words if word and word not in _FOLD_FILLERS)


def may_fold(scores: PromotionScores) -> bool:
    """Tell whether a weak candidate may be compressed: it persists, and it is no noise."""
    return scores.cross_time_persistence >= COMPRESS_PERSISTENCE and scores.noise_risk < 0.8


def fold_targets(
    candidates: Sequence[Candidate],
    weak: Collection[str],
    surviving: Collection[str],
    strengths: Mapping[str, float],
) -> dict[str, str]:
    """Return for each weak candidate the strongest survivor that says all of it and more.

    Both have one subject, and what the fuller text adds negates nothing. Ties go to the smallest
    id. Survivors are looked up by subject and rarest word, so the cost follows the matches.
    """
    if not weak:
        return {}
    full: dict[tuple[str, str], list[Candidate]] = {}
    subjects = {c.candidate_id: normal_subject(read_triple(c).subject) for c in candidates}
    for candidate in candidates:
        if candidate.candidate_id in surviving:
            for token in tokens(tidy(candidate.text)):
                full.setdefault((subjects[candidate.candidate_id], token), []).append(candidate)
    targets: dict[str, str] = {}
    for candidate in candidates:
        key, said = candidate.candidate_id, tokens(tidy(candidate.text))
        if key not in weak or not said:
            continue
        postings = [full.get((subjects[key], token), []) for token in said]
        fuller = [
            (-strengths[c.candidate_id], c.candidate_id)
            for c in min(postings, key=len)
            if strengths[c.candidate_id] > strengths[key] and _says_more(c, candidate, said)
        ]
        if fuller:
            targets[key] = min(fuller)[1]
    return targets


def _says_more(fuller: Candidate, weak: Candidate, said: frozenset[str]) -> bool:
    if not said < tokens(tidy(fuller.text)) or fuller.task != weak.task:
        return False
    negations = [len(wordlists.NEGATION.findall(c.text)) for c in (fuller, weak)]
    asks = ["?" in c.text or "？" in c.text for c in (fuller, weak)]
    return negations[0] == negations[1] and asks[0] == asks[1]


LONG = 10
"""Shorter texts have too little of their own: one more word may make another thing of them."""
MOST_ADDED = 1 / 5
"""What the longer text may add, as a share of the words of the shorter one."""
NEIGHBOURS = 3
"""Lines of one file that stand so close together are told apart on purpose."""
LOOKED = 32
"""With so many texts that hold its rarest word one is compared."""

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SIGN = regex(f"[{_WIDE}]|[^\\W_{_WIDE}]+")
_MARKED = regex(r"`([^`\n]*)`|[^\s`]+")


class _Said(msgspec.Struct, frozen=True):
    """A text as it is compared: its words in order, and those that may not be added."""

    candidate: Candidate
    text: str
    words: tuple[str, ...]
    fixed: frozenset[str]


def fuller_texts(candidates: Sequence[Candidate], asked: Collection[str]) -> dict[str, str]:
    """Return for each candidate that is said more fully elsewhere the one that does so.

    Only `asked` ids are compared. Each is looked up by the rarest of its words, so the cost follows
    the matches.
    """
    every = [_read(c) for c in candidates if c.candidate_id in asked]
    every = [one for one in every if len(one.words) >= LONG]
    count = Counter(word for one in every for word in set(one.words))
    holders: dict[str, list[_Said]] = {}
    for one in every:
        for word in set(one.words):
            if count[word] <= LOOKED:
                holders.setdefault(word, []).append(one)
    found: dict[str, str] = {}
    for one in every:
        rarest = min(one.words, key=lambda word: (count[word], word))
        fuller = [o for o in holders.get(rarest, ()) if _says_all(o, one)]
        if fuller:
            best = max(fuller, key=lambda o: (len(o.words), o.candidate.candidate_id))
            found[one.candidate.candidate_id] = best.candidate.candidate_id
    return found


def _read(candidate: Candidate) -> _Said:
    return _spoken(candidate, tidy(candidate.text))


def _spoken(candidate: Candidate, text: str) -> _Said:
    return _Said(candidate, text, tuple(_SIGN.findall(normalise(text))), frozenset(_fixed(text)))


def _fixed(text: str) -> Iterator[str]:
    """Yield the words of code, of names and of numbers; a sentence's first word is no name."""
    opens = True
    for match in _MARKED.finditer(text):
        part = match[0]
        name = any(ch.isupper() for ch in part[1:]) or (part[:1].isupper() and not opens)
        if match[1] is not None or name or any(ch.isdigit() for ch in part):
            yield from _SIGN.findall(normalise(part))
        opens = not part[-1:].isalnum() or not any(ch.isalnum() for ch in part)


def _says_all(fuller: _Said, one: _Said) -> bool:
    """Tell whether a candidate says all that another says, and is to speak for both."""
    longer = (len(fuller.words), fuller.candidate.candidate_id)
    if longer <= (len(one.words), one.candidate.candidate_id):
        return False
    if fuller.candidate.task != one.candidate.task or not _covers(fuller, one):
        return False
    return not _told_apart(one.candidate, fuller.candidate)


def _covers(fuller: _Said, one: _Said) -> bool:
    """Tell whether a text says all that another says, in its order, and little more."""
    added = len(fuller.words) - len(one.words)
    if not 0 <= added <= MOST_ADDED * len(one.words):
        return False
    if added and sum(_weight(word) for word in one.words) < LONG:
        return False
    if not fuller.fixed <= set(one.words) or not _in_order(one.words, fuller.words):
        return False
    if not _BINDING.isdisjoint(set(fuller.words) - set(one.words)):
        return False
    return bool(NEGATION.search(normalise(one.text))) == bool(
        NEGATION.search(normalise(fuller.text))
    )


_BINDING = frozenset(
    "if unless until except only when wenn falls außer si sauf se salvo als".split()
)


def _weight(word: str) -> float:
    """Return how much of a word one is: a character of a script without blanks is half of one."""
    return 0.5 if word >= _WIDE[0] else 1


def _in_order(words: Sequence[str], among: Sequence[str]) -> bool:
    rest = iter(among)
    return all(word in rest for word in words)


def _told_apart(one: Candidate, other: Candidate) -> bool:
    """Tell whether two texts stand near each other in one file, or under two of its subjects.

    What has a key says it of what it stands under, in whatever file.
    """
    if one.key and not tokens(" ".join(one.context)) & tokens(" ".join(other.context)):
        return True
    for s in one.sources:
        for t in other.sources:
            if s.resource == t.resource and (
                one.context[-1:] != other.context[-1:] or abs(s.lines[0] - t.lines[0]) <= NEIGHBOURS
            ):
                return True
    return False


MOST_LOOKS = 20_000_000
"""Pairs of a new text and a memory that one request compares; beyond it none is compared."""
PROBE, WIDE_PROBE = 5, 3
"""Characters that a memory must share with a text to be read at all."""


class Standing:
    """The memories that stand, asked whether one says already what a new text says.

    Each text is looked for by a few characters of its longest word, so that a night with ten new
    lines reads few of a hundred thousand memories.
    """

    __slots__ = ("_files", "_low", "_priors", "_starts", "_texts")

    def __init__(self, priors: Sequence[PriorClaim], asked: int) -> None:
        """Take the memories, and how many texts will be asked of them."""
        self._priors = priors if asked * len(priors) <= MOST_LOOKS else ()
        self._texts: list[str] = []
        self._low = ""
        self._starts: list[int] = []
        self._files: Mapping[str, PriorClaim] | None = None

    def says(self, candidate: Candidate) -> str:
        """Return the id of a memory of other files that says the same, or an empty string.

        What has a key, a box or lines below it says it of what it stands under; what a memory
        rests on already says nothing new.
        """
        if same := self._pointed(candidate):
            return same
        if not self._priors or lead_of(candidate)[0] or candidate.task or candidate.detail:
            return ""
        text = bare_object(tidy(candidate.text))
        meant, subject = sense(text), _unsaid_subject(candidate, text)
        one = _spoken(candidate, text)
        if not meant and len(one.words) < LONG:
            return ""
        own = {(s.resource, s.text_hash) for s in candidate.sources}
        files = {s.resource for s in candidate.sources}
        found = []
        for at in self._holding(text):
            about, told = self._about(at), self._texts[at]
            if not files.isdisjoint(about.files):
                if own & {(s.resource, s.text_hash) for s in self._priors[at].sources}:
                    return ""
                continue
            if about.files and about.standing not in INACTIVE_STANDINGS:
                said = bare_object(told)
                equal = (
                    meant and subject == _subject_of(about.subject, told) and sense(said) == meant
                )
                if equal or (len(one.words) >= LONG and _covers(_spoken(candidate, said), one)):
                    found.append(about.memory_id)
        return min(found, default="")

    def _about(self, at: int) -> About:
        priors = self._priors
        if isinstance(priors, Shown):
            return priors.about(at)
        prior = priors[at]
        files = tuple(source.resource for source in prior.sources)
        return About(prior.memory_id, prior.standing, prior.subject, files)

    def _pointed(self, candidate: Candidate) -> str:
        """Return the memory of the file that a line of an index points to and says again."""
        if not (files := pointers.files_of(candidate)):
            return ""
        if self._files is None:
            self._files = pointers.by_file(self._priors)
        found = filter(None, map(self._files.get, files))
        return next((p.memory_id for p in found if pointers.says(p.text, candidate)), "")

    def _holding(self, text: str) -> Iterator[int]:
        """Yield the places of those that hold the beginning of the longest word of a text."""
        if not self._low:
            told = self._priors
            if isinstance(told, Shown):
                self._texts = told.texts()
            else:
                self._texts = [prior.text for prior in told]
            lows = [text.casefold() for text in self._texts]
            self._low = _END.join(lows)
            self._starts = [0, *accumulate(len(low) + len(_END) for low in lows)]
        probe, others = _probe(text.casefold()), _shared_by_all(text)
        found = self._low.find(probe)
        while found >= 0:
            at = bisect(self._starts, found) - 1
            first, found = self._starts[at], self._starts[at + 1]
            # Another spelling of a letter is folded only where the texts are compared.
            if not self._texts[at].isascii() or all(
                self._low.find(other, first, found) >= 0 for other in others
            ):
                yield at
            found = self._low.find(probe, found)


_END = "\0"
"""Between texts that are searched together; no probe holds it."""


def _probe(text: str) -> str:
    words = [word for word in _plain_words(text) if word not in _MEANT]
    longest = max(words, key=lambda word: (len(word), word), default="").lstrip("`")
    if longest[:1] >= _WIDE[0]:
        middle = len(longest) // 2
        return longest[middle : middle + WIDE_PROBE]
    return longest[:PROBE]


def _shared_by_all(text: str) -> frozenset[str]:
    """Return how words of a text begin that stand, so begun, in each text that says the same.

    Their stem does, but for a last `y` that an ending replaces. A word that another may stand for
    does not, nor one that is short: it may have been a part of another (`we'll`).
    """
    low = text.casefold()
    words = (word for word in _plain_words(low) if word.isascii() and word.isalpha())
    stems = (_stem(word) for word in words if word in low and not _may_move(word))
    found = (stem.removesuffix("y")[:PROBE] for stem in stems if stem not in _MEANT_STEMS)
    return frozenset(begun for begun in found if len(begun) == PROBE)


_MEANT = frozenset(word for phrase in _MEANING_OF for word in phrase.split())
_MEANT_STEMS = frozenset(map(_stem, _MEANT))


def _subject_of(subject: str, text: str) -> str:
    """Return the subject of a memory where its text does not name it, else an empty string."""
    return "" if tokens(subject) <= tokens(text) else normal_subject(subject)
