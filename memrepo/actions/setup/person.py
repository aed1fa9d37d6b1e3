"""Whether the person at this clone counts as a person, and how to add them to `human_authors`.

Edits of everybody else count as a program's. A second person who clones a repository is not in the
list yet, which `init`, `status` and `sync` say.
"""

from __future__ import annotations

import json
import re
import tomllib

from memrepo.actions.landing import prepare
from memrepo.actions.work import Work
from memrepo.core.changes import Plan, Step, Write
from memrepo.core.errors import UsageError
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.store.errors import FilesInTheWay, problem
from memrepo.store.settings import person

_KEY = "human_authors"
_LIST = regex(rf"^{_KEY}[ \t]*=[ \t]*\[[^\]]*\]", re.MULTILINE)
_TABLE = regex(r"^\[", re.MULTILINE)


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
    store, path = work.store, work.tree.layout.config
    data = work.tree.files[path]
    if store.work.read(path) != data:
        raise FilesInTheWay([path])
    text = with_person(data.decode(), email, path)
    step = Step(
        op="edit",
        what=f"Add {email} to {_KEY}",
        reason="`memrepo init --person`: their edits count as a person's",
        changes=(Write(path=path, data=text.encode()),),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    state, now = work.tree.state(), work.call.now
    landing = prepare(store, state, plan, work.context(), now, author=work.author)
    return store.land(landing.chain, f"person-{work.tree.commit[:10]}")


def with_person(text: str, email: str, path: str) -> str:
    """Return a configuration with one more e-mail in `human_authors`.

    Raise UsageError if the list is written in a way that only a person can edit.
    """
    before = tomllib.loads(text)
    if found := _LIST.search(text):
        held = found[0][:-1].rstrip()
        joint = "" if held.endswith(("[", ",")) else ","
        line = f"{held}{joint}{'' if held.endswith('[') else ' '}{json.dumps(email)}]"
        new = text[: found.start()] + line + text[found.end() :]
    else:
        first = _TABLE.search(text)
        at = first.start() if first else len(text)
        new = f"{text[:at]}{_KEY} = {json.dumps([email])}\n\n{text[at:]}"
    wanted = {**before, _KEY: [*before.get(_KEY, ()), email]}
    try:
        is_right = tomllib.loads(new) == wanted
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise UsageError(
            f"{path}: {_KEY} is written in a way that is not edited automatically",
            fix=f"add {json.dumps(email)} to it",
        )
    return new
