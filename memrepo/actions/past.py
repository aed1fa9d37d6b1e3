"""`memrepo log` and `memrepo why`: history in terms of memories, and the evidence of one memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec

from memrepo.actions.recall.lookup import (
    Ambiguous,
    NoSuchMemory,
    field_as_json,
    find,
    heading,
    work_at,
)
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recall import Later, Recall, index_of
from memrepo.actions.work import At, VerbResult, Work, option
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.manifest import Manifest
from memrepo.core.memory import Memory, having
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.state import OPS, State
from memrepo.policies.standing import after, before
from memrepo.store import history
from memrepo.store.history import DIGITS, LogEntry, MemoryVersion, ids_in_history, trace


class LogRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo log`."""

    run: Annotated[str, option("every decision of one run", "--run", metavar="RUN")] = ""
    op: Annotated[
        str,
        option("only this operation, in the full history", "--op", metavar="OP", choices=OPS),
    ] = ""
    memory: Annotated[
        str,
        option(
            "every operation on one memory, even if it is no longer in the tree",
            "--memory",
            metavar="ID",
        ),
    ] = ""
    n: Annotated[int, option("at most N lines (30)", "-n", metavar="N", ge=1)] = 30


class LogResult(VerbResult, frozen=True, kw_only=True):
    """The listed commits, newest first. The commits of one run are in chain order."""

    entries: tuple[Commit, ...]
    zone: str
    """The time zone in which times are shown."""


def log(work: Work, request: LogRequest) -> LogResult:
    """List commits: runs and ingests by default, or individual decisions on request."""
    wanted = _wanted(work, request)
    found = islice(filter(wanted, _entries(work, request)), request.n)
    return LogResult(
        entries=tuple(Commit(**fields_of(entry)) for entry in found), zone=work.config.zone.key
    )


def detailed(request: LogRequest) -> bool:
    """Return whether individual decisions are requested, which are shown with their reasons."""
    return bool(request.run or request.memory or request.op)


def _entries(work: Work, request: LogRequest) -> Iterable[history.LogEntry]:
    """Return the log entries to which the filters are applied."""
    repo, head = work.store.repo, work.tree.commit
    if request.run:
        # In chain order, because newest first would hide the order of decisions.
        return history.chain_of(repo, landing_of(work, request.run).commit)
    if detailed(request):
        return history.entries(repo, head)
    # The id of an import has a third part, and its only commit has no merge.
    others = ("--invert-grep", f"--grep=^{PREFIX}Run: [^-]*-[^-]*$", f"--max-count={request.n}")
    found = [*work.landed(), *history.entries(repo, *others, head)]
    return sorted(found, key=lambda entry: entry.when, reverse=True)


def _wanted(work: Work, request: LogRequest) -> Callable[[history.LogEntry], bool]:
    """Return a predicate that accepts a commit if it passes all given filters."""
    past = find_past(work, work.tree.state(), request.memory) if request.memory else None
    touched = {v.entry.commit for v in changing(past.versions)} if past else set()

    def wanted(entry: history.LogEntry) -> bool:
        concerned = (
            past is None or entry.commit in touched or past.id in entry.trailers.get("Memory", ())
        )
        return concerned and (not request.op or entry.op == request.op)

    return wanted


_DIGITS = regex(r"(?:mem-)?([0-9a-f]{1,16})")
_SLUG = regex(rf"(?:.*[:/])?[^:/]*-([0-9a-f]{{{DIGITS}}})(?:\.md)?")


class NoSuchRun(MemrepoError):
    """Raised when no run with the given id landed on the branch."""

    exit_code = Exit.USAGE

    def __init__(self, run: str) -> None:
        super().__init__(f"no run is called {run!r}", fix="`memrepo log` lists them")


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as actions report it."""

    commit: str
    when: datetime
    op: str
    run: str
    subject: str
    author: str
    actor: str
    """The recorded actor of the decision, or an empty string."""
    reason: str
    memories: tuple[str, ...]
    reverts: tuple[str, ...]


class Decision(Commit, frozen=True, kw_only=True):
    """A decision recorded in a commit, and the commit that put it into effect."""

    accepted: str
    """The merge commit that landed the run. Without a run it is the commit itself."""


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's id and its versions in a commit's history, children before parents."""

    id: str
    versions: tuple[MemoryVersion, ...]


def find_past(work: Work, state: State, word: str) -> Past:
    """Return the versions of a memory, even a removed one. Raises NoSuchMemory or Ambiguous."""
    try:
        memory = find(state, word)
    except NoSuchMemory:
        gone = find_removed(work, word)
        if gone is None:
            raise
        return gone
    return past_of(work, memory.id, memory.path)


