"""Directives in double brackets: which a text holds, and what each asks for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.core.changes import Update
from memrepo.core.memory import Hot, Memory
from memrepo.policies.directives import REQUEST, Directive, Verb, find_directives, steps_of

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
HOT = Hot(since=NOW, reason="x")


def memory(slug: str = "oak-000001", **fields: Any) -> Memory:
    base = {"id": f"id-{slug}", "type": "fact", **fields}
    return Memory(path=f"memories/knowledge/{slug}.md", fields=base, body="The Oak stands.")


def asked(verb: Verb, of: Memory | None, *others: Memory, target: str = "k:oak") -> Any:
    return steps_of(
        Directive(verb=verb, target=target), [*filter(None, [of]), *others], lambda _: of, NOW
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[pin:knowledge:oak]]", [("pin", "knowledge:oak")]),
        ("[[ promote : knowledge : oak ]]", [("promote", "knowledge:oak")]),
        ("[[forget:k:a]] and [[restore:k:b]]", [("forget", "k:a"), ("restore", "k:b")]),
        ("[[forget keyword: oak tree ]]", [("forget keyword", "oak tree")]),
        ("[[memory_health]]", [("memory_health", "")]),
        ("[[pin:k:a]] [[pin:k:a]]", [("pin", "k:a")]),
        ("`[[pin:k:a]]`", []),
        ("```\n[[pin:k:a]]\n```\n[[pin:k:b]]", [("pin", "k:b")]),
        ("~~~\n[[pin:k:a]]\n", []),
        ("[[pin:oak]] [[unpin:k:a]] [pin:k:a]", []),
    ],
)
def test_which_directives_a_text_holds(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(d.verb, d.target) for d in find_directives(text)] == expected


def fields_of(steps: Any) -> list[tuple[str, dict[str, Any]]]:
    return [
        (step.op, dict(change.fields))
        for step in steps
        for change in step.changes
        if isinstance(change, Update)
    ]


def test_pinning_is_done_once() -> None:
    (step,) = asked("pin", memory())
    assert (step.reason, fields_of([step])) == (REQUEST, [("pin", {"pinned": True})])
    assert asked("pin", memory(pinned=True)) == ()


def test_promoting_puts_a_claim_in_recall_on_the_cache() -> None:
    assert fields_of(asked("promote", memory())) == [
        ("promote", {"hot": Hot(since=NOW, reason=REQUEST)})
    ]
    for fields in ({"hot": HOT}, {"status": "archived"}, {"type": "note"}, {"type": "chunk"}):
        assert asked("promote", memory(**fields)) == ()


def test_forgetting_takes_it_off_the_cache_and_a_critical_one_is_so_no_longer() -> None:
    gone = ("demote", {"hot": Hot(until=NOW, reason=REQUEST)})
    assert fields_of(asked("forget", memory(hot=HOT))) == [gone]
    also = ("demote", {"critical": None})
    assert fields_of(asked("forget", memory(hot=HOT, critical=True))) == [gone, also]
    assert fields_of(asked("forget", memory(critical=True))) == [gone, also]
    assert asked("forget", memory()) == ()


def test_only_what_is_archived_is_restored() -> None:
    (step,) = asked("restore", memory(status="archived"))
    assert (step.op, step.reason) == ("restore", REQUEST)
    for status in ("active", "superseded", "forgotten"):
        assert asked("restore", memory(status=status)) == ()


def test_a_keyword_is_looked_for_in_slugs_and_texts_whatever_its_case() -> None:
    by_text, by_slug = memory("b-000002", hot=HOT), memory("a-oak-000001", hot=HOT)
    other = Memory(path="memories/knowledge/c-000003.md", fields={"hot": HOT}, body="A fir.")
    steps = asked("forget keyword", None, by_text, by_slug, other, target="OAK")
    assert [s.memory_ids for s in steps] == [(by_slug.id,), (by_text.id,)]
    assert asked("forget keyword", None, other, target="oak") == ()


def test_what_names_no_memory_is_told_apart_from_what_is_so_already() -> None:
    assert asked("pin", None) is None
    assert asked("memory_health", None) == ()
