"""Decide whether a newer statement replaces, contradicts or continues an older one.

A newer statement replaces an older one if it names what has ended or the value it replaces, or if
it has another value for the same key under the same heading. It continues an older one if the two
differ in one value only. An older statement that is continued is history, but no error. In all
other cases both hold.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import msgspec

from memrepo.core.memory import Memory
from memrepo.policies.phrases import Clause, Reading, Replaced, plain_words, read, stem
from memrepo.text.dates import without_dates
from memrepo.text.words import patterns

MIN_COVER = 0.5
"""A statement that changes another must repeat at least this share of its words."""
MIN_SENTENCE, MIN_COMMON = 3, 0.2
"""Words with content from which the texts behind a key may be sentences of their own, and the share
of them that both have if they are about one thing."""
MAX_VALUES = 5
"""If more statements than this share a key or a sentence, they are items of a list."""


class StatementChange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The effect of a newer statement on an older one.

    `stated` is true if the newer statement names what has ended, and `is_next` if it only continues
    the older one. Otherwise it has another value for the same key. `is_named` is true if it links
    to the file of the older one and says that it replaces that. `is_event` is true if both
    statements may report events that were true on their days. `is_open` is true if only a person
    can decide, as it ends a part. `is_measure` is true if the two differ in a number only.
    """

    reason: str
    stated: bool = False
    is_next: bool = False
    is_named: bool = False
    is_event: bool = False
    is_open: bool = False
    is_measure: bool = False


def change_of(old: Memory, new: Memory, *, together: bool = False) -> StatementChange | None:
    """Return how a newer statement changes an older one, or None if both may be true.

    `together` is true if both are lines of one version of a file. Such lines only change each other
    if one states that the other has ended.
    """
    if _replaces_file(new, old) and not _replaces_file(old, new):
        reason = "it says that it replaces that file"
        return StatementChange(reason=reason, stated=True, is_named=True)
    one, two = read(stated_in(old)), read(stated_in(new))
    if one.is_open or two.is_open or one.words == two.words:
        return None
    headings = old.context, new.context
    if found := _change_that_ends(one, two, *headings):
        return found
    if together or one.is_over:
        return None
    is_event = not all(map(patterns().sentences["decision"].search, (old.body, new.body)))
    is_same = not (old.subject and new.subject) or old.subject == new.subject
    if is_same and _has_other_value(one, two, *headings):
        return StatementChange(reason="the same key has another value", is_event=is_event)
    if kinds := _differing_value(one, two, frozenset(plain_words(new.subject).split())):
        reason, is_measure = "a newer line says what came after it", one.times == two.times
        return StatementChange(
            reason=reason,
            is_next=True,
            is_event=is_event,
            is_measure=is_measure and kinds != {"name"},
        )
    return None


def stated_in(memory: Memory) -> str:
    """Return what is compared with other statements: of a whole file, only its description."""
    return memory.body.partition("\n\n")[0] if memory.first[1] == 1 else memory.body


def _replaces_file(new: Memory, old: Memory) -> bool:
    """Return whether a sentence of a memory's file says that it replaces another, linked file."""
    (file, line), (other, first) = old.first, new.first
    if (line, first) != (1, 1) or file == other:
        return False
    names = {_spelled(name) for name in (file, old.context.rpartition(" › ")[2])} - {""}
    pattern = patterns().sentences["replaces"]
    for link in _LINK.finditer(new.body):
        sentence = _SENTENCE_END.split(new.body[: link.start()])[-1].strip(" *_-")
        verb = pattern.match(sentence)
        if verb is None or len(sentence) - verb.end() > PREPOSITION_LENGTH:
            continue
        name = link["name"].strip()
        if "/" not in name:
            is_meant = _spelled(name) in names
        else:
            name = f"{name.removesuffix('.md')}.md"
            below = posixpath.normpath(posixpath.join(posixpath.dirname(other), name))
            is_meant = below == file or file.endswith(f"/{name}")
        if is_meant:
            return True
    return False


