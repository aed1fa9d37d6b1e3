"""Decide between two memories: one replaces, outdates or contests the other, or no longer does.

Replacements come from edited lines, from operations of a judge, and from what rules find about
changed statements (`overtake`). Between two that no rule can order, a person chooses: both are
contested. A file in `corrections/`, which no program reads, says why.

A memory without any remaining evidence is retired: archived until a source states it again.
Lineage: memory-purifier, stale sweep. Deliberate differences: a deleted paragraph counts like a
deleted file, and remaining evidence anywhere retains the memory. Memories that a person wrote,
confirmed or pinned remain in recall and are marked. If a run would retire too many, it marks all of
them, until `memrepo accept removals` or `memrepo discard removals`; if one source lost too much,
those of that source. A task whose box was ticked is archived, and restored when it is open again.

Directives in double brackets are reported to a person and never carried out, because a captured
e-mail must not control the memory.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from memrepo.actions.pending import REQUEST
from memrepo.actions.run.gather import Input, RunPlan
from memrepo.actions.run.known import Known
from memrepo.core.errors import Problem
from memrepo.core.ids import visible
from memrepo.core.judge import Statement
from memrepo.core.memory import (
    OWN_ACTOR,
    Link,
    Memory,
    Retired,
    Source,
    Stamp,
    listed_places,
)
from memrepo.core.messages import cut, fold
from memrepo.core.state import Step, Update, Write
from memrepo.policies.change import (
    StatementChange,
    changed_pairs,
    compared_in,
    find_change,
    is_compared,
)
from memrepo.policies.claims import (
    find_reflecting,
    is_by_person,
    is_held_by_person,
    is_worded_by_person,
    merge_sources,
)
from memrepo.policies.hotcache import place_of
from memrepo.policies.links import find_directives
from memrepo.policies.standing import (
    RETIRED,
    contesting,
    contradiction_id,
    contradicts,
    is_settled,
    newer_of,
    reconciled,
    superseded,
    uncontested,
)
from memrepo.policies.upkeep import archive, interlock, unarchive
from memrepo.read.intake import Intake, Reader, SourceText

MAX_REASON = 500
"""Maximum characters of a reason in a file of `corrections/`."""
OUTDATED = "stale"
"""The standing of a memory that was true until a newer statement."""
SURE, UNSURE = 0.95, 0.5
"""Confidence in a change that nobody needs to check, and in one that somebody should."""


class _Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories between which a person must choose, and why a run cannot choose."""

    new: str
    old: str
    why: str
    sure: float | None = None


def settle(plan: RunPlan, known: Known, statements: Sequence[Statement]) -> None:
    """Add a step for each decision between two memories, one of which is new or was changed.

    What operations replace or close comes first, then what rules find, also of memories that were
    changed since the last run. Doubts follow at the end.
    """
    doubts: list[_Doubt] = []
    for one in statements:
        if new := known.made.get(one.id):
            with known.attempt(new):
                doubts += (*_replace(known, one, new), *_state_again(known, new))
    for one in statements:
        if one.op == "close":
            with known.attempt(one.memory):
                _archive_ended(known, one)
    if changed := plan.edited | known.changed.keys():
        memories = dict(compared_in(known.state))
        for id_, memory in known.changed.items():
            memories.pop(id_, None)
            if is_compared(memory):
                memories[id_] = memory
        for first, second, found in changed_pairs(known.state, memories, changed):
            if known.is_active(first) and known.is_active(second):
                with known.attempt(first):
                    doubts += _settle_pair(plan, known, first, second, found)
        for id_ in sorted(changed):
            doubts += _find_rivals(known, id_)
    for doubt in doubts:
        with known.attempt(doubt.new):
            if not _replace_left_behind(plan, known, doubt):
                _flag(known, doubt)


def _find_rivals(known: Known, id_: str) -> Iterator[_Doubt]:
    """Yield a doubt about each memory by which somebody else replaced the same memory.

    Two people can do so in two clones. A run replaces a memory by several that all are true.
    """
    one = known.memory(id_)
    for old in one.supersedes if one is not None and is_worded_by_person(one) else ():
        before = known.memory(old)
        for other in before.superseded_by if before is not None else ():
            rival = known.memory(other)
            if rival is not None and other != id_ and is_worded_by_person(rival):
                yield _Doubt(new=id_, old=other, why=f"both were written to replace {old}")


