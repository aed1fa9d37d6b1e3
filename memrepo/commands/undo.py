"""`memrepo undo`: take the last operation of memrepo on the branch back.

An undo is an operation as well: a second one brings back what the first one took. What lies further
back is named: `memrepo revert`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from memrepo.commands.revert import NothingToRevert, Wanted, revert
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.single import write_arguments
from memrepo.core.errors import Exit
from memrepo.core.ids import visible
from memrepo.store import history


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Revert the newest commit along first parents that memrepo wrote."""
    with opened(session) as desk:
        desk.require_writable()
        desk.store.refuse_unfit()
        if not options.dry_run:
            desk.store.recover()
        target = _last(desk)
        wanted = Wanted(
            target=target,
            latest=target.commit == desk.tree.commit,
            dry_run=options.dry_run,
            reason=options.reason or "undone",
        )
        answer = revert(desk, session, wanted)
    said = visible(target.subject)
    data = {**answer.data, "undone": {"commit": target.commit, "op": target.op, "subject": said}}
    what = f"{said} ({target.commit[:10]})"
    if answer.exit == Exit.DECIDE:
        more = f"choose with `memrepo revert {target.commit[:10]} --ours` or `--theirs`"
        return replace(answer, data=data, text=f"{what}\n{answer.text}\n{more}")
    if not answer.data["commits"]:
        return replace(answer, data=data, text=f"would undo {what}\n{answer.text}")
    return replace(
        answer,
        data=data,
        text=f"undid {what}\n{answer.text}\n`memrepo undo` again brings it back",
    )


def _last(desk: Desk) -> history.Entry:
    """Return the last operation; commits of a person are none and are passed over."""
    for entry in history.entries(desk.store.repo, "--first-parent", desk.tree.commit):
        if entry.trailer("Op") == "init":
            break
        if entry.trailer("Op") and entry.parents:
            return entry
    raise NothingToRevert(
        "memrepo has done nothing here that could be undone",
        fix="commits of your own are taken back by `git revert`",
    )
