"""Selection of a run's candidates: new units, returning candidates and nominated notes.

A nominated note is its own evidence: its file at the commit being read, so that it can always be
quoted. The judge also receives the note's retrieval counts.

A deferred candidate that is still in a source is judged again in two cases: its text was found in
another source or on another day, or a new candidate shares two words with it. A run without new
text therefore asks nothing. Rejected candidates never return. Both rules depend only on texts.

A line that changes an existing memory is always judged, whatever its own rank, also in a daily log
(`Placed.changes`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import Decision
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
from memrepo.policies.claims import only_reflecting
from memrepo.read.intake import Intake, Placed, Reader, SourceText, candidate_id, meaning_key
from memrepo.read.kinds import kinds
from memrepo.read.thoughts import MAX_TEXT, Unit
from memrepo.text.dates import DateBasis
from memrepo.text.words import content_words

_BASES: Mapping[str, DateBasis] = {"unit": "unit", "heading": "heading", "file": "file"}

_ENDS = {"reject": "rejected", "defer": "deferred", "compress": "folded into another"}


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
        """Return the note as a unit in scope."""
        note, text = self.nomination.note, self.text
        words = digest([note.path, normal_claim(text)])
        created, last = note.time("created"), next(reversed(note.sources), None)
        # A note without sources is dated by its creation.
        captured = format_time(created)[:10] if created else ""
        basis: DateBasis = "file"
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
            committed=format_time(created)[:10] if created else "",
            retrieved=self.nomination.record,
            hint="method" if self.nomination.destination == SKILLS else "",
        )


def without_repeats(state: State, nominees: Sequence[Nominee]) -> tuple[Nominee, ...]:
    """Return the nominees, leaving out statements that active memories already contain."""
    claims = of_types(state.active, CLAIM_TYPES) if nominees else ()
    known = {text_key(m.said): m.id for m in claims}
    found = []
    for nominee in nominees:
        body = nominee.nomination.note.body.strip()
        said = [
            (one, known[key])
            for one in statements(body)
            for key in one.keys
            if key in known and not one.is_run
        ]
        if said:
            ids = tuple(dict.fromkeys(id_ for _, id_ in said))
            nominee = replace(nominee, stated_by=ids, rest=leave_out(body, (s for s, _ in said)))
        found.append(nominee)
    return tuple(found)


def nominations(
    nominees: Iterable[Nominee],
    verdicts: Sequence[Verdict],
    groups: Sequence[Cluster],
    decisions: Sequence[Decision],
    now: datetime,
) -> Iterator[Step]:
    """Yield a step for each judged nominee. It names the memories made from the nominee.

    A nominee without an answer is nominated again. One that produced no memory can be nominated
    again after more retrievals.
    """
    judged = {v.candidate_id: v for v in verdicts}
    became: dict[str, dict[str, None]] = {}
    clusters = {g.cluster_id: g for g in groups}
    for decision in decisions:
        for candidate in clusters[decision.cluster_id].candidates:
            became.setdefault(candidate.candidate_id, {})[decision.memory_id] = None
    for nominee in nominees:
        key = candidate_id(nominee.placed().unit)
        ids = tuple(dict.fromkeys((*nominee.stated_by, *became.get(key, ()))))
        if key in judged or not nominee.text:
            yield _stamp(nominee, judged.get(key), ids, now)


def _stamp(
    nominee: Nominee, verdict: Verdict | None, became: tuple[str, ...], now: datetime
) -> Step:
    end = _ENDS.get(verdict.verdict if verdict else "", "not stored")
    end = f"became {', '.join(became)}" if became else end
    return Step(
        op="nominate",
        reason=f"{nominee.nomination.record}: {end}",
        changes=(
            Update(
                id=nominee.nomination.note.id,
                fields={"promoted": True, "nominated": None} if became else {"nominated": now},
            ),
        ),
        memories=(nominee.nomination.note.id, *became),
    )


MAX_BY_CONTEXT = 40
"""Maximum deferred candidates that return by context in one run, most similar first.

