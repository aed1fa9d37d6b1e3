"""`memrepo import`: take in what a memory-purifier workspace published, in one commit."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memrepo import __version__
from memrepo.commands.drafting import run_stamp
from memrepo.commands.landing import prepare
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.core.changes import Change, Create, Plan, Step, Update, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.purify.importing import READ, Imported, Offer, import_artifacts
from memrepo.purify.lineage import CLAIMS
from memrepo.purify.manifest import Manifest, read_manifests
from memrepo.store.identity import author
from memrepo.views.artifacts_runs import IMPORT

RUNTIME = "runtime"


class NoArtifacts(MemrepoError):
    """The folder holds no claims of a purifier."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path) -> None:
        super().__init__(
            f"{where}: found no {CLAIMS}, there or below {RUNTIME}/",
            fix="name the purifier's workspace, or its runtime folder",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What one import did; `commit` is empty when there was nothing to do."""

    commit: str = ""
    run: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def imported(self) -> int:
        """Return how many claims became memories."""
        return self.counts.get("memories_new", 0)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "commit": self.commit, "run": self.run, "imported": self.imported,
            "counts": dict(self.counts), "problems": [p.as_json() for p in self.problems],
        }  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "format", choices=("artifacts",), metavar="FORMAT", help="artifacts (the purifier's files)"
    )
    parser.add_argument("dir", metavar="DIR", help="the workspace, or its runtime folder")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--reason", default="", help="why, for the commit")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Import once; a claim that is a memory already is left as it is."""
    where = artifacts_folder((session.where / options.dir).absolute())
    if where is None:
        raise NoArtifacts((session.where / options.dir).absolute())
    with opened(session) as desk:
        area = desk.tree.layout.area("sources")
        sources = {
            desk.tree.layout.source_name(path): desk.tree.files[path]
            for path in desk.tree.blobs
            if path.startswith(area)
        }
        done = bring_in(
            desk, session, where, sources, reason=options.reason, dry_run=options.dry_run
        )
        notices = tuple(desk.store.notices)
    data = {**done.as_json(), "dry_run": options.dry_run}
    return Answer(data=data, text=_text(done, options.dry_run), problems=(*done.problems, *notices))


def artifacts_folder(where: Path) -> Path | None:
    """Return the folder that holds a purifier's claims: this one, or its runtime folder."""
    for folder in (where / RUNTIME, where):
        if (folder / CLAIMS).is_file():
            return folder
    return None


def was_imported(desk: Desk) -> bool:
    """Tell whether an import stands in the tree: what it brought may have been removed since."""
    manifests, _ = read_manifests(desk.tree.files, desk.tree.layout)
    return any(manifest.run.endswith(_TAIL) for manifest in manifests)


def bring_in(
    desk: Desk,
    session: Session,
    folder: Path,
    sources: Mapping[str, bytes],
    *,
    reason: str = "",
    dry_run: bool = False,
) -> Brought:
    """Import the files of a folder in a commit of its own; `sources` are texts by their name."""
    desk.require_writable()
    desk.store.refuse_unfit()
    state, layout = desk.tree.state(), desk.tree.layout
    files, unread = _files(folder)
    offer = Offer(
        files=files, sources=sources, profile=desk.config.profile, now=session.now,
        blobs={name: desk.store.work.blob_id(data) for name, data in sources.items()},
    )  # fmt: skip
    found = import_artifacts(state, offer)
    done = Brought(counts=found.counts, problems=(*unread, *found.problems))
    if dry_run or not (found.changes or found.files):
        return done
    manifests, _ = read_manifests(desk.tree.files, layout)
    run_id = _run_id(session, desk.tree.commit, found, [m.run for m in manifests])
    step = Step(
        op="import", what=f"{done.imported} claims of memory-purifier",
        reason=reason or "what the purifier had published before",
        changes=(
            *(_stamped(change, run_id) for change in found.changes), *found.files,
            Write(
                path=layout.manifest(run_id),
                data=_manifest(desk, session, run_id, found).to_bytes(),
            ),
        ),
    )  # fmt: skip
    plan = Plan(base=desk.tree.commit, steps=(step,))
    landing = prepare(
        desk.store, state, plan, desk.context(session, run=run_id), session.now,
        author=author(desk.store.repo),
    )  # fmt: skip
    commit = desk.store.land(landing.chain, "import")
    return Brought(commit=commit, run=run_id, counts=done.counts, problems=done.problems)


_TAIL = "-import"


def _run_id(session: Session, base: str, found: Imported, runs: list[str]) -> str:
    ids = [c.memory.id for c in found.changes if isinstance(c, Create)]
    return f"{run_stamp(session.now, runs)}-{digest([base, *ids])[:8]}{_TAIL}"


def _stamped(change: Change, run_id: str) -> Change:
    match change:
        case Create(memory=memory):
            return Create(memory=memory.with_fields({"run": run_id}))
        case Update(id=id_, fields=fields, body=body):
            return Update(id=id_, fields={**fields, "run": run_id}, body=body)
        case _:
            return change


def _manifest(desk: Desk, session: Session, run_id: str, found: Imported) -> Manifest:
    """Return the manifest: it consumes nothing, so that a run meets every source."""
    return Manifest(
        run=run_id, mode=IMPORT, judge="memory-purifier", profile=desk.config.profile,
        base=desk.tree.commit, now=format_time(session.now), package=__version__,
        counts=found.counts, judgements=found.judgements,
        warnings=tuple(p.as_json() for p in found.problems),
    )  # fmt: skip


def _files(folder: Path) -> tuple[dict[str, bytes], list[Problem]]:
    """Read the files of an import; a link is never followed."""
    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for name in READ:
        if not os.path.lexists(folder / name):
            continue
        try:
            descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as handle:
                files[name] = handle.read()
        except OSError as error:
            problems.append(
                Problem(
                    path=name, rule="import-unreadable", fix="make it a file that can be read",
                    message=f"could not be read: {error.strerror}",
                )
            )  # fmt: skip
    return files, problems


def _text(done: Brought, dry_run: bool) -> str:
    said = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in done.counts.items() if n)
    head = (
        "dry run" if dry_run else f"committed as {done.commit[:10]}" if done.commit else "no news"
    )
    return f"{head}: {said or 'nothing to take in'}"
