"""The commits of manual changes to the branch, with a retry if the branch moved.

`write` commits one step, `write_steps` commits several. They update the first page. An
agent may not take a person's memory out of recall: such a write is refused, and a person decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import (
    close_calls,
    hot_rules,
    prepare,
    refuse_secret,
    restore_pages,
    retried,
)
from memrepo.actions.verbs import OutOfScope
from memrepo.actions.work import VerbResult, Wish, Work, Writes
from memrepo.core.access import Accesses
from memrepo.core.errors import Exit, MemrepoError, Problem, UsageError
from memrepo.core.memory import Hot, Memory
from memrepo.core.messages import subject_of
from memrepo.core.state import Change, Create, Remove, State, Step, Update, apply
from memrepo.policies.claims import is_by_person
from memrepo.policies.hotcache import CRITICAL, SYNC, hot_of, may_be_hot
from memrepo.policies.standing import is_retired
from memrepo.views.hot import hot_changes


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
    """Commit the step that `draft` computes from the state at HEAD, and return the result.

    `--reason` replaces the step's own reason. Raises PersonDecides for an agent.
    """
    refuse_secret(request.reason, "the reason")
    nothing = Unchanged()

    def steps(at: Work, state: State) -> Sequence[Step]:
        nonlocal nothing
        step = draft(at.tree.state() if at.call.scope else state)
        if isinstance(step, Unchanged):
            nothing = step
            return ()
        return (replace(step, reason=request.reason or step.reason),)

    wrote = write_steps(first, Wish(dry_run=request.dry_run), steps, add_files)
    if wrote.refused:
        raise wrote.refused[0]
    if not wrote.steps:
        return nothing
    (step,) = wrote.steps
    found = [wrote.state.memories.get(id_) for id_ in step.memory_ids]
    memories = [memory for memory in found if memory is not None]
    return Written(
        id=memories[0].id if memories else "",
        path=memories[0].path if memories else "",
        commit=wrote.commit,
        op=step.op,
        what=step.what,
        memories=tuple(m.id for m in memories),
        paths=tuple(m.path for m in memories),
        notices=wrote.notices,
    )


def unchanged(memory: Memory, why: str) -> Unchanged:
    """Return the result of a write that changed nothing."""
    return Unchanged(id=memory.id, path=memory.path, unchanged=why)


class StepsWritten(msgspec.Struct, frozen=True, kw_only=True):
    """The committed steps, the last commit (empty if none), the new state, and warnings."""

    steps: tuple[Step, ...]
    commit: str
    state: State
    notices: tuple[Problem, ...] = ()
    refused: tuple[PersonDecides, ...] = ()
    """Why steps were left out: each would let an agent take a person's memory away."""

    @property
    def exit(self) -> Exit:
        """Return the exit code, which shows whether a person must decide about steps."""
        return Exit.DECIDE if self.refused else Exit.DONE


def write_steps(
    first: Work,
    request: Writes,
    draft: Callable[[Work, State], Sequence[Step]],
    add_files: AddFiles = lambda _, state: state,
) -> StepsWritten:
    """Commit the steps that `draft` computes from the state at HEAD, with one commit per step.

    With `--dry-run` nothing is written. `--reason` is placed before each step's own reason. Steps
    of an agent that would take a person's memory away are left out. The last step regenerates the
    first page if a memory on it changed.
    """
    first.begin_write(dry_run=request.dry_run)
    if not request.dry_run:
        restore_pages(first.refreshed())

    def attempt() -> StepsWritten:
        at = first.refreshed()
        before = state = add_files(at, at.whole.state())
        steps, refused, notices = list[Step](), list[PersonDecides](), list[Problem]()
        for step in draft(at, before):
            step = _with_places(at, step)
            after = apply(state, step.changes)
            if at.call.scope:
                refuse_beyond(at.call.scope, after, step)
            _refuse_secret_fields(step)
            reason = f"{request.reason}; {step.reason}" if request.reason else step.reason
            try:
                refuse_taking(at, state, after)
            except PersonDecides as error:
                refused.append(error)
                notices.append(error.problem)
            else:
                steps.append(replace(step, reason=reason, what=subject_of(step, state, after)))
                state = after
        if not steps:
            return StepsWritten(
                steps=(), commit="", state=state, notices=tuple(notices), refused=tuple(refused)
            )
        ids = {id_ for step in steps for id_ in step.memory_ids}
        sides = [side.memories.get(id_) for id_ in ids for side in (before, state)]
        if any(memory is not None and hot_of(memory) for memory in sides):
            pages, last = hot_changes(state, hot_rules(at)), steps[-1]
            steps[-1] = replace(last, changes=(*last.changes, *pages), memories=last.memory_ids)
        base, now = at.tree.commit, first.call.now
        landing = prepare(at.store, before, base, steps, at.context(), now, author=at.author)
        notices += close_calls(before, landing.state, at.actor)
        commit = ""
        if not request.dry_run:
            commit = at.store.land(landing.chain, f"{steps[0].op}-{at.tree.commit[:10]}")
            notices += at.store.notices
        return StepsWritten(
            steps=tuple(steps),
            commit=commit,
            state=landing.state,
            notices=tuple(notices),
            refused=tuple(refused),
        )

    return retried(first.store, attempt)


