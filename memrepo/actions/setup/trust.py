"""`memrepo trust`: accept the programs that a repository's pre-commit configuration names."""

from __future__ import annotations

import argparse
import re

from memrepo.actions.work import Answer, Session, opened
from memrepo.core.ids import visible
from memrepo.store import trust

_TELLING = re.compile(r"^[\s-]*(?:repo|rev|id|entry|language|args|additional_dependencies):.*\S")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dry-run", action="store_true", help="show what it names, trust nothing")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Show which programs the configuration names, and record that they were seen."""
    with opened(session) as desk:
        repo = desk.store.repo
        lines = trust.text_of(repo).splitlines()
        told = [visible(line) for line in lines if _TELLING.match(line)]
        why = trust.untrusted(repo)
        if told and not options.dry_run:
            trust.trust(repo)
    if not lines:
        said = f"there is no {trust.CONFIG}: no hook runs a program of this repository's"
    elif not why:
        said = "trusted already; nothing has changed"
    else:
        said = "not trusted (dry run)" if options.dry_run else "trusted as it is now"
    return Answer(
        data={"names": told, "trusted": bool(lines) and not (why and options.dry_run)},
        text="\n".join([*told, said]),
    )
