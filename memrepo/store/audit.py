"""What `doctor` asks: a whole history in two git processes, and git itself.

Reading a whole history for `doctor`: two git processes, whatever the number of commits.

What `doctor` asks of git itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.layout import Layout
from memrepo.core.messages import PREFIX
from memrepo.store import recovery
from memrepo.store.history import records
from memrepo.store.light import GitFailed
from memrepo.store.lock import git_alive
from memrepo.store.repo import TX, Repository

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_KEYS = ("Run", "Op", "Memory", "Actor", "Reverts", "Settles")
_VALUE = "\x1e"
_FORMAT = "%x00".join(
    [
        "%x1d%H",
        "%T",
        "%P",
        "%s",
        *(f"%(trailers:key={PREFIX}{key},valueonly,unfold,separator=%x1e)" for key in _KEYS),
    ]
)


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """One commit as it is: ids, subject, trailers by key, manifests by what became of them."""

    commit: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    trailers: dict[str, tuple[str, ...]]
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def audited(repo: Repo, head: str, layout: Layout) -> Iterator[Audited]:
    """Yield every commit of a head's history, parents first."""
    manifests = _manifests(repo, head, layout)
    words = ("-z", "--reverse", "--topo-order", f"--format={_FORMAT}", head, "--")
    for commit, (tree, parents, subject, *rest) in records(repo.git.log(*words)):
        values = (tuple(v for v in part.split(_VALUE) if v) for part in rest[: len(_KEYS)])
        trailers = {k: v for k, v in zip(_KEYS, values, strict=True) if v}
        added, changed = manifests.get(commit, ((), ()))
        yield Audited(
            commit=commit,
            tree=tree,
            parents=tuple(parents.split()),
            subject=subject,
            trailers=trailers,
            added=added,
            changed=changed,
        )


def _manifests(
    repo: Repo, head: str, layout: Layout
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the runs whose manifests a commit added and changed, by commit; merges are left out.

    A merge brings the manifests of its sides, each of which has a commit of its own.
    """
    options = "--no-merges --full-history --name-status --no-renames -z --diff-filter=AMT".split()
    raw = repo.git.log(*options, "--format=%x1d%H", head, "--", layout.area("runs"))
    found = {}
    for commit, words in records(raw):
        kinds: dict[str, list[str]] = {"A": [], "M": [], "T": []}
        for kind, path in zip(*[iter(filter(None, words))] * 2, strict=False):
            kinds.setdefault(kind, []).append(path.rsplit("/", 1)[-1].removesuffix(".json"))
        found[commit] = tuple(kinds["A"]), tuple(kinds["M"] + kinds["T"])
    return found


def first_parents(repo: Repo, base: str, tip: str) -> list[str]:
    """Return the commits from `base` (excluded; empty: from the root) to a tip, oldest first."""
    span = (tip, f"^{base}") if base else (tip,)
    found: str = repo.git.rev_list("--first-parent", "--reverse", *span, "--")
    return found.split()


def write_graph(repo: Repo) -> None:
    """Write the commit graph: the history of one file is found without reading every tree."""
    repo.git.commit_graph("write", "--reachable", "--changed-paths", "--split", "--no-progress")


def git_version(repo: Repo) -> tuple[int, int]:
    """Return the major and minor version of the git program in use."""
    major, minor, *_ = (*repo.git.version_info, 0, 0)
    return major, minor


def object_problems(repo: Repo) -> list[str]:
    """Return what `git fsck` reports of objects that history reaches."""
    options = ("--strict", "--no-dangling", "--no-progress")
    try:
        code, out, err = repo.git.fsck(*options, with_exceptions=False, with_extended_output=True)
    except GitFailed as error:  # a signal ended it: it found nothing wrong and nothing right
        return [str(error)]
    lines = (f"{out}\n{err}" if code else out).split("\n")
    problems = [line for line in lines if line and not line.startswith("notice:")]
    return problems or [f"git fsck ended with {code}"] * (code != 0)


def interrupted(store: Repository) -> str:
    """Say what a crashed write left behind, or return an empty string."""
    if recovery.load_journal(store.journals) is not None:
        return "a write was interrupted"
    if store.repo.refs.below(TX):
        return "a transaction ref was left behind"
    return ""


def obstacle(store: Repository) -> str:
    """Say what keeps anybody from writing: a lock that no git holds, or a missing right."""
    own, common = Path(store.repo.git_dir), Path(store.repo.common_dir)
    locks = [*own.glob("*.lock"), *common.glob("*.lock"), *(common / "refs").rglob("*.lock")]
    if locks and not git_alive(store.repo):
        names = ", ".join(sorted({str(path) for path in locks}))
        return (
            f"nothing can be written: git left a lock behind, and no git is alive; remove {names}"
        )
    folders = (own, common / "objects", common / "refs", common / "refs" / "heads")
    shut = [str(path) for path in dict.fromkeys(folders) if not os.access(path, os.W_OK)]
    if shut:
        return f"nothing can be written: this user may not write to {', '.join(shut)}"
    return ""
