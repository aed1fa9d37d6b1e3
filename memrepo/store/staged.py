"""What the next commit would hold: memory files as they stand in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.core.layout import ADOPTED_PREFIX, Layout
from memrepo.core.problems import Problem
from memrepo.store.tree import not_a_file, read_blob

if TYPE_CHECKING:
    from git import Repo


def staged_memories(repo: Repo) -> tuple[dict[str, bytes], list[Problem]]:
    """Return the staged contents of memory files that differ from HEAD; deletions are left out."""
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
        if not any(Layout(prefix).is_memory(path) for prefix in ("", ADOPTED_PREFIX)):
            continue
        if mode in ("120000", "160000"):
            problems.append(not_a_file(path, mode))
        else:
            files[path] = read_blob(repo, blob)
    return files, problems
