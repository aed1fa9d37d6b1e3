"""Scores by rules that each have a name: six dimensions of Pass 1, eight scores of Pass 2.

Derive the eight Pass 2 scores by formulae (memory-purifier, Pass 2).

| score | formula |
|---|---|
| semantic_cluster_confidence | 1.0 for one member, 0.95 for equal texts, 0.8 with a folded member |
| canonical_clarity | 0.9, 0.8, 0.6 by shape of the triple, 0.5 without a subject; -0.2 hedged |
| provenance_strength | 0.4 + 0.2 per further resource + 0.1 per further day + 0.1 if dated |
| contradiction_pressure | 0.6 contested, 0.3 superseding or overtaken, else 0 |
| freshness | halves every 180 days from the newest evidence; 0.5 where nothing dates it |
| confidence | 0.35 + 0.15 strength + 0.1 (provenance - 0.4) - 0.2 hedged - 0.3 pressure |
| route_fitness | the score of the route's affinity |
| supersession_confidence | 0.95 superseding, 0.5 contradicting, else 0 |

Each is cut to 0 to 1 and rounded to two decimals.

A score is a base by kind of source plus the deltas of the signals that the text shows, cut to 0
to 1. The rationale is the list of their codes, so a score can be explained and tested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import strip_marker
from memrepo.core.judge import Candidate, CanonicalClaim, Cluster, PromotionScores
from memrepo.core.memory import CLAIM_TYPES, HOMES
from memrepo.core.patterns import regex
from memrepo.core.schema import Scores
from memrepo.core.times import parse_time
from memrepo.judges import talk
from memrepo.judges import wordlists as w
from memrepo.judges.lasting import DAILY_WEIGHTS, traits
from memrepo.judges.noise import is_count, is_listing, is_template, noise_class, passing
from memrepo.judges.sameness import content
from memrepo.judges.successions import Said, Succession
from memrepo.judges.wording import (
    bold_lead,
    lead_of,
    nearest_heading,
    read_triple,
    stated,
    tidy,
    weight,
)
from memrepo.policies.matching import tokens
from memrepo.purify.leads import COLONS
from memrepo.purify.routes import AFFINITY_SCORE, affinity

HALF_LIFE_DAYS = 180.0
UNDATED_FRESHNESS = 0.5
_CLARITY = {1: 0.9, 2: 0.8, 3: 0.6}
_DAY = 86_400.0
_S = TypeVar("_S", Scores, PromotionScores)


def measure(said: Said, kind: str, found: Succession, *, now: datetime, hedged: bool) -> Scores:
    """Return the eight scores of a claim."""
    provenance = provenance_strength(said.cluster)
    pressure = _pressure(found)
    doubt = 0.2 if hedged else 0.0
    clarity = _CLARITY[said.triple.shape] if said.triple.subject else 0.5
    confidence = 0.35 + 0.15 * said.cluster.strength + 0.1 * (provenance - 0.4)
    scores: Scores = _one(
        Scores(
            semantic_cluster_confidence=_cluster_confidence(said.cluster),
            canonical_clarity=_cut(clarity - doubt),
            provenance_strength=provenance,
            contradiction_pressure=pressure,
            freshness=freshness(said.cluster, now),
            confidence=_cut(confidence - doubt - 0.3 * pressure),
            route_fitness=AFFINITY_SCORE[affinity(kind, said.home)],
            supersession_confidence=found.confidence,
        )
    )
    return scores


@lru_cache(maxsize=4096)
def _one(scores: _S) -> _S:
    """Return the first of equal scores: of a large run they are few, and all are held."""
    return scores


def measured(claim: CanonicalClaim, cluster: Cluster, now: datetime) -> CanonicalClaim:
    """Return a model's claim with the scores that nobody needs a model for."""
    subject, held = claim.wording.subject, bool(claim.contradictions)
    scores = replace(
        claim.scores,
        canonical_clarity=_CLARITY[1] if subject else _CLARITY[3],
        provenance_strength=provenance_strength(cluster),
        contradiction_pressure=0.6 if held else 0.3 if claim.supersedes else 0.0,
        freshness=freshness(cluster, now),
        route_fitness=AFFINITY_SCORE.get(affinity(claim.type, claim.home), 0.0)
        if claim.type in CLAIM_TYPES and claim.home in HOMES
        else 0.0,
    )
    return replace(claim, scores=scores)


