"""Changes to existing memories caused by sources: lost evidence, ticked boxes, requests.

A memory without any remaining evidence is retired. Lineage: memory-purifier, stale sweep. There are
deliberate differences. A deleted paragraph counts like a deleted file. Remaining evidence anywhere
retains the memory. A retired memory is archived until a source states it again. Memories that a
person wrote, confirmed or pinned remain in recall and are marked.

A task whose box was ticked is archived, and restored when the box is open again. The text of the
line does not change, so other checks would miss it.

Instructions in a text are reported to a person and never carried out, because a captured e-mail
must not control the memory. Examples are directives in double brackets, "remember this", "don't
forget" and "forget about X".
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.pending import REQUEST, STANDING
from memrepo.actions.run.assemble import OUTDATED, PENDING
from memrepo.actions.run.known import Marks, find_other_places, prior_of
from memrepo.actions.run.overtake import find_change
from memrepo.core import corrections
from memrepo.core.changes import Step, Update, Write
from memrepo.core.corrections import Correction, Side, corrections_of
from memrepo.core.ids import visible
from memrepo.core.memory import (
    OWN_ACTOR,
    SOURCE_COUNT,
    Memory,
    Retired,
    Source,
    hashes_of,
    listed_places,
)
from memrepo.core.messages import cut
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.policies.claims import (
    find_reflecting,
    is_held_by_person,
    is_worded_by_person,
    merge_sources,
)
from memrepo.policies.links import find_directives
from memrepo.policies.standing import links_of, still_contested
from memrepo.policies.upkeep import archive, unarchive
from memrepo.read.intake import Intake, Reader, SourceText

DONE = "its box was ticked"
_Gone = Mapping[str, frozenset[str]]
"""Maps a source's path to the text hashes that were removed from it."""


def tick_boxes(
    intake: Intake, texts: Iterable[SourceText], reader: Reader, now: datetime, marks: Marks
) -> tuple[Step, ...]:
    """Return steps that archive or restore the memories whose boxes were ticked or reopened."""
    done, opened = _boxes(intake, texts, reader) if intake.consumed else ({}, {})
    steps: list[Step] = []
    for memory in marks.with_hashes(done.keys() | opened.keys()):
        hashes = [hash_ for s in memory.sources for hash_ in memory.wordings(s)]
        changed = {"active": done, "archived": opened}.get(memory.status, {})
        place = next((changed[hash_] for hash_ in hashes if hash_ in changed), "")
        if place and changed is done:
            steps.append(archive(memory, now, f"{DONE} in {place}"))
        elif place:
            steps.append(unarchive(memory, f"its box is open again in {place}"))
    return tuple(steps)


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


def retire(
    state: State,
    gone: _Gone | None,
    reader: Reader,
    spared: Iterable[str],
    run: str,
    now: datetime,
    marks: Marks | None = None,
) -> tuple[Step, ...]:
    """Return a step per source that retires memories left without any evidence.

    `gone` maps a source's path to the removed text hashes. If it is None, all memories are checked.
    `spared` are memories that this run confirmed or reworded.
    """
    found: dict[str, list[Memory]] = defaultdict(list)
    for memory, path in _without_places(state, gone, reader, spared, marks):
        if not find_other_places(memory, reader.holding):
            found[path].append(memory)
    return tuple(
        _retiring(path, members, reader, run, now) for path, members in sorted(found.items())
    )


def relist(
    state: State, gone: _Gone | None, reader: Reader, spared: Iterable[str], marks: Marks
) -> tuple[Step, ...]:
    """Return the step that lists other places for memories whose listed places are all gone."""
    changes = tuple(
        Update(id=memory.id, fields={"sources": _relisted(memory, places)})
        for memory, _ in _without_places(state, gone, reader, spared, marks)
        if (places := find_other_places(memory, reader.holding))
    )
    if not changes:
        return ()
    reason = "the listed places no longer have the text; other places that have it are listed"
    return (Step(op="confirm", reason=reason, changes=changes),)


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
    state: State,
    gone: _Gone | None,
    reader: Reader,
    spared: Iterable[str],
    marks: Marks | None,
) -> Iterator[tuple[Memory, str]]:
    """Yield (memory, source that lost it) for each memory without any listed place left.

    A promoted note counts as a place. A person's own wording has no line to lose.
    """
    suspects: Iterable[Memory] = state.active
    if gone is not None and marks is not None:
        suspects = marks.with_hashes(frozenset[str]().union(*gone.values()))
    spared = set(spared)
    for memory in suspects:
        if memory.is_note or memory.standing == STANDING or memory.status != "active":
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
            state.layout.is_memory(s.resource) or memory.wordings(s) & reader.standing(s.resource)
            for s in memory.sources
        ):
            yield memory, lost[0]


