"""Turn a plan into commits: apply it to a state, write the messages, build the chain.

Every chain that can contain memories is built by `chain`, which refuses secrets and statements that
a person rejected. A test ensures that no code path bypasses this module. The views and the hot
cache, which are derived from the memories and committed with them, are rendered here too.

Secrets are searched for in given texts, files and commit messages. A secret that is already in a
committed file does not block later changes to its memory. New secrets are refused, also when they
would come back from history. Lines that allow a secret, and the baseline, count as they do for
`check`. Secrets in commits that git has already merged are reported by `check`.

Runs, imports, accepts and merges drop rejected memories earlier. A single write is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.actions.work import VerbResult, Wish, Work, Writes
from memrepo.core.errors import BranchMoved, Exit, MemrepoError, OutOfScope, Problem, UsageError
from memrepo.core.ids import find_deceptive, strip_deceptive, visible
from memrepo.core.layout import CONFIG_NAME, HOT_NAMES, standing_of
from memrepo.core.manifest import Accesses
from memrepo.core.memory import Hot, Memory, differing
from memrepo.core.messages import (
    MAX_STEPS,
    PREFIX,
    SUBJECT_LENGTH,
    Context,
    message,
    subject_of,
    words_of,
)
from memrepo.core.secret_kinds import SWITCHED
from memrepo.core.secrets import (
    clean_page,
    find_secrets,
    redact,
    secrets_of,
    without_secrets,
)
from memrepo.core.state import (
    Change,
    Create,
    Delete,
    Remove,
    State,
    Step,
    Update,
    Write,
    apply,
    play,
)
from memrepo.merge.tombstones import Tombstone, tombstones_in
from memrepo.policies.claims import is_by_person, redact_fields, redact_memory
from memrepo.policies.hotcache import CRITICAL, SYNC, hot_of, may_be_hot
from memrepo.policies.rules import HotRules
from memrepo.policies.standing import is_retired
from memrepo.read.marks import without_private
from memrepo.store import history, run_files
from memrepo.store.objects import RUN, Chain, NewCommit
from memrepo.store.repo import Repository
from memrepo.text.words import private_phrases
from memrepo.views.hot import hot_changes

TRIES = 3
"""How often a change is computed again because another commit landed in the meantime."""

_Done = TypeVar("_Done")


def retried(store: Repository, attempt: Callable[[], _Done]) -> _Done:
    """Call a function that computes and commits a change. Retry if another commit landed first.

    From the second attempt on, other writers are locked out. Otherwise a slow writer might never
    succeed.
    """
    for turn in range(1, TRIES + 1):
        with store.writing() if turn > 1 else nullcontext():
            try:
                return attempt()
            except BranchMoved:
                if turn == TRIES:
                    raise
    raise AssertionError("unreachable")


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """A chain of commits ready to be written, and the resulting state."""

    chain: Chain
    state: State


def prepare(
    store: Repository,
    state: State,
    base: str,
    steps: Sequence[Step],
    context: Context,
    now: datetime,
    *,
    merge: Step | None = None,
    cost: str = "",
    author: str = RUN,
) -> Landing:
    """Validate all new contents and build the commits of steps, ending in `merge` if given.

    `cost` is the judge's receipt, a trailer of the merge commit only. Raises Rejected and
    SecretInText.
    """
    effects, after = play(state, steps)
    commits = [
        NewCommit(message=redact(message(step, context, state, after))[0], effect=effect)
        for step, effect in zip(steps, effects, strict=True)
    ]
    text = ""
    if merge:
        lines = [commit.message.partition("\n")[0] for commit in commits]
        joined = replace(context, lines=listed_steps(lines))
        text = redact(message(merge, _with(joined, Cost=cost)))[0]
    made = chain(store, state, after, commits, base=base, now=now, merge=text, author=author)
    return Landing(chain=made, state=after)


def chain(
    store: Repository,
    before: State,
    after: State,
    commits: Sequence[NewCommit],
    *,
    base: str,
    now: datetime,
    merge: str = "",
    author: str = RUN,
) -> Chain:
    """Return the chain of commits between two states. Raises Rejected and SecretInText."""
    refuse_rejected(before, after)
    for text in (merge, *(commit.message for commit in commits)):
        refuse_secret(text, "the commit message")
    refuse_new_secrets(store, base, commits)
    return Chain(
        base=base,
        commits=commits,
        merge=merge,
        author=author,
        when=store.not_before(now, base),
    )


def listed_steps(subjects: Sequence[str]) -> tuple[str, ...]:
    """Return the commit subjects to list in a run's merge message, omitting the last commit."""
    rest = len(subjects) - 1 - MAX_STEPS
    return (*subjects[:-1][:MAX_STEPS], *([f"and {rest} more"] if rest > 0 else []))


