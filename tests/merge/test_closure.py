from __future__ import annotations

from typing import Any

import pytest

from memrepo.checks.rules import all_rules
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Link, Memory, Stamp
from memrepo.core.state import State, apply, read_state
from memrepo.merge.states import close, closure
from tests.strategies import IDS, place

A, B, C, GONE = IDS[:4]
Fields = dict[str, Any]


def state(**memories: Fields) -> State:
    written = (
        Memory.of(path=place(id_), fields={"id": id_, "type": "fact", **memories[name]})
        for name, id_ in (("a", A), ("b", B), ("c", C))
        if name in memories
    )
    return read_state({m.path: codec.encode(m) for m in written}, Layout())


def old(*by: str, **more: Any) -> Fields:
    return {"status": "superseded", "superseded_by": by, **more}


def new(*of: str, **more: Any) -> Fields:
    return {"supersedes": of, **more}


LINK, LOST = (Link(target=id_, type="follows") for id_ in (B, GONE))
HALF, STATUS, CYCLE = "supersession-half", "supersession-status", "supersession-cycle"
PERSON = {"generated": Stamp(by="human:x@y.z")}
CASES: dict[str, tuple[list[str], dict[str, Fields], dict[str, Fields]]] = {
    "whole": ([], {"a": old(B), "b": new(A)}, {"a": old(B), "b": new(A)}),
    "replaced, then forgotten": (
        [],
        {"a": old(B, status="forgotten"), "b": new(A)},
        {"a": old(B, status="forgotten"), "b": new(A)},
    ),
    "the new one does not know": ([HALF], {"a": old(B), "b": {}}, {"a": old(B), "b": new(A)}),
    "the old one is active: taken back": ([HALF], {"a": {}, "b": new(A)}, {"a": {}, "b": {}}),
    "the old one knows another only": (
        [HALF],
        {"a": old(C), "b": new(A), "c": new(A)},
        {"a": old(C, B), "b": new(A), "c": new(A)},
    ),
    "replaced and active": (
        [STATUS],
        {"a": {"superseded_by": (B,)}, "b": new(A)},
        {"a": {}, "b": {}},
    ),
    "superseded by nothing": ([STATUS], {"a": {"status": "superseded"}}, {"a": {}}),
    "the new one is gone": (["reference-lost"], {"a": old(GONE)}, {"a": {}}),
    "lost": (
        ["reference-lost"] * 2,
        {"a": {"links": (LINK, LOST), "parent": GONE}, "b": {}},
        {"a": {"links": (LINK,)}, "b": {}},
    ),
    "itself": ([CYCLE], {"a": old(A, supersedes=(A,))}, {"a": {}}),
    "a ring of three": (
        [CYCLE],
        {"a": old(B, **new(C)), "b": old(C, **new(A)), "c": old(A, **new(B))},
        {"a": old(B), "b": old(C, **new(A)), "c": new(B)},
    ),
    "of a ring the one that a person wrote stays": (
        [CYCLE],
        {"a": old(B, **new(C)), "b": old(C, **new(A), **PERSON), "c": old(A, **new(B))},
        {"a": old(B, **new(C)), "b": new(A, **PERSON), "c": old(A)},
    ),
    "rings that share a memory are one": (
        [CYCLE],
        {"a": old(B, C, **new(B, C)), "b": old(A, **new(A)), "c": old(A, **new(A))},
        {"a": old(B, C), "b": new(A), "c": new(A)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_does_not_hold_is_named_and_mended(name: str) -> None:
    rules, before, after = CASES[name]
    found = state(**before)
    assert [p.rule for p in closure(found)] == rules
    updates, _ = close(found)
    assert apply(found, updates) == state(**after)
    assert closure(state(**after)) == ()


def test_what_is_known_is_left_alone() -> None:
    found = state(a=old(B), b={})
    _, mended = close(found)
    assert close(found, {finding.name for finding in mended}) == ((), ())


def test_two_files_with_one_id_are_named() -> None:
    data = codec.encode(Memory.of(path="", fields={"id": A, "type": "fact"}))
    two = read_state({place(A): data, place(A, "skills/2026-02"): data}, Layout())
    assert [p.rule for p in closure(two)] == ["memory-same-id"]


def test_every_rule_has_a_case() -> None:
    links = {name for name, rule in all_rules().items() if rule.group == "links"}
    assert {rule for rules, *_ in CASES.values() for rule in rules} == links
