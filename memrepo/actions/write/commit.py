"""The commits of manual changes to the branch, with a retry if the branch moved.

`write` commits one step, `write_steps` commits several. Both update the page of the hot cache. A
change of an agent that a person must approve, such as removing that person's memory from recall, is
stored as a run with one decision on its own branch. `status`, `diff`, `accept` and `discard` treat
it like any other pending run. Commands that a person runs are never delayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.guard import close_calls, refuse_beyond, refuse_secret
from memrepo.actions.landing import hot_rules, prepare, retried
from memrepo.actions.pending import (
    ASKED,
    PREFIX,
    Waiting,
    all_waiting,
    is_wish,
    put_away,
    refuse_no_room,
)
from memrepo.actions.request import VerbResult, Writes
from memrepo.actions.run.land import run_stamp
from memrepo.actions.work import Work
from memrepo.core.changes import Change, Create, Delete, Plan, Remove, Step, Update, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest, manual_id
from memrepo.core.manifest import Manifest
from memrepo.core.memory import Memory, Stamp
from memrepo.core.messages import Context, counted, subject_of
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time, local_day
from memrepo.policies.claims import is_by_person
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import is_retired
from memrepo.store.history import RECORD
from memrepo.views.hot import hot_changes


class EmptyText(MemrepoError):
    """Raised when a text that must be given is empty."""

    exit_code = Exit.USAGE

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is empty", fix="give a text")


class Written(VerbResult, frozen=True, kw_only=True):
    """One manual commit or its preview. `id` and `path` are those of the first memory."""

    id: str
    path: str
    commit: str
    """Empty if nothing was written (`--dry-run`)."""
    op: str
    what: str
    """The commit's subject."""
    memories: tuple[str, ...]
    """Ids of the step's memories that exist afterwards. `paths` has the same order."""
    paths: tuple[str, ...]


class Unchanged(VerbResult, frozen=True, kw_only=True):
    """The result if no change was needed. `unchanged` is the reason."""

    id: str = ""
    path: str = ""
    commit: str = ""
    unchanged: str = ""


class Asked(Unchanged, frozen=True, kw_only=True):
    """The result if a change needs a person's approval. `waits` is the id of the pending run."""

    waits: str


Draft = Callable[[State], Step | Unchanged]
"""Computes the step to commit from the state at HEAD, or the result if nothing is to be done."""

AddFiles = Callable[[Work, State], State]
"""Adds files from history to the state at HEAD, so that a step can restore them."""


def write(
    first: Work,
    request: Writes,
    draft: Draft,
    add_files: AddFiles = lambda _, state: state,
) -> Written | Unchanged:
    """Commit the step that `draft` computes from the state at HEAD, and return the result."""
    first.begin_write(dry_run=request.dry_run)

    def attempt() -> Written | Unchanged:
        at = first.refreshed()
        state = add_files(at, at.whole.state())
        step = draft(at.tree.state() if at.call.scope else state)
        if isinstance(step, Unchanged):
            return step
        after = apply(state, step.changes)
        if at.call.scope:
            refuse_beyond(at.call.scope, after, step)
        refuse_secret(request.reason, "the reason")
        _refuse_secret_fields(step)
        if request.reason:
            step = replace(step, reason=request.reason)
        if waits := waits_for_person(at, state, after):
            return leave_request(at, state, step, waits, dry_run=request.dry_run)
        sides = [side.memories.get(id_) for id_ in step.memory_ids for side in (state, after)]
        if any(memory is not None and hot_of(memory) for memory in sides):
            pages = hot_changes(after, hot_rules(at))
            step = replace(step, changes=(*step.changes, *pages), memories=step.memory_ids)
        plan = Plan(base=at.tree.commit, steps=(step,))
        landing = prepare(at.store, state, plan, at.context(), first.call.now, author=at.author)
        notices = close_calls(state, landing.state, at.actor)
        commit = ""
        if not request.dry_run:
            commit = at.store.land(landing.chain, f"{step.op}-{at.tree.commit[:10]}")
            notices = (*notices, *at.store.notices)
        found = [landing.state.memories.get(id_) for id_ in step.memory_ids]
        memories = [memory for memory in found if memory is not None]
        return Written(
            id=memories[0].id if memories else "",
            path=memories[0].path if memories else "",
            commit=commit,
            op=step.op,
            what=subject_of(step, state, landing.state),
            memories=tuple(m.id for m in memories),
            paths=tuple(m.path for m in memories),
            notices=notices,
        )

    return retried(first.store, attempt)


