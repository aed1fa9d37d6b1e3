"""Merging states and memories: the laws over generated cases, and the trials that wrote them."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core import codec, header
from memrepo.core.corrections import (
    Correction,
    Side,
    contradiction_id,
    decode,
    encode,
    path_of,
)
from memrepo.core.layout import Layout
from memrepo.core.memory import (
    FIELDS,
    MAX_LISTED,
    OWN_ACTOR,
    Link,
    Memory,
    Source,
    Stamp,
    listed_places,
)
from memrepo.core.state import State, read_state
from memrepo.merge import closure
from memrepo.merge.states import MergeResult, SideFacts, merge_states, virtual_base
from memrepo.merge.tombstones import tombstone_bytes, tombstone_of
from memrepo.merge.versions import Origin, Stamps, merge_memory
from tests.strategies import FOREIGN, IDS, Triple, cases, crossings, place, triples

A, B, C = IDS[:3]
DAY = datetime(2026, 3, 1, tzinfo=UTC)
MACHINE = Stamp(by="memrepo/0.1.0", at=DAY)
PERSON = Stamp(by="human:me", at=DAY - timedelta(days=9))


def merged(t: Triple) -> MergeResult:
    return merge_states(t.base, t.ours, t.theirs, our_facts=t.our_facts, their_facts=t.their_facts)


def rejecting(side: State, *rejected: Memory) -> State:
    """Return a state with the tombstones of some memories."""
    stones = [tombstone_of(m, reason="no", by="human:me", at=DAY) for m in rejected]
    files = {f"tombstones/{stone.key}.md": tombstone_bytes(stone) for stone in stones}
    return read_state({**side.files, **files}, Layout())


def swapped(t: Triple) -> Triple:
    return Triple(
        base=t.base,
        ours=t.theirs,
        theirs=t.ours,
        our_facts=t.their_facts,
        their_facts=t.our_facts,
    )


# Laws


@cases(150)
@given(triples())
def test_a_merge_is_symmetric_in_its_sides(t: Triple) -> None:
    one, other = merged(t), merged(swapped(t))
    assert one.state == other.state
    assert (one.conflicts, one.kept, one.problems) == (other.conflicts, other.kept, other.problems)


@cases(60)
@given(triples())
def test_one_changed_side_or_two_equal_ones_are_the_result(t: Triple) -> None:
    for ours, theirs in ((t.ours, t.base), (t.base, t.ours), (t.ours, t.ours)):
        result = merge_states(
            t.base, ours, theirs, our_facts=t.our_facts, their_facts=t.their_facts
        )
        assert result.state == t.ours
        assert (result.conflicts, result.kept, result.problems) == ((), (), ())


@cases(40)
@given(triples())
def test_the_order_of_files_and_a_list_of_changed_paths_decide_nothing(t: Triple) -> None:
    def turned(state: State) -> State:
        return read_state(dict(reversed(list(state.files.items()))), Layout())

    def told(side: State, facts: SideFacts) -> SideFacts:
        paths = {*t.base.files, *side.files}
        changed = {p for p in paths if t.base.files.get(p) != side.files.get(p)}
        return SideFacts(committed=facts.committed, people=facts.people, paths=frozenset(changed))

    again = Triple(
        base=turned(t.base),
        ours=turned(t.ours),
        theirs=turned(t.theirs),
        our_facts=told(t.ours, t.our_facts),
        their_facts=told(t.theirs, t.their_facts),
    )
    one, other = merged(t), merged(again)
    assert one.state == other.state
    assert one.conflicts == other.conflicts
    assert one.kept == other.kept


@cases(80)
@given(triples())
def test_every_result_decodes(t: Triple) -> None:
    result = merged(t).state
    read = read_state(dict(result.files), Layout())
    assert read.memories == result.memories
    unread = {p.path for p in read.problems if p.severity == "error"}
    assert {p.path for p in result.problems if p.severity == "error"} == unread
    for path in unread:
        assert any(result.files[path] in side.files.values() for side in (t.ours, t.theirs))


@cases(80)
@given(triples())
def test_the_effect_turns_ours_into_the_result(t: Triple) -> None:
    result = merged(t)
    assert t.ours.files.edited(result.effect.files) == result.state.files


@cases(150)
@given(triples())
def test_what_one_side_alone_changed_is_in_the_result(t: Triple) -> None:
    result = merged(t)
    odd = {c.id for c in result.conflicts}
    mended = {(p.message.split(":")[0], p.key) for p in result.problems}
    for id_, memory in result.state.memories.items():
        if id_ in odd or any(name == id_ for name, _ in mended):
            continue
        versions = [state.memories.get(id_) for state in (t.base, t.ours, t.theirs)]
        if None in versions:
            continue
        base, ours, theirs = (m.fields for m in versions if m is not None)
        for field in FIELDS:
            if field.name in ("status", "status_epoch", "superseded_by", "supersedes"):
                continue
            o, a, b = (side.get(field.name, field.default) for side in (base, ours, theirs))
            if o in (a, b):
                assert memory.fields.get(field.name, field.default) == (b if o == a else a)


@cases(150)
@given(triples())
def test_a_body_line_that_one_side_alone_added_is_in_the_result_or_kept(t: Triple) -> None:
    result = merged(t)
    odd = {c.id for c in result.conflicts}
    for id_, memory in result.state.memories.items():
        kept = {line for k in result.kept if k.id == id_ for line in k.data.decode().split("\n")}
        lines = [
            set(state.memories[id_].body.split("\n")) if id_ in state.memories else set()
            for state in (t.base, t.ours, t.theirs)
        ]
        added = (lines[1] | lines[2]) - lines[0] - {""}
        if id_ not in odd:
            assert added <= set(memory.body.split("\n")) | kept


@cases(100)
@given(triples())
def test_no_memory_and_no_file_of_one_side_is_dropped(t: Triple) -> None:
    result = merged(t).state
    for side, other in ((t.ours, t.theirs), (t.theirs, t.ours)):
        for id_ in side.memories:
            if id_ not in t.base.memories or side.memories[id_] != t.base.memories[id_]:
                broken = any(d.endswith(b"---\n" + id_.encode()) for d in result.files.values())
                assert id_ in result.memories or broken
        for path, data in side.files.items():
            if t.base.files.get(path) != data and not result.layout.is_memory(path):
                assert path in result.files
                assert other.files.get(path) != t.base.files.get(path) or result.files[path] == data


@cases(100)
@given(triples())
def test_foreign_keys_and_comments_of_one_side_survive(t: Triple) -> None:
    result = merged(t)
    kept = {(k.id, k.key) for k in result.kept}
    for id_, memory in result.state.memories.items():
        if (id_, "") in kept or id_ not in t.base.memories:
            continue
        if id_ not in t.ours.memories or id_ not in t.theirs.memories:
            continue
        o, a, b = (foreign(s, id_) for s in (t.base, t.ours, t.theirs))
        found = foreign(result.state, id_)
        for key in FOREIGN:
            if o.get(key) == a.get(key) or o.get(key) == b.get(key):
                assert found.get(key) == (b if o.get(key) == a.get(key) else a).get(key)
            elif (id_, key) not in kept:
                assert found.get(key) in (a.get(key), b.get(key))
        for comment in (b"# one", b"# two"):
            old, *sides = (s.files[s.memories[id_].path] for s in (t.base, t.ours, t.theirs))
            if comment not in old and any(comment in side for side in sides):
                assert comment in result.state.files[memory.path]


@cases(80)
@given(triples())
def test_a_merge_breaks_no_reference(t: Triple) -> None:
    result = merged(t).state
    known = {f.name for side in (t.ours, t.theirs) for f in closure.findings(side)}
    assert {f.name for f in closure.findings(result)} <= known


@cases(60)
@given(triples())
def test_a_tombstone_always_wins(t: Triple) -> None:
    target = next(iter(t.ours.memories.values()), Memory.of(path="x", fields={"id": A}))
    t = replace(t, ours=rejecting(t.ours, target))
    one, other = merged(t), merged(swapped(t))
    assert one.state == other.state
    if target.id in one.state.memories:
        assert one.state.memories[target.id].status == "forgotten"


@cases(80)
@given(triples(), triples())
def test_a_criss_cross_merge_is_symmetric(one: Triple, two: Triple) -> None:
    bases = [one.ours, one.theirs, two.theirs]
    virtual = virtual_base(bases[:2], one.base)
    assert virtual == virtual_base(bases[1::-1], one.base)
    assert virtual_base(bases) == virtual_base(bases[::-1])
    assert virtual_base([one.ours]) == virtual_base([one.ours, one.ours]) == one.ours
    sides = Triple(
        base=virtual,
        ours=two.ours,
        theirs=two.theirs,
        our_facts=two.our_facts,
        their_facts=two.their_facts,
    )
    assert merged(sides).state == merged(swapped(sides)).state
    assert merge_states(virtual, virtual, two.ours).state == two.ours


@cases(80)
@given(crossings())
def test_what_was_decided_before_a_criss_cross_is_not_decided_again(
    drawn: tuple[Triple, State, State],
) -> None:
    first, ours, theirs = drawn
    base = virtual_base([first.ours, first.theirs], first.base)
    result = merge_states(base, ours, theirs)
    assert result.state == merge_states(base, theirs, ours).state
    read = read_state(dict(result.state.files), Layout())
    assert read.memories == result.state.memories
    odd = {c.id for c in result.conflicts} | {p.message.split(":")[0] for p in result.problems}
    for id_ in {*base.memories, *ours.memories, *theirs.memories} - odd:
        before, *sides = (state.memories.get(id_) for state in (base, ours, theirs))
        # What neither side touched since is as they both have it, gone or there.
        if before == sides[0] == sides[1]:
            assert result.state.memories.get(id_) == before
        # What only one of them touched is as that one has it, under another name where the other
        # side gave its name away.
        elif before == sides[0] and sides[1] is not None:
            found = result.state.memories[id_]
            taken = sides[1].path in ours.files and found.path != sides[1].path
            assert found == (replace(sides[1], path=found.path) if taken else sides[1])


@cases(60)
@given(triples(), st.frozensets(st.sampled_from(IDS), min_size=1, max_size=3))
def test_no_side_brings_back_what_a_tombstone_names(t: Triple, dead: frozenset[str]) -> None:
    dying = [m for i, m in t.ours.memories.items() if i in dead]
    dead = frozenset(memory.id for memory in dying)
    result = merged(replace(t, ours=rejecting(t.ours, *dying))).state
    for id_ in dead & result.memories.keys():
        assert result.memories[id_].status == "forgotten"
    again = merge_states(t.base, result, t.theirs).state
    assert not [i for i in dead & again.memories.keys() if again.memories[i].status != "forgotten"]


def test_no_base_is_no_virtual_base() -> None:
    with pytest.raises(ValueError, match="needs a base"):
        virtual_base([])


def foreign(state: State, id_: str) -> dict[str, object]:
    data = state.files[state.memories[id_].path]
    return {e.key: e.value for e in header.split(data, "").entries if e.key in FOREIGN}


# The trials behind the design, and boundaries


def fact(id_: str = A, body: str = "one", **fields: Any) -> Memory:
    path = fields.pop("path", place(id_))
    return Memory.of(path, {"id": id_, "type": "fact", **fields}, body=body)


def state(*memories: Memory, **files: bytes) -> State:
    written = {m.path: codec.encode(m) for m in memories}
    return read_state({**written, **files}, Layout())


def test_a_pin_follows_its_memory_and_never_its_path() -> None:
    moved = place(A, "skills/2026-02")
    base = state(fact(A), fact(B, "two"))
    ours = state(fact(A, path=moved), fact(B, "two", path=place(A)))
    theirs = state(fact(A, pinned=True), fact(B, "two"))
    result = merge_states(base, ours, theirs).state
    assert result.memories[A] == fact(A, path=moved, pinned=True)
    assert result.memories[B] == fact(B, "two", path=place(A))


def test_a_pin_on_a_removed_memory_does_not_land_on_a_new_one_of_the_same_text() -> None:
    base, ours = state(fact(A)), state(fact(B))
    result = merge_states(base, ours, state(fact(A, pinned=True)))
    assert result.state == state(fact(A, pinned=True), fact(B))


def test_files_of_identical_content_are_not_taken_for_each_other() -> None:
    a, b = "memories/knowledge/a.md", "memories/knowledge/b.md"
    same = codec.encode(Memory.of(a, {"type": "fact"}, body="same"))
    edited = codec.encode(Memory.of(a, {"type": "fact"}, body="edited"))
    base = read_state({a: same, b: same}, Layout())
    result = merge_states(
        base, read_state({b: same}, Layout()), read_state({a: same, b: edited}, Layout())
    )
    assert dict(result.state.files) == {b: edited}


def test_a_side_that_only_turned_to_crlf_keeps_it_and_the_other_its_words() -> None:
    base = state(fact(body="one\ntwo\nthree"))
    crlf = codec.encode(fact(body="one\ntwo\nthree")).replace(b"\n", b"\r\n")
    ours = read_state({place(A): crlf}, Layout())
    result = merge_states(base, ours, state(fact(body="one\n2\nthree")))
    assert result.state.files[place(A)] == crlf.replace(b"two", b"2")
    assert result.kept == ()


RUN = "20260301T000000Z-01234567"
SEEN = Source(resource="sources/MEMORY.md", lines=(3, 3), text_hash="th-0123456789abcdef")
LONG = f"""\
---
id: {A}
type: fact
home: LTMEMORY.md
created: 2026-03-01T00:00:00Z
generated: {{by: {OWN_ACTOR}, at: 2026-03-01T00:00:00Z}}
sources:
  - {{resource: sources/MEMORY.md, lines: [3, 3], text_hash: th-0123456789abcdef}}