def _with_places(work: Work, step: Step) -> Step:
    """Return a step whose new memories are on the first page if the next run would put them there.

    An agent that reads the page before that run finds what was stored.
    """
    rules, now = work.config.rules, work.call.now

    def place(change: Change) -> Change:
        if not isinstance(change, Create) or not change.memory.is_stored or change.memory.hot:
            return change
        if change.memory.is_note or not may_be_hot(change.memory, Accesses(), now, rules.decay):
            return change
        reason = CRITICAL if change.memory.critical else SYNC
        memory = change.memory.with_fields({"hot": Hot(since=now, reason=reason)})
        return replace(change, memory=memory)

    return replace(step, changes=tuple(map(place, step.changes))) if rules.hot.composed else step


def _refuse_secret_fields(step: Step) -> None:
    written = [c.memory.fields for c in step.changes if isinstance(c, Create)]
    written += [c.fields for c in step.changes if isinstance(c, Update)]
    for key, value in (item for fields in written for item in fields.items()):
        for text in value if isinstance(value, tuple | list) else (value,):
            if isinstance(text, str):
                refuse_secret(text, key)


def clean_text(text: str, what: str) -> str:
    """Return a text normalised for storage. Raises UsageError or SecretInText."""
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if not text.strip():
        raise UsageError(f"{what} is empty", fix="give a text")
    refuse_secret(text, what)
    return text


_ENDS = ("valid_until", "scope")
"""Fields that can end an active memory or move it to another scope."""
_MARKS = ("pinned", "critical")


class PersonDecides(MemrepoError):
    """Raised when an agent would take a person's memory out of recall or off the first page."""

    exit_code = Exit.DECIDE

    def __init__(self, actor: str, memories: Sequence[Memory]) -> None:
        more = f" and {len(memories) - 1} more" if len(memories) > 1 else ""
        self.memories = memories
        super().__init__(
            f"{actor} may not take {memories[0].id}{more} out of recall or off the first page:"
            " a person wrote or confirmed it, and must decide",
            fix="ask that person to do it, or allow it with `agents.removals` in memrepo.toml",
        )

    @property
    def problem(self) -> Problem:
        """Return the refusal as a warning, for a write of which the other steps were made."""
        return Problem(
            path=self.memories[0].path,
            rule="person-decides",
            severity="warning",
            message=self.message,
            fix=self.fix,
        )


def refuse_taking(work: Work, before: State, after: State) -> None:
    """Raise PersonDecides if an agent would take a person's memory away.

    Losing a mark that keeps a memory on the first page counts too: sessions start with that page.
    """
    actor = work.call.actor
    if actor and not actor.startswith("human:") and work.config.agents.removals == "refuse":
        taken = [
            memory
            for memory in before.active
            if _is_taken(memory, after.memories.get(memory.id))
            if is_by_person(memory) and not is_retired(memory)
        ]
        if taken:
            raise PersonDecides(work.actor, taken)


def _is_taken(old: Memory, new: Memory | None) -> bool:
    """Return whether a memory loses its text, its validity, its marks or its place."""
    if new is old:
        return False
    if new is None or new.status != "active" or is_retired(new) or old.body != new.body:
        return True
    return (
        any(getattr(old, key) != getattr(new, key) for key in _ENDS)
        or any(getattr(old, mark) and not getattr(new, mark) for mark in _MARKS)
        or (hot_of(old) is not None and hot_of(new) is None)
    )


def refuse_beyond(scope: str, after: State, step: Step) -> None:
    """Raise OutOfScope if a step would write a memory outside the caller's scope."""
    for change in step.changes:
        match change:
            case Create(memory=memory):
                pass
            case Update(id=id_) | Remove(id=id_):
                memory = after.memories[id_]
            case _:
                continue
        if memory.scope != scope:
            of = memory.scope
            owner = f"of the scope {of}" if of else "of the whole repository"
            raise OutOfScope(scope, f"{memory.id} is {owner}")
