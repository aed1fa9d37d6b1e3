"""What consolidation takes as memories grow: ten times the memories, how many times the work."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from benchmarks.measure import Ratio, Sizes, medians_s, timed
from benchmarks.memories import START
from memrepo.core.ids import claim_id
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import Files, State
from memrepo.policies.change import changed_pairs, compared_in
from memrepo.policies.gists import candidates, groups, summary_of
from memrepo.policies.importance import importance_of, lexicon
from memrepo.policies.links import link_step
from memrepo.policies.rules import CompressionRules

SAID = (
    "Maybe {what} {a} needs paint beside gate {b}.",
    "{what} {a} was moved to slot {b} once.",
    "Not sure whether {what} {a} got parcel {b}.",
    "The rule of lane {b} names {what} {a}.",
)
WHAT = ("crane", "depot", "train", "orchard", "kiosk", "pier", "mill", "barge")


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Consolidate so many memories, and a tenth of them, by turns: nothing is written."""
    del folder
    many = sizes.memories
    few = max(1, many // 10)
    states = {count: _state(count) for count in (few, many)}
    found = medians_s(
        min(3, sizes.turns),
        few=lambda: timed(lambda: _consolidate(states[few])),
        many=lambda: timed(lambda: _consolidate(states[many])),
    )
    return [
        Ratio(
            name="consolidating ten times the memories",
            ratio=found["many"] / found["few"],
            bound=15,
            count=many,
            turns=min(3, sizes.turns),
        ),
    ]


def _consolidate(state: State) -> None:
    words = lexicon()
    list(changed_pairs(state, compared_in(state), tuple(state.memories)))
    rules = CompressionRules(trigger=len(state.memories), keep=len(state.memories) // 3)
    old = candidates(state, rules, lambda m: importance_of(m, words).score, ())
    for group in groups(old):
        summary_of(group.topic, group.memories)
    link_step(state.active)


def _state(count: int) -> State:
    found = [_memory(number) for number in range(count)]
    return State(layout=Layout(), files=Files({}, {}), memories={m.id: m for m in found})


def _memory(number: int) -> Memory:
    text = SAID[number % len(SAID)].format(
        what=WHAT[number // 4 % len(WHAT)], a=number // 32, b=number * 7919 % 100_003
    )
    id_ = claim_id(scope="", subject="", predicate="", object_="", text=text)
    return Memory.of(
        path=Layout().memory(id_=id_, type_="fact", text=text, captured=""),
        body=text,
        fields={"id": id_, "type": "fact", "created": START + timedelta(minutes=number)},
    )
