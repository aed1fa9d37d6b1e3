"""A model that compares memories which stand: asked once a pair, on record, within its budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import done, git, memories, memrepo
from serving import Act, Service, evidence, finding, good

FIRST, LATER, NEXT = "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"
RED, BLUE = "The gate of the old mill is red.", "The gate of the old mill is blue."


def ask(repo: Path, *more: Any, now: str) -> Any:
    return memrepo(repo, "run", "--judge", "anthropic", *more, now=now)


def pairs(service: Service) -> list[set[str]]:
    rows = [row for q in service.questions() for row in evidence(q).get("pairs", [])]
    return [{row["first"]["text"], row["second"]["text"]} for row in rows]


def answering(**changes: Any) -> Act:
    def answer(question: str) -> str:
        return finding(question, **changes) if "pairs" in evidence(question) else good(question)

    return Act(answer=answer)


def prepared(service: Service, repo: Path) -> None:
    assert ask(repo, now=FIRST).exit == 0
    for text in (RED, BLUE):
        done(repo, "add", text, now=FIRST)
    service.asked.clear()


def manifest(repo: Path) -> dict[str, Any]:
    return json.loads(max((repo / "runs").rglob("*.json")).read_text())


def test_a_pair_that_may_stand_is_asked_about_once_and_paid_for_on_record(
    service: Service, repo: Path
) -> None:
    prepared(service, repo)
    assert ask(repo, now=LATER).exit == 0
    assert pairs(service) == [{RED, BLUE}]
    assert (manifest(repo)["calls"], len(manifest(repo)["compared"])) == (1, 1)
    assert "1 call" in git(repo, "log", "-1", "--format=%(trailers)")
    service.asked.clear()
    assert ask(repo, now=NEXT).exit == 0
    assert service.asked == []


def test_a_sure_answer_that_no_date_bears_out_is_shown_to_a_person(
    service: Service, repo: Path
) -> None:
    prepared(service, repo)
    service.default = answering(
        isContradiction=True, confidence=0.95, reasoning="One gate.", whichIsNewer="first"
    )
    assert ask(repo, now=LATER).exit == 0
    stands = {
        m.body: (m.status, m.standing) for m in memories(repo).values() if m.body in (RED, BLUE)
    }
    assert stands == dict.fromkeys((RED, BLUE), ("active", "contested"))


def test_a_dry_run_asks_nothing_and_a_budget_that_is_reached_is_told(
    service: Service, repo: Path
) -> None:
    prepared(service, repo)
    assert ask(repo, "--dry-run", now=LATER).exit == 0
    assert service.asked == []
    answer = ask(repo, "--max-tokens", "10", now=LATER)
    assert service.asked == []
    assert [p["rule"] for p in answer.data["warnings"]] == ["pairs-not-compared"]


@pytest.mark.parametrize(
    ("one", "other", "is_asked"),
    [
        ("Tilda must never be called before nine.", "Dogs must stay outside the mill.", False),
        ("Tilda rows on Tuesdays.", "The boathouse was built by Tilda's uncle in 2019.", False),
        ("The choir meets in 2027 in Lund.", "Since 2027 the bakery is closed.", False),
        ("Pump oil is due every 100 hours.", "The oil of the pump lasts 150 hours.", True),
    ],
)
def test_only_statements_that_may_be_about_one_thing_are_compared(
    service: Service, repo: Path, one: str, other: str, is_asked: bool
) -> None:
    for text in (one, other):
        done(repo, "add", text, now=FIRST)
    assert ask(repo, now=LATER).exit == 0
    assert ({one, other} in pairs(service)) == is_asked