PREPOSITION_LENGTH = 3
"""The most characters between a verb of replacing and a link, such as a colon or a preposition."""
_SENTENCE_END = re.compile(r"[\n.!?。！？]")
_LINK = re.compile(r"[\s:*_]*(?:\[\[|\[[^\]\n]*\]\()(?P<name>[^\]\n|#)]+)")
"""A link with the marks before it: `[[name]]` or `[text](name.md)`."""


def _spelled(name: str) -> str:
    """Return a file's name or path in the form in which links and headings are compared."""
    return re.sub(r"[\W_]+", " ", name.rpartition("/")[2].removesuffix(".md")).strip().lower()


def _change_that_ends(
    one: Reading, two: Reading, under_old: str, under_new: str
) -> StatementChange | None:
    """Return the change if the newer statement ends or replaces what the older one states.

    If it ends one clause of several, a person decides what is left of the others.
    """
    reason = "a newer line says that it is over"
    clauses = [clause for clause in two.clauses if clause.is_over and len(clause.stems) > 1]
    if any(clause.stems == one.whole.stems for clause in clauses):
        return StatementChange(reason=reason, stated=True)
    if one.times and two.times and not two.times <= one.times:
        return None

    def ends(over: Clause, old: Clause) -> bool:
        shared = over.content & old.content
        is_whole = over.content <= old.content and len(shared) >= MIN_COVER * len(old.content)
        is_named = len(shared) > 2 or shared & (one.names | two.names)
        is_near = is_named or _are_near(under_old, under_new)
        # Who states that it is not so agrees with who states that it is over.
        return len(shared) > 1 and bool(is_whole and is_near) and over.is_negated == old.is_negated

    if two.is_over and not one.is_over:
        if ends(two.whole, one.whole):
            left = (one.content | one.times) - two.content - two.times
            is_several = one.is_list or sum(bool(clause.content) for clause in one.clauses) > 1
            return StatementChange(reason=reason, stated=True, is_open=bool(left) and is_several)
        named = [over for over in clauses if not over.content <= two.names]
        if any(ends(over, old) for over in named for old in one.clauses):
            return StatementChange(reason=reason, stated=True, is_open=True)
    return next(filter(None, (_change_of_value(one, two, part) for part in two.replaced)), None)


def _change_of_value(one: Reading, two: Reading, part: Replaced) -> StatementChange | None:
    """Return the change if the newer statement replaces a value in the older one, else None.

    It replaces the value if it repeats half of what else the older one names, and more than its
    subject: whoever moved from Berlin to Paris may still have studied in Berlin. Its subject is
    enough if the older one says what that uses, or where it is, unless something else of the
    subject moved. Numbers are of one thing only.
    """
    value, instead = part.old, part.new
    fresh = tuple(word for word in instead if word not in value)[:1]
    if not fresh or not _holds(one.words, value) or _holds(one.words, fresh):
        return None
    if not part.moved <= one.content:
        return None  # something else moved
    left = frozenset(map(stem, (*value, *instead)))
    if not left & (one.content | one.names):
        return None
    if (one.names - two.names - left) and (two.names - one.names - left):
        return None  # the statements have different subjects
    known = one.content - left
    who, thing = one.used
    between = frozenset(map(stem, part.before[len(who) :])) & two.content
    is_used = thing == value and part.before[: len(who)] == who and between <= one.content
    others = one.names - left - frozenset(map(stem, who))
    shared = two.content & known
    is_same = len(shared) > 1 or shared == known or any(map(str.isdigit, "".join(value)))
    if (is_used and not others and part.limits <= one.content) or (
        shared and is_same and len(shared) >= MIN_COVER * len(known)
    ):
        reason = "a newer line says that the old value was replaced"
        return StatementChange(reason=reason, stated=True)
    return None


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return size > 0 and any(words[at : at + size] == part for at in range(len(words) - size + 1))