def provenance_strength(cluster: Cluster) -> float:
    """Return how well evidenced a cluster is: distinct resources, distinct days, any date."""
    sources = [s for c in cluster.candidates for s in c.sources]
    resources = max(len({s.resource for s in sources}), *(c.resources for c in cluster.candidates))
    days = max(
        len({s.captured[:10] for s in sources if s.captured}), *(c.days for c in cluster.candidates)
    )
    dated = 0.1 if any(s.captured for s in sources) else 0.0
    return _cut(0.4 + 0.2 * max(resources - 1, 0) + 0.1 * max(days - 1, 0) + dated)


def freshness(cluster: Cluster, now: datetime) -> float:
    """Return 1.0 for evidence of today, halved every 180 days; 0.5 for undated evidence."""
    newest = max((c.captured for c in cluster.candidates), default="")
    try:
        captured = parse_time(newest)
    except ValueError:
        return UNDATED_FRESHNESS
    age = max((now - captured).total_seconds() / _DAY, 0.0)
    return _cut(0.5 ** (age / HALF_LIFE_DAYS))


def _cluster_confidence(cluster: Cluster) -> float:
    if len(cluster.candidates) == 1:
        return 1.0
    texts = {content(tidy(c.text)) for c in cluster.candidates}
    return 0.95 if len(texts) == 1 else 0.8


def _pressure(found: Succession) -> float:
    if any(c.relation == "contested" for c in found.contradictions):
        return 0.6
    return 0.3 if found.contradictions or found.supersedes else 0.0


def _cut(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)


FRAGMENT_WEIGHT = 15
WIDE_FRAGMENT_WEIGHT = 12  # six characters are a sentence in Chinese
_CURATED = ("MEMORY.md", "RTMEMORY.md", "PROCEDURES.md", "CHRONICLES.md", "DREAMS.md")


class Signal(msgspec.Struct, frozen=True):
    """A named change of the scores: durability, judgement, action, identity, persistence, noise."""

    code: str
    durability: float = 0.0
    judgement: float = 0.0
    action: float = 0.0
    identity: float = 0.0
    persistence: float = 0.0
    noise: float = 0.0


# An ordinary, self-contained sentence of a curated file must reach 2.0 by its base alone.
_BASES = {
    "fact": Signal("base_fact", 0.60, 0.50, 0.30, 0.30, 0.50, 0.10),
    "lesson": Signal("base_lesson", 0.60, 0.60, 0.40, 0.15, 0.50, 0.10),
    "method": Signal("base_method", 0.65, 0.50, 0.75, 0.05, 0.50, 0.10),
    "procedure": Signal("base_method", 0.65, 0.50, 0.75, 0.05, 0.50, 0.10),
    "episode": Signal("base_episode", 0.55, 0.40, 0.20, 0.40, 0.60, 0.10),
    "milestone": Signal("base_milestone", 0.75, 0.35, 0.15, 0.45, 0.45, 0.10),
    "aspiration": Signal("base_aspiration", 0.55, 0.50, 0.40, 0.45, 0.50, 0.10),
}
_UNCURATED = Signal("uncurated", -0.10, -0.05, 0.0, 0.0, -0.20)
_NOISE = Signal("", -0.40, -0.40, -0.20, -0.20, -0.40, 0.85)

