"""Summaries by a run's judge: checked against the memories, never waited for, and on record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import done, git, memories, memrepo
from hoards import hoard, stored
from serving import Act, Service, checked, evidence, good, summary

from memrepo.actions.run import contradictions as among
from memrepo.core.memory import Memory

NOW, LATER = "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"


@pytest.fixture
def hoarding(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with 60 memories, of which all but the newest five may go."""
    monkeypatch.setattr(among, "MAX_ASKED", 0)  # no questions about pairs
    path = repo / "memrepo.toml"
    text = path.read_text().replace("[run]", "[run]\npace_pct = 90", 1)
    path.write_text(
        "\n".join([text, "[compression]", "enabled = true", "trigger = 40", "keep = 5", ""])
    )
    git(repo, "commit", "-qam", "configure", "--no-verify")
    done(repo, "run", now="2026-02-28T09:00:00Z")
    stored(repo, hoard(60))
    return repo


def ask(repo: Path, *more: Any, now: str = NOW) -> Any:
    return memrepo(repo, "run", "--judge", "anthropic", "--max-change-pct", "90", *more, now=now)


def asked(service: Service) -> list[dict[str, Any]]:
    return [found for q in service.questions() if "memories" in (found := evidence(q))]


def summaries(repo: Path) -> list[Memory]:
    return [m for m in memories(repo).values() if m.type == "summary"]


def manifest(repo: Path) -> dict[str, Any]:
    return json.loads(max((repo / "runs").rglob("*.json")).read_text())


def answering(**changes: Any) -> Act:
    def answer(question: str) -> str:
        found = evidence(question)
        if "items" in found:
            return checked(question, lambda row: "false" not in str(row["wording"]))
        return summary(found["memories"], **changes) if "memories" in found else good(question)

    return Act(answer=answer)


def test_the_judge_words_the_summaries_and_what_it_cost_is_on_record(
    service: Service, hoarding: Path
) -> None:
    assert ask(hoarding).exit == 0
    questions = asked(service)
    assert len(questions) == len(summaries(hoarding)) > 1
    titles = {" ".join(q["memories"][0]["text"].split()[:6]) for q in questions}
    assert {m.text("title") for m in summaries(hoarding)} == titles
    assert manifest(hoarding)["calls"] >= len(questions)
    service.asked.clear()
    ask(hoarding, now=NOW)
    assert asked(service) == []


def test_an_unsupported_answer_is_asked_for_again_with_its_fault_then_made_offline(
    service: Service, hoarding: Path
) -> None:
    service.default = answering(text="The crane is false.")
    answer = ask(hoarding)
    assert answer.exit == 0
    faults = [q.get("fault", "") for q in asked(service)]
    assert faults[0] == ""
    assert faults[1] == "it differs"
    assert all("crane is false" not in m.body for m in summaries(hoarding))
    told = [w for w in manifest(hoarding)["warnings"] if w["rule"] == "summary-offline"]
    assert len(told) == len(summaries(hoarding)) == len(faults) // 2
