"""The Claude judge over HTTP, with the real SDK: whatever the service does, main stays whole."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, done, git, memories, memrepo
from serving import USED, Act, Service, claim, evidence, finding, good, verdict
from workspaces import growing

LATER = "2026-03-01T11:00:00Z"


def configure(repo: Path, *lines: str, run: tuple[str, ...] = ()) -> None:
    path = repo / "memrepo.toml"
    text = path.read_text().split("\n[judge]")[0].replace("[run]", "\n".join(["[run]", *run]))
    path.write_text("\n".join([text, "[judge]", *lines, ""]))
    git(repo, "commit", "-qam", "configure", "--no-verify")


def ask(repo: Path, *more: str, now: str = "2026-03-01T09:00:00Z") -> Any:
    return memrepo(repo, "run", "--judge", "anthropic", *more, now=now)


def manifest(repo: Path) -> dict[str, Any]:
    return json.loads(max((repo / "runs").rglob("*.json")).read_text())


def bodies(repo: Path) -> list[str]:
    return sorted(m.body.strip() for m in memories(repo).values() if not m.is_note)


FIRST = [
    "**Watering interval:** every 3 days (2026-01-05)",
    "Never prune the roses before the last frost in April.",
    "The rotary hoe must always be stored with an empty tank.",
    "Vera prefers raised beds because her back hurts.",
    "We decided to plant only heirloom tomatoes from 2026 on.",
]


def test_good_answers_land_with_exact_tokens_and_cost(service: Service, repo: Path) -> None:
    answer = ask(repo)
    assert (answer.exit, answer.data["status"]) == (0, "ok")
    assert [b for b in bodies(repo) if b in FIRST] == FIRST
    assert answer.data["tokens"] == {
        "prompt": 260,
        "completion": 100,
        "total": 360,
        "source": "exact",
        "cache_write": 40,
        "cache_read": 20,
    }
    cost = (200 * 2.0 + 100 * 10.0 + 40 * 2.5 + 20 * 0.1) / 1e6
    assert answer.data["cost_usd"] == pytest.approx(cost)
    record = manifest(repo)
    assert record["cost_usd"] == answer.data["cost_usd"]
    assert record["tokens"] == answer.data["tokens"]
    assert record["judge"] == "anthropic/claude-sonnet-5-5"
    assert record["prompt_hash"].startswith("sha256:")
    assert record["batches"] == {"done": 2, "left": 0}
    merge = git(repo, "log", "-1", "--format=%B")
    assert f"Memrepo-Cost: {cost:.4f} USD, 360 tokens (exact), 2 calls" in merge
    assert_sound(repo)


def test_a_question_is_bound_to_our_schema_and_its_fixed_part_is_cached(
    service: Service, repo: Path
) -> None:
    ask(repo)
    growing(repo.parent / "workspace", 1)
    assert ask(repo, now=LATER).exit == 0
    by_answer = {q["output_config"]["format"]["schema"]["required"][0]: q for q in service.asked}
    first, last = service.asked[0], by_answer["claims"]
    assert first is not by_answer["verdicts"]
    assert first["output_config"]["format"]["schema"]["required"] == ["verdicts"]
    assert "temperature" not in first
    assert first["system"][0]["cache_control"] == {"type": "ephemeral"}
    priors, clusters = last["messages"][0]["content"]
    assert "prior_claims" in priors["text"]
    assert priors["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in clusters
    assert service.headers[0]["authorization"] == "Bearer test-key"


@pytest.mark.parametrize(
    "wrap", ["```json\nANSWER\n```", "Sure, here:\nANSWER\nAnything else?", "ANSWER\nANSWER"]
)
def test_fenced_chatty_and_doubled_answers_are_read(
    service: Service, repo: Path, wrap: str
) -> None:
    service.default = Act(answer=lambda question: wrap.replace("ANSWER", good(question)))
    assert ask(repo).exit == 0
    assert [b for b in bodies(repo) if b in FIRST] == FIRST


def wrong_score(question: str) -> str:
    """Answer with a score that is none for one candidate."""
    found = evidence(question)["candidates"]
    rows = [verdict(c) for c in found]
    for row, one in zip(rows, found, strict=True):
        row["scores"]["durability"] = 49 if "tomatoes" in one["text"] else 0.8
    return json.dumps({"verdicts": rows})


WRONG = "score durability is not a number from 0 to 1"


def test_a_wrong_score_is_asked_again_with_what_was_wrong(service: Service, repo: Path) -> None:
    service.script = [Act(answer=wrong_score)]
    answer = ask(repo)
    assert (answer.exit, answer.data["quarantined"]) == (0, [])
    again = evidence(service.questions()[1])
    (candidate,) = again["candidates"]
    assert "tomatoes" in candidate["text"]
    assert again["faults"] == {candidate["candidate_id"]: WRONG}
    assert [b for b in bodies(repo) if b in FIRST] == FIRST
    assert len(service.asked) == 3


def test_wrong_twice_quarantines_one_and_the_rest_lands_and_it_comes_back(
    service: Service, repo: Path
) -> None:
    service.script = [Act(answer=wrong_score)] * 2
    answer = ask(repo)
    assert (answer.exit, answer.data["status"]) == (0, "ok")
    (held,) = answer.data["quarantined"]
    assert held["reason"] == WRONG
    assert [b for b in bodies(repo) if b in FIRST] == FIRST[:-1]
    assert ask(repo, now=LATER).exit == 0
    assert [b for b in bodies(repo) if b in FIRST] == FIRST
    assert_sound(repo)


def invented(question: str) -> str:
    claims = [claim(c) for c in evidence(question)["clusters"]]
    claims[0] |= {"supersedes": ["mem-0123456789abcdef"], "provenance": [{"source": "no.md"}]}
    return json.dumps({"claims": [*claims, {**claims[-1], "cluster_id": "clust-unknown"}]})


def test_invented_provenance_and_unknown_ids_never_land(service: Service, repo: Path) -> None:
    service.script = [Act(), Act(answer=invented), Act(answer=invented)]
    answer = ask(repo)
    assert answer.exit == 0
    reasons = sorted(q["reason"] for q in answer.data["quarantined"])
    assert reasons == ["supersedes names a memory that was not shown", "unknown cluster"]
    assert not [m for m in memories(repo).values() if m.fields.get("supersedes")]
    assert_sound(repo)


def test_a_truncated_answer_keeps_its_complete_elements_and_asks_for_the_rest(
    service: Service, repo: Path
) -> None:
    service.script = [Act(answer=lambda q: good(q)[: len(good(q)) // 2], stop="max_tokens")]
    answer = ask(repo)
    assert (answer.exit, answer.data["quarantined"]) == (0, [])
    first, again = (evidence(q) for q in service.questions()[:2])
    assert 0 < len(again["candidates"]) < len(first["candidates"])
    assert set(again["faults"].values()) == {"no verdict"}
    assert [b for b in bodies(repo) if b in FIRST] == FIRST


@pytest.mark.parametrize(
    "trouble",
    [
        Act(status=429, headers={"retry-after": "0.05"}),
        Act(status=529, headers={"retry-after-ms": "20"}),
        Act(status=500, headers={"retry-after-ms": "20"}),
        Act(status=429),
        Act(cut_after=120),
        Act(cut_after=900),
        Act(raw=b'event: error\ndata: {"error": {"type": "overloaded_error"}}\n\n'),
    ],
    ids=["429", "529", "500", "429-without-a-word", "cut", "cut-in-the-answer", "error-event"],
)
def test_passing_trouble_is_tried_again_by_the_sdk(
    service: Service, repo: Path, trouble: Act
) -> None:
    service.script = [trouble]
    answer = ask(repo)
    assert (answer.exit, answer.data["status"]) == (0, "ok")
    assert len(service.asked) == 3
    assert_sound(repo)


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (Act(status=429, headers={"retry-after": "86400"}), "HTTP 429"),
        (Act(status=529, headers={"retry-after-ms": "20"}), "HTTP 529: not today"),
        (Act(status=401), "HTTP 401"),
        (Act(cut_after=120), "broke off"),
        (Act(stall_after=900, pings=True), "no answer within 0.3 s"),
        (Act(stop="pause_turn", answer=lambda _: ""), "before the end of its answer: pause_turn"),
        (Act(answer=lambda _: '{"verdicts": "none"}'), "verdicts holds no list"),
        (Act(raw=b"<html>a portal</html>"), ""),
    ],
    ids=["429-for-a-day", "529", "401", "cut", "stall", "pause", "wrong-shape", "html-as-json"],
)
def test_lasting_trouble_loses_nothing_and_says_so(
    service: Service, repo: Path, trouble: Act, says: str
) -> None:
    waits = trouble.silent or trouble.stall_after
    if waits:
        configure(repo, "idle_s = 0.3", "max_retries = 0")
    service.default = trouble
    answer = ask(repo)
    assert answer.exit == 4
    assert answer.data["status"] == "partial"
    assert says in answer.data["partial"]
    assert bodies(repo) == []
    assert any(m.is_note for m in memories(repo).values())
    assert_sound(repo)
    service.default = Act()
    if waits:
        configure(repo, "idle_s = 10")
    assert ask(repo, now=LATER).exit == 0
    assert [b for b in bodies(repo) if b in FIRST] == FIRST
    assert_sound(repo)


def test_a_refusal_costs_its_batch_only_and_is_kept_to_look_at(
    service: Service, repo: Path
) -> None:
    service.script = [Act(), *[Act(stop="refusal", answer=lambda q: "I would rather not.")] * 2]
    answer = ask(repo)
    assert (answer.exit, answer.data["status"]) == (4, "partial")
    assert answer.data["partial"] == "the model refused"
    assert answer.data["tokens"]["completion"] == 3 * USED["output_tokens"]
    assert manifest(repo)["cost_usd"] == answer.data["cost_usd"]
    assert bodies(repo) == []
    kept = [json.loads(p.read_text()) for p in sorted((repo / ".memrepo/failed").glob("*.json"))]
    assert [k["raw"] for k in kept] == ["I would rather not."] * 2
    assert kept[0]["pass"] == "purifier"
    assert_sound(repo)
    assert ask(repo, now=LATER).exit == 0
    assert [b for b in bodies(repo) if b in FIRST] == FIRST


def many(repo: Path, count: int) -> None:
    text = "".join(f"- Vera planted tree number {n} in the north orchard.\n" for n in range(count))
    (repo.parent / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n{text}")


def test_a_budget_that_ends_mid_run_keeps_what_is_finished(service: Service, repo: Path) -> None:
    many(repo, 200)
    service.default = Act(used={"input_tokens": 4000, "output_tokens": 900})
    answer = ask(repo, "--max-usd", "0.15")
    assert (answer.exit, answer.data["status"]) == (4, "partial")
    assert "a run may cost 0.15 USD" in answer.data["partial"]
    assert answer.data["cost_usd"] <= 0.15
    passes = [body["output_config"]["format"]["schema"]["required"] for body in service.asked]
    assert passes == sorted(passes, reverse=True)  # first every verdict that leaves room
    assert ["claims"] in passes
    landed = len(bodies(repo))
    assert 0 < landed < 200
    record = manifest(repo)
    assert record["partial"] == answer.data["partial"]
    assert record["cost_usd"] == answer.data["cost_usd"]
    assert "Memrepo-Cost: " in git(repo, "log", "-1", "--format=%B")
    assert_sound(repo)
    assert ask(repo, now=LATER).exit == 0
    assert len(bodies(repo)) >= 200
    assert_sound(repo)


def test_a_month_s_budget_counts_what_earlier_runs_spent(service: Service, repo: Path) -> None:
    configure(repo, "max_tokens = 1000", run=("max_tokens_month = 9000",))
    assert ask(repo).exit == 0
    growing(repo.parent / "workspace", 1)
    text = (repo / "memrepo.toml").read_text().replace("9000", "400")
    (repo / "memrepo.toml").write_text(text)
    git(repo, "commit", "-qam", "less", "--no-verify")
    answer = ask(repo, now=LATER)
    assert answer.exit == 4
    assert "a month may use 400 tokens: 360 are used" in answer.data["partial"]
    april = ask(repo, now="2026-04-01T00:00:00Z")
    assert "a month may use 400 tokens: 0 are used" in april.data["partial"]


def test_no_secret_leaves_the_machine(service: Service, repo: Path) -> None:
    secret = "hunter2-" + "correct-horse"
    lines = f"# Memory\n\n- **Password:** {secret}\n- Vera prefers tea over coffee.\n"
    path = repo / "sources" / "MEMORY.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(lines)
    git(repo, "config", "--unset", "memrepo.workspace")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "by hand", "--no-verify")
    assert ask(repo).exit == 0
    assert service.asked
    assert secret not in json.dumps(service.asked)
    assert "[redacted:password]" in json.dumps(service.asked)


def test_no_key_is_said_before_anything_is_asked(
    service: Service, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    answer = ask(repo)
    assert answer.exit == 2
    assert "ANTHROPIC_API_KEY" in answer.error["fix"]
    assert service.asked == []
    assert_sound(repo)


def test_doctor_says_whether_the_judge_could_run_and_asks_nothing(
    service: Service, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repo / "memrepo.toml"
    text = path.read_text()
    path.write_text(
        text.replace("[run]", '[run]\njudge = "anthropic"').replace('judge = "offline"', "")
    )
    git(repo, "commit", "-qam", "a model", "--no-verify")

    def judge() -> dict[str, Any]:
        checks = memrepo(repo, "doctor").data["checks"]
        return next(c for c in checks if c["name"] == "judge")

    found = judge()
    assert found["ok"]
    assert found["message"].startswith("anthropic/claude-sonnet-5-5; the next run reads ")
    assert found["message"].endswith(" USD")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert (judge()["ok"], judge()["message"]) == (
        False,
        "the anthropic judge has no credentials",
    )
    assert service.asked == []


def test_a_dollar_limit_needs_a_price(service: Service, repo: Path) -> None:
    configure(repo, 'model = "some-new-model"')
    answer = ask(repo, "--max-usd", "1")
    assert answer.exit == 2
    assert "no price is known for anthropic/some-new-model" in answer.error["message"]
    answer = ask(repo, "--max-tokens", "100000")
    assert answer.exit == 0
    assert answer.data["cost_usd"] is None
    assert "price unknown" in git(repo, "log", "-1", "--format=%B")


OLD_BEDS = "Vera prefers raised beds because her back hurts."
NEW_BEDS = "Vera avoids raised beds because her back hurts."


def contradicting(question: str) -> str:
    if "pairs" not in evidence(question):
        return good(question)
    return finding(
        question,
        isContradiction=True,
        confidence=0.97,
        whichIsNewer="first",
        reasoning="She changed.",
    )


def change_of_mind(repo: Path) -> None:
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + f"\n## 2026-03-04\n\n- {NEW_BEDS}\n")


def test_a_verified_contradiction_is_resolved_with_a_correction(
    service: Service, repo: Path
) -> None:
    assert ask(repo).exit == 0
    change_of_mind(repo)
    service.asked.clear()
    service.default = Act(answer=contradicting)
    answer = ask(repo, now="2026-03-05T09:00:00Z")
    assert (answer.exit, answer.data["counts"]["superseded"]) == (0, 1)
    (asked,) = (row for q in service.questions() for row in evidence(q).get("pairs", []))
    assert (asked["first"]["text"], asked["second"]["text"]) == (NEW_BEDS, OLD_BEDS)
    assert asked["first"]["stated_on"] == "2026-03-04"
    assert not {"stated_on", "why"} & {*asked, *asked["second"]}, "a commit tells no day"
    assert answer.data["tokens"]["completion"] == 3 * USED["output_tokens"]
    status = {m.body: m.status for m in memories(repo).values()}
    assert (status[OLD_BEDS], status[NEW_BEDS]) == ("superseded", "active")
    (row,) = done(repo, "corrections")["corrections"]
    assert (row["verdict"], row["confidence"], row["status"]) == ("superseded", 0.97, "resolved")
    assert "She changed." in row["reason"]
    assert row["run"] == answer.data["run"]
    assert_sound(repo)


def test_without_the_package_it_says_which_extra_brings_it(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    answer = memrepo(repo, "run", "--judge", "anthropic")
    assert answer.exit == 2
    assert "'.[claude]'" in answer.error["fix"]
