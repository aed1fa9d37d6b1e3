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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import Decision
from memrepo.actions.run.candidate_files import Aside, deferred, was_rejected
from memrepo.core.changes import Step, Update
from memrepo.core.ids import digest, normal_claim, text_hash
from memrepo.core.judge import Candidate, Cluster, PriorClaim, Verdict
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge.statements import leave_out, statements, text_key
from memrepo.policies.ageing import SKILLS, Nomination
from memrepo.purify.decisions import Statements, compared_in
from memrepo.purify.gather import Gathered, Placed, candidate_id, gather
from memrepo.purify.intake import Intake, Reader, SourceText
from memrepo.read.thoughts import MAX_TEXT, Unit
from memrepo.text.dates import DateBasis
from memrepo.text.tokens import content_words

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
    fresh = gather(placed)
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
    every = gather([*placed, *more, *sought])
    kept = tuple(c for c in every.candidates if c.candidate_id not in gone)
    came = {c.candidate_id for c in gather(more).candidates} & {c.candidate_id for c in kept}
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
