"""Rules about references between memories: links, supersessions and parents."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Rule, Scene, body_line
from memrepo.core.ids import visible
from memrepo.core.memory import REFERENCES, Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

NOWHERE = Rule(
    name="link-nowhere",
    group="links",
    severity="warning",
    doc="A hand-written link names exactly one memory, or an existing file.",
)
BODY_RULES = (NOWHERE,)
_ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def find_in_bodies(scene: Scene) -> Iterator[Problem]:
    """Check each link added by the change, and every link in memories written by a person."""
    if scene.layout is None or scene.merging:
        return  # the targets of a loose file's links are unknown
    for memory in scene.memories:
        if "[[" in memory.body or ".md" in memory.body:
            yield from _lost(scene, memory, _known(scene, memory))


def _known(scene: Scene, memory: Memory) -> str:
    """Return the part of a memory's body whose links need no check.

    An unchanged memory that a person wrote is checked completely.
    """
    before = scene.around.before(memory.path)
    if before == scene.files[memory.path]:
        return "" if memory.text("origin") == "manual" else memory.body
    old = scene.earlier.get(memory.id)
    return old.body if old is not None else ""


def _lost(scene: Scene, memory: Memory, known: str) -> Iterator[Problem]:
    from memrepo.policies.links import Names, code_spans, file_links, find_directives, wikilinks

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
        around = {m.path: m for m in scene.around.called(named)}
        both = {**around, **{m.path: m for m in scene.memories}}
        names = Names(both.values()) if around else scene.names
        for at, name in words.items():
            if not names.find(name):
                yield _found(
                    scene,
                    memory,
                    at,
                    f"[[{visible(name)}]], which does not name exactly one memory",
                )
    for at, path in file_links(memory):
        there = path in scene.files or scene.around.there(path)
        if asked(at, path.rpartition("/")[2]) and not there and not _ELSEWHERE.match(path):
            yield _found(scene, memory, at, f"a link to {visible(path)}, which does not exist")


def _found(scene: Scene, memory: Memory, at: int, what: str) -> Problem:
    return NOWHERE.found(
        memory.path,
        f"found {what}",
        line=body_line(scene.files[memory.path]) + memory.body.count("\n", 0, at),
        column=at - memory.body.rfind("\n", 0, at),
        fix="name a memory by id, slug or title, or a file by its path from here",
    )


DELETED = Rule(
    name="reference-deleted",
    group="links",
    severity="warning",
    doc="The file of a memory is not deleted by hand while another memory refers to it.",
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
    """Check every reference of the checked memories, and all references to deleted memories."""
    if scene.layout is None or scene.merging:
        return  # the next command repairs a manual merge
    if any(
        not m.fields.keys().isdisjoint(REFERENCES) or m.status != "active" for m in scene.memories
    ):
        from memrepo.merge.closure import broken

        # New memories without an id may refer to others too.
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
                f"refers to {id_}, but its file {old.path} is deleted",
                fix=f"restore the file and use `memrepo forget {id_}`, or remove the reference",
            )
