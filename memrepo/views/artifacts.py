"""A repository's claims in memory-purifier's file shapes, byte for byte a function of the tree.

Lineage: memory-purifier, machine artifacts. The mapping is in docs/interchange.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from memrepo.core.judge import Profile
from memrepo.core.layout import Layout
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.purify import lineage
from memrepo.purify.jsonl import spell_lines
from memrepo.purify.sources import SourceRules, kind_of
from memrepo.views.artifacts_candidates import candidate_records
from memrepo.views.artifacts_claims import (
    Claims,
    Spelling,
    claim_record,
    claims_of,
    contradiction_records,
)
from memrepo.views.artifacts_reports import Published, entities, manifest, routes, summary
from memrepo.views.artifacts_runs import RunRecord, judgements, latest, read_runs


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What an export is asked for: profile, zone of local times, rules of sources, and now.

    `aliases` are the configured other names of entities.
    """

    profile: Profile
    zone: ZoneInfo
    rules: SourceRules
    now: datetime
    aliases: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The files of an export by name, counts of what is in it and left out, and findings."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    problems: tuple[Problem, ...] = ()


def artifacts(state: State, terms: Terms) -> Exported:
    """Return the eight files of the lineage; equal trees and terms give equal bytes."""
    runs, damaged = read_runs(state.files, state.layout)
    claims = claims_of(state, terms.profile)
    how = _spelling(state, claims, runs, terms)
    aside, unread = {}, []
    for name, folder in ((lineage.DEFERRED, "deferred"), (lineage.REJECTED, "rejected")):
        aside[name], found = candidate_records(state.files, state.layout, folder, runs, how)
        unread += found
    told = _published(state, claims, latest(runs), terms)
    contradictions = contradiction_records(claims, how)
    files = {
        lineage.CLAIMS: spell_lines(claim_record(t, claims, how) for t in claims.told),
        lineage.CONTRADICTIONS: spell_lines(contradictions),
        lineage.ENTITIES: _page(entities(claims, terms.aliases)),
        lineage.ROUTES: _page(routes(claims)),
        lineage.MANIFEST: _page(manifest(told, how)),
        lineage.SUMMARY: _page(summary(told, how, terms.now)),
        **{name: spell_lines(records) for name, records in aside.items()},
    }
    counts = {
        "claims": len(claims.told),
        "contradictions": len(contradictions),
        "deferred": len(aside[lineage.DEFERRED]),
        "rejected": len(aside[lineage.REJECTED]),
    }
    return Exported(
        files=files, counts=counts, left_out=claims.left_out, problems=(*damaged, *unread)
    )


def _spelling(state: State, claims: Claims, runs: tuple[RunRecord, ...], terms: Terms) -> Spelling:
    by_hand = [t.memory.path for t in claims.told if not t.memory.sources]
    resources = {s.resource for t in claims.told for s in t.memory.sources}
    resources |= {
        r.reason.partition(": ")[2] for t in claims.told for r in t.memory.fields.get("retired", ())
    }
    return Spelling(
        profile=terms.profile,
        zone=terms.zone,
        judged=judgements(runs),
        layout_source={path: state.layout.source_name(path) for path in resources},
        lengths={path: max(1, state.files[path].count(b"\n")) for path in by_hand},
    )


def _published(state: State, claims: Claims, run: RunRecord | None, terms: Terms) -> Published:
    return Published(
        claims=claims,
        run=run,
        inventory=_inventory(state, state.layout, terms.rules),
        views=_views(state),
        layout=state.layout,
    )


def _inventory(state: State, layout: Layout, rules: SourceRules) -> dict[str, str]:
    """Return the content hash of each claim source; daily logs are no input of the lineage."""
    area = layout.area("sources")
    return {
        layout.source_name(path): lineage.content_hash(state.files[path])
        for path in sorted(p for p in state.files if p.startswith(area))
        if kind_of(layout.source_name(path), rules) == "claims"
    }


def _views(state: State) -> list[str]:
    area = state.layout.area("views")
    return sorted(p.removeprefix(area) for p in state.files if p.startswith(area))


def _page(record: Mapping[str, object]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
