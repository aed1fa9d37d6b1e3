"""Selection of a run's candidates for the offline judge: new units, and nominated notes.

A nominated note is its own evidence: its file at the commit being read, so that it can always be
quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.known import Known
from memrepo.actions.run.overtake import StatementIndex, compared_in
from memrepo.core.changes import Step, Update
from memrepo.core.ids import digest, normal_claim, text_hash
from memrepo.core.judge import Statement
from memrepo.core.memory import CLAIM_TYPES, Memory, of_types
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge.statements import leave_out, statements, text_key
from memrepo.policies.ageing import SKILLS, Nomination
from memrepo.read.choice import Candidate, candidates_of
from memrepo.read.intake import Intake, Placed
from memrepo.read.thoughts import MAX_TEXT, Unit
from memrepo.text.dates import DateBasis

_BASES: Mapping[str, DateBasis] = {"unit": "unit", "heading": "heading", "file": "file"}


def in_scope(
    state: State,
    intake: Intake,
    nominees: Sequence[Nominee] = (),
    index: StatementIndex | None = None,
) -> list[Candidate]:
    """Return the candidates of this run: new units, and nominated notes.

    A nominated note is always judged, because its retrieval counts are new information.
    """
    placed = tuple(intake.placed)
    if not intake.whole:
        placed = _with_changes(state, placed, index or StatementIndex())
    nominated = tuple(nominee.placed() for nominee in nominees if nominee.text)
    return candidates_of([*placed, *nominated])


def _with_changes(
    state: State, placed: tuple[Placed, ...], index: StatementIndex
) -> tuple[Placed, ...]:
    """Return the units, marking those that change a memory.

    They are always judged, whatever their rank, also in a daily log.
    """
    if not placed:  # common case: avoid tokenising all statements
        return ()
    index.follow(compared_in(state))
    found = []
    for one in placed:
        fields = {"sources": (one.source(),), "context": " › ".join(one.unit.headings) or None}
        claim = Memory.of("", fields, body=one.unit.text)
        changed = index.changed(claim).items()
        ids = sorted(id_ for id_, change in changed if change.newer != "second")
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


def nominate(known: Known, nominees: Iterable[Nominee], statements: Sequence[Statement]) -> None:
    """Add a step for each judged nominee. It names the memories made from the nominee.

    One that produced no memory can be nominated again after more retrievals.
    """
    for nominee in nominees:
        note = nominee.nomination.note
        made = (
            known.made[one.id]
            for one in statements
            if one.id in known.made and any(s.resource == note.path for s in one.sources)
        )
        ids = tuple(dict.fromkeys((*nominee.stated_by, *made)))
        end = f"became {', '.join(ids)}" if ids else "not stored"
        fields = {"promoted": True, "nominated": None} if ids else {"nominated": known.now}
        known.add(
            Step(
                op="nominate",
                reason=f"{nominee.nomination.record}: {end}",
                changes=(Update(id=note.id, fields=fields),),
                memories=(note.id, *ids),
            )
        )
