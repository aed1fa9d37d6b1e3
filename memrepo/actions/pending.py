"""Runs that wait for review: each is a branch `run/<run-id>` that would fast-forward the branch."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from memrepo.actions.run.holds import LEFT_OUT, fingerprints
from memrepo.actions.run.retire import REQUEST
from memrepo.actions.work import Work
from memrepo.core.changes import Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.manifest import CARRIED, Removal, read_removal
from memrepo.core.memory import SOURCE_COUNT, hashes_of
from memrepo.core.problems import Problem
from memrepo.read.notes import note_hash, scan_notes
from memrepo.read.thoughts import scan
from memrepo.store import history
from memrepo.store.git import GitFailed
from memrepo.store.repo import CannotWork
from memrepo.store.tree import read_blob

RECENT = 10
"""So many manifests are asked for what texts wanted of the memory."""
PREFIX = "run/"
REPLACED = "refs/memrepo/replaced/"
KEPT = 50
"""So many runs that were accepted, discarded or replaced keep their commits, of each."""


ASKED = "asked"
"""What the manifest of a wish says of its mode; a run has another."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one step of a run does to some of its memories."""

    entry: history.Entry
    memories: tuple[str, ...]

    @property
    def prints(self) -> frozenset[str]:
        """Return the fingerprints of it."""
        mine = [p for p in self.entry.prints if p.split(":")[1] in self.memories]
        return fingerprints(self.entry.op, self.memories, mine)

    @property
    def removals(self) -> list[Removal]:
        """Return it as removals that wait."""
        one = self.entry.op == "supersede"
        groups = [self.memories] if one else [(id_,) for id_ in self.memories]
        reason = self.entry.trailer("Reason")
        return [
            Removal(op=self.entry.op, memories=ids, reason=reason, why=LEFT_OUT) for ids in groups
        ]


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One waiting run: its branch, the merge commit the run made, and the branch's tip.

    They differ where a person committed on the branch; each such commit is a decision too.
    """

    branch: str
    entry: history.Entry
    tip: str

    @property
    def run(self) -> str:
        """Return the run's id."""
        return self.branch.removeprefix(PREFIX)

    @property
    def base(self) -> str:
        """Return the commit it was computed on."""
        return self.entry.parents[0]

    def chain(self, work: Work) -> list[history.Entry]:
        """Return its decisions in order: those of the run, then those of a person."""
        repo = work.store.repo
        later = history.entries(repo, "--reverse", f"{self.entry.commit}..{self.tip}")
        return [*history.chain_of(repo, self.entry.commit), *later]

    def prints(self, work: Work) -> frozenset[str]:
        """Return the fingerprints of its decisions."""
        found: frozenset[str] = frozenset()
        for entry in self.chain(work):
            if entry.op not in ("view", "run"):
                ids = entry.trailers.get("Memory", ())
                found |= fingerprints(entry.op, ids, entry.prints)
        return found

    def removals(self, work: Work) -> list[Removal]:
        """Return what it would take away, as its manifest lists it."""
        return [read_removal(one) for one in self.manifest(work).get("decided", ())]

    def manifest(self, work: Work) -> dict[str, Any]:
        """Return the record that the run would leave behind."""
        path = work.tree.layout.manifest(self.run)
        record: dict[str, Any] = json.loads(work.store.snapshot(self.entry.commit).files[path])
        return record


class NothingWaits(MemrepoError):
    """No run waits, or none by this name."""

    exit_code = Exit.USAGE

    def __init__(self, run: str, names: list[str]) -> None:
        what = f"no run {run!r} waits" if run else "no run waits for review"
        super().__init__(
            what,
            fix=f"these do: {', '.join(names)}" if names else "`memrepo log` lists what landed",
        )


def all_waiting(work: Work) -> list[Waiting]:
    """Return the runs that wait, oldest first."""
    return [w for w in _branches(work) if not _is_decided(work, w)]


def is_wish(work: Work, waiting: Waiting) -> bool:
    """Return whether a run that waits is what an agent asked for."""
    return waiting.manifest(work).get("mode") == ASKED


def wishes(work: Work, waiting: Sequence[Waiting]) -> dict[str, str]:
    """Return what agents asked for, in words, by the branch on which it waits."""
    found = (w for w in waiting if is_wish(work, w))
    return {w.branch: visible(w.entry.trailer("Reason")) for w in found}


