"""What was deferred comes back with new context and with nothing else; rejections stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from purified import purified

from memrepo.actions.run.plan import Decisions, Mode
from memrepo.core.changes import Delete
from memrepo.core.judge import (
    CanonicalClaim,
    CanonicalRequest,
    ComparisonRequest,
    Finding,
    GistRequest,
    PromotionRequest,
    PromotionScores,
    Scores,
    Usage,
    Verdict,
    VerdictWord,
    Wording,
)
from memrepo.core.manifest import Recorded
from memrepo.core.memory import Gist
from memrepo.core.state import Files, State, apply, read_state
from memrepo.policies.gists import gist_of
from memrepo.read.intake import SourceText, cursors

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
WEAK = PromotionScores(
    durability=0.2,
    future_judgment_value=0.2,
    action_value=0.2,
    identity_relationship_weight=0.2,
    cross_time_persistence=0.2,
    noise_risk=0.0,
)


@dataclass
class Scripted:
    """A judge that gives a verdict by a word of the text, and remembers what it was asked."""

    words: dict[str, VerdictWord]
    size: int = 40
    asked: list[PromotionRequest] = field(default_factory=list)
    name: str = "scripted/1"
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = ""

    @property
    def batch(self) -> tuple[int, int]:
        return self.size, 20

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        self.asked.append(request)
        return [
            Verdict(candidate_id=c.candidate_id, scores=WEAK, strength=1.0, verdict=self._word(c))
            for c in request.candidates
        ]

    def _word(self, candidate: object) -> VerdictWord:
        text = candidate.text  # type: ignore[attr-defined]
        return next((word for part, word in self.words.items() if part in text), "promote")

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        return [
            CanonicalClaim(
                cluster_id=c.cluster_id,
                type="fact",
                standing="resolved",
                home="LTMEMORY.md",
                wording=Wording(text=c.candidates[0].text),
                scores=Scores(confidence=0.8),
            )
            for c in request.clusters
        ]

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        return [Finding(is_contradiction=False, confidence=1.0, pair=p.pair) for p in request.pairs]

    def gist(self, request: GistRequest) -> Gist:
        return gist_of(request.note)

    def texts(self) -> list[str]:
        return [c.text for request in self.asked for c in request.candidates]


class Store:
    """Sources by name, and the state and manifests that runs leave."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.state = State(files=Files({}, {}), memories={})
        self.manifests: list[Recorded] = []

    def run(
        self, judge: Scripted, mode: Mode = "incremental", *, afresh: bool = False, **sources: str
    ) -> Decisions:
        """Run over these files (`MEMORY` is MEMORY.md) and take in what comes of it."""
        judge.asked.clear()
        texts = []
        for name, text in sorted(sources.items()):
            blob = f"{abs(hash((name, text))):040x}"[:40]
            self.blobs[blob] = text.encode()
            texts.append(
                SourceText(
                    name=f"{name}.md",
                    resource=f"sources/{name}.md",
                    blob=blob,
                    kind="claims",
                    committed="2026-02-20",
                )
            )
        found = purified(
            self.state,
            texts,
            cursors(self.manifests),
            self.blobs.__getitem__,
            now=NOW,
            judge=judge,
            mode=mode,
            is_upgrade=afresh,
        )
        changes = [c for step in found.steps for c in step.changes]
        state = apply(self.state, [*changes, *found.files])
        files = {p: state.files[p] for p in state.files}
        self.state = read_state(files, state.layout)
        run = f"20260301T0900{len(self.manifests):02}Z-00000000"
        self.manifests.append(Recorded(run=run, consumed=found.consumed, refused=frozenset()))
        return found


VAGUE = "Vera may want another pump."
NEAR = "Vera ordered a pump from Holt for the north field."


@pytest.fixture
def store() -> Store:
    made = Store()
    made.run(Scripted({"another pump": "defer"}), MEMORY=f"- {VAGUE}\n")
    assert len(made.state.files) == 1
    return made


def test_context_brings_it_back_beside_what_is_new(store: Store) -> None:
    judge = Scripted({})
    found = store.run(judge, MEMORY=f"- {VAGUE}\n- {NEAR}\n")
    assert sorted(judge.texts()) == sorted([VAGUE, NEAR])
    assert found.counts["came_back"] == 1
    assert [type(f) for f in found.files] == [Delete]
    assert sorted(m.body for m in store.state.memories.values()) == sorted([VAGUE, NEAR])


def test_what_was_rejected_is_not_asked_again_wherever_it_stands() -> None:
    store, judge = Store(), Scripted({"another pump": "reject"})
    store.run(judge, MEMORY=f"- {VAGUE}\n")
    found = store.run(judge, MEMORY=f"- {VAGUE}\n", RTMEMORY=f"- {VAGUE}\n- {NEAR}\n")
    assert judge.texts() == [NEAR]
    assert found.counts["rejected_before"] == 1
    store.run(judge, "reconciliation", MEMORY=f"- {VAGUE}\n", RTMEMORY=f"- {VAGUE}\n- {NEAR}\n")
    assert judge.texts() == [NEAR]
