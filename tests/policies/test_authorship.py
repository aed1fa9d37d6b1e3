"""Who set what: laws over any graph of versions, and the cases that a law does not show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.actions.past.blame import Point, Setter, authors
from memrepo.core.memory import Memory


def memory(body: str = "", path: str = "memories/knowledge/a.md", **fields: Any) -> Memory:
    return Memory(path=path, fields={"id": "mem-" + "a" * 16, "type": "fact", **fields}, body=body)


@st.composite
def graphs(draw: st.DrawFn) -> list[Point]:
    """Draw versions children first; the first is the tip and holds the memory."""
    found: list[Point] = []
    for number in range(draw(st.integers(1, 7))):
        older = [p.commit for p in found]
        some = st.lists(st.sampled_from(older), max_size=2, unique=True) if older else st.just([])
        tags = tuple(draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True)))
        there = memory(
            "\n".join(draw(st.lists(st.sampled_from("xyz"), max_size=4))),
            title=draw(st.sampled_from("AB")),
            **({"tags": tags} if tags else {}),
        )
        back = draw(st.booleans())
        gone = draw(st.integers(0, 4)) == 0
        parents = tuple(draw(some))
        found.append(Point(commit=str(number), parents=parents, memory=there, back=back))
        if gone:
            found[-1] = Point(commit=str(number), parents=parents, memory=None, back=back)
    tip = found[-1]
    last = Point(commit="tip", parents=(tip.commit,), memory=memory("x\ny", title="A", tags=("a",)))
    return [last, *reversed(found)]


@given(graphs())
def test_who_set_a_value_holds_it_and_no_parent_does(points: Sequence[Point]) -> None:
    by_commit = {p.commit: p for p in points}
    tip = points[0].memory
    assert tip is not None
    found = authors(points)

    def held(commit: str, name: str) -> Any:
        there = by_commit[commit].memory
        return ("gone",) if there is None else there.fields.get(name, ())

    for name, setter in found.fields.items():
        value = tip.fields.get(name, ())
        assert held(setter.commit, name) == value
        assert all(held(p, name) != value for p in by_commit[setter.commit].parents)
        if setter.restores:
            assert by_commit[setter.commit].back
            assert held(setter.restores, name) == value
    for tag, setter in zip(tip.fields["tags"], found.elements["tags"], strict=True):
        assert tag in held(setter.commit, "tags")
        assert all(tag not in held(p, "tags") for p in by_commit[setter.commit].parents)


@given(graphs())
def test_who_wrote_a_line_has_it(points: Sequence[Point]) -> None:
    by_commit = {p.commit: p.memory for p in points}
    found = authors(points)
    for line, setter in zip("xy", found.lines, strict=True):
        for commit in filter(None, (setter.commit, setter.restores)):
            there = by_commit[commit]
            assert there is not None
            assert line in there.body.split("\n")


def chain(*versions: Memory | None, back: Sequence[int] = ()) -> list[Point]:
    """Return a chain, oldest first given, with commits 0, 1, ..."""
    points = [
        Point(commit=str(n), parents=(str(n - 1),) if n else (), memory=m, back=n in back)
        for n, m in enumerate(versions)
    ]
    return points[::-1]


@pytest.mark.parametrize(
    ("versions", "back", "said"),
    [
        ((memory(title="A"), memory(title="A")), (), Setter(commit="0")),
        ((memory(title="A"), memory(title="B")), (), Setter(commit="1")),
        # Written away and back by somebody: he set it.
        ((memory(title="A"), memory(title="B"), memory(title="A")), (), Setter(commit="2")),
        # Brought back: he set it, and it was another's.
        (
            (memory(title="A"), memory(title="B"), memory(title="A")),
            (2,),
            Setter(commit="2", restores="0"),
        ),
        ((memory(title="A"), None, memory(title="A")), (2,), Setter(commit="2", restores="0")),
        ((memory(title="A"), None, memory(title="A")), (), Setter(commit="2")),
        # Cleared: who cleared it.
        ((memory(title="A"), memory()), (), Setter(commit="1")),
        ((memory(), memory(title="A"), memory()), (2,), Setter(commit="2", restores="0")),
    ],
)
def test_a_value_that_came_back(
    versions: Sequence[Memory | None], back: Sequence[int], said: Setter
) -> None:
    assert authors(chain(*versions, back=back)).fields["title"] == said


def test_lines_that_moved_keep_their_author() -> None:
    found = authors(chain(memory("a\nb"), memory("new\na\nb"), memory("new\na\nc\nb")))
    assert [setter.commit for setter in found.lines] == ["1", "0", "2", "0"]


def test_nobody_is_asked_about_a_memory_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="not there"):
        authors(chain(memory(), None))
