"""`memrepo why`: what a memory rests on, or every commit of it, or who set what of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from memrepo.actions import result
from memrepo.actions.past.timeline import find_present, merges_of, who
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.show import plain
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.request import At, option
from memrepo.actions.work import Work
from memrepo.core.memory import SOURCE_COUNT, Memory, having
from memrepo.core.messages import PREFIX, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.standing import after, before
from memrepo.store import history
from memrepo.views.artifacts_runs import RunRecord, read_judgements, read_runs

if TYPE_CHECKING:
    from memrepo.actions.past.blame import Blame
    from memrepo.actions.past.history import History

TEXT = 100
Show = Literal["evidence", "history", "blame"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `why`."""

    id: Annotated[str, option("the memory; its history also where it left the tree", metavar="ID")]
    show: Annotated[
        Show,
        option(
            "what it rests on (evidence), its commits (history), or who set what (blame)", "--show"
        ),
    ] = "evidence"
    n: Annotated[int, option("at most N commits of its history", "-n", metavar="N", ge=1)] = 0
    at: At = ""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that names the memory, and the one by which it took effect."""

    commit: str
    op: str
    run: str
    by: str
    when: datetime
    reason: str
    accepted: str


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What was said of one candidate that became the memory."""

    candidate: str
    verdict: str
    strength: float | None
    rationale: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What one run said of the memory, and the commit that accepted it."""

    run: str
    mode: str
    judge: str
    accepted: str
    disposition: str
    reason: str
    rationale: str
    route: str
    freshness: str
    confidence: str
    verdicts: tuple[Verdict, ...]
    relations: Mapping[str, str]


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """Another memory, in short; of one that is gone only the id is known."""

    id: str
    gone: bool
    status: str
    text: str
    superseded_at: str | None


class Supersession(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory replaced and what replaced it, nearest first."""

    before: tuple[Other, ...]
    after: tuple[Other, ...]


class Duplicates(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory probably repeats (its id), and what probably repeats it."""

    of: str
    by: tuple[Other, ...]


class CorrectionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file under corrections/ that names the memory, with its first words."""

    path: str
    title: str


class Result(result.Result, frozen=True, kw_only=True):
    """Why a memory is there and is as it is."""

    id: str
    path: str
    type: str
    status: str
    standing: str
    text: str
    commit: str
    evidence: tuple[Quote, ...]
    source_count: int | UnsetType = UNSET
    """In how many places it was met, where `evidence` quotes only some."""
    decisions: tuple[Decision, ...]
    judgements: tuple[Judgement, ...]
    scores: Mapping[str, Any]
    supersession: Supersession
    duplicates: Duplicates
    contested: tuple[Other, ...]
    retired: tuple[Mapping[str, Any], ...]
    corrections: tuple[CorrectionFile, ...]
    heading: tuple[str, ...]
    """Of when the answer is, where it is not of now."""


def do(work: Work, request: Request) -> Result | History | Blame:
    """Tell why a memory is there and is as it is."""
    if request.show == "history":
        from memrepo.actions.past.history import history_of

        return history_of(work, request.id, at=request.at, most=request.n)
    if request.show == "blame":
        from memrepo.actions.past.blame import blame_of

        return blame_of(work, request.id, at=request.at)
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id, work)
    runs, problems = read_runs(there.tree.files, there.tree.layout)
    mine = (run for run in runs if memory.id in run.judgements)
    last = read_judgements(mine, there.tree.files, there.tree.layout).get(memory.id)
    return Result(
        id=memory.id,
        path=memory.path,
        type=memory.type,
        status=memory.status,
        standing=memory.standing,
        text=memory.body,
        commit=there.tree.commit,
        evidence=evidence(there, memory),
        source_count=memory.fields.get(SOURCE_COUNT, UNSET),
        decisions=tuple(_decisions(there, memory)),
        judgements=tuple(_judgements(there, memory, runs)),
        scores=last.scores if last else {},
        supersession=Supersession(
            before=tuple(_brief(other) for other in before(memory, state.memories)),
            after=tuple(_brief(other) for other in after(memory, state.memories)),
        ),
        duplicates=_duplicates(state, memory),
        contested=_contested(state, memory),
        retired=tuple(plain("retired", memory) or ()),
        corrections=tuple(_corrections(there, memory)),
        heading=tuple(heading(there, request.at)),
        notices=tuple(problems),
    )


