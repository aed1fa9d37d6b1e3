"""The type of a statement, told by what it stands under and by its words.

First match wins: an explicit key, a question, the kind of the source, the headings from the inside
out, then the words. A list is what its lead or most of its lines are; one line of many decides
nothing, and a question that is answered below is open no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memrepo.core.ids import normalise
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.patterns import regex, spelled
from memrepo.judges import wordlists as w
from memrepo.judges.happened import OWED
from memrepo.judges.lasting import WISHED
from memrepo.judges.wording import HEADING_TYPES, is_wrapped

_STEPS = regex(r"^\s*\d{1,3}[.)]\s|^\W*(?:step|schritt)\s+\d", re.I | re.M)
_FIRST = regex(r"\bfirst\b|\bzuerst\b", re.IGNORECASE)
_THEN = regex(r"\bthen\b|\bdann\b", re.IGNORECASE)
_COMMAND = regex(r"^\W*(?:run|use|execute|call|verwende|nutze|运行|使用|実行)\b.*`[^`]+`", re.I)
_RELATION = spelled(
    lambda: (
        rf"(?:['’]s|\b(?:my|his|her|their|our|your|mein|meine|seine?|ihre?"
        rf"|mi|tu|su|mon|ma|ton|ta|son|sa|leur|notre|votre|meu|minha|seu|sua|mio|mia|suo|mijn|zijn|haar))\s+(?:\w+\s+)?"
        rf"(?:{w.RELATION.pattern})|(?:{w.RELATION.pattern})\s+(?:of|is|named|called|von|ist|heißt"
        rf"|de|del|di|es|est|é|se llama|van)\b"
    ),
    re.IGNORECASE,
)
# "must have been" guesses and a "must-have" is liked: neither binds anyone.
_MUST = regex(r"(?<![\w-])must(?!\w|-\w|\s+have\s+been)", re.IGNORECASE)
_WILL = regex(r"^\W*(?:[^\W\d_a-z][\w'’-]*\s+){1,3}(?:will|werde)\b")
# A box of code, a path or a branch is where work was put, and no promise.
_PLEDGED = regex(
    r"\bcommitted to (?!\W*(?:the )?(?:[\w.-]*/|main\b|master\b|git|repo|branch))", re.I
)
_ASKED = regex(r"[?\uff1f][ *_)\"'”»」]*$")
_QUOTED, _QUOTED_END = regex(r"[\W_]*?[\"'“«„「]"), regex(r"[\"'”»」][ *_)]*$")
_WIDE_RELATION = regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0400-\u04ff]")

# What somebody prefers is a preference, with "at most" in it too.
_PREFERS = spelled(lambda: rf"^\W*(?:[^\W\d_]\w+\s+)?(?:{w.PREFERENCE.pattern})", re.IGNORECASE)
# Who wants a thing so says how they like it; who wants to do it has an aim.
_WANTS = regex(
    r"^\W*(?:(?-i:[A-ZÀ-Ý][\w'’-]*\s+){1,2})?(?:wants\s+(?!to\b)"
    r"|quiere\s+(?:el|l[ao]s?|un[ao]?s?|sus?|que|todo)\b|veut\s+(?:l[ae]s?|un|une|des?|que|tout)\b"
    r"|quer\s+(?:[oa]s?|uma?|que|tudo)\b|vuole\s+(?:il|l[aeo]|i|gli|un|una|che|tutto)\b"
    r"|(?-i:Will)\s+(?:ein\w*|kein\w*|d[aei][rsen]\w*|immer|nur|morgens|abends)\b)",
    re.IGNORECASE,
)
_MARRIED = regex(
    r"\b(?:married to|verheiratet mit|casad[oa] con|casad[oa] com|mariée? (?:à|avec)"
    r"|sposat[oa] con|getrouwd met)\b|^\W*(?:замужем|женат)\b",
    re.IGNORECASE,
)
# What is weighed "rather than" counted is told of; what one should use rather than another is not.
_RATHER = regex(
    r"^\W*(?:please\s+)?(?:use|write|keep|put|pick|take|go|ask|call|send|do|make|give|show|answer"
    r"|reply|choose|work)\b[^.;\n]{1,80}\brather than\b",
    re.I,
)

# First match wins. The narrow, deliberate kinds stand before the broad ones.
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("open_question", w.OPEN),
    ("method", _COMMAND),
    ("decision", w.DECISION),
    ("preference", w.DISLIKE),
    ("preference", _PREFERS),
    ("preference", _WANTS),
    ("relationship", _MARRIED),
    ("constraint", w.RULE_START),
    ("constraint", w.CONSTRAINT),
    ("constraint", _MUST),
    ("preference", w.STANDING_WISH),
    ("preference", WISHED),
    ("aspiration", w.ASPIRATION),
    ("lesson", w.LESSON),
    ("milestone", w.MILESTONE),
    ("milestone", w.FIRSTS),
    ("commitment", w.COMMITMENT),
    ("commitment", _PLEDGED),
    ("commitment", _WILL),
    ("commitment", OWED),
    ("preference", w.PREFERENCE),
    ("preference", _RATHER),
    ("identity", w.WHO_AM_I),
    ("method", w.HOW_TO),
)


def kind_of(
    text: str, *, hint: str, key: str = "", task: str = "", context: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the claim type of a text and the code of the rule that decided.

    An episode document is always an episode and a PROCEDURES section always a method or procedure.
    A bold key that names a type decides next; then a question; then, for sources of one kind, the
    hint; then what the text stands under, innermost first; then its words; then the hint again,
    and `fact` where that is no claim type.
    """
    if hint == "episode":
        return "episode", "type_source"
    if hint in ("method", "procedure"):
        return ("procedure", "type_steps") if _has_steps(text) else ("method", "type_source")
    named = w.KEY_TYPES.get(_OF_WHOM.sub("", normalise(key or _plain_key(text))))
    if named is not None and not (named == "identity" and _names_thing(text)):
        return named, "type_key"
    if key and normalise(key).startswith(("favorite", "favourite", "lieblings")):
        return "preference", "type_key"
    lead, items = _deciding(text)
    if _is_told(_asks, lead, items):
        return "open_question", "type_question"
    if hint in ("lesson", "milestone", "aspiration"):
        return hint, "type_source"
    if task == "open":
        return "commitment", "type_open_task"
    if (found := heading_kind(text, context)) is not None:
        done = task == "done" or _TICKED.fullmatch(text) is not None
        owed = found == "commitment" and done  # a box of a list of tasks that is ticked
        return ("milestone" if owed else found), "type_heading"
    for kind, pattern in _RULES:
        if _is_told(pattern.search, lead, items):
            return kind, "type_words"
        if kind == "preference" and _is_told(is_relation, lead, items):
            return "relationship", "type_words"
    return (hint if hint in CLAIM_TYPES else "fact"), "type_default"


