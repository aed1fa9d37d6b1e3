"""The consolidation stage of a run: contradictions, summaries and links among what stands.

It comes after what time and use ask for and before the views. A reconciliation has none: that is
reviewed as a whole. Equal states, moments and answers give equal steps, and on the state that they
lead to there are none.

Compression is bounded by the pace of what leaves recall, and counted by the interlock. What a
person took back, a whole summary or one memory of it, is not compressed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from memrepo import __version__
from memrepo.actions.run.judge_choice import pair_judge
from memrepo.actions.run.lifecycle import played
from memrepo.actions.run.offer import Clerk, Offered, unsound
from memrepo.actions.work import Work
from memrepo.core.changes import Create, Remove, Step
from memrepo.core.ids import digest
from memrepo.core.judge import Judge, Summary, SummaryRequest, Usage
from memrepo.core.layout import Layout
from memrepo.core.manifest import LOGIC_VERSION, Recorded, read_manifest
from memrepo.core.memory import OWN_ACTOR, Memory, differing
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.keys import links_of
from memrepo.policies import gists as worded_summaries
from memrepo.policies.archive import (
    CompressionRules,
    Group,
    Score,
    candidates,
    compressed,
    groups,
    summary_id,
)
from memrepo.policies.entities import LONGEST, link_step
from memrepo.policies.gists import summary_of
from memrepo.policies.importance import score_of
from memrepo.purify.contradictions import among
from memrepo.purify.decisions import Statements
from memrepo.store.tree import file_at
from memrepo.text.sentences import ChunkRules, chunks

MOST = 20
"""Summaries that one run asks a judge for; the others are worded offline."""
_PRINT = "compress:"


class Pressing(msgspec.Struct, frozen=True, kw_only=True):
    """What decides on compression beside the state.

    Without a judge summaries are worded offline. `never` holds the fingerprints of what a person
    took back; `room` bounds how many memories may leave recall in this run.
    """

    rules: CompressionRules
    score: Score
    now: datetime
    judge: Judge | None
    never: Collection[str]
    room: int


def compression(state: State, how: Pressing) -> Offered:
    """Return the commits that compress the oldest groups which there is room for."""
    if how.room <= 0:
        return Offered()
    found = candidates(state, how.rules, how.score, _taken_back(how.never))
    before = how.judge.usage if how.judge else Usage()
    clerk = Clerk(name="summary", rule="summary-offline", what="a summary was made without a model")
    steps = tuple(
        compressed(
            group,
            _worded(group, how.judge, clerk, how.now),
            state.layout,
            how.now,
            by=OWN_ACTOR,
            why=_why(how.rules, group),
        )
        for group in _fitting(groups(found), state, how.room)
    )
    return Offered(
        steps=steps,
        problems=tuple(clerk.problems),
        failures=tuple(clerk.failures),
        usage=how.judge.usage.since(before) if how.judge else Usage(),
    )


def _taken_back(never: Collection[str]) -> frozenset[str]:
    """Return the ids of all memories of compressions that a person took back."""
    prints = (p.removeprefix(_PRINT) for p in never if p.startswith(_PRINT))
    return frozenset(id_ for ids in prints for id_ in ids.split("+"))


def _fitting(ranked: Sequence[Group], state: State, room: int) -> Iterator[Group]:
    """Yield the first groups that leave the pace; one that was compressed before waits for none."""
    for group in ranked:
        if summary_id(group) in state.memories:
            continue
        room -= len(group.memories)
        if room < 0:
            return
        yield group


def _worded(group: Group, judge: Judge | None, clerk: Clerk, now: datetime) -> Summary:
    topic, memories = group.topic, group.memories
    said = None
    if judge is not None and clerk.asked < MOST:
        said = clerk.word(
            memories[0].path,
            lambda fault: judge.summarise(
                SummaryRequest(topic=topic, memories=memories, fault=fault)
            ),
            lambda given: _fault(given, group, judge, now),
        )
    return said or summary_of(topic, memories)


def _fault(said: Summary, group: Group, judge: Judge, now: datetime) -> str:
    """Return what is wrong with a summary of memories, as a judge is told it."""
    if said == summary_of(group.topic, group.memories):
        return ""
    facts, entities = len(said.facts), len(said.entities)
    if not 0 < facts <= worded_summaries.FACTS:
        return f"facts: {facts}, expected 1 to {worded_summaries.FACTS}"
    if entities > worded_summaries.ENTITIES:
        return f"entities: {entities}, expected at most {worded_summaries.ENTITIES}"
    fields = [("title", said.title), ("text", said.text)]
    fields += [("facts", fact) for fact in said.facts]
    fields += [("entities", name) for name in said.entities]
    bounds = {
        "title": worded_summaries.TITLE,
        "text": worded_summaries.SUMMARY_LENGTH,
        "facts": worded_summaries.FACT,
        "entities": LONGEST,
    }
    return unsound(fields, bounds, group.memories, judge, now)


def _why(rules: CompressionRules, group: Group) -> str:
    """Say why a group is compressed; a topic is memory text, and stays out."""
    return (
        f"more than {rules.trigger - 1} memories are active; {len(group.memories)} of importance"
        f" below {rules.below:g}, older than the {rules.keep} newest, "
        + ("share a topic" if group.topic else "are near in time")
    )


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What every part is given beside the state.

    `judge` is None where no model is to be asked: a dry run, or one whose judge gave up on what is
    new. `never` holds the fingerprints of what a person took back or refused, `compared` the prints
    of pairs of memories that a model let stand before; `room` bounds how many memories may leave
    recall for a summary. `before` is what the there's commit holds, `manifests` those of its runs.
    """

    work: Work
    now: datetime
    judge: Judge | None
    never: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    room: int = 0
    before: State
    manifests: Sequence[Recorded] = ()
    statements: Statements = msgspec.field(default_factory=Statements)
    """The words of what stands, which earlier stages of the run asked for."""