origin: purifier
run: {RUN}
---

one
"""


@pytest.mark.parametrize("flipped", [False, True])
def test_a_header_of_the_longer_form_and_a_short_one_say_the_same(flipped: bool) -> None:
    """One clone wrote a memory anew in the short form; the other keeps the long one and pins it."""
    short = fact(created=DAY, sources=(SEEN,))
    base = read_state({place(A): LONG.encode()}, Layout())
    assert base.memories[A] == short
    pinned = LONG.replace("origin:", "pinned: true\norigin:").encode()
    sides = [state(replace(short, body="two")), read_state({place(A): pinned}, Layout())]
    result = merge_states(base, *(reversed(sides) if flipped else sides))
    assert result.state.memories[A] == replace(short.with_fields({"pinned": True}), body="two")
    assert (result.kept, result.conflicts) == ((), ())


def test_a_field_set_to_the_same_value_on_both_sides_is_that_value() -> None:
    ours, theirs = fact(status="archived"), fact(status="archived", title="t")
    assert merge_memory(fact(), ours, theirs)[0] == theirs


def test_half_a_supersession_on_each_side_is_a_whole_one() -> None:
    old = fact(A, status="superseded", superseded_by=(B,))
    new = fact(B, supersedes=(A,))
    base = state(fact(A), fact(B))
    result = merge_states(base, state(old, fact(B)), state(fact(A), new))
    assert result.state == state(old, new)
    assert result.problems == ()


def test_two_replacements_of_one_memory_both_stand() -> None:
    base = state(fact(A))
    ours = state(fact(A, status="superseded", superseded_by=(B,)), fact(B, supersedes=(A,)))
    theirs = state(fact(A, status="superseded", superseded_by=(C,)), fact(C, supersedes=(A,)))
    result = merge_states(base, ours, theirs)
    assert result.state.memories[A].texts("superseded_by") == (B, C)
    assert result.problems == ()


def test_two_memories_that_replaced_each_other_leave_one_active() -> None:
    base = state(fact(A), fact(B))
    ours = state(fact(A, status="superseded", superseded_by=(B,)), fact(B, supersedes=(A,)))
    theirs = state(fact(B, status="superseded", superseded_by=(A,)), fact(A, supersedes=(B,)))
    result = merge_states(base, ours, theirs)
    assert [p.rule for p in result.problems] == ["supersession-cycle"]
    assert [m.status for m in result.state.memories.values()].count("active") == 1
    assert closure.closure(result.state) == ()


def test_a_replacement_taken_back_by_one_side_makes_the_memory_active_again() -> None:
    base = state(fact(A), fact(B))
    ours = state(fact(A, status="superseded", superseded_by=(B,)), fact(B, supersedes=(A,)))
    theirs = state(fact(A))
    result = merge_states(base, ours, theirs, their_facts=SideFacts(people=frozenset({B})))
    assert [c.kind for c in result.conflicts] == ["removed-and-edited"]
    again = merge_states(ours, theirs, state(*ours.memories.values(), **{"sources/a.md": b"a"}))
    assert again.state.memories[A] == fact(A)


def test_references_to_a_memory_that_the_other_side_removed_are_dropped_and_named() -> None:
    base = state(fact(A), fact(B))
    links = (Link(target=A, type="related"),)
    theirs = state(
        fact(A), fact(B, links=links, duplicate_of=A, superseded_by=(A,), status="superseded")
    )
    result = merge_states(base, state(fact(B)), theirs)
    assert result.state.memories[B] == fact(B, status_epoch=1)
    assert {p.key for p in result.problems} == {
        "links",
        "duplicate_of",
        "superseded_by",
        "status",
    }


def test_two_files_of_one_memory_become_one_at_the_smaller_path() -> None:
    near, far = place(A), place(A, "skills/2026-02")
    base = state(fact(path=far))
    ours = state(fact(path=far, tags=("a",)), fact(path=near, tags=("b",)))
    result = merge_states(base, ours, base)
    assert result.state == state(fact(path=near, tags=("a", "b")))
    assert dict(result.effect.files).keys() == {near, far}


def test_two_memories_at_one_path_both_get_a_file() -> None:
    result = merge_states(state(), state(fact(IDS[3], "x")), state(fact(IDS[4], "y")))
    assert {m.path for m in result.state.memories.values()} == {
        place(IDS[3]),
        place(IDS[3]).replace("m-", "m-2-"),
    }


def test_three_memories_that_moved_to_one_path_are_numbered() -> None:
    at = place(A)
    ours = state(fact(A), fact(B, "two", path=place(B)))
    theirs = state(
        fact(IDS[3], "x", path=at), **{at.replace("m-", "m-2-"): b"---\nx: y\n---\n\nz\n"}
    )
    result = merge_states(state(), ours, theirs).state
    assert result.memories[IDS[3]].path == at.replace("m-", "m-3-")


def test_the_files_of_one_case_from_two_days_become_one() -> None:
    early = Correction(
        id=contradiction_id(A, B),
        kind="contradiction",
        verdict="flagged",
        sides=(Side(memory=A, text="tea"), Side(memory=B, text="coffee")),
        by="memrepo/0.1.0",
        at=DAY,
    )
    late = replace(early, at=DAY + timedelta(days=1), verdict="superseded", kept=B, decided=DAY)
    paths = [path_of(Layout(), case) for case in (early, late)]
    sides = [state(**{path: encode(case)}) for path, case in zip(paths, (early, late), strict=True)]
    for turned in (sides, sides[::-1]):
        files = merge_states(state(), *turned).state.files
        assert dict(files).keys() == {paths[0]}
        assert decode(paths[0], files[paths[0]]).status == "resolved"
    # What one side brought along is left as it is.
    both = state(**{path: encode(case) for path, case in zip(paths, (early, late), strict=True)})
    assert merge_states(state(), both, state()).state == both


def test_a_forgotten_memory_is_not_shortened() -> None:
    said = fact(B, "Milk is served at six in the old mill.")
    both = fact(A, f"One.\n\n{said.body}", status="forgotten")
    ours = rejecting(state(both), said)
    assert merge_states(state(both), ours, state(both, fact(C))).state.memories[A] == both


def test_who_stays_keeps_its_path_from_one_that_moves_in() -> None:
    base = state(fact(A), fact(B, "two"))
    ours = state(fact(A), fact(B, "two", title="t"))
    result = merge_states(base, ours, state(fact(A, path=place(B))))
    assert result.state.memories[B] == fact(B, "two", title="t")
    assert result.state.memories[A].path == place(B).replace("m-", "m-2-")


def test_a_memory_that_both_sides_moved_stands_at_the_smaller_path() -> None:
    near, far = (place(A, f"skills/2026-0{n}") for n in (2, 3))
    for paths in ((near, far), (far, near)):
        ours, theirs = (state(fact(path=path)) for path in paths)
        assert merge_states(state(fact()), ours, theirs).state == state(fact(path=near))


@pytest.mark.parametrize(
    ("stays", "person", "recalled", "edited", "conflicts"),
    [
        pytest.param(False, False, False, False, [], id="a machine removes what nobody changed"),
        pytest.param(True, False, False, True, [], id="a machine's removal loses to an edit"),
        pytest.param(True, False, True, False, [], id="and to a retrieval"),
        pytest.param(False, True, True, False, [], id="a person's does not lose to a retrieval"),
        pytest.param(True, True, False, True, ["removed-and-edited"], id="a person's conflicts"),
    ],
)
def test_a_removal_against_the_other_side(
    stays: bool, person: bool, recalled: bool, edited: bool, conflicts: list[str]
) -> None:
    theirs = state(fact(title="t") if edited else fact())
    result = merge_states(
        state(fact()),
        state(),
        theirs,
        our_facts=SideFacts(people=frozenset({A} if person else ())),
        their_facts=SideFacts(recalled=frozenset({A} if recalled else ())),
    )
    assert (A in result.state.memories) is stays
    assert [c.kind for c in result.conflicts] == conflicts


def test_what_both_sides_removed_is_gone() -> None:
    result = merge_states(
        state(fact()), state(), state(), our_facts=SideFacts(people=frozenset({A}))
    )
    assert (dict(result.state.files), result.conflicts) == ({}, ())


LATE = MACHINE.at + timedelta(days=1) if MACHINE.at else None


@pytest.mark.parametrize(
    ("ours", "theirs", "stamps", "winner"),
    [
        pytest.param(MACHINE, PERSON, Stamps(), "theirs", id="a person over a newer machine"),
        pytest.param(MACHINE, Stamp(by="a/1", at=LATE), Stamps(), "theirs", id="newer"),
        pytest.param(
            Stamp(by="a/1", at=LATE),
            MACHINE,
            Stamps(ours=Origin(committed=DAY)),
            "theirs",
            id="a stamp past its commit counts as the commit's date",
        ),
        pytest.param(
            Stamp(by="a/1", at=DAY + timedelta(minutes=10)),
            MACHINE,
            Stamps(ours=Origin(committed=DAY)),
            "ours",
            id="ten minutes are no cheating",
        ),
        pytest.param(
            MACHINE, MACHINE, Stamps(ours=Origin(person=True)), "ours", id="a person's commit"
        ),
        pytest.param(MACHINE, MACHINE, Stamps(), "theirs", id="the values themselves"),
    ],
)
def test_who_wins_where_both_changed_a_value(
    ours: Stamp, theirs: Stamp, stamps: Stamps, winner: str
) -> None:
    sides = [fact(title=t, generated=s) for t, s in (("ours", ours), ("theirs", theirs))]
    memory, gave_way = merge_memory(fact(title="base"), *sides, stamps)
    assert memory.text("title") == winner
    loser = "theirs" if winner == "ours" else "ours"
    assert [(k.key, k.data) for k in gave_way] == [("title", f"title: {loser}".encode())]


def test_a_stamp_that_stood_in_the_base_speaks_for_no_change() -> None:
    base, ours = fact(generated=PERSON), fact(generated=PERSON, title="ours")
    memory, _ = merge_memory(base, ours, fact(generated=MACHINE, title="theirs"))
    assert memory == fact(generated=MACHINE, title="theirs")


S1, S2, S3 = (Source(resource="sources/a.md", text_hash=f"th-{n:016x}") for n in range(3))
SPANS = (Source(resource="a", lines=(1, 2)), Source(resource="a", lines=(3, 4)))
NEAR, NEXT = Link(target=B, type="related"), Link(target=B, type="follows")
LOOSE = Link(target=B, type="related", strength=0.5)
MOVED = Source(resource="sources/a.md", text_hash=S1.text_hash, lines=(4, 5))


@pytest.mark.parametrize(
    ("key", "base", "ours", "theirs", "merged_"),
    [
        ("status", None, "archived", "superseded", "superseded"),
        ("status", "superseded", "forgotten", "archived", "forgotten"),
        ("status", None, "superseded", "forgotten", "forgotten"),
        ("tags", (), ("b", "d"), ("c",), ("b", "c", "d")),
        ("created", DAY, DAY - timedelta(days=1), DAY - timedelta(days=2), DAY - timedelta(days=2)),
        ("tags", ("a", "b"), ("b", "c"), ("a", "b", "0"), ("b", "0", "c")),
        ("tags", ("a", "b"), ("b", "a"), ("a", "b", "c"), ("a", "b", "c")),
        ("tags", ("a",), None, ("a", "b"), ("b",)),
        ("tags", ("a",), None, ("b",), ("b",)),
        ("links", (NEAR,), (LOOSE,), (NEAR, NEXT), (LOOSE, NEXT)),
        ("sources", (S1, S2), (MOVED, S2), (S1, S3), (MOVED, S3)),
        ("sources", (), (SPANS[0],), (SPANS[1],), SPANS),
        ("verified", (), (PERSON,), (MACHINE, PERSON), (PERSON, MACHINE)),
        ("source_count", 60, 70, 80, 80),
        ("source_count", 60, None, 61, 61),
        ("source_count", None, 51, 52, 52),
    ],
)
def test_a_field_that_both_sides_changed(
    key: str, base: object, ours: object, theirs: object, merged_: object
) -> None:
    sides = [fact().with_fields({key: value or None}) for value in (base, ours, theirs)]
    for turned in (sides, [sides[0], *sides[:0:-1]]):
        memory, _ = merge_memory(*turned)
        assert memory.fields.get(key) == merged_


PLACES = tuple(
    Source(resource=f"sources/{n:03}.md", lines=(1, 1), text_hash=S1.text_hash) for n in range(160)
)


def _met(numbers: set[int], unlisted: int) -> Memory:
    """Return a memory as a run stores it that met a line in some files, and in others before."""
    sources = tuple(PLACES[n] for n in sorted(numbers))
    many = len(sources) + unlisted > MAX_LISTED
    count = {"source_count": len(sources) + unlisted} if many else {}
    return fact().with_fields({"sources": listed_places(sources), **count})


_sides = st.tuples(st.sets(st.integers(0, 159), min_size=1, max_size=90), st.integers(0, 40))


@cases(150)
@given(_sides, _sides, _sides)
def test_places_and_their_count_are_joined_from_both_sides(
    one: tuple[set[int], int], two: tuple[set[int], int], three: tuple[set[int], int]
) -> None:
    base, ours, theirs = (_met(*side) for side in (one, two, three))
    joined, _ = merge_memory(base, ours, theirs)
    assert joined == merge_memory(base, theirs, ours)[0]
    assert codec.decode(joined.path, codec.encode(joined))[0] == joined
    for side in (ours, theirs):
        assert merge_memory(side, joined, side)[0] == joined
        assert merge_memory(base, side, side)[0] == side
    assert merge_memory(base, joined, joined)[0] == joined
    told = [m.fields.get("source_count", 0) for m in (ours, theirs)]
    if len({base.sources, ours.sources, theirs.sources}) == 3:
        o, a, b = ({*m.sources} for m in (base, ours, theirs))
        every = (a | b) - (o - a) - (o - b)
        assert len(joined.sources) == min(len(every), MAX_LISTED)
        count = max(*told, len(every))
        assert joined.fields.get("source_count", 0) == (count if count > MAX_LISTED else 0)


def test_a_restored_memory_stays_active_against_an_older_archiving() -> None:
    base = fact(status="archived")
    merged_ = merge_memory(base, fact(status_epoch=1), fact(status="forgotten"))[0]
    assert merged_ == fact(status_epoch=1)


def test_a_restored_memory_that_matches_a_tombstone_is_forgotten() -> None:
    restored = fact(status_epoch=1, subject="Ana", predicate="lives in", object="Rome")
    theirs = rejecting(state(fact()), restored)
    result = merge_states(state(fact()), state(restored), theirs)
    assert result.state.memories[A].status == "forgotten"


def test_an_overlapping_rewording_goes_to_the_newer_one_and_keeps_the_other() -> None:
    ours = fact(body="It runs in Paris.", generated=MACHINE)
    theirs = fact(body="It runs in Rome.", generated=Stamp(by="a/1", at=LATE))
    memory, gave_way = merge_memory(fact(body="It runs."), ours, theirs)
    assert memory.body == theirs.body
    assert [(k.key, k.data, k.by, k.at) for k in gave_way] == [
        ("body", ours.body.encode(), MACHINE.by, MACHINE.at)
    ]


def test_a_file_that_one_side_broke_gives_way_to_what_the_other_changed() -> None:
    broken = b"---\ntype: fact\ntype: fact\n---\nmine\n"
    ours = read_state({place(A): broken}, Layout())
    result = merge_states(state(fact()), ours, state(fact(title="t")))
    assert result.state == state(fact(title="t"))
    assert [(c.kind, c.id) for c in result.conflicts] == [("unreadable", A)]
    assert [k.data for k in result.kept] == [broken]
    alone = merge_states(state(fact()), ours, state(fact()))
    assert dict(alone.state.files) == {place(A): broken}
    assert [p.rule for p in alone.state.problems] == ["frontmatter-duplicate-key"]


def test_sides_that_no_file_can_hold_together_leave_one_whole_and_keep_the_other() -> None:
    ours = fact(tags=tuple(f"a{n}" for n in range(600)))
    theirs = fact(tags=tuple(f"b{n}" for n in range(600)))
    result = merge_states(state(fact()), state(ours), state(theirs))
    assert result.state == state(theirs)
    assert [c.kind for c in result.conflicts] == ["unwritable"]
    assert [k.data for k in result.kept] == [codec.encode(ours)]


def test_a_foreign_key_that_both_sides_changed_is_the_winners_and_the_other_kept() -> None:
    head = "---\nid: {id}\ntype: fact\n{rest}---\n\none\n"
    base, ours, theirs = (
        read_state({place(A): head.format(id=A, rest=rest).encode()}, Layout())
        for rest in ("x: 1\n", "x: 2\ny: 2\n", "title: t\nx: 3 # why\nz: 3\n")
    )
    result = merge_states(base, ours, theirs, their_facts=SideFacts(people=frozenset({A})))
    assert result.state.files[place(A)].decode() == head.format(
        id=A, rest="title: t\nx: 3 # why\nz: 3\ny: 2\n"
    )
    assert [(k.key, k.data) for k in result.kept] == [("x", b"x: 2")]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "result"),
    [
        pytest.param(
            "",
            "# why\ntags: [ a ]\n",
            "title: t\n",
            "title: t\n# why\ntags: [ a ]\n",
            id="what both wrote",
        ),
        pytest.param(
            "tags: [a]\n",
            "tags: [ a ] # why\n",
            "title: t\ntags: [a]\n",
            "title: t\ntags: [ a ] # why\n",
            id="one side only restyled",
        ),
        pytest.param(
            "tags: [a]\n",
            "title: o\n# why\ntags: [a]\n",
            "title: t\ntags: [b]\n",
            "title: t\n# why\ntags: [b]\n",
            id="a comment above what the other changed",
        ),
        pytest.param(
            "# why\ntags: [a]\n",
            "title: o\ntags: [a]\n",
            "title: t\n# why\ntags: [a]\n",
            "title: t\ntags: [a]\n",
            id="a comment that one side removed",
        ),
        pytest.param(
            "x: 1\n",
            "title: o\nx: 2\n",
            "title: t\n",
            "title: t\nx: 2\n",
            id="a foreign key that one side removed and the other changed",
        ),
        pytest.param(
            "x: 1\n",
            "title: o\n",
            "title: t\nx: 1\n",
            "title: t\n",
            id="a foreign key that one side removed",
        ),
        pytest.param(
            "",
            "  # why\n  title: o\n  x: {a: 1}\n",
            "title: t\n",
            "  # why\n  title: t\n  x: {a: 1}\n",
            id="an indented header",
        ),
    ],
)
def test_what_is_not_ours_in_two_headers(base: str, ours: str, theirs: str, result: str) -> None:
    def header_of(rest: str) -> bytes:
        margin = "  " if rest.startswith("  ") else ""
        return f"---\n{margin}id: {A}\n{margin}type: fact\n{rest}---\n\none\n".encode()

    states = [read_state({place(A): header_of(rest)}, Layout()) for rest in (base, ours, theirs)]
    found = merge_states(*states, their_facts=SideFacts(people=frozenset({A})))
    assert found.state.files[place(A)].decode() == header_of(result).decode()


CANDIDATE = b"---\ntype: candidate\nsources:\n%s---\n\ntext\n"
SMALL = CANDIDATE % b"  - {resource: z.md}\n"
LARGE = CANDIDATE % b"  - {resource: a.md}\n  - {resource: b.md}\n"


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "result", "conflict", "lost"),
    [
        ("runs/2026-01/r.json", b"{}", b"{1}", b"{2}", b"{2}", "manifest-differs", b"{1}"),
        ("runs/2026-01/r.json", b"{}", None, b"{}", None, "", b""),
        ("runs/2026-01/r.json", None, b"{}", b"{}", b"{}", "", b""),
        ("candidates/deferred/00/t.md", None, LARGE, SMALL, LARGE, "", SMALL),
        ("tombstones/a.md", b"a", b"b", b"c", b"c", "both-changed", b"b"),
        ("tombstones/a.md", b"a", None, b"c", b"c", "", b""),
        ("threads/a.md", None, b"a", None, b"a", "", b""),
        ("sources/a.md", b"1\n2\n3\n", b"0\n1\n2\n3\n", b"1\n2\n4\n", b"0\n1\n2\n4\n", "", b""),
        ("sources/a.md", b"1\n2\n", b"1\r\n2\r\n", b"1\n2\n3\n", b"1\r\n2\r\n3\r\n", "", b""),
        ("sources/a.md", b"1\n", b"2\n", b"3\n", b"3\n", "both-changed", b"2\n"),
        ("sources/a.md", b"1\n", b"\xff\n", b"3\n", b"\xff\n", "both-changed", b"3\n"),
        (
            "memrepo.toml",
            b"a = 1\n",
            b"a = 1\nb = 1\n",
            b"c = 1\na = 1\n",
            b"c = 1\na = 1\nb = 1\n",
            "",
            b"",
        ),
        (
            "memrepo.toml",
            b"a = 1\n",
            b"b = 1\na = 1\n",
            b"a = 1\nb = 2\n",
            b"b = 1\na = 1\n",
            "both-changed",
            b"a = 1\nb = 2\n",
        ),
        ("views/LTMEMORY.md", b"1", b"2", b"3", b"2", "", b""),
    ],
)
def test_a_file_that_is_no_memory(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    result: bytes | None,
    conflict: str,
    lost: bytes,
) -> None:
    states = [read_state({} if d is None else {path: d}, Layout()) for d in (base, ours, theirs)]
    found = merge_states(*states)
    assert found.state.files.get(path) == result
    assert [c.kind for c in found.conflicts] == ([conflict] if conflict else [])
    assert [k.data for k in found.kept] == ([lost] if lost else [])


def test_what_one_base_removed_and_a_side_still_lacks_stays_removed() -> None:
    ancestor = state(fact(A), fact(B))
    virtual = virtual_base([state(fact(A)), state(fact(A), fact(B, title="t"))], ancestor)
    assert virtual == state(fact(A), fact(B, title="t"))
    result = merge_states(virtual, state(fact(A)), state(fact(A), fact(B, title="t")))
    assert result.state == state(fact(A))


def test_three_bases_are_one_in_any_order() -> None:
    bases = [state(fact(title=t, generated=Stamp(by="a/1", at=DAY))) for t in ("x", "y", "z")]
    tags = [state(fact(tags=t)) for t in (("a", "b"), ("b", "c"), ("c",))]
    for three in (bases, tags):
        found = [virtual_base(order) for order in itertools.permutations(three)]
        assert all(other == found[0] for other in found)