def _settle_pair(
    plan: RunPlan, known: Known, first: str, second: str, found: StatementChange
) -> Iterator[_Doubt]:
    """Let the newer of two memories replace or outdate the older, or yield a doubt."""
    newer, older = (second, first) if found.newer == "second" else (first, second)
    if not (found.is_certain and plan.config.contradictions.auto_resolve):
        sure = SURE if found.is_certain else UNSURE
        yield _Doubt(new=first, old=second, why=found.reason, sure=sure)
        return
    if found.is_next and is_held_by_person(known.current(older)):
        return
    why = "; ".join(filter(None, (found.reason, _dated(known, newer, older))))
    if _is_held(known, newer, older):
        held = f"{found.reason}; a person stated the older one"
        yield _Doubt(new=newer, old=older, why=held, sure=SURE)
    elif found.is_next:
        _outdate(known, newer, older, why)
    else:
        supersede(known, newer, older, why, SURE)


def _is_held(known: Known, newer: str, older: str) -> bool:
    """Return whether a person supports the older memory, and no date shows that it is over."""
    if not is_by_person(known.current(older)) or is_by_person(known.current(newer)):
        return False
    sides = known.current(newer).sources, known.current(older).sources
    return newer_of(*sides) != ("first", "dated")


def _dated(known: Known, new: str, old: str) -> str:
    """Return the dates of two memories as a reason, or "" unless `new` has a later date."""
    later, earlier = (known.current(id_).captured[:10] for id_ in (new, old))
    return f"stated on {later}, newer than {earlier}" if later > earlier > "" else ""


# -- what a statement replaces ---------------------------------------------------------------------


def _replace(known: Known, one: Statement, new: str) -> Iterator[_Doubt]:
    """Replace what a statement replaces, after an edit or by an operation, or yield a doubt."""
    edited = known.replaced.get(one.id, "")
    if edited and is_by_person(known.current(edited)):
        # A program does not overwrite what a person stated. Both remain, and contest each other.
        why = "its source was edited, and a person had worded or confirmed it"
        yield _Doubt(new=new, old=edited, why=why)
    elif known.is_active(edited):
        supersede(known, new, edited, "the line that stated it was edited")
    old = known.made.get(one.memory, one.memory)
    if one.op != "replace" or old in (edited, new) or not known.is_active(old):
        return
    if _is_resolved(known, new, old):
        return
    if is_by_person(known.current(old)) and not is_by_person(known.current(new)):
        why = "a newer statement, but a person stated the older one"
        yield _Doubt(new=new, old=old, why=why, sure=UNSURE)
    elif one.still:
        _shorten(known, new, old, one)
    else:
        why = _dated(known, new, old) or "a newer answer to the same question"
        supersede(known, new, old, why, SURE)


def _shorten(known: Known, new: str, old: str, one: Statement) -> None:
    """Leave of a memory only what a newer answer did not replace."""
    before = known.current(old)
    former = tuple(dict.fromkeys((*before.former, before.own_hash)))
    fields = {"former": former, "generated": Stamp(by=OWN_ACTOR, at=known.now), "object": None}
    known.add(
        Step(
            op="reword",
            reason=f"a newer statement replaced a part of it: {known.current(new).body}",
            changes=(Update(id=old, fields=fields, body=one.still),),
            memories=(old, new),
        )
    )


def _archive_ended(known: Known, one: Statement) -> None:
    """Archive a memory which its sources declare over."""
    memory = known.memory(known.made.get(one.memory, one.memory))
    if memory is None or memory.status != "active" or is_held_by_person(memory):
        return
    place = next((f"{s.resource}:{s.lines[0]}" for s in one.sources), "a source")
    if known.ops.get(memory.id) != "create":
        known.add(archive(memory, known.now, f"{place} states that it is over"))


