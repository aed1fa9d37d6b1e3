"""What `check` says of the records of runs: they can be read, and no hand changes them."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Rule, Scene
from memrepo.core.problems import Problem

UNREADABLE = Rule(
    name="manifest-unreadable",
    group="derived",
    doc="The manifest of a run can be read; until it is restored its input counts as new.",
)
BY_HAND = Rule(
    name="manifest-by-hand",
    group="derived",
    doc="No hand changes or deletes the manifest of a run; `memrepo revert` takes a run back.",
)
RULES = (UNREADABLE, BY_HAND)


def find(scene: Scene) -> Iterator[Problem]:
    """Read the manifests, and hold them against what they were."""
    files = {p: d for p, d in scene.in_area("runs").items() if p.endswith(".json")}
    for path, data in files.items():
        from memrepo.purify.manifest import read_manifest

        if isinstance(found := read_manifest(path, data), Problem):
            yield found
    if scene.merging:
        return
    deleted = [path for path in scene.gone if scene.area(path) == "runs"]
    for path in sorted((*files, *deleted)):
        old = scene.around.before(path)
        if old is not None and old != files.get(path):
            yield BY_HAND.found(
                path,
                "the manifest of a run was changed by hand"
                if path in files
                else "the manifest of a run is deleted by hand",
                fix=f"`git restore -SW {path}`; `memrepo revert` takes a run back",
            )