def _with(context: Context, **more: str) -> Context:
    given = {key: value for key, value in more.items() if value}
    return replace(context, extra={**(context.extra or {}), **given}) if given else context


def derived_files(work: Work, state: State) -> list[Change]:
    """Return the file changes that update the views and the hot cache to match a state."""
    from memrepo.views.hot import hot_changes
    from memrepo.views.pages import render_views

    return [*render_views(state, work.config.is_personal), *hot_changes(state, hot_rules(work))]


def missing_pages(work: Work) -> list[str]:
    """Return the generated pages that are deleted in the work tree but still in git."""
    layout, tree = work.tree.layout, work.tree.files
    hot = (path for name in HOT_NAMES if tree.regular(path := layout.prefix + name))
    return work.store.work.missing([*tree.below(layout.area("views")), *hot])


def restore_pages(work: Work) -> None:
    """Put back the generated pages that are missing from the work tree: a write needs them."""
    if lost := missing_pages(work):
        work.store.work.restore(lost)


def derived_contents(work: Work, state: State) -> dict[str, bytes | None]:
    """Return new contents by path for each outdated derived file, or None for a file to delete."""
    contents: dict[str, bytes | None] = {}
    for page in derived_files(work, state):
        match page:
            case Write(path=path, data=data):
                contents[path] = data
            case Delete(path=path):
                contents[path] = None
            case _:
                raise TypeError(f"a view is a file, not {page!r}")
    return contents


def are_pages_current(work: Work, *, rendered: bool = False) -> bool:
    """Return whether the derived files match this commit's memories. The answer is stored.

    `rendered` is true for a commit with all of its pages rendered.
    """
    kind = f"pages {hot_rules(work).path}"
    return work.answer(kind, bool, lambda: rendered or not derived_files(work, work.tree.state()))


def hot_rules(work: Work) -> HotRules:
    """Return the rules of the hot cache. Use `HOT.md` if the configured path has another owner."""
    rules = work.config.rules.hot
    path = work.tree.layout.prefix + rules.path
    if work.tree.files.id_of(path):
        return rules
    data = work.store.work.read(path)
    if data is not None and standing_of("hot", data) == "foreign":
        return replace(rules, path="HOT.md")
    return rules


# -- no secrets, and nothing that a person rejected ------------------------------------------------


class SecretInText(MemrepoError):
    """Raised when a text contains a secret."""

    exit_code = Exit.USAGE

    def __init__(
        self,
        kinds: str,
        what: str = "the text",
        fix: str = "remove the secret, or name the place where it is stored",
    ) -> None:
        off = [kind for kind in SWITCHED if kind in kinds.split(", ")]
        if off:
            fix += f"; `off = {json.dumps(off)}` under [secrets] in {CONFIG_NAME} (`secrets.off`)"
            fix += " remembers such a number" if off != ["seed-phrase"] else " remembers such words"
        super().__init__(f"{what} holds a secret ({kinds}): nothing was written", fix=fix)


def refuse_secret(text: str, what: str) -> None:
    """Raise SecretInText if a text contains a secret. `what` names the text in the message."""
    if secrets := find_secrets(text):
        raise SecretInText(", ".join(sorted({s.kind for s in secrets})), what)


