"""Recognise a run that would find nothing to do, without reading memories or sources again.

A run that leaves nothing to do stores its result with a fingerprint of everything it read, and the
time at which something falls due next. Until then, a run with an equal fingerprint returns the
stored result. The record is a cache: without it, the run reads everything and finds the same.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.ingest import Ingested
from memrepo.actions.run.telemetry import Result
from memrepo.actions.run.timetable import collides_with_reconciliation
from memrepo.actions.work import Work, outside
from memrepo.core.ids import digest
from memrepo.policies.upkeep import next_due
from memrepo.store import settings
from memrepo.store.database import program_print
from memrepo.store.ledger import ledger_of
from memrepo.store.lock import scratch
from memrepo.store.workspace import find_unread, stamps

_NAME = "idle"
_MOVED = ("pruned", "archived", "summaries")
"""Counts after which the limit on removals of this moment may leave something for the next."""


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """The result of an idle run, with the fingerprint and the span of time when it holds."""

    print: str
    since: datetime
    until: datetime
    result: Result


def surroundings(work: Work, request: msgspec.Struct) -> str:
    """Return a digest of all that a run reads, except for the commit and the ledger."""
    repo, root = work.store.repo, work.store.root
    rules, area = work.config.source_rules(), work.tree.layout.area("sources").rstrip("/")
    workspace = settings.workspace(repo)
    files: list[object] = []
    if not work.store.work.linked(area) and (root / area).is_dir():
        files += stamps(root / area, rules, only="inbox/" if workspace else "")
    if workspace is not None and workspace.is_dir():
        home = root.resolve()
        files += stamps(workspace, rules, home=home)
        files += (one.name for one in find_unread(workspace, rules, home=home).files)
    config = work.store.work.read(work.tree.layout.config)
    waiting = repo.refs.below("refs/heads/run/")
    found = (files, repr(config), repr(sorted(outside(work).items())), repo.config.of_clone())
    branch = work.store.branch_or_none
    return digest([program_print(), branch, repr(request), repr(found), waiting])


def find_idle(work: Work, around: str) -> Result | None:
    """Return the result of a run that would find nothing to do now, or None to run."""
    now = work.call.now
    try:
        data = (work.store.folder / _NAME).read_bytes()
        record = msgspec.msgpack.decode(data, type=_Record)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None
    if record.print != _print(work, around) or not record.since <= now < record.until:
        return None
    return None if collides_with_reconciliation(work, now) else record.result


def keep_idle(work: Work, around: str, result: Result) -> None:
    """Store what an equal run will return, if this one left nothing to do."""
    if result.status == "ok" and not result.branch:
        if result.notices or any(result.counts.get(name) for name in _MOVED):
            return
        again = replace(
            result,
            **dict.fromkeys(("run", "why", "spent", "taken_over"), ""),
            **dict.fromkeys(("commits", "marked", "quarantined"), ()),
            status="skipped",
            said="nothing",
            ingest=Ingested(unmatched=result.ingest.unmatched),
            counts={},
            landed=False,
        )
    elif result.status == "skipped" and not result.ingest.news:
        again = result
    else:
        return
    if any(p.rule == "time-before-last-run" for p in result.notices) or result.tokens.get("total"):
        return
    now, state, head = work.call.now, work.tree.state(), work.tree.commit
    midnight = now.replace(hour=0, minute=0, second=0) + timedelta(days=1)
    accesses = ledger_of(work.store).accesses()
    until = next_due(state.active, accesses, now, midnight, work.config.rules)
    again = replace(again, base=head, head=head)
    record = _Record(print=_print(work, around), since=now, until=until, result=again)
    with suppress(OSError):
        scratch(work.store.folder, f".{_NAME}.", msgspec.msgpack.encode(record)).replace(
            work.store.folder / _NAME
        )


def _print(work: Work, around: str) -> str:
    return digest([around, work.tree.commit, *ledger_of(work.store).fingerprint()])
