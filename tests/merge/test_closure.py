from __future__ import annotations

import pytest

from memrepo.checks.rules import all_rules
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Link, Memory, Stamp
from memrepo.core.state import State, apply, read_state
from memrepo.merge.states import broken, close, closure
from tests.strategies import IDS, place

A, B, C = IDS[:3]


GONE = IDS[3]


def state(**memories: dict[str, object]) -> State:
    written = (
        Memory.of(path=place(id_), fields={"id": id_, "type": "fact", **memories[name]})
        for name, id_ in (("a", A), ("b", B), ("c", C))
        if name in memories
    )
    return read_state({m.path: codec.encode(m) for m in written}, Layout())


OLD: dict[str, object] = {"status": "superseded", "superseded_by": (B,)}


LINK = Link(target=B, type="follows")


NEW: dict[str, object] = {"supersedes": (A,)}


CASES = [
    pytest.param([], {"a": OLD, "b": NEW}, {"a": OLD, "b": NEW}, id="whole"),
    pytest.param(
        [],
        {"a": {"status": "forgotten", "superseded_by": (B,)}, "b": NEW},
        {"a": {"status": "forgotten", "superseded_by": (B,)}, "b": NEW},
        id="replaced, then forgotten",
    ),
    pytest.param(
        ["supersession-half"],
        {"a": OLD, "b": {}},
        {"a": OLD, "b": NEW},
        id="the new one does not know",
    ),
    pytest.param(
        ["supersession-half"],
        {"a": {}, "b": NEW},
        {"a": {}, "b": {}},
        id="the old one is active: taken back",
    ),
    pytest.param(
        ["supersession-half"],
        {"a": {**OLD, "superseded_by": (C,)}, "b": NEW, "c": NEW},
        {"a": {**OLD, "superseded_by": (C, B)}, "b": NEW, "c": NEW},
        id="the old one knows another only",
    ),
    pytest.param(
        ["supersession-status"],
        {"a": {"superseded_by": (B,)}, "b": NEW},
        {"a": {}, "b": {}},
        id="replaced and active",
    ),
    pytest.param(
        ["supersession-status"],
        {"a": {"status": "superseded"}},
        {"a": {}},
        id="superseded by nothing",
    ),
    pytest.param(
        ["reference-lost"],
        {"a": {**OLD, "superseded_by": (GONE,)}},
        {"a": {}},
        id="the new one is gone",
    ),
    pytest.param(
        ["reference-lost", "reference-lost"],
        {"a": {"links": (LINK, Link(target=GONE, type="follows")), "parent": GONE}, "b": {}},
        {"a": {"links": (LINK,)}, "b": {}},
        id="lost",
    ),
    pytest.param(
        ["supersession-cycle"],
        {"a": {**OLD, **NEW, "superseded_by": (A,)}},
        {"a": {}},
        id="itself",
    ),
    pytest.param(
        ["supersession-cycle"],
        {
            "a": {**OLD, "supersedes": (C,)},
            "b": {"status": "superseded", "superseded_by": (C,), "supersedes": (A,)},
            "c": {"status": "superseded", "superseded_by": (A,), "supersedes": (B,)},
        },
        {
            "a": OLD,
            "b": {"status": "superseded", "superseded_by": (C,), "supersedes": (A,)},
            "c": {"supersedes": (B,)},
        },
        id="a ring of three",
    ),
]


@pytest.mark.parametrize(("rules", "before", "after"), CASES)
def test_what_does_not_hold_is_named_and_mended(
    rules: list[str], before: dict[str, dict[str, object]], after: dict[str, dict[str, object]]
) -> None:
    found = state(**before)
    assert [p.rule for p in closure(found)] == rules
    updates, _ = close(found)
    assert apply(found, updates) == state(**after)
    assert closure(state(**after)) == ()


def test_what_is_known_is_left_alone() -> None:
    found = state(a=OLD, b={})
    _, mended = close(found)
    assert close(found, {finding.name for finding in mended}) == ((), ())


def test_two_files_with_one_id_are_named() -> None:
    data = codec.encode(Memory.of(path="", fields={"id": A, "type": "fact"}))
    two = read_state({place(A): data, place(A, "skills/2026-02"): data}, Layout())
    assert [p.rule for p in closure(two)] == ["memory-same-id"]


def test_every_rule_has_a_case() -> None:
    covered = {rule for case in CASES for rule in case.values[0]}  # type: ignore[attr-defined]
    links = {name for name, rule in all_rules().items() if rule.group == "links"}
    assert covered == links


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
        memories[id_of(name)] = Memory.of(path=f"memories/{name}.md", fields=fields)
    return [
        (f.problem.path[9:-3], {i[-1]: dict(r) for i, r in f.repairs.items()})
        for f in broken(memories)
        if f.problem.rule == "supersession-cycle"
    ]


def test_of_a_ring_the_one_that_a_person_wrote_stays() -> None:
    ((stays, repairs),) = found({"a": "b", "b": "c", "c": "a"}, b="human:x@y.z")
    assert stays == "b"
    assert repairs["b"] == {"superseded_by": None, "superseded_at": None, "status": None}
    assert repairs["c"] == {"supersedes": None}
    assert set(repairs) == {"b", "c"}


def test_rings_that_share_a_memory_are_one() -> None:
    ((stays, repairs),) = found({"a": "bc", "b": "a", "c": "a"})
    assert (stays, set(repairs)) == ("c", {"a", "c"})