def refuse_hidden(text: str, what: str) -> None:
    """Raise SecretInText or UsageError if a text has a secret or private parts."""
    refuse_secret(text, what)
    may_hide = "%%" in text or "<private" in text.lower() or private_phrases().search(text)
    if may_hide and without_private(text, comments=False) != text:
        raise UsageError(
            f'{what} has private parts (`<private>`, `%% %%`, "do not remember this"),'
            " which are never stored",
            fix="leave them out, or put a tag that is only named into backticks",
        )


def refuse_new_secrets(store: Repository, base: str, commits: Iterable[NewCommit]) -> None:
    """Raise SecretInText if files to commit contain a secret that the tree of `base` does not."""
    files = (item for commit in commits for item in commit.effect.items())
    for path, data in files:
        for secret, value in secrets_of(path, data) if data is not None else ():
            if not base or not _is_known(store.snapshot(base).state(), path, value):
                raise SecretInText(
                    secret.kind,
                    f"{visible(path)}, line {secret.line},",
                    fix="leave it out of what is written; if it is not a secret, end its line with"
                    " <!-- memrepo:allow-secret --> where it comes from",
                )


def redact_steps(steps: Iterable[Step]) -> tuple[list[Step], list[Problem]]:
    """Replace what looks like a secret in the changes of a run, and return a warning for each.

    Sources are redacted when they are read. Texts may look like a secret only next to each other,
    in a file of a memory or below its heading. Otherwise every run would be refused. Invisible
    characters are left out.
    """
    found, problems = list[Step](), list[Problem]()
    for step in steps:
        changes = list[Change]()
        for change in step.changes:
            match change:
                case Create(memory=memory):
                    clean, kinds = redact_memory(_without_deceptive(memory))
                    changes.append(replace(change, memory=clean))
                    problems += [_redacted(clean.path, kinds)] if kinds else []
                case Update(fields=fields, body=body):
                    body = body and strip_deceptive(without_secrets(body))
                    changes.append(replace(change, fields=redact_fields(fields), body=body))
                case Write(path=path, data=data):
                    changes.append(replace(change, data=clean_page(path, data)))
                case _:
                    changes.append(change)
        found.append(replace(step, changes=tuple(changes)))
    return found, problems


def _without_deceptive(memory: Memory) -> Memory:
    texts = {key: value for key, value in memory.fields.items() if isinstance(value, str)}
    body = memory.body.lstrip("\ufeff")
    if body == memory.body and not any(map(find_deceptive, (body, *texts.values()))):
        return memory
    fields = {key: strip_deceptive(value) for key, value in texts.items()}
    return memory.with_fields(fields, strip_deceptive(body))


def _redacted(path: str, kinds: Collection[str]) -> Problem:
    named = ", ".join(sorted(kinds))
    return Problem(
        path=path,
        rule="source-secret-redacted",
        message=f"found a secret ({named}): the memory contains a placeholder instead",
        fix="remove the secret from the workspace too",
        severity="warning",
    )


def _is_known(before: State, path: str, value: str) -> bool:
    """Return whether a value already existed in the file or in any memory."""
    if value in before.files.get(path, b"").decode("utf-8", "replace"):
        return True
    return any(
        value in text
        for memory in before.memories.values()
        for text in (memory.body, *memory.fields.values())
        if isinstance(text, str)
    )


_TRIPLE = ("subject", "predicate", "object", "scope")


class Rejected(MemrepoError):
    """Raised when a statement to be written was rejected by a person before."""

    exit_code = Exit.DECIDE

    def __init__(self, memory: Memory, stone: Tombstone, *, similar: bool = False) -> None:
        how = "is close to" if similar else "says"
        why = f": {visible(stone.reason)}" if stone.reason else ""
        super().__init__(
            f"{memory.id} {how} what {stone.summary}{why}",
            fix=f"`memrepo reject {stone.key} --undo` lifts the rejection, if it is right after all"
            + (", or let a person write it" if similar else ""),
        )


def refuse_lifting(stones: Iterable[Tombstone], actor: str) -> None:
    """Raise if a program would lift a rejection that a person made."""
    if not actor.startswith("human:") and any(s.by.startswith("human:") for s in stones):
        raise MemrepoError(
            f"{actor} may not lift a rejection: only a person may",
            fix="run it without MEMREPO_ACTOR, as one of human_authors in memrepo.toml",
            exit_code=Exit.DECIDE,
        )


