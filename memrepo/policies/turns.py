"""What a rewording may not turn round: what is negated, bounded or asked, and who does what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from memrepo.core.patterns import regex
from memrepo.policies.wording_marks import Statement, Token, Words, sentences

_LOST = ("must", "should", "may", "only", "if", "maybe", "often", "sometimes", "except", "plan")
_COVERED = 0.5
"""A clause of the evidence of which a wording holds this share of the words is said by it."""
_MOSTLY = 0.6


# -- negations, marks and order ------------------------------------------------------------------


def negation_faults(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield a negation that was lost or added: by what each of them denies."""
    if mine.words.wide:
        one, two = _wide_marks(mine, "not"), _wide_marks(theirs, "not")
        if one % 2 != two % 2 or bool(one) != bool(two):
            yield "a negation was lost or added"
        return
    ours, others = mine.negated(), theirs.negated()
    for scope, whole in ours:
        if not any(
            _meet(mine, scope, other) or (_meet(mine, whole, other) and len(ours) == len(others))
            for other, _ in others
        ):
            yield "a negation was added"
    if _twofold(theirs) and ours and not _twofold(mine):
        yield "one of two negations was lost"
    if _twofold(mine) and others and not _twofold(theirs):
        yield "a second negation was added"
    said = frozenset(t.stem for t in mine.content)
    for scope, _ in others:
        touched = _meet(mine, scope, said)
        if touched and not any(_meet(mine, scope, whole) for _, whole in ours):
            yield "a negation was lost"


def _twofold(one: Statement) -> bool:
    """Tell whether a sentence negates twice: "do not merge without a review"."""
    return any(t.text in _WITHOUT for t in one.tokens) and one.negators() > 1


_WITHOUT = frozenset("without ohne sans sin senza sem без zonder".split())


def _meet(one: Statement, left: frozenset[str], right: frozenset[str]) -> bool:
    """Tell whether two sets of words have one in common, or two of one meaning."""
    if left & right:
        return True
    groups = {g for stem in left for g in one.words.groups.get(stem, ())}
    return any(g in groups for stem in right for g in one.words.groups.get(stem, ()))


def _wide_marks(one: Statement, name: str) -> int:
    """Count signs of a list in a text without blanks; what only looks like one goes first."""
    text = "".join(one.text.split())
    for phrases in (one.words.even,):
        for group in phrases.values():
            for phrase in group:
                text = text.replace("".join(phrase), "＃")
    table = one.words.negators if name == "not" else one.words.marks[name]
    count = 0
    for phrase in sorted((p for g in table.values() for p in g), key=len, reverse=True):
        joined = "".join(phrase)
        count += text.count(joined)
        text = text.replace(joined, "＃")
    return count


def _found(one: Statement) -> set[str]:
    if one.words.wide:
        return {name for name in one.words.marks if _wide_marks(one, name)}
    return set(one.marks())


def _said_clauses(mine: Statement, theirs: Statement) -> set[str]:
    """Return the marks of what a wording says of its evidence: of whole sentences, or their parts.

    A condition holds for its whole sentence, a duty for the part that it stands in.
    """
    if theirs.words.wide:
        return _found(theirs)
    said = frozenset(t.stem for t in mine.content)
    groups = frozenset(g for stem in said for g in mine.words.groups.get(stem, ()))
    found: set[str] = set()
    for sentence in sentences(theirs.raw.replace(";", ".")):
        one = Statement(sentence, theirs.words)
        if not _says(one.content, said, groups, one.words):
            continue
        found |= one.marks().keys() & _WHOLE
        for clause in one.clauses:
            if len(one.clauses) == 1 or _says(
                [t for t in clause if one.tells(t)], said, groups, one.words
            ):
                found |= one.marks(clause).keys()
    return found


_WHOLE = frozenset(("if", "maybe", "except", "report", "only"))


def _says(
    content: Sequence[Token], said: frozenset[str], groups: frozenset[int], words: Words
) -> bool:
    """Tell whether words are said: half of them are, or they are most of what is said."""
    stems = {t.stem for t in content}
    held = sum(s in said or any(g in groups for g in words.groups.get(s, ())) for s in stems)
    return bool(stems) and (held >= _COVERED * len(stems) or held >= _MOSTLY * len(said) > 0)