def _deciding(text: str) -> tuple[str, list[str]]:
    """Return the line that speaks for a whole text, and the items of a list; either may be empty.

    Short lists and texts are read whole: there is one line, and it decides.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    marked = sum(_ITEM.match(line) is not None for line in lines)
    if len(lines) < SHORTEST_LIST or (marked < SHORTEST_LIST and (marked or is_wrapped(lines))):
        return text, []
    led = marked > 0 and not _ITEM.match(lines[0]) and _BOLD_LINE.fullmatch(lines[0]) is None
    return (lines[0], lines[1:]) if led else ("", lines)


def _is_told(said: Callable[[str], object], lead: str, items: Sequence[str]) -> bool:
    """Tell whether what speaks for a text says something, or most of its items do."""
    most = items and 2 * sum(bool(said(item)) for item in items) >= len(items)
    return bool(said(lead) or most)


def _asks(line: str) -> bool:
    asked = _ASKED.search(line) is not None
    return asked and (_QUOTED_END.search(line) is None or _QUOTED.match(line) is not None)


def opens_with_step(text: str) -> bool:
    """Tell whether a list begins with a numbered step."""
    return _STEPS.match(text) is not None


def has_address(text: str) -> bool:
    """Tell whether a text gives the address of a page or a machine, which is nobody's trait."""
    return _ADDRESS.search(text) is not None


