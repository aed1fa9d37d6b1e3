"""What a model words is compared with its evidence; false twice, the line itself stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import assert_sound, done, memories, memrepo
from serving import Act, Service, checked, claim, evidence, good

KINDS = {"candidates", "clusters", "items", "pairs"}
RULE = "Captions must stay under 280 characters."


def worded(text: str) -> Act:
    """Answer as good does, but word the rule so."""

    def answer(question: str) -> str:
        found = evidence(question)
        if "clusters" not in found:
            return good(question)
        claims = [claim(c) for c in found["clusters"]]
        for one in claims:
            if "Captions" in one["wording"]["text"]:
                one["wording"]["text"] = text
        return json.dumps({"claims": claims})

    return Act(answer=answer)


@pytest.fixture
def ruled(repo: Path) -> Path:
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(f"# Memory\n\n- {RULE}\n- Vera keeps bees behind the barn.\n")
    return repo


def bodies(repo: Path) -> list[str]:
    return sorted(m.body.strip() for m in memories(repo).values() if not m.is_note)


def ask(repo: Path) -> dict[str, object]:
    data: dict[str, object] = done(repo, "run", "--judge", "anthropic")
    return data


def test_a_false_wording_is_asked_for_again_with_its_fault_and_what_was_said(
    service: Service, ruled: Path
) -> None:
    service.script = [Act(), worded("Captions must stay under 240 characters.")]
    ask(ruled)
    again = evidence(service.questions()[2])
    (said,) = again["faults"].values()
    assert "text: a number that is not in the evidence: 240 characters" in said
    assert "Captions must stay under 240 characters." in said
    assert len(again["clusters"]) == 1
    assert RULE in bodies(ruled)
    assert_sound(ruled)


def test_a_wording_that_is_false_twice_gives_way_to_the_line_itself_with_a_warning(
    service: Service, ruled: Path
) -> None:
    def answer(question: str) -> str:
        if "items" in evidence(question):
            return checked(question, lambda row: "may exceed" not in str(row["wording"]))
        return worded("Captions may exceed 280 characters.").answer(question)

    service.default = Act(answer=answer)
    data = ask(ruled)
    turns = [evidence(q) for q in service.questions()]
    assert [next(iter(set(t) & KINDS)) for t in turns][:4] == [
        *("candidates", "clusters", "items", "clusters")
    ]
    (said,) = turns[3]["faults"].values()
    assert said == "it differs (your text was: Captions may exceed 280 characters.)"
    assert RULE in bodies(ruled)
    assert not any("may exceed" in body for body in bodies(ruled))
    (warning,) = [w for w in data["warnings"] if w["rule"] == "wording-refused"]  # type: ignore[attr-defined]
    assert (warning["path"], warning["line"]) == ("sources/MEMORY.md", 3)
    assert data["quarantined"] == []
    count = len(service.asked)
    assert memrepo(ruled, "run", "--judge", "anthropic", now="2026-03-01T11:00:00Z").exit == 0
    assert len(service.asked) == count
    assert_sound(ruled)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\x07", "\u2028", "\ue000"])
def test_no_sign_that_nobody_sees_enters(service: Service, ruled: Path, sign: str) -> None:
    service.default = worded(f"Captions{sign} must stay under 280 characters.")
    ask(ruled)
    assert any(body.startswith("Captions") for body in bodies(ruled))
    for path in ruled.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            assert sign.encode() not in path.read_bytes()


def test_a_line_that_reports_another_as_done_closes_it(service: Service, repo: Path) -> None:
    path = repo.parent / "workspace" / "MEMORY.md"
    todo, done_ = (
        "Order pump filters from Holt.",
        "Holt's pump filters came and fit the old pump too.",
    )
    path.write_text(f"# Memory\n\n- [ ] {todo}\n- {done_}\n")

    def answer(question: str) -> str:
        found = evidence(question)
        if "candidates" not in found:
            return good(question)
        ids = {c["text"]: c["candidate_id"] for c in found["candidates"]}
        said = json.loads(good(question))
        for verdict in said["verdicts"]:
            closes = verdict["candidate_id"] == ids.get(done_) and todo in ids
            verdict["closes"] = [ids[todo]] if closes else []
        return json.dumps(said)

    service.default = Act(answer=answer)
    data = ask(repo)
    assert data["quarantined"] == []
    assert done_ in bodies(repo)
    assert todo not in bodies(repo)


def test_a_long_thought_whose_wording_fails_is_quoted_whole(service: Service, repo: Path) -> None:
    long = "The pump house has " + ", ".join(f"a valve on wall {n}" for n in range(30)) + "."
    (repo.parent / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n- {long}\n")

    def answer(question: str) -> str:
        said = json.loads(good(question))
        for one in said.get("claims", ()):
            one["wording"]["text"] = "The pump house has 900 valves."
        return json.dumps(said)

    service.default = Act(answer=answer)
    data = ask(repo)
    assert data["quarantined"] == []
    assert long in bodies(repo)
    assert not any("900" in body for body in bodies(repo))
