"""`memrepo why`: show a memory's evidence and decisions, or its commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from memrepo.actions.past.log import (
    Commit,
    Decision,
    changing,
    decisions_of,
    fields_of,
    find_past,
    find_present,
)
from memrepo.actions.recall.lookup import field_as_json, heading, work_at
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recall import Later, index_of, later_than
from memrepo.actions.work import At, VerbResult, Work, option
from memrepo.core.manifest import Manifest
from memrepo.core.memory import BY_NAME, FIELDS, Memory, having
from memrepo.core.messages import PREFIX, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.standing import after, before
from memrepo.store import history
from memrepo.store.history import MemoryVersion

MAX_TITLE = 100
Show = Literal["evidence", "history"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo why`."""

    id: Annotated[
        str, option("the memory; its history even if it is no longer in the tree", metavar="ID")
    ]
    show: Annotated[
        Show,
        option("its sources (evidence), or its commits and what each changed (history)", "--show"),
    ] = "evidence"
    n: Annotated[int, option("at most N commits of its history", "-n", metavar="N", ge=1)] = 0
    at: At = ""


class RunJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """A run's judgement of the memory, and the commit in which a person accepted the run."""

    run: str
    mode: str
    judge: str
    accepted: str
    disposition: str
    reason: str


class Relation(msgspec.Struct, frozen=True, kw_only=True, rename={"is_": "is"}):
    """Another memory and what it is to this one. Only its id is known if that memory is gone."""

    is_: Literal["replaced", "replaced by", "repeats", "repeated by", "contradicts"]
    id: str
    gone: bool = False
    status: str = ""
    text: str = ""
    superseded_at: str | None = None


class CorrectionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file under corrections/ that mentions the memory, with the file's first words."""

    path: str
    title: str


class Result(VerbResult, frozen=True, kw_only=True):
    """The evidence, decisions and relations of one memory."""

    id: str
    path: str
    type: str
    status: str
    standing: str
    text: str
    commit: str
    evidence: tuple[Quote, ...]
    """The number of places where the statement was found, if `evidence` quotes only some of
    them."""
    decisions: tuple[Decision, ...]
    judgements: tuple[RunJudgement, ...]
    relations: tuple[Relation, ...]
    """The memories that it replaced and that replaced it, nearest first; then the others."""
    later: Later | None
    """The latest statement about the same that is newer, as search shows it."""
    retired: tuple[Mapping[str, Any], ...]
    corrections: tuple[CorrectionFile, ...]
    heading: tuple[str, ...]
    """The time of the answer, if it is not the current time."""


BODY = "text"
Kind = Literal["created", "restored", "changed", "moved", "removed", "unreadable"]


class MemoryCommit(Commit, frozen=True, kw_only=True):
    """A commit that changed the memory, and the changes it made."""

    change: Kind
    path: str
    moved_from: str
    fields: tuple[str, ...]
    """The names of the changed fields (`text` is the body), or `everything`."""
    changes: Mapping[str, tuple[Any, Any]]
    """The values before and after, by field."""
    cut: bool
    """Whether the history of a shallow clone ends here, so the change may be older."""


class History(VerbResult, frozen=True, kw_only=True):
    """The commits that changed the memory, newest first."""

    id: str
    entries: tuple[MemoryCommit, ...]
    heading: tuple[str, ...]
    """The time of the answer, if it is not the current time."""
    zone: str
    """The time zone in which times are shown."""


def do(work: Work, request: Request) -> Result | History:
    """Explain why a memory exists, or list its commits."""
    if request.show == "history":
        return _history(work, request)
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id)
    grep = f"--grep=^{PREFIX}Memory: {memory.id}$"
    named = list(history.entries(there.store.repo, grep, there.tree.commit))
    runs, problems = there.tree.manifests
    index = index_of(there, past=bool(request.at), passages=True, tick=work.call.tick)
    return Result(
        id=memory.id,
        path=memory.path,
        type=memory.type,
        status=memory.status,
        standing=memory.standing,
        text=memory.body,
        commit=there.tree.commit,
        evidence=evidence(there, memory),
        decisions=tuple(decisions_of(there, named)),
        judgements=tuple(_judgements(there, memory, runs)),
        relations=tuple(_relations(state, memory)),
        later=later_than(there, index, memory, work.call.now),
        retired=tuple(field_as_json("retired", memory) or ()),
        corrections=tuple(_corrections(there, memory)),
        heading=tuple(heading(there, request.at)),
        notices=tuple(problems),
    )


