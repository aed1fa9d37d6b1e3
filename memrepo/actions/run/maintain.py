"""Maintenance of existing memories: tiers, archive, first page, contradictions, summaries.

A reconciliation skips all of it: its review is about content, and ageing follows from rules. Equal
states, times and answers give equal steps. Applied to their own result, they give none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memrepo.actions.run.decide import Decisions
from memrepo.actions.run.gather import RunPlan
from memrepo.actions.run.guard import state_after, traits_of
from memrepo.actions.run.known import Known
from memrepo.actions.run.settle import settle_changed
from memrepo.actions.work import Work
from memrepo.core.changes import Change, Create, Remove, Step, Update, is_decided
from memrepo.core.corrections import corrections_of
from memrepo.core.ids import digest
from memrepo.core.layout import Layout
from memrepo.core.manifest import LOGIC_VERSION
from memrepo.core.memory import OWN_ACTOR, Memory, differing
from memrepo.core.messages import counted
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.policies.entities import link_step
from memrepo.policies.gists import (
    Group,
    Score,
    candidates,
    compressed,
    groups,
    summary_id,
    summary_of,
)
from memrepo.policies.hotcache import compose_hot
from memrepo.policies.importance import score_of
from memrepo.policies.rules import CompressionRules
from memrepo.policies.upkeep import upkeep
from memrepo.store.ledger import ledger_of
from memrepo.text.sentences import chunks

PACED = ("pruned", "archived", "summarised")
"""Counts in a manifest that use up the limit on removals at one moment."""


def add_upkeep(work: Work, plan: RunPlan, found: Decisions) -> None:
    """Add maintenance steps, computed on the state that the previous steps lead to."""
    found.steps += _lifecycle(work, plan, found)
    state = state_after(plan.state, found.steps)
    for part in (_contradictions, _summaries, _links, _chunk_files):  # each on what is there then
        more = part(work, plan, found, state)
        state = state_after(state, more)
        found.steps += more


def _lifecycle(work: Work, plan: RunPlan, found: Decisions) -> tuple[Step, ...]:
    """Return the steps due to age and use. Set how many more memories may leave recall."""
    accesses, state = ledger_of(work.store).accesses(), state_after(plan.state, found.steps)
    back = _drop_lost_links(state)
    state = state_after(state, back)
    counts = _counts_at(work, plan)
    due = upkeep(
        state,
        accesses,
        plan.now,
        work.config.rules,
        spent=sum(int(c.get(name, 0)) for c in counts for name in PACED),
        allowed=lambda step: not is_decided(traits_of(state.memories, step.changes), plan.decided),
    )
    # Compress at most once per moment, because the groups depend on all remaining memories.
    found.room = 0 if any(c.get("summaries") for c in counts) else due.room
    found.problems += due.problems
    return (*back, *due.steps)


def _drop_lost_links(state: State) -> tuple[Step, ...]:
    """Return a step that removes links to memories whose files were deleted by hand.

    While a file is unreadable, nothing is removed: it may be the target.
    """
    changes: list[Change] = []
    if state.problems:
        return ()
    for memory in state.every:
        links = memory.fields.get("links", ())
        left = tuple(link for link in links if link.target in state.memories)
        if len(left) < len(links):
            changes.append(Update(id=memory.id, fields={"links": left or None}))
    what, reason = "Remove links to deleted memories", "their files were deleted by hand"
    return (Step(op="link", what=what, reason=reason, changes=tuple(changes)),) if changes else ()


def first_page_steps(work: Work, state: State) -> tuple[Step, ...]:
    """Return the steps that update the first page to match a state."""
    rules, accesses = work.config.rules, ledger_of(work.store).accesses()
    return compose_hot(state.active, accesses, work.call.now, rules.hot, rules.decay).steps


def _counts_at(work: Work, plan: RunPlan) -> list[dict[str, Any]]:
    """Return the counts of earlier runs dated at the same time as this one."""
    runs = [m.run for m in plan.manifests if m.now == format_time(plan.now)]
    paths = map(work.tree.layout.manifest, runs)
    return [json.loads(plan.state.files[path]).get("counts", {}) for path in paths]


# -- consolidation: contradictions, summaries, links and chunks -----------------------------------


def _contradictions(work: Work, plan: RunPlan, found: Decisions, state: State) -> tuple[Step, ...]:
    """Compare changed memories that may contradict others. Leave uncertain pairs to a person."""
    known = Known(state, plan.now)
    settle_changed(plan, known, _changed(work, plan, state))
    found.quarantined += tuple({"id": id_, "reason": why} for id_, why in known.faults.items())
    return tuple(known.steps)


def _changed(work: Work, plan: RunPlan, state: State) -> frozenset[str]:
    """Return the active memories changed since the last run was computed, or all of them."""
    layout, files = work.tree.layout, work.tree.files
    bases = [m.base for m in plan.manifests if m.base and m.logic == LOGIC_VERSION]
    written = files.changed_since(bases[-1]) if bases else None
    records = (layout.area("corrections"), layout.area("runs"))
    if written is None or layout.config in written:
        return frozenset(m.id for m in state.active)
    if any(not blob and path.startswith(records) for path, blob in written.items()):
        return frozenset(m.id for m in state.active)  # a decision about some pair was deleted
    cases = corrections_of(state)
    doubted = (cases.cases[id_] for id_, path in cases.paths.items() if path in written)
    changed = differing(state.memories, plan.state.memories)
    changed |= {memory.id for memory in state.active if memory.path in written}
    return frozenset(changed.union(*(case.memories for case in doubted)))


def _summaries(work: Work, plan: RunPlan, found: Decisions, state: State) -> tuple[Step, ...]:
    """Combine old memories of low importance into summaries."""
    config = work.config
    lexicon = config.lexicon  # the property builds a new object on each access
    rules = config.compression
    return compress_old(plan, found, state, rules, lambda m: score_of(m, lexicon))


def compress_old(
    plan: RunPlan,
    found: Decisions,
    state: State,
    rules: CompressionRules,
    score: Score,
) -> tuple[Step, ...]:
    """Return steps that compress the oldest groups, as far as the limit on removals permits.

    If a person reverted a summary, its memories are
    not compressed again. What this run made is not compressed by it.
    """
    if found.room <= 0:
        return ()
    undone = (one.partition(" compressed_into ") for one in plan.decided)
    spared = frozenset(id_ for id_, key, _ in undone if key)
    spared |= state.memories.keys() - plan.state.memories.keys()
    steps, room = list[Step](), found.room
    for group in groups(candidates(state, rules, score, spared)):
        if summary_id(group) in state.memories:
            continue
        room -= len(group.memories)
        if room < 0:
            break
        summary = summary_of(group.topic, group.memories)
        why = _why_compressed(rules, group)
        step = compressed(group, summary, state.layout, plan.now, by=OWN_ACTOR, why=why)
        steps.append(step)
    return tuple(steps)


def _why_compressed(rules: CompressionRules, group: Group) -> str:
    """Return why a group is compressed, without the topic, because that is memory text."""
    return (
        f"more than {rules.trigger - 1} memories are active; {len(group.memories)} of importance"
        f" below {rules.below:g}, older than the {rules.keep} newest, "
        + ("share a topic" if group.topic else "are near in time")
    )


def _links(work: Work, plan: RunPlan, found: Decisions, state: State) -> tuple[Step, ...]:
    """Link claims that mention the same names, in one commit."""
    del work, found
    step = link_step(state.active, plan.decided)
    return (step,) if step else ()


def _chunk_files(work: Work, plan: RunPlan, found: Decisions, state: State) -> tuple[Step, ...]:
    """Write the chunks of long memories as files, and remove outdated chunk files.

    The files are for other programs that index them. Search does not need them.
    """
    del plan, found
    config = work.config
    there = {m.id: m for m in state.memories.values() if m.type == "chunk"}
    wanted: dict[str, Memory] = {}
    if config.chunking.materialise:
        texts = [m for m in state.active if m.type != "chunk"]
        wanted = {c.id: c for m in texts for c in _chunks_of(m, state.layout)}
    new = [wanted[id_] for id_ in sorted(wanted.keys() - there.keys())]
    old = sorted(there.keys() - wanted.keys())
    if not new and not old:
        return ()
    step = Step(
        op="view",
        what=f"Write {counted(len(wanted), 'chunk', 'chunks')} of long memories",
        reason="`chunking.materialise` is on: chunks are files",
        changes=(*(Remove(id=id_) for id_ in old), *(Create(memory=m) for m in new)),
    )
    return (step,)


def _chunks_of(memory: Memory, layout: Layout) -> Iterator[Memory]:
    """Yield a memory's chunks, each as a separate memory; none if there is only one."""
    found, created = chunks(memory.body), memory.created
    for chunk in found if len(found) > 1 else ():
        id_ = f"mem-{digest(['chunk', memory.id, chunk.index, chunk.text])[:16]}"
        fields = {
            "id": id_,
            "type": "chunk",
            "scope": memory.fields.get("scope"),
            "created": created,
            "parent": memory.id,
            "chunk": chunk.index,
        }
        path = layout.memory(
            id_=id_,
            type_="chunk",
            text=f"{memory.id}-chunk-{chunk.index}",
            captured=format_time(created) if created else "",
        )
        fields = {key: value for key, value in fields.items() if value is not None}
        yield Memory.of(path, fields, body=chunk.text)
