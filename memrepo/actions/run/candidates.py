"""Selection of a run's candidates: new units, returning candidates and nominated notes.

Exact duplicates become one candidate with all places. In real workspaces, 14.6 % of the longer
bullets are exact repetitions. A judge should see each once, with every place as evidence.

A nominated note is its own evidence: its file at the commit being read, so that it can always be
quoted. The judge also receives the note's retrieval counts.

A deferred candidate that is still in a source is judged again in two cases: its text was found in
another source or on another day, or a new candidate shares two words with it. A run without new
text therefore asks nothing. Rejected candidates never return. Both rules depend only on texts.

Rejected and deferred candidates are stored in one file per text, with scores and reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import ClaimOutcome
from memrepo.actions.run.contradictions import Statements, compared_in
from memrepo.core import header as headers
from memrepo.core.changes import Delete, Step, Update, Write
from memrepo.core.codec import normal_body
from memrepo.core.fields import Node, Raw
from memrepo.core.ids import digest, normal_claim, text_hash
from memrepo.core.judge import Candidate, Cluster, PriorClaim, PromotionScores, Verdict
from memrepo.core.layout import below
from memrepo.core.lines import entry_lines
from memrepo.core.memory import CLAIM_TYPES, Source, of_types
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge.statements import leave_out, statements, text_key
from memrepo.policies.ageing import SKILLS, Nomination
from memrepo.policies.claims import find_reflecting
from memrepo.read.intake import Intake, Placed, Reader, SourceText, candidate_id, meaning_key
from memrepo.read.kinds import kinds
from memrepo.read.shelf import RankedUnit
from memrepo.read.thoughts import MAX_TEXT, Unit
from memrepo.text.dates import DateBasis
from memrepo.text.words import content_words

_BASES: Mapping[str, DateBasis] = {"unit": "unit", "heading": "heading", "file": "file"}
_ENDS = {"reject": "rejected", "defer": "deferred", "compress": "folded into another"}
ALWAYS_JUDGED = 9.0
"""The rank of candidates that are judged in any case."""


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order of first mention, with the hashes of their units.

    `units` maps candidate ids to (resource, unit hash) pairs, and `former` to the (resource, text
    hash) pairs of edited units before the edit. `by_context` are deferred candidates that returned
    only because a new text resembles them. `rejected` counts the candidates left out because they
    were rejected before, and `came_back` those that were deferred before.
    """

    candidates: tuple[Candidate, ...] = ()
    units: Mapping[str, tuple[tuple[str, str], ...]] = msgspec.field(default_factory=dict)
    former: Mapping[str, frozenset[tuple[str, str]]] = msgspec.field(default_factory=dict)
    by_context: frozenset[str] = frozenset()
    rejected: int = 0
    came_back: int = 0


