"""`memrepo trust`: accept the programs that a repository's pre-commit configuration names."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.patterns import regex
from memrepo.store import trust

_TELLING = regex(r"^[\s-]*(?:repo|rev|id|entry|language|args|additional_dependencies):.*\S")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `trust`."""

    dry_run: Annotated[bool, option("show what it names, trust nothing", "--dry-run")] = False


class Result(result.Result, frozen=True, kw_only=True):
    """The lines that name programs, and whether they are trusted now."""

    names: tuple[str, ...]
    trusted: bool
    state: Literal["nothing", "known", "accepted", "not yet"]
    """Nothing to trust, trusted before, trusted from now on, or not (a dry run)."""


def do(work: Work, request: Request) -> Result:
    """Show which programs the configuration names, and record that they were seen."""
    repo = work.store.repo
    lines = trust.text_of(repo).splitlines()
    told = tuple(visible(line) for line in lines if _TELLING.match(line))
    why = trust.untrusted(repo)
    if told and not request.dry_run:
        trust.trust(repo)
    state: Literal["known", "accepted", "not yet"] = "known"
    if why:
        state = "not yet" if request.dry_run else "accepted"
    return Result(
        names=told,
        trusted=bool(lines) and state != "not yet",
        state=state if lines else "nothing",
    )