Part = Callable[[State, Setting], Offered]


def contradictions(state: State, setting: Setting) -> Offered:
    """Look at pairs of memories that may contradict each other; unsure ones wait for a person."""
    rules = setting.work.config.contradictions
    if setting.judge is None or not rules.enabled:
        return Offered()
    judge = pair_judge(setting.work, setting.judge)
    before = judge.usage
    comparer = comparer_of(judge)
    changed = _changed(state, setting, comparer)
    found = among(
        state,
        judge,
        setting.now,
        setting.never,
        setting.compared,
        changed,
        setting.statements,
        rules,
    )
    why = found.asked.stopped
    problems = (
        (
            Problem(
                path=setting.work.tree.layout.area("corrections"),
                rule="pairs-not-compared",
                severity="warning",
                fix="nothing: the next run compares them",
                message=f"pairs of memories that may contradict each other were left: {why}",
            ),
        )
        if why
        else ()
    )
    return Offered(
        steps=found.steps,
        problems=problems,
        usage=judge.usage.since(before),
        failures=tuple(found.asked.failures),
        compared=found.harmless,
        comparer=comparer if found.whole else "",
    )


def comparer_of(judge: Judge) -> str:
    """Return the print of what decides about a pair beside its two memories."""
    return digest([judge.name, judge.prompt_hash, __version__, LOGIC_VERSION])[:16]


def _changed(state: State, setting: Setting, comparer: str) -> frozenset[str] | None:
    """Return the memories that changed since every pair was compared; None means all."""
    layout = setting.work.tree.layout
    commit, written, left = _written(setting, comparer)
    if written is None or layout.config in written:
        return None
    gone = {path for path, blob in written.items() if not blob}
    runs = (path for path in sorted(gone) if path.startswith(layout.area("runs")))
    if any(path.startswith(layout.area("corrections")) for path in gone) or any(
        _spoke_of_pairs(setting.work, commit, path) for path in runs
    ):
        return None  # what somebody said of a pair is taken back, and it does not say of which
    cases = state.corrections
    doubted = (cases.cases[id_] for id_, path in cases.paths.items() if path in written)
    apart = differing(state.memories, setting.before.memories)
    return frozenset(
        (
            *left,
            *(id_ for case in doubted for id_ in case.memories),
            *(m.id for m in state.active if m.path in written or m.id in apart),
        )
    )


