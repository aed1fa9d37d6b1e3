"""Names that texts mention, and which of them are one: by word of a text, never by likeness."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory
from memrepo.policies.entities import catalogue, held, mentions


def memory(number: int, body: str, **fields) -> Memory:
    id_ = f"mem-{number:016x}"
    return Memory.of(
        path=f"memories/x-{number}.md", fields={"id": id_, "type": "fact", **fields}, body=body
    )


def names(*bodies: str, **configured) -> dict[str, tuple[tuple[str, ...], int]]:
    found = catalogue((memory(n, b) for n, b in enumerate(bodies)), configured)
    return {e.name: (e.aliases, len(e.memories)) for e in found.entities}


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("Last week Mara Lindqvist met Bob in Lisbon.", ("Mara Lindqvist", "Bob", "Lisbon")),
        ("Deploys go to db1.example.org with `rsync`.", ("rsync", "db1.example.org")),
        ("We moved from GitHub to k8s, says @holt.", ("@holt", "GitHub", "k8s")),
        ("Read notes.md and `--force` on Monday in March.", ()),
        ("Never prune the roses.", ()),
        ("Der Server ist im Keller, sagt Anna Berg.", ("Anna Berg",)),
        ("The Open Door Project is funded by NATO.", ("NATO", "Open Door Project")),
        ("It is Mara's idea.", ("Mara",)),
        ("", ()),
    ],
)
def test_mentions(text: str, sure: tuple[str, ...]) -> None:
    assert mentions(text)[0] == sure


def test_configured_aliases_in_a_circle_end() -> None:
    found = names("I met Anna.", "I met Berta.", Anna=["Berta"], Berta=["Anna"])
    assert len(found) == 1


def test_what_a_person_or_model_named_is_confirmed() -> None:
    found = catalogue([memory(1, "the old mill", entities=("old mill",)), memory(2, "Old Mill x")])
    entity = found.find("OLD MILL")
    assert entity is not None
    assert entity.confirmed == (f"mem-{1:016x}",)


def test_a_model_invents_no_name() -> None:
    texts = ["Mara met Bob in Lisbon.", "Heading"]
    assert held(("Mara", "mara", "Alice", "Lis", "", "Bob\nx", "Heading"), texts) == (
        "Mara",
        "mara",
        "Heading",
    )


@given(st.lists(st.text(max_size=80), max_size=4), st.dictionaries(st.text(), st.lists(st.text())))
def test_any_text_can_be_read_and_order_changes_nothing(bodies, configured) -> None:
    rows = [memory(n, body) for n, body in enumerate(bodies)]
    found = catalogue(rows, configured)
    assert found.entities == catalogue(rows[::-1], configured).entities
    for entity in found.entities:
        assert entity.memories
        assert set(entity.confirmed) <= set(entity.memories)