def _refuse_secret_fields(step: Step) -> None:
    written = [c.memory.fields for c in step.changes if isinstance(c, Create)]
    written += [c.fields for c in step.changes if isinstance(c, Update)]
    for key, value in (item for fields in written for item in fields.items()):
        for text in value if isinstance(value, tuple | list) else (value,):
            if isinstance(text, str):
                refuse_secret(text, key)


def unchanged(memory: Memory, why: str) -> Unchanged:
    """Return the result of a write that changed nothing."""
    return Unchanged(id=memory.id, path=memory.path, unchanged=why)


class StepsWritten(msgspec.Struct, frozen=True, kw_only=True):
    """The committed steps, the last commit (empty if none), the new state, and warnings."""

    steps: tuple[Step, ...]
    commit: str
    state: State
    notices: tuple[Problem, ...] = ()
    waits: tuple[Step, ...] = ()

    @property
    def exit(self) -> Exit:
        """Return the exit code, which shows whether steps are pending a person's decision."""
        return Exit.DECIDE if self.waits else Exit.DONE


def write_steps(
    first: Work, request: Writes, draft: Callable[[Work, State], Sequence[Step]]
) -> StepsWritten:
    """Commit the steps that `draft` computes from the state at HEAD, with one commit per step.

    With `--dry-run` nothing is written. `--reason` is placed before each step's own reason. Steps
    of an agent that need a person's approval become pending requests.
    """
    first.begin_write(dry_run=request.dry_run)

    def attempt() -> StepsWritten:
        at = first.refreshed()
        before = state = at.whole.state()
        steps, waits = list[Step](), list[Step]()
        for step in draft(at, state):
            after = apply(state, step.changes)
            reason = f"{request.reason}; {step.reason}" if request.reason else step.reason
            step = replace(step, reason=reason, what=subject_of(step, state, after))
            if waits_for_person(at, state, after):
                waits.append(step)
            else:
                steps.append(step)
                state = after
        wrote = StepsWritten(steps=tuple(steps), commit="", state=state, waits=tuple(waits))
        if not steps:
            return wrote
        if pages := hot_changes(state, hot_rules(at)):
            why = "memories on it changed"
            steps.append(
                Step(op="view", what="Regenerate first page", reason=why, changes=tuple(pages))
            )
        plan = Plan(base=at.tree.commit, steps=tuple(steps))
        landing = prepare(at.store, before, plan, at.context(), first.call.now, author=at.author)
        wrote = replace(wrote, state=landing.state)
        if request.dry_run:
            return wrote
        commit = at.store.land(landing.chain, f"{steps[0].op}-{at.tree.commit[:10]}")
        return replace(wrote, commit=commit, notices=tuple(at.store.notices))

    wrote = retried(first.store, attempt)
    if not wrote.waits:
        return wrote
    left = _leave_requests(first.refreshed(), wrote.waits, dry_run=request.dry_run)
    return replace(wrote, notices=(*wrote.notices, *left))


def clean_text(text: str, what: str) -> str:
    """Return a text normalised for storage. Raises EmptyText or SecretInText."""
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if not text.strip():
        raise EmptyText(what)
    refuse_secret(text, what)
    return text


