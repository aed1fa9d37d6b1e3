"""Rules about texts: deceptive characters, nesting, links and references."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Scene, body_line, report
from memrepo.core.ids import find_deceptive, visible
from memrepo.core.lines import MAX_DEPTH, too_deep
from memrepo.core.memory import REFERENCES, Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem


def find_too_long(scene: Scene) -> Iterator[Problem]:
    """Check the nesting depth of each memory's body."""
    for memory in scene.memories:
        if len(memory.body) <= MAX_DEPTH:  # too short to break a rule
            continue
        if deep := too_deep(memory.body.split("\n")):
            yield report(
                "body-nesting",
                memory.path,
                f"lists or quotes are nested more than {MAX_DEPTH} levels deep",
                line=body_line(scene.files[memory.path]) + deep - 1,
                column=1,
                fix="reduce the nesting, or move the text to sources/",
            )


def find(scene: Scene) -> Iterator[Problem]:
    """Check the characters of every memory file."""
    for path in scene.decoded:
        text = scene.files[path].decode("utf-8", "replace")
        yield from _characters(path, text)


def _characters(path: str, text: str) -> Iterator[Problem]:
    found = find_deceptive(text)
    for rule, mine in (
        ("character-bidirectional", [m for m in found if m["bidi"]]),
        ("character-invisible", [m for m in found if not m["bidi"]]),
    ):
        if mine:
            at = mine[0].start()
            more = f" and {len(mine) - 1} more" if len(mine) > 1 else ""
            yield report(
                rule,
                path,
                f"found U+{ord(mine[0][0]):04X}{more}, an invisible character",
                line=text.count("\n", 0, at) + 1,
                column=at - text.rfind("\n", 0, at),
                fix="remove it (`memrepo check --fix` does)",
            )


_ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def find_in_bodies(scene: Scene) -> Iterator[Problem]:
    """Check each link added by the change, and every link in memories written by a person."""
    if scene.layout is None or scene.merging:
        return  # the targets of a loose file's links are unknown
    for memory in scene.memories:
        if "[[" in memory.body or ".md" in memory.body:
            yield from _lost(scene, memory, _known(scene, memory))


def _known(scene: Scene, memory: Memory) -> str:
    """Return the part of a memory's body whose links need no check."""
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
                yield _lost_link(
                    scene,
                    memory,
                    at,
                    f"[[{visible(name)}]], which does not name exactly one memory",
                )
    for at, path in file_links(memory):
        there = path in scene.files or scene.around.there(path)
        if asked(at, path.rpartition("/")[2]) and not there and not _ELSEWHERE.match(path):
            yield _lost_link(scene, memory, at, f"a link to {visible(path)}, which does not exist")


def _lost_link(scene: Scene, memory: Memory, at: int, what: str) -> Problem:
    return report(
        "link-nowhere",
        memory.path,
        f"found {what}",
        line=body_line(scene.files[memory.path]) + memory.body.count("\n", 0, at),
        column=at - memory.body.rfind("\n", 0, at),
        fix="name a memory by id, slug or title, or a file by its path from here",
    )


def find_broken_references(scene: Scene) -> Iterator[Problem]:
    """Check every reference of the checked memories."""
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
