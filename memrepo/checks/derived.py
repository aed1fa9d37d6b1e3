"""What `check` says of files that memrepo writes and a hand changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from memrepo.checks.places import place
from memrepo.checks.rules import Rule, Scene
from memrepo.core import codec
from memrepo.core.layout import HOT_NAMES, standing_of
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.problems import Problem

BUDGET = Rule(
    name="hot-over-budget",
    group="derived",
    severity="warning",
    doc="At most `hot.budget` memories stand on the hot cache; the next run takes the rest off it.",
)
BUDGET_RULES = (BUDGET,)


def find_over_budget(scene: Scene) -> Iterator[Problem]:
    """Count the hot memories, those around only where a change brings one more."""
    if scene.layout is None or scene.merging:
        return
    here = {m.id: m for m in scene.memories if "hot" in m.fields}
    if not here:
        return
    from memrepo.policies.hotcache import hot_of, is_exempt
    from memrepo.policies.rules import HotRules

    hot = [m for m in here.values() if hot_of(m) is not None]
    new = [m for m in hot if (old := scene.earlier.get(m.id)) is None or hot_of(old) is None]
    around = [m for m in _around(scene) if hot_of(m) is not None] if new else []
    budget = HotRules().budget if scene.wants.hot_budget is None else scene.wants.hot_budget
    count = len(hot) + len(around)
    if hot and count > budget:
        kept = sum(map(is_exempt, (*hot, *around)))
        memory = min(new or hot, key=lambda m: m.path)
        line, column = place(scene.files[memory.path], "hot")
        yield BUDGET.found(
            memory.path,
            f"found {counted(count, 'memory', 'memories')} on the hot cache, {kept} of them"
            f" pinned or critical, where hot.budget is {budget}",
            line=line,
            column=column,
            key="hot",
            fix="`memrepo promote ID --off` or `pin ID --off` some, or raise hot.budget",
        )


STALE = Rule(
    name="hot-stale",
    group="derived",
    severity="warning",
    doc="A bullet of the hot cache says what its memory says; a run syncs it after a hand edit.",
)
STALE_RULES = (STALE,)


def find_stale_bullets(scene: Scene) -> Iterator[Problem]:
    """Compare the bullets of hot memories with what these say by now."""
    hot = [m for m in scene.memories if "hot" in m.fields]
    if scene.layout is None or scene.merging or not hot:
        return
    for name in HOT_NAMES:
        path = scene.layout.prefix + name
        page = scene.files.get(path) or scene.around.file(path) or b""
        if standing_of("hot", page) != "ours":
            continue
        bullets = page.decode("utf-8", "replace").split("\n")
        for memory in hot:
            ends = (f"←{memory.path}", f"←{memory.path}[pin]")
            line = next((n for n, b in enumerate(bullets, start=1) if b.endswith(ends)), 0)
            if line and not bullets[line - 1].startswith(f"- {_condensed(memory)} ↑"):
                yield STALE.found(
                    memory.path,
                    f"says something else than its bullet, {name}:{line}",
                    line=1,
                    column=1,
                    fix="`memrepo run` syncs the page; `memrepo edit` would have done so at once",
                )


def _condensed(memory: Memory) -> str:
    from memrepo.views.hot import condensed

    return condensed(memory)


def _around(scene: Scene) -> Iterator[Memory]:
    """Yield the memories besides the checked ones that are or were on the hot cache."""
    for path in sorted({*scene.around.naming("hot:")} - {*scene.files, *scene.gone}):
        data = scene.around.file(path)
        memory = codec.decode(path, data)[0] if data is not None else None
        if memory is not None:
            yield memory


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
