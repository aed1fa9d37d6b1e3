"""A task whose box was ticked is done: its memory rests, and is back where the box is open again.

The text of the line does not change, so nothing else would notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from memrepo.core.changes import Step
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.policies.archive import archive, unarchive
from memrepo.purify.intake import Intake, Reader, SourceText
from memrepo.purify.units import Unit

DONE = "its box was ticked"
_Ticks = dict[str, tuple[str, str]]
"""By the text hash of a line where it stands: resource and unit hash."""


def ticking(
    state: State, intake: Intake, texts: Iterable[SourceText], reader: Reader, now: datetime
) -> tuple[tuple[Step, ...], Mapping[str, frozenset[tuple[str, str]]]]:
    """Return the steps for boxes that were ticked or opened, and what speaks for each by memory."""
    if not intake.consumed:
        return (), {}
    done, opened = _boxes(intake, list(texts), reader)
    steps: list[Step] = []
    behind: dict[str, frozenset[tuple[str, str]]] = {}
    for memory in sorted(state.memories.values(), key=lambda m: m.path) if done or opened else ():
        if memory.is_note:
            continue
        if memory.status == "active" and (place := _place(memory, done)):
            steps.append(archive(memory, now, f"{DONE} in {place[0]}"))
        elif memory.status == "archived" and (place := _place(memory, opened)):
            steps.append(unarchive(memory, f"its box is open again in {place[0]}"))
        else:
            continue
        behind[memory.id] = frozenset((place,))
    return tuple(steps), behind


def _place(memory: Memory, boxes: _Ticks) -> tuple[str, str] | None:
    """Return where the line stands on which a memory rests, if its box has changed."""
    return next((boxes[s.text_hash] for s in memory.sources if s.text_hash in boxes), None)


def _boxes(intake: Intake, texts: Sequence[SourceText], reader: Reader) -> tuple[_Ticks, _Ticks]:
    """Return the lines that are ticked now and were open, or stand ticked in a new log entry."""
    done: _Ticks = {}
    opened: _Ticks = {}
    for text in texts:
        revision = intake.revisions.get(text.resource)
        if revision is not None and revision.boxes:
            for unit in reader.claims(text.name, text.blob).units:
                if unit.hash in revision.boxes:
                    boxes = done if unit.task == "done" else opened
                    boxes[unit.text_hash] = (text.resource, unit.hash)
    for resource, task in _logged(intake, texts, reader):
        done.setdefault(task.text_hash, (resource, task.hash))
    return done, opened


def _logged(
    intake: Intake, texts: Sequence[SourceText], reader: Reader
) -> Iterator[tuple[str, Unit]]:
    """Yield the ticked lines of new entries of daily logs, each with its log."""
    names = {text.resource: text.name for text in texts}
    for note in intake.notes:
        first, last = note.unit.lines
        for unit in reader.claims(names[note.resource], note.blob).units:
            if unit.task == "done" and first <= unit.lines[0] and unit.lines[1] <= last:
                yield note.resource, unit
