"""The shelf pass: once a run, a model arranges the memories after the new ones were read.

It joins memories that say the same, closes what was overtaken, drops what nobody will need, and
corrects types. Texts of joined memories pass the same checks as those of new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memrepo.actions.run.assemble import Assembled
from memrepo.actions.run.plan import RunPlan
from memrepo.core.changes import Create, Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.judge import BadReply, BudgetReached, JudgeFailed
from memrepo.core.memory import CLAIM_TYPES, OWN_ACTOR, Memory, Stamp, of_types
from memrepo.core.state import State, apply
from memrepo.judge.ask import Desk
from memrepo.judge.checks import Cited, check, needs_second_question
from memrepo.judge.documents import tokens_of
from memrepo.judge.interface import Assessment, Change, Operation
from memrepo.judge.questions import Proposed, memory_row, shelf_question, verify_question
from memrepo.judge.related import short_ids
from memrepo.policies.claims import is_held_by_person, merge_sources, storage_fault
from memrepo.policies.upkeep import archive

MIN_CHANGED = 5
"""Minimum number of new memories for the question to be worth its cost."""


def arrange(
    plan: RunPlan, state: State, made: Assembled, desk: Desk
) -> tuple[tuple[Step, ...], MemrepoError | None]:
    """Return the steps that arrange the shelf, and the error if the judge did not answer.

    Nothing is asked if only a few memories are new.
    """
    if len(made.creates) + len(made.rewords) < MIN_CHANGED:
        return (), None
    changes = [Create(memory=m) for m in made.creates]
    after = apply(state, (*changes, *made.rewords, *(c for s in made.singles for c in s.changes)))
    new = {m.id for m in made.creates} | {u.id for u in made.rewords}
    memories = [*of_types(after.active, CLAIM_TYPES)]
    shown = short_ids(_fitting(memories, new, plan.context))
    fresh = frozenset(id_ for id_, m in shown.items() if m.id in new)
    try:
        answer = desk.ask(shelf_question(shown, fresh))
        given = [one for one in answer.items if isinstance(one, Change)]
        joins = _joins(given, shown)
        allowed = _verified(joins, shown, desk)
    except BadReply:
        return (), None  # the memories stay as they were worded
    except (JudgeFailed, BudgetReached) as error:
        return (), error
    return tuple(_steps(plan, given, shown, {id(c) for c in allowed})), None


def _fitting(memories: Sequence[Memory], new: set[str], limit: int) -> list[Memory]:
    """Return the memories to show: the new ones first, as many as fit into one question."""
    ordered = sorted(memories, key=lambda m: (m.id not in new, m.body))
    found, size = [], 0
    for memory in ordered:
        size += tokens_of(memory_row("m999", memory)) + 1
        if size > limit:
            break
        found.append(memory)
    return found


def _joins(given: Sequence[Change], shown: Mapping[str, Memory]) -> list[tuple[Change, Proposed]]:
    """Return the joins whose text states only what their members state, as far as code sees."""
    found = []
    for number, change in enumerate(given):
        members = [shown[id_] for id_ in dict.fromkeys(change.ids) if id_ in shown]
        if change.change != "join" or len(members) < 2 or any(map(is_held_by_person, members)):
            continue
        texts = tuple(m.body for m in members)
        above = tuple(dict.fromkeys(m.text("subject") for m in members if m.text("subject")))
        days = tuple(sorted({m.captured[:10] for m in members if m.captured}))
        cited = Cited(own=texts, above=above, days=days)
        op = Operation(op="add", lines="", text=change.text, type=change.type)
        if not check(op, cited, {}, ()):
            found.append((change, Proposed(id=f"join-{number}", op=op, cited=cited)))
    return found


def _verified(
    joins: Sequence[tuple[Change, Proposed]], shown: Mapping[str, Memory], desk: Desk
) -> list[Change]:
    """Return the joins that a second question confirms. Quoted texts need none."""
    bodies = {memory.body for memory in shown.values()}
    asked = [
        one
        for change, one in joins
        if change.text not in bodies and needs_second_question(one.op, one.cited)
    ]
    stated = {one.id for _, one in joins} - {one.id for one in asked}
    if asked:
        answer = desk.ask(verify_question(asked, ()))
        stated |= {a.id for a in answer.items if isinstance(a, Assessment) and a.stated}
    return [change for change, one in joins if one.id in stated]


def _steps(
    plan: RunPlan, given: Sequence[Change], shown: Mapping[str, Memory], joined: set[int]
) -> Iterator[Step]:
    """Yield the steps of an answer. Each memory is changed once, and none that a person holds."""
    touched: set[str] = set()
    for change in given:
        members = [shown[id_] for id_ in dict.fromkeys(change.ids) if id_ in shown]
        members = [m for m in members if m.id not in touched and not is_held_by_person(m)]
        if not members:
            continue
        step: Step | None = None
        if change.change == "join" and id(change) in joined and len(members) > 1:
            step = _join(plan, change, members)
        elif change.change == "overtake" and len(members) == 2:
            step = _replace(plan, members[0], members[1], "a newer answer to the same question")
        elif change.change == "drop":
            step = _drop(plan, members)
        elif change.change == "retype":
            updates = tuple(Update(id=m.id, fields={"type": change.type}) for m in members)
            step = Step(op="edit", reason="the judge corrected the type", changes=updates)
        if step is not None:
            touched.update(m.id for m in members)
            yield step


def _join(plan: RunPlan, change: Change, members: Sequence[Memory]) -> Step | None:
    """Return the step that gives one member the joined text, and lets it replace the others."""
    best = next((m for m in members if m.body == change.text), members[0])
    others = [m for m in members if m.id != best.id]
    sources = best.sources
    for other in others:
        sources = merge_sources(sources, other.sources)
    fields: dict[str, object] = {
        "type": change.type,
        "sources": sources,
        "generated": Stamp(by=OWN_ACTOR, at=plan.now),
        "aliases": tuple(dict.fromkeys((*best.texts("aliases"), best.own_hash))),
        "supersedes": tuple(dict.fromkeys((*best.texts("supersedes"), *(m.id for m in others)))),
    }
    if storage_fault(best.with_fields(fields, change.text)):
        return None
    return Step(
        op="supersede",
        reason="they state the same, and were joined",
        changes=(
            *(_superseded(plan, other, best.id) for other in others),
            Update(id=best.id, fields=fields, body=change.text),
        ),
    )


def _superseded(plan: RunPlan, old: Memory, new: str) -> Update:
    by = tuple(dict.fromkeys((*old.texts("superseded_by"), new)))
    fields = {"status": "superseded", "superseded_by": by, "superseded_at": plan.now}
    return Update(id=old.id, fields=fields)


def _replace(plan: RunPlan, old: Memory, new: Memory, reason: str) -> Step | None:
    """Return the step by which one memory replaces an older one, or None if dates forbid it."""
    if old.captured and new.captured and new.captured[:10] < old.captured[:10]:
        return None
    gains = {"supersedes": tuple(dict.fromkeys((*new.texts("supersedes"), old.id)))}
    return Step(
        op="supersede",
        reason=reason,
        changes=(_superseded(plan, old, new.id), Update(id=new.id, fields=gains)),
    )


def _drop(plan: RunPlan, members: Sequence[Memory]) -> Step | None:
    """Return the step that archives memories which nobody will need."""
    steps = [archive(m, plan.now, "the judge found that nobody will need it") for m in members]
    changes = tuple(change for step in steps for change in step.changes)
    return Step(op=steps[0].op, reason=steps[0].reason, changes=changes)