def mark_faults(mine: Statement, theirs: Statement, beside: Statement) -> Iterator[str]:
    """Yield a bound, a duty, a leave, a condition or a doubt that was added or lost."""
    ours, others = _found(mine), _found(theirs)
    strong = _said_clauses(mine, theirs)
    negative = bool(theirs.negated()) if not theirs.words.wide else _wide_marks(theirs, "not") > 0
    denied = bool(mine.negated()) if not mine.words.wide else _wide_marks(mine, "not") > 0
    firm = {"must", "always", "only"} & others or negative or _orders_somebody(theirs)
    for name in sorted(ours - others - {"when", "report", "ask"}):
        if name == "must" and (firm and not {"may", "should", "maybe"} & others):
            continue
        if name in ("may", "must") and negative and denied:
            continue
        if name == "always" and ({"only", "must"} & others or negative) and _is_ever(mine):
            continue
        if name == "plan" and ("maybe" in ours & others or _is_dated(theirs)):
            continue
        if name == "former" and negative and denied:
            continue
        if name == "if" and "when" in others:
            continue
        if name == "only" and ("except" in others and negative):
            continue
        if name == "except" and ({"only", "if"} & others):
            continue
        if name == "why" and ("when" in others or _is_joined(theirs)):
            continue
        if name in BOUNDED and name in _found(beside):
            continue
        yield f"`{name}` was added: {_NAMES[name]}"
    for name in sorted((strong - ours) & {*_LOST, "about", "least", "most", "former", "report"}):
        if name in ("may", "must") and negative and denied:
            continue
        if name == "must" and ({"always", "only"} & ours or _orders_somebody(mine)):
            continue
        if name == "should" and _orders_somebody(mine):
            continue
        if name == "if" and ({"when", "except", "only"} & ours):
            continue
        if name == "only" and ("except" in ours or (denied and not negative)):
            continue
        if name == "except" and ({"only", "if"} & ours or denied):
            continue
        if name in ("about", "least", "most") and not any(t.number for t in mine.tokens):
            continue
        if name == "report" and _of_itself(theirs):
            continue
        yield f"`{name}` was lost: {_NAMES[name]}"


BOUNDED = ("about", "least", "most")
_NAMES = {
    "must": "what must be",
    "should": "what should be",
    "may": "what may be, or can be",
    "only": "a limit to one thing",
    "if": "a condition",
    "maybe": "a doubt",
    "always": "that it holds for all, or always",
    "often": "that it mostly holds",
    "sometimes": "that it holds for some, or sometimes",
    "about": "that a number is rough",
    "least": "a lower bound",
    "most": "an upper bound",
    "except": "an exception",
    "plan": "what is only planned or wished",
    "former": "that it held once",
    "report": "who says so",
    "why": "a reason",
}


def _is_ever(one: Statement) -> bool:
    """Tell whether a text says always, which a rule does anyway, rather than all."""
    return any(t.text in _EVER for t in one.tokens)


_EVER = frozenset("always immer stets toujours siempre sempre всегда altijd".split())


def _is_dated(one: Statement) -> bool:
    """Tell whether a text names a month or a year: what is to come may stand in the present."""
    years = ("19", "20")
    return any(
        t.text in one.words.months or (len(t.number) == 4 and t.number.startswith(years))
        for t in one.tokens
    )


def _is_joined(one: Statement) -> bool:
    """Tell whether a text gives a reason by its signs: a colon, a dash, "so", "as"."""
    return any(
        t.text in (":", "—", "–", ";", "so", "as", "also", "da", "car", "for") for t in one.tokens
    )


def _of_itself(one: Statement) -> bool:
    """Tell whether somebody reports of themselves: "she said that she prefers tea"."""
    at = one.marks().get("report", -1)
    after = [t.text for t in one.tokens[at + 1 : at + 4]]
    return any(word in _PRONOUNS for word in after)


_PRONOUNS = frozenset(
    "he she they i er sie il elle ils elles ella ele ela lui lei он она они hij zij we wir".split()
)


def _orders_somebody(one: Statement) -> bool:
    """Tell whether a text opens as an instruction does: with a verb and no subject before it."""
    for sentence in sentences(one.raw):
        for clause in Statement(sentence, one.words).clauses:
            row = [
                t for t in clause if t.text.isalpha() and t.text not in ("then", "please", "and")
            ]
            if row and row[0].text in _IMPERATIVES:
                return True
    return False


_IMPERATIVES = frozenset(
    """
use run keep never always do don't don check ask deploy put set write make avoid call send store
add prefer page raise lower move take bring turn ensure test commit merge review back open close
start stop restart update install remove delete rotate encrypt log notify tell wait leave clean
empty prune water plant feed lock sign name format lint pin tag follow read verify confirm book
pay mention include exclude limit round answer reply ship only nutze verwende immer nie niemals
stets prüfe frage schreibe halte lass gieße schneide sichere utilise utiliser toujours jamais ne
vérifie demande garde écris usa usar siempre nunca no verifica pregunta guarda escribe sempre mai
non chiedi conserva scrivi não pergunte guarde используй всегда никогда не проверяй gebruik altijd
nooit
""".split()
)


