"""Links between memories: what a body refers to, the walk, and what runs add by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.changes import prints_of
from memrepo.core.codec import encode
from memrepo.core.memory import LAYER_OF_TYPE, Link, Memory, Source
from memrepo.core.state import Files, State, apply
from memrepo.policies.entities import RARE, Tie, link_step
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


def test_a_name_of_two_memories_refers_to_neither() -> None:
    one, other = memory(2), memory(2, type="decision", id=id_of(5))
    assert body_references(memory(1, "[[thing-2]] [[decisions:thing-2]]"), Names([one, other])) == (
        id_of(5),
    )


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


def test_what_contradicts_is_reached_and_not_passed() -> None:
    graph = Graph(
        [
            memory(1, links=(link(2, "contradicts"),)),
            memory(2, links=(link(3),)),
            memory(3),
            memory(4, links=(link(4), link(99))),
        ]
    )
    assert [r.id for r in graph.related(id_of(1), 9)] == [id_of(2)]
    assert graph.related(id_of(4), 9) == []


def test_the_stronger_of_two_paths_counts() -> None:
    graph = Graph(
        [
            memory(1, links=(link(2, strength=0.2), link(3, strength=0.9))),
            memory(2, links=(link(4),)),
            memory(3, links=(link(4),)),
            memory(4),
        ]
    )
    (last,) = (r for r in graph.related(id_of(1), 2) if r.id == id_of(4))
    assert (last.before, last.strength) == (id_of(3), 0.63)


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


def test_scopes_notes_and_what_is_tied_already_are_left_alone() -> None:
    body = "The Kestrel host is old."
    assert added([memory(1, body), memory(2, body, scope="project:x")]) == {}
    assert added([memory(1, body), memory(2, body, type="note")]) == {}
    assert added([memory(1, body), memory(2, body, links=(link(1, "supports", 0.1),))]) == {}
    assert added([memory(1, body), memory(2, body, supersedes=(id_of(1),))]) == {}
    assert added([memory(1, body), memory(2, body)], never={f"link:{id_of(2)}:{id_of(1)}"}) == {}
    assert len(added([memory(1, body), memory(2, body)])) == 1


def test_a_name_of_many_ties_none() -> None:
    names = [memory(n, f"The Kestrel host has part {n}.", "2026-01-01") for n in range(1, RARE + 2)]
    assert added(names) == {}


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


def test_the_print_of_a_link_names_its_ends() -> None:
    step = link_step(
        [memory(1, "The Kestrel host."), memory(2, "Off, the Kestrel host.")], {}, RULES
    )
    assert step is not None
    prints = [prints_of(step.op, change) for change in step.changes]
    assert prints == [frozenset({f"link:{id_of(2)}:{id_of(1)}"})]
