"""Checks on every write: no secrets, and no statements that a person rejected.

Secrets are searched for in given texts, files and commit messages. A secret that is already in a
committed file does not block later changes to its memory. New secrets are refused, also when they
would come back from history. Lines that allow a secret, and the baseline, count as they do for
`check`. Secrets in commits that git has already merged are reported by `check`.

Every chain of commits passes `refuse_rejected` in `landing`, so no write can skip the check. Runs,
imports, accepts and merges drop rejected memories earlier. A single write is refused.

A caller can be bound to a scope. `Work.tree` then contains no memories of other scopes. The
functions at the end of this module refuse requests beyond the scope (docs/agents.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.core.codec import encode
from memrepo.core.errors import Exit, MemrepoError, Problem
from memrepo.core.ids import visible
from memrepo.core.layout import CONFIG_NAME
from memrepo.core.memory import Memory, differing
from memrepo.core.secret_kinds import SWITCHED
from memrepo.core.secrets import (
    clean_page,
    find_secrets,
    placeholder,
    redact,
    secret_fault,
    secrets_of,
    without_secrets,
)
from memrepo.core.state import Change, Create, Remove, State, Step, Update, Write, apply
from memrepo.merge.tombstones import Tombstone, tombstones_in

if TYPE_CHECKING:
    from memrepo.store.objects import NewCommit
    from memrepo.store.repo import Repository


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
    in a file of a memory or below its heading. Otherwise every run would be refused.
    """
    found, problems = list[Step](), list[Problem]()
    for step in steps:
        changes = list[Change]()
        for change in step.changes:
            match change:
                case Create(memory=memory):
                    clean, kinds = _redact_memory(memory)
                    changes.append(replace(change, memory=clean) if kinds else change)
                    problems += [_redacted(clean.path, kinds)] if kinds else []
                case Update(fields=fields, body=body) if secret_fault(
                    *_strings(fields), body or ""
                ):
                    fields = {key: _redact_value(value) for key, value in fields.items()}
                    body = body and without_secrets(body)
                    changes.append(replace(change, fields=fields, body=body))
                case Write(path=path, data=data):
                    changes.append(replace(change, data=clean_page(path, data)))
                case _:
                    changes.append(change)
        found.append(replace(step, changes=tuple(changes)))
    return found, problems


def _redact_memory(memory: Memory) -> tuple[Memory, frozenset[str]]:
    """Return a memory without secrets in its text, fields and file, and the kinds found."""
    shown, secrets = redact(f"### {memory.fields.get('context', '')}\n\n- {memory.body}")
    kinds = {secret.kind for secret in secrets}
    texts = [*_strings(memory.fields)]
    if find_secrets("\n\n".join(texts)):  # one search of all takes less than one of each
        kinds |= {secret.kind for text in texts for secret in find_secrets(text)}
    kinds |= {secret.kind for secret, _ in secrets_of(memory.path, encode(memory))}
    if not kinds:
        return memory, frozenset()
    folder = memory.path.rpartition("/")[0]  # file names contain words of the text
    clean = replace(
        memory.with_fields(
            {key: _redact_value(value) for key, value in memory.fields.items()},
            shown.partition("\n\n- ")[2],
        ),
        path=f"{folder}/redacted-{memory.id[4:10]}.md",
    )
    if any(secrets_of(clean.path, encode(clean))):  # its fields look like a secret together
        words = {key: None for key, value in clean.fields.items() if isinstance(value, str)}
        kept = ("id", "type", "status", "captured", "scope", "standing")
        clean = clean.with_fields({key: None for key in words if key not in kept}, clean.body)
    if any(secrets_of(clean.path, encode(clean))):
        clean = clean.with_fields({}, " ".join(map(placeholder, sorted(kinds))))
    return clean, frozenset(kinds)


def _redact_value(value: object) -> object:
    match value:
        case str():
            return without_secrets(value)
        case tuple() if all(isinstance(one, str) for one in value):
            return tuple(dict.fromkeys(map(without_secrets, value)))
        case _:
            return value


def _strings(fields: Mapping[str, object]) -> Iterator[str]:
    for value in fields.values():
        values = value if isinstance(value, tuple) else (value,)
        yield from (one for one in values if isinstance(one, str))


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


# -- callers bound to a scope -------------------------------------------------------------------

SCOPED_VERBS = "search show related thread session add supersede forget".split()
"""Verbs that a caller bound to a scope may call. All others read or write the whole repository."""


class OutOfScope(MemrepoError):
    """Raised when a caller restricted to a scope requests something outside that scope."""

    exit_code = Exit.USAGE

    def __init__(self, scope: str, what: str) -> None:
        super().__init__(
            f"{what}: this caller is bound to the scope {scope}",
            fix="run it at the command line, without a scope",
        )


def refuse_verb(scope: str, verb: str) -> None:
    """Raise OutOfScope if a scope-restricted caller uses a verb for the whole repository."""
    if scope and verb not in SCOPED_VERBS:
        raise OutOfScope(scope, f"{verb} applies to the whole repository")


def narrowed(bound: str, asked: str) -> str:
    """Return the effective scope of a request. Raise OutOfScope if it requests another scope."""
    if bound and asked and asked != bound:
        raise OutOfScope(bound, f"the scope {asked[:100]} is another one")
    return bound or asked


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
