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
from memrepo.policies.standing import Newer
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
    the older one. Otherwise it has another value for the same key. `is_event` is true if both
    statements may report events that were true on their days. `is_open` is true if only a person
    can decide, as it ends a part. `newer` and `is_certain` say which one is newer, and whether
    nobody needs to check that.
    """

    reason: str
    stated: bool = False
    is_next: bool = False
    is_event: bool = False
    is_open: bool = False
    newer: Newer = "unknown"
    is_certain: bool = False


def change_of(old: Memory, new: Memory, *, together: bool = False) -> StatementChange | None:
    """Return how a newer statement changes an older one, or None if both may be true.

    `together` is true if both are lines of one version of a file. Such lines only change each other
    if one states that the other has ended.
    """
    if _replaces_file(new, old) and not _replaces_file(old, new):
        reason = "it says that it replaces that file"
        return StatementChange(reason=reason, stated=True, is_certain=True)
    one, two = read(stated_in(old)), read(stated_in(new))
    if one.is_open or two.is_open or one.words == two.words:
        return None
    if found := _change_that_ends(one, two, are_near=_are_near(old.context, new.context)):
        return found
    if together or one.is_over:
        return None
    is_event = not all(map(patterns().sentences["decision"].search, (old.body, new.body)))
    is_same = not (old.subject and new.subject) or old.subject == new.subject
    if is_same and _has_other_value(one, two, old.context, new.context):
        return StatementChange(reason="the same key has another value", is_event=is_event)
    if _differ_in_one_value(one, two, frozenset(plain_words(new.subject).split())):
        reason = "a newer line says what came after it"
        return StatementChange(reason=reason, is_next=True, is_event=is_event)
    return None


def stated_in(memory: Memory) -> str:
    """Return what is compared with other statements: of a whole file, only its description."""
    return memory.body.partition("\n\n")[0] if memory.first[1] == 1 else memory.body


_REPLACED = re.compile(r"[\s:*_]*(?:\w{1,2} )?(?:\[\[|\[[^\]\n]*\]\()(?P<name>[^\]\n|#)]+)")
"""What a file replaces: `[[name]]` or `[text](name.md)`, with the marks before it."""
_SENTENCE = re.compile(r"(?:^|[\n.!?。！？])[\s*_-]*")


def _replaces_file(new: Memory, old: Memory) -> bool:
    """Return whether a sentence of a memory's file says that it replaces another, linked file."""
    (file, line), (other, first) = old.first, new.first
    if (line, first) != (1, 1) or file == other or ("](" not in new.body and "[[" not in new.body):
        return False
    names = {_spelled(name) for name in (file, old.context.rpartition(" › ")[2])}
    for start in _SENTENCE.finditer(new.body):
        verb = patterns().sentences["replaces"].match(new.body[start.end() :])
        link = _REPLACED.match(new.body, start.end() + verb.end()) if verb else None
        if link is not None and names & {_spelled(link["name"]), ""}:
            folder = posixpath.dirname(link["name"])
            return posixpath.dirname(file).endswith(folder)
    return False


def _spelled(name: str) -> str:
    """Return a file's name or path in the form in which links and headings are compared."""
    return re.sub(r"[\W_]+", " ", name.rpartition("/")[2].removesuffix(".md")).strip().lower()


def _change_that_ends(one: Reading, two: Reading, *, are_near: bool) -> StatementChange | None:
    """Return the change if the newer statement ends or replaces what the older one states.

    If it ends one clause of several, a person decides what is left of the others.
    """

    def ends(over: Clause, old: Clause) -> bool:
        shared, times = over.content & old.content, over.times & one.times
        is_whole = over.content <= old.content and len(shared) >= MIN_COVER * len(old.content)
        is_whole &= times == over.times or not one.times
        is_near = are_near or len(shared) > 2 or not shared.isdisjoint(one.names | two.names)
        # Who states that it is not so agrees with who states that it is over.
        is_alike = is_near and over.is_negated == old.is_negated
        return is_whole and is_alike and len(shared | times) > 1

    ended = () if one.is_over else [part for part in two.parts if part.is_over]
    if any(ends(over, part) for over in ended for part in one.parts):
        left = (one.content | one.times) - two.content - two.times
        is_several = one.is_list or sum(bool(clause.content) for clause in one.clauses) > 1
        reason, is_open = "a newer line says that it is over", bool(left) and is_several
        return StatementChange(reason=reason, stated=True, is_open=is_open)
    if any(_replaces_value(one, two, part) for part in two.replaced):
        reason = "a newer line says that the old value was replaced"
        return StatementChange(reason=reason, stated=True)
    return None


def _replaces_value(one: Reading, two: Reading, part: Replaced) -> bool:
    """Return whether the newer statement replaces a value in the older one.

    All that it names is in the older one, so nothing else moved, and it repeats what else that
    names, or half of it about a number: whoever moved from Berlin to Paris may still have studied
    in Berlin. Of what somebody uses, or where somebody is, it may repeat less.
    """
    fresh = tuple(word for word in part.new if word not in part.old)[:1]
    if not fresh or not _holds(one.words, part.old) or _holds(one.words, fresh):
        return False
    left = frozenset(map(stem, (*part.old, *part.new)))
    if not (part.about - left <= one.content and left & (one.content | one.names)):
        return False
    known = one.content - left
    shared = two.content & known
    who, used = one.used
    if used == part.old and who <= part.about and one.names - left <= two.names | part.about:
        return True
    is_number = any(map(str.isdigit, "".join(part.old)))
    return bool(shared) and (shared == known or is_number) and len(shared) >= MIN_COVER * len(known)


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
    is_under = all(map(_headings, (under_old, under_new))) or " " in one.key
    if not (is_under and _are_near(under_old, under_new)):
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


def _differ_in_one_value(one: Reading, two: Reading, subject: frozenset[str]) -> bool:
    """Return whether two statements differ in one value only, a number with its unit or a name.

    Words without content may differ too. The value is not the subject, with which a statement
    begins and whose words do not count. Of the words before a name there are two with content. A
    key has its own rule.
    """
    first = one.content - subject
    shared = first & two.content
    if len(shared) < 2 or len(shared) < MIN_COVER * len(first) or one.negations != two.negations:
        return False
    if one.numbered != two.numbered or (one.key and two.key):
        return False
    old, new, at = _one_difference(one, two)
    kinds = _kinds_of(old, one) & _kinds_of(new, two) if at else set[str]()
    before = sum(stem(word) in shared for word in one.telling[:at])
    return bool(kinds - {"name"} or (kinds and before > 1))


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
