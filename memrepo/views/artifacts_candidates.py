"""What Pass 1 set aside, as the lineage's two logs: a record a text, as it was first judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from memrepo.core import header as headers
from memrepo.core.codec import normal_body
from memrepo.core.fields import Node
from memrepo.core.layout import Layout
from memrepo.core.problems import Problem
from memrepo.core.times import format_time, parse_time
from memrepo.purify.lineage import candidate_id
from memrepo.purify.sources import default_type
from memrepo.views.artifacts_claims import Spelling
from memrepo.views.artifacts_runs import RunRecord


def candidate_records(
    files: Mapping[str, bytes],
    layout: Layout,
    folder: str,
    runs: Iterable[RunRecord],
    how: Spelling,
) -> tuple[list[dict[str, object]], list[Problem]]:
    """Return the records of `candidates/<folder>/`, by time and text; a damaged file is a Problem.

    A record's run is the one that judged at the file's time, or null.
    """
    area = f"{layout.area('candidates')}{folder}/"
    by_time: dict[datetime | None, str] = {run.now: run.run for run in runs if run.now}
    records: list[tuple[str, str, dict[str, object]]] = []
    problems: list[Problem] = []
    for path in sorted(p for p in files if p.startswith(area) and p.endswith(".md")):
        found = headers.split(files[path], path)
        if not found.present or found.problems:
            problems += found.problems or (_damaged(path),)
            continue
        values = {entry.key: entry.value for entry in found.entries}
        text = normal_body(files[path].decode("utf-8")[found.body_offset :])
        record = _record(values, text, layout, by_time, how)
        records.append((record["timestamp_utc"] or "", path, record))
    return [record for _, _, record in sorted(records, key=lambda r: r[:2])], problems


def _damaged(path: str) -> Problem:
    return Problem(
        path=path,
        rule="candidate-unreadable",
        message="found no header, expected a candidate's",
        fix="restore it from history (`git log -- <path>`)",
    )


def _record(
    values: Mapping[str, Node],
    text: str,
    layout: Layout,
    runs: Mapping[datetime | None, str],
    how: Spelling,
) -> dict[str, Any]:
    judged = _moment(values.get("judged"))
    refs = [_ref(node, layout) for node in _items(values.get("sources"))]
    source = str(refs[0]["source"]) if refs else ""
    line = int(refs[0]["line_span"][0]) if refs else 0
    scores = values.get("scores")
    return {
        "candidate_id": candidate_id(source=source, line=line, text=text),
        "run_id": runs.get(judged),
        "text": text,
        "type_hint": default_type(source) if refs else "unknown",
        "source_refs": refs,
        "verdict": str(values.get("verdict", "")),
        "strength": _number(values.get("strength")),
        "scores": {k: _number(v) for k, v in scores.items()} if isinstance(scores, dict) else {},
        "rationale": str(values.get("reason", "")),
        "merge_candidate_ids": [],
        "compress_target": None,
        **how.stamps(judged, "timestamp"),
    }


def _ref(node: Node, layout: Layout) -> dict[str, Any]:
    entry: Mapping[str, Node] = node if isinstance(node, dict) else {}
    lines = [int(_number(part)) for part in _items(entry.get("lines"))]
    captured = _moment(entry.get("captured"))
    return {
        "source": layout.source_name(str(entry.get("resource", ""))),
        "line_span": lines if len(lines) == 2 else [0, 0],
        "captured_at": format_time(captured) if captured else None,
    }


def _items(node: Node | None) -> list[Node]:
    return node if isinstance(node, list) else []


def _number(node: Node | None) -> float:
    try:
        return float(str(node))
    except ValueError:
        return 0.0


def _moment(node: Node | None) -> datetime | None:
    try:
        return parse_time(str(node)) if isinstance(node, str) else None
    except ValueError:
        return None
