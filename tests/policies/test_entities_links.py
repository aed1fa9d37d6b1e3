"""Links between memories: what a body refers to, the walk, and what runs add by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.codec import encode
from memrepo.core.memory import LAYER_OF_TYPE, Link, Memory, Source
from memrepo.core.state import Files, State, apply
from memrepo.policies.entities import Tie, link_step
from memrepo.policies.links import Graph, Names, body_references
from memrepo.policies.rules import LinkRules

RULES = LinkRules()


def id_of(number: int) -> str:
    return f"mem-{number:016x}"


def memory(number: int, body: str = "", day: str = "", **fields: Any) -> Memory:
    base = {"id": id_of(number), "type": "fact", **fields}
    if day:
        base["sources"] = (Source(resource="sources/MEMORY.md", captured=day),)
    folder = f"memories/{LAYER_OF_TYPE[base['type']]}/2026-01"
    path = f"{folder}/thing-{number}-{id_of(number)[4:10]}.md"
    return Memory(path=path, fields=base, body=body or f"Thing {number}.")


def link(target: int, kind: str = "related", strength: float = 1.0) -> Link:
    return Link(target=id_of(target), type=kind, strength=strength)


def added(memories: list[Memory], **more: Any) -> dict[tuple[str, str], Link]:
    step = link_step(memories, {}, RULES, **more)
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
    ],
)
def test_a_body_refers_by_wikilinks_and_links_to_files(body: str, expected: list[int]) -> None:
    all_ = [memory(1, body), memory(2), memory(3), memory(4, type="decision")]
    assert body_references(all_[0], Names(all_)) == tuple(map(id_of, expected))


def test_the_walk_goes_both_ways_and_grows_weaker() -> None:
    graph = Graph(
        [
            memory(1, links=(link(2, strength=0.5),)),
            memory(2),
            memory(3, "[[thing-2]]"),
            memory(4, links=(link(3, "supports", 0.8),)),
            memory(5),
        ]
    )
    assert [(r.id, r.depth, r.strength) for r in graph.related(id_of(1), 9)] == [
        (id_of(2), 1, 0.5),
        (id_of(3), 2, 0.35),
        (id_of(4), 3, 0.196),
    ]
    assert [r.id for r in graph.related(id_of(4), 1)] == [id_of(3)]
    assert [r.edge.in_body for r in graph.related(id_of(3), 1)] == [True, False]
    assert graph.related(id_of(5), 9) == []


def test_what_replaced_what_is_an_edge_where_it_is_asked_for() -> None:
    old = memory(1, superseded_by=(id_of(2),), status="superseded")
    new = memory(2, supersedes=(id_of(1),), links=(link(3, strength=0.5),))
    found = [old, new, memory(3), memory(4, supersedes=(id_of(9),))]
    assert [e.type for e in Graph(found).edges] == ["related"]
    reached = Graph(found, lineage=True).related(id_of(1), 2)
    assert [(r.id, r.depth, r.strength) for r in reached] == [
        (id_of(2), 1, 1.0),
        (id_of(3), 2, 0.35),
    ]
    assert (reached[0].edge.source, reached[0].edge.type) == (id_of(2), "supersedes")


@pytest.mark.parametrize(
    ("counts", "days", "strength"),
    [
        ((2,), None, 0.6),
        ((3,), None, 0.42),
        ((3,), 0, 0.6),
        ((3,), 7, 0.45),
        ((3,), 8, 0.42),
        ((5, 5), None, 0.51),
        ((12,), 0, 0.43),
        ((2, 2), 0, 0.89),
    ],
)
def test_a_tie_is_stronger_the_rarer_its_names_and_the_nearer_its_days(
    counts: tuple[int, ...], days: int | None, strength: float
) -> None:
    assert Tie(names=tuple(("x", n) for n in counts), days=days).strength == strength


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


def test_no_memory_gets_more_links_than_allowed_and_again_there_are_none_to_add() -> None:
    bodies = [
        f"Kestrel{n // 2} and Larder{n // 3} and Osprey{n // 5} meet here." for n in range(40)
    ]
    memories = {id_of(n): memory(n, body, "2026-01-02") for n, body in enumerate(bodies, start=1)}
    rules = LinkRules(most=2)
    step = link_step(list(memories.values()), {}, rules)
    assert step is not None
    state = State(
        files=Files({m.path: encode(m) for m in memories.values()}, {}), memories=memories
    )
    after = apply(state, step.changes)
    assert link_step(after.active, {}, rules) is None
    graph = Graph(after.active)
    assert max(len(graph.at[id_]) for id_ in memories) == 2
