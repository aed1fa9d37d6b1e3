"""What `check` says of what memories refer to: links, supersessions, parents, rejections."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Rule, Scene
from memrepo.core.memory import REFERENCES
from memrepo.core.problems import Problem

DELETED = Rule(
    name="reference-deleted",
    group="links",
    severity="warning",
    doc="A memory whose file is deleted by hand is one that no other names.",
)
RULES = (
    Rule(
        name="reference-lost",
        group="links",
        doc="Links, supersessions, `duplicate_of` and `parent` name a memory that exists.",
    ),
    Rule(
        name="supersession-half",
        group="links",
        doc="Of two memories either both know of a supersession or neither does.",
    ),
    Rule(
        name="supersession-status",
        group="links",
        doc="A memory is superseded exactly when another one replaced it.",
    ),
    Rule(
        name="supersession-cycle",
        group="links",
        doc="No memory replaces, over others, itself.",
    ),
    DELETED,
)


def find(scene: Scene) -> Iterator[Problem]:
    """Follow every reference of the checked memories, and those to what is deleted."""
    if scene.layout is None or scene.merging:
        return  # what a merge by hand breaks the next command mends
    if any(
        not m.fields.keys().isdisjoint(REFERENCES) or m.status != "active" for m in scene.memories
    ):
        from memrepo.merge.closure import broken

        # A new memory has no id yet, and refers to others all the same.
        nameless = {memory.path: memory for memory in scene.memories if not memory.id}
        for finding in broken({**scene.by_id, **nameless}):
            if finding.problem.path in scene.files:
                yield finding.problem
    yield from _deleted(scene)


def _deleted(scene: Scene) -> Iterator[Problem]:
    for id_, old in scene.earlier.items():
        if old.path not in scene.gone or id_ in scene.by_id:
            continue
        for path in sorted({*scene.around.naming(id_)} - {*scene.files, *scene.gone}):
            yield DELETED.found(
                path,
                f"names {id_}, whose file {old.path} is deleted",
                fix=f"keep the file and `memrepo forget {id_}`, or drop the reference",
            )