def heading_kind(text: str, context: Sequence[str]) -> str | None:
    """Return the type that what a text stands under gives it, innermost first.

    A sentence that introduces a list is no heading, and neither is the name of a file. A rule stays
    one among preferences; not all that a manual's sections say is a step, and a heading of many
    words that has "tasks" among them names no list of them. A family relates who stands right
    below it, not what is said of each, nor of the house.
    """
    for above, heading in reversed(tuple(enumerate(context))):
        named = _CODE.sub("", heading)
        if len(named) > HEADING_LENGTH:
            continue
        titled = above == 0 and len(context) > 1
        long = len(_ASIDE.sub("", named).split()) > LIST_NAME
        left_out = ("procedure",) * titled + ("commitment",) * long
        for kind, pattern in HEADING_TYPES:
            if pattern.search(named) and kind not in left_out:
                if kind == "identity" and (above > 1 or not _of_oneself(named, pattern)):
                    continue  # deep in a document it is about how to make one
                if kind == "relationship" and above + 1 < len(context):
                    continue  # the part of one of the family says what they are like
                rules = kind == "preference" and _rules(text)
                return "constraint" if rules else kind
    return None


def _of_oneself(heading: str, pattern: re.Pattern[str]) -> bool:
    """Tell whether a heading is about who one is, not the identity of a thing: `Git identity`."""
    for part in _PARTS.split(heading):
        if (found := pattern.search(part)) is not None:
            rest = f"{part[: found.start()]} {part[found.end() :]}"
            if not found[0].isascii() and not _LATIN.search(rest):
                return True
            if all(len(word) <= SMALL or w.ONESELF.fullmatch(word) for word in rest.split()):
                return True
    return False


_PARTS = regex(r"\.md\b|\w+['’]s\b|[-–—:\uff1a/|(),&.?!]|\s(?:and|und|et|y|e|ed|en|и)\s")
_LATIN = regex(r"[A-Za-z]{4}")
SMALL = 3
"""A word of so many letters is no name of a thing."""


def _rules(text: str) -> bool:
    return any(p.search(text) for p in (w.RULE_START, w.CONSTRAINT, _MUST))


def _names_thing(text: str) -> bool:
    """Tell whether a row that opens with a name goes on with an address of a machine or code."""
    return _ROW.match(text) is not None and _MACHINE.search(text) is not None


_ROW = regex(r"[^:\uff1a;\n]{1,30}[:\uff1a] [^;\n]{1,80}; ")
_MACHINE = regex(
    r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|://|`|(?:^|\s)[~.]?/[\w.-]+/|:\d{2,5}\b"
)


def _plain_key(text: str) -> str:
    match = _PLAIN_KEY.match(text)
    return match[1].strip() if match else ""


_OF_WHOM = regex(r"\s(?:from|by|von|de|da|di|от)\s.+")
"""Who gave a rule, asked for a thing: `New rule from Ana: ...`."""
_PLAIN_KEY = regex(r"\W{0,4}([^\W\d][^:\uff1a\n]{1,30})[:\uff1a]")
HEADING_LENGTH, LIST_NAME = 80, 5
"""Characters of a heading that says what is below it, and words of the name of a list of tasks."""
_ASIDE = regex(r"[(\[][^()\[\]]*[)\]]|\W+(?=\s|$)")
SHORTEST_LIST = 3
"""A list of so many lines is of the type of most of them."""
_ITEM = regex(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_BOLD_LINE = regex(r"\s*(\*\*|__)[^\n]{1,120}\1[:\uff1a]?\s*")
_ADDRESS = regex(r"://|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")
_TICKED = regex(r"(?:[^\w\n]*[✅☑✔][^\n]*(?:\n|$))+")
_CODE = regex(
    r"`[^`\n]*`|(?<!\w)\.[\w-]+/[\w./-]*"
    # one start a run, up to its first separator: whatever is left decides
    r"|(?<![\w./-])(?:[^\W_]|[.-])*[/_][\w./-]*\.\w{1,5}\b"
    r"|\b\w+\.(?:md|py|js|ts|json|txt|sh)\b"
)


def _has_steps(text: str) -> bool:
    first = _FIRST.search(text)
    in_words = first is not None and _THEN.search(text, first.end()) is not None
    return in_words or _STEPS.search(text) is not None


def is_relation(text: str) -> bool:
    """Tell whether a text relates people: `my wife`, `Ann's brother`, `brother of`, `我妻子`."""
    match = w.RELATION.search(text)
    if match is None:
        return False
    return bool(_WIDE_RELATION.search(match[0])) or _RELATION.search(text) is not None