def put_decided_away(work: Work, where: str) -> list[str]:
    """Take away the branches of runs that were decided by a command that a crash cut short."""
    decided = [w for w in _branches(work) if _is_decided(work, w)]
    for waiting in decided:
        put_away(work, waiting, where)
    return [waiting.run for waiting in decided]


def _is_decided(work: Work, waiting: Waiting) -> bool:
    """Return whether the run's manifest is at HEAD: accepting and discarding both leave it.

    On the branch that waits it stands as well, and nothing is decided.
    """
    if work.store.branch_or_none == f"refs/heads/{waiting.branch}":
        return False
    return bool(work.tree.files.id_of(work.tree.layout.manifest(waiting.run)))


def broken_branches(work: Work) -> tuple[Problem, ...]:
    """Return the branches `run/...` whose commits are not all here: none of them can be read."""
    return tuple(
        Problem(
            path=name,
            rule="branch-unreadable",
            message=f"{name} leads to commits that are not in this repository",
            fix=f"`git fetch --refetch` brings them where the hub has them; else `git update-ref -d"
            f" refs/heads/{name}` drops the branch, and the next run proposes again",
        )
        for name in _run_branches(work)
        if _walk(work, name) is None
    )


def _run_branches(work: Work) -> list[str]:
    refs = work.store.repo.refs.below(f"refs/heads/{PREFIX}")
    return [ref.removeprefix("refs/heads/") for ref in refs]


def _walk(work: Work, name: str) -> list[history.Entry] | None:
    """Return the newest commits of a branch, None where some are not here."""
    repo = work.store.repo
    try:
        return list(history.entries(repo, "-50", "--first-parent", f"refs/heads/{name}"))
    except GitFailed as error:
        if error.code < 0:  # a signal ended git: that says nothing of the commits
            raise
        return None


def _branches(work: Work) -> list[Waiting]:
    found = []
    for name in _run_branches(work):
        if (entries := _walk(work, name)) is None:
            continue
        merge = next((e for e in entries if e.is_run and PREFIX + e.run == name), None)
        if merge is not None:
            found.append(Waiting(branch=name, entry=merge, tip=entries[0].commit))
    return found


def the_waiting(work: Work, run: str) -> Waiting:
    """Return the waiting run that a word names, or the only one; raises where there is none."""
    found = all_waiting(work)
    names = [w.run for w in found]
    fitting = [w for w in found if w.run.startswith(run.removeprefix(PREFIX))] if run else found
    if not fitting:
        raise NothingWaits(run, names)
    if len(fitting) > 1:
        raise MemrepoError(
            f"{len(names)} runs wait: {', '.join(names)}",
            fix="name one of them",
            exit_code=Exit.DECIDE,
        )
    return fitting[0]


def refuse_on_waiting(work: Work) -> None:
    """Raise CannotWork on the branch of a waiting run: what is decided must land elsewhere."""
    here = work.store.branch_or_none.removeprefix("refs/heads/")
    if here.startswith(PREFIX) and here in {w.branch for w in all_waiting(work)}:
        raise CannotWork(
            f"you are on {here}, the branch of a waiting run",
            fix="switch to your branch first (`git switch main`), then run the command again",
        )


