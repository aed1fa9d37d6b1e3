"""Pages for hosts: never above the limits, what matters first, other people's text untouched."""

from __future__ import annotations

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import State, read_state
from memrepo.views.bundles import Limits, openclaw_files

WIDE = Limits(lines=200, bytes=24 * 1024)


def fact(number: int, **fields: object) -> Memory:
    id_ = f"mem-{number:016x}"
    body = str(fields.pop("body", f"Bed {number} holds roses and must be watered."))
    path = f"memories/knowledge/2026-02/bed-{number}-{id_[4:10]}.md"
    return Memory(path=path, fields={"id": id_, "type": "fact", **fields}, body=body)


def state(*found: Memory) -> State:
    return read_state({m.path: codec.encode(m) for m in found}, Layout())


def test_a_workspace_leaves_no_active_memory_out() -> None:
    long = fact(3, body="First line.\n\nSecond paragraph of it.")
    note = fact(4, type="note", title="Noon", body="It rained.")
    files = openclaw_files(state(fact(1), long, note, fact(5, status="archived")), WIDE)
    assert sorted(files) == ["MEMORY.md", "memory/knowledge.md", "memory/notes.md"]
    assert files["memory/knowledge.md"] == (
        b"# Knowledge\n\n- First line.\n  \n  Second paragraph of it.\n"
    )
    assert b"## Noon\n\nIt rained.\n" in files["memory/notes.md"]
    assert b"Bed 5" not in b"".join(files.values())