def _state_again(known: Known, id_: str) -> Iterator[_Doubt]:
    """Yield a doubt about each replacement of a superseded memory that is stated again."""
    memory = known.current(id_)
    if memory.status != "superseded" or id_ not in known.ops:
        return
    for other in filter(known.is_active, memory.superseded_by):
        # A statement that declares the other wrong remains valid if the other is repeated.
        seen = find_change(memory, known.current(other))
        if seen is not None and not seen.stated and seen.newer != "second":
            yield _Doubt(new=id_, old=other, why="a superseded statement was made again")


def _replace_left_behind(plan: RunPlan, known: Known, doubt: _Doubt) -> bool:
    """Replace a contradicted memory that no source states any more. Return whether that was done.

    It is not if a person worded or confirmed the older memory, or if the rules do not permit it.
    """
    new, old = known.current(doubt.new), known.current(doubt.old)
    if not (new.status == old.status == "active" and doubt.sure is not None) or is_by_person(old):
        return False
    if not plan.config.contradictions.auto_resolve:
        return False
    if not old.sources or known.is_stated(old) or not known.is_stated(new):
        return False
    why = f"{doubt.why}; the older statement is in no source any more"
    supersede(known, doubt.new, doubt.old, why, doubt.sure)
    return True


# -- the steps of a decision -----------------------------------------------------------------------


def _with(ids: tuple[str, ...], id_: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, id_)))


def supersede(known: Known, new: str, old: str, reason: str, sure: float | None = None) -> None:
    """Let the memory `new` supersede the memory `old`, also where a model put it on the page."""
    before, after = known.current(old), known.current(new)
    gains: dict[str, object] = {"supersedes": _with(after.supersedes, old)}
    if place_of(before) and after.hot is None:
        gains["hot"] = before.hot
    doubted = known.ops.get(new) == "create" or contradicts(after, before)
    if doubted and uncontested(after, old, known.is_active):
        gains["standing"] = None
    if after.duplicate_of == old:
        gains["duplicate_of"] = None  # a replacement is not a duplicate
        if after.standing == "probable_duplicate":
            gains["standing"] = None
    known.add(
        Step(
            op="supersede",
            reason=reason,
            changes=(
                Update(id=old, fields=superseded(before, new, known.now)),
                Update(id=new, fields=gains),
                _log(known, new, old, "Superseded", reason, sure),
            ),
        )
    )


def _outdate(known: Known, new: str, old: str, reason: str) -> None:
    """Make a memory history, because a newer one continued it."""
    links = known.current(new).links
    follows = Link(target=old, type="follows")
    changes = [Update(id=old, fields={"standing": OUTDATED})]
    if follows not in links:
        changes.append(Update(id=new, fields={"links": (*links, follows)}))
    known.add(Step(op="flag", reason=reason, changes=tuple(changes), memories=(new, old)))


def _flag(known: Known, doubt: _Doubt) -> None:
    """Mark two memories as contradicting each other, if they are not marked yet."""
    new, old = doubt.new, doubt.old
    if new == old or not known.is_active(old) or _is_resolved(known, new, old):
        return
    changes = []
    for id_, other in ((new, old), (old, new)):
        memory = known.current(id_)
        links = memory.links
        linked = any((x.target, x.type) == (other, "contradicts") for x in links)
        if linked and memory.standing == "contested":
            continue
        edge = () if linked else (Link(target=other, type="contradicts"),)
        fields = {"standing": "contested", "links": (*links, *edge)}
        changes.append(Update(id=id_, fields=fields))
    if changes:
        case = _log(known, new, old, "Contested", doubt.why, doubt.sure)
        both = (new, old)
        known.add(Step(op="flag", reason=doubt.why, changes=(*changes, case), memories=both))


def _log(known: Known, new: str, old: str, what: str, reason: str, sure: float | None) -> Write:
    """Return the write of a file for people that says what became of two memories, and why."""
    day = known.now.astimezone(UTC).date().isoformat()
    path = f"{known.state.layout.area('corrections')}{day}-{contradiction_id(new, old)}.md"
    why = fold(reason, MAX_REASON) + (f" (confidence {sure:.2f})" if sure is not None else "")
    lines = [f"# {what}", "", f"{why}. Decided on {day} by {known.run}."]
    for id_ in (new, old):
        quoted = (f"> {line}".rstrip() for line in known.current(id_).body.split("\n"))
        lines += ["", f"## {id_}", "", *quoted]
    return Write(path=path, data="\n".join([*lines, ""]).encode("utf-8", "replace"))


