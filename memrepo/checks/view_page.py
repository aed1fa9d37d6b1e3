"""What `check` says of a page of `views/` that a hand changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from memrepo.checks.derived import PAGE_EDITED
from memrepo.core.layout import standing_of
from memrepo.core.problems import Problem


def check_view_page(path: str, data: bytes, before: bytes | None) -> Iterator[Problem]:
    """Yield a finding for a changed page, at its first other line where the page is known."""
    if standing_of("view", data) != "edited":
        return
    mend = "`memrepo edit` the memory that the changed block links to; a run writes the page anew"
    line = 0
    if before is not None and standing_of("view", before) == "ours":
        mend = f"`git restore -SW {path}`, then {mend}"
        pairs = zip_longest(before.split(b"\n"), data.split(b"\n"))
        line = next(n for n, (old, new) in enumerate(pairs, start=1) if old != new)
    yield PAGE_EDITED.found(
        path,
        "was changed by hand, expected it as memrepo wrote it",
        line=line,
        column=1 if line else 0,
        fix=mend,
    )
