"""What the next commit would hold: memories, corrections and hot cache as the index has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.core.corrections import correction_paths
from memrepo.core.layout import ADOPTED_PREFIX, Layout
from memrepo.core.problems import Problem
from memrepo.store.tree import not_a_file, read_blob

if TYPE_CHECKING:
    from git import Repo


def staged_files(repo: Repo) -> tuple[dict[str, bytes], list[Problem]]:
    """Return the staged contents of such files that differ from HEAD; deletions are left out."""
    born = repo.git.rev_parse("--verify", "--quiet", "HEAD", with_exceptions=False)
    against = "HEAD" if born else repo.git.hash_object("-t", "tree", "/dev/null")
    raw = repo.git.diff_index(
        "--cached", "-z", "--no-renames", "--diff-filter=AMT", against,
        strip_newline_in_stdout=False,
    )  # fmt: skip
    parts = raw.split("\0")
    files, problems = {}, []
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, _, blob, _ = head.split(" ")
        if not any(_checked(Layout(prefix), path) for prefix in ("", ADOPTED_PREFIX)):
            continue
        if mode in ("120000", "160000"):
            problems.append(not_a_file(path, mode))
        else:
            files[path] = read_blob(repo, blob)
    return files, problems


def _checked(layout: Layout, path: str) -> bool:
    return layout.is_memory(path) or layout.is_hot(path) or bool(correction_paths([path], layout))
