"""Every memory as JSON, and as an Open Knowledge Format bundle."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import memories

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source
from memrepo.core.schema import FIELDS
from memrepo.core.state import State, read_state
from memrepo.views.bundles import memory_json, okf

LINK = re.compile(r"^\* \[((?:[^\[\]\\]|\\.)+)\]\(([^)]+)\)(?: - .*)?$")


def state(*found: Memory) -> State:
    return read_state({m.path: codec.encode(m) for m in found}, Layout())


def fact(digit: str, **fields: object) -> Memory:
    id_ = f"mem-{digit * 16}"
    body = str(fields.pop("body", f"Bed {digit} [north] holds *roses*."))
    path = f"memories/knowledge/2026-02/bed-{digit * 6}.md"
    return Memory(path=path, fields={"id": id_, "type": "fact", **fields}, body=body)


@settings(max_examples=12)
@given(memories())
def test_every_field_of_a_memory_stands_in_its_json(memory: Memory) -> None:
    found = json.loads(json.dumps(memory_json(memory)))
    assert set(found) == {"path", "layer", "text", *memory.fields}
    assert found["text"] == memory.body
    for field in FIELDS:
        if isinstance(memory.fields.get(field.name), (bool, int, float, str)):
            assert found[field.name] == memory.fields[field.name]


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


@settings(max_examples=12)
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


ANA, BO, NOON = "ana-123456", "bo-654321", "noon-abcdef"


def linking(text: str, path: str = f"memories/knowledge/2026-02/{ANA}.md", **fields: Any) -> State:
    """Return a state of one text, a memory of its folder, and a note of another."""
    return state(
        Memory(path=path, fields={"id": "mem-1234560000000000", **TAKEN, **fields}, body=text),
        Memory(
            path=f"memories/knowledge/2026-02/{BO}.md",
            fields={"id": "mem-6543210000000000", **TAKEN, "sources": (taken("people/Bo B.md"),)},
            body="Bo sings.",
        ),
        Memory(
            path=f"memories/episodes/2026-02/{NOON}.md",
            fields={"id": "mem-abcdef0000000000", "type": "note", "title": "Noon"},
            body="It rained.",
        ),
        Memory(
            path="memories/knowledge/2026-02/gone-000000.md",
            fields={"id": "mem-0000000000000000", "type": "fact", "status": "forgotten"},
            body="Gone.",
        ),
    )


def taken(path: str) -> Source:
    return Source(resource=f"obsidian://{path}#{path.removesuffix('.md')}", lines=(1, 1))


TAKEN = {"type": "fact", "origin": "import", "sources": (taken("notes/Ana.md"),)}


@pytest.mark.parametrize(
    ("text", "bundled"),
    [
        (f"[[{BO}]]", f"[{BO}]({BO}.md)"),
        ("[[bo]] and [[Bo]]", f"[bo]({BO}.md) and [Bo]({BO}.md)"),
        ("[[mem-6543210000000000|him]]", f"[him]({BO}.md)"),
        ("[[Noon]]", f"[Noon](../../episodes/2026-02/{NOON}.md)"),
        ("[[Bo B]]", f"[Bo B]({BO}.md)"),  # as the vault it is from calls it
        ("[[people/Bo B.md|him]]", f"[him]({BO}.md)"),
        ("[[Noon#Late|x]]", f"[x](../../episodes/2026-02/{NOON}.md)"),
        ("![[Bo B]]", f"[Bo B]({BO}.md)"),
        ("| a |\n|---|\n| [[bo]] |", f"| a |\n|---|\n| [bo]({BO}.md) |"),
        ("| [[bo\\|B]] |", f"| [B]({BO}.md) |"),
        (f"[n](../../episodes/2026-02/{NOON}.md)", None),
        (f"[b](./{BO}.md#top)", None),
        (f"[b](/memories/knowledge/2026-02/{BO}.md)", f"[b]({BO}.md)"),
        ("[b](../people/Bo%20B.md#top)", f"[b]({BO}.md#top)"),
        ('[b](<../people/Bo%20B.md> "Bo")', f'[b]({BO}.md "Bo")'),
        # What leads to no memory that goes out stays as it is.
        ("[[gone]] [[Nobody]] [x](no.md) [y](https://e.org/bo.md) [[ana]]", None),
        ("`[[bo]]` and\n\n```\n[[bo]]\n```", None),
    ],
)
def test_a_link_in_a_text_leads_to_the_file_that_goes_out(text: str, bundled: str | None) -> None:
    files, _ = okf(linking(text))
    memory, problems = codec.decode("x.md", files[f"knowledge/2026-02/{ANA}.md"])
    assert memory is not None, problems
    assert memory.body == (bundled or text)
