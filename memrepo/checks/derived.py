"""What `check` says of files that memrepo writes and a hand changed."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Rule, Scene
from memrepo.core import codec
from memrepo.core.layout import HOT_NAMES
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem

EDITED = Rule(
    name="hot-edited", group="derived",
    doc="The hot cache says what its memories say: an edit of a bullet is an edit of its memory.",
)  # fmt: skip
RULES = (EDITED,)


def find(scene: Scene) -> Iterator[Problem]:
    """Look at each page of memrepo's own among the files."""

    def memory_at(path: str) -> Memory | None:
        data = scene.files.get(path) or scene.around.file(path)
        return codec.decode(path, data)[0] if data is not None else None

    for path, data in scene.files.items():
        if path.rpartition("/")[2] in HOT_NAMES and not scene.merging:
            from memrepo.checks.hot_page import check_hot_page

            yield from check_hot_page(path, data, memory_at)
