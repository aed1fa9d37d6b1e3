"""What no write brings in: secrets, and what a person rejected.

Secrets are looked for in texts that are given, in files and in commit messages. A text that comes
from outside is refused whatever it says about itself. What a chain writes is compared with the tree
before: a secret that a hand committed does not stop what is done about its memory, but none comes
in, and none comes back from history. There a line that allows one, and the baseline, count as they
do for `check`. What git has merged already is `check`'s to tell of.

Every chain passes `refuse_rejected` in `landing`, so that no path to the branch forgets. Runs,
imports, accepts and merges leave such memories out before; a single write is refused.

What a caller that is bound to a scope sees is decided below the verbs: `Work.tree` has no memories
of other scopes. What it is refused is at the end of this module (docs/agents.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memrepo.checks.secrets import secrets_of
from memrepo.core.changes import Change, Create, Remove, Step, Update, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.layout import CONFIG_NAME
from memrepo.core.memory import Memory, differing
from memrepo.core.problems import Problem
from memrepo.core.secret_kinds import SWITCHED
from memrepo.core.secrets import find_secrets
from memrepo.core.state import State, apply
from memrepo.merge.tombstones import Tombstone, tombstones_in
from memrepo.policies.rules import PageRules
from memrepo.views.pages import render_views

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.store.repo import Repository
    from memrepo.store.stream import Commit


class SecretInText(MemrepoError):
    """A text that holds a secret is not written: git would keep it for ever."""

    exit_code = Exit.USAGE

    def __init__(
        self,
        kinds: str,
        what: str = "the text",
        fix: str = "leave the secret out, or name where it is kept",
    ) -> None:
        off = [kind for kind in SWITCHED if kind in kinds.split(", ")]
        if off:
            fix += f"; `off = {json.dumps(off)}` under [secrets] in {CONFIG_NAME} (`secrets.off`)"
            fix += " remembers such a number" if off != ["seed-phrase"] else " remembers such words"
        super().__init__(f"{what} holds a secret ({kinds}): nothing was written", fix=fix)


def refuse_secret(text: str, what: str) -> None:
    """Raise SecretInText where a text holds a secret; `what` names the text."""
    if secrets := find_secrets(text):
        raise SecretInText(", ".join(sorted({s.kind for s in secrets})), what)


def refuse_new_secrets(store: Repository, base: str, commits: Iterable[Commit]) -> None:
    """Raise SecretInText where a commit's files hold a secret that the tree of `base` does not."""
    for commit in commits:
        for path, data in commit.effect.files.items():
            if data is not None and next(secrets_of(path, data), None):
                _refuse_new(store, base, path, data)


def _refuse_new(store: Repository, base: str, path: str, data: bytes) -> None:
    before = store.snapshot(base).state() if base else None
    for secret, value in secrets_of(path, data):
        if before is None or not _was_there(before, path, value):
            raise SecretInText(
                secret.kind,
                f"{visible(path)}, line {secret.line},",
                fix="leave it out of what is written; if it is not a secret, end its line with"
                " <!-- memrepo:allow-secret --> where it comes from",
            )


def _was_there(before: State, path: str, value: str) -> bool:
    """Return whether a file, or any memory, held a value already."""
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
    """What is to be written says what a person rejected."""

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
    """Raise where a program would lift what a person rejected, by whatever command."""
    if not actor.startswith("human:") and any(s.by.startswith("human:") for s in stones):
        raise MemrepoError(
            f"{actor} may not lift a rejection: only a person may",
            fix="run it without MEMREPO_ACTOR, as one of human_authors in memrepo.toml",
            exit_code=Exit.DECIDE,
        )


def refuse_rejected(before: State, after: State) -> None:
    """Raise Rejected where `after` has in recall what a tombstone bars and `before` had not.

    A memory that was there already is the sweep's to forget and stops no other write.
    """
    stones, known = tombstones_in(after), tombstones_in(before)
    if not stones:
        return
    same = stones.keys == known.keys
    for memory in _written(before, after) if same else stones.suspected(after.every):
        old = before.memories.get(memory.id)
        if memory.status == "forgotten":
            continue
        stone = stones.bar(memory)
        if stone is None:
            continue
        if old is None or old.status == "forgotten" or known.bar(old) is None:
            raise Rejected(memory, stone)