_BY_WORDS: tuple[tuple[re.Pattern[str], Signal], ...] = (
    (w.DURABLE, Signal("durable_words", durability=0.25, persistence=0.10)),
    (w.TRANSIENT, Signal("transient_words", durability=-0.35, persistence=-0.20)),
    (w.LATELY, Signal("lately_words", durability=-0.10)),
    (w.JUDGEMENT, Signal("judgement_words", judgement=0.25)),
    (w.ACTION, Signal("action_words", action=0.20)),
    (w.IMPERATIVE, Signal("imperative", action=0.15)),
    (w.IDENTITY, Signal("identity_words", identity=0.30)),
    (w.HEDGE, Signal("hedged", durability=-0.15, judgement=-0.10, noise=0.15)),
    (w.CHATTER, Signal("chatter", -0.30, -0.20, -0.10, -0.20, -0.30, 0.30)),
)
_SPECIFICS = regex(
    r"\bv?\d+\.\d+|\b\d{2,}\b|https?://|`[^`]+`|(?:^|\s)[~.]?/[\w.-]+/|\b[\w.-]{1,64}@[\w-]{1,64}\.\w|[$€£¥]\d"
)
_NAME = regex(r"(?<=[\w,;:] )[^\W\d_a-z][\w'’-]+|\b[A-Z]{2,}\b|^[A-Z]\w+['’]s\b")
_FRAGMENT = Signal("fragment", -0.30, -0.20, -0.10, 0.0, -0.20, 0.20)
_SCRAP = Signal("scrap", -0.40, -0.40, -0.20, -0.20, -0.40, 0.75)
_QUESTION = Signal("reader_question", -0.40, -0.40, -0.20, -0.20, -0.40, 0.75)
_DONE = Signal("done_task", -0.30, -0.10, -0.30, 0.0, -0.25, 0.30)
_OPEN_TASK = Signal("open_task", action=0.30)
_NAMED = Signal("name", judgement=0.05, identity=0.05)
_EXACT = Signal("specifics", judgement=0.15)
_BOLD_KEY = Signal("key_value", judgement=0.15, persistence=0.10)

# How a person's account of facts differs from small talk. The sizes were found on five development
# conversations of LoCoMo (2,760 turns; is a turn cited by an observation?): a logistic regression
# over these signals, in proportion, rounded to 0.05, and small enough that no ordinary line of a
# curated file changes its verdict. `benchmarks/turns.py` fits them anew on four conversations and
# tests on the fifth: 0.83 alone and 0.84 under the turn before, against 0.82 and 0.83 as written.
_DETAIL = Signal("detail", 0.35, 0.50, 0.15, 0.20, 0.30)
_DETAIL_FROM, _DETAIL_FULL = 4, 20
_EXCLAIMS = Signal("exclaims", judgement=-0.25)
_ADDRESSED = Signal("addressed", judgement=-0.15, persistence=-0.15)
_BY_SPEECH: tuple[tuple[re.Pattern[str], Signal], ...] = (
    (talk.REACTION, Signal("reaction", durability=-0.10, judgement=-0.10)),
    (talk.FIRST_PERSON, Signal("first_person", durability=0.05, identity=0.25)),
    (talk.PAST_EVENT, Signal("past_event", durability=0.20, identity=0.10)),
    (talk.UNDER_WAY, Signal("under_way", action=0.20, identity=0.10)),
    (talk.WHEN, Signal("when", judgement=0.15, persistence=0.20)),
)
# Fitted by `benchmarks/lasting.py`, rounded: one unit of the regression's logit is 0.4 of strength.
_DAILY = Signal("daily", -0.10, -0.10, 0.0, 0.0, -0.10)


def _trait(code: str, weight: float) -> Signal:
    share = round(weight * 0.4 / 4, 3)
    return Signal(code, share, share, share, 0.0, share)


_DAILY_TRAITS = {code: _trait(code, weight) for code, weight in DAILY_WEIGHTS.items()}
_LOOKED_FOR = Signal("looked_for", durability=0.10, judgement=0.20, persistence=0.30)
"""A note that recall handed over again and again has shown what it is good for."""
_CHANGES = Signal("changes_known", 0.25, 0.30, 0.10, 0.05, 0.30, -0.30)
"""What changes a statement that stands is worth as much as that one was."""
_SMALL_TALK = Signal("small_talk", -0.25, -0.25, -0.10, -0.15, -0.25, 0.25)
_ANSWER = Signal("answers", judgement=0.25, action=0.10, persistence=0.10)
_SENTENCE = regex(r"[^.!?…。！？\n]+[.!?…。！？]*")


