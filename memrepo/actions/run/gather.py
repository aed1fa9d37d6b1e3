"""Gather the input of a run: what people did, a commit, its sources, new units and candidates.

A memory edited by one of `human_authors` counts as a statement of a person, which no program
rewords. Edits by others are attributed to `process:unknown`. `gather` returns an `Input`, `judge`
turns it into `Answers`, `decide` into `Decisions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import prepare, retried
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.run.known import Known
from memrepo.actions.work import Work
from memrepo.config import Config, parse_config
from memrepo.core import codec
from memrepo.core.codec import changed_keys
from memrepo.core.errors import Problem
from memrepo.core.ids import digest, normal_claim, text_hash
from memrepo.core.judge import Statement
from memrepo.core.manifest import LOGIC_VERSION, Manifest, Receipt
from memrepo.core.memory import BY_NAME, CLAIM_TYPES, Memory, Stamp, of_types
from memrepo.core.messages import counted
from memrepo.core.state import (
    EMPTY,
    State,
    Step,
    Update,
    Write,
    apply_steps,
    traits,
    traits_between,
)
from memrepo.core.times import format_time
from memrepo.judge.ask import Desk
from memrepo.judge.offline import NAME as OFFLINE
from memrepo.merge.tombstones import (
    Tombstone,
    leave_out,
    path_of,
    statements,
    text_key,
    tombstone_bytes,
    tombstone_of_changes,
    tombstones_in,
)
from memrepo.policies.ageing import SKILLS, Nomination, nominated
from memrepo.policies.change import StatementIndex, compared_in
from memrepo.policies.rules import RunMode
from memrepo.read.choice import NOTHING, Candidate, ShelfChoice, candidates_of, choose, shelf_size
from memrepo.read.intake import (
    Cursor,
    Intake,
    Placed,
    Reader,
    SourceText,
    cursors,
    find_moves,
    relocate,
    take_in,
)
from memrepo.read.kinds import signs_of
from memrepo.read.notes import PlacedNote
from memrepo.read.shelf import type_of
from memrepo.read.thoughts import MAX_TEXT, Unit
from memrepo.store import history
from memrepo.store.git import Git
from memrepo.store.history import LogEntry, changes, hand_commits
from memrepo.store.run_files import Ledger
from memrepo.text.dates import DateBasis


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed for one attempt of a run: the request, the commit and its configuration."""

    # The request (run.py).
    now: datetime
    desk: Desk | None = None
    """Where a model is asked, or None if the rules judge."""
    mode: RunMode = "incremental"
    is_upgrade: bool = False
    """Whether rejected candidates are judged again and the run is always recorded."""
    asks_about_old: bool = True
    """Whether a model may be asked about existing memories. False for a dry run."""
    # The commit and its configuration (gather.py).
    config: Config = msgspec.field(default_factory=lambda: parse_config(""))
    state: State = EMPTY
    manifests: Sequence[Manifest] = ()
    problems: tuple[Problem, ...] = ()
    """Problems in the files of the commit."""
    decided: frozenset[str] = frozenset()
    """What a person reverted or discarded (`core.changes.traits`)."""
    edited: frozenset[str] = frozenset()
    """The active memories that anybody changed since the last run."""

    @property
    def judge_name(self) -> str:
        """Return the name of the judge, as recorded in the manifest."""
        return self.desk.name if self.desk is not None else OFFLINE


_BASES: Mapping[str, DateBasis] = {"unit": "unit", "heading": "heading", "file": "file"}


