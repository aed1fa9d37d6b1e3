"""A caller that is bound to a scope: what it may ask for, and where it may write.

What it sees is decided below the verbs: `Work.tree` has no memories of other scopes, and the index
finds none. Here is what a bound caller is refused; docs/agents.md says it to people.
"""

from __future__ import annotations

from memrepo.core.changes import Create, Remove, Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.state import State

VERBS = ("search", "show", "recent", "related", "thread", "session", "add", "supersede", "forget")
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
    if scope and verb not in VERBS:
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