def _has_other_value(one: Reading, two: Reading, under_old: str, under_new: str) -> bool:
    """Return whether two statements give the same key under the same heading other values.

    The values are of one time, and neither contains the other. Two sentences about a person, each
    behind the name and a colon, are no values of a key: they share no words, or one denies.
    """
    if not one.key or one.key != two.key:
        return False
    headings = _headings(under_old), _headings(under_new)
    if not (
        _are_nested(*headings) if all(headings) else headings[0] == headings[1] and " " in one.key
    ):
        return False
    first, second = (frozenset(map(stem, side.value)) for side in (one, two))
    days = (frozenset(t for t in side.times if t.isalpha()) for side in (one, two))
    if len({*days}) > 1 or not (first and second) or one.negations != two.negations:
        return False
    content = first & one.content, second & two.content
    least = min(map(len, content))
    if least >= MIN_SENTENCE and len(content[0] & content[1]) < MIN_COMMON * least:
        return False
    return not (first <= second or second <= first)


def _differing_value(one: Reading, two: Reading, subject: frozenset[str]) -> set[str]:
    """Return the kinds of the one value in which two statements differ, or none.

    Words without content may differ too. The value is not the subject, with which a statement
    begins and whose words do not count. Of the words before a name there are two with content. A
    key has its own rule.
    """
    first = one.content - subject
    shared = first & two.content
    if len(shared) < 2 or len(shared) < MIN_COVER * len(first) or one.negations != two.negations:
        return set()
    if one.numbered != two.numbered or (one.key and two.key):
        return set()
    old, new, at = _one_difference(one, two)
    if not (at and old and new):
        return set()
    kinds = _kinds_of(old, one) & _kinds_of(new, two)
    before = sum(stem(word) in shared for word in one.telling[:at])
    return kinds if kinds - {"name"} or before > 1 else set()


def _one_difference(one: Reading, two: Reading) -> tuple[list[str], list[str], int]:
    """Return the words in which two statements differ at one place, and its number, or no words."""
    words, others = one.telling, two.telling
    from difflib import SequenceMatcher  # most pairs of texts need none

    blocks = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    apart = [(words[i:j], others[m:n], i) for tag, i, j, m, n in blocks if tag != "equal"]
    return apart[0] if len(apart) == 1 else ([], [], 0)


def begin_apart(one: str, other: str) -> bool:
    """Return whether two texts differ in their first words only, so that they are of two things.

    A number with which a text begins is a count, which may have changed.
    """
    first, second = read(one), read(other)
    old, new, at = _one_difference(first, second)
    is_named = all(any(word[0].isalpha() for word in words) for words in (old, new))
    return is_named and not at and first.negations == second.negations


def _kinds_of(part: Sequence[str], of: Reading) -> set[str]:
    """Return the kinds of a value: a number with its unit, a name."""
    is_name = any(stem(word) in of.names and not word[0].isdigit() for word in part)
    kinds = {"name"} if is_name else set[str]()
    if any(word[0].isdigit() for word in part):
        kinds.add(" ".join(re.sub(r"\d+(?:[.,]\d+)*", "0", word) for word in part))
    return kinds


_FILES = frozenset(
    map(stem, "memory rtmemory ltmemory tools identity agents claude notes log".split())
)
_USER = stem("user")


def _headings(under: str) -> tuple[str, ...]:
    """Return the headings above a statement without dates, except common file names.

    The file of the user names a person, to whom the headings below it belong.
    """
    parts = (plain_words(without_dates(part)) for part in re.split(r" [›–] ", under))
    found = tuple(part for part in parts if part and part not in _FILES)
    return () if found == (_USER,) else found


def _are_nested(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return whether the longer sequence of headings ends with the shorter one."""
    size = min(len(one), len(two))
    return one[len(one) - size :] == two[len(two) - size :]


def _are_near(under_old: str, under_new: str) -> bool:
    one, two = _headings(under_old), _headings(under_new)
    return _are_nested(one, two) if one and two else one == two


def are_apart(under_old: str, under_new: str) -> bool:
    """Return whether the headings above two statements, without dates, name two things."""
    one, two = _headings(under_old), _headings(under_new)
    return bool(one and two) and not _are_nested(one, two)