def score(candidate: Candidate) -> tuple[PromotionScores, tuple[str, ...]]:
    """Return the six scores of a candidate and the codes of the signals that made them."""
    shown = tuple(signals(candidate))
    scores = PromotionScores(
        durability=_sum(s.durability for s in shown),
        future_judgment_value=_sum(s.judgement for s in shown),
        action_value=_sum(s.action for s in shown),
        identity_relationship_weight=_sum(s.identity for s in shown),
        cross_time_persistence=_sum(s.persistence for s in shown),
        noise_risk=_sum(s.noise for s in shown),
    )
    return _one(scores), tuple(s.code for s in shown)


def signals(candidate: Candidate) -> Iterator[Signal]:
    """Yield the base and each signal that a candidate shows, in a fixed order."""
    yield _BASES.get(candidate.type_hint, _BASES["fact"])
    if not _is_curated(candidate):
        yield _UNCURATED
    key, _ = lead_of(candidate)
    document = candidate.type_hint in ("episode", "method", "procedure")
    noise = _noise(candidate, has_key=bool(key))
    # A document may quote a log or a transcript; only text aimed at the reader spoils it whole.
    if noise and (not document or noise in ("instruction_text", "symbols_only")):
        yield Signal(noise, *_values(_NOISE))
        return
    if not document and is_template(candidate):
        yield Signal("template", *_values(_NOISE))
        return
    if not document and not candidate.changes and (over := passing(candidate)):
        yield Signal(over, *_values(_NOISE))
        return
    # A document of an episode has a day too, and is written because that day is to be kept.
    daily = not document and (candidate.daily or _is_report(candidate))
    document = document or bool(candidate.detail)
    if daily and not candidate.changes:  # what changes something lasts
        yield from _daily_signals(candidate)
        return
    text = strip_marker(candidate.text)
    for pattern, signal in () if candidate.type_hint == "episode" else _BY_WORDS:
        listed = signal.code == "transient_words" and bool(candidate.detail)
        if not listed and pattern.search(text):
            yield signal
    yield from _shape_signals(candidate, text, key)
    if not document:
        yield from _speech_signals(candidate, text)
    if candidate.retrieved:
        yield _LOOKED_FOR
    if candidate.changes:
        yield _CHANGES
    again = max(candidate.resources - 1, 0) + max(candidate.days - 1, 0)
    if again:
        yield Signal("recurring", persistence=round(0.1 * min(again, 3), 2))


def _is_report(candidate: Candidate) -> bool:
    """Tell whether a file says it by whose name it is about one day, or a title one hour of one."""
    names = [s.resource.rsplit("/", 1)[-1] for s in candidate.sources]
    if not names or all(_DATED_NAME.search(name) for name in names):
        return bool(names)
    title, part = (*candidate.context[:2], "", "")[:2]
    of_hour = _OF_AN_HOUR.search(part) is not None and _DATED_NAME.search(part) is not None
    return of_hour or _OF_AN_HOUR.search(title) is not None


_OF_AN_HOUR = regex(r"(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?:\s?(?:UTC|GMT|Z|[A-Z]{2,3}T))?\W*$")
_DATED_NAME = regex(r"(?<!\d)20\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])(?!\d)")


def _noise(candidate: Candidate, *, has_key: bool) -> str:
    """Return the class of noise that a text is; of a list, that of most of its lines."""
    if is_count(candidate):
        return "counters"
    if not candidate.detail:
        rows = candidate.text.split("\n")
        if len(rows) > 1 and (names := [noise_class(row) for row in rows]) and all(names):
            return names[0]
        return noise_class(candidate.text, has_key=has_key)
    said = stated(candidate)
    opening = noise_class(said, has_key=has_key) if said else ""
    if said and opening != "metadata":  # who wrote a section says nothing of what it holds
        return _instruction(candidate.detail) if opening in ("", "unfilled") else opening
    rows = [strip_marker(row) for row in candidate.detail.split("\n")]
    if is_listing(rows):
        return "listing"
    rows = [row for row in rows if not row.endswith(COLONS)] or rows  # those say what follows
    names = [name for row in rows if (name := noise_class(row, has_key=bool(bold_lead(row))))]
    half = len(candidate.context) < 2  # a card right below the title is about its file
    return names[0] if 2 * len(names) > len(rows) - half else _instruction(candidate.detail)


def _instruction(text: str) -> str:
    found = noise_class(text, has_key=True)
    return found if found == "instruction_text" else ""


