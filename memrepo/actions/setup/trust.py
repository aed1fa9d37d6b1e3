"""`memrepo trust`: accept the programs that a repository's pre-commit configuration names."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.patterns import regex
from memrepo.store import trust

_TELLING = regex(r"^[\s-]*(?:repo|rev|id|entry|language|args|additional_dependencies):.*\S")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `trust`."""

    dry_run: Annotated[bool, option("show what it names, trust nothing", "--dry-run")] = False


def do(work: Work, request: Request) -> Answer:
    """Show which programs the configuration names, and record that they were seen."""
    repo = work.store.repo
    lines = trust.text_of(repo).splitlines()
    told = [visible(line) for line in lines if _TELLING.match(line)]
    why = trust.untrusted(repo)
    if told and not request.dry_run:
        trust.trust(repo)
    if not lines:
        said = f"there is no {trust.CONFIG}: no hook runs a program of this repository's"
    elif not why:
        said = "trusted already; nothing has changed"
    else:
        said = "not trusted (dry run)" if request.dry_run else "trusted as it is now"
    return Answer(
        data={"names": told, "trusted": bool(lines) and not (why and request.dry_run)},
        text="\n".join([*told, said]),
    )
