"""What two hundred lines that are alike cost: few calls, nothing twice, the same under a limit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, done, git, memories, memrepo
from serving import Act, Service, evidence, good

LINES = 200
JUDGE = ("--judge", "anthropic")
COUNTED = Act(used=None)
"""Answers as they should be, with four bytes a token."""


def in_other_words(question: str) -> str:
    """Answer as one should, with each line in other words."""
    found = json.loads(good(question))
    for claim in found.get("claims", ()):
        claim["wording"]["text"] = f"In short: {claim['wording']['text']}"
    return json.dumps(found)


@pytest.fixture
def orchard(service: Service, repo: Path) -> Path:
    service.default = COUNTED
    config = repo / "memrepo.toml"
    config.write_text(config.read_text().replace("max_tokens = 1000", "max_tokens = 16000"))
    git(repo, "commit", "-qam", "configure", "--no-verify")
    lines = "".join(f"- Vera planted tree number {n} in the north orchard.\n" for n in range(LINES))
    (repo.parent / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n{lines}")
    return repo


def items(service: Service) -> Iterator[str]:
    for question in service.questions():
        held = evidence(question)
        for key, id_ in (("candidates", "candidate_id"), ("clusters", "cluster_id")):
            yield from (row[id_] for row in held.get(key, []))


def planted(repo: Path) -> int:
    return sum("tree number" in m.body for m in memories(repo).values())


def test_many_lines_cost_few_tokens_and_a_limit_makes_them_no_dearer(
    service: Service, orchard: Path
) -> None:
    done(orchard, "ingest")
    dry: dict[str, Any] = done(orchard, "run", *JUDGE, "--dry-run")
    assert dry["tokens"]["total"] <= 120_000
    assert len(service.asked) < 30
    for path in (orchard / ".git" / "memrepo" / "kept").glob("*"):
        path.unlink()
    service.asked.clear()
    spent, cap = 0, str(round(dry["cost_usd"] * 0.4, 4))
    for day in range(1, 9):
        ran = memrepo(orchard, "run", *JUDGE, "--max-usd", cap, now=f"2026-03-0{day}T09:00:00Z")
        assert ran.data["cost_usd"] <= float(cap)
        spent += ran.data["tokens"]["total"]
        if ran.exit == 0:
            break
    assert planted(orchard) == LINES
    assert spent <= 1.1 * dry["tokens"]["total"]
    asked = list(items(service))
    assert len(asked) == len(set(asked))
    assert_sound(orchard)


NIGHT = """
- Mira wants invoices as PDF, never on paper.
- The greenhouse pump must run only at night.
- We move the shop to Leeds if the rent stays below 900 GBP.
- Deploys of the billing service need two approvals from now on.
- The NAS is backed up at 03:30 every Sunday.
- Tom is allergic to walnuts.
- Never restart the gateway while a session is open, it loses the queue.
- The landlord is reached under 555 0199 before noon.
"""


def test_a_night_of_eight_lines_costs_few_tokens_with_all_its_questions(
    service: Service, repo: Path
) -> None:
    service.default = Act(used=None, answer=in_other_words)
    done(repo, "run", *JUDGE)
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(
        f"{path.read_text()}\n## March\n{NIGHT}- Vera avoids raised beds because her back hurts.\n"
    )
    service.asked.clear()
    ran: dict[str, Any] = done(repo, "run", *JUDGE, now="2026-03-02T09:00:00Z")
    assert ran["counts"]["memories_new"] == 9
    assert len(service.asked) == 4, "both passes, the wordings, and one pair"
    assert ran["tokens"]["total"] <= 8000


def test_a_day_has_a_limit_of_its_own(service: Service, orchard: Path) -> None:
    config = orchard / "memrepo.toml"
    config.write_text(config.read_text().replace("[run]", "[run]\nmax_usd_day = 0.12"))
    git(orchard, "commit", "-qam", "a limit", "--no-verify")
    first = memrepo(orchard, "run", *JUDGE, now="2026-03-01T09:00:00Z")
    assert (first.exit, "a day may cost 0.12 USD" in first.data["partial"]) == (4, True)
    same = memrepo(orchard, "run", *JUDGE, now="2026-03-01T15:00:00Z")
    assert same.data["cost_usd"] + first.data["cost_usd"] <= 0.12
    before = planted(orchard)
    memrepo(orchard, "run", *JUDGE, now="2026-03-02T09:00:00Z")
    assert planted(orchard) > before


def test_the_schema_goes_out_once_and_effort_as_it_is_set(service: Service, orchard: Path) -> None:
    config = orchard / "memrepo.toml"
    config.write_text(config.read_text() + 'effort = "low"\nthinking = "disabled"\n')
    git(orchard, "commit", "-qam", "effort", "--no-verify")
    memrepo(orchard, "run", *JUDGE, "--max-usd", "0.25")
    body = service.asked[0]
    assert body["output_config"]["effort"] == "low"
    assert body["thinking"] == {"type": "disabled"}
    assert "additionalProperties" not in body["system"][0]["text"]


def test_a_limit_below_the_first_question_is_met_by_a_smaller_one(
    service: Service, orchard: Path
) -> None:
    """The first question reserves for its answers too: above the limit it was never asked."""
    refused = memrepo(orchard, "run", *JUDGE, "--max-usd", "0.0001")
    assert (refused.exit, service.asked) == (4, [])
    cap, nights = 0.1, 0
    whole = memrepo(orchard, "run", *JUDGE, "--max-usd", str(cap))
    while whole.exit == 4 and nights < 30:
        assert whole.data["cost_usd"] <= cap
        before, nights = planted(orchard), nights + 1
        whole = memrepo(orchard, "run", *JUDGE, "--max-usd", str(cap), now=later(nights))
        assert planted(orchard) > before
    assert (whole.exit, planted(orchard)) == (0, LINES)
    assert_sound(orchard)


def later(nights: int) -> str:
    return f"2026-03-{1 + nights:02}T09:00:00Z"
