"""Which clone runs: with `run.owner` set, one purifier; the others capture, recall and sync.

Two judges word the same thing twice, and paraphrases are near-duplicates that no merge can join.
"""

from __future__ import annotations

import tomllib

from memrepo.actions.run.landing import prepare
from memrepo.actions.work import Work
from memrepo.config import ConfigError, line_of, parse_config
from memrepo.core.changes import Plan, Step, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.patterns import regex
from memrepo.store.clone import clone_name, is_called
from memrepo.store.identity import author

OWNER = "run.owner"
_LINE = regex(r"""^(\s*["']?(?:run\.)?owner["']?\s*=\s*)("[^"]*"|'[^']*')""")
_SECTION = regex(r"^\s*\[\s*run\s*\]")


class NotTheOwner(MemrepoError):
    """Another clone is the one that runs."""

    exit_code = Exit.DECIDE

    def __init__(self, owner: str, here: str) -> None:
        super().__init__(
            f"runs are {owner}'s ({OWNER} in memrepo.toml), and this clone is {here}",
            fix="`memrepo sync` brings what it distils; `memrepo run --take-over` makes this "
            "clone the one that runs (`git config memrepo.clone NAME` gives it a name)",
        )


class CannotTakeOver(MemrepoError):
    """`memrepo.toml` is written in a way that the owner cannot be set in."""

    exit_code = Exit.USAGE

    def __init__(self, path: str, here: str) -> None:
        super().__init__(
            f"{path}: found no place to set {OWNER} in",
            fix=f'write owner = "{here}" under [run] by hand and commit it',
        )


def refuse_other(work: Work, *, take_over: bool) -> None:
    """Raise NotTheOwner where another clone runs, unless this one is to take over."""
    owner = work.config.get(OWNER)
    if owner and not take_over and not is_called(work.store.repo, owner):
        raise NotTheOwner(owner, clone_name(work.store.repo))


def take_over(work: Work) -> str:
    """Make this clone the one that runs, and say so; empty where it is that already.

    A commit of its own before the run: taking back the run does not give ownership back.
    """
    owner, here = work.config.get(OWNER), clone_name(work.store.repo)
    if owner and is_called(work.store.repo, owner):
        return ""
    path = work.tree.layout.config
    data = work.store.work.read(path)
    text = (work.tree.files[path] if data is None else data).decode("utf-8")
    step = Step(
        op="edit",
        what=f"{OWNER} is {here}",
        reason="asked for with --take-over",
        changes=(Write(path=path, data=with_owner(path, text, here).encode("utf-8")),),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    landing = prepare(
        work.store,
        work.tree.state(),
        plan,
        work.context(),
        work.call.now,
        author=author(work.store.repo),
    )
    commit = work.store.land(landing.chain, "take-over")
    return f"runs are {here}'s from now on ({commit[:10]})"


def with_owner(path: str, text: str, owner: str) -> str:
    """Return a configuration with `run.owner` set; all other bytes stay. Raises CannotTakeOver."""
    lines = text.split("\n")
    at = line_of(text, OWNER)
    section = next((n for n, line in enumerate(lines) if _SECTION.match(line)), None)
    value = f'owner = "{owner}"'
    if at:
        lines[at - 1] = _LINE.sub(lambda m: f'{m[1]}"{owner}"', lines[at - 1])
    elif section is not None:
        lines.insert(section + 1, value)
    else:
        lines = [*text.rstrip("\n").split("\n"), "", "[run]", value, ""]
    edited = "\n".join(lines)
    try:
        if parse_config(edited).get(OWNER) == owner:
            return edited
    except (ConfigError, tomllib.TOMLDecodeError):
        pass
    raise CannotTakeOver(path, owner)
