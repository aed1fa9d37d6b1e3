"""Convert statements into candidates. Exact duplicates become one candidate with all places.

In real workspaces, 14.6 % of the longer bullets are exact repetitions. A judge should see each
once, with every place as evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from memrepo.core.ids import digest, normal_claim, normalise
from memrepo.core.judge import Candidate
from memrepo.core.memory import Source
from memrepo.purify.clusters import only_reflecting
from memrepo.read.kinds import kinds
from memrepo.read.shelf import Ranked
from memrepo.read.thoughts import Unit
from memrepo.text.dates import is_date_heading

SHORT = 25
"""Length below which a text's meaning depends on its heading."""


class Placed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A unit that a run reads, with its place in the repository."""

    unit: Unit
    resource: str
    blob: str
    committed: str
    """ISO date of the commit that added the unit. Used if nothing else gives a capture date."""
    former: str = ""
    """Text hash of the unit at this place before an edit, or empty."""
    retrieved: str = ""
    """How often recall returned the note, for a note promoted because of that."""
    ranked: Ranked | None = None
    """Its rank, or None for a unit that is judged in any case."""
    hint: str = ""
    """Its type, if nothing else determines one."""
    changes: tuple[str, ...] = ()
    """The memories that the unit's words change."""
    about: str = ""
    """The subject of its file, if another file names it."""

    def source(self) -> Source:
        """Return the source entry that records where the unit is from."""
        captured = self.unit.captured
        basis: str = self.unit.captured_from
        # A text cannot be captured before it is written. A later date is part of its content.
        if not captured or (self.committed and captured[:10] > self.committed):
            captured, basis = self.committed, "commit"
        return Source(
            resource=self.resource,
            blob=self.blob,
            lines=self.unit.lines,
            text_hash=self.unit.text_hash,
            captured=captured,
            captured_from=basis,
        )


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order of first mention, with the hashes of their units."""

    candidates: tuple[Candidate, ...]
    units: Mapping[str, tuple[tuple[str, str], ...]]
    """Maps candidate ids to (resource, unit hash) pairs."""
    former: Mapping[str, frozenset[tuple[str, str]]]
    """Maps candidate ids to (resource, former text hash) pairs of their edited units."""


def gather(placed: Iterable[Placed]) -> Gathered:
    """Combine units of equal meaning into candidates, in order of first mention."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        groups[_sameness(one.unit)].append(one)
    candidates, units, former = [], {}, {}
    for key, members in groups.items():
        candidate = _candidate(key, members)
        candidates.append(candidate)
        units[candidate.candidate_id] = tuple((m.resource, m.unit.hash) for m in members)
        edited = frozenset((m.resource, m.former) for m in members if m.former)
        if edited:
            former[candidate.candidate_id] = edited
    return Gathered(candidates=tuple(candidates), units=units, former=former)


def candidate_id(unit: Unit) -> str:
    """Return the id of the candidate for a unit, which does not depend on the unit's place."""
    return f"cand-{_sameness(unit)[:16]}"


def _sameness(unit: Unit) -> str:
    """Return a hash that is equal for units of equal meaning.

    For a field such as `**Status:** ...` and for a short text, the hash includes the heading. An
    episode never equals a line about the same day.
    """
    text = normal_claim(unit.text)
    if unit.kind in ("document", "memory"):
        return digest([text, unit.kind])
    if not unit.key and len(text) >= SHORT:
        return digest([text])
    under = [h for h in (*unit.headings, *filter(None, (unit.lead,))) if not is_date_heading(h)]
    return digest([text, *(normalise(h) for h in under[-1:])])


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
        rank=best.rank + again if best else ALWAYS,
        fits=max((r.fits for r in ranks), key=("", "fair", "good").index, default="good"),
        signs=best.reasons if best else (),
    )


ALWAYS = 9.0
"""The rank of candidates that are judged in any case."""
