"""Nominated notes in the purifier: judged once, whatever they say and however they were read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from purified import purified

from memrepo.actions.run.candidates import Nominee
from memrepo.actions.run.plan import RunPlan
from memrepo.core.access import RETRIEVAL, Accesses, Event, fold, seconds
from memrepo.core.codec import encode
from memrepo.core.ids import manual_id
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import State, apply, read_state
from memrepo.judges.offline import OfflineJudge
from memrepo.merge.closure import closure
from memrepo.policies.ageing import nominated
from memrepo.policies.rules import TierRules

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
WORDS = st.sampled_from(
    (
        "The wiki's backup runs at 03:40.",
        "ok thanks",
        "Mara decided to keep PostgreSQL 15 for good.",
        "How to restart: stop it, start it.",
        "ERROR worker 3 failed",
        "See you!",
        "# A heading only",
        "- one\n- two\n- three",
        "We never deploy on a Friday because of the night shift.",
    )
)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map("\n\n".join)


def note(number: int, text: str) -> Memory:
    id_ = manual_id(created=T0, text=f"{number} {text}")
    fields = {"id": id_, "type": "note", "created": T0, "title": f"Note {number}"}
    path = f"memories/notes/2026-03/01/note-{number}-{id_[4:10]}.md"
    return Memory(path=path, fields=fields, body=text)


def played(state: State, accesses: Accesses, now: datetime) -> RunPlan:
    found = nominated(state.active, accesses, now, TierRules())
    nominees = tuple(Nominee(nomination=c, blob="b" * 40, lines=(8, 9)) for c in found)
    return purified(state, (), {}, lambda _: b"", nominees, now=now, judge=OfflineJudge())


@given(st.lists(st.tuples(TEXTS, st.lists(st.integers(0, 20), max_size=9)), max_size=5))
def test_a_note_is_promoted_once_in_its_life(made: list[tuple[str, list[int]]]) -> None:
    notes = [note(number, text) for number, (text, _) in enumerate(made)]
    events = [
        Event(kind=RETRIEVAL, at=seconds(T0 + timedelta(days=day)), session="s", memory=one.id)
        for one, (_, days) in zip(notes, made, strict=True)
        for day in days
    ]
    state = read_state({one.path: encode(one) for one in notes}, Layout())
    stamped: list[str] = []
    for day in range(0, 28, 3):
        now = T0 + timedelta(days=day)
        known = fold(e for e in events if e.at <= seconds(now))
        due = {c.note.id for c in nominated(state.active, known, now, TierRules())}
        found = played(state, known, now)
        stamps = [step for step in found.steps if step.op == "nominate"]
        assert {step.memory_ids[0] for step in stamps} == due
        stamped += [s.memory_ids[0] for s in stamps if s.changes[0].fields.get("promoted")]
        state = apply(state, (change for step in found.steps for change in step.changes))
        assert played(state, known, now).steps == ()
        assert closure(state) == ()
    assert len(stamped) == len(set(stamped))
    rested = {m.path for m in notes}
    promoted = [m for m in state.active if m.text("origin") == "promotion"]
    assert all({s.resource for s in m.sources} <= rested for m in promoted)
