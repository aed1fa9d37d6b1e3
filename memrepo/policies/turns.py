"""What a rewording may not add or lose: a denial, a duty, a leave, a bound, a doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import msgspec

from memrepo.policies.order import AFTER, weighs
from memrepo.policies.wording_lists import Words
from memrepo.policies.wording_marks import Statement, Token, meet, sentences

_LOST = ("must", "should", "may", "only", "if", "maybe", "often", "sometimes", "except", "plan")
_COVERED = 0.5
"""A clause of the evidence of which a wording holds this share of the words is said by it."""
_MOSTLY = 0.6


def negation_faults(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield a negation that was lost or added: by what each of them denies."""
    if mine.words.wide:
        one, two = _wide_marks(mine, "not"), _wide_marks(theirs, "not")
        if one % 2 != two % 2 or bool(one) != bool(two):
            yield "a negation was lost or added"
        return
    if mine.unneeded() != theirs.unneeded() and mine.negated() and theirs.negated():
        yield "what need not be is not what must not be"
    ours, others = mine.negated(), theirs.negated()
    if _turns_bound(mine, theirs) or _turns_bound(theirs, mine):
        return
    if _demands_twice(mine, theirs) or _demands_twice(theirs, mine):
        return
    weighed = weighs(theirs), weighs(mine)
    for said in ours:
        if not (said.contrast and weighed[0]) and not any(
            meet(mine, said.scope, other.scope)
            or (meet(mine, said.whole, other.scope) and len(ours) == len(others))
            or (said.word and said.word == other.word and meet(mine, said.whole, other.whole))
            for other in others
        ):
            yield "a negation was added"
    if _twofold(theirs) and ours and not _twofold(mine):
        yield "one of two negations was lost"
    if _twofold(mine) and others and not _twofold(theirs):
        yield "a second negation was added"
    stems = frozenset(t.stem for t in mine.content)
    for told in others:
        if told.contrast and weighed[1]:
            continue
        touched = meet(mine, told.scope, stems)
        if touched and not any(
            meet(mine, told.scope, own.whole)
            or (told.word and told.word == own.word and meet(mine, told.whole, own.whole))
            for own in ours
        ):
            yield "a negation was lost"


def _demands_twice(one: Statement, other: Statement) -> bool:
    """Tell whether one says by two negations what the other demands: none without, needs one."""
    return _twofold(one) and not other.negated() and "must" in other.marks()


def _turns_bound(one: Statement, other: Statement) -> bool:
    """Tell whether one denies the bound that the other sets: no more than, at most."""
    if not one.negated() or other.negated():
        return False
    first, second = one.marks().keys() & {"least", "most"}, other.marks().keys() & {"least", "most"}
    return len(first) == len(second) == 1 and first != second


def _twofold(one: Statement) -> bool:
    """Tell whether a sentence negates twice: "do not merge without a review"."""
    return any(t.text in _WITHOUT for t in one.tokens) and one.negators() > 1


_WITHOUT = frozenset("without ohne sans sin senza sem без zonder".split())


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


class _Marks(msgspec.Struct, frozen=True):
    """The marks of a wording and of its evidence, and what is denied or turned round of them."""

    ours: Set[str]
    others: Set[str]
    negative: bool
    """Whether the evidence denies."""
    denied: bool
    """Whether the wording denies."""
    turned: bool
    """Whether one bounds from below what the other bounds from above."""


def mark_faults(mine: Statement, theirs: Statement, beside: Statement) -> Iterator[str]:
    """Yield a bound, a duty, a leave, a condition or a doubt that was added or lost."""
    marks = _Marks(
        ours=_found(mine),
        others=_found(theirs),
        negative=_denies(theirs),
        denied=_denies(mine),
        turned=_turns_bound(mine, theirs) or _turns_bound(theirs, mine),
    )
    bounded = _found(beside)
    for name in sorted(marks.ours - marks.others - {"when", "report", "ask"}):
        if name in BOUNDED and (name in bounded or marks.turned):
            continue
        if not _may_be_added(name, marks, mine, theirs):
            yield f"`{name}` was added: {_NAMES[name]}"
    if mine.count("except") > theirs.count("except") > 0:
        yield "`except` was added: a second exception"
    lost = _said_clauses(mine, theirs) - marks.ours
    for name in sorted(lost & {*_LOST, "about", "least", "most", "former", "report"}):
        if not _may_be_lost(name, marks, mine, theirs):
            yield f"`{name}` was lost: {_NAMES[name]}"