class Nominee(msgspec.Struct, frozen=True, kw_only=True):
    """A nominated note, with its blob and the lines of its text in the file.

    `stated_by` are the memories that already state parts of it. `rest` is the text without those
    parts.
    """

    note: Memory
    nomination: Nomination
    blob: str
    lines: tuple[int, int]
    stated_by: tuple[str, ...] = ()
    rest: str | None = None

    @property
    def text(self) -> str:
        """Return the part of the note to judge."""
        body = self.note.body.strip() if self.rest is None else self.rest
        return body[:MAX_TEXT]

    def placed(self) -> Placed:
        """Return the note as a unit in scope. A note without sources is dated by its creation."""
        note, text = self.note, self.text
        words = digest([note.path, normal_claim(text)])
        created, last = note.created, next(reversed(note.sources), None)
        day = format_time(created)[:10] if created else ""
        captured, basis = day, _BASES["file"]
        if last is not None:
            captured, basis = last.captured, _BASES.get(last.captured_from, "")
        unit = Unit(
            resource=note.path,
            kind="section",
            text=text,
            lines=self.lines,
            headings=tuple(filter(None, (note.title,))),
            captured=captured if basis else "",
            captured_from=basis,
            text_hash=text_hash(text),
            hash=f"un-{words[:16]}",
        )
        is_how_to = self.nomination.destination == SKILLS
        return Placed(
            unit=unit,
            resource=note.path,
            blob=self.blob,
            committed=day,
            retrieved=self.nomination.record,
            hint="method" if is_how_to else type_of(unit, "day log", "", signs_of(unit)),
        )


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """What a run reads: the new text of the sources, and the candidates to judge in it.

    `reader` is None if nothing is new. `known` has the memories after the steps `moved`, which
    update the paths of moved sources.
    """

    texts: Sequence[SourceText]
    intake: Intake
    known: Known
    moved: tuple[Step, ...]
    nominees: tuple[Nominee, ...]
    cursor: Mapping[str, Cursor]
    warnings: tuple[Problem, ...]
    reader: Reader | None = None
    candidates: Sequence[Candidate] = ()
    choice: ShelfChoice = NOTHING


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge answered about an input.

    `waiting` are the sources without an answer: the next run reads them again. `unusable` says why
    operations were left out. `names` are those of owner and agent. `may_arrange` is whether the
    judge may be asked to arrange the memories too.
    """

    statements: tuple[Statement, ...] = ()
    waiting: frozenset[str] = frozenset()
    unusable: Mapping[str, str] = msgspec.field(default_factory=dict)
    names: tuple[str, ...] = ()
    may_arrange: bool = False
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    warnings: tuple[Problem, ...] = ()


# -- what people did --------------------------------------------------------------------------

_Row = tuple[str, str, str, str]
"""A commit, a path, and its old and new blob."""
CLAIMED = "the author of a commit by hand, for the header"
"""Reason of the commit that records who edited memories. No command reverts it."""


def claim_edits(first: Work) -> None:
    """Commit who edited memories by hand since the last run, and which were deleted."""
    retried(first.store, lambda: _claim_edits(first))


def _claim_edits(first: Work) -> None:
    at = first.refreshed()
    last = next(iter(at.landed()), None)
    if last is not None and last.commit == at.tree.commit:
        return
    state = at.tree.state()
    revisions = f"{last.commit}..HEAD" if last else "HEAD"
    hands = {hand.commit: hand for hand in hand_commits(at.store.repo, revisions)}
    rows = {
        commit: [*group]
        for commit, group in groupby(changes(at.store.repo, hands), key=lambda row: row[0])
    }
    updates = _attributions(at, state, hands, rows)
    gone = [*_deletions(at, state, hands, rows)]
    if not (updates or gone):
        return
    edited = counted(len(updates), "memory", "memories")
    step = Step(
        op="edit",
        what=f"Record who edited {edited} by hand" if updates else "Record deletions by hand",
        reason=CLAIMED,
        changes=(
            *updates,
            *(Write(path=path_of(state.layout, g.key), data=tombstone_bytes(g)) for g in gone),
        ),
    )
    first.store.notices += (_deletion_notice(state, stone) for stone in gone)
    base, context, now = at.tree.commit, at.context(), first.call.now
    landing = prepare(at.store, state, base, (step,), context, now, author=at.author)
    at.store.land(landing.chain, f"edit-{at.tree.commit[:10]}")


def _deletions(
    at: Work, state: State, hands: Mapping[str, LogEntry], rows: Mapping[str, Sequence[_Row]]
) -> Iterator[Tombstone]:
    """Yield a record of the memories that a person deleted in each commit, so that none returns.

    What `git revert` of a run deletes is decided by the missing manifest (`decided_in`).
    """
    runs = at.tree.layout.area("runs")
    for commit, group in rows.items():
        paths = {path for _, path, _, after in group if not after}
        if not at.config.is_person(hands[commit].email) or any(
            path.startswith(runs) for path in paths
        ):
            continue
        olds = [_decoded(at.store.repo, path, old) for _, path, old, _ in group if path in paths]
        gone = {id_: m for old in olds for id_, m in old.items() if id_ not in state.memories}
        stated = {id_: memory for id_, memory in gone.items() if memory.sources}
        if stated:
            yield tombstone_of_changes(
                f"Deleted by hand in {commit[:10]}",
                traits_between({}, stated).union(
                    *(traits(m.with_fields({}, ""), m) for m in stated.values())
                ),
                stated.values(),
                reason=hands[commit].subject,
                by=f"human:{hands[commit].email}",
                at=hands[commit].when,
            )


def _deletion_notice(state: State, stone: Tombstone) -> Problem:
    count = stone.statement.count("\n- ")
    what = counted(count, "memory was", "memories were")
    return Problem(
        path=path_of(state.layout, stone.key),
        rule="deleted-by-hand",
        severity="warning",
        message=f"{what} deleted by hand: no run adds {'it' if count == 1 else 'them'} again",
        fix=f"`memrepo reject {stone.key} --undo` if one may return after all",
    )


def _attributions(
    at: Work, state: State, hands: Mapping[str, LogEntry], rows: Mapping[str, Sequence[_Row]]
) -> list[Update]:
    """Return updates for memories that still have a text edited by hand, naming the last editor.

    Memories that repeat a rejected statement are skipped. Moved or swapped files are no edits.
    """
    git, found = at.store.repo, dict[str, Update]()
    for commit, group in rows.items():
        olds, edits = dict[str, Memory](), dict[str, Memory]()
        for _, path, before, after in group:
            if at.tree.layout.is_memory(path):
                olds |= _decoded(git, path, before)
                edits |= _decoded(git, path, after)
        hand = hands[commit]
        is_known = at.config.is_person(hand.email)
        stamp = Stamp(by=f"human:{hand.email}" if is_known else "process:unknown", at=hand.when)
        for id_, edited in edits.items():
            memory, old = state.memories.get(id_), olds.get(id_)
            if memory is None or memory.body != edited.body or not _is_authored(edited, old):
                continue
            if memory.status == "forgotten" != edited.status and tombstones_in(state).find_barring(
                memory
            ):
                continue
            earlier = memory.stamp
            if earlier is not None and earlier.at and stamp.at and earlier.at >= stamp.at:
                continue
            former = memory.former
            if old is not None and old.body != edited.body:
                former = tuple(dict.fromkeys((*former, text_hash(old.body))))
            found[id_] = Update(id=id_, fields={"generated": stamp, "former": former or None})
    return list(found.values())


def _decoded(git: Git, path: str, blob: str) -> dict[str, Memory]:
    memory = codec.decode(path, git.read(blob))[0] if blob else None
    return {memory.id: memory} if memory is not None and memory.id else {}


def _is_authored(memory: Memory, old: Memory | None) -> bool:
    """Return whether an edit changed the text or a field that a person may set."""
    if old is None:
        return memory.stamp is None  # otherwise the memory was only restored
    keys = changed_keys(old.fields, memory.fields)
    return old.body != memory.body or any(BY_NAME[key].is_by_person for key in keys)


def decided_in(work: Work) -> frozenset[str]:
    """Return what was reverted or discarded: by the files, and by `git revert` of a run.

    Git's revert removes the run's manifest. It decides what the reverse of that commit would,
    unless the manifest is there again.
    """
    found = set(tombstones_in(work.tree.state()).changes)
    for entry in history.manifest_removals(work.store.repo, work.tree.commit, work.tree.layout):
        if entry.op != "revert" and not work.tree.blobs.keys() >= {*entry.paths}:
            before, after = (
                work.store.snapshot(commit).state().memories
                for commit in (entry.parents[0], entry.commit)
            )
            found |= traits_between(after, before)
    return frozenset(found)


def edited_since(work: Work, manifests: Sequence[Manifest]) -> frozenset[str]:
    """Return the active memories changed since the last run was computed, or all of them."""
    state, layout, files = work.tree.state(), work.tree.layout, work.tree.files
    bases = [m.base for m in manifests if m.base and m.logic == LOGIC_VERSION]
    written = files.changed_since(bases[-1]) if bases else None
    records = (layout.area("tombstones"), layout.area("runs"))
    if written is None or layout.config in written:
        return frozenset(m.id for m in state.active)
    if any(not blob and path.startswith(records) for path, blob in written.items()):
        return frozenset(m.id for m in state.active)  # a decision about some pair was deleted
    return frozenset(memory.id for memory in state.active if memory.path in written)


# -- the input ---------------------------------------------------------------------------------


def read_commit(work: Work, plan: RunPlan) -> RunPlan:
    """Return the plan with the commit to read, its configuration and a person's decisions."""
    state, (manifests, damaged) = work.tree.state(), work.tree.manifests
    return replace(
        plan,
        state=state,
        manifests=manifests,
        problems=(*state.problems, *damaged),
        config=work.config,
        decided=decided_in(work),
        edited=edited_since(work, manifests),
    )


