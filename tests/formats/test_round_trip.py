"""Laws: what an export wrote comes back by an import as the memories that it was made of."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import cases, memories

from memrepo.actions.export import jsonl
from memrepo.actions.import_ import FORMATS
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import State, apply, read_state
from memrepo.formats.plan import ImportTerms, take
from memrepo.merge.states import close

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMPTY = read_state({}, Layout())


def sound(found: list[Memory]) -> State:
    """Return a state of these memories whose references hold."""
    state = read_state({m.path: codec.encode(m) for m in found}, Layout())
    return apply(state, close(state)[0])


def come(state: State, format_: str, files: dict[str, bytes]) -> State:
    """Return a state after an import of what the format wants of the files."""
    one = FORMATS[format_]
    terms = ImportTerms(format=format_, profile="personal", now=NOW)
    read = one.read({name: data for name, data in files.items() if one.wants(name)})
    found = take(state, read, terms)
    assert not found.problems
    return apply(state, found.changes)


def storable(memory: Memory) -> Memory:
    """Return a memory with the id that its path is made of.

    What a day was read from stands beside a day only.
    """
    fields = {"id": "mem-0123456789abcdef", **memory.fields}
    if "sources" in fields:
        fields["sources"] = tuple(
            source if source.captured else replace(source, captured_from="")
            for source in fields["sources"]
        )
    return Memory.of(memory.path, fields, memory.body)


WORLD = st.lists(memories().map(storable), max_size=3, unique_by=(lambda m: m.path, lambda m: m.id))


@cases(12)
@given(WORLD)
def test_json_lines_come_back_whole(found: list[Memory]) -> None:
    state = sound(found)
    after = come(EMPTY, "jsonl", jsonl(state.memories.values()))
    assert dict(after.memories) == dict(state.memories)
    assert come(after, "jsonl", jsonl(state.memories.values())) == after


def test_a_path_that_no_repository_can_hold_is_given_a_new_one() -> None:
    line = (
        b'{"path": "memories/../../etc/cron.md", "id": "mem-1111111111111111", "type": "fact", '
        b'"text": "The bed is dug."}\n'
    )
    after = come(EMPTY, "jsonl", {"memories.jsonl": line})
    (memory,) = after.memories.values()
    assert memory.path == "memories/knowledge/the-bed-is-dug-111111.md"
