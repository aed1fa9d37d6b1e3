"""Nominated notes as candidates, and the stamp that makes each nomination happen once.

The note itself is the evidence: its file at the commit that the run reads, so that what was
promoted can be quoted for ever. A judge is told how often the note was looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from memrepo.core.changes import Step, Update
from memrepo.core.ids import digest, normal_claim, text_hash
from memrepo.core.judging import Cluster, Verdict
from memrepo.core.memory import Memory
from memrepo.core.times import format_time
from memrepo.policies.nomination import SKILLS
from memrepo.policies.nomination import Candidate as Nomination
from memrepo.purify.assemble import Decision
from memrepo.purify.dates import DateBasis
from memrepo.purify.gather import Placed, candidate_id
from memrepo.purify.units import MAX_TEXT, Unit

_BASES: Mapping[str, DateBasis] = {"unit": "unit", "heading": "heading", "file": "file"}
_ENDS = {"reject": "rejected", "defer": "deferred", "compress": "folded into another"}


class Nominee(msgspec.Struct, frozen=True, kw_only=True):
    """A nominated note with the blob of its file and the lines on which its text stands there."""

    nomination: Nomination
    blob: str
    lines: tuple[int, int]

    @property
    def note(self) -> Memory:
        """Return the note."""
        return self.nomination.note

    def placed(self) -> Placed:
        """Return the note as a unit in scope."""
        note, text = self.note, self.note.body.strip()[:MAX_TEXT]
        words = digest([note.path, normal_claim(text)])
        created, last = note.time("created"), next(reversed(note.sources), None)
        # A note made by hand was written when its file was.
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


def nominations(
    nominees: Iterable[Nominee],
    verdicts: Sequence[Verdict],
    groups: Sequence[Cluster],
    decisions: Sequence[Decision],
) -> Iterator[Step]:
    """Yield the stamp of each nominated note that was judged, with the memories it became.

    One that no judge answered for is nominated again.
    """
    judged = {v.candidate_id: v for v in verdicts}
    became: dict[str, dict[str, None]] = {}
    clusters = {g.cluster_id: g for g in groups}
    for decision in decisions:
        for candidate in clusters[decision.cluster_id].candidates:
            became.setdefault(candidate.candidate_id, {})[decision.memory_id] = None
    for nominee in nominees:
        key = candidate_id(nominee.placed().unit)
        if key in judged:
            yield _stamp(nominee, judged[key], tuple(became.get(key, ())))


def _stamp(nominee: Nominee, verdict: Verdict, became: tuple[str, ...]) -> Step:
    end = f"became {', '.join(became)}" if became else _ENDS.get(verdict.verdict, "not stored")
    return Step(
        op="nominate",
        what=nominee.note.label,
        reason=f"{nominee.nomination.record}: {end}",
        changes=(Update(id=nominee.note.id, fields={"promoted": True}),),
        memories=(nominee.note.id, *became),
    )
