"""Translate the reasons that programs record as codes into plain words.

Files, commits and JSON retain the codes, by which programs and later runs recognise a reason.
"""

from __future__ import annotations

from memrepo.core.messages import counted
from memrepo.core.patterns import regex

_WHOLE = {
    "both passes of the purifier accepted them": "stated in the source, and kept by both passes of"
    " the judge",
    "no_candidates_above_threshold": "nothing like it was known",
}
_GONE = regex(
    r"(text_removed|source_removed|all_sources_removed): ([^\s;,]{1,400})"
    r"(?: no longer holds what they rested on)?"
)
_CODES = regex(r"\(([a-z0-9_,]{1,200}); ([01])\.(\d\d) sure\)")
_SURE = regex(r"\(([01])\.(\d\d) sure\)")
_CODE = regex(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_DISPOSITIONS = {
    "new_claim": "a new statement",
    "reworded": "the same in other words",
    "reuse_existing": "known already",
    "probable_duplicate": "probably known already",
    "quarantined": "not taken",
}
_LEARNED = regex(r"(?:^|,)owner_(prefers|rejects)(?:_(\d{1,9}))?(?=,|$)")
_ROUTES = ("strong", "acceptable", "suspicious", "impossible")


def in_words(reason: str) -> str:
    """Translate the codes in a reason. A reason by a person or a model remains unchanged."""
    if reason in _WHOLE:
        return _WHOLE[reason]
    said = _GONE.sub(
        lambda m: f"{m[2]} {'no longer says so' if m[1] == 'text_removed' else 'is gone'}", reason
    )
    said = _CODES.sub(lambda m: f"({_percent(m[2], m[3])} sure)" if "_" in m[1] else m[0], said)
    return _SURE.sub(lambda m: f"({_percent(m[1], m[2])} sure)", said)


def _percent(whole: str, part: str) -> str:
    return f"{100 * int(whole) + int(part)} %"


def judged_in_words(judged: str) -> str:
    """Translate a judge's rationale: the disposition, and the reason if it is a sentence."""
    found = []
    for part in judged.split(", "):
        if part in _DISPOSITIONS:
            found.append(_DISPOSITIONS[part])
        elif part in _WHOLE:
            found.append(_WHOLE[part])
        elif part not in _ROUTES and not is_code(part):
            found.append(part)
    return ", ".join(found)


def is_code(text: str) -> bool:
    """Return whether a text consists only of codes, such as `type_default,shape_1`."""
    return "_" in text and all(map(_CODE.fullmatch, text.split(",")))


def learned_in_words(rationale: str) -> str:
    """Return the part of a rationale that is about the owner's decisions, or an empty string."""
    match = _LEARNED.search(rationale)
    if match is None:
        return ""
    likes, count = match[1] == "prefers", match[2]
    many = "statements of its kind"
    if count:
        many = counted(int(count), "similar statement", "similar statements")
    did = "confirmed" if likes else "rejected"
    return f"ranked {'higher' if likes else 'lower'}: you {did} {many}"
