"""`memrepo recent`: list memories that are new or changed since a date, a run or a commit."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

import msgspec

from memrepo.actions.recall.recall import in_words, recalled
from memrepo.actions.recall.search import Hit, hit_of
from memrepo.actions.recall.when import NotYetSetUp, work_at
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.memory import Memory, Stamp
from memrepo.core.state import Difference, Files, Kind, State, differences
from memrepo.core.times import EARLIEST, extent, format_time
from memrepo.merge.tombstones import tombstones_in
from memrepo.store.ledger import ledger_of
from memrepo.store.trace import BeforeHistory

LATELY = timedelta(days=7)
"""The default period."""
SAID: dict[Kind, str] = {
    "added": "new",
    "reworded": "reworded",
    "standing": "standing changed",
    "confirmed": "confirmed",
    "restored": "restored",
    "superseded": "superseded",
    "retired": "retired",
    "forgotten": "forgotten",
    "archived": "archived",
    "removed": "removed",
}
"""The kinds of change that matter to a reader, and the words to show for them."""
_SECOND = timedelta(seconds=1)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `recent`."""

    since: Annotated[
        str,
        option("since this day, after this run or commit (7 days ago)", metavar="DATE|RUN|REV"),
    ] = ""
    limit: Annotated[int, option("at most N memories (10)", "-k", metavar="N", ge=1)] = 10


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One changed memory. `before` is its previous text, if the text changed."""

    change: str
    hit: Hit
    before: str = ""
    replaces: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()


class Result(VerbResult, frozen=True, kw_only=True):
    """The changes between two commits, newest first.

    `since` is empty if there was no earlier commit.
    """

    since: str
    commit: str
    changes: tuple[Change, ...]
    left_out: int


def do(work: Work, request: Request) -> Result:
    """List new and changed memories, omitting those that only maintenance changed.

    Rejected memories, and new ones that are already forgotten, are left out.
    """
    since, before = _then(work, request.since)
    after = work.tree.state()
    stones = tombstones_in(after)
    found = [
        one
        for one in differences(before, after)
        if one.kind in SAID
        and not (one.kind == "added" and one.memory.status == "forgotten")
        and stones.bar(one.memory) is None
    ]
    found.sort(key=lambda one: (_touched(one.memory), one.memory.id), reverse=True)
    kept = found[: request.limit]
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules

    def told(one: Difference) -> Change:
        recall = recalled(one.memory, accesses, work.call.now, rules)
        return Change(
            change=SAID[one.kind],
            hit=hit_of(
                in_words(recall, after.memories.get, work.tree.files.id_of), work.tree.commit
            ),
            before=one.before.body
            if one.before and "reworded" in one.kinds and stones.bar(one.before) is None
            else "",
            replaces=one.memory.texts("supersedes") if one.kind == "added" else (),
            replaced_by=one.memory.texts("superseded_by") if one.kind == "superseded" else (),
        )

    return Result(
        since=since,
        commit=work.tree.commit,
        changes=tuple(map(told, kept)),
        left_out=len(found) - len(kept),
    )


def _then(work: Work, word: str) -> tuple[str, State]:
    """Return the commit that a word identifies, and the state at that commit.

    A date means the start of that day.
    """
    if not word:
        word = format_time(work.call.now - LATELY)
    try:
        start, _ = extent(word, work.config.zone)
    except ValueError:
        then = work_at(work, word)
        return then.tree.commit, then.tree.state()
    try:
        then = work_at(work, format_time(start - _SECOND))
    except (BeforeHistory, NotYetSetUp):
        return "", State(layout=work.tree.layout, files=Files({}, {}), memories={})
    return then.tree.commit, then.tree.state()


def _touched(memory: Memory) -> datetime:
    """Return the time of the memory's last change, according to its file."""
    stamps = (memory.fields.get("generated"), *(memory.fields.get("verified") or ()))
    times = [memory.time(key) for key in ("created", "superseded_at", "archived_at")]
    times += [stamp.at for stamp in stamps if isinstance(stamp, Stamp)]
    return max(filter(None, times), default=EARLIEST)
