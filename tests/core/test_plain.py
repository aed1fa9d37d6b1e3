"""A memory as plain values: what a cache keeps is what the file said."""

from __future__ import annotations

import json

from hypothesis import given, settings
from strategies import memories

from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.core.plain import of_plain, plain


@settings(max_examples=50)
@given(memories())
def test_a_memory_comes_back_from_json_as_it_was(memory: Memory) -> None:
    read, _ = codec.decode(memory.path, codec.encode(memory))
    assert read is not None
    again = of_plain(memory.path, json.loads(json.dumps(plain(read))))
    assert again == read
    assert list(again.fields) == list(read.fields)


def test_what_was_worked_out_is_no_part_of_a_memory_and_does_not_go_into_copies() -> None:
    one, other = Memory(path="a.md", body="x"), Memory(path="a.md", body="x")
    assert one.once("length", lambda: len(one.body)) == 1
    assert one.once("length", lambda: 2) == 1
    assert one == other
    assert one.with_fields({"title": "T"}).derived == {}
