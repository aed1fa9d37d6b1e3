"""Find candidates that say the same, and weak ones that another says more fully."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memrepo.core.ids import normalise
from memrepo.core.judging import Candidate, PromotionScores, VerdictWord
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.sameness import sense
from memrepo.judges.triples import read_triple
from memrepo.judges.wording import bare_object, tidy
from memrepo.policies.matching import normal_subject, tokens

COMPRESS_PERSISTENCE = 0.6
_FILLERS = frozenset(
    ("a", "an", "the", "also", "just", "really", "very", "der", "das", "den", "dem", "auch")
)
_EDGES = "\"'`*_.,;:!()[]{}<>«»„“”‘’。、，！；：「」『』（）【】…-–—"
_WIDE_STOPS = regex("[。、，！；：「」『』（）【】]")

_Key = tuple[str, str, tuple[str, ...]]


def equal_groups(
    candidates: Sequence[Candidate], words: Mapping[str, VerdictWord]
) -> dict[str, tuple[str, ...]]:
    """Return, per candidate, the others that say the same in the same or in other words.

    Short texts are equal but for punctuation, case and fillers, longer ones in their sense
    (`judges.sameness`). They merge only under one subject and in one task state, and only where
    at least one of them is promoted by itself. Negation, questions, numbers and direction count.
    """
    groups: dict[_Key, list[str]] = {}
    for candidate in candidates:
        text = bare_object(tidy(candidate.text))
        if said := sense(text) or content(text):
            key = (_unsaid_subject(candidate, text), candidate.task, said)
            groups.setdefault(key, []).append(candidate.candidate_id)
    return {
        key: tuple(sorted(set(group) - {key}))
        for group in groups.values()
        if len(group) > 1 and any(words[key] == "promote" for key in group)
        for key in group
    }


def _unsaid_subject(candidate: Candidate, text: str) -> str:
    """Return the subject where the text does not name it itself, else an empty string."""
    triple = read_triple(candidate)
    if triple.shape == 2 or tokens(triple.subject) <= tokens(text):
        return ""
    return normal_subject(triple.subject)


def content(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, without fillers and punctuation at the edges."""
    spaced = _WIDE_STOPS.sub(" ", normalise(text))
    words = (word.strip(_EDGES) for word in spaced.split())
    return tuple(word for word in words if word and word not in _FILLERS)


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
