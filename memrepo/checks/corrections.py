"""What `check` says of correction files and of manifests of runs."""

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
MANIFEST_RULES = (UNREADABLE, BY_HAND)


def find_in_manifests(scene: Scene) -> Iterator[Problem]:
    """Read the manifests, and hold them against what they were."""
    files = {p: d for p, d in scene.in_area("runs").items() if p.endswith(".json")}
    for path, data in files.items():
        from memrepo.core.manifest import read_manifest

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


SAME_ID = Rule(
    name="correction-same-id",
    group="schema",
    severity="warning",
    doc="Two files are not about one case; the one that was decided last counts.",
)
RULES = (
    Rule(
        name="correction-header",
        group="schema",
        doc="A correction begins with a header between two lines `---`.",
    ),
    Rule(
        name="correction-value",
        group="schema",
        doc="Its keys have values of their kinds, and agree with each other and with the body.",
    ),
    Rule(
        name="correction-text",
        group="schema",
        doc="Its body holds two texts, quoted line by line, each under the id of its memory.",
    ),
    Rule(
        name="correction-file-name",
        group="schema",
        doc="The file name ends in the id of the correction.",
    ),
    SAME_ID,
)


def find(scene: Scene) -> Iterator[Problem]:
    """Read every correction; two files about one case are one."""
    files = {p: d for p, d in scene.in_area("corrections").items() if p.endswith(".md")}
    if not files:
        return
    from memrepo.core.corrections import Correction, decode, was_put_aside

    seen: dict[str, str] = {}
    for path, data in ((p, d) for p, d in files.items() if not was_put_aside(p)):
        found = decode(path, data)
        if not isinstance(found, Correction):
            yield from found
        elif seen.setdefault(found.id, path) != path:
            yield SAME_ID.found(
                path,
                f"found {found.id}, which {seen[found.id]} has too; the one that was"
                " decided last counts",
                line=1,
                key="id",
                fix="delete the other one",
            )
