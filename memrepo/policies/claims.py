"""Rules that apply to every claim: its page, path, evidence and author, and what it repeats.

Lineage: memory-purifier, assembly (reuse by normalised triple; composite score, threshold 0.80).
Deliberate differences:

- If both objects are present and differ, a claim is only a duplicate if the texts are similar
  (Jaccard >= 0.5, or 0.7 if the objects have no word in common). "port 8080" and "port 9090"
  differ in one word and are two statements.
- Empty subjects or predicates never match. Otherwise all bullets under a heading were duplicates.
- Texts are compared by words, or by pairs of characters in scripts without blanks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.ids import claim_id, normal_claim, normalise
from memrepo.core.memory import HOMES, Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.secrets import (
    find_secrets,
    has_clean_body,
    placeholder,
    redact,
    secrets_of,
    without_secrets,
)
from memrepo.text.words import content_words

if TYPE_CHECKING:
    from memrepo.core.judge import Profile
    from memrepo.core.state import State

PERSONAL_HOMES = ("HISTORY.md", "WISHES.md")


def is_permitted(home: str, profile: Profile) -> bool:
    """Return whether a profile has a page. HISTORY and WISHES exist only in personal profiles."""
    return home in HOMES and (profile == "personal" or home not in PERSONAL_HOMES)


_IN_BUSINESS = {"aspiration": "open_question", "milestone": "episode"}


def type_in_profile(type_: str, profile: Profile) -> str:
    """Return the type that a claim gets in a profile.

    The business profile has no pages for aspirations and milestones. An undecided wish is an open
    question there, and what was reached is an episode.
    """
    return _IN_BUSINESS.get(type_, type_) if profile == "business" else type_


_METHODS = ("method", "procedure")
WORDED_BY = {"lesson": ("fact", *_METHODS), "fact": _METHODS, "milestone": ("aspiration",)}
_OWN_ROLE = frozenset(
    (frozenset(("milestone", "episode")), *(frozenset((kind, "episode")) for kind in _METHODS))
)


def have_two_roles(one: str, other: str) -> bool:
    """Return whether statements of two types are never merged, even if they state the same."""
    return frozenset((one, other)) in _OWN_ROLE


def find_reflecting(sources: Iterable[Source]) -> frozenset[str]:
    """Return the source files that only reflect on a statement in another of the sources."""
    from memrepo.read.sources import default_type  # a hook needs no table of sources

    kinds = {resource: default_type(resource) for resource in {s.resource for s in sources}}
    stated = frozenset(kinds.values())
    return frozenset(
        r for r, kind in kinds.items() if not stated.isdisjoint(WORDED_BY.get(kind, ()))
    )


def is_worded_by_person(memory: Memory) -> bool:
    """Return whether a person wrote the current text of a memory."""
    stamp = memory.stamp
    return stamp is not None and stamp.by.startswith("human:")


def is_by_person(memory: Memory) -> bool:
    """Return whether a person worded or confirmed a memory."""
    stamp = memory.stamp
    stamps = (*((stamp,) if stamp else ()), *memory.verified)
    return any(one.by.startswith("human:") for one in stamps)


def is_held_by_person(memory: Memory) -> bool:
    """Return whether a person worded, confirmed or marked a memory.

    Such a memory is not archived when its source is gone.
    """
    return is_by_person(memory) or memory.pinned or memory.critical


def merge_sources(old: Sequence[Source], new: Sequence[Source]) -> tuple[Source, ...]:
    """Merge two lists of sources, keeping the first entry for each resource and text."""
    found: dict[tuple[str, str], Source] = {}
    for source in (*old, *new):
        found.setdefault((source.resource, source.text_hash), source)
    return tuple(found.values())


MAX_SPAN = 26
"""Maximum number of lines in one span of evidence."""


def join_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Merge sources of one time. Places in one text become a span from the first to the last."""
    found: dict[tuple[str, str], Source] = {}
    for source in sources:
        first = found.setdefault((source.resource, source.text_hash), source)
        span = min(first.lines[0], source.lines[0]), max(first.lines[1], source.lines[1])
        if span[1] - span[0] < MAX_SPAN:
            found[source.resource, source.text_hash] = replace(first, lines=span)
    return tuple(found.values())


def storage_fault(memory: Memory) -> str:
    """Return why a memory could not be read back after writing, or an empty string if it could."""
    try:
        codec.encode(memory)
    except codec.CodecError as error:
        return error.problem.message
    return ""


CROWD = 2000
"""Number of files in a folder from which new files go to subfolders."""


_NAMED = ("context", "subject", "title")
_NEEDED = ("id", "type", "status", "captured", "scope", "standing")


