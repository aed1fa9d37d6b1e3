"""Whether a wording says what its evidence says: every word, number, name and bound has a source.

Words are compared, not meanings. A wording may turn the evidence round, join and leave out; what it
may not do is add a number, name, date, path, quote or word that stands nowhere, exchange two that
do, or change what is negated, required, allowed, conditional, doubtful or planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.policies.figures import Evidence, date_faults, literal_faults, number_faults
from memrepo.policies.languages import bare, fold
from memrepo.policies.order import order_faults, particle_faults
from memrepo.policies.turns import (
    granted_faults,
    mark_faults,
    negation_faults,
    question_faults,
    whole_faults,
)
from memrepo.policies.wording_lists import language_in, plainly, unit_of
from memrepo.policies.wording_marks import Statement, Token, parted, sentences

__all__ = ["Evidence", "unfaithful", "unsupported"]

_WIDE = regex("[\u3400-\u9fff\uf900-\ufaff\u30a0-\u30ff\uac00-\ud7af]")
_PREFIX, _SHARE = 5, 0.7
_COMPOUND = 4


def unfaithful(said: str, evidence: Evidence) -> str:
    """Return what a wording says that its evidence does not, as a judge is told it, or nothing."""
    whole, said = "\n".join(evidence.texts), _unnumbered(said)
    if normalise(said) in normalise(whole):
        return _kept_whole(said, whole)
    words = language_in(f"{whole}\n{said}")
    mine, theirs, beside, named = (
        Statement(parted(text), words)
        for text in plainly(
            (said, whole, "\n".join(evidence.beside), "\n".join(evidence.named)), words
        )
    )
    faults = chain(
        literal_faults(said, (whole, *evidence.beside, *evidence.named)),
        date_faults(said, evidence, words),
        number_faults(mine, mine.raw, (theirs, beside, named), evidence),
        _words(mine, theirs, beside, named),
        negation_faults(mine, theirs),
        mark_faults(mine, theirs, beside),
        order_faults(mine, theirs),
        particle_faults(mine, theirs),
        whole_faults(mine, theirs),
        granted_faults(mine, theirs),
        question_faults(mine, whole),
    )
    return next(faults, "")


_STEP = regex(r"(?:(?<=\s)|^)(\d{1,2})[.)]\s")


def _unnumbered(said: str) -> str:
    """Take the numbers off steps that are counted from 1: markers of a list are no numbers."""
    steps = [int(n) for n in _STEP.findall(said)]
    if len(steps) > 1 and steps == list(range(1, len(steps) + 1)):
        return _STEP.sub("", said)
    return said


def unsupported(said: str, text: str, evidence: Evidence) -> str:
    """Return what a short field says that neither its evidence nor the claim's text does."""
    whole = "\n".join((*evidence.texts, text))
    if normalise(said) in normalise("\n".join((whole, *evidence.beside))):
        return ""
    words = language_in(f"{whole}\n{said}")
    mine, theirs = Statement(parted(said), words), Statement(parted(whole), words)
    beside = Statement(parted("\n".join(evidence.beside)), words)
    empty = Statement("", words)
    faults = chain(
        date_faults(said, evidence, words),
        number_faults(mine, said, (theirs, beside, empty), evidence),
        _words(mine, theirs, beside, empty, anchored=False),
        ("a negation was added",) if mine.negated() and not theirs.negated() else (),
    )
    return next(faults, "")


def _kept_whole(said: str, whole: str) -> str:
    """Return what a part loses that is cut out of its sentence: what stands right around it."""
    words = language_in(whole)
    for sentence in sentences(whole):
        if normalise(said) not in normalise(sentence) or len(said) >= len(sentence.strip()):
            continue
        mine, theirs = Statement(said, words), Statement(sentence, words)
        return next(
            chain(negation_faults(mine, theirs), mark_faults(mine, theirs, Statement("", words))),
            "",
        )
    return ""


# -- words ---------------------------------------------------------------------------------------


