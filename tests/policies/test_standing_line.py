"""The line a memory stands in, walked both ways."""

from __future__ import annotations

from itertools import pairwise

from memrepo.core.memory import Memory
from memrepo.policies.standing import after, before


def line(*, ring: bool = False) -> dict[str, Memory]:
    """Return memories a to d, each replaced by the next; e was replaced by c too."""
    names = "abcd"
    fields: dict[str, dict[str, object]] = {n: {"id": n} for n in (*names, "e")}
    for old, new in (*pairwise(names), *([("d", "a")] if ring else [])):
        fields[new]["supersedes"] = (old,)
        fields[old]["superseded_by"] = (new,)
    fields["c"]["supersedes"] = ("b", "e")
    fields["e"]["superseded_by"] = ("c",)
    return {n: Memory(path=f"{n}.md", fields=f) for n, f in fields.items()}


def ids(found: tuple[Memory, ...]) -> list[str]:
    return [m.id for m in found]


def test_the_nearest_comes_first_and_each_once() -> None:
    memories = line()
    assert ids(before(memories["d"], memories)) == ["c", "b", "e", "a"]
    assert ids(after(memories["a"], memories)) == ["b", "c", "d"]
    assert before(memories["a"], memories) == after(memories["d"], memories) == ()


def test_what_is_reached_by_a_short_and_a_long_way_comes_once() -> None:
    memories = line()
    memories["d"] = memories["d"].with_fields({"supersedes": ("c", "a")})
    assert ids(before(memories["d"], memories)) == ["c", "a", "b", "e"]


def test_a_ring_has_an_end() -> None:
    memories = line(ring=True)
    assert ids(after(memories["a"], memories)) == ["b", "c", "d"]


def test_what_is_gone_comes_with_its_id_alone() -> None:
    memories = line()
    gone = memories.pop("b")
    (lost,) = [m for m in before(memories["d"], memories) if m.id == gone.id]
    assert (lost.path, dict(lost.fields)) == ("", {"id": "b"})
