"""Every format that is read has an example, and what it brings goes out and comes in again whole.

A format without an example in `foreign_memory.FOLDERS` fails here.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from foreign_memory import FOLDERS

from memrepo.core.layout import Layout
from memrepo.core.state import State, apply, read_state
from memrepo.formats.plan import Terms, take
from memrepo.formats.registry import FORMATS
from memrepo.merge.closure import closure
from memrepo.views.bundles import jsonl, okf

NOW, LATER = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)
EMPTY = read_state({}, Layout())
STRANGERS = {"picture.png": b"\x89PNG\0", "program.exe": b"MZ\0"}


def imported(
    format_: str, files: dict[str, bytes], onto: State = EMPTY, now: datetime = NOW
) -> State:
    """Return a state after an import of what a format wants of some files."""
    one = FORMATS[format_]
    wanted = {name: data for name, data in files.items() if one.wants(name)}
    terms = Terms(format=format_, profile="personal", now=now)
    return apply(onto, take(onto, one.read(wanted), terms).changes)


# Our own formats are what another one's example is after it was written out.
EXAMPLES = {**FOLDERS, "jsonl": jsonl(imported("mem0", FOLDERS["mem0"]))}


def test_every_format_has_an_example_and_every_example_a_format() -> None:
    assert set(EXAMPLES) == set(FORMATS)
    assert all(format_.name == name for name, format_ in FORMATS.items())
    assert all(format_.what for format_ in FORMATS.values())


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_an_example_is_wanted_and_a_stranger_is_not(format_: str) -> None:
    wants = FORMATS[format_].wants
    assert any(wants(name) for name in EXAMPLES[format_])
    assert not any(wants(name) for name in STRANGERS)


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_what_it_brings_holds_together_and_comes_once(format_: str) -> None:
    state = imported(format_, EXAMPLES[format_])
    assert len(state.memories) > 1
    assert closure(state) == ()
    assert state.problems == ()
    assert imported(format_, EXAMPLES[format_], state, LATER) == state
    assert imported(format_, {**EXAMPLES[format_], **STRANGERS}) == state


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_what_it_brings_goes_out_and_comes_in_again_whole(format_: str) -> None:
    state = imported(format_, EXAMPLES[format_])
    lines, bundle = jsonl(state), okf(state)[0]
    assert dict(imported("jsonl", lines).memories) == dict(state.memories)
    assert imported("okf", bundle) == state
