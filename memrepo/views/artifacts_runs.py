"""Read the newest run and the judgement of each memory from run manifests, for exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from memrepo.core.layout import Layout
from memrepo.core.manifest import read_manifests
from memrepo.core.problems import Problem
from memrepo.core.times import parse_time

IMPORT = "import"
"""The mode of a manifest written by an import, which has judgements but no run."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run manifest in a tree: the run, its time, and the record as written."""

    run: str
    now: datetime | None
    record: Mapping[str, Any]

    @property
    def mode(self) -> str:
        """Return the mode of the run: "incremental", "reconciliation" or "import"."""
        return str(self.record.get("mode", ""))

    @property
    def judgements(self) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """Return the run's judgements by memory id."""
        found = self.record.get("judgements")
        return found if isinstance(found, dict) else {}

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the run's counts."""
        found = self.record.get("counts")
        return found if isinstance(found, dict) else {}


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's last judgement, from Pass 2 and assembly. Unknown fields are empty.

    `relations` maps the id of each contradicting memory to the kind of relation.
    """

    cluster: str = ""
    disposition: str = ""
    reason: str = ""
    rationale: str = ""
    route: str = ""
    freshness: str = ""
    confidence: str = ""
    relations: Mapping[str, str] = msgspec.field(default_factory=dict)
    scores: Mapping[str, float] = msgspec.field(default_factory=dict)
    run: str = ""


def read_runs(
    files: Mapping[str, bytes], layout: Layout
) -> tuple[tuple[RunRecord, ...], tuple[Problem, ...]]:
    """Return a tree's run manifests, oldest first, and the problems of damaged manifests."""
    manifests, problems = read_manifests(files, layout)
    records = []
    for manifest in manifests:
        path = layout.manifest(manifest.run)
        if path in files:
            record = json.loads(files[path])
            records.append(RunRecord(run=manifest.run, now=_time(record.get("now")), record=record))
    return tuple(records), problems


def latest(records: Iterable[RunRecord]) -> RunRecord | None:
    """Return the newest run, or the newest import if there is no run."""
    ordered = list(records)
    runs = [r for r in ordered if r.mode != IMPORT]
    return next(iter(reversed(runs or ordered)), None)


def read_judgements(
    records: Iterable[RunRecord], files: Mapping[str, bytes], layout: Layout
) -> dict[str, Judgement]:
    """Return each memory's newest judgement. Within one run, the first judgement counts.

    The disposition of a duplicate is that of its creation and never changes later. Judgements from
    headers of format 1 are older than all others.
    """
    found: dict[str, Judgement] = {}
    for line in files.get(layout.upgraded, b"").splitlines():
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            said = json.loads(line)
            scores = {key: float(value) for key, value in said.get("scores", {}).items()}
            found[said["id"]] = Judgement(scores=scores, run=str(said.get("run", "")))
    for run in records:
        for id_, entries in run.judgements.items():
            if isinstance(entries, list) and entries and isinstance(entries[0], dict):
                found[id_] = _joined(found.get(id_), _judgement(entries[0], run.run))
    return found


def _joined(old: Judgement | None, new: Judgement) -> Judgement:
    if old is None:
        return new
    born = old if old.disposition == "probable_duplicate" else new
    return Judgement(
        cluster=new.cluster,
        disposition=born.disposition,
        reason=born.reason,
        rationale=new.rationale,
        route=new.route,
        freshness=new.freshness,
        confidence=new.confidence,
        relations={**old.relations, **new.relations},
        scores=new.scores or old.scores,
        run=new.run,
    )


def _judgement(entry: Mapping[str, object], run: str) -> Judgement:
    relations, scores = entry.get("relations"), entry.get("scores")
    keys = ("cluster", "disposition", "reason", "rationale", "route", "freshness", "confidence")
    return Judgement(
        **{key: str(entry.get(key) or "") for key in keys},
        relations=relations if isinstance(relations, dict) else {},
        scores=scores if isinstance(scores, dict) else {},
        run=run,
    )


def _time(text: object) -> datetime | None:
    try:
        return parse_time(str(text))
    except ValueError:
        return None
