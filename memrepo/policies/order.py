"""What a rewording may not exchange: who does what to whom, what comes first, on for off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from memrepo.core.patterns import regex
from memrepo.policies.wording_lists import is_rhythm
from memrepo.policies.wording_marks import Statement, Token


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
    yield from _paired(mine, theirs)
    switched = {"before"} & _kinds(mine) != {"before"} & _kinds(theirs) or _flips(mine) != _flips(
        theirs
    )
    if one == two or voice or switched or len(one) < 3:
        if voice and one == two and len(one) > 2 and _done_by(mine):
            yield "who does it and whom it is done to were exchanged"
        return
    timed = any(t.text in words.months or is_rhythm(t.text) for t in mine.tokens)
    ends = words.name == "english" and (_named(mine, one[0]) or _named(mine, one[-1])) and not timed
    if ends and one[0] == two[-1] and one[-1] == two[0] and one[1:-1] == two[1:-1]:
        yield f"exchanged against the evidence: {one[0]}, {one[-1]}"
    base = _common(one, two)
    telling = {t.stem for t in mine.content} | {t.number for t in mine.tokens if t.number}
    for a, b in combinations(range(len(one)), 2):
        if not {one[a], one[b]} <= telling or _named(mine, one[a]) != _named(mine, one[b]):
            continue
        if not _named(mine, one[a]) and one[b] in _mates(theirs, one[a]):
            continue  # where words may stand in any order only names tell who does what
        if _passive(mine, one[a], one[b]) != _passive(theirs, one[a], one[b]):
            continue
        turned = list(one)
        turned[a], turned[b] = turned[b], turned[a]
        if _common(turned, two) >= base + 2 and _rebound(mine, theirs, one[a], one[b]):
            yield f"exchanged against the evidence: {one[a]}, {one[b]}"


def _paired(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield a word that stands before another name, and a time on the other side of its event."""
    if mine.named:
        own, known = ({p[0].stem: p[1] for p in _before_names(one)} for one in (mine, theirs))
        for word in own.keys() & known.keys():
            here, there = own[word], known[word]
            both = here.stem in theirs.stems and there.stem in mine.stems
            if here.stem != there.stem and both:
                yield f"exchanged against the evidence: {here.raw}, {there.raw}"
    ours, others = _followed(mine), _followed(theirs)
    for kind, other in (*_OPPOSED, *(pair[::-1] for pair in _OPPOSED)):
        if ours.get(kind) and ours.get(kind) == others.get(other) and other not in ours:
            yield f"{other.strip('-')} and its opposite were exchanged: {ours[kind]}"


_OPPOSED = (
    ("before", "-before"),
    ("to", "from"),
    ("on", "before"),
    ("on", "-before"),
    ("since", "until"),
    ("from", "until"),
    ("during", "before"),
    ("during", "-before"),
)


_PLACED = ("to", "from", "on", "during", "since", "until")


def _before_names(one: Statement) -> Iterator[tuple[Token, Token]]:
    for word, name in zip(one.tokens, one.tokens[1:], strict=False):
        if one.tells(word) and word.raw.islower() and name.raw[:1].isupper():
            yield word, name


def _followed(one: Statement) -> dict[str, str]:
    """Return what stands behind "before" and "after", "to" and "from"."""
    found: dict[str, str] = {}
    for at, token in enumerate(one.tokens):
        kind = _direction(one, token)
        kind = token.text if token.text in _PLACED else kind
        if kind in ("before", "-before", *_PLACED):
            rest = (t for t in one.tokens[at + 1 :] if t.number or one.tells(t))
            found[kind] = next((t.number or t.stem for t in rest), "")
    return found


def _passive(one: Statement, a: str, b: str) -> bool:
    """Tell whether the clause that holds two words is in the passive voice."""
    return any(
        {a, b} <= {t.number or t.stem for t in clause}
        and any(t.text in one.words.passive for t in clause)
        for clause in one.clauses
    )


def _rebound(mine: Statement, theirs: Statement, a: str, b: str) -> bool:
    """Tell whether two words changed what they stand with, or stood in one clause anyway."""
    sides = [_mates(theirs, a), _mates(theirs, b)]
    if _named(mine, a) and not (sides[0] and sides[1]):
        return True  # a name between commas stands with the whole sentence
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
    said = regex(r"(\w+)['’]s\b").findall(one.raw)
    return any(word.lower() not in _SHORTENED for word in said)


_SHORTENED = frozenset("it that there he she what who where here let how".split())
"""Words behind which 's is short for is, has or us."""


def _done_by(one: Statement) -> bool:
    """Tell whether a name stands behind the preposition of the passive voice."""
    return any(
        t.text in one.words.passive and after.raw[:1].isupper()
        for t, after in zip(one.tokens, one.tokens[1:], strict=False)
    )


def _voice(one: Statement) -> bool:
    """Tell whether it is said in the passive voice, as far as a preposition shows."""
    return any(t.text in one.words.passive and not t.first for t in one.tokens)


def weighs(one: Statement) -> bool:
    """Tell whether a text sets one thing over another: what is denied then shows by the order."""
    ordered = any(t.text in _DIRECTED and t.text in one.words.order for t in one.tokens)
    return ordered or bool(_from_to(one)[1])


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
        if size := one.replaces(at):
            sides = row[at + size : at + size + 3], row[max(0, at - 4) : at]
            instead, said = (
                {t.number or t.stem for t in side if t.number or one.tells(t)} for side in sides
            )
            return instead - said, said - instead
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
    if token.text in _CONDITIONS:
        return "when"
    if token.text in _CAUSES and token.text in one.words.order | {"since"}:
        return "because"
    return token.stem if token.text in _DIRECTED and token.text in one.words.order else ""


AFTER = frozenset(
    "after once nach nachdem apres despues dopo depois apos после na nadat tras".split()
)
_ONE_WORD = {
    "before": frozenset(
        """
then puis luego poi dann danach daarna потом затем before until vor bevor avant antes prima перед
voor voordat
""".split()
    ),
    "after": AFTER,
}
_CONDITIONS = frozenset("when whenever if wenn falls quand lorsque si cuando quando".split())
_CAUSES = frozenset("because since weil parce porque perche omdat потому".split())
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
    ours, others = ([t.text for t in one.tokens] for one in (mine, theirs))
    for one, other in _PARTICLES:
        for was, now in ((one, other), (other, one)):
            lost = _times(others, was) and not _times(ours, was)
            if lost and _times(ours, now) > _times(others, now):
                yield f"`{min(now & {*ours})}` for `{min(was & {*others})}`"


def _times(words: Sequence[str], listed: frozenset[str]) -> int:
    return sum(word in listed for word in words)


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
