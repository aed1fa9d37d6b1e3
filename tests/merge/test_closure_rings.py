"""Rings of supersessions: which are found, and which memory stays."""

from __future__ import annotations

from memrepo.core.memory import Memory, Stamp
from memrepo.merge.closure import broken


def id_of(name: str) -> str:
    return f"mem-{name * 16}"


def found(links: dict[str, str], **stamps: str) -> list[tuple[str, dict[str, dict[str, object]]]]:
    """Return the rings of memories, by name what replaced them, and how each is mended."""
    names = sorted({*links, *"".join(links.values())})
    memories = {}
    for name in names:
        old = tuple(id_of(n) for n in sorted(links) if name in links[n])
        new = tuple(id_of(n) for n in links.get(name, ""))
        fields: dict[str, object] = {"id": id_of(name), "type": "fact"}
        fields |= {"status": "superseded", "superseded_by": new} if new else {}
        fields |= {"supersedes": old} if old else {}
        if name in stamps:
            fields["generated"] = Stamp(by=stamps[name])
        memories[id_of(name)] = Memory(path=f"memories/{name}.md", fields=fields)
    return [
        (f.problem.path[9:-3], {i[-1]: dict(r) for i, r in f.repairs.items()})
        for f in broken(memories)
        if f.problem.rule == "supersession-cycle"
    ]


def test_a_line_and_a_fork_are_no_rings() -> None:
    assert found({"a": "b", "b": "c"}) == []
    assert found({"a": "bc", "b": "d", "c": "d"}) == []
    assert found({"a": "bcd", "b": "cd", "c": "d"}) == []


def test_of_a_ring_the_one_that_a_person_wrote_stays() -> None:
    ((stays, repairs),) = found({"a": "b", "b": "c", "c": "a"}, b="human:x@y.z")
    assert stays == "b"
    assert repairs["b"] == {
        "superseded_by": None,
        "superseded_at": None,
        "status": None,
        "status_epoch": 1,
    }
    assert repairs["c"] == {"supersedes": None}
    assert set(repairs) == {"b", "c"}


def test_one_that_something_outside_replaced_stays_superseded() -> None:
    ((stays, repairs),) = found({"a": "b", "b": "ax"}, b="human:x@y.z")
    assert stays == "b"
    assert repairs["b"] == {"superseded_by": (id_of("x"),)}


def test_a_ring_that_is_reached_by_a_line_is_found_once() -> None:
    assert len(found({"a": "b", "b": "c", "c": "b"})) == 1
    assert len(found({"z": "b", "a": "b", "b": "c", "c": "b"})) == 1


def test_two_rings_are_two_findings() -> None:
    rings = found({"a": "b", "b": "a", "c": "d", "d": "c"})
    assert len(rings) == 2


def test_rings_that_share_a_memory_are_one() -> None:
    ((stays, repairs),) = found({"a": "bc", "b": "a", "c": "a"})
    assert (stays, set(repairs)) == ("c", {"a", "c"})