def refuse_rejected(before: State, after: State) -> None:
    """Raise Rejected if `after` contains a barred memory in recall that `before` did not contain.

    A barred memory that was already in recall does not block other writes. The sweep forgets it.
    """
    stones, known = tombstones_in(after), tombstones_in(before)
    if not stones:
        return
    same = stones.rejected == known.rejected
    for memory in _written(before, after) if same else stones.suspected(after.every):
        old = before.memories.get(memory.id)
        if memory.status == "forgotten":
            continue
        stone = stones.find_barring(memory)
        if stone is None:
            continue
        if old is None or old.status == "forgotten" or known.find_barring(old) is None:
            raise Rejected(memory, stone)


def _written(before: State, after: State) -> Iterator[Memory]:
    """Yield the memories of `after` that are new or changed since `before`, in order."""
    apart = differing(before.memories, after.memories)
    return (after.memories[id_] for id_ in after.memories if id_ in apart)


def near_rejected(before: State, after: State) -> Iterator[tuple[Memory, Tombstone]]:
    """Yield (memory, tombstone) for each new wording that resembles a rejected text."""
    for memory in _written(before, after) if tombstones_in(after) else ():
        old = before.memories.get(memory.id)
        if memory.status != "active":
            continue
        if old is not None and _statement(old) == _statement(memory):
            continue
        if (stone := tombstones_in(after).near(memory)) is not None:
            yield memory, stone


def _statement(memory: Memory) -> tuple[str, ...]:
    return (memory.body, *(getattr(memory, key) for key in _TRIPLE))


def close_calls(before: State, after: State, actor: str) -> tuple[Problem, ...]:
    """Return warnings about texts similar to rejected ones. Raise Rejected for a program."""
    found = list(near_rejected(before, after))
    if found and not actor.startswith("human:"):
        raise Rejected(*found[0], similar=True)
    return tuple(
        Problem(
            path=memory.path,
            rule="rejected-similar",
            severity="warning",
            message=f"{memory.id} is similar to a statement that was rejected as {stone.key}"
            + (f" ({visible(stone.reason)})" if stone.reason else ""),
            fix=f"`memrepo forget {memory.id}` takes it out of recall again",
        )
        for memory, stone in found
    )


def with_pages(state: State, changes: Iterable[Change], personal: bool) -> tuple[Change, ...]:
    """Return the given file changes plus the view updates that they require."""
    from memrepo.views.pages import render_views

    made = tuple(changes)
    return (*made, *render_views(apply(state, made), personal))


def back_in_recall(memory: Memory) -> Update:
    """Return the update that restores a forgotten memory, as superseded if it has a successor."""
    status = "superseded" if memory.superseded_by else None
    return Update(id=memory.id, fields={"status": status})


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
    first page if a memory on it changed, or what a line of a log says was taken away.
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
            _refuse_hidden_fields(step)
            reason = f"{request.reason}; {step.reason}" if request.reason else step.reason
            try:
                refuse_taking(at, state, after, step.op, dry_run=request.dry_run)
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
        if any(_touches_page(before.memories.get(i), state.memories.get(i)) for i in ids):
            pages, last = hot_changes(state, hot_rules(at)), steps[-1]
            steps[-1] = replace(last, changes=(*last.changes, *pages), memories=last.memory_ids)
        base, now = at.tree.commit, first.call.now
        landing = prepare(at.store, before, base, steps, at.context(), now, author=at.author)
        notices += close_calls(before, landing.state, at.actor)
        commit = ""
        if not request.dry_run:
            commit = at.store.land(landing.chain, f"{steps[0].op}-{at.tree.commit[:10]}")
            notices += at.store.notices
            run_files.drop_decided(at.store.folder, landing.state.memories)
        return StepsWritten(
            steps=tuple(steps),
            commit=commit,
            state=landing.state,
            notices=tuple(notices),
            refused=tuple(refused),
        )

    return retried(first.store, attempt)


