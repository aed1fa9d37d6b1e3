"""`memrepo discard`: refuse a waiting run; what it proposed is not proposed again."""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from memrepo.commands.landing import prepare
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.waiting import (
    Waiting,
    left_behind,
    put_away,
    refuse_on_waiting,
    the_waiting,
)
from memrepo.core.changes import Plan, Step
from memrepo.purify.holding import fingerprints
from memrepo.store import history
from memrepo.store.identity import author

DISCARDED = "refs/memrepo/discarded/"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run", nargs="?", default="", metavar="RUN", help="the waiting run")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--reason", default="", help="why, for the commit")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Commit a manifest that takes the input and remembers what was refused."""
    with opened(session) as desk:
        desk.require_writable()
        refuse_on_waiting(desk)
        waits = the_waiting(desk, options.run)
        refused = _fingerprints(desk, waits)
        text = f"discarded {waits.run}: {len(refused)} decisions will not be proposed again"
        if options.dry_run:
            return Answer(data={"run": waits.run, "commits": []}, text=f"dry run: {text}")
        commit = _commit(desk, session, waits, refused, options.reason)
        put_away(desk, waits, DISCARDED)
    return Answer(data={"run": waits.run, "commits": [commit], "refused": refused}, text=text)


def _fingerprints(desk: Desk, waits: Waiting) -> list[str]:
    found: set[str] = set()
    for entry in history.chain_of(desk.store.repo, waits.entry.commit):
        if entry.op not in ("view", "run"):
            found |= fingerprints(entry.op, entry.trailers.get("Memory", ()), entry.prints)
    return sorted(found)


def _commit(desk: Desk, session: Session, waits: Waiting, refused: list[str], reason: str) -> str:
    step = Step(
        op="run",
        what=f"{waits.run}: refused",
        reason=reason or "discarded by hand",
        changes=left_behind(desk, waits, refused),
    )
    plan = Plan(base=desk.tree.commit, steps=(step,))
    context = replace(desk.context(session), run=waits.run)
    landing = prepare(
        desk.store,
        desk.tree.state(),
        plan,
        context,
        session.now,
        author=author(desk.store.repo),
    )
    return desk.store.land(landing.chain, f"discard-{waits.run}")
