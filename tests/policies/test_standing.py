"""What remains of a contradiction when one of its pairs is settled."""

from __future__ import annotations

from memrepo.core.memory import Link, Memory
from memrepo.policies.standing import reconciled

OLD, NEW, THIRD = (f"mem-{digit * 16}" for digit in "123")


def test_a_memory_stays_contested_by_a_third() -> None:
    links = tuple(Link(target=id_, type="contradicts") for id_ in (NEW, THIRD))
    fields = {"id": OLD, "type": "fact", "links": links, "standing": "contested"}
    of = Memory.of(f"memories/knowledge/{OLD}.md", fields)
    left = {"links": links[1:]}
    assert reconciled(of, NEW, {NEW, THIRD}.__contains__) == left
    assert reconciled(of, NEW, {NEW}.__contains__) == {**left, "standing": None}
    assert reconciled(of, OLD, {NEW}.__contains__) == {}