def _words(
    mine: Statement,
    theirs: Statement,
    beside: Statement,
    named: Statement,
    *,
    anchored: bool = True,
) -> Iterator[str]:
    if mine.words.wide:
        yield from _signs(mine, (theirs, beside, named))
        return
    known = theirs.stems | beside.stems
    texts = {t.text for t in (*theirs.tokens, *beside.tokens)}
    names = {t.text for t in named.tokens if t.raw[:1].isupper()}
    groups = {g for stem in known for g in mine.words.groups.get(stem, ())}
    foreign = []
    held = 0
    told = mine.carriers(theirs.marks())
    spelled = _spelled_out(mine, (*theirs.tokens, *beside.tokens))
    counted = mine.counted()
    for token in (*mine.content, *counted):
        if theirs.labelled and token.stem in mine.words.label:
            continue
        if token.text in spelled or token.text in told or _measures(mine, token):
            continue
        is_name = _is_name(token, mine)
        if is_name and any(
            g in mine.words.names.get(other, ())
            for g in mine.words.names.get(token.stem, ())
            for other in known
        ):
            continue
        if is_name and token.text not in mine.words.months and _respelled(token, mine, texts):
            foreign.append(token.raw)
            continue
        if token.stem in known or token.text in texts or (is_name and token.text in names):
            held += token.stem in theirs.stems
            continue
        if unit_of(token.text) and (
            mine.measures(token) or any(unit_of(t) == unit_of(token.text) for t in texts)
        ):
            continue
        if token.text in mine.words.months or token.text in ("am", "pm", "uhr", "h", "k"):
            continue
        if not is_name and any(g in groups for g in mine.words.groups.get(token.stem, ())):
            held += 1
            continue
        if _is_compound(token, known | texts, mine):
            held += 1
            continue
        if any(_stands(form, known) for form in _parted(token, mine)):
            held += 1
            continue
        if not is_name and any(_akin(token, other) for other in (*theirs.tokens, *beside.tokens)):
            held += 1
            continue
        foreign.append(token.raw)
    if foreign:
        yield f"not in the evidence: {', '.join(dict.fromkeys(foreign[:5]))}"
    elif anchored and mine.content and not held:
        yield "it says nothing that its evidence says"


def _respelled(token: Token, one: Statement, texts: Iterable[str]) -> bool:
    """Tell whether a name has another ending: Bruna for Bruno. Russian names are inflected."""
    if one.words.name in _INFLECTED or token.text in texts:
        return False
    forms = {token.text.removesuffix("s"), f"{token.text}s", f"{token.text}es"}
    return forms.isdisjoint(texts) and not token.raw.isupper() and token.raw[1:].islower()


_INFLECTED = (
    "russian",
    "german",
    "polish",
    "czech",
    "ukrainian",
    "finnish",
    "hungarian",
    "turkish",
)


def _spelled_out(mine: Statement, tokens: Iterable[Token]) -> frozenset[str]:
    """Return short forms and the words whose first letters they are: TZ, time zone."""
    tokens = tuple(tokens)
    found = set()
    for long, shorts in ((mine.tokens, tokens), (tokens, mine.tokens)):
        short = {t.raw.removesuffix("s").lower(): t.text for t in shorts if _SHORT.fullmatch(t.raw)}
        row = [t.text for t in long if t.text.isalpha()]
        for size in {len(s) for s in short}:
            for at in range(len(row) - size + 1):
                first = "".join(word[0] for word in row[at : at + size])
                if first in short:
                    found |= {short[first], *row[at : at + size]}
    return frozenset(found)


_SHORT = regex(r"[A-Z]{2,5}s?")


def _measures(one: Statement, token: Token) -> bool:
    """Tell whether a word only closes a measure: 280 characters long."""
    at = one.tokens.index(token)
    return token.text in _MEASURES and at > 0 and bool(unit_of(one.tokens[at - 1].text))


_MEASURES = frozenset("long old high tall wide lang alt hoch breit largo lungo longo".split())


def _is_name(token: Token, one: Statement) -> bool:
    """Tell whether a word is written as a name; German writes every noun so."""
    inner = token.raw[1:] != token.raw[1:].lower()
    capital = token.raw[:1].isupper() and not token.first and one.words.name != "german"
    return inner or capital