def _spoke_of_pairs(work: Work, commit: str, path: str) -> bool:
    """Tell whether the manifest of a run that is gone by now kept pairs from being looked at."""
    data = file_at(work.store.repo, commit, path)
    found = read_manifest(path, data) if data is not None else None
    return not isinstance(found, Recorded) or bool(found.compared or found.refused or found.offered)


def _written(
    setting: Setting, comparer: str
) -> tuple[str, Mapping[str, str] | None, Sequence[str]]:
    """Return up to which commit every pair was compared, what was written since, and what was left.

    Where this machine does not know of a commit that was compared, it is the base of a run: that
    compared its own work, too, but for what it did last, and so its work is looked at once more.
    """
    files = setting.work.tree.files
    upto = setting.work.store.trees.catalogue.compared.get(comparer)
    if upto is not None and (written := files.changed_since(upto.commit)) is not None:
        return upto.commit, written, upto.left
    whole = [m.base for m in setting.manifests if m.comparer == comparer and m.base]
    return (whole[-1], files.changed_since(whole[-1]), ()) if whole else ("", None, ())


def summaries(state: State, setting: Setting) -> Offered:
    """Put old memories of low importance together."""
    config = setting.work.config
    lexicon = config.lexicon  # made anew whenever it is asked for
    how = Pressing(
        rules=config.compression,
        now=setting.now,
        judge=setting.judge,
        never=setting.never,
        room=setting.room,
        score=lambda m: score_of(m, lexicon),
    )
    return compression(state, how)


def links(state: State, setting: Setting) -> Offered:
    """Link claims that mention the same names, in one commit: those that are left."""
    config = setting.work.config
    rules = links_of(config.get)
    if not rules.expand:
        return Offered()
    aliases = config.get("entities.aliases")
    step = link_step(state.active, aliases, rules, setting.never)
    return Offered(steps=(step,) if step else ())


def chunk_files(state: State, setting: Setting) -> Offered:
    """Write the chunks of long memories as files, and remove those of memories that changed.

    Search finds chunks without them: they are for other programs that index the files. Each names
    its parent, which recall hands over.
    """
    config = setting.work.config
    there = {m.id: m for m in state.memories.values() if m.type == "chunk"}
    wanted: dict[str, Memory] = {}
    if config.get("chunking.materialise"):
        texts = [m for m in state.active if m.type != "chunk"]
        wanted = {c.id: c for m in texts for c in _chunks_of(m, state.layout, config.chunking)}
    new = [wanted[id_] for id_ in sorted(wanted.keys() - there.keys())]
    old = sorted(there.keys() - wanted.keys())
    if not new and not old:
        return Offered()
    step = Step(
        op="view",
        what=f"Write {counted(len(wanted), 'chunk', 'chunks')} of long memories",
        reason="`chunking.materialise` is on: chunks are files",
        changes=(*(Remove(id=id_) for id_ in old), *(Create(memory=m) for m in new)),
    )
    return Offered(steps=(step,))


def _chunks_of(memory: Memory, layout: Layout, rules: ChunkRules) -> Iterator[Memory]:
    """Yield the chunks of a memory that has several, each as a memory of its own."""
    found, created = chunks(memory.body, rules), memory.time("created")
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
        yield Memory(path=path, fields=fields, body=chunk.text)


PARTS: tuple[Part, ...] = (contradictions, summaries, links, chunk_files)
"""What consolidation consists of, in order: each part sees what the one before it left."""


def consolidated(state: State, setting: Setting) -> Offered:
    """Return what all parts offer on a state."""
    offered = Offered()
    for part in PARTS:
        found = part(state, setting)
        state = played(state, found.steps)
        offered += found
    return offered
