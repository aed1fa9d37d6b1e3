"""What leaves the tree with a memory, and what is cut so that nothing refers to it."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.changes import Remove, Update
from memrepo.core.memory import Link, Memory
from memrepo.policies.upkeep import Leaving


def id_of(name: str) -> str:
    return f"mem-{name * 16}"


def memory(name: str, **fields: Any) -> Memory:
    base = {"id": id_of(name), "type": "fact", **fields}
    return Memory(path=f"memories/knowledge/{name}.md", fields=base, body="One.")


def leave(name: str, *memories: Memory) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Return what leaves with a memory, and what is cut from those that stay."""
    changes = Leaving({m.id: m for m in memories}).leave(id_of(name))
    gone = [c.id[-1] for c in changes if isinstance(c, Remove)]
    cut = {c.id[-1]: dict(c.fields) for c in changes if isinstance(c, Update)}
    assert len(gone) + len(cut) == len(changes)
    return gone, cut


def test_one_alone_leaves_alone_and_once() -> None:
    leaving = Leaving({m.id: m for m in (memory("a"), memory("b"))})
    assert leaving.leave(id_of("a")) == (Remove(id=id_of("a")),)
    assert leaving.leave(id_of("a")) == ()
    assert leaving.leave(id_of("9")) == ()


def test_predecessors_and_parts_go_along_however_long_the_chain() -> None:
    chain = [
        memory("a", superseded_by=(id_of("b"),)),
        memory("b", supersedes=(id_of("a"),), superseded_by=(id_of("c"),)),
        memory("c", supersedes=(id_of("b"),)),
        memory("d", parent=id_of("a")),
    ]
    assert leave("c", *chain) == (["a", "b", "c", "d"], {})
    assert leave("a", *chain) == (["a", "d"], {"b": {"supersedes": None}})


def test_what_two_replaced_stays_until_both_are_gone() -> None:
    old = memory("a", superseded_by=(id_of("b"), id_of("c")))
    heirs = [memory(n, supersedes=(id_of("a"),)) for n in "bc"]
    leaving = Leaving({m.id: m for m in (old, *heirs)})
    assert leaving.leave(id_of("b")) == (
        Update(id=id_of("a"), fields={"superseded_by": (id_of("c"),)}),
        Remove(id=id_of("b")),
    )
    assert leaving.leave(id_of("c")) == (Remove(id=id_of("a")), Remove(id=id_of("c")))


@pytest.mark.parametrize("flag", ["pinned", "critical"])
def test_what_a_person_protects_keeps_what_it_would_go_with(flag: str) -> None:
    old = memory("a", superseded_by=(id_of("b"),), **{flag: True})
    assert leave("b", old, memory("b", supersedes=(id_of("a"),))) == ([], {})
    assert leave("b", memory("b", **{flag: True})) == (["b"], {}), "itself was asked for"


@pytest.mark.parametrize(
    ("fields", "cut"),
    [
        (
            {"links": (Link(target=id_of("z"), type="x"), Link(target=id_of("b"), type="y"))},
            {"links": (Link(target=id_of("b"), type="y"),)},
        ),
        ({"links": (Link(target=id_of("z"), type="x"),)}, {"links": None}),
        ({"supersedes": (id_of("b"), id_of("z"))}, {"supersedes": (id_of("b"),)}),
        ({"supersedes": (id_of("z"),)}, {"supersedes": None}),
        ({"compressed_into": id_of("z")}, {"compressed_into": None}),
        (
            {"duplicate_of": id_of("z"), "standing": "probable_duplicate"},
            {"duplicate_of": None, "standing": None},
        ),
        ({"duplicate_of": id_of("z"), "standing": "contested"}, {"duplicate_of": None}),
        (
            {
                "duplicate_of": id_of("b"),
                "standing": "probable_duplicate",
                "links": (Link(target=id_of("z"), type="x"),),
            },
            {"links": None},
        ),
    ],
)
def test_a_reference_is_dropped_and_all_else_stays(
    fields: dict[str, Any], cut: dict[str, Any]
) -> None:
    assert leave("z", memory("a", **fields), memory("b"), memory("z")) == (["z"], {"a": cut})


def test_a_second_leaving_sees_what_the_first_cut() -> None:
    links = tuple(Link(target=id_of(n), type="x") for n in "yz")
    leaving = Leaving({m.id: m for m in (memory("a", links=links), memory("y"), memory("z"))})
    leaving.leave(id_of("y"))
    assert leaving.leave(id_of("z"))[0] == Update(id=id_of("a"), fields={"links": None})


def test_what_left_already_is_not_cut_again() -> None:
    link = (Link(target=id_of("z"), type="x"),)
    leaving = Leaving({m.id: m for m in (memory("a", links=link), memory("z"))})
    leaving.leave(id_of("a"))
    assert leaving.leave(id_of("z")) == (Remove(id=id_of("z")),)
