"""Every memory as JSON, and as an Open Knowledge Format bundle."""

from __future__ import annotations

import json
import re

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import memories

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.schema import FIELDS
from memrepo.core.state import State, read_state
from memrepo.views.bundles import MEMORIES, jsonl, memory_json, okf

LINK = re.compile(r"^\* \[((?:[^\[\]\\]|\\.)+)\]\(([^)]+)\)(?: - .*)?$")


def state(*found: Memory) -> State:
    return read_state({m.path: codec.encode(m) for m in found}, Layout())


def fact(digit: str, **fields: object) -> Memory:
    id_ = f"mem-{digit * 16}"
    body = str(fields.pop("body", f"Bed {digit} [north] holds *roses*."))
    path = f"memories/knowledge/2026-02/bed-{digit * 6}.md"
    return Memory(path=path, fields={"id": id_, "type": "fact", **fields}, body=body)


@settings(max_examples=40)
@given(memories())
def test_every_field_of_a_memory_stands_in_its_json(memory: Memory) -> None:
    found = json.loads(json.dumps(memory_json(memory)))
    assert set(found) == {"path", "layer", "text", *memory.fields}
    assert found["text"] == memory.body
    for field in FIELDS:
        if isinstance(memory.fields.get(field.name), (bool, int, float, str)):
            assert found[field.name] == memory.fields[field.name]


def test_one_line_a_memory_forgotten_ones_too() -> None:
    data = jsonl(state(fact("1"), fact("2", status="forgotten")))[MEMORIES]
    found = [json.loads(line) for line in data.splitlines()]
    assert [m["id"] for m in found] == ["mem-1111111111111111", "mem-2222222222222222"]


def test_a_bundle_holds_the_files_as_they_are_and_leaves_forgotten_ones_out() -> None:
    shown, hidden = fact("1"), fact("2", status="forgotten")
    files, left = okf(state(shown, hidden))
    assert left == 1
    assert files["knowledge/2026-02/bed-111111.md"] == codec.encode(shown)
    assert sorted(files) == [
        "index.md",
        "knowledge/2026-02/bed-111111.md",
        "knowledge/2026-02/index.md",
        "knowledge/index.md",
    ]


@settings(max_examples=30)
@given(st.lists(memories(), max_size=2, unique_by=lambda m: (m.path, m.id)))
def test_a_bundle_conforms(found: list[Memory]) -> None:
    files, _ = okf(state(*found))
    for name, data in files.items():
        text = data.decode("utf-8")
        if name.rsplit("/", 1)[-1] == "index.md":
            _is_index(name, text, files)
        else:
            memory, problems = codec.decode(f"memories/{name}", data)
            assert memory is not None, problems
            assert memory.type


def _is_index(name: str, text: str, files: dict[str, bytes]) -> None:
    """Assert sections 8 and 12: a header in the root's index only, links that lead."""
    if name == "index.md":
        _, header, text = text.split("---\n", 2)
        assert yaml.safe_load(header) == {"okf_version": "0.2"}
    folder = name.removesuffix("index.md")
    for line in filter(None, text.split("\n")):
        match = LINK.match(line)
        assert match or re.fullmatch(r"# (Layers|Folders|Memories)", line), line
        if match:
            target = match[2] + ("index.md" if match[2].endswith("/") else "")
            assert folder + target in files