def _was_kept(memory: Memory) -> bool:
    """Return whether a person confirmed a memory after a run had marked it for removal."""
    retired = memory.fields.get("retired", ())
    stamps = (one for one in memory.fields.get("verified", ()) if one.by.startswith("human:"))
    last = max((f"{one.at:%Y%m%dT%H%M%SZ}" for one in stamps if one.at), default="")
    return bool(retired) and retired[-1].run[: len(last)] < last


def _unlisted(memory: Memory, gone: _Gone) -> frozenset[str]:
    """Return the sources that lost a memory's text, if its list of places is incomplete."""
    hashes = hashes_of(memory) if memory.has(SOURCE_COUNT) else frozenset[str]()
    return frozenset(resource for resource, left in gone.items() if hashes & left)


def _retiring(path: str, members: list[Memory], reader: Reader, run: str, now: datetime) -> Step:
    still_there = bool(reader.standing(path))
    reason = "text_removed" if still_there else "source_removed"
    resting = {"status": "archived", "archived_at": now}
    return Step(
        op="retire",
        reason=f"{'line removed from' if still_there else 'file removed:'} {path}",
        changes=tuple(
            Update(
                id=memory.id,
                fields={
                    "standing": STANDING,
                    "retired": (
                        *memory.fields.get("retired", ()),
                        Retired(run=run, reason=f"{reason}: {path}"),
                    ),
                    **({} if is_held_by_person(memory) else resting),
                },
            )
            for memory in members
        ),
    )


_KEEP = regex(
    r"(?:(?:^|[.!?:;,(\n][^\S\n]*|\bplease )remember this"
    r"|\b(?:don['’]?t|do not) forget)\b(?! about\b)",
    re.I,
)
_DROP = regex(r"(?<!n't )(?<!n’t )(?<!not )\bforget about (?:the |our |my )?([\w' -]{3,60})", re.I)
_MAX_LENGTH, _MAX_NAMED = 80, 3