def find_present(work: Work, state: State, word: str) -> Memory:
    """Return the memory that a word identifies at the requested commit."""
    try:
        return find(state, word)
    except NoSuchMemory:
        if work.call.scope:
            raise  # history would reveal other scopes
        gone = find_removed(work, word)
        if gone is None:
            raise
    last = gone.versions[0]
    how = f"{last.entry.commit[:10]} ({last.entry.op}) removed it"
    if last.unreadable:
        how = f"{last.unreadable} cannot be read since {last.entry.commit[:10]}"
    there = (v.entry.commit for v in gone.versions if v.memory is not None and not v.unreadable)
    raise UsageError(
        f"{gone.id} is no longer in the tree: {how}",
        fix=f"`--at {next(there, '')[:10]}` shows it as it was before; "
        f"`memrepo log --memory {gone.id}` lists its commits",
    )


def past_of(work: Work, id_: str, path: str) -> Past:
    """Return the versions of a memory with a known id and path."""
    layout, repo = work.tree.layout, work.store.repo
    return Past(id=id_, versions=trace(repo, work.tree.commit, layout, id_, path))


def find_removed(work: Work, word: str) -> Past | None:
    """Return the history of a memory that was removed, or None. Raises Ambiguous."""
    layout, repo, head = work.tree.layout, work.store.repo, work.tree.commit
    slug = _SLUG.fullmatch(word)
    digits = _DIGITS.fullmatch(word)
    known: dict[str, str] = {}
    if digits:
        # The trailer finds an id even if a person renamed the file.
        grep = f"--grep=^{PREFIX}Memory: mem-{digits[1]}"
        named = (e.trailers.get("Memory", ()) for e in history.entries(repo, grep, head))
        known = {i: "" for ids in named for i in ids if i.startswith(f"mem-{digits[1]}")}
    short = (digits or slug or [""] * 2)[1]
    if len(short) >= DIGITS:
        found = ids_in_history(repo, head, layout, short)
        known.update(
            {
                id_: path
                for id_, path in found.items()
                if digits or path.rpartition("/")[2].removesuffix(".md") in word
            }
        )
    known = {id_: path for id_, path in known.items() if ID_PATTERN.fullmatch(id_)}
    if len(known) > 1:
        raise Ambiguous(word, sorted(known))
    past = next((past_of(work, id_, "") for id_ in known), None)
    # A trailer does not prove that the memory existed: anybody can write one.
    return past if past is not None and any(v.memory for v in past.versions) else None


def decisions_of(work: Work, entries: Sequence[history.LogEntry]) -> list[Decision]:
    """Return each commit's decision, and the merge that put the decision into effect."""
    merges = history.merges_of(work.store.repo, work.tree.commit, (e.run for e in entries))
    return [
        Decision(**fields_of(entry), accepted=merges.get(entry.run, entry).commit)
        for entry in entries
    ]


def landing_of(work: Work, run: str, runs: Sequence[LogEntry] | None = None) -> LogEntry:
    """Return the landing of the run with an id or unique id prefix. Raises NoSuchRun.

    `runs` are the landed runs, if the caller already has them.
    """
    runs = work.landed() if runs is None else runs
    found = [one for one in runs if one.run.startswith(run)]
    if len({one.run for one in found}) != 1:
        raise NoSuchRun(run)
    return found[0]


def fields_of(entry: history.LogEntry) -> dict[str, Any]:
    """Return the values for the fields of `Commit`, to fill a record that extends it."""
    return {
        "commit": entry.commit,
        "when": entry.when,
        "op": entry.op,
        "run": entry.run,
        "subject": entry.subject,
        "author": entry.author,
        "actor": entry.trailer("Actor"),
        "reason": entry.trailer("Reason"),
        "memories": entry.trailers.get("Memory", ()),
        "reverts": entry.trailers.get("Reverts", ()),
    }


def changing(versions: Sequence[MemoryVersion]) -> list[MemoryVersion]:
    """Return the versions that differ from all their parents."""
    by_commit = {v.entry.commit: v for v in versions}
    found = []
    for version in versions:
        olds = [by_commit[p].memory for p in version.parents] or [None]
        if version.unreadable or all(old != version.memory for old in olds):
            found.append(version)
    return found


class WhyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo why`."""

    id: Annotated[str, option("the memory", metavar="ID")]
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


class WhyResult(VerbResult, frozen=True, kw_only=True):
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
    heading: tuple[str, ...]
    """The time of the answer, if it is not the current time."""


def why(work: Work, request: WhyRequest) -> WhyResult:
    """Explain why a memory exists."""
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id)
    grep = f"--grep=^{PREFIX}Memory: {memory.id}$"
    named = list(history.entries(there.store.repo, grep, there.tree.commit))
    runs, problems = there.tree.manifests
    index = index_of(there, past=bool(request.at), passages=True, tick=work.call.tick)
    return WhyResult(
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
        later=Recall(there, work.call.now, index).later_than(memory),
        retired=tuple(field_as_json("retired", memory) or ()),
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
