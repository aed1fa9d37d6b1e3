"""Changes to existing memories caused by sources: lost evidence, ticked boxes, requests.

A memory without any remaining evidence is retired. Lineage: memory-purifier, stale sweep. There are
deliberate differences. A deleted paragraph counts like a deleted file. Remaining evidence anywhere
retains the memory. A retired memory is archived until a source states it again. Memories that a
person wrote, confirmed or pinned remain in recall and are marked. If a run would retire too many,
it marks all of them, until `memrepo accept removals` or `memrepo discard removals`; if one source
lost too much, those of that source.

A task whose box was ticked is archived, and restored when the box is open again. The text of the
line does not change, so other checks would miss it.

Directives in double brackets are reported to a person and never carried out, because a captured
e-mail must not control the memory.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from msgspec.structs import replace

from memrepo.actions.pending import REQUEST
from memrepo.actions.run.gather import Input, RunPlan
from memrepo.actions.run.known import Known
from memrepo.core.errors import Problem
from memrepo.core.ids import visible
from memrepo.core.memory import MAX_LISTED, Memory, Retired, Source, hashes_of, listed_places
from memrepo.core.messages import cut
from memrepo.core.state import Step, Update
from memrepo.policies.claims import (
    find_reflecting,
    is_held_by_person,
    is_worded_by_person,
    merge_sources,
)
from memrepo.policies.links import find_directives
from memrepo.policies.standing import RETIRED
from memrepo.policies.upkeep import archive, interlock, unarchive
from memrepo.read.intake import Intake, Reader, SourceText
from memrepo.text.words import content_words

DONE = "its box was ticked"
FOLLOWED_BY_IMPORT = "claude-code"
FOLLOWED = "the lines of its sources were found, and are followed from now on"
_Gone = Mapping[str, frozenset[str]]
"""Maps a source's path to the text hashes that were removed from it."""


def tick_boxes(known: Known, intake: Intake, texts: Iterable[SourceText], reader: Reader) -> None:
    """Archive or restore the memories whose boxes were ticked or reopened."""
    done, opened = _boxes(intake, texts, reader) if intake.consumed else ({}, {})
    for memory in known.find_text(done.keys() | opened.keys()):
        if known.ops.get(memory.id) == "create":
            continue  # its box was ticked before it was worded
        hashes = [hash_ for s in memory.sources for hash_ in memory.wordings(s)]
        changed = {"active": done, "archived": opened}.get(memory.status, {})
        place = next((changed[hash_] for hash_ in hashes if hash_ in changed), "")
        if place and changed is done:
            known.add(archive(memory, known.now, f"{DONE} in {place}"))
        elif place:
            known.add(unarchive(memory, f"its box is open again in {place}"))


