"""A second look before two memories are called a contradiction, with a scripted judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace
from test_assemble import NOW, claim, empty, group, run, source, taken

from memrepo.actions.run.contradictions import VerifiedClaims, verify_claims
from memrepo.actions.run.known import Former
from memrepo.core.changes import Step
from memrepo.core.corrections import read_corrections
from memrepo.core.judge import (
    Assessment,
    CanonicalClaim,
    Cluster,
    ComparisonRequest,
    Contradiction,
    Finding,
    Suspicion,
    Usage,
    VerificationRequest,
)
from memrepo.core.memory import Stamp
from memrepo.core.state import State
from memrepo.judges.asking import Asking

YES = Finding(is_contradiction=True, confidence=0.95, reasoning="one editor", newer="first")


@dataclass
class Scripted:
    """A judge that answers `verify` by a script, then always yes; it keeps what it was asked."""

    script: list[Finding | Exception] = field(default_factory=list)
    asked: list[Suspicion] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    name: str = "scripted/1"
    batch: tuple[int, int] = (40, 20)
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = "sha256:0"

    def find(self, suspicion: Suspicion) -> Finding:
        self.asked.append(suspicion)
        act = self.script.pop(0) if self.script else YES
        if isinstance(act, Exception):
            raise act
        return act

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        self.sizes.append(len(request.pairs))
        self.faults += [request.faults.get(one.pair, "") for one in request.pairs]
        return [replace(self.find(one), pair=one.pair) for one in request.pairs]

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        part = (("text", "to the mill"),)
        return [
            Assessment(check_id=check.check_id, stated=check.wording != part)
            for check in request.checks
        ]

    def promote(self, request: Any) -> Sequence[Any]:
        raise NotImplementedError

    def canonicalise(self, request: Any) -> Sequence[Any]:
        raise NotImplementedError

    def gist(self, request: Any) -> Any:
        raise NotImplementedError


Pairs = list[tuple[Cluster, CanonicalClaim]]


def asking(judge: Any) -> Asking:
    return Asking(judge=judge, now=NOW, local_now=NOW)


def look(state: State, pairs: Pairs, judge: Any) -> VerifiedClaims:
    return verify_claims(
        state,
        [g for g, _ in pairs],
        tuple(c for _, c in pairs),
        Former(),
        asking(judge),
    )


def plain(name: str, text: str, captured: str = "2026-02-10", **more: Any):
    return group(name, text, sources=(source(text, captured=captured),)), claim(name, text, **more)


TEA, COFFEE = "Mara drinks green tea at breakfast", "Mara drinks black tea at breakfast"


def known(*pairs: tuple[Cluster, CanonicalClaim]) -> State:
    return run(empty(), *pairs)


def ops_of(steps: Iterable[Step]) -> list[str]:
    return [step.op for step in steps]


def ops(made: VerifiedClaims) -> list[str]:
    return ops_of(made.made.singles)


def bodies(state: State, status: str) -> list[str]:
    return sorted(m.body for m in state.memories.values() if m.status == status)


def test_a_sure_contradiction_of_alike_statements_replaces_the_older_one() -> None:
    state, judge = known(plain("a", TEA)), Scripted()
    made = look(state, [plain("b", COFFEE, "2026-02-20")], judge)
    (asked,) = judge.asked
    assert (asked.first.text, asked.second.text, asked.why) == (COFFEE, TEA, "similar")
    assert ops(made) == ["supersede"]
    after = taken(state, made.made)
    assert (bodies(after, "active"), bodies(after, "superseded")) == ([COFFEE], [TEA])
    (case,) = read_corrections(after.files, after.layout).cases.values()
    assert (case.verdict, case.confidence, case.kept) == (
        "superseded",
        0.95,
        next(m.id for m in after.active),
    )
    assert case.reason.startswith("one editor")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (YES, ["supersede"]),
        (replace(YES, confidence=0.9), ["flag"]),
        (replace(YES, confidence=0.9001), ["supersede"]),
        (replace(YES, newer="unknown"), ["flag"]),
        (replace(YES, newer="second"), ["flag"]),  # the evidence is dated the other way round
        (replace(YES, is_contradiction=False), []),
    ],
)
def test_only_a_sure_answer_with_an_order_decides(found: Finding, expected: list[str]) -> None:
    state = known(plain("a", TEA, "2026-02-01"))
    made = look(state, [plain("b", COFFEE, "2026-02-20")], Scripted([found]))
    assert ops(made) == expected
    assert made.asked.open == frozenset()


def test_a_contradiction_that_a_second_look_denies_is_not_flagged() -> None:
    state = known(plain("a", "Mara owns a cat"))
    (old,) = state.memories
    group_, said = plain("b", "Helix is what she edits with")
    said = replace(
        said,
        standing="contested",
        contradictions=(Contradiction(memory_id=old, relation="contested", reason="why"),),
    )
    judge = Scripted([replace(YES, is_contradiction=False)])
    made = look(state, [(group_, said)], judge)
    assert judge.asked[0].why == "claimed"
    assert judge.asked[0].reason == "why"
    assert ops(made) == []
    assert {m.standing for m in made.made.creates} == {"resolved"}


def replacing(name: str, text: str, old: str, captured: str, basis: str = "unit") -> Any:
    """Return a cluster whose claim says that it replaces a memory."""
    found = source(text, captured=captured)
    group_ = group(name, text, sources=(replace(found, captured_from=basis),))
    said = claim(name, text, supersedes=(old,))
    return group_, replace(said, scores=replace(said.scores, supersession_confidence=0.97))


def only(state: State, text: str) -> str:
    (id_,) = (i for i, m in state.memories.items() if m.body == text)
    return id_


RULE, NEWS_OF_IT = "Never redirect guests to the mill", "Guests go to the barn from now on"


@pytest.mark.parametrize(
    ("answer", "basis", "found"),
    [
        (replace(YES, is_contradiction=False), "unit", []),
        (YES, "unit", ["supersede"]),
        (YES, "commit", ["flag"]),
        (replace(YES, confidence=0.9), "unit", ["flag"]),
        (replace(YES, newer="unknown"), "unit", ["flag"]),
        (replace(YES, still="to the mill"), "unit", ["flag"]),
    ],
    ids=["denied", "dated", "undated", "unsure", "no order", "in part"],
)
def test_what_a_model_says_that_it_replaces_is_asked_a_second_time(
    answer: Finding, basis: str, found: list[str]
) -> None:
    state, judge = known(plain("a", RULE, "2026-02-01")), Scripted([answer])
    made = look(state, [replacing("b", NEWS_OF_IT, only(state, RULE), "2026-02-20", basis)], judge)
    (asked,) = judge.asked
    assert (asked.why, asked.first.text, asked.second.text) == ("replaced", NEWS_OF_IT, RULE)
    assert ops(made) == found


def test_no_model_retires_what_a_person_confirmed() -> None:
    state = known(plain("a", RULE, "2026-02-01"))
    id_ = only(state, RULE)
    stamp = Stamp(by="human:ana", at=NOW)
    memory = state.memories[id_].with_fields({"verified": (stamp,)})
    state = replace(state, memories={**state.memories, id_: memory})
    made = look(state, [replacing("b", NEWS_OF_IT, id_, "2026-02-20")], Scripted())
    assert ops(made) == ["flag"]
    assert "a person stated the older one" in made.made.singles[0].reason