def candidates_of(placed: Iterable[Placed]) -> Gathered:
    """Combine units of equal meaning into candidates, in order of first mention."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        groups[meaning_key(one.unit)].append(one)
    candidates, units, former = [], {}, {}
    for key, members in groups.items():
        candidate = _candidate(key, members)
        candidates.append(candidate)
        units[candidate.candidate_id] = tuple((m.resource, m.unit.hash) for m in members)
        if edited := frozenset((m.resource, m.former) for m in members if m.former):
            former[candidate.candidate_id] = edited
    return Gathered(candidates=tuple(candidates), units=units, former=former)


def _candidate(key: str, members: list[Placed]) -> Candidate:
    first = members[0].unit
    sources = tuple(dict.fromkeys(m.source() for m in members))
    reflecting = find_reflecting(sources)
    stating = [m for m in members if m.resource not in reflecting]
    ranks = [m.ranked for m in stating if m.ranked is not None]
    best = max(ranks, key=lambda r: r.rank, default=None)
    hint = next(filter(None, (*(m.hint for m in stating), first.hint)), "")
    days = len({s.captured for s in sources if s.captured_from != "commit"}) or 1
    resources = len({s.resource for s in sources})
    again = kinds().signs["again"] * (days > 1 or resources > 1)
    return Candidate(
        candidate_id=f"cand-{key[:16]}",
        text=first.text,
        context=(*first.headings, *filter(None, (first.lead,))),
        type_hint=hint or (best.type if best else "fact"),
        key=first.key,
        value=first.value,
        task=first.task,
        sources=sources,
        days=days,
        resources=resources,
        retrieved=next(filter(None, (m.retrieved for m in members)), ""),
        changes=tuple(sorted({id_ for m in members for id_ in m.changes})),
        about=members[0].about,
        rank=best.rank + again if best else ALWAYS_JUDGED,
        fits=max((r.fits for r in ranks), key=("", "fair", "good").index, default="good"),
        signs=best.reasons if best else (),
    )


def in_scope(
    state: State,
    intake: Intake,
    texts: Sequence[SourceText],
    reader: Reader,
    *,
    nominees: Sequence[Nominee] = (),
    include_rejected: bool,
    similar: Statements | None = None,
) -> Gathered:
    """Return the candidates of this run.

    Only new units count as open in their sources. Returning candidates were consumed when they were
    deferred, and their files remain until promotion. A nominated note is always judged, because its
    retrieval counts are new information.
    """
    placed = tuple(intake.placed)
    if not intake.whole:
        placed = _with_changes(state, placed, similar or Statements())
    new = candidates_of(placed)
    nominated = tuple(nominee.placed() for nominee in nominees if nominee.text)
    rejected: set[str] = set()
    if not include_rejected:
        rejected = {c.candidate_id for c in new.candidates if _was_rejected(state, c)}
        rejected -= {candidate_id(one.unit) for one in nominated}
    claims = {t.resource for t in texts if t.kind == "claims"}
    changed = claims.intersection(e.resource for e in intake.consumed if e.from_ != e.to)
    restated: list[Placed] = []
    resembling: list[Placed] = []
    if changed and not intake.whole:
        accepted = [c for c in new.candidates if c.candidate_id not in rejected]
        open_ = {(p.resource, p.unit.hash, p.unit.lines) for p in placed}
        restated, resembling = (
            [p for p in found if (p.resource, p.unit.hash, p.unit.lines) not in open_]
            for found in _returning(state, accepted, changed, texts, reader)
        )
    every = candidates_of([*placed, *restated, *resembling, *nominated])
    came_back = {candidate_id(p.unit) for p in (*restated, *resembling)} - rejected
    otherwise = {candidate_id(p.unit) for p in (*placed, *restated, *nominated)}
    return replace(
        every,
        candidates=tuple(c for c in every.candidates if c.candidate_id not in rejected),
        units={id_: pairs for id_, pairs in new.units.items() if id_ not in rejected},
        by_context=frozenset(came_back - otherwise),
        rejected=len(rejected),
        came_back=len(came_back - {c.candidate_id for c in new.candidates}),
    )


def _with_changes(
    state: State, placed: tuple[Placed, ...], similar: Statements
) -> tuple[Placed, ...]:
    """Return the units, marking those that change a memory or continue a sequence.

    They are always judged, whatever their rank, also in a daily log.
    """
    if not placed:  # common case: avoid tokenising all statements
        return ()
    similar.follow(compared_in(state))
    found = []
    for one in placed:
        claim = PriorClaim(
            memory_id="",
            type="fact",
            standing="resolved",
            subject="",
            predicate="",
            object="",
            text=one.unit.text,
            home="",
            sources=(one.source(),),
            under=" › ".join(one.unit.headings),
        )
        changed = similar.changed(claim).items()
        ids = sorted(id_ for id_, change in changed if change.newer != "second")
        ids = ids or sorted(similar.follows(claim))
        found.append(replace(one, changes=tuple(ids)) if ids else one)
    return tuple(found)


# -- nominated notes -------------------------------------------------------------------------------


class Nominee(msgspec.Struct, frozen=True, kw_only=True):
    """A nominated note, with its blob and the lines of its text in the file.

    `stated_by` are the memories that already state parts of it. `rest` is the text without those
    parts.
    """

    nomination: Nomination
    blob: str
    lines: tuple[int, int]
    stated_by: tuple[str, ...] = ()
    rest: str | None = None

    @property
    def text(self) -> str:
        """Return the part of the note to judge."""
        body = self.nomination.note.body.strip() if self.rest is None else self.rest
        return body[:MAX_TEXT]

    def placed(self) -> Placed:
        """Return the note as a unit in scope. A note without sources is dated by its creation."""
        note, text = self.nomination.note, self.text
        words = digest([note.path, normal_claim(text)])
        created, last = note.time("created"), next(reversed(note.sources), None)
        day = format_time(created)[:10] if created else ""
        captured, basis = day, _BASES["file"]
        if last is not None:
            captured, basis = last.captured, _BASES.get(last.captured_from, "")
        return Placed(
            unit=Unit(
                resource=note.path,
                kind="section",
                text=text,
                lines=self.lines,
                headings=tuple(filter(None, (note.text("title"),))),
                captured=captured if basis else "",
                captured_from=basis,
                text_hash=text_hash(text),
                hash=f"un-{words[:16]}",
            ),
            resource=note.path,
            blob=self.blob,
            committed=day,
            retrieved=self.nomination.record,
            hint="method" if self.nomination.destination == SKILLS else "",
        )


def without_repeats(state: State, nominees: Sequence[Nominee]) -> tuple[Nominee, ...]:
    """Return the nominees, leaving out statements that active memories already contain."""
    claims = of_types(state.active, CLAIM_TYPES) if nominees else ()
    known = {text_key(m.body): m.id for m in claims}
    found = []
    for nominee in nominees:
        body = nominee.nomination.note.body.strip()
        repeated = [
            (one, known[key])
            for one in statements(body)
            for key in one.keys
            if key in known and not one.is_run
        ]
        if repeated:
            rest = leave_out(body, (one for one, _ in repeated))
            ids = tuple(dict.fromkeys(id_ for _, id_ in repeated))
            nominee = replace(nominee, stated_by=ids, rest=rest)
        found.append(nominee)
    return tuple(found)


def nominations(
    nominees: Iterable[Nominee],
    verdicts: Sequence[Verdict],
    groups: Sequence[Cluster],
    decisions: Sequence[ClaimOutcome],
    now: datetime,
) -> Iterator[Step]:
    """Yield a step for each judged nominee. It names the memories made from the nominee.

    A nominee without an answer is nominated again. One that produced no memory can be nominated
    again after more retrievals.
    """
    judged = {v.candidate_id: v.verdict for v in verdicts}
    members = {g.cluster_id: g.candidates for g in groups}
    for nominee in nominees:
        key, note = candidate_id(nominee.placed().unit), nominee.nomination.note
        if key not in judged and nominee.text:
            continue
        made = (
            d.memory_id
            for d in decisions
            if any(c.candidate_id == key for c in members[d.cluster_id])
        )
        ids = tuple(dict.fromkeys((*nominee.stated_by, *made)))
        end = f"became {', '.join(ids)}" if ids else _ENDS.get(judged.get(key, ""), "not stored")
        fields = {"promoted": True, "nominated": None} if ids else {"nominated": now}
        yield Step(
            op="nominate",
            reason=f"{nominee.nomination.record}: {end}",
            changes=(Update(id=note.id, fields=fields),),
            memories=(note.id, *ids),
        )


# -- returning candidates --------------------------------------------------------------------------

MAX_BY_CONTEXT = 40
"""Maximum deferred candidates that return by context in one run, most similar first.

