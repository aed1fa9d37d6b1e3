"""What `check` says of links that a hand wrote into a text and that lead nowhere.

What a text may call a memory is as for `related` (`policies.graph`). Texts that runs took over from
sources refer to what lies beside those, and are not asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.places import body_line
from memrepo.checks.rules import Rule, Scene
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

NOWHERE = Rule(
    name="link-nowhere",
    group="links",
    severity="warning",
    doc="A link that a hand writes into a text names one memory, or a file that is there.",
)
RULES = (NOWHERE,)
_ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def find(scene: Scene) -> Iterator[Problem]:
    """Look up each link that a change brings, and those of memories that were made by hand."""
    if scene.layout is None or scene.merging:
        return  # what a link of a loose file leads to is not known
    for memory in scene.memories:
        if "[[" in memory.body or ".md" in memory.body:
            yield from _lost(scene, memory, _known(scene, memory))


def _known(scene: Scene, memory: Memory) -> str:
    """Return the text whose links are not this change's."""
    before = scene.around.before(memory.path)
    if before == scene.files[memory.path]:
        return "" if memory.text("origin") == "manual" else memory.body
    old = scene.earlier.get(memory.id)
    return old.body if old is not None else ""


def _lost(scene: Scene, memory: Memory, known: str) -> Iterator[Problem]:
    from memrepo.policies.directives import find_directives
    from memrepo.policies.graph import Names, code_spans, file_links, wikilinks

    code = code_spans(memory.body)

    def asked(at: int, name: str) -> bool:
        own = any(first <= at < end for first, end in code) or memory.body[at - 1 : at] == "!"
        return not own and name not in known

    words = {
        at: name
        for at, name in wikilinks(memory)
        if asked(at, name) and not find_directives(f"[[{name}]]")
    }
    if words:
        named = [name.rpartition(":")[2] for name in words.values()]
        names = Names({m.path: m for m in (*scene.around.called(named), *scene.memories)}.values())
        for at, name in words.items():
            if not names.find(name):
                yield _found(scene, memory, at, f"[[{visible(name)}]], which names no one memory")
    for at, path in file_links(memory):
        there = path in scene.files or scene.around.there(path)
        if asked(at, path.rpartition("/")[2]) and not there and not _ELSEWHERE.match(path):
            yield _found(scene, memory, at, f"a link to {visible(path)}, which is not there")


def _found(scene: Scene, memory: Memory, at: int, what: str) -> Problem:
    return NOWHERE.found(
        memory.path,
        f"found {what}",
        line=body_line(scene.files[memory.path]) + memory.body.count("\n", 0, at),
        column=at - memory.body.rfind("\n", 0, at),
        fix="name a memory by id, slug or title, or a file by its path from here",
    )
