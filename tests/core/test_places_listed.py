"""Which of many places are listed, and that they answer for all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import MAX_LISTED, Memory, Source, hashes_of, listed_places, places_of
from memrepo.policies.change import is_dated, newer_of
from memrepo.policies.standing import trust_of
from memrepo.read.kinds import AGENTS, PERSONS
from tests.strategies import cases

HASHES = tuple(f"th-{n:016x}" for n in range(3))
FILES = (
    *(f"sources/memory/{n:03}.md" for n in range(120)),
    *(f"sources/agents/a/{name}" for name in ("USER.md", "MEMORY.md", "persona.md")),
    "memories/notes/2026-01/01/a-000000.md",
)
SOURCES = st.builds(
    Source,
    resource=st.sampled_from(FILES),
    lines=st.tuples(st.integers(1, 3), st.integers(3, 4)),
    text_hash=st.sampled_from(HASHES),
    kind=st.sampled_from(("direct", "direct", "direct", "inferred", "merged")),
    captured=st.sampled_from(("", *(f"2026-01-{day:02}" for day in range(1, 29)))),
    captured_from=st.sampled_from(("", "unit", "heading", "file", "commit")),
)
MANY = st.lists(SOURCES, min_size=MAX_LISTED - 2, max_size=200, unique=True).map(tuple)


def memory(sources: tuple[Source, ...]) -> Memory:
    return Memory(path="memories/knowledge/2026-01/a-000000.md", fields={"sources": sources})


def profiles(sources: tuple[Source, ...]) -> set[str]:
    names = (s.resource.rsplit("/", 1)[-1].casefold() for s in sources)
    return {name for name in names if name in map(str.lower, (*AGENTS, *PERSONS))}


@cases(150)
@given(MANY)
def test_what_is_listed_says_what_all_would_say(sources: tuple[Source, ...]) -> None:
    few = listed_places(sources)
    one, all_ = memory(few), memory(sources)
    assert len(few) == min(len(sources), MAX_LISTED)
    assert [s for s in sources if s in few] == [*few]
    assert (one.first, one.captured) == (all_.first, all_.captured)
    assert hashes_of(one) == hashes_of(all_)
    assert trust_of(one) == trust_of(all_)
    assert is_dated(few) == is_dated(sources)
    assert profiles(few) == profiles(sources)
    assert {s.kind for s in few} == {s.kind for s in sources}
    days = [{s.captured[:10] for s in of if s.captured} for of in (few, sources)]
    assert len(days[0]) >= min(10, len(days[1]))


@cases(150)
@given(MANY, MANY)
def test_of_two_statements_the_same_one_is_newer(
    one: tuple[Source, ...], other: tuple[Source, ...]
) -> None:
    if "unknown" not in (said := newer_of(one, other)) and said[0] == "dated":
        assert newer_of(listed_places(one), listed_places(other)) == said


@cases(150)
@given(MANY)
def test_what_is_listed_stays_listed_when_all_are_met_again(sources: tuple[Source, ...]) -> None:
    few = listed_places(sources)
    assert listed_places(few) == few
    assert listed_places(tuple(dict.fromkeys((*few, *sources)))) == few


def test_each_wording_is_listed_however_many_there_are() -> None:
    sources = tuple(
        Source(resource=f"sources/{n}.md", text_hash=f"th-{n % 80:016x}") for n in range(200)
    )
    assert len(listed_places(sources)) == len(hashes_of(memory(sources))) == 80


def test_the_count_is_at_least_what_is_listed() -> None:
    sources = tuple(Source(resource=f"sources/{n}.md") for n in range(3))
    assert places_of(memory(sources)) == 3
    assert places_of(memory(sources).with_fields({"source_count": 2})) == 3
    assert places_of(memory(sources).with_fields({"source_count": 9})) == 9