def _decisions(work: Work, memory: Memory) -> Iterator[Decision]:
    """Yield the commits that name the memory, newest first, each with the merge it landed by."""
    grep = f"--grep=^{PREFIX}Memory: {memory.id}$"
    named = list(history.entries(work.store.repo, grep, work.tree.commit))
    merges = merges_of(work, (e.run for e in named))
    for entry in named:
        yield Decision(
            commit=entry.commit,
            op=entry.op,
            run=entry.run,
            by=who(entry),
            when=entry.when,
            reason=entry.trailer("Reason"),
            accepted=merges[entry.run].commit if entry.run in merges else entry.commit,
        )


def _judgements(work: Work, memory: Memory, runs: Sequence[RunRecord]) -> Iterator[Judgement]:
    """Yield what each run said of the memory, oldest first, and the commit that accepted it."""
    judged = [r for r in runs if r.judgements.get(memory.id)]
    merges = merges_of(work, (r.run for r in judged))
    for record in judged:
        entries = record.judgements[memory.id]
        merge = merges.get(record.run)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield Judgement(
                    run=record.run,
                    mode=record.mode,
                    judge=str(record.record.get("judge", "")),
                    accepted=merge.commit if merge else "",
                    disposition=_clean(entry.get("disposition")),
                    reason=_clean(entry.get("reason")),
                    rationale=_clean(entry.get("rationale")),
                    route=_clean(entry.get("route")),
                    freshness=_clean(entry.get("freshness")),
                    confidence=_clean(entry.get("confidence")),
                    verdicts=tuple(_verdicts(entry)),
                    relations=_relations(entry),
                )


def _verdicts(entry: Mapping[str, object]) -> Iterator[Verdict]:
    verdicts = entry.get("verdicts")
    for verdict in verdicts if isinstance(verdicts, list) else ():
        if isinstance(verdict, dict):
            strength = verdict.get("strength")
            yield Verdict(
                candidate=_clean(verdict.get("candidate")),
                verdict=_clean(verdict.get("verdict")),
                strength=strength if isinstance(strength, int | float) else None,
                rationale=_clean(verdict.get("rationale")),
            )


def _relations(entry: Mapping[str, object]) -> dict[str, str]:
    relations = entry.get("relations")
    return {str(k): _clean(v) for k, v in relations.items()} if isinstance(relations, dict) else {}


def _clean(value: object) -> str:
    """Return what a judge said, without secrets: a manifest is only as clean as its judge."""
    return without_secrets(str(value or ""))


def _brief(memory: Memory) -> Other:
    if not memory.path:
        return Other(id=memory.id, gone=True, status="", text="", superseded_at=None)
    return Other(
        id=memory.id,
        gone=False,
        status=memory.status,
        text=memory.body,
        superseded_at=plain("superseded_at", memory),
    )


def _duplicates(state: State, memory: Memory) -> Duplicates:
    """Return what it probably repeats, and what probably repeats it."""
    repeating = having(state.every, ("duplicate_of",))
    twins = [m for m in repeating if m.text("duplicate_of") == memory.id]
    return Duplicates(
        of=memory.text("duplicate_of"),
        by=tuple(_brief(m) for m in sorted(twins, key=lambda m: m.path)),
    )


def _contested(state: State, memory: Memory) -> tuple[Other, ...]:
    """Return the memories that it contradicts, or that contradict it."""
    ids = {link.target for link in memory.fields.get("links", ()) if link.type == "contradicts"}
    ids |= {
        m.id
        for m in having(state.every, ("links",))
        if any(k.target == memory.id and k.type == "contradicts" for k in m.fields.get("links", ()))
    }
    return tuple(_brief(state.memories[id_]) for id_ in sorted(ids) if id_ in state.memories)


def _corrections(work: Work, memory: Memory) -> Iterator[CorrectionFile]:
    """Yield the files under corrections/ that name the memory, whatever form they have."""
    area = work.tree.layout.area("corrections")
    for path in sorted(p for p in work.tree.blobs if p.startswith(area)):
        data = work.tree.files[path]
        if memory.id.encode() in data:
            from memrepo.read.markdown import parse_document

            words = (block.text for block in parse_document(path, data).blocks if block.text)
            yield CorrectionFile(path=path, title=fold(next(words, ""), TEXT))