def requests_waiting(work: Work) -> list[Problem]:
    """Return what texts that the newest runs took in asked of the memory: a person decides."""
    area = work.tree.layout.area("runs")
    found = []
    newest = sorted(work.tree.files.below(area).items(), reverse=True)[:RECENT]
    for _, data in zip(newest, work.tree.files.each(newest), strict=True):
        try:
            told = json.loads(data)["warnings"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # `status` tells of a damaged manifest itself
        wanted = [w for w in told if isinstance(w, dict) and w.get("rule") == REQUEST]
        with suppress(msgspec.ValidationError):
            found += msgspec.convert(wanted, list[Problem])
    return found


def refuse_no_room(work: Work) -> None:
    """Raise CannotWork where a branch named `run` leaves git no room for `run/<run-id>`."""
    name = PREFIX.rstrip("/")
    if work.store.repo.refs.id(f"refs/heads/{name}"):
        raise CannotWork(
            f"a branch is named {name!r}: no run could wait for review next to it",
            fix=f"rename it (`git branch -m {name} <name>`), then run the command again",
        )


def left_behind(
    work: Work, waits: Waiting, refused: Iterable[str], offered: Sequence[Part] = ()
) -> tuple[Write, ...]:
    """Return what a decided run leaves behind: its candidates, and its manifest with the refused.

    The record stays as the run wrote it: what was judged and paid for was, whatever is decided.
    Only what is `offered` again counts as not decided: its units are open, its removals wait.
    """
    layout, snap = work.tree.layout, work.store.snapshot(waits.entry.commit)
    record = waits.manifest(work)
    record["refused"] = sorted({*record.get("refused", ()), *refused})
    if offered:
        _put_off(work, waits, record, offered)
    text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True)
    aside = [
        Write(path=path, data=snap.files[path])
        for path in sorted(snap.blobs)
        if path.startswith(layout.area("candidates"))
        and snap.blobs[path] != work.tree.blobs.get(path)
    ]
    return (*aside, Write(path=layout.manifest(waits.run), data=text.encode() + b"\n"))


def _put_off(work: Work, waits: Waiting, record: dict[str, Any], offered: Sequence[Part]) -> None:
    """Let a record tell of what was left out that it is not decided."""
    prints: set[str] = set()
    removals: list[Removal] = []
    for part in offered:
        if part.entry.op in CARRIED:
            removals += part.removals
        else:
            prints |= part.prints
    gone = {(removal.op, removal.memories) for removal in removals}
    decided = [r for r in record.get("decided", ()) if (r["op"], tuple(r["memories"])) not in gone]
    held = [*record.get("held", ()), *(removal.as_json() for removal in removals)]
    record |= {"offered": sorted(prints), "decided": decided, "held": held}
    for key in ("decided", "held", "offered"):
        if not record[key]:
            del record[key]
    texts = _texts(work, waits, {id_ for part in offered for id_ in part.memories})
    record["consumed"] = [_open(work, entry, texts) for entry in record["consumed"]]


ANYWHERE = ""
"""Stands for the sources of a memory that does not list them all."""


def _texts(work: Work, waits: Waiting, ids: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return the source texts on which a run based what it says of these memories alone."""
    before, after = (work.store.snapshot(c).state().memories for c in (waits.base, waits.tip))
    theirs, others = set[tuple[str, str]](), set[tuple[str, str]]()
    for id_, memory in after.items():
        known = before[id_].sources if id_ in before else ()
        new = {(s.resource, s.text_hash) for s in memory.sources if s not in known}
        if memory.has(SOURCE_COUNT) and memory != before.get(id_):
            new |= {(ANYWHERE, hash_) for hash_ in hashes_of(memory)}
        (theirs if id_ in ids else others).update(new)
    return frozenset(theirs - others)


def _open(work: Work, entry: dict[str, Any], texts: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Return what a run consumed of a source without some texts: they are open, as before it."""
    resource, mine = (
        entry["resource"],
        {hash_ for place, hash_ in texts if place in (entry["resource"], ANYWHERE)},
    )
    if not mine or not entry["to"]:
        return entry
    name, data = work.tree.layout.source_name(resource), read_blob(work.store.repo, entry["to"])
    left = {unit.hash for unit in scan(name, data).units if unit.text_hash in mine}
    left |= {note_hash(note) for note in scan_notes(name, data)[0] if note.text_hash in mine}
    also = [hash_ for hash_ in entry.get("also", ()) if hash_ not in left]
    fresh = left - {*entry.get("also", ())}
    return {**entry, "also": also, "except": sorted({*entry.get("except", ()), *fresh})}


def put_away(work: Work, waiting: Waiting, where: str = REPLACED) -> None:
    """Take a waiting run's branch away; the commits of the newest stay under refs of our own."""
    branch, repo = f"refs/heads/{waiting.branch}", work.store.repo
    older = sorted(ref for ref in repo.refs.below(where) if ref != f"{where}{waiting.run}")
    lines = (
        f"update {where}{waiting.run} {waiting.tip}\n",
        f"delete {branch} {waiting.tip}\n",
        *(f"delete {ref}\n" for ref in older[: max(0, len(older) + 1 - KEPT)]),
    )
    repo.git.update_ref("--stdin", istream="".join(lines))