def _boxes(
    intake: Intake, texts: Iterable[SourceText], reader: Reader
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the sources of ticked and of reopened lines, by text hash.

    Ticked lines of new log entries count.
    """
    done: dict[str, str] = {}
    opened: dict[str, str] = {}
    names = {text.resource: text for text in texts}
    for text in names.values():
        revision = intake.revisions.get(text.resource)
        if revision is not None and revision.boxes:
            for unit in reader.claims(text.name, text.blob).units:
                if unit.hash in revision.boxes:
                    boxes = done if unit.task == "done" else opened
                    boxes[unit.text_hash] = text.resource
    for note in intake.notes:
        first, last = note.unit.lines
        for unit in reader.claims(names[note.resource].name, note.blob).units:
            if unit.task == "done" and first <= unit.lines[0] and unit.lines[1] <= last:
                done.setdefault(unit.text_hash, note.resource)
    return done, opened


def add_hashes(known: Known, reader: Reader, spared: Collection[str]) -> None:
    """Add the hash of its line to each source that has none, so that the loss of it is noticed.

    That is the line with the text of the memory. For a person's own words it can be the line that
    the source names. `spared` are memories that this run confirmed or reworded.
    """
    changes = []
    for memory in known.state.active:
        if memory.is_note or memory.id in spared or not known.is_active(memory.id):
            continue
        if all(source.text_hash for source in memory.sources):
            continue
        sources = tuple(
            source
            if source.text_hash
            else replace(source, text_hash=_hash_of(memory, source, reader))
            for source in memory.sources
        )
        if sources != memory.sources:
            fields = {"sources": merge_sources(sources, ())}
            changes.append(Update(id=memory.id, fields=fields))
    if changes:
        known.add(Step(op="confirm", reason=FOLLOWED, changes=tuple(changes)))


def _hash_of(memory: Memory, source: Source, reader: Reader) -> str:
    """Return the hash of the one line that a source without a hash can mean, or ""."""
    units = reader.units(source.resource)
    found = {unit.text_hash for unit in units} & {memory.own_hash, *memory.former}
    if not found and memory.origin == "manual":
        first, last = source.lines
        words = content_words(memory.body)
        found = {
            unit.text_hash
            for unit in units
            if unit.lines[0] <= first
            and last <= unit.lines[1]
            and len(words & content_words(unit.text)) > 1
        }
    return next(iter(found)) if len(found) == 1 else ""


def retire(
    plan: RunPlan,
    known: Known,
    gone: _Gone | None,
    spared: Collection[str],
    alarms: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a step per source that retires the memories left without any evidence.

    A memory whose text is in places that it did not list gets those instead. `gone` maps a source's
    path to the removed text hashes. If it is None, all memories are checked. `spared` are memories
    that this run confirmed or reworded. `alarms` say of the sources that lost too much what they
    lost.
    """
    found: dict[str, list[Memory]] = defaultdict(list)
    relisted = []
    for memory, path in _without_places(known, gone, spared, alarms):
        if places := known.other_places(memory):
            fields = {"sources": _relisted(memory, places)}
            relisted.append(Update(id=memory.id, fields=fields))
        else:
            found[path].append(memory)
    if relisted:
        reason = "the listed places no longer have the text; other places that have it are listed"
        known.add(Step(op="confirm", reason=reason, changes=tuple(relisted)))
    if plan.mode != "incremental":
        alarms = {}
    why = _why_marked(plan, known, [*_retirements(known, found, {}, "")])
    known.add(*_retirements(known, found, alarms, why))


def _retirements(
    known: Known, found: Mapping[str, Sequence[Memory]], alarms: Mapping[str, str], why: str
) -> Iterator[Step]:
    """Yield a step per source that lost memories. Those are marked for `why`, or by its alarm."""
    for path, members in sorted(found.items()):
        marked = "; ".join(filter(None, (why, alarms.get(path, ""))))
        is_there = bool(known.standing(path))
        yield retiring(members, path, known.run, known.now, is_there, marked)


def _why_marked(plan: RunPlan, known: Known, steps: Sequence[Step]) -> str:
    """Return why all memories to retire are only marked, so that a person decides, or ""."""
    if plan.mode != "incremental":
        return ""
    changes = (change for step in (*known.steps, *steps) for change in step.changes)
    return interlock(plan.state, changes, plan.config.run.max_change_pct)


def _relisted(memory: Memory, places: Sequence[Source]) -> tuple[Source, ...]:
    """Return the places to list for a text, chosen from its current and its former places."""
    reflecting = find_reflecting((*memory.sources, *places))
    merged = {s.text_hash for s in memory.sources if s.kind == "merged"}
    found = (
        replace(s, kind="inferred" if s.resource in reflecting else "merged")
        if s.resource in reflecting or s.text_hash in merged
        else s
        for s in places
    )
    return listed_places(merge_sources(tuple(found), memory.sources))


def _without_places(
    known: Known, gone: _Gone | None, spared: Collection[str], alarms: Collection[str]
) -> Iterator[tuple[Memory, str]]:
    """Yield (memory, source that lost it) for each memory without any listed place left.

    A promoted note counts as a place, and so does a folder that imports follow. A person's own
    wording has no line to lose.
    """
    suspects: Iterable[Memory] = known.state.active
    if gone is not None:
        suspects = known.find_text(frozenset[str]().union(*gone.values()))
    layout = known.state.layout
    for memory in suspects:
        if memory.is_note or memory.standing == RETIRED or not known.is_active(memory.id):
            continue
        if memory.id in spared or _was_kept(memory):
            continue
        lost = []
        for source in memory.sources:
            hashes = memory.wordings(source) - {""}
            if gone is not None:
                may_have_left = bool(hashes & gone.get(source.resource, frozenset()))
            else:
                may_have_left = len(hashes) > (1 if is_worded_by_person(memory) else 0)
            lost += [source.resource] if may_have_left else []
        lost = lost or sorted(_unlisted(memory, gone or {}))
        if lost and not any(
            layout.is_memory(s.resource)
            or s.resource.startswith(f"{FOLLOWED_BY_IMPORT}://")
            or known.is_at(memory, s)
            for s in memory.sources
        ):
            yield memory, next((path for path in lost if path in alarms), lost[0])


def _was_kept(memory: Memory) -> bool:
    """Return whether a person confirmed a memory after a run had marked it for removal."""
    retired = memory.retired
    stamps = (one for one in memory.verified if one.by.startswith("human:"))
    last = max((f"{one.at:%Y%m%dT%H%M%SZ}" for one in stamps if one.at), default="")
    return bool(retired) and retired[-1].run[: len(last)] < last


def _unlisted(memory: Memory, gone: _Gone) -> frozenset[str]:
    """Return the sources that lost a memory's text, if its list of places is incomplete."""
    hashes = hashes_of(memory) if len(memory.sources) >= MAX_LISTED else frozenset[str]()
    return frozenset(resource for resource, left in gone.items() if hashes & left)


def retiring(
    members: Sequence[Memory], path: str, run: str, now: datetime, is_there: bool, why_marked: str
) -> Step:
    """Return the step that retires memories of one source, or marks them for the given reason.

    `is_there` is whether the source still exists.
    """
    reason = "text_removed" if is_there else "source_removed"
    resting = {"status": "archived", "archived_at": now}
    retired = Retired(run=run, reason=f"{reason}: {path}")
    what = f"{'line removed from' if is_there else 'file removed:'} {path}"
    marked = f"; marked for a person to decide: {why_marked}" if why_marked else ""
    return Step(
        op="retire",
        reason=f"{what}{marked}",
        changes=tuple(
            Update(
                id=memory.id,
                fields={
                    "standing": RETIRED,
                    "retired": (*memory.retired, retired),
                    **({} if why_marked or is_held_by_person(memory) else resting),
                },
            )
            for memory in members
        ),
    )


# -- what a text asks of the memory ----------------------------------------------------------------

_MAX_LENGTH = 80


def find_requests(given: Input) -> Iterator[Problem]:
    """Yield a warning for each directive in a text that is read for the first time."""
    placed = () if given.intake.whole else given.intake.placed
    for place in (*placed, *given.intake.notes):
        yield from requests(place.resource, place.unit.lines[0], place.unit.text)


def requests(path: str, line: int, text: str) -> Iterator[Problem]:
    """Yield a warning for each directive in a text, with the command to carry it out."""
    for directive in find_directives(text) if "[[" in text else ():
        word = f"[[{directive.verb}:{directive.target}]]".replace(":]]", "]]")
        yield Problem(
            path=path,
            line=line,
            column=1,
            rule=REQUEST,
            severity="warning",
            message=f"asks {cut(visible(word), _MAX_LENGTH)}: nothing was done, a person decides",
            fix=f"`echo {shlex.quote(word)} | memrepo directives`",
        )