def _denies(one: Statement) -> bool:
    return _wide_marks(one, "not") > 0 if one.words.wide else bool(one.negated())


def _may_be_added(name: str, marks: _Marks, mine: Statement, theirs: Statement) -> bool:
    """Tell whether the evidence says in other words what a mark of the wording says."""
    firm = {"must", "always", "only"} & marks.others or marks.negative or _orders_somebody(theirs)
    if name == "must" and (firm and not {"may", "should", "maybe"} & marks.others):
        return True
    if name in ("may", "must") and marks.negative and marks.denied:
        return True
    if name == "may" and (
        "only" in marks.ours & marks.others or ("maybe" in marks.others and _may(mine))
    ):
        return True
    if name == "should" and ("plan" in marks.others or _asks(theirs) or _orders_somebody(theirs)):
        return True
    if name == "always" and (marks.negative or "if" in marks.ours) and _is_any(mine):
        return True
    if name == "always" and ({"only", "must"} & marks.others or marks.negative) and _is_ever(mine):
        return True
    if name == "plan" and (
        {"maybe", "if"} & marks.ours & marks.others or _is_dated(theirs) or _asks(theirs)
    ):
        return True
    if name == "former" and marks.negative and marks.denied:
        return True
    if name == "if" and "when" in marks.others:
        return True
    if name == "only" and ("except" in marks.others and marks.negative):
        return True
    if name == "except" and ({"only", "if"} & marks.others):
        return True
    if name == "why" and (_is_then(theirs) or _is_joined(theirs)):
        return True
    if name in BOUNDED and mine.spelled(name) & {t.text for t in theirs.tokens}:
        return True  # within an hour, within one hour
    if name == "most" and "only" in marks.others:
        return True
    if {name} == {"may", "most"} - marks.others and {"may", "most"} & marks.others:
        return True
    return name == "must" and _demands_twice(theirs, mine)


def _may_be_lost(name: str, marks: _Marks, mine: Statement, theirs: Statement) -> bool:
    """Tell whether a mark of the evidence is said by the wording in other words, or by nothing."""
    if name in ("may", "must") and marks.negative and marks.denied:
        return True
    if name == "maybe" and _may(mine):
        return True
    if name == "must" and _demands_twice(mine, theirs):
        return True
    if name == "may" and "most" in marks.ours:
        return True
    if name == "plan" and ("should" in marks.ours or _is_to_come(mine, theirs)):
        return True
    if name == "must" and ({"always", "only"} & marks.ours or _orders_somebody(mine)):
        return True
    if name == "must" and ({"least", "most"} & marks.ours & marks.others or _is_to_do(mine)):
        return True
    if name == "should" and (_orders_somebody(mine) or _asks(mine)):
        return True
    if name == "if" and ({"when", "except", "only"} & marks.ours) and _conditioned(mine, theirs):
        return True
    if name == "least" and _is_after(mine):
        return True
    if name == "except" and "always" in marks.ours and any(t.text == "but" for t in mine.tokens):
        return True
    if name == "only" and "most" in marks.ours:
        return True
    if name == "only" and ("except" in marks.ours or (marks.denied and not marks.negative)):
        return True
    if name == "except" and ({"only", "if"} & marks.ours or marks.denied):
        return True
    if name in ("about", "least", "most") and not any(t.number for t in mine.tokens):
        return True
    if name in ("least", "most") and marks.turned:
        return True
    return name == "report" and _of_itself(theirs)


def _conditioned(mine: Statement, theirs: Statement) -> bool:
    """Tell whether a wording says what the condition of its evidence says, a third of it at least.

    A text whose condition stands in no clause of its own has none that could be left out.
    """
    said = mine.stems | {t.number for t in mine.tokens}
    parts = (c[at:] for c in theirs.clauses if (at := theirs.marks(c).get("if", -1)) >= 0)
    told = [{t.number or t.stem for t in part if t.number or theirs.tells(t)} for part in parts]
    told = [part for part in told if part]
    return not told or any(
        3 * sum(meet(mine, frozenset((word,)), said) for word in part) >= len(part) for part in told
    )


