"""Maintenance of existing memories: tiers, archive, first page, summaries, links.

A reconciliation skips all of it: its review is about content, and ageing follows from rules. Equal
states, times and answers give equal steps. Applied to their own result, they give none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from memrepo.actions.run.decide import Decisions
from memrepo.actions.run.gather import RunPlan
from memrepo.actions.work import Work
from memrepo.core.ids import digest
from memrepo.core.layout import Layout
from memrepo.core.memory import OWN_ACTOR, Memory
from memrepo.core.messages import counted
from memrepo.core.state import (
    Change,
    Create,
    Remove,
    State,
    Step,
    Update,
    apply_steps,
    is_decided,
    traits_of,
)
from memrepo.core.times import format_time
from memrepo.policies.gists import (
    Group,
    candidates,
    compressed,
    groups,
    summary_id,
    summary_of,
)
from memrepo.policies.hotcache import compose_hot
from memrepo.policies.importance import score_of
from memrepo.policies.links import link_step
from memrepo.policies.rules import CompressionRules
from memrepo.policies.upkeep import upkeep
from memrepo.store.ledger import Ledger
from memrepo.text.sentences import chunks

PACED = ("pruned", "archived", "summarised")
"""Counts in a manifest that use up the limit on removals at one moment."""


def add_upkeep(work: Work, plan: RunPlan, found: Decisions) -> None:
    """Add maintenance steps, each computed on the state that the previous steps lead to."""
    state = apply_steps(plan.state, found.steps)
    lost = _drop_lost_links(state)
    state = apply_steps(state, lost)
    earlier = [m.counts for m in plan.manifests if m.now == format_time(plan.now)]
    due = upkeep(
        state,
        Ledger(work.store).accesses(),
        plan.now,
        work.config.rules,
        spent=sum(counts.get(name, 0) for counts in earlier for name in PACED),
        allowed=lambda step: not is_decided(traits_of(state.memories, step.changes), plan.decided),
    )
    found.problems += due.problems
    found.steps += (*lost, *due.steps)
    # Compress at most once per moment, because the groups depend on all remaining memories.
    room = 0 if any(counts.get("summaries") for counts in earlier) else due.room
    after = due.state
    for part in (partial(_summaries, room), _links, _chunk_files):
        more = part(work, plan, after)
        after = apply_steps(after, more)
        found.steps += more


def _drop_lost_links(state: State) -> tuple[Step, ...]:
    """Return a step that removes links to memories whose files were deleted by hand.

    While a file is unreadable, nothing is removed: it may be the target.
    """
    changes: list[Change] = []
    if state.problems:
        return ()
    for memory in state.every:
        links = memory.links
        left = tuple(link for link in links if link.target in state.memories)
        if len(left) < len(links):
            changes.append(Update(id=memory.id, fields={"links": left or None}))
    what, reason = "Remove links to deleted memories", "their files were deleted by hand"
    return (Step(op="link", what=what, reason=reason, changes=tuple(changes)),) if changes else ()


def first_page_steps(work: Work, state: State) -> tuple[Step, ...]:
    """Return the steps that update the first page to match a state."""
    rules, accesses = work.config.rules, Ledger(work.store).accesses()
    return compose_hot(state.active, accesses, work.call.now, rules.hot, rules.decay).steps


# -- consolidation: summaries, links and chunks ----------------------------------------------------


def _summaries(room: int, work: Work, plan: RunPlan, state: State) -> tuple[Step, ...]:
    """Return steps that combine the oldest groups of memories of low importance into summaries.

    `room` is how many memories may leave recall. If a person reverted a summary, its memories are
    not compressed again. What this run made is not compressed by it.
    """
    if room <= 0:
        return ()
    rules, lexicon = work.config.compression, work.config.lexicon
    undone = (one.partition(" compressed_into ") for one in plan.decided)
    spared = frozenset(id_ for id_, key, _ in undone if key)
    spared |= state.memories.keys() - plan.state.memories.keys()
    steps = list[Step]()
    for group in groups(candidates(state, rules, lambda m: score_of(m, lexicon), spared)):
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


def _links(work: Work, plan: RunPlan, state: State) -> tuple[Step, ...]:
    """Link claims that mention the same names, in one commit."""

    def step() -> Step | None:
        return link_step(state.active, plan.decided)

    areas = [state.layout.area(name).rstrip("/") for name in ("memories", "tombstones")]
    if state is plan.state and work.answer("linked", bool, lambda: step() is None, of=areas):
        return ()
    return (found,) if (found := step()) else ()


def _chunk_files(work: Work, _: RunPlan, state: State) -> tuple[Step, ...]:
    """Write the chunks of long memories as files, and remove outdated chunk files.

    The files are for other programs that index them. Search does not need them.
    """
    there = {m.id: m for m in state.memories.values() if m.type == "chunk"}
    wanted: dict[str, Memory] = {}
    if work.config.chunking.materialise:
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
