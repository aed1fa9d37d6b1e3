"""What `check` says of files that memrepo writes and a hand changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from memrepo.checks.rules import Rule, Scene
from memrepo.core import codec
from memrepo.core.layout import HOT_NAMES, standing_of
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem

EDITED = Rule(
    name="hot-edited",
    group="derived",
    doc="The hot cache says what its memories say: an edit of a bullet is an edit of its memory.",
)
PAGE_EDITED = Rule(
    name="page-edited",
    group="derived",
    severity="warning",
    doc="A page of `views/` is as memrepo wrote it: an edit belongs into the memory it came from.",
)
RULES = (EDITED, PAGE_EDITED)


def find(scene: Scene) -> Iterator[Problem]:
    """Look at each page of memrepo's own among the files."""

    def memory_at(path: str) -> Memory | None:
        data = scene.files.get(path) or scene.around.file(path)
        return codec.decode(path, data)[0] if data is not None else None

    for path, data in scene.files.items():
        if path.rpartition("/")[2] in HOT_NAMES and not scene.merging:
            from memrepo.checks.hot_page import check_hot_page

            yield from check_hot_page(path, data, memory_at)
    for path, data in scene.in_area("views").items():
        if not scene.merging:
            yield from _view_page(path, data, scene.around.before(path))


def _view_page(path: str, data: bytes, before: bytes | None) -> Iterator[Problem]:
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
