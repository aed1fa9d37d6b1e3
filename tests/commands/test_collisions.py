"""Two sources that tell of one thing: collision zones A to D of memory-purifier's routing rules."""

from __future__ import annotations

from pathlib import Path

import workspaces
from driving import begin, memories

from memrepo.core.memory import Memory

FACT = "The harbour crane at berth 4 must never lift more than 12 tonnes."


def taken_in(base: Path, files: dict[str, str]) -> list[Memory]:
    """Return the active memories after a run over these files."""
    texts = {name: text.encode() for name, text in files.items()}
    repo = begin(base, workspaces.write(base / "workspace", texts))
    return sorted(memories(repo).values(), key=lambda m: m.body)


def kinds(memory: Memory) -> dict[str, str]:
    return {s.resource.removeprefix("sources/"): s.kind for s in memory.sources}


def test_a_fact_and_its_reflection_are_one_memory_with_both_sources(tmp_path: Path) -> None:
    (found,) = taken_in(
        tmp_path,
        {
            "MEMORY.md": f"# Memory\n\n## Harbour\n\n- {FACT}\n",
            "RTMEMORY.md": f"# Lessons\n\n## Harbour\n\n- {FACT}\n",
        },
    )
    assert (found.type, found.home) == ("constraint", "LTMEMORY.md")
    assert kinds(found) == {"MEMORY.md": "direct", "RTMEMORY.md": "inferred"}


def test_a_lesson_drawn_from_a_fact_is_a_memory_of_its_own(tmp_path: Path) -> None:
    lesson, fact = taken_in(
        tmp_path,
        {
            "MEMORY.md": f"# Memory\n\n## Harbour\n\n- {FACT}\n",
            "RTMEMORY.md": "# Lessons\n\n## Harbour\n\n"
            "- Always check the crane's load sheet first; last year a wrong sheet cost us a day.\n",
        },
    )
    assert (lesson.type, fact.type) == ("lesson", "constraint")
    assert {m.home for m in (lesson, fact)} == {"LTMEMORY.md"}
