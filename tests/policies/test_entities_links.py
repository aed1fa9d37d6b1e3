"""Links between memories: what a body refers to, the walk, and what runs add by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.memory import LAYER_OF_TYPE, Link, Memory, Source
from memrepo.policies.links import Names, body_references, link_step


def id_of(number: int) -> str:
    return f"mem-{number:016x}"


def memory(number: int, body: str = "", day: str = "", **fields: Any) -> Memory:
    base = {"id": id_of(number), "type": "fact", **fields}
    if day:
        base["sources"] = (Source(resource="sources/MEMORY.md", captured=day),)
    folder = f"memories/{LAYER_OF_TYPE[base['type']]}/2026-01"
    path = f"{folder}/thing-{number}-{id_of(number)[4:10]}.md"
    return Memory.of(path, base, body=body or f"Thing {number}.")


def added(memories: list[Memory], **more: Any) -> dict[tuple[str, str], Link]:
    step = link_step(memories, **more)
    return {
        (change.id, x.target): x
        for change in (step.changes if step else ())
        for x in change.fields["links"]
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("See [[thing-2]].", [2]),
        ("See [[thing-2-000000|the second]] and [[thing-2#part]].", [2]),
        ("See [[knowledge:thing-2]] and [[mem-0000000000000003]].", [2, 3]),
        ("See [[Thing 2]], not [[Thing 99]] nor [[notes:thing-2]].", [2]),
        ("A directive is none: [[pin:knowledge:thing-2]] [[memory_health]].", []),
        (
            "See [it](thing-2-000000.md) and [that](../../decisions/2026-01/thing-4-000000.md).",
            [2, 4],
        ),
        ('See [it](/memories/knowledge/2026-01/thing-3-000000.md#x "title").', [3]),
        (
            "Not ![an image](thing-2-000000.md), [the web](https://example.org/thing-2-000000.md).",
            [],
        ),
        ("Not itself: [[thing-1]].", []),
        ("[[]] [[ ]] [[[thing-2]]] [](thing-9.md)", [2]),
        ("See [[Kiln Works]].", [6, 5]),
        ("See [[Projects/Kiln Works.md#Gas|it]], not [[Kiln]].", [6, 5]),
    ],
)
def test_a_body_refers_by_wikilinks_and_links_to_files(body: str, expected: list[int]) -> None:
    all_ = [memory(1, body), memory(2), memory(3), memory(4, type="decision")]
    note = "sources/Projects/Kiln Works.md"
    all_ += [memory(n, sources=(Source(resource=note, lines=(9 - n, 9 - n)),)) for n in (5, 6)]
    assert body_references(all_[0], Names(all_)) == tuple(map(id_of, expected))


def test_runs_link_what_names_the_same_and_the_later_points_back() -> None:
    found = added(
        [
            memory(1, "We moved Larder to the cellar.", "2026-02-10"),
            memory(2, "Before the move Larder stood in the hall.", "2026-02-08"),
            memory(3, "The Kestrel host runs nightly jobs.", "2026-02-08"),
            memory(4, "Jobs on the Kestrel host failed.", "2025-06-01"),
        ]
    )
    assert found == {
        (id_of(1), id_of(2)): Link(target=id_of(2), type="follows", strength=0.69),
        (id_of(3), id_of(4)): Link(target=id_of(4), type="related", strength=0.6),
    }


def test_a_word_in_capitals_or_a_label_in_another_script_links_nothing() -> None:
    shouted = [
        memory(1, "DO NOT USE the lift."),
        memory(2, "DO NOT USE the stairs, and do not use the ramp."),
    ]
    labels = [
        memory(3, "- **גיל:** 14\n- **טלפון:** 1"),
        memory(4, "- **גיל:** 10\n- **טלפון:** 2"),
    ]
    assert added([*shouted, *labels]) == {}
    coded = [memory(7, "The `larder` job is slow."), memory(8, "Ask Bo before `larder` runs.")]
    assert added(coded) != {}
    assert added([*coded, memory(9, "The larder was slow.")]) == added(coded)
    plain = [memory(n, f"The larder was slow on day {n}.") for n in (10, 11)]
    assert added([*coded, *plain]) == {}
    named = [memory(5, "The lift is made by ACME Lifts."), memory(6, "Call ACME Lifts at noon.")]
    assert added(named) != {}
