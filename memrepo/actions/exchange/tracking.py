"""hygiene.json and refcount.json, out and in: what the lifecycle's lineages kept of each memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from memrepo.actions.lifecycle.nominate import report
from memrepo.actions.request import Writes
from memrepo.actions.work import Answer, Work
from memrepo.actions.write.commit import write_steps
from memrepo.core.changes import Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.policies.nomination import nominated
from memrepo.purify.imported_counts import Counts, read_hygiene, read_refcount
from memrepo.store import history
from memrepo.store.ledger import ledger_of
from memrepo.views.artifacts import Exported
from memrepo.views.hygiene import (
    HYGIENE,
    REFCOUNT,
    REPORT,
    SIZE,
    Logged,
    hygiene_files,
    refcount_file,
)

TRACKERS = {"hygiene": HYGIENE, "refcount": REFCOUNT}


class NoTracker(MemrepoError):
    """There is no such file, nor in the folder."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, name: str) -> None:
        super().__init__(f"{where}: found no {name}", fix="name the file, or the folder it is in")


def export_hygiene(work: Work, state: State) -> Exported:
    """Return hygiene.json and its monthly logs, from files, ledger and history."""
    files = hygiene_files(
        state.memories, ledger_of(work.store).accesses(), _logged(work), work.call.now
    )
    size = len(files[HYGIENE])
    large = Problem(
        path=HYGIENE,
        rule="hygiene-large",
        severity="warning",
        message=f"has {size} bytes, expected at most {SIZE}: so many memories were used",
        fix="nothing is lost; read it as a whole",
    )
    problems = (large,) if size > SIZE else ()
    return Exported(files=files, counts={"files": len(files)}, left_out={}, problems=problems)


def export_refcount(work: Work, state: State) -> Exported:
    """Return refcount.json and promote_report.md."""
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules.tiers
    notes = [m for m in state.active if m.is_note]
    found = nominated(notes, accesses, work.call.now, rules)
    files = {
        REFCOUNT: refcount_file(notes, accesses, work.call.now, rules),
        REPORT: "".join(f"{line}\n" for line in report(found)).encode(),
    }
    counts = {"notes": len(notes), "nominated": len(found)}
    return Exported(files=files, counts=counts, left_out={})


def _logged(work: Work) -> Iterator[Logged]:
    for entry in history.entries(work.store.repo, work.tree.commit):
        if entry.op in ("promote", "demote", "archive"):
            for id_ in entry.trailers.get("Memory", ()):
                yield Logged(
                    op=entry.op, memory=id_, when=entry.when, reason=entry.trailer("Reason")
                )


class Tracked(Writes, Protocol):
    """A request to take in a tracker's file."""

    @property
    def format(self) -> str:
        """Return the tracker's name."""


def bring_counts(work: Work, request: Tracked, where: Path) -> Answer:
    """Take in a tracker: a commit each for what it says of memories, the rest to the ledger."""
    name = TRACKERS[request.format]
    path = where / name if where.is_dir() else where
    if path.is_symlink() or not path.is_file():
        raise NoTracker(where, name)
    data = path.read_bytes()
    read: list[Counts] = []

    def draft(at: Work, state: State) -> Sequence[Step]:
        read[:] = [_read(at, request.format, data, state)]
        return read[0].steps

    wrote = write_steps(work, request, draft)
    found = read[0]
    if not request.dry_run and found.events:
        ledger = ledger_of(work.store)
        ledger.record(found.events, work.call.now)
        ledger.flush(work.call.now)
    head = "dry run" if request.dry_run else "taken in"
    told = [
        counted(len(found.events), "retrieval", "retrievals"),
        counted(len(wrote.steps), "change", "changes"),
        *([f"{len(found.problems)} entries not known here"] if found.problems else []),
    ]
    data_ = {
        "commit": wrote.commit,
        "retrievals": len(found.events),
        "steps": [f"{s.op}: {s.what}" for s in wrote.steps],
        "dry_run": request.dry_run,
        "problems": [p.as_json() for p in found.problems],
    }
    text = f"{head}: {', '.join(told)}"
    return Answer(data=data_, text=text, problems=(*found.problems, *wrote.notices))


def _read(at: Work, format_: str, data: bytes, state: State) -> Counts:
    accesses = ledger_of(at.store).accesses()
    notes = [m for m in state.active if m.is_note]
    if format_ == "refcount":
        return read_refcount(data, REFCOUNT, notes, accesses)
    rest = [m for m in state.memories.values() if not m.is_note and m.type != "chunk"]
    return read_hygiene(data, HYGIENE, rest, accesses, at.call.now)
