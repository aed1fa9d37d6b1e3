"""Where runs landed: known by their manifests, whatever git made of the commits since.

A run lands as a merge that names it. Amended, rebased, squashed or cherry-picked it is another
commit, or several; the manifest in the tree is the same. A run whose manifest left the tree is not
in effect, whoever took it out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core.layout import Layout
from memrepo.core.patterns import regex
from memrepo.store import history
from memrepo.store.history import Entry

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_MANIFEST = regex(r"(?:.*/)?(\d{8}T\d{6}Z-[0-9a-f]{8})\.json")
RECORD = "Record what the run read and decided"
"""The subject of a run's last step, which changes no memory."""
DISCARDS = "Discards"
"""The trailer of a commit that leaves a run's manifest and nothing else of it."""
_DISCARDED = ": refused"
"""How the subject of such a commit ended before it had the trailer."""


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """An operation as it stands in history: its last commit, and the one that it was laid on.

    `run` is empty for what is no run. `chain` are the commits of a run that is no merge (rebased),
    the oldest first. A run is in effect while its manifest is in the tree.
    """

    entry: Entry
    before: str
    run: str = ""
    chain: tuple[Entry, ...] = ()
    in_effect: bool = True
    changed: bool = False
    """Whether git made another commit of the one that memrepo had made."""

    def steps(self, repo: Repo) -> tuple[Entry, ...]:
        """Return the commits by which it took effect, oldest first."""
        return self.chain or tuple(history.chain_of(repo, self.entry.commit))


def commit_landing(entry: Entry) -> Landing:
    """Return one commit as an operation."""
    return Landing(entry=entry, before=next(iter(entry.parents), ""))


def run_of(path: str) -> str:
    """Return the run whose manifest a path is, or an empty string."""
    found = _MANIFEST.fullmatch(path)
    return found[1] if found else ""


def landings(repo: Repo, head: str, layout: Layout, paths: Iterable[str]) -> list[Landing]:
    """Return where runs landed in a head's history, newest first; `paths` are the files at it."""
    area = layout.area("runs")
    here = {run: path for path in paths if path.startswith(area) and (run := run_of(path))}
    found = [
        Landing(entry=e, before=e.parents[0], run=e.run, in_effect=e.run in here)
        for e in history.runs(repo, head)
    ]
    known = {landing.run for landing in found}
    others = _others(repo, head, {path: run for run, path in here.items() if run not in known})
    if not others:
        return found
    found += others
    wanted = {landing.entry.commit for landing in found}
    order = repo.git.rev_list("--topo-order", head).split()
    place = {commit: n for n, commit in enumerate(order) if commit in wanted}
    return sorted(found, key=lambda landing: place.get(landing.entry.commit, len(order)))


def gone(repo: Repo, head: str, layout: Layout, word: str) -> list[Landing]:
    """Return runs without a merge whose manifests left the tree, by the beginning of their id."""
    area = layout.area("runs")
    if not word or not word[:8].isdigit():
        return []
    pattern = f":(glob){area}*/{word}*.json"
    paths = {p: run_of(p) for _, ps in history.touching(repo, head, [pattern]) for p in ps}
    others = _others(repo, head, {path: run for path, run in paths.items() if run})
    return [replace(landing, in_effect=False) for landing in others]


def removals(repo: Repo, head: str, layout: Layout) -> list[tuple[Entry, tuple[str, ...]]]:
    """Return the commits that took manifests out of the tree, newest first, each with the paths.

    Their parents are those of the history that touches manifests.
    """
    return history.touching(repo, head, [layout.area("runs")], "--diff-filter=D")


def _others(repo: Repo, head: str, runs: Mapping[str, str]) -> list[Landing]:
    """Return where runs landed that no merge names, by the path of their manifest."""
    found: dict[str, Landing] = {}
    adding = history.touching(repo, head, [*runs], "--diff-filter=A") if runs else ()
    for entry, paths in adding:
        for run in {runs[path] for path in paths if path in runs} - found.keys():
            landing = _landed(repo, head, entry, run)
            if landing is not None:
                found[run] = landing
    return [*found.values()]


def _landed(repo: Repo, head: str, entry: Entry, run: str) -> Landing | None:
    """Return the operation that brought a manifest; None where something else than a run did."""
    if entry.trailer("Op") not in ("", "run") or entry.trailer(DISCARDS):
        return None
    if entry.subject.endswith(f"{run}{_DISCARDED}"):
        return None
    entry = next(history.entries(repo, "-1", entry.commit))  # with its own parents
    if not entry.parents:
        return None
    chain, before = [entry], entry.parents[0]
    for older in history.entries(repo, "--first-parent", before):
        if older.run != run or not older.parents:
            break
        chain.append(older)
        before = older.parents[0]
    merge = _merged(repo, head, entry.commit, before)
    if merge is not None:
        return Landing(entry=_as_run(merge, run), before=before, run=run, changed=True)
    chain[0] = _as_run(entry, run)
    steps = tuple(reversed(chain))
    return Landing(entry=chain[0], before=before, run=run, chain=steps, changed=True)


def _merged(repo: Repo, head: str, tip: str, before: str) -> Entry | None:
    """Return the merge of a chain into the commit that it was laid on, if there is one."""
    merges = history.entries(repo, "--merges", "--ancestry-path", f"{tip}..{head}")
    return next((e for e in merges if e.parents == (before, tip)), None)


def _as_run(entry: Entry, run: str) -> Entry:
    """Return a commit with the trailers that git lost."""
    return replace(entry, trailers={**entry.trailers, "Run": (run,), "Op": ("run",)})


def newest(found: Collection[Landing]) -> Landing | None:
    """Return the newest run that is in effect."""
    return next((landing for landing in found if landing.in_effect), None)