This is one Pass 1 batch.
"""

MIN_SHARED_WORDS, MIN_LETTERS = 2, 3
"""A new text is context for a deferred one if it shares this many words of at least this length."""


class Comeback(msgspec.Struct, frozen=True, kw_only=True):
    """Units to judge again. `beside` maps some ids to the new candidate to judge a unit with."""

    placed: tuple[Placed, ...] = ()
    beside: Mapping[str, str] | None = None


def come_back(
    state: State,
    fresh: Sequence[Candidate],
    changed: frozenset[str],
    texts: Iterable[SourceText],
    reader: Reader,
) -> Comeback:
    """Return deferred candidates with new context. `changed` names the sources with new text."""
    asides = [a for a in deferred(state) if a.ids]
    if not asides or not changed:
        return Comeback()
    places = _Places(texts, reader)
    news = [(c.candidate_id, _words(c.text, c.context)) for c in fresh]
    ids = {c.candidate_id for c in fresh}
    again, near = [], []
    for aside in asides:
        units = places.units(aside, changed)
        if ids & aside.ids or _elsewhere(aside, units):
            again.append((aside, units, ""))
        elif units:
            own = _words(aside.text, aside.context)
            count, id_ = min(((-len(own & words), id_) for id_, words in news), default=(0, ""))
            if -count >= MIN_SHARED_WORDS:
                near.append((count, aside.path, aside, units, id_))
    near.sort(key=lambda n: n[:2])
    again += [(aside, units, id_) for *_, aside, units, id_ in near[:MAX_BY_CONTEXT]]
    return Comeback(
        placed=tuple(p for aside, units, _ in again for p in _placed(aside, units, reader)),
        beside={id_: beside for aside, _, beside in again if beside for id_ in aside.ids},
    )


def _words(text: str, context: Sequence[str]) -> frozenset[str]:
    said = " ".join((*context[-1:], text))
    return frozenset(w for w in content_words(said) if len(w) >= MIN_LETTERS or not w.isascii())


class _Places:
    """The units of sources, by candidate id. Each source is scanned only once."""

    def __init__(self, texts: Iterable[SourceText], reader: Reader) -> None:
        self._texts = {t.resource: t for t in texts if t.blob and t.kind == "claims"}
        self._reader = reader
        self._by_id: dict[str, dict[str, list[Unit]]] = {}

    def units(self, aside: Aside, changed: frozenset[str]) -> list[tuple[SourceText, Unit]]:
        """Return the units of a candidate that are now in its own sources or in changed ones."""
        resources = sorted({s.resource for s in aside.sources} | changed)
        return [
            (self._texts[resource], unit)
            for resource in resources
            if resource in self._texts
            for id_ in sorted(aside.ids)
            for unit in self._source(resource).get(id_, ())
        ]

    def _source(self, resource: str) -> dict[str, list[Unit]]:
        if resource not in self._by_id:
            text = self._texts[resource]
            found = self._by_id.setdefault(resource, {})
            for unit in self._reader.claims(text.name, text.blob).units:
                found.setdefault(candidate_id(unit), []).append(unit)
        return self._by_id[resource]


def _elsewhere(aside: Aside, units: Iterable[tuple[SourceText, Unit]]) -> bool:
    """Return whether a deferred text occurs in a source or on a day that its file does not list."""
    resources = {s.resource for s in aside.sources}
    days = {s.captured[:10] for s in aside.sources}
    return any(
        text.resource not in resources or (unit.captured and unit.captured[:10] not in days)
        for text, unit in units
    )


def _placed(
    aside: Aside, units: Iterable[tuple[SourceText, Unit]], reader: Reader
) -> Iterable[Placed]:
    known = {s.resource: s.captured[:10] for s in aside.sources}
    for text, unit in units:
        yield Placed(
            unit=unit,
            resource=text.resource,
            blob=text.blob,
            committed=text.committed or known.get(text.resource, ""),
            hint=reader.ranks(text, frozenset((unit.hash,)))[unit.hash].type,
        )


def overruling(
    state: State, placed: Iterable[Placed], near: Statements | None = None
) -> tuple[Placed, ...]:
    """Return the units, marking those that change a memory or continue a sequence."""
    placed = tuple(placed)
    if not placed:  # common case: avoid tokenising all statements
        return ()
    near = near or Statements()
    near.follow(compared_in(state))
    return tuple(_marked(one, near) for one in placed)


def _marked(placed: Placed, near: Statements) -> Placed:
    claim = PriorClaim(
        memory_id="",
        type="fact",
        standing="resolved",
        subject="",
        predicate="",
        object="",
        text=placed.unit.text,
        home="",
        sources=(placed.source(),),
        under=" › ".join(placed.unit.headings),
    )
    found = near.changed(claim)
    ids = sorted(id_ for id_, one in found.items() if one.newer != "second")
    ids = ids or sorted(near.follows(claim))
    return replace(placed, changes=tuple(ids)) if ids else placed


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates to judge. `beside` maps a candidate to another that is judged with it.

    `rejected` counts candidates that were rejected before and are not judged again.
    """

    gathered: Gathered
    beside: Mapping[str, str] = msgspec.field(default_factory=dict)
    rejected: int = 0
    came_back: int = 0