def _touches_page(old: Memory | None, new: Memory | None) -> bool:
    """Return whether a change may show on the first page, whose last lines are those of logs."""
    if any(memory is not None and hot_of(memory) for memory in (old, new)):
        return True
    if old is None or old.status != "active":
        return False
    keys = ("status", "body", "scope")
    return new is None or any(getattr(old, key) != getattr(new, key) for key in keys)


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


def _refuse_hidden_fields(step: Step) -> None:
    written = [c.memory.fields for c in step.changes if isinstance(c, Create)]
    written += [c.fields for c in step.changes if isinstance(c, Update)]
    for key, value in (item for fields in written for item in fields.items()):
        for text in value if isinstance(value, tuple | list) else (value,):
            if isinstance(text, str):
                refuse_hidden(text, key)


def clean_text(text: str, what: str) -> str:
    """Return a text normalised for storage. Raises UsageError or SecretInText."""
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if not text.strip():
        raise UsageError(f"{what} is empty", fix="give a text")
    refuse_hidden(text, what)
    return text


_ENDS = ("valid_until", "scope")
"""Fields that can end an active memory or move it to another scope."""
_MARKS = ("pinned", "critical")
_PLACING = "(pin|promote|demote)"
"""The operations by which a memory is given a mark or a place, or loses it."""


class PersonDecides(MemrepoError):
    """Raised when an agent would take a person's memory out of recall or off the first page."""

    exit_code = Exit.DECIDE

    def __init__(self, actor: str, memories: Sequence[Memory], after: State) -> None:
        more = f" and {len(memories) - 1} more" if len(memories) > 1 else ""
        old = memories[0]
        is_new = any(old.id in (m.id, *m.supersedes) for m in after.active if m.body != old.body)
        how = f"supersede {old.id} TEXT" if is_new else f"forget {old.id}"
        self.memories = memories
        super().__init__(
            f"{actor} may not take {old.id}{more} out of recall or off the first page:"
            " a person wrote, confirmed, pinned or promoted it, and must decide",
            fix=f"ask that person to run: memrepo {how}"
            " (or to allow it: `agents.removals` in memrepo.toml)",
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


def refuse_taking(
    work: Work, before: State, after: State, verb: str, *, dry_run: bool = False
) -> None:
    """Raise PersonDecides if an agent would take a person's memory away, and record the request.

    Losing a mark that keeps a memory on the first page counts too: sessions start with that page.
    A memory that a person pinned, promoted or marked as critical is that person's like its text.
    """
    actor = work.call.actor
    if actor and not actor.startswith("human:") and work.config.agents.removals == "refuse":
        taken = [
            memory
            for memory in before.active
            if _is_taken(memory, after.memories.get(memory.id)) and not is_retired(memory)
            if is_by_person(memory) or _is_placed_by_person(work, memory)
        ]
        if taken:
            new = [m for m in after.active if {*m.supersedes} & {old.id for old in taken}]
            texts = " and ".join(repr(words_of(memory, SUBJECT_LENGTH)) for memory in new)
            what = f"replace it by {texts}" if new else f"{verb} it"
            if not dry_run:
                run_files.ask(work.store.folder, taken, f"{work.actor} asked to {what}")
            raise PersonDecides(work.actor, taken, after)


def _is_placed_by_person(work: Work, memory: Memory) -> bool:
    """Return whether a person's last pin or promotion of a memory gave it the place it has.

    The file has the place but not who decided it; the commit has both.
    """
    if not (memory.pinned or memory.critical or hot_of(memory)):
        return False
    wanted = (f"Op: {_PLACING}$", "Actor: human:", f"Memory: {memory.id}$")
    greps = (f"--grep=^{PREFIX}{one}" for one in wanted)
    found = history.entries(work.store.repo, "-1", "--all-match", "-E", *greps, work.tree.commit)
    return any(
        (then := work.store.snapshot(entry.commit).state().memories.get(memory.id)) is not None
        and (then.pinned or then.critical or hot_of(then) is not None)
        for entry in found
    )


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