def gather_sources(work: Work, plan: RunPlan) -> Input:
    """Return the candidates in the commit's sources and in notes that qualify for promotion."""
    nominees = _nominees(work, plan) if plan.mode == "incremental" else ()
    cursor = cursors(plan.manifests)

    def read(blob: str) -> bytes:
        work.call.tick("sources read")
        return work.store.repo.read(blob)

    return gather(plan, texts_at(work, cursor), cursor, read, nominees)


def gather(
    plan: RunPlan,
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    read: Callable[[str], bytes],
    nominees: Sequence[Nominee] = (),
) -> Input:
    """Return the candidates in text that no run has consumed.

    This function is pure except for `read`, which loads blobs.
    """
    whole = plan.mode == "reconciliation"
    moves = find_moves(texts, cursor, read)
    moved = tuple(relocate(plan.state, moves))
    state = apply_steps(plan.state, moved)
    reader = Reader(texts, read, state, whole=whole, size=plan.config.run.shelf)
    days = plan.config.source_rules().days
    cursor = {**cursor, **{now: cursor[old] for now, old in moves.items()}}
    intake = take_in(texts, cursor, reader, whole=whole, days=days, moves=moves)
    found = Input(
        texts=texts,
        intake=intake,
        moved=moved,
        nominees=without_repeats(state, nominees),
        cursor=cursor,
        known=Known(
            state,
            plan.now,
            reader,
            decided=plan.decided,
            whole=whole,
            scope=plan.config.sources.scope or "",
        ),
        warnings=tuple(intake.problems),
    )
    if not (intake.consumed or intake.placed or nominees):
        return found  # nothing is new
    candidates = in_scope(state, intake, found.nominees)
    choice = _choose(plan, found, candidates)
    return replace(
        found,
        reader=reader,
        candidates=candidates,
        choice=choice,
        warnings=(*found.warnings, *_shortened(intake, reader)),
    )


