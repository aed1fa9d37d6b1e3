"""`memrepo trust`: accept the programs that a repository's pre-commit configuration names."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.store import settings


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `trust`."""

    dry_run: Annotated[bool, option("show what it names, trust nothing", "--dry-run")] = False


class Result(result.Result, frozen=True, kw_only=True):
    """What is trusted, as it is parsed, line by line, and whether it is trusted now."""

    names: tuple[str, ...]
    trusted: bool
    state: Literal["nothing", "known", "accepted", "not yet"]
    """Nothing to trust, trusted before, trusted from now on, or not (a dry run)."""


def do(work: Work, request: Request) -> Result:
    """Show which programs the configuration names, and record that they were seen."""
    repo = work.store.repo
    text = settings.hooks_config(repo)
    told = tuple(map(visible, _parsed(text)))
    why = settings.untrusted(repo)
    if told and not request.dry_run:
        settings.trust(repo)
    state: Literal["known", "accepted", "not yet"] = "known"
    if why:
        state = "not yet" if request.dry_run else "accepted"
    return Result(
        names=told,
        trusted=bool(text) and state != "not yet",
        state=state if text else "nothing",
    )


def _parsed(text: str) -> list[str]:
    """Return the configuration as pre-commit reads it, whole, one value a line.

    However it is written (in braces, folded over lines, behind anchors), what is shown is what
    runs. A text that cannot be read runs nothing, and is shown as it is.
    """
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return text.splitlines()
    if not found:
        return []
    said: str = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=1 << 20)
    return said.splitlines()
