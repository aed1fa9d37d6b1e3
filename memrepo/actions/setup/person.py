"""Whether the person at this clone counts as a person, and how to add them to `human_authors`.

Edits of everybody else count as a program's. A second person who clones a repository is not in the
list yet, which `init`, `status` and `sync` say.
"""

from __future__ import annotations

from memrepo.actions.setup.configuration import set_key
from memrepo.actions.work import Work
from memrepo.core.errors import UsageError
from memrepo.core.problems import Problem
from memrepo.store.errors import FilesInTheWay, problem
from memrepo.store.settings import person

_KEY = "human_authors"


def unknown_person(work: Work) -> tuple[Problem, ...]:
    """Return a warning if what the person at this clone writes counts as a program's."""
    email = person(work.store.repo)[1]
    if work.call.actor or not email or email in work.config.human_authors:
        return ()
    return (problem("person-unknown", work.tree.layout.config, email=email),)


def add_person(work: Work) -> str:
    """Add git's e-mail of this clone to `human_authors` in a commit. Return the commit, or ""."""
    email = person(work.store.repo)[1]
    if work.call.actor and not work.call.actor.startswith("human:"):
        raise UsageError(
            f"memrepo init --person: {work.call.actor} is a program",
            fix="run it yourself, without MEMREPO_ACTOR",
        )
    if not email:
        raise UsageError(
            "memrepo init --person: git knows no e-mail of yours",
            fix="git config user.email YOU@example.org",
        )
    if email in work.config.human_authors:
        return ""
    path = work.tree.layout.config
    if work.store.work.read(path) != work.tree.files[path]:
        raise FilesInTheWay([path])
    return set_key(
        work,
        _KEY,
        [*work.config.human_authors, email],
        what=f"Add {email} to {_KEY}",
        reason="`memrepo init --person`: their edits count as a person's",
    )