This is one Pass 1 batch.
"""
MIN_SHARED_WORDS, MIN_LETTERS = 2, 3
"""A new text is context for a deferred one if it shares this many words of at least this length."""


def _returning(
    state: State,
    new: Sequence[Candidate],
    changed: frozenset[str] | set[str],
    texts: Iterable[SourceText],
    reader: Reader,
) -> tuple[list[Placed], list[Placed]]:
    """Return the units of deferred candidates that were stated again, or resemble a new text.

    `changed` names the sources with new text.
    """
    deferred = [file for file in candidate_files(state, "deferred/") if file.ids]
    if not deferred:
        return [], []
    sources = {t.resource: t for t in texts if t.blob and t.kind == "claims"}
    by_id: dict[str, dict[str, list[Unit]]] = {}
    news = [_words(c.text, c.context) for c in new]
    ids = {c.candidate_id for c in new}
    ranks: dict[str, dict[str, RankedUnit]] = {}
    restated: list[Placed] = []
    resembling: list[tuple[int, str, list[Placed]]] = []
    for file in deferred:
        places: list[Placed] = []
        days = {s.resource: s.captured[:10] for s in file.sources}
        for resource in sorted(({*days} | changed) & sources.keys()):
            text = sources[resource]
            if resource not in by_id:
                by_id[resource] = defaultdict(list)
                units = reader.claims(text.name, text.blob).units
                ranks[resource] = reader.ranks(text, frozenset(unit.hash for unit in units))
                for unit in units:
                    by_id[resource][candidate_id(unit)].append(unit)
            places += (
                Placed(
                    unit=unit,
                    resource=resource,
                    blob=text.blob,
                    committed=text.committed or days.get(resource, ""),
                    ranked=ranks[resource][unit.hash],
                )
                for id_ in sorted(file.ids)
                for unit in by_id[resource].get(id_, ())
            )
        is_elsewhere = any(
            p.resource not in days
            or (p.unit.captured and p.unit.captured[:10] not in days.values())
            for p in places
        )
        if ids & file.ids or is_elsewhere:
            restated += places
        elif places:
            own = _words(file.text, file.context)
            shared = max((len(own & words) for words in news), default=0)
            if shared >= MIN_SHARED_WORDS:
                resembling.append((-shared, file.path, places))
    nearest = sorted(resembling, key=lambda one: one[:2])[:MAX_BY_CONTEXT]
    return restated, [one for _, _, places in nearest for one in places]


def _words(text: str, context: Sequence[str]) -> frozenset[str]:
    words = content_words(" ".join((*context[-1:], text)))
    return frozenset(w for w in words if len(w) >= MIN_LETTERS or not w.isascii())


# -- files -----------------------------------------------------------------------------------------

_FOLDERS = {"defer": "deferred", "reject": "rejected"}


class CandidateFile(msgspec.Struct, frozen=True, kw_only=True):
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


def _read_file(state: State, path: str) -> CandidateFile | None:
    """Parse a candidate file. Return None if it is missing or unreadable."""
    data = state.files.get(path)
    found = headers.split(data, path) if data is not None else None
    if data is None or found is None or not found.present or found.problems:
        return None
    values = {entry.key: entry.value for entry in found.entries}
    return CandidateFile(
        path=path,
        text=normal_body(data.decode("utf-8")[found.body_offset :]).strip(),
        ids=frozenset(map(str, _items(values.get("candidates")))),
        context=tuple(map(str, _items(values.get("context")))),
        sources=tuple(filter(None, map(_source, _items(values.get("sources"))))),
        **{key: str(values.get(key) or "") for key in ("verdict", "reason", "judged")},
    )


def candidate_files(state: State, folder: str = "") -> tuple[CandidateFile, ...]:
    """Return all readable candidate files, or those of one folder, in path order."""
    area = f"{state.layout.area('candidates')}{folder}"
    paths = sorted(path for path in below(state.files, area) if path.endswith(".md"))
    return tuple(filter(None, (_read_file(state, path) for path in paths)))


def _was_rejected(state: State, candidate: Candidate) -> bool:
    """Return whether a candidate was rejected before, so that it need not be judged again.

    A file without candidate ids, such as an imported one, applies to its text everywhere.
    """
    found = _read_file(state, state.layout.candidate("rejected", text_hash(candidate.text)))
    return found is not None and (not found.ids or candidate.candidate_id in found.ids)


def write_candidate_files(
    state: State, candidates: Sequence[Candidate], verdicts: Sequence[Verdict], now: datetime
) -> tuple[Write | Delete, ...]:
    """Return the changes that store deferred and rejected candidates and delete promoted ones.

    An existing file is rewritten only if its text was found in another place. The file then lists
    all places, with the newest judgement. Equal texts share one file. The file remains while one of
    its candidates needs it, even if another is promoted.
    """
    by_id = {c.candidate_id: c for c in candidates}
    groups: dict[str, list[tuple[Candidate, Verdict]]] = defaultdict(list)
    for verdict in sorted(verdicts, key=lambda v: v.candidate_id):
        candidate = by_id[verdict.candidate_id]
        groups[text_hash(candidate.text)].append((candidate, verdict))
    changes: list[Write | Delete] = []
    for hash_, judged in groups.items():
        for word, folder in _FOLDERS.items():
            path = state.layout.candidate(folder, hash_)
            wanted = [(c, v) for c, v in judged if v.verdict == word]
            change = _file_change(state, path, wanted, {c.candidate_id for c, _ in judged}, now)
            changes += filter(None, (change,))
    return tuple(sorted(changes, key=lambda change: change.path))


def _file_change(
    state: State,
    path: str,
    wanted: Sequence[tuple[Candidate, Verdict]],
    judged: set[str],
    now: datetime,
) -> Write | Delete | None:
    is_there, before = path in state.files, _read_file(state, path)
    if not wanted:
        # A candidate of equal text under another heading retains its own judgement.
        others = before is not None and before.ids and not before.ids & judged
        return Delete(path=path) if is_there and not others else None
    first, verdict = wanted[0]
    ids = {c.candidate_id for c, _ in wanted}
    sources = tuple(dict.fromkeys(source for c, _ in wanted for source in c.sources))
    context = tuple(dict.fromkeys(word for c, _ in wanted for word in c.context[-3:]))
    if is_there:
        if before is None:
            return None
        places = {(s.resource, s.captured) for s in sources}
        known = {(s.resource, s.captured) for s in before.sources}
        if places <= known and ids <= before.ids:
            return None
        ids |= before.ids
        elsewhere = (s for s in before.sources if (s.resource, s.captured) not in places)
        sources = (*elsewhere, *sources)
        context = tuple(dict.fromkeys((*before.context, *context)))
    united = replace(first, sources=sources, context=context)
    return Write(path=path, data=_file(united, sorted(ids), verdict, now))


def _file(candidate: Candidate, ids: Sequence[str], verdict: Verdict, now: datetime) -> bytes:
    names = PromotionScores.__struct_fields__
    scores: dict[str, Node] = {n: Raw(f"{getattr(verdict.scores, n):.2f}") for n in names}
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
