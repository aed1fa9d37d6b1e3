"""`memrepo trust`: trust the programs that a repository's pre-commit configuration names."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.store import settings


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo trust`."""

    dry_run: Annotated[
        bool, option("show the programs that it names, trust nothing", "--dry-run")
    ] = False


class Result(VerbResult, frozen=True, kw_only=True):
    """The parsed configuration, line by line, and whether it is now trusted."""

    names: tuple[str, ...]
    trusted: bool
    state: Literal["nothing", "known", "accepted", "not yet"]
    """No configuration, trusted before, trusted by this call, or not trusted (dry run)."""


def do(work: Work, request: Request) -> Result:
    """Return the programs that the configuration names, and mark the configuration as trusted."""
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
    """Return the whole configuration as pre-commit parses it, with one value per line.

    This shows what runs even if the text uses flow style, folded lines or anchors. A text that
    cannot be parsed runs nothing, and its lines are returned unchanged.
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
