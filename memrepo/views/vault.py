"""An Obsidian vault: the memory files, with links among them that Obsidian follows."""

from __future__ import annotations

from memrepo.core import codec, header
from memrepo.core.lines import dominant_end, join_lines, split_lines
from memrepo.core.memory import Memory, references
from memrepo.core.spelling import entry_lines
from memrepo.core.state import State

SEE = "see_also"


def vault(state: State) -> tuple[dict[str, bytes], int]:
    """Return a vault and how many forgotten memories it leaves out.

    A file is the memory's own but for `aliases`, which means other names there, and a property
    with a link to each memory that it names.
    """
    area = state.layout.area("memories")
    shown = [m for m in state.memories.values() if m.status != "forgotten"]
    slugs = {m.id: m.slug for m in shown}
    files = {
        m.path.removeprefix(area): _file(state.files[m.path], m, slugs)
        for m in sorted(shown, key=lambda m: m.path)
    }
    return files, len(state.memories) - len(shown)


def _file(data: bytes, memory: Memory, slugs: dict[str, str]) -> bytes:
    data = codec.edit(data, memory.with_fields({"aliases": None}))
    named = sorted(references(memory) & slugs.keys())
    head = header.split(data, memory.path)
    lines = split_lines(data.decode("utf-8"))
    end = dominant_end(lines[: head.body_line - 1])
    old = next((e for e in head.entries if e.key == SEE), None)
    skipped = range(old.first - 1, old.last) if old else range(0)
    close = head.body_line - 2
    made = entry_lines(SEE, [f"[[{slugs[id_]}]]" for id_ in named]) if named else []
    kept = [line for n, line in enumerate(lines[:close]) if n not in skipped]
    return join_lines([*kept, *((line, end) for line in made), *lines[close:]]).encode("utf-8")
