"""Store rejected and deferred candidates, one file per text, with scores and reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.core import header as headers
from memrepo.core.changes import Delete, Write
from memrepo.core.codec import normal_body
from memrepo.core.fields import Node, Raw
from memrepo.core.ids import text_hash
from memrepo.core.judge import Candidate, PromotionScores, Verdict
from memrepo.core.layout import below
from memrepo.core.lines import entry_lines
from memrepo.core.memory import Source
from memrepo.core.state import State
from memrepo.core.times import format_time

_FOLDERS = {"defer": "deferred", "reject": "rejected"}


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of one candidate file.

    `ids` are the candidates with this text. The same short text under another heading is another
    candidate. `ids` is empty in imported files. `verdict` is defer or reject.
    """

    path: str
    text: str
    ids: frozenset[str] = frozenset()
    context: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    verdict: str = ""
    reason: str = ""
    judged: str = ""

    @property
    def places(self) -> frozenset[tuple[str, str]]:
        """Return the places where the candidate occurs, as (resource, ISO date) pairs."""
        return frozenset((s.resource, s.captured) for s in self.sources)


def read_aside(path: str, data: bytes) -> Aside | None:
    """Parse a candidate file. Return None if it is unreadable."""
    found = headers.split(data, path)
    if not found.present or found.problems:
        return None
    values = {entry.key: entry.value for entry in found.entries}
    return Aside(
        path=path,
        text=normal_body(data.decode("utf-8")[found.body_offset :]).strip(),
        ids=frozenset(map(str, _items(values.get("candidates")))),
        context=tuple(map(str, _items(values.get("context")))),
        sources=tuple(filter(None, map(_source, _items(values.get("sources"))))),
        **{key: str(values.get(key) or "") for key in ("verdict", "reason", "judged")},
    )


def deferred(state: State) -> tuple[Aside, ...]:
    """Return all readable deferred candidates, in path order."""
    return all_aside(state, "deferred/")


def all_aside(state: State, folder: str = "") -> tuple[Aside, ...]:
    """Return all readable candidate files, or those of one folder, in path order."""
    area = f"{state.layout.area('candidates')}{folder}"
    paths = sorted(path for path in below(state.files, area) if path.endswith(".md"))
    return tuple(filter(None, (read_aside(path, state.files[path]) for path in paths)))


def was_rejected(state: State, candidate: Candidate) -> bool:
    """Return whether a candidate was rejected before, so that it need not be judged again.

    A file without candidate ids, such as an imported one, applies to its text everywhere.
    """
    path = state.layout.candidate("rejected", text_hash(candidate.text))
    data = state.files.get(path)
    found = read_aside(path, data) if data is not None else None
    return found is not None and (not found.ids or candidate.candidate_id in found.ids)


def set_aside(
    state: State, candidates: Sequence[Candidate], verdicts: Sequence[Verdict], now: datetime
) -> tuple[Write | Delete, ...]:
    """Return the changes that store deferred and rejected candidates and delete promoted ones.

    An existing file is rewritten only if its text was found in another place. The file then lists
    all places, with the newest judgement. Equal texts share one file. The file remains while one of
    its candidates needs it, even if another is promoted.
    """
    by_id = {c.candidate_id: c for c in candidates}
    groups: dict[str, dict[str, list[tuple[Candidate, Verdict]]]] = {}
    judged: dict[str, set[str]] = {}
    for verdict in sorted(verdicts, key=lambda v: v.candidate_id):
        candidate = by_id[verdict.candidate_id]
        hash_ = text_hash(candidate.text)
        folders = groups.setdefault(hash_, {})
        judged.setdefault(hash_, set()).add(candidate.candidate_id)
        if folder := _FOLDERS.get(verdict.verdict):
            folders.setdefault(folder, []).append((candidate, verdict))
    changes: dict[str, Write | Delete] = {}
    for hash_, folders in groups.items():
        for folder in _FOLDERS.values():
            path = state.layout.candidate(folder, hash_)
            change = _change(state, path, folders.get(folder, ()), judged[hash_], now)
            if change is not None:
                changes[path] = change
    return tuple(changes[path] for path in sorted(changes))


def _change(
    state: State,
    path: str,
    wanted: Sequence[tuple[Candidate, Verdict]],
    judged: set[str],
    now: datetime,
) -> Write | Delete | None:
    there = path in state.files
    before = read_aside(path, state.files[path]) if there else None
    if not wanted:
        # A candidate of equal text under another heading retains its own judgement.
        others = before is not None and before.ids and not before.ids & judged
        return Delete(path=path) if there and not others else None
    ids = sorted({c.candidate_id for c, _ in wanted} | (before.ids if before else frozenset()))
    united = _united([candidate for candidate, _ in wanted])
    if there:
        met = {(s.resource, s.captured) for s in united.sources}
        if before is None or (met <= before.places and set(ids) <= before.ids):
            return None
        known = [s for s in before.sources if (s.resource, s.captured) not in met]
        united = replace(
            united,
            sources=(*known, *united.sources),
            context=tuple(dict.fromkeys((*before.context, *united.context))),
        )
    return Write(path=path, data=_file(united, ids, wanted[0][1], now))


def _united(candidates: Sequence[Candidate]) -> Candidate:
    """Return the first of several candidates with equal text, with the sources of all of them."""
    return replace(
        candidates[0],
        context=tuple(dict.fromkeys(word for c in candidates for word in c.context[-3:])),
        sources=tuple(dict.fromkeys(source for c in candidates for source in c.sources)),
    )


def _file(candidate: Candidate, ids: Sequence[str], verdict: Verdict, now: datetime) -> bytes:
    scores: dict[str, Node] = {
        name: Raw(f"{getattr(verdict.scores, name):.2f}")
        for name in PromotionScores.__struct_fields__
    }
    sources: list[Node] = [
        {
            "resource": s.resource,
            "blob": s.blob,
            "lines": [Raw(s.lines[0]), Raw(s.lines[1])],
            "captured": Raw(s.captured),
        }
        for s in candidate.sources
    ]
    header: dict[str, Node] = {
        "type": "candidate",
        "verdict": verdict.verdict,
        "strength": Raw(f"{verdict.strength:.2f}"),
        "scores": scores,
        "reason": verdict.rationale,
        "context": list(candidate.context),
        "candidates": list(ids),
        "judged": Raw(format_time(now)),
        "sources": sources,
    }
    lines = [line for key, node in header.items() for line in entry_lines(key, node)]
    return "\n".join(["---", *lines, "---", "", candidate.text, ""]).encode("utf-8")


def _source(node: Node) -> Source | None:
    entry: Mapping[str, Node] = node if isinstance(node, dict) else {}
    lines = [int(str(n)) for n in _items(entry.get("lines")) if str(n).isdigit()]
    if not entry.get("resource"):
        return None
    return Source(
        resource=str(entry["resource"]),
        blob=str(entry.get("blob", "")),
        lines=(lines[0], lines[1]) if len(lines) == 2 else (0, 0),
        captured=str(entry.get("captured", "")),
    )


def _items(node: Node | None) -> list[Node]:
    return node if isinstance(node, list) else []