def _choose(plan: RunPlan, given: Input, candidates: Sequence[Candidate]) -> ShelfChoice:
    """Choose the candidates that become memories without a model. The others remain in the sources.

    Some are always chosen: those that support a memory, replace such a line, were nominated, or
    change a memory.
    """
    always = {
        c.candidate_id
        for c in candidates
        if any(p.retrieved or p.changes for p in c.placed)
        or _states_memory(
            given.known,
            {unit.text_hash for p in c.placed for unit in (p.unit, p.former) if unit},
        )
    }
    return choose(
        candidates,
        size=shelf_size(sum(bool(text.blob) for text in given.texts), plan.config.run.shelf),
        existing=len(of_types(plan.state.active, CLAIM_TYPES)),
        always=always,
        again=plan.mode == "reconciliation",
        today=f"{plan.now:%Y-%m-%d}",
    )


def _states_memory(known: Known, hashes: Collection[str]) -> bool:
    """Return whether a memory has one of these texts, and not only as a duplicate of its own."""
    found = (memory.sources for memory in known.find_text(hashes))
    return any({s.kind for s in each if s.text_hash in hashes} != {"merged"} for each in found)


def _shortened(intake: Intake, reader: Reader) -> Iterator[Problem]:
    """Yield a warning for each new unit or note from which a rejected statement was removed."""
    seen: set[tuple[str, int, str]] = set()
    new: list[Placed | PlacedNote] = [*intake.placed, *intake.notes]
    for one in new:
        stone = reader.left_out.get((one.unit.resource, one.unit.text_hash))
        place = (one.resource, one.unit.lines[0], stone.key if stone else "")
        if stone is not None and place not in seen:
            seen.add(place)
            what, fix = stone.why
            rule = "rejected" if what.startswith("rejected") else "corrected"
            yield Problem(
                path=one.resource,
                line=one.unit.lines[0],
                rule=f"{rule}-left-out",
                severity="warning",
                message=f"a statement here was {what}: it is left out, the rest is used",
                fix=fix,
            )


