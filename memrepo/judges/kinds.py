"""Decide the type of a claim from its words, with the kind of its source as prior."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memrepo.core.ids import normalise
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.patterns import regex, spelled
from memrepo.judges import wordlists as w
from memrepo.judges.headings import HEADING_TYPES

_STEPS = regex(r"^\s*\d{1,3}[.)]\s|^\W*(?:step|schritt)\s+\d", re.I | re.M)
_FIRST = regex(r"\bfirst\b|\bzuerst\b", re.IGNORECASE)
_THEN = regex(r"\bthen\b|\bdann\b", re.IGNORECASE)
_COMMAND = regex(r"^\W*(?:run|use|execute|call|verwende|nutze|运行|使用|実行)\b.*`[^`]+`", re.I)
_RELATION = spelled(
    lambda: (
        rf"(?:['’]s|\b(?:my|his|her|their|our|your|mein|meine|seine?|ihre?))\s+(?:\w+\s+)?"
        rf"(?:{w.RELATION.pattern})|(?:{w.RELATION.pattern})\s+(?:of|is|named|called|von|ist|heißt)\b"
    ),
    re.IGNORECASE,
)
# "must have been" guesses and a "must-have" is liked: neither binds anyone.
_MUST = regex(r"(?<![\w-])must(?!\w|-\w|\s+have\s+been)", re.IGNORECASE)
_WILL = regex(r"^\W*(?:[^\W\d_a-z][\w'’-]*\s+){1,3}(?:will|werde)\b")
_WIDE_RELATION = regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0400-\u04ff]")

# First match wins. The narrow, deliberate kinds stand before the broad ones.
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("open_question", w.OPEN),
    ("method", _COMMAND),
    ("decision", w.DECISION),
    ("constraint", w.RULE_START),
    ("constraint", w.CONSTRAINT),
    ("constraint", _MUST),
    ("aspiration", w.ASPIRATION),
    ("lesson", w.LESSON),
    ("milestone", w.MILESTONE),
    ("commitment", w.COMMITMENT),
    ("commitment", _WILL),
    ("preference", w.PREFERENCE),
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
    if (named := w.KEY_TYPES.get(normalise(key))) is not None:
        return named, "type_key"
    if key and normalise(key).startswith(("favorite", "favourite", "lieblings")):
        return "preference", "type_key"
    if text.rstrip(" *_)\"'”»").endswith(("?", "？")):
        return "open_question", "type_question"
    if hint in ("lesson", "milestone", "aspiration"):
        return hint, "type_source"
    if task == "open":
        return "commitment", "type_open_task"
    for heading in reversed(context):
        for kind, pattern in HEADING_TYPES:
            if pattern.search(heading):
                return kind, "type_heading"
    for kind, pattern in _RULES:
        if pattern.search(text):
            return kind, "type_words"
        if kind == "preference" and is_relation(text):
            return "relationship", "type_words"
    return (hint if hint in CLAIM_TYPES else "fact"), "type_default"


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