def _daily_signals(candidate: Candidate) -> Iterator[Signal]:
    """Yield what a statement of a daily log shows: how far it lasts beyond its day."""
    yield _DAILY
    for trait in traits(candidate):
        yield _DAILY_TRAITS[trait]


def is_hedged(text: str) -> bool:
    """Tell whether a text says of itself that it is not sure."""
    return w.HEDGE.search(text) is not None


def _shape_signals(candidate: Candidate, text: str, key: str) -> Iterator[Signal]:
    if candidate.task == "done":
        yield _DONE
    elif candidate.task == "open":
        yield _OPEN_TASK
    if key:
        yield _BOLD_KEY
    if _SPECIFICS.search(text):
        yield _EXACT
    if _NAME.search(text):
        yield _NAMED
    if _asks_reader(text):
        yield _QUESTION
    elif not key and _is_fragment(candidate, text):
        yield _SCRAP if weight(text) < 4 else _FRAGMENT


def _speech_signals(candidate: Candidate, text: str) -> Iterator[Signal]:
    """Yield what tells a person's account of facts from small talk; questions tell nothing."""
    sentences = [s.strip() for s in _SENTENCE.findall(tidy(text))]
    told = " ".join(s for s in sentences if not s.endswith(("?", "？")))
    if share := detail(told):
        yield _scaled(_DETAIL, share)
    elif talk.SMALL_TALK.match(text):
        yield _SMALL_TALK
    for pattern, signal in _BY_SPEECH:
        if pattern.search(told):
            yield signal
    if share := len(talk.SECOND_PERSON.findall(told)) / 3:
        yield _scaled(_ADDRESSED, min(share, 1.0))
    if loud := sum(len(s) for s in sentences if s.endswith(("!", "！"))):
        yield _scaled(_EXCLAIMS, loud / max(len(text), 1))
    if candidate.context and candidate.context[-1].rstrip().endswith(("?", "？")):
        yield _ANSWER


def detail(told: str) -> float:
    """Return how much a text tells, 0 to 1: its distinct content words, with saturation.

    Up to four words are a bare statement and count nothing, twenty and more count full; between
    them the logarithm of their number decides, because a second ten words add less than the first.
    """
    words = {t for t in tokens(told) - talk.COMMON if len(t) > 2 or not t.isascii()}
    low, full = math.log1p(_DETAIL_FROM), math.log1p(_DETAIL_FULL)
    return min(max((math.log1p(len(words)) - low) / (full - low), 0.0), 1.0)


def _scaled(signal: Signal, share: float) -> Signal:
    return Signal(signal.code, *(value * share for value in _values(signal)))


def _asks_reader(text: str) -> bool:
    if not text.rstrip().endswith(("?", "？")):
        return False
    greeted = talk.GREETED.sub("", text)
    return any(p.search(greeted) for p in (w.READER_QUESTION, w.READER_ENDING))


def _is_fragment(candidate: Candidate, text: str) -> bool:
    """A short text without a heading to lean on, unless it is a sentence of its own."""
    wide = any(ord(ch) >= 0x2E80 and ch.isalnum() for ch in text)
    enough = WIDE_FRAGMENT_WEIGHT if wide else FRAGMENT_WEIGHT
    if weight(tidy(text)) >= enough or nearest_heading(candidate):
        return False
    if read_triple(candidate).shape == 2:
        return False
    return not (wide and any(p.search(text) for p in (w.PREFERENCE, w.WHO_AM_I, w.IDENTITY)))


def _is_curated(candidate: Candidate) -> bool:
    """Tell whether a consolidated file says it; hand-made candidates without a source count."""
    if candidate.type_hint not in ("fact", "unknown") or not candidate.sources:
        return candidate.type_hint != "unknown"
    return any(s.resource.rsplit("/", 1)[-1] in _CURATED for s in candidate.sources)


def _values(signal: Signal) -> tuple[float, ...]:
    return (
        signal.durability,
        signal.judgement,
        signal.action,
        signal.identity,
        signal.persistence,
        signal.noise,
    )


def _sum(parts: Iterator[float]) -> float:
    return round(min(1.0, max(0.0, sum(parts))), 2)