def _written(before: State, after: State) -> Iterator[Memory]:
    """Yield the memories that are not as they were, in order."""
    apart = differing(before.memories, after.memories)
    return (after.memories[id_] for id_ in after.memories if id_ in apart)


def near_rejected(before: State, after: State) -> Iterator[tuple[Memory, Tombstone]]:
    """Yield each memory in recall whose words are new and close to a rejected text."""
    for memory in _written(before, after) if tombstones_in(after) else ():
        old = before.memories.get(memory.id)
        if memory.status != "active":
            continue
        if old is not None and _statement(old) == _statement(memory):
            continue
        if (stone := tombstones_in(after).near(memory)) is not None:
            yield memory, stone


def _statement(memory: Memory) -> tuple[str, ...]:
    return (memory.body, *(memory.text(key) for key in _TRIPLE))


def close_calls(before: State, after: State, actor: str) -> tuple[Problem, ...]:
    """Warn a person of a text similar to a rejected one; raise Rejected for anybody else."""
    found = list(near_rejected(before, after))
    if found and not actor.startswith("human:"):
        raise Rejected(*found[0], similar=True)
    return tuple(
        Problem(
            path=memory.path,
            rule="rejected-similar",
            severity="warning",
            message=f"{memory.id} is close to what was rejected as {stone.key}"
            + (f" ({visible(stone.reason)})" if stone.reason else ""),
            fix=f"`memrepo forget {memory.id}` takes it out of recall again",
        )
        for memory, stone in found
    )


def with_pages(state: State, changes: Iterable[Change], rules: PageRules) -> tuple[Change, ...]:
    """Return changes and the views that follow them: what is rejected is not printed on."""
    made = tuple(changes)
    return (*made, *render_views(apply(state, made), rules))


def barred_ids(state: State, stone: Tombstone, bars: Callable[[Memory], bool]) -> tuple[str, ...]:
    """Return the memories in recall that a new tombstone takes out of it, its own one first."""
    found = [m.id for m in state.memories.values() if m.status != "forgotten" and bars(m)]
    return tuple(sorted(found, key=lambda id_: (id_ != stone.memory, id_)))


def back_in_recall(memory: Memory) -> Update:
    """Return what makes a forgotten memory what it was: superseded where something replaced it."""
    status = "superseded" if memory.texts("superseded_by") else None
    epoch = memory.fields.get("status_epoch", 0) + 1
    return Update(id=memory.id, fields={"status": status, "status_epoch": epoch})


def written(path: str, data: bytes, updates: Sequence[Update]) -> tuple[Change, ...]:
    """Return a tombstone's file together with what it does to memories."""
    return (Write(path=path, data=data), *updates)


# -- callers that are bound to a scope ----------------------------------------------------------

SCOPED_VERBS = "search show recent related thread session add supersede forget".split()
"""What a bound caller may ask for; all else tells of the whole repository, or writes it."""


class OutOfScope(MemrepoError):
    """A caller that is bound to a scope asked for what lies beyond it."""

    exit_code = Exit.USAGE

    def __init__(self, scope: str, what: str) -> None:
        super().__init__(
            f"{what}: this caller is bound to the scope {scope}",
            fix="a person asks without a scope, at the command line",
        )


def refuse_verb(scope: str, verb: str) -> None:
    """Raise OutOfScope for a verb that is about the whole repository."""
    if scope and verb not in SCOPED_VERBS:
        raise OutOfScope(scope, f"{verb} is about the whole repository")


def narrowed(bound: str, asked: str) -> str:
    """Return the scope that holds where one is bound and another asked for; raises OutOfScope."""
    if bound and asked and asked != bound:
        raise OutOfScope(bound, f"the scope {asked[:100]} is another one")
    return bound or asked


def refuse_beyond(scope: str, after: State, step: Step) -> None:
    """Raise OutOfScope where a step would write a memory that is not of the scope itself."""
    for change in step.changes:
        match change:
            case Create(memory=memory):
                pass
            case Update(id=id_) | Remove(id=id_):
                memory = after.memories[id_]
            case _:
                continue
        if memory.text("scope") != scope:
            of = memory.text("scope")
            said = f"of the scope {of}" if of else "of the whole repository"
            raise OutOfScope(scope, f"{memory.id} is {said}")