def _nominees(work: Work, plan: RunPlan) -> tuple[Nominee, ...]:
    """Return the notes that qualify for promotion, unless a person reverted their nomination."""
    accesses = Ledger(work.store).accesses()
    notes = [
        note
        for note in of_types(plan.state.active, ("note",))
        if note.user_marked or accesses.of(note.id).total
    ]
    found = []
    for one in nominated(notes, accesses, plan.now, work.config.rules.tiers):
        if plan.decided.isdisjoint((f"{one.id} promoted", f"{one.id} nominated")):
            note, blob = plan.state.memories[one.id], work.tree.blobs[one.path]
            last = work.tree.files[one.path].rstrip(b"\n").count(b"\n") + 1
            lines = (last - note.body.strip().count("\n"), last)
            found.append(Nominee(note=note, nomination=one, blob=blob, lines=lines))
    return tuple(found)


def without_repeats(state: State, nominees: Sequence[Nominee]) -> tuple[Nominee, ...]:
    """Return the nominees, leaving out statements that active memories already contain."""
    claims = of_types(state.active, CLAIM_TYPES) if nominees else ()
    known = {text_key(m.body): m.id for m in claims}
    found = []
    for nominee in nominees:
        body = nominee.note.body.strip()
        repeated = [
            (one, known[one.key]) for one in statements(body) if one.key in known and not one.is_run
        ]
        if repeated:
            rest = leave_out(body, (one for one, _ in repeated))
            ids = tuple(dict.fromkeys(id_ for _, id_ in repeated))
            nominee = replace(nominee, stated_by=ids, rest=rest)
        found.append(nominee)
    return tuple(found)


def in_scope(
    state: State,
    intake: Intake,
    nominees: Sequence[Nominee] = (),
) -> list[Candidate]:
    """Return the candidates of this run: new units, and nominated notes.

    A nominated note is always judged, because its retrieval counts are new information.
    """
    placed = tuple(intake.placed)
    if not intake.whole:
        placed = _with_changes(state, placed)
    nominated = tuple(nominee.placed() for nominee in nominees if nominee.text)
    return candidates_of([*placed, *nominated])


def _with_changes(state: State, placed: tuple[Placed, ...]) -> tuple[Placed, ...]:
    """Return the units, marking those that change a memory.

    They are always judged, whatever their rank, also in a daily log.
    """
    if not placed:  # common case: avoid tokenising all statements
        return ()
    index = StatementIndex(compared_in(state))
    found = []
    for one in placed:
        fields = {"sources": (one.source(),), "context": " › ".join(one.unit.headings) or None}
        claim = Memory.of("", fields, body=one.unit.text)
        changed = index.changed(claim).items()
        ids = sorted(id_ for id_, change in changed if change.newer != "second")
        found.append(replace(one, changes=tuple(ids)) if ids else one)
    return tuple(found)