def _is_to_come(mine: Statement, theirs: Statement) -> bool:
    """Tell whether what will be is said with its day: "the review is on 4 March"."""
    return _is_dated(mine) and any(t.text in _WILL for t in theirs.tokens)


def _may(one: Statement) -> bool:
    """Tell whether it is "may" that a text says, which is a doubt as well as a leave."""
    return any(t.raw == "may" for t in one.tokens)


_WILL = frozenset("will ll wird werden va vont".split())


def _is_to_do(one: Statement) -> bool:
    """Tell whether a German text says what is to be done: hat zwei Kapitel zu lernen."""
    if one.words.name != "german":
        return False
    return any(t.text == "zu" for t in one.tokens) and any(t.text in _HAVE for t in one.tokens)


_HAVE = frozenset("hat haben habe ist sind".split())


def _is_after(one: Statement) -> bool:
    """Tell whether a number stands behind "after" or its like: after 90 days, once it is 10."""
    row = one.tokens
    return any(
        t.number and any(b.text in AFTER for b in row[max(0, n - 2) : n]) for n, t in enumerate(row)
    )


def _asks(one: Statement) -> bool:
    """Tell whether somebody asks for what is said: what they want."""
    return any(t.text in _WISHES for t in one.tokens)


_WISHES = frozenset("please wants want bitte por favor prego quiere quer veut vuole wil".split())


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


def _is_any(one: Statement) -> bool:
    """Tell whether it is "any" that a text says, which a negation or a condition goes with."""
    return any(t.text == "any" for t in one.tokens)


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


def _is_then(one: Statement) -> bool:
    """Tell whether a text says when something is, which may be why."""
    return any(t.text in _THEN for t in one.tokens)


_THEN = frozenset(
    "when whenever once while after wenn als sobald nachdem quand lorsque cuando toen".split()
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
nooit bump change switch drain press pull push hold load choose pick select show give reset reboot
replace repair fix cancel delete archive copy rename release roll revert escalate report record
document describe explain translate convert compress cache pass sort filter group split join wrap
strip trim escape quote hash seal shut wash cook serve order buy sell pack charge unplug plug
""".split()
)


def granted_faults(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield what was only asked for and is said to be given, and a case that was left out."""
    said, told = ({t.text for t in one.tokens} for one in (mine, theirs))
    if told & _ASKED and said & _GIVEN and not (said & _ASKED or told & _GIVEN):
        yield "what was asked for is said to be given"
    if mine.words.name == "german" and theirs.tokens and theirs.tokens[0].text == "bei":
        case = next((t for t in theirs.tokens[1:] if theirs.tells(t)), None)
        if case and not meet(mine, frozenset((case.stem,)), mine.stems):
            yield f"`if` was lost: a condition ({case.raw})"


_ASKED = frozenset("asked asks requested requests applied ask request".split())
_GIVEN = frozenset("given got gets received receives granted gave has".split())


def whole_faults(mine: Statement, theirs: Statement) -> Iterator[str]:
    """Yield what is said of all where the evidence says it of some: all invoices from abroad."""
    if "always" not in mine.marks():
        return
    said = mine.stems | {t.number for t in mine.tokens}
    for clause in theirs.clauses:
        at = theirs.marks(clause).get("always", -1)
        row = clause[at + 1 : at + 6] if at >= 0 else ()
        for n, token in enumerate(row[2:], start=2):
            bound = row[n - 1].text in theirs.words.small and not theirs.tells(row[n - 1])
            if (
                bound
                and theirs.tells(token)
                and row[n - 1].text in _BINDING
                and theirs.tells(row[n - 2])
                and not meet(mine, frozenset((token.stem,)), said)
            ):
                yield f"said of all, and not of those alone: {row[n - 1].raw} {token.raw}"


_BINDING = frozenset(
    "from with without of in about von mit ohne aus de avec sans con sin da di".split()
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
