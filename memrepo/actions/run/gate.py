"""What a run asks before it begins: whose turn it is, whether to upgrade, what to go on with.

With `run.owner` set one clone purifies; the others capture, recall and sync. Two judges word the
same thing twice, and paraphrases are near-duplicates that no merge can join.

Runs of an older logic are not mixed with runs of this one unasked. Lineage: memory-purifier,
refuse-and-lock. Deliberate differences: the last run's manifest in the tree is the lock, so there
is no lock file to lose, and only a run that took effect opens it.

A run that broke off is gone on with: what it was asked to do, and the answers it was given.
"""

from __future__ import annotations

import tomllib
from datetime import datetime
from typing import Protocol

from memrepo.actions.landing import prepare
from memrepo.actions.run.judge_choice import CannotJudge, Choice, kind_of
from memrepo.actions.work import Work
from memrepo.config import ConfigError, line_of, parse_config
from memrepo.core.changes import Plan, Step, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.manifest import LOGIC_VERSION, SCHEMA_VERSION
from memrepo.core.patterns import regex
from memrepo.purify.pipeline import Mode
from memrepo.store.answers import Broken, KeptAnswers, broken_run, broken_runs
from memrepo.store.clone import clone_name, is_called

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
        what=f"Set {OWNER} to {here}",
        reason="`memrepo run --take-over`",
        changes=(Write(path=path, data=with_owner(path, text, here).encode("utf-8")),),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    landing = prepare(
        work.store,
        work.tree.state(),
        plan,
        work.context(),
        work.call.now,
        author=work.author,
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


class UpgradeRequired(MemrepoError):
    """The last run used an older logic or manifest schema: all must be judged once more."""

    exit_code = Exit.DECIDE

    def __init__(self, run: str, found: tuple[int, int]) -> None:
        super().__init__(
            f"upgrade required: the last run {run} has logic {found[0]} and schema {found[1]},"
            f" this memrepo has {LOGIC_VERSION} and {SCHEMA_VERSION}",
            fix="`memrepo run --acknowledge-upgrade` judges everything again, for review",
        )


class NewerLogic(MemrepoError):
    """The last run was made by a newer memrepo: this one must not write over it."""

    exit_code = Exit.DECIDE

    def __init__(self, run: str) -> None:
        super().__init__(
            f"the last run {run} was made by a newer memrepo", fix="upgrade memrepo on this machine"
        )


def upgrade_due(work: Work) -> UpgradeRequired | None:
    """Return what must be acknowledged before a run, or None; raises NewerLogic."""
    manifests = reversed(work.tree.manifests[0])
    last = next(manifests, None)
    if last is None:
        return None
    # A run that a budget or a failing judge cut short did not judge everything again.
    whole = last if not last.partial else next((m for m in manifests if not m.partial), last)
    found = (whole.logic, whole.schema)
    if last.logic > LOGIC_VERSION or last.schema > SCHEMA_VERSION:
        raise NewerLogic(last.run)
    return UpgradeRequired(whole.run, found) if found < (LOGIC_VERSION, SCHEMA_VERSION) else None


PAID = ("anthropic", "claude", "openclaw", "openai", "command", "session")
"""Judges whose answers cost money or minutes; the others say the same again for nothing."""


class Resumable(Protocol):
    """What a request to run says of going on with an earlier run."""

    @property
    def mode(self) -> str | None:
        """Return the mode that is asked for."""

    @property
    def judge(self) -> str | None:
        """Return the judge that is asked for."""

    @property
    def resume(self) -> str | None:
        """Return the run to go on with: empty for the newest, None for none."""


def resumed(first: Work, request: Resumable) -> tuple[Mode, str | None, str | None]:
    """Return the mode, the judge and the run to go on with; raises NotKept."""
    mode, judge, resume = request.mode, request.judge, request.resume
    if resume is not None:
        found = broken_run(first.store.folder, resume)
        for name, was in (("mode", found.mode), ("judge", found.kind)):
            if (given := getattr(request, name)) not in (None, was):
                raise CannotJudge(
                    f"the run {found.run} that broke off had --{name} {was}, not {given}",
                    fix=f"leave --{name} out, or run without --resume",
                )
        mode, judge, resume = found.mode, found.kind, found.run
    return ("reconciliation" if mode == "reconciliation" else "incremental"), judge, resume


def kept_for(at: Work, mode: str, resume: str | None, choice: Choice) -> KeptAnswers | None:
    """Return where the answers of this run are kept, with those of the run that it goes on with.

    Without --resume that is the newest of the same mode and judge: what was paid for is used.
    None for a judge that costs nothing.
    """
    kind = kind_of(at, choice)
    if kind not in PAID or choice.now is None:
        return None
    there = [
        b
        for b in broken_runs(at.store.folder)
        if (b.mode, b.kind) == (mode, kind) and resume in (None, b.run)
    ]
    new = Broken(run=_name(choice.now, at.tree.commit, mode, kind), mode=mode, kind=kind)
    return KeptAnswers(at.store.folder, there[-1] if there else new)


def _name(now: datetime, base: str, mode: str, kind: str) -> str:
    return f"{now:%Y%m%dT%H%M%SZ}-{digest([base, mode, kind])[:8]}"
