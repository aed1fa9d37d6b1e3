"""What a purifier workspace set aside, as candidate files of ours: the last judgement of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from memrepo.core.changes import Delete, Write
from memrepo.core.ids import text_hash
from memrepo.core.judge import Candidate, PromotionScores, Verdict
from memrepo.core.memory import Source
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import parse_time
from memrepo.purify.candidate_files import set_aside
from memrepo.purify.imported_claims import RecordReader
from memrepo.purify.jsonl import Line, mappings

_SCORES = (
    "durability",
    "future_judgment_value",
    "action_value",
    "identity_relationship_weight",
    "cross_time_persistence",
    "noise_risk",
)
Aside = tuple[datetime, Candidate, Verdict]


def import_candidates(
    state: State,
    logs: Mapping[str, Iterable[Line]],
    promoted: frozenset[str],
    resource: Callable[[str], str],
    now: datetime,
) -> tuple[tuple[Write | Delete, ...], dict[str, int], list[Problem]]:
    """Return candidate files, counts and findings; `logs` is by file name, `promoted` text hashes.

    The logs are append-only: of a text that stands in them more than once the newest judgement
    counts, and one that was promoted since is set aside no more.
    """
    newest: dict[str, Aside] = {}
    counts = {"deferred": 0, "rejected": 0, "promoted_since": 0}
    problems: list[Problem] = []
    for path, lines in logs.items():
        for line in lines:
            reader = RecordReader(path, line.number, line.record)
            found = _read(reader, resource, now)
            problems += reader.problems
            if found is not None:
                _keep_newest(newest, found)
    changes: list[Write | Delete] = []
    for hash_, (at, candidate, verdict) in sorted(newest.items()):
        if hash_ in promoted:
            counts["promoted_since"] += 1
            continue
        made = set_aside(state, [candidate], [verdict], at)
        changes += made
        counts["deferred" if verdict.verdict == "defer" else "rejected"] += bool(made)
    return tuple(changes), counts, problems


def _keep_newest(newest: dict[str, Aside], found: Aside) -> None:
    hash_ = text_hash(found[1].text)
    if hash_ not in newest or newest[hash_][0] <= found[0]:
        newest[hash_] = found


def _read(reader: RecordReader, resource: Callable[[str], str], now: datetime) -> Aside | None:
    text = reader.text("text").strip()
    verdict = reader.record.get("verdict")
    if not text:
        reader.refuse("text", "found no text")
        return None
    if verdict not in ("defer", "reject"):
        reader.refuse("verdict", f"found the verdict {verdict!r}, expected defer or reject")
        return None
    scores = _scores(reader)
    id_ = str(reader.record.get("candidate_id") or text_hash(text))
    candidate = Candidate(
        candidate_id=id_,
        text=text,
        sources=_sources(reader, resource),
        type_hint=reader.text("type_hint") or "fact",
    )
    judged = Verdict(
        candidate_id=id_,
        scores=scores,
        strength=scores.strength,
        verdict=verdict,
        rationale=reader.text("rationale"),
    )
    return reader.time("timestamp_utc", "timestamp") or now, candidate, judged


def _scores(reader: RecordReader) -> PromotionScores:
    given = reader.record.get("scores")
    scores: Mapping[str, object] = given if isinstance(given, dict) else {}
    values: dict[str, float] = {}
    for key in _SCORES:
        part = scores.get(key)
        good = type(part) in (int, float) and 0 <= float(part) <= 1  # type: ignore[arg-type]
        if not good:
            reader.note("scores", f"found no number from 0 to 1 at {key}, taken for 0")
        values[key] = float(part) if good else 0.0  # type: ignore[arg-type]
    return PromotionScores(**values)


def _sources(reader: RecordReader, resource: Callable[[str], str]) -> tuple[Source, ...]:
    found = []
    for entry in mappings(reader.record.get("source_refs")):
        name, span = entry.get("source"), entry.get("line_span")
        if not isinstance(name, str) or not name or "\n" in name:
            reader.note("source_refs", f"found the source {str(name)[:40]!r}, expected a path")
            continue
        good = isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span)
        lines = (span[0], span[1]) if good and span and 0 <= span[0] <= span[1] else (0, 0)
        found.append(
            Source(resource=resource(name), lines=lines, captured=_day(entry.get("captured_at")))
        )
    return tuple(found)


def _day(value: object) -> str:
    try:
        parse_time(str(value))
    except ValueError:
        return ""
    return str(value).strip()[:10]  # the day there, whatever the offset
