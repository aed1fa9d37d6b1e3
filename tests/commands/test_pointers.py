"""What only points to another source becomes no memory, and search still finds it."""

from __future__ import annotations

from pathlib import Path

from driving import begin, done, memories


def test_an_index_of_memory_files_becomes_no_memory_of_its_own(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "MEMORY.md").write_text(
        "# Index\n\n"
        "- [No wet corn](corn.md) — Never grind corn that is wet\n"
        "- Never share the key of the mill with guests.\n"
    )
    (workspace / "memory" / "corn.md").write_text(
        "---\nname: corn\ndescription: Never grind corn that is wet\n"
        "metadata:\n  type: feedback\n---\n\nIt clogs the stone of the mill.\n"
    )
    repo = begin(tmp_path, workspace)
    done(repo, "run")
    said = [memory.body for memory in memories(repo).values()]
    assert any("clogs the stone" in text for text in said)
    assert any("key of the mill" in text for text in said)
    assert not any("corn.md" in text for text in said)