def _is_compound(token: Token, known: Iterable[str], one: Statement) -> bool:
    """Tell whether a word adds to one of the evidence what says nothing: Test, Testlauf."""
    if one.words.name not in ("german", "dutch"):
        return False
    word = token.text
    tails = (word[: -len(tail)] for tail in _TAILS if word.endswith(tail))
    return any(len(head) >= _COMPOUND and head.removesuffix("s") in known for head in tails)


_TAILS = "lauf fall zeit dauer ort stelle datum nummer art vorgang teil geval tijd".split()


def _parted(token: Token, one: Statement) -> Iterator[str]:
    """Yield the stems of a German or Dutch verb without its prefix: `ausgeliefert`, liefern aus."""
    if one.words.name not in ("german", "dutch"):
        return
    word = token.text
    for prefix in ("", *_PREFIXES):
        if not word.startswith(prefix):
            continue
        rest = word[len(prefix) :]
        for inner in ("ge", "zu", "te"):
            if rest.startswith(inner) and len(rest) > len(inner) + 2:
                yield one.words.stem(rest[len(inner) :])
                yield one.words.stem(rest[len(inner) :]).removesuffix("t")
        if prefix and len(rest) > 2:
            yield one.words.stem(rest)


def _stands(form: str, known: Iterable[str]) -> bool:
    return any(form == k or (len(k) >= _COMPOUND and form.startswith(k)) for k in known)


_PREFIXES = (
    "aus ab an auf ein vor zu um mit nach los weg zuruck her hin uit af op in mee terug".split()
)


def _akin(token: Token, other: Token) -> bool:
    """Tell whether two words are forms of one: most of their letters, or a part of a compound."""
    one, two = token.stem, other.stem
    if _inflected(bare(token.text), bare(other.text)):
        return True
    short = min(len(one), len(two))
    if short < _COMPOUND or other.number:
        return False
    shared = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), short)
    if shared >= _PREFIX and shared >= _SHARE * max(len(one), len(two)):
        return True
    return (
        len(two) >= 2 * _COMPOUND
        and len(one) >= _COMPOUND
        and (two.startswith(one) or two.endswith(one))
        and not two.startswith(("un", "in", "dis", "non"))
    )


def _inflected(one: str, two: str) -> bool:
    """Tell whether two words differ in their endings alone: dauert, dauern; noise, noisy."""
    shared = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), -1)
    shared = min(len(one), len(two)) if shared < 0 else shared
    return any(
        one[cut:] in _ENDINGS and two[cut:] in _ENDINGS for cut in range(_COMPOUND, shared + 1)
    )


_ENDINGS = frozenset(
    (
        "",
        *"""
e s es ed d ing r est er ers or ors ly y ment ments ion ions ation ations al ally ness ity ive able
ance ence ery en n t et st te ten tet er ern em end ung ungen keit heit lich
ee ees ez ent ait ant ement tion o a os as i an ar ir ado ada ados adas ido ida idos
idas ando iendo cion are ere ire ato ata
ati ate amento zione acao
""".split(),
    )
)


def _signs(mine: Statement, sources: Iterable[Statement]) -> Iterator[str]:
    """Yield signs and words of a text without blanks that stand nowhere."""
    known = "".join(fold(one.raw) for one in sources)
    fill = "".join(mine.words.fill)
    marked = "".join(t.text for t in mine.tokens if not mine.tells(t) and not t.number)
    foreign = [
        ch
        for ch in fold(mine.raw)
        if _WIDE.match(ch)
        and ch not in known
        and ch not in fill
        and ch not in marked
        and not mine.words.numbers.get(ch)
    ]
    latin = [
        t.raw
        for t in mine.content
        if not _WIDE.search(t.raw) and t.text not in known and not _kana(t.raw)
    ]
    if foreign or latin:
        yield f"not in the evidence: {', '.join((*latin, *foreign)[:8])}"


def _kana(raw: str) -> bool:
    return all("\u3040" <= ch <= "\u309f" for ch in raw)