def _judgements(work: Work, memory: Memory, runs: Sequence[Manifest]) -> Iterator[RunJudgement]:
    """Yield each run's judgement of the memory, oldest first, with the commit that accepted it."""
    judged = [r for r in runs if r.judgements.get(memory.id)]
    merges = history.merges_of(work.store.repo, work.tree.commit, (r.run for r in judged))
    for record in judged:
        for entry in record.judgements[memory.id]:
            yield RunJudgement(
                run=record.run,
                mode=record.mode,
                judge=record.judge,
                accepted=merges[record.run].commit if record.run in merges else "",
                disposition=_clean(entry.disposition),
                reason=_clean(entry.reason),
            )


def _clean(value: object) -> str:
    """Return a judge's text with secrets removed, because a manifest can contain any text."""
    return without_secrets(str(value or ""))


def _relations(state: State, memory: Memory) -> Iterator[Relation]:
    """Yield the memories that a memory replaced, repeats or contradicts, in either direction."""
    for other in before(memory, state.memories):
        yield _relation("replaced", other)
    for other in after(memory, state.memories):
        yield _relation("replaced by", other)
    if original := memory.duplicate_of:
        yield _relation("repeats", state.memories.get(original) or Memory.of("", {"id": original}))
    twins = [m for m in having(state.every, ("duplicate_of",)) if m.duplicate_of == memory.id]
    for twin in sorted(twins, key=lambda m: m.path):
        yield _relation("repeated by", twin)
    ids = {link.target for link in memory.links if link.type == "contradicts"}
    ids |= {
        m.id
        for m in having(state.every, ("links",))
        if any(k.target == memory.id and k.type == "contradicts" for k in m.links)
    }
    for id_ in sorted(ids & state.memories.keys()):
        yield _relation("contradicts", state.memories[id_])


def _relation(is_: Any, other: Memory) -> Relation:
    if not other.path:
        return Relation(is_=is_, id=other.id, gone=True)
    return Relation(
        is_=is_,
        id=other.id,
        status=other.status,
        text=other.body,
        superseded_at=field_as_json("superseded_at", other),
    )


def _corrections(work: Work, memory: Memory) -> Iterator[CorrectionFile]:
    """Yield the files under corrections/ that mention a memory, whatever their format."""
    area = work.tree.layout.area("corrections")
    for path in sorted(p for p in work.tree.blobs if p.startswith(area)):
        data = work.tree.files[path]
        if memory.id.encode() in data:
            from memrepo.read.markdown import parse_document

            words = (block.text for block in parse_document(path, data).blocks if block.text)
            yield CorrectionFile(path=path, title=fold(next(words, ""), MAX_TITLE))


# -- history -------------------------------------------------------------------------------------


def _history(work: Work, request: Request) -> History:
    """List the commits that changed a memory, newest first, even if the memory was removed."""
    there = work_at(work, request.at)
    past = find_past(there, there.tree.state(), request.id)
    order = {v.entry.commit: n for n, v in enumerate(past.versions)}
    entries = []
    for version, previous in changing(past.versions):
        older = past.versions[order[version.entry.commit] + 1 :]
        again = any(v.memory is not None for v in older)
        entries.append(_change(version, previous, again=again))
    return History(
        id=past.id,
        entries=tuple(entries)[: request.n or None],
        heading=tuple(heading(there, request.at)),
        zone=there.config.zone.key,
    )


def _change(
    version: MemoryVersion, previous: Sequence[MemoryVersion], *, again: bool
) -> MemoryCommit:
    """Return the changes that a commit made. A merge is compared with its most similar parent."""
    pairs = [(b.memory, _differing(b.memory, version.memory)) for b in previous] or [
        (None, _differing(None, version.memory))
    ]
    old, changed = min(pairs, key=lambda pair: (pair[0] is None, len(pair[1])))
    kind: Kind
    if version.unreadable:
        kind = "unreadable"
    elif version.memory is None:
        kind = "removed"
    elif old is None:
        kind = "restored" if again else "created"
    else:
        kind = "moved" if not changed else "changed"
    new = version.memory or old
    moved = old is not None and version.memory is not None and old.path != version.memory.path
    return MemoryCommit(
        **fields_of(version.entry),
        change=kind,
        path=version.unreadable or (new.path if new else ""),
        moved_from=old.path if moved and old else "",
        fields=tuple(changed) if kind in ("changed", "moved") else ("everything",),
        changes=changed,
        cut=version.cut,
    )


def _differing(old: Memory | None, new: Memory | None) -> dict[str, tuple[object, object]]:
    """Return (before, after) for each field that differs between two versions, and for `text`."""
    if old is None or new is None:
        return {}
    names = [f.name for f in FIELDS if old.fields.get(f.name) != new.fields.get(f.name)]
    found = {name: (value_of(name, old), value_of(name, new)) for name in names}
    return {**found, **({BODY: (old.body, new.body)} if old.body != new.body else {})}


def value_of(name: str, memory: Memory) -> Any:
    """Return a field's value, or the field's default if it is absent."""
    default = BY_NAME[name].default
    return field_as_json(name, memory) if name in memory.fields else default or None