def redact_memory(memory: Memory) -> tuple[Memory, frozenset[str]]:
    """Return a memory without secrets in its text, fields and file, and the kinds found.

    What looks like a secret only below the memory's heading is one too.
    """
    heading = " ".join(str(memory.fields[key]) for key in _NAMED if key in memory.fields)
    kinds = set[str]()

    def below(text: str) -> str:
        clean, secrets = redact(f"### {heading}\n\n- {text}")
        kinds.update(secret.kind for secret in secrets)
        return clean.partition("\n\n- ")[2]

    body, description = below(memory.body), memory.description and below(memory.description)
    texts = [text for value in memory.fields.values() for text in _texts_in(value)]
    if find_secrets("\n\n".join(texts)):  # one search of all takes less than one of each
        kinds |= {secret.kind for text in texts for secret in find_secrets(text)}
    kinds |= {secret.kind for secret, _ in secrets_of(memory.path, codec.encode(memory))}
    if not kinds:
        has_clean_body(memory, searched=True)
        return memory, frozenset()
    folder = memory.path.rpartition("/")[0]  # file names contain words of the text
    fields = redact_fields({**memory.fields, "description": description})
    clean = replace(
        memory.with_fields(fields, body),
        path=f"{folder}/redacted-{memory.id[4:10]}.md",
    )
    if any(secrets_of(clean.path, codec.encode(clean))):  # its fields look like one together
        words = {key: None for key, value in clean.fields.items() if isinstance(value, str)}
        clean = clean.with_fields({k: v for k, v in words.items() if k not in _NEEDED}, clean.body)
    if any(secrets_of(clean.path, codec.encode(clean))):
        clean = clean.with_fields({}, " ".join(map(placeholder, sorted(kinds))))
    return clean, frozenset(kinds)


def redact_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the values of fields, in which placeholders replace secrets in texts."""
    return {key: _redacted(value) for key, value in fields.items()}


def _redacted(value: object) -> object:
    match value:
        case str():
            return without_secrets(value)
        case tuple() if all(isinstance(one, str) for one in value):
            return tuple(dict.fromkeys(map(without_secrets, value)))
        case _:
            return value


def _texts_in(value: object) -> list[str]:
    values = value if isinstance(value, tuple) else (value,)
    return [one for one in values if isinstance(one, str)]


def _in_folders(state: State) -> Counter[str]:
    return Counter(path.rpartition("/")[0] for path in (memory.path for memory in state.every))


def free_path(state: State, taken: set[str], memory: Memory) -> str:
    """Return a path for a memory that neither the tree nor this run's new memories use.

    Folders are limited to a size that people and forges can display.
    """
    folder = memory.path.rpartition("/")[0]
    if state.once(_in_folders)[folder] + len(taken) >= CROWD:
        memory = replace(memory, path=state.layout.spread(memory.path))
    return state.free_path(memory, taken)


SHORT = 25
"""Length below which a text's meaning depends on its heading."""


# -- claims that repeat a memory -------------------------------------------------------------------

DUPLICATE_THRESHOLD = 0.80
DIFFERENT_OBJECT_JACCARD = 0.5
APART_OBJECT_JACCARD = 0.7
"""For objects without a common word: "loves basil" and "loves mint" are two statements."""
INACTIVE_STANDINGS = ("stale", "retire_candidate")

_ARTICLE = regex(r"^(?:the|a|an) (?=\S)")
_SUFFIXES = (("ing", 3), ("ed", 3), ("s", 4))


# -- the marks by which memories are looked up -----------------------------------------------------


def texts_of(memory: Memory) -> frozenset[Hashable]:
    """Return the hashes of a memory's current and former texts, and those of its sources."""
    hashes = (source.text_hash for source in memory.sources)
    return frozenset((memory.own_hash, *memory.former, *hashes))


def present_ids(memory: Memory) -> frozenset[Hashable]:
    """Return the ids that a memory would have if it were made of its current words."""
    return frozenset(
        claim_id(
            scope=f"{memory.scope}{kind}",
            subject=memory.subject,
            predicate=memory.predicate,
            object_=memory.object,
            text=memory.body,
        )
        for kind in ("", memory.type)
    )


def words_of(memory: Memory) -> frozenset[Hashable]:
    """Return the normalised text of a memory, as the only mark."""
    return frozenset((normal_text(memory.body),))


def normal_text(text: str) -> str:
    """Normalise a text for comparison, without case, list marker and final full stops."""
    return normal_claim(text).rstrip(" .!。！")


