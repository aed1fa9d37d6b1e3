"""What `check` says of correction files: header, values, the two texts, id against file name."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Rule, Scene
from memrepo.core.problems import Problem

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