class NewText(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a run ingested, with its place and the memories made from it."""

    path: str
    line: int
    text: str
    became: tuple[str, ...] = ()


def requests(texts: Iterable[NewText], memories: Mapping[str, Memory]) -> Iterator[Problem]:
    """Yield a warning for each instruction in a text, with the command to carry it out."""
    for one in texts:
        for directive in find_directives(one.text):
            word = f"[[{directive.verb}:{directive.target}]]".replace(":]]", "]]")
            yield _request(one, word, f"`echo {shlex.quote(word)} | memrepo directives`")
        if _KEEP.search(one.text):
            ids = [i for i in one.became if i not in memories or not memories[i].is_note]
            fix = " or ".join(f"`memrepo promote {id_}`" for id_ in ids[:_MAX_NAMED])
            yield _request(one, "to be remembered", fix or "`memrepo add` what is meant")
        for found in _DROP.finditer(one.text):
            about = " ".join(found[1].split()).rstrip(" '-")
            hits = sorted(
                (m.path, m.id)
                for m in memories.values()
                if m.status == "active" and not m.is_note and about.casefold() in m.body.casefold()
            )
            fix = " or ".join(f"`memrepo archive {id_}`" for _, id_ in hits[:_MAX_NAMED])
            fix = fix or "no memory has this name"
            yield _request(one, f"to forget about {about}", fix)


def may_ask(text: str) -> bool:
    """Return whether a text may contain an instruction, as a quick test before `requests`."""
    return bool("[[" in text or _KEEP.search(text) or _DROP.search(text))


def _request(text: NewText, what: str, fix: str) -> Problem:
    return Problem(
        path=text.path,
        line=text.line,
        column=1,
        rule=REQUEST,
        severity="warning",
        message=f"asks {cut(visible(what), _MAX_LENGTH)}: nothing was done, a person decides",
        fix=fix,
    )


def end_contradictions(state: State, steps: Sequence[Step], now: datetime) -> Iterator[Step]:
    """Yield steps to end contradictions that rules raised and that a run's steps resolved.

    An edited line may no longer contradict the other, or one memory may have left recall. A
    contradiction remains if a person examined it or if another memory still contradicts it.
    """
    updates = [c for step in steps for c in step.changes if isinstance(c, Update)]
    changed = {update.id for update in updates}
    flagged = {frozenset(step.memories) for step in steps if step.op == "flag"}
    cases = [
        case
        for _, case in sorted(corrections_of(state).cases.items() if changed else ())
        if (case.verdict, case.by) == ("flagged", OWN_ACTOR)
        if not changed.isdisjoint(case.memories) and frozenset(case.memories) not in flagged
    ]
    now_are = {i: state.memories[i] for c in cases for i in c.memories if i in state.memories}
    for update in updates:
        if update.id in now_are:
            now_are[update.id] = now_are[update.id].with_fields(update.fields, update.body)
    for case in cases:
        sides = [now_are[i] for i in case.memories if i in now_are]
        active = [memory for memory in sides if memory.status == "active"]
        if len(active) == len(case.sides) and find_change(*map(prior_of, active)) is None:
            step = _closed(state, case, active, now)
        elif len(active) == 1 and _is_calm(active[0], state, now_are):
            step = _ended(active[0])
        else:
            continue
        for update in (c for c in step.changes if isinstance(c, Update)):
            now_are[update.id] = now_are[update.id].with_fields(update.fields)
        yield step


def restore_outdated(state: State, steps: Sequence[Step]) -> Iterator[Step]:
    """Yield a step for each outdated memory that nothing active continues after a run's steps."""
    updates = [c for step in steps for c in step.changes if isinstance(c, Update)]
    gone = {u.id for u in updates if u.fields.get("status") == "archived"}
    olds = {id_ for one in gone & state.memories.keys() for id_ in _followed(state.memories[one])}
    if olds:
        olds -= {id_ for m in state.active if m.id not in gone for id_ in _followed(m)}
    for old in (state.memories[id_] for id_ in sorted(olds) if id_ in state.memories):
        if old.status == "active" and old.standing == OUTDATED:
            reason = "what came after it is in no source any more"
            yield Step(
                op="resolve",
                reason=reason,
                changes=(Update(id=old.id, fields={"standing": None}),),
            )


def _followed(memory: Memory) -> Iterator[str]:
    return (link.target for link in links_of(memory) if link.type == "follows")


def _is_calm(memory: Memory, state: State, now_are: Mapping[str, Memory]) -> bool:
    """Return whether a contested memory is no longer contradicted by any active memory."""

    def active(id_: str) -> bool:
        other = now_are.get(id_) or state.memories.get(id_)
        return other is not None and other.status == "active"

    return memory.standing == "contested" and not still_contested(memory, active, "")


def _ended(memory: Memory) -> Step:
    """Return the step that ends a memory's status as contested."""
    return Step(
        op="resolve",
        reason="what contradicted it is no longer active",
        changes=(Update(id=memory.id, fields={"standing": None}),),
    )


def _closed(state: State, case: Correction, sides: Sequence[Memory], now: datetime) -> Step:
    """Return the step that records both memories of a contradiction as valid."""
    updates = []
    for memory, other in (sides, sides[::-1]):
        links = tuple(
            x for x in links_of(memory) if (x.type, x.target) != ("contradicts", other.id)
        )
        fields: dict[str, object] = {"links": links or None}
        if memory.standing == "contested" and not any(x.type == "contradicts" for x in links):
            fields["standing"] = None
        updates.append(Update(id=memory.id, fields=fields))
    first, second = sides
    decided = replace(
        case,
        verdict="both",
        sides=(Side(memory=first.id, text=first.body), Side(memory=second.id, text=second.body)),
        decided=now,
        run=PENDING,
        reason=_EDITED,
    )
    path = corrections_of(state).place(state.layout, decided)
    return Step(
        op="resolve",
        reason=_EDITED,
        changes=(*updates, Write(path=path, data=corrections.written(path, decided))),
        memories=(first.id, second.id),
    )


_EDITED = "a line was edited, and the two no longer contradict each other"