def in_scope(
    state: State,
    intake: Intake,
    texts: Sequence[SourceText],
    reader: Reader,
    *,
    nominees: Sequence[Nominee] = (),
    afresh: bool,
    near: Statements | None = None,
) -> Scope:
    """Return the candidates of this run. With `afresh`, include those rejected before.

    A nominated note is always judged, because its retrieval counts are new information.
    """
    placed = tuple(intake.placed) if intake.whole else overruling(state, intake.placed, near)
    fresh = candidates_of(placed)
    gone: frozenset[str] = frozenset()
    if not afresh:
        gone = frozenset(c.candidate_id for c in fresh.candidates if was_rejected(state, c))
    sought = tuple(nominee.placed() for nominee in nominees if nominee.text)
    gone -= {candidate_id(one.unit) for one in sought}
    news = [c for c in fresh.candidates if c.candidate_id not in gone]
    back = Comeback()
    claims = {t.resource for t in texts if t.kind == "claims"}
    changed = claims.intersection(entry.resource for entry in intake.consumed)
    if changed and not intake.whole:
        back = come_back(state, news, frozenset(changed), texts, reader)
    if not (gone or back.placed or sought):
        return Scope(gathered=fresh)
    return _joined(placed, fresh, gone, back, sought)


def _joined(
    placed: Sequence[Placed],
    fresh: Gathered,
    gone: frozenset[str],
    back: Comeback,
    sought: Sequence[Placed],
) -> Scope:
    """Return the scope, adding returning and nominated candidates and removing rejected ones.

    Only new units count as open in their sources. Returning candidates were consumed when they were
    deferred, and their files remain until promotion. A nominated note remains nominated.
    """
    open_ = {(p.resource, p.unit.hash, p.unit.lines) for p in placed}
    more = [p for p in back.placed if (p.resource, p.unit.hash, p.unit.lines) not in open_]
    every = candidates_of([*placed, *more, *sought])
    kept = tuple(c for c in every.candidates if c.candidate_id not in gone)
    came = {c.candidate_id for c in candidates_of(more).candidates} & {c.candidate_id for c in kept}
    came -= {c.candidate_id for c in fresh.candidates}
    return Scope(
        gathered=replace(
            every,
            candidates=kept,
            units={id_: pairs for id_, pairs in fresh.units.items() if id_ not in gone},
        ),
        beside=back.beside or {},
        rejected=len(gone),
        came_back=len(came),
    )


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order of first mention, with the hashes of their units."""

    candidates: tuple[Candidate, ...]
    units: Mapping[str, tuple[tuple[str, str], ...]]
    """Maps candidate ids to (resource, unit hash) pairs."""
    former: Mapping[str, frozenset[tuple[str, str]]]
    """Maps candidate ids to (resource, former text hash) pairs of their edited units."""


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
        edited = frozenset((m.resource, m.former) for m in members if m.former)
        if edited:
            former[candidate.candidate_id] = edited
    return Gathered(candidates=tuple(candidates), units=units, former=former)


def _candidate(key: str, members: list[Placed]) -> Candidate:
    first = members[0].unit
    sources = tuple(dict.fromkeys(m.source() for m in members))
    reflecting = only_reflecting(sources)
    telling = [m for m in members if m.resource not in reflecting]
    ranks = [m.ranked for m in telling if m.ranked is not None]
    best = max(ranks, key=lambda r: r.rank, default=None)
    hint = next(filter(None, (*(m.hint for m in telling), first.hint)), "")
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


ALWAYS_JUDGED = 9.0
"""The rank of candidates that are judged in any case."""

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