def claim_keys(memory: Memory) -> frozenset[Hashable]:
    """Return the keys of which two claims share one if their similarity may reach 0.80.

    Such claims have the same subject and primary page, and also the same predicate, words or
    object: a different subject limits the score to 0.70. A memory that is not active, stale,
    retired, or without a subject has no keys.
    """
    subject, home = normal_subject(memory.subject), memory.home.strip()
    is_current = memory.status == "active" and memory.standing not in INACTIVE_STANDINGS
    if not (is_current and subject and home):
        return frozenset()
    keys: list[Hashable] = [(subject, home, content_words(memory.body))]
    if triple := reuse_key(memory):
        keys.append(triple)
    if object_ := normal_subject(memory.object):
        keys.append((subject, home, "object", object_))
    return frozenset(keys)


def reuse_key(memory: Memory) -> tuple[str, str, str] | None:
    """Return the subject, predicate and page of a claim, normalised, or None if one is empty."""
    subject, predicate = memory.subject, memory.predicate
    key = (normal_subject(subject), normal_predicate(predicate), memory.home.strip())
    return key if all(key) else None


@lru_cache(maxsize=1 << 14)
def normal_subject(text: str) -> str:
    """Normalise a subject or object, removing a leading article and a plural s."""
    text = _ARTICLE.sub("", normalise(text))
    plural = len(text) >= 4 and text[-1] == "s" and text[-2] not in "saeiou"
    return text[:-1] if plural else text


def normal_predicate(text: str) -> str:
    """Normalise a predicate, removing a suffix (ing, ed or s) if the stem is long enough."""
    text = normalise(text)
    for suffix, stem in _SUFFIXES:
        if text.endswith(suffix) and len(text) - len(suffix) >= stem:
            return text[: -len(suffix)]
    return text


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets, 0 to 1. The index of two empty sets is 0."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def duplicate_score(one: Memory, other: Memory) -> float:
    """Return the similarity of two claims, 0 to 1.1, rounded to four decimals.

    The score is the sum of these weights:

    - 0.4 for equal subjects
    - 0.2 for equal predicates
    - 0.2 for equal primary pages
    - 0.2 times the Jaccard index of the texts
    - 0.1 for equal objects, which few claims have; so the sum may exceed 1

    It is 0 for different primary pages. It is also 0 for different objects if the Jaccard index is
    below 0.5, or below 0.7 if the objects have no word in common.
    """
    if one.home.strip() != other.home.strip():
        return 0.0
    overlap = jaccard(content_words(one.body), content_words(other.body))
    objects = [normal_subject(m.object) for m in (one, other)]
    if all(objects) and objects[0] != objects[1]:
        common = content_words(one.object) & content_words(other.object)
        if overlap < (DIFFERENT_OBJECT_JACCARD if common else APART_OBJECT_JACCARD):
            return 0.0
    subjects = [normal_subject(m.subject) for m in (one, other)]
    predicates = [normal_predicate(m.predicate) for m in (one, other)]
    score = 0.2 + 0.2 * overlap
    for (left, right), weight in ((subjects, 0.4), (predicates, 0.2), (objects, 0.1)):
        score += weight if left and left == right else 0.0
    return round(score, 4)


def probable_duplicate(claim: Memory, others: Iterable[Memory]) -> tuple[str, str]:
    """Return the id of the memory most similar to a claim, and why; empty if no score is enough."""
    scored = [(-duplicate_score(claim, other), other.id) for other in others]
    score, id_ = min(scored, default=(0.0, ""))
    return (id_, f"composite_{-score:.2f}_subject") if -score >= DUPLICATE_THRESHOLD else ("", "")


def cosine(one: frozenset[str], other: Collection[str]) -> float:
    """Return the cosine similarity of two sets of words, 0 to 1. With an empty set it is 0."""
    if not one or not other:
        return 0.0
    return len(one.intersection(other)) / math.sqrt(len(one) * len(other))


AKIN = 0.4
"""The minimum cosine to suggest a link between two memories."""
FEW = 3


def _may_share(words: Collection[str], text: str, least: float) -> bool:
    """Return whether a text may contain enough of the words. Splitting it takes longer."""
    low = text.lower()
    return not low.isascii() or sum(word in low for word in words) >= least


def akin(memory: Memory, others: Iterable[Memory]) -> list[tuple[Memory, float]]:
    """Return up to three memories of the same scope whose words are most similar, best first."""
    mine = content_words(memory.body)
    least = AKIN**2 * len(mine)
    scored = [
        (other, cosine(mine, content_words(other.body)))
        for other in others
        if other.id != memory.id
        and other.scope == memory.scope
        and _may_share(mine, other.body, least)
    ]
    alike = [(other, round(score, 2)) for other, score in scored if score >= AKIN]
    return sorted(alike, key=lambda pair: (-pair[1], pair[0].id))[:FEW]
