from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core import memory as m
from memrepo.core.fields import (
    Choice,
    Day,
    Flag,
    Kind,
    ListOf,
    Number,
    Pair,
    Record,
    Text,
    Time,
    ValueMismatch,
    Whole,
    memory_ref,
)
from memrepo.core.schema import FIELDS
from tests.strategies import values

STAMP = Record(m.Stamp, {"by": Text(), "at": Time()}, required=("by",))
DECAY = Record(m.Decay, {"class": Text()}, required=("class",), names={"class": "cls"})


@given(st.data())
def test_a_written_value_reads_the_same(data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(FIELDS))
    value = data.draw(values(field.kind))
    assert field.kind.read(field.kind.write(value)) == value


@pytest.mark.parametrize(
    ("kind", "node", "value"),
    [
        (Text(), "no", "no"),
        (Choice(("a", "b")), "b", "b"),
        (Number(), "1", 1.0),
        (Number(), ".5", 0.5),
        (Number(), "5e-1", 0.5),
        (Whole(), "0", 0),
        (Flag(), "true", True),
        (Flag(), "false", False),
        (Day(), "2026-01-31", "2026-01-31"),
        (Pair(), ["3", "3"], (3, 3)),
        (ListOf(Text()), ["a", "b", "a"], ("a", "b")),
        (ListOf(STAMP, bare=True), {"by": "x"}, (m.Stamp(by="x"),)),
        (DECAY, {"class": "durable"}, m.Decay(cls="durable")),
        (memory_ref(), "mem-0123456789abcdef", "mem-0123456789abcdef"),
    ],
)
def test_a_node_of_its_kind(kind: Kind, node: Any, value: object) -> None:
    assert kind.read(node) == value


@pytest.mark.parametrize(
    ("kind", "node", "key"),
    [
        (Text(), ["a"], ""),
        (Text(limit=2), "abc", ""),
        (Text(pattern="a+"), "ab", ""),
        (Choice(("a",)), "A", ""),
        (Choice(("a",)), {}, ""),
        (Time(), "soon", ""),
        (Time(), [], ""),
        (Day(), "2026-02-30", ""),
        (Number(), "nan", ""),
        (Number(), "1_0", ""),
        (Number(), "1.0001", ""),
        (Number(), "-0.1", ""),
        (Number(), "", ""),
        (Number(high=1e308), "9e999", ""),
        (Whole(), "01", ""),
        (Whole(), "-1", ""),
        (Whole(), "1.0", ""),
        (Flag(), "yes", ""),
        (Flag(), "True", ""),
        (Pair(), ["1"], ""),
        (Pair(), ["2", "1"], ""),
        (Pair(), "1-2", ""),
        (ListOf(Text()), "a", ""),
        (ListOf(Text()), {"a": "b"}, ""),
        (ListOf(Text(), limit=1), ["a", "b"], ""),
        (STAMP, "x", ""),
        (STAMP, {"at": "2026-01-31"}, "by"),
        (STAMP, {"by": "x", "at": "soon"}, "at"),
        (STAMP, {"by": "x", "on": "y"}, "on"),
        (DECAY, {"cls": "durable"}, "cls"),
        (ListOf(STAMP), [{"by": "x"}, {"by": []}], "by"),
    ],
)
def test_a_node_of_another_kind_says_what_was_expected(kind: Kind, node: Any, key: str) -> None:
    with pytest.raises(ValueMismatch) as caught:
        kind.read(node)
    assert [step for step in caught.value.path if isinstance(step, str)] == [*filter(None, [key])]
    assert str(caught.value).startswith("found ")
    assert caught.value.expected


@pytest.mark.parametrize(
    ("kind", "value", "node"),
    [
        (Number(), 0.5, "0.5"),
        (Number(), 1, "1.0"),
        (Number(), 0.123456, "0.1235"),
        (Number(), 0.00001, "0.0"),
        (Flag(), True, "true"),
        (Pair(), (3, 4), ["3", "4"]),
        (STAMP, m.Stamp(by="x"), {"by": "x"}),
        (DECAY, m.Decay(cls="x"), {"class": "x"}),
    ],
)
def test_a_value_has_one_spelling(kind: Kind, value: object, node: object) -> None:
    assert kind.write(value) == node
