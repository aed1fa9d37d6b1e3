"""What `check` says of bodies: how deep they nest, how long their lines are."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.places import body_line
from memrepo.checks.rules import Rule, Scene
from memrepo.core.lines import MAX_DEPTH, too_deep
from memrepo.core.problems import Problem

LINE_LENGTH = 20_000
NESTING = Rule(
    name="body-nesting",
    group="size",
    doc=f"Lists and quotes of a body nest at most {MAX_DEPTH} levels.",
)
LINE = Rule(
    name="body-line",
    group="size",
    severity="warning",
    doc=f"A line of a body holds at most {LINE_LENGTH:,} characters.",
)
RULES = (NESTING, LINE)


def find(scene: Scene) -> Iterator[Problem]:
    """Measure the body of each memory."""
    for memory in scene.memories:
        if len(memory.body) <= MAX_DEPTH:  # too short for either
            continue
        lines = memory.body.split("\n")
        first = body_line(scene.files[memory.path])
        if deep := too_deep(lines):
            yield NESTING.found(
                memory.path,
                f"nests lists or quotes over {MAX_DEPTH} levels",
                line=first + deep - 1,
                column=1,
                fix="write it flatter, or keep the text under sources/",
            )
        for number, line in enumerate(lines, start=first):
            if len(line) > LINE_LENGTH:
                yield LINE.found(
                    memory.path,
                    f"found a line of {len(line)} characters",
                    line=number,
                    column=1,
                    fix="break it into lines, or keep the text under sources/",
                )
