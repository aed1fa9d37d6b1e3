"""What header and codec ask of a memory file, and that a file can be read at all."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Rule, Scene
from memrepo.core.codec import RULES as CODEC_RULES
from memrepo.core.lines import find_conflict
from memrepo.core.problems import Problem

_SIZE = ("file-too-large", "frontmatter-depth")
_WARNINGS = ("frontmatter-near-key",)


UNREADABLE = Rule(
    name="file-unreadable",
    group="schema",
    doc="A file that `memrepo check` is given can be read, and is not a symlink.",
)
NOT_A_FILE = Rule(
    name="tree-not-a-file",
    group="schema",
    doc="A file stands where one was expected, no symlink and no submodule.",
)
BAD_NAME = Rule(
    name="tree-name-not-utf8",
    group="schema",
    doc="The name of a file is UTF-8.",
)
RULES = (
    UNREADABLE,
    NOT_A_FILE,
    BAD_NAME,
    *(
        Rule(
            name=name,
            group="size" if name in _SIZE else "schema",
            doc=doc,
            severity="warning" if name in _WARNINGS else "error",
        )
        for name, doc in CODEC_RULES.items()
    ),
)


_CONFLICT = next(rule for rule in RULES if rule.name == "file-conflict")


def find(scene: Scene) -> Iterator[Problem]:
    """Read every memory file, and look for conflict markers in memrepo's other files."""
    for _, problems in scene.decoded.values():
        yield from problems
    for path, data in scene.files.items():
        if scene.is_memory(path) or scene.area(path) in ("", "sources"):
            continue
        if line := find_conflict(data.decode("utf-8", "replace")):
            message = "found git's conflict markers, expected one text"
            fix = "leave one of the two sides, without the lines of the markers"
            yield _CONFLICT.found(path, message, line=line, column=1, fix=fix)
