"""Find what no rule about one file sees: lost records, forged copies, replaced objects, filters.

`check` and `doctor` both report it, so that they agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.actions.work import Work
from memrepo.core.errors import MemrepoError
from memrepo.core.problems import Problem
from memrepo.store import history, settings
from memrepo.store.errors import problem
from memrepo.store.ledger import ledger_of


def find_damage(work: Work) -> tuple[Problem, ...]:
    """Return the damage at HEAD and in this clone."""
    found = [*_find_replaced_objects(work), *_find_filters(work)]
    try:
        found += [*_find_lost_records(work), *_find_edits_by_hand(work)]
    except MemrepoError as error:
        found.append(problem("unreadable-history", work.tree.commit, cause=error.message))
    try:
        ledger_of(work.store).accesses()
    except MemrepoError as error:
        found.append(problem("ledger-damaged", ".git/memrepo", cause=error.message))
    return tuple(found)


def _find_replaced_objects(work: Work) -> Iterator[Problem]:
    """Yield objects for which `git replace` shows other content than their ids say."""
    for ref in work.store.repo.refs.below("refs/replace/"):
        yield problem("object-replaced", ref, object=ref.rpartition("/")[2])


def _find_filters(work: Work) -> Iterator[Problem]:
    """Yield a problem if a git filter such as LFS rewrites the content of memories."""
    path = work.tree.layout.area("memories") + "notes/any.md"
    answer = work.store.repo.call("check-attr", "filter", "--", path)
    value = answer.rpartition(": ")[2].strip()
    if value not in ("unset", "unspecified", ""):
        yield problem("git-filter", ".gitattributes", filter=value)


def _find_lost_records(work: Work) -> Iterator[Problem]:
    """Yield records of runs that are committed and gone from the work tree."""
    area = work.tree.layout.area("runs")
    for path in work.store.work.missing(work.tree.files.below(area)):
        yield problem("record-lost", path, fix=f"`git restore {path}`")


def _find_edits_by_hand(work: Work) -> Iterator[Problem]:
    """Yield what commits by hand did to records of runs and to copies of the workspace."""
    layout, blobs = work.tree.layout, work.tree.blobs
    records, sources = layout.area("runs"), layout.area("sources")
    is_copy = settings.workspace(work.store.repo) not in (None, work.store.root)
    areas = (records, sources) if is_copy else (records,)
    latest: dict[str, history.LogEntry] = {}
    for entry in history.commits_with_files(
        work.store.repo, "--no-merges", work.tree.commit, "--", *areas
    ):
        for file in entry.files:
            if latest.setdefault(file.path, entry) is not entry or entry.trailer("Op"):
                continue
            if file.path.startswith(records) and file.path.endswith(".json") and not file.new:
                fix = f"`git restore -s {entry.commit[:10]}^ -SW {file.path}`, then commit"
                yield problem("record-lost", file.path, fix=fix)
            elif file.path.startswith(sources) and file.old and blobs.get(file.path) == file.new:
                yield problem("source-forged", file.path, commit=entry.commit[:10])
