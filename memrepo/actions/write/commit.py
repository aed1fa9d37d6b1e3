"""The commits of manual changes to the branch, with a retry if the branch moved.

`write` commits one step, `write_steps` commits several. Both update the page of the hot cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import assert_never

import msgspec
from msgspec.structs import replace

from memrepo.actions import result
from memrepo.actions.derived import hot_rules
from memrepo.actions.guard import close_calls, refuse_beyond, refuse_secret
from memrepo.actions.landing import prepare, retried
from memrepo.actions.request import Writes
from memrepo.actions.work import Work
from memrepo.core.changes import Create, Delete, Plan, Remove, Step, Update, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import manual_id
from memrepo.core.memory import Memory, Stamp
from memrepo.core.messages import subject_of
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import local_day
from memrepo.policies.hotcache import hot_of
from memrepo.views.hot import hot_changes


class NothingSaid(MemrepoError):
    """Raised when a text that must be given is empty."""

    exit_code = Exit.USAGE

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is empty", fix="give a text")


class Written(result.Result, frozen=True, kw_only=True):
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


class Unchanged(result.Result, frozen=True, kw_only=True):
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

Lay = Callable[[Work, State], State]
"""Adds files from history to the state at HEAD, so that a step can restore them."""


def write(
    first: Work,
    request: Writes,
    draft: Draft,
    lay: Lay = lambda _, state: state,
) -> Written | Unchanged:
    """Commit the step that `draft` computes from the state at HEAD, and return the result."""
    first.begin_write(dry_run=request.dry_run)
    return retried(first.store, lambda: _write(first, request, draft, lay))


def _write(first: Work, request: Writes, draft: Draft, lay: Lay) -> Written | Unchanged:
    at = first.refreshed()
    state = lay(at, at.whole.state())
    step = draft(at.tree.state() if at.call.scope else state)
    if isinstance(step, Unchanged):
        return step
    if at.call.scope:
        refuse_beyond(at.call.scope, apply(state, step.changes), step)
    _refuse_secrets(step, request.reason)
    if request.reason:
        step = replace(step, reason=request.reason)
    if first.call.actor and (asked := _asked(at, state, step, dry_run=request.dry_run)):
        return asked
    step = _with_hot_page(at, state, step)
    plan = Plan(base=at.tree.commit, steps=(step,))
    landing = prepare(at.store, state, plan, at.context(), first.call.now, author=at.author)
    close = close_calls(state, landing.state, at.actor)
    if request.dry_run:
        return replace(_written(step, state, landing.state, ""), notices=close)
    commit = at.store.land(landing.chain, f"{step.op}-{at.tree.commit[:10]}")
    done = _written(step, state, landing.state, commit)
    return replace(done, notices=(*close, *at.store.notices))


def _asked(at: Work, state: State, step: Step, *, dry_run: bool) -> Unchanged | None:
    """Store a step as a pending request if an agent would remove a person's memory from recall."""
    adds = all(isinstance(change, Create | Write) for change in step.changes)
    if adds and at.config.get("agents.additions") == "allow":
        return None
    from memrepo.actions.asked import leave, waits_for_person

    after = apply(state, step.changes)
    taken = waits_for_person(at, state, after)
    return leave(at, state, step, taken, dry_run=dry_run) if taken else None


def _with_hot_page(at: Work, state: State, step: Step) -> Step:
    """Add the updated hot cache page to a step if the step changes a hot memory."""
    after = apply(state, step.changes)
    sides = [side.memories.get(id_) for id_ in step.memory_ids for side in (state, after)]
    if not any(memory is not None and hot_of(memory) for memory in sides):
        return step
    pages = hot_changes(after, hot_rules(at))
    return replace(step, changes=(*step.changes, *pages), memories=step.memory_ids)


def _refuse_secrets(step: Step, reason: str) -> None:
    """Raise SecretInText if the reason or a field to be written contains a secret."""
    refuse_secret(reason, "the reason")
    for change in step.changes:
        match change:
            case Create(memory=memory):
                fields = memory.fields
            case Update(fields=fields):
                pass
            case Remove() | Write() | Delete():
                continue
            case _:
                assert_never(change)
        for key, value in fields.items():
            for text in value if isinstance(value, tuple | list) else (value,):
                if isinstance(text, str):
                    refuse_secret(text, key)


def _written(step: Step, before: State, after: State, commit: str) -> Written:
    found = [after.memories[i] for i in step.memory_ids if i in after.memories]
    first = found[0] if found else None
    return Written(
        id=first.id if first else "",
        path=first.path if first else "",
        commit=commit,
        op=step.op,
        what=subject_of(step, before, after),
        memories=tuple(m.id for m in found),
        paths=tuple(m.path for m in found),
    )


def unchanged(memory: Memory, why: str) -> Unchanged:
    """Return the result of a write that changed nothing."""
    return Unchanged(id=memory.id, path=memory.path, unchanged=why)


class Wrote(msgspec.Struct, frozen=True, kw_only=True):
    """The committed steps, the last commit (empty if none), the new state, and warnings.

    `waits` has the steps that are pending a person's approval.
    """

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
    first: Work,
    request: Writes,
    draft: Callable[[Work, State], Sequence[Step]],
) -> Wrote:
    """Commit the steps that `draft` computes from the state at HEAD, with one commit per step.

    With `--dry-run` nothing is written. `--reason` is placed before each step's own reason. Steps
    of an agent that need a person's approval become pending requests.
    """
    first.begin_write(dry_run=request.dry_run)
    wrote = retried(first.store, lambda: _write_all(first, request, draft))
    if not wrote.waits:
        return wrote
    from memrepo.actions.asked import leave_all

    left = leave_all(first.refreshed(), wrote.waits, dry_run=request.dry_run)
    return replace(wrote, notices=(*wrote.notices, *left))


def _write_all(
    first: Work,
    request: Writes,
    draft: Callable[[Work, State], Sequence[Step]],
) -> Wrote:
    from memrepo.actions.asked import waits_for_person

    at = first.refreshed()
    before = state = at.whole.state()
    steps: list[Step] = []
    waits: list[Step] = []
    for step in draft(at, state):
        after = apply(state, step.changes)
        reason = f"{request.reason}; {step.reason}" if request.reason else step.reason
        step = replace(step, reason=reason, what=subject_of(step, state, after))
        if waits_for_person(at, state, after):
            waits.append(step)
        else:
            steps.append(step)
            state = after
    wrote = Wrote(steps=tuple(steps), commit="", state=state, waits=tuple(waits))
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


def said(text: str, what: str) -> str:
    """Return a text normalised for storage. Raises NothingSaid or SecretInText."""
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if not text.strip():
        raise NothingSaid(what)
    refuse_secret(text, what)
    return text


def present(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the given fields, leaving out empty and false values."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), False)}


_KEPT = (
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
        **{key: old.fields[key] for key in _KEPT if key in old.fields},
        "id": id_,
        "created": now,
        "origin": "manual",
        "supersedes": replaces,
        "generated": Stamp(by=actor, at=now),
    }
    new = Memory(path=path, fields=present(fields), body=text)
    return replace(new, path=state.free_path(new))