def _is_resolved(known: Known, new: str, old: str) -> bool:
    """Return whether somebody decided between two memories as they are worded now."""
    return is_settled(known.state, known.current(new), known.current(old))


# -- what ends by itself ---------------------------------------------------------------------------


def end_contradictions(known: Known) -> None:
    """End contradictions that a run's steps resolved.

    An edited line may no longer contradict the other, or one memory may have left recall. A memory
    remains contested if another one still contradicts it.
    """
    flagged = {frozenset(step.memories) for step in known.steps if step.op == "flag"}
    before = known.state.memories
    changed = (m for id_ in known.changed for m in (before.get(id_), known.memory(id_)) if m)
    pairs = {
        frozenset((memory.id, other))
        for memory in changed
        for other in contesting(memory)
        if other in before and before[other].standing == "contested"  # a link by hand marks neither
    } - flagged
    for pair in sorted(map(sorted, pairs)):
        sides = [m for id_ in pair if (m := known.memory(id_)) is not None]
        active = [memory for memory in sides if memory.status == "active"]
        rivals = {doubt.old for id_ in pair for doubt in _find_rivals(known, id_)}
        is_rivalry = not rivals.isdisjoint(pair)  # only a person can end it
        if len(active) == 2 and not is_rivalry and find_change(*active) is None:
            if any(m.id in before and before[m.id].body != m.body for m in active):
                _record_both_valid(known, active)
        elif len(active) == 1:
            (left,) = active
            if uncontested(left, "", known.is_active):
                _end(known, left.id, "what contradicted it is no longer active")


def restore_outdated(known: Known) -> None:
    """Restore each outdated memory that nothing active continues after a run's steps."""
    before = known.state.memories
    gone = [
        before[id_]
        for id_, memory in known.changed.items()
        if memory.status == "archived" and id_ in before and before[id_].status != "archived"
    ]
    if olds := set(_followed(gone)):
        ids = {memory.id for memory in gone}
        olds.difference_update(_followed(m for m in known.state.active if m.id not in ids))
    for id_ in sorted(olds & before.keys()):
        if (before[id_].status, before[id_].standing) == ("active", OUTDATED):
            _end(known, id_, "what came after it is in no source any more")


def _followed(memories: Iterable[Memory]) -> Iterator[str]:
    for memory in memories:
        yield from (link.target for link in memory.links if link.type == "follows")


def _end(known: Known, id_: str, reason: str) -> None:
    change = Update(id=id_, fields={"standing": None})
    known.add(Step(op="resolve", reason=reason, changes=(change,)))


def _record_both_valid(known: Known, sides: Sequence[Memory]) -> None:
    """Record both memories of a contradiction as valid."""
    reason = "the two no longer contradict each other"
    changes = tuple(
        Update(id=memory.id, fields=reconciled(memory, other.id, known.is_active))
        for memory, other in (sides, sides[::-1])
    )
    known.add(Step(op="resolve", reason=reason, changes=changes))


DONE = "its box was ticked"
FOLLOWED_BY_IMPORT = "claude-code"
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
        is_there = bool(known.reader.standing(path))
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
        if lost and not any(
            layout.is_memory(s.resource)
            or s.resource.startswith(f"{FOLLOWED_BY_IMPORT}://")
            or known.reader.is_at(memory, s)
            for s in memory.sources
        ):
            yield memory, next((path for path in lost if path in alarms), lost[0])


def _was_kept(memory: Memory) -> bool:
    """Return whether a person confirmed a memory after a run had marked it for removal."""
    retired = memory.retired
    stamps = (one for one in memory.verified if one.by.startswith("human:"))
    last = max((f"{one.at:%Y%m%dT%H%M%SZ}" for one in stamps if one.at), default="")
    return bool(retired) and retired[-1].run[: len(last)] < last


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