def order_faults(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield two that were exchanged: who does what to whom, what comes before what."""
    words = mine.words
    if words.wide:
        return
    ours, others = _row(mine), _row(theirs)
    shared = (set(ours) & set(others)) - {""}
    once = {s for s in shared if ours.count(s) == others.count(s) == 1}
    one, two = [s for s in ours if s in once], [s for s in others if s in once]
    voice = _voice(mine) != _voice(theirs)
    owned = _owns(mine) != _owns(theirs)
    if owned and one == two and len(one) > 2 and _named(mine, one[0]) and _named(mine, one[-1]):
        yield "whose it is was exchanged"
    voice = voice or owned
    yield from _turned(mine, theirs)
    switched = {"before"} & _kinds(mine) != {"before"} & _kinds(theirs) or _flips(mine) != _flips(
        theirs
    )
    if one == two or voice or switched or len(one) < 3:
        if voice and one == two and len(one) > 2 and _done_by(mine):
            yield "who does it and whom it is done to were exchanged"
        return
    base = _common(one, two)
    telling = {t.stem for t in mine.content} | {t.number for t in mine.tokens if t.number}
    for a, b in combinations(range(len(one)), 2):
        if not {one[a], one[b]} <= telling or _named(mine, one[a]) != _named(mine, one[b]):
            continue
        if not _named(mine, one[a]) and one[b] in _mates(theirs, one[a]):
            continue  # where words may stand in any order only names tell who does what
        turned = list(one)
        turned[a], turned[b] = turned[b], turned[a]
        if _common(turned, two) >= base + 2 and _rebound(mine, theirs, one[a], one[b]):
            yield f"exchanged against the evidence: {one[a]}, {one[b]}"


def _rebound(mine: Statement, theirs: Statement, a: str, b: str) -> bool:
    """Tell whether two words changed what they stand with, or stood in one clause anyway."""
    sides = [_mates(theirs, a), _mates(theirs, b)]
    if b in sides[0] or a in sides[1]:
        return True
    own = _mates(mine, a), _mates(mine, b)
    return all(len(said & sides[not n]) > len(said & sides[n]) for n, said in enumerate(own))


def _mates(one: Statement, word: str) -> frozenset[str]:
    """Return what stands in one clause with a word."""
    return frozenset(
        other.number or other.stem
        for clause in one.clauses
        if any((t.number or t.stem) == word for t in clause)
        for other in clause
        if (other.number or one.tells(other)) and (other.number or other.stem) != word
    )


def _named(one: Statement, stem: str) -> bool:
    return any(t.stem == stem and t.raw[:1].isupper() for t in one.tokens)


def _row(one: Statement) -> list[str]:
    """Return numbers, telling words and words of order, as they follow each other."""
    return [
        t.number or t.stem
        for t in one.tokens
        if t.number
        or one.tells(t)
        or (t.text in one.words.order and t.text not in one.words.passive)
    ]


def _owns(one: Statement) -> bool:
    return regex(r"\w['’]s\b").search(one.raw) is not None


def _done_by(one: Statement) -> bool:
    """Tell whether a name stands behind the preposition of the passive voice."""
    return any(
        t.text in one.words.passive and after.raw[:1].isupper()
        for t, after in zip(one.tokens, one.tokens[1:], strict=False)
    )


def _voice(one: Statement) -> bool:
    """Tell whether it is said in the passive voice, as far as a preposition shows."""
    return any(t.text in one.words.passive and not t.first for t in one.tokens)


def _turned(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield what stands on the other side of a word of order: before, than, because."""
    sides: list[dict[str, tuple[set[str], set[str]]]] = []
    for one in (mine, theirs):
        found: dict[str, tuple[set[str], set[str]]] = {}
        for at, token in enumerate(one.tokens):
            kind = _direction(one, token)
            if kind:
                found[kind] = _sides(one, at, swap=kind.startswith("-"))
        sides.append({k.removeprefix("-"): v for k, v in found.items()})
    for kind in sides[0].keys() & sides[1].keys():
        (left, right), (before, after) = sides[0][kind], sides[1][kind]
        if (left - right) & (after - before) and (right - left) & (before - after):
            yield f"the two sides of `{kind}` were exchanged"
    ways = [_from_to(one) for one in (mine, theirs)]
    for (start, end), (source, target) in zip(*([w] for w in ways), strict=True):
        if (start - source) & target and (end - target) & source:
            yield "where it starts and where it ends were exchanged"


def _from_to(one: Statement) -> tuple[set[str], set[str]]:
    """Return what stands between "from" and "to", and behind "to"."""
    row = one.tokens
    for at, token in enumerate(row):
        if token.text not in _WAYS:
            continue
        far = (n for n in range(at + 2, min(at + 7, len(row))) if row[n].text in _WAYS[token.text])
        if (end := next(far, 0)) > 0:
            sides = row[at + 1 : end], row[end + 1 : end + 4]
            one_side, other = (
                {t.number or t.stem for t in side if t.number or one.tells(t)} for side in sides
            )
            return one_side - other, other - one_side
    return set(), set()


_WAYS = {
    "from": ("to", "until"),
    "von": ("auf", "nach", "zu", "bis"),
    "de": ("a", "para", "hasta", "ate", "au"),
    "da": ("a", "ao"),
    "с": ("на", "до"),
    "из": ("в",),
    "van": ("naar", "tot"),
}


def _kinds(one: Statement) -> set[str]:
    return {_direction(one, t).removeprefix("-") for t in one.tokens}


def _flips(one: Statement) -> bool:
    """Tell whether an order is told by `after`, or its like, rather than by `before`."""
    return any(_direction(one, t).startswith("-") for t in one.tokens)


def _direction(one: Statement, token: Token) -> str:
    """Return the word of order that a word is; `after` is `before` the other way round."""
    if token.text in _ONE_WORD["before"]:
        return "before"
    if token.text in _ONE_WORD["after"]:
        return "-before"
    return token.stem if token.text in _DIRECTED and token.text in one.words.order else ""


_ONE_WORD = {
    "before": frozenset(
        """
then puis luego poi dann danach daarna потом затем before until vor bevor avant antes prima перед
voor voordat
""".split()
    ),
    "after": frozenset(
        "after once nach nachdem apres despues dopo depois apos после na nadat tras".split()
    ),
}
_DIRECTED = frozenset(
    """
over than instead because replaces replaced rather statt anstatt weil ersetzt plutot parce que
porque vez sustituye reemplaza invece perche sostituisce вместо потому чем dan plaats omdat
vervangt
""".split()
)


def _sides(one: Statement, at: int, *, swap: bool) -> tuple[set[str], set[str]]:
    """Return the words on both sides of a word of order; what is fronted ends at its comma."""
    left = {t.stem for t in one.tokens[:at] if one.tells(t) or t.number}
    rest = list(one.tokens[at + 1 :])
    if not left:
        cut = next((n for n, t in enumerate(rest) if t.text in (",", "，", "、")), 0)
        if cut:
            left = {t.stem for t in rest[cut:] if one.tells(t) or t.number}
            rest = rest[:cut]
    right = {t.stem for t in rest if one.tells(t) or t.number}
    return (right, left) if swap else (left, right)


def _common(one: Sequence[str], two: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(two) + 1)
    for a in one[:60]:
        before = 0
        for n, b in enumerate(two, start=1):
            before, row[n] = row[n], before + 1 if a == b else max(row[n], row[n - 1])
    return row[-1]


def particle_faults(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield a small word that turns a statement round: on for off, down for up."""
    ours, others = ({t.text for t in one.tokens} for one in (mine, theirs))
    for one, other in _PARTICLES:
        for was, now in ((one, other), (other, one)):
            if was & others and not now & others and now & ours and not was & ours:
                yield f"`{min(now & ours)}` for `{min(was & others)}`"


_PARTICLES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("off", "on"),
        ("up upwards", "down downwards"),
        ("inside indoors in into", "outside outdoors out"),
        ("above over", "below under"),
        ("more most", "less least fewer fewest"),
        ("mehr meiste", "weniger wenigste"),
        ("plus", "moins"),
        ("más", "menos"),
        ("mas mais", "menos"),
        ("more più", "meno"),
        ("ein", "aus"),
    )
)


def question_faults(mine: Statement, whole: str) -> Iterator[str]:
    """Yield what makes a statement of a question."""
    asked = [s for s in sentences(whole) if s.rstrip("\"'”)* ").endswith(("?", "？"))]
    if not asked or "?" in mine.raw or "？" in mine.raw or "ask" in _found(mine):
        return
    said = frozenset(t.stem for t in mine.content)
    best = max(sentences(whole), key=lambda s: len(said & Statement(s, mine.words).stems))
    if best in asked:
        yield "the evidence asks, and does not say it"
