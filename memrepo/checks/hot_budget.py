"""What `check` says where more memories are hot than the configuration has room for."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.places import place
from memrepo.checks.rules import Rule, Scene
from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.problems import Problem

BUDGET = Rule(
    name="hot-over-budget",
    group="derived",
    severity="warning",
    doc="At most `hot.budget` memories stand on the hot cache; the next run takes the rest off it.",
)
RULES = (BUDGET,)


def find(scene: Scene) -> Iterator[Problem]:
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


def _around(scene: Scene) -> Iterator[Memory]:
    """Yield the memories besides the checked ones that are or were on the hot cache."""
    for path in sorted({*scene.around.naming("hot:")} - {*scene.files, *scene.gone}):
        data = scene.around.file(path)
        memory = codec.decode(path, data)[0] if data is not None else None
        if memory is not None:
            yield memory