def without_empty(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the given fields, leaving out empty and false values."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), False)}


_INHERITED = (
    "type",
    "title",
    "subject",
    "predicate",
    "home",
    "tags",
    "entities",
    "scope",
    "pinned",
    "critical",
)


def successor(
    state: State,
    old: Memory,
    text: str,
    now: datetime,
    actor: str,
    *,
    replaces: tuple[str, ...],
    zone: tzinfo,
) -> Memory:
    """Return a new memory with the given text, and with the type, subject and marks of another."""
    id_ = manual_id(
        created=now, text=text, scope=old.text("scope"), type_=old.type, taken=state.memories
    )
    path = state.layout.memory(
        id_=id_,
        type_=old.type,
        text=old.text("title") or text,
        layer=old.layer,
        captured=local_day(now, zone),
    )
    fields = {
        **{key: old.fields[key] for key in _INHERITED if key in old.fields},
        "id": id_,
        "created": now,
        "origin": "manual",
        "supersedes": replaces,
        "generated": Stamp(by=actor, at=now),
    }
    new = Memory.of(path, without_empty(fields), body=text)
    return replace(new, path=state.free_path(new))


ASKS = "Ask a person: "
"""Prefix of the subject of a request.

The rest becomes the commit subject when a person accepts it.
"""
_ENDS = ("valid_until", "scope")
"""Fields that can end an active memory or move it to another scope."""
_MARKS = ("pinned", "critical")


def waits_for_person(work: Work, before: State, after: State) -> tuple[Memory, ...]:
    """Return the memories for which a step needs a person's approval; empty if there are none.

    These are memories of a person that an agent would remove from recall. With `agents.additions =
    "review"`, they also include memories that the agent adds. Leaving the hot cache, or losing a
    mark that retains a memory there, counts as removal: sessions start with the hot cache.
    """
    if not is_agent(work):
        return ()
    added: tuple[Memory, ...] = ()
    if work.config.agents.additions == "review":
        added = tuple(m for m in after.active if m.id not in before.memories and not m.is_note)
    if work.config.agents.removals != "wait":
        return added
    return added + tuple(
        m
        for m, new in _changed_of_people(before, after)
        if not _stays_in_recall(m, new)
        or (new is not None and any(m.flag(mark) and not new.flag(mark) for mark in _MARKS))
        or (hot_of(m) is not None and (new is None or hot_of(new) is None))
    )


def refuse_taking(work: Work, before: State, after: State) -> None:
    """Raise if an agent would remove a person's memory from recall."""
    if not is_agent(work) or work.config.agents.removals != "wait":
        return
    if found := [m for m, new in _changed_of_people(before, after) if not _stays_in_recall(m, new)]:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise MemrepoError(
            f"{work.actor} may not take {found[0].id}{more} out of recall: a person wrote or"
            " confirmed it, and must decide",
            fix="ask that person to do it, or allow it with `agents.removals` in memrepo.toml",
            exit_code=Exit.DECIDE,
        )


def is_agent(work: Work) -> bool:
    """Return whether the caller is a program rather than a person."""
    return bool(work.call.actor) and not work.call.actor.startswith("human:")


def _changed_of_people(before: State, after: State) -> Iterator[tuple[Memory, Memory | None]]:
    """Yield (old, new) for each changed memory in recall that a person worded or confirmed.

    `new` is None if the memory was removed.
    """
    for memory in before.active:
        new = after.memories.get(memory.id)
        if new is not memory and is_by_person(memory) and not is_retired(memory):
            yield memory, new


def _stays_in_recall(old: Memory, new: Memory | None) -> bool:
    if new is None or new.status != "active" or is_retired(new):
        return False
    return old.body == new.body and all(old.text(key) == new.text(key) for key in _ENDS)


def leave_request(
    at: Work, state: State, step: Step, memories: Sequence[Memory], *, dry_run: bool
) -> Asked:
    """Store a step as a request for a person to decide, or reuse an equal pending request."""
    keys = [_wish_key(change) for change in step.changes]
    mark = digest([at.actor, step.op, keys])[:8]
    pending = [w for w in all_waiting(at) if is_wish(at, w)]
    run = next((w.run for w in pending if w.run.endswith(f"-{mark}")), "")
    if not run and not dry_run:
        run = _store_request(at, state, step, memories, mark, pending)
    first = memories[0]
    more = f", with {counted(len(memories) - 1, 'other', 'others')}" if memories[1:] else ""
    where = f" as {PREFIX}{run}" if run else ""
    text = (
        f"was written or confirmed by a person{more}: your request waits for that"
        f" person{where}, and nothing changes until then"
    )
    if first.id not in state.memories:
        text = f"waits for a person{where}{more}: it is stored when that person accepts it"
    return Asked(id=first.id, path=first.path, unchanged=text, waits=run, exit=Exit.DECIDE)


def _leave_requests(at: Work, steps: Sequence[Step], *, dry_run: bool) -> Iterator[Problem]:
    """Store steps as requests for a person, one per kind of operation, and yield warnings."""
    state = at.whole.state()
    for op in dict.fromkeys(step.op for step in steps):
        alike = [step for step in steps if step.op == op]
        one = alike[0]
        if alike[1:]:
            changes = tuple(change for step in alike for change in step.changes)
            one = replace(one, what="", changes=changes)
        if waits := waits_for_person(at, state, apply(state, one.changes)):
            asked = leave_request(at, state, one, waits, dry_run=dry_run)
            yield Problem(
                path=asked.path,
                rule="waits-for-person",
                severity="warning",
                message=f"{asked.id} {asked.unchanged}",
                fix="ask that person to run `memrepo accept` or `memrepo discard`",
            )


def _wish_key(change: Change) -> object:
    """Return a key that identifies a request by its content."""
    match change:
        case Create(memory=memory):
            return [memory.body, memory.text("scope")]
        case Update(id=id_, fields=fields, body=body):
            keys = [k for k in sorted(fields) if k in ("status", *_ENDS, *_MARKS)]
            hot = fields.get("hot")
            cached = [hot is not None and hot.until is None] if "hot" in fields else []
            return [id_, body, [[k, str(fields[k])] for k in keys], cached]
        case Remove(id=id_):
            return id_
        case Write(path=path) | Delete(path=path):
            return path


def _store_request(
    at: Work,
    state: State,
    step: Step,
    memories: Sequence[Memory],
    mark: str,
    pending: Sequence[Waiting],
) -> str:
    """Store a request as the branch of a new run, and return the run's id."""
    refuse_no_room(at)
    area = at.tree.layout.area("runs")
    names = (p for p in at.tree.blobs if p.startswith(area) and p.endswith(".json"))
    runs = sorted(path.removeprefix(area).removesuffix(".json") for path in names)
    run = f"{run_stamp(at.call.now, runs)}-{mark}"
    manifest = Manifest(
        run=run,
        mode=ASKED,
        judge=at.actor,
        profile=at.config.profile,
        base=at.tree.commit,
        now=format_time(at.call.now),
        package=__version__,
    )
    record = Step(
        op="run",
        what=RECORD,
        reason=f"asked by {at.actor}",
        changes=(Write(path=at.tree.layout.manifest(run), data=manifest.to_bytes()),),
    )
    of_person = ", which is a person's" if memories[0].id in state.memories else ""
    merge = Step(
        op="run",
        what=f"{ASKS}{subject_of(step, state, apply(state, step.changes))}",
        reason=f"{at.actor} asks to {step.op} {memories[0].id}{of_person}: {step.reason}",
    )
    landing = prepare(
        at.store,
        state,
        Plan(base=at.tree.commit, steps=(step, record)),
        Context(actor=at.actor, run=run),
        at.call.now,
        merge=merge,
        author=at.author,
    )
    ids = {memory.id for memory in memories}
    for older in pending:
        if ids & {id_ for entry in older.chain(at) for id_ in entry.trailers.get("Memory", ())}:
            put_away(at, older)
    at.store.leave(landing.chain, PREFIX + run)
    return run
