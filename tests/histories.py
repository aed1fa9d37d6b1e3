"""Recorded histories: hypothesis strategies for states."""

from __future__ import annotations

import strategies
from hypothesis import strategies as st
from strategies import IDS

from memrepo.core.layout import Layout
from memrepo.core.state import State, read_state

_names = (
    *("title", "tags", "status", "pinned", "links", "verified", "confidence", "sources"),
    *("valid_from", "former", "supersedes"),
)
_value = st.sampled_from(_names).flatmap(
    lambda key: st.tuples(st.just(key), st.sampled_from((*strategies.FEW[key], None)))
)
_id = st.sampled_from(IDS)
_line = st.sampled_from(("a", "b", "c", "d", "e", ""))
_folder = st.sampled_from(("knowledge/2026-01", "skills/2026-02"))
_edit = st.one_of(
    st.tuples(st.just("set"), _id, _value),
    st.tuples(st.just("set"), _id, _value),
    st.tuples(
        st.just("body"), _id, st.integers(0, 5), st.integers(0, 2), st.lists(_line, max_size=2)
    ),
    st.tuples(
        st.just("add"), _id, _folder, st.lists(_value, max_size=2), st.lists(_line, max_size=4)
    ),
    st.tuples(st.just("remove"), _id),
    st.tuples(st.just("move"), _id, _folder),
    st.tuples(st.just("restore"), _id),
    st.tuples(st.just("supersede"), _id, _id),
    st.tuples(st.just("comment"), _id, st.sampled_from(("# one", "# two"))),
    st.tuples(st.just("crlf"), _id),
)
_add = st.tuples(
    st.just("add"), _id, _folder, st.lists(_value, max_size=3), st.lists(_line, max_size=6)
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[tuple[State, ...], int]:
    """Draw the states of a history and one of its steps."""
    files = strategies.edited_files({}, draw(st.lists(_add, min_size=1, max_size=4)))
    states = [read_state(files, Layout())]
    for edits in draw(st.lists(st.lists(_edit, min_size=1, max_size=3), min_size=1, max_size=6)):
        files = strategies.edited_files(files, edits)
        states.append(read_state(files, Layout()))
    return tuple(states), draw(st.integers(0, len(states) - 2))
