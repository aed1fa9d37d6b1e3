"""A model that answers one cluster with several claims, through the real SDK."""

from __future__ import annotations

import json
from pathlib import Path

from driving import git, memories, memrepo
from serving import Act, Service, claim, evidence, good

LINES = "# Memory\n\n- Anna leads the harbour team,\n  and Ben keeps the books in Kiel.\n"


def split(question: str, second: str = "and Ben keeps the books in Kiel.") -> str:
    found = evidence(question)
    if "clusters" not in found:
        return good(question)
    made = []
    for cluster in found["clusters"]:
        if "Anna leads" not in cluster["candidates"][0]["text"]:
            made.append(claim(cluster))
            continue
        for quote, subject in (("Anna leads the harbour team,", "Anna"), (second, "Ben")):
            said = {
                "text": f"{subject}: {quote}",
                "subject": subject,
                "predicate": "",
                "object": "",
                "title": "",
            }
            made.append(claim(cluster, wording=said, quote=quote))
    return json.dumps({"claims": made})


def prepare(repo: Path) -> None:
    (repo.parent / "workspace" / "MEMORY.md").write_text(LINES)


def test_each_claim_has_its_own_triple_lines_and_id(service: Service, repo: Path) -> None:
    prepare(repo)
    service.default = Act(answer=split)
    answer = memrepo(repo, "run", "--judge", "anthropic")
    assert (answer.exit, answer.data["quarantined"]) == (0, [])
    found = {m.text("subject"): m for m in memories(repo).values() if m.text("subject")}
    assert {k: m.sources[0].lines for k, m in found.items()} == {"Anna": (3, 3), "Ben": (4, 4)}
    assert found["Anna"].id != found["Ben"].id


def test_an_invented_quote_is_refused_and_asked_again(service: Service, repo: Path) -> None:
    prepare(repo)
    service.default = Act(answer=lambda q: split(q, "Ben lives on the moon."))
    answer = memrepo(repo, "run", "--judge", "anthropic")
    assert answer.exit == 0
    (held,) = answer.data["quarantined"]
    assert held["reason"] == "quote: not in the evidence word by word: Ben lives on the moon."
    faults = evidence(service.questions()[-1])["faults"]
    assert list(faults.values()) == [held["reason"]]
    assert git(repo, "status", "--porcelain") == ""
